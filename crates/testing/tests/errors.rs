//! Wrong requests: typed errors that name the argument, what it got and what it needs, and carry the problem line; nothing is written.

use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_runtime::{Engine, Memory, Primitive, PrimitiveDesc, Stream};
use oxidnn_spec::op::{Conv, ConvAlg, Eltwise, EltwiseAlg, Matmul, Prop, Softmax, SoftmaxAlg, Window};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, Op, PostOp, Problem, Quant, Real, ScratchpadMode, Tensor};

fn window(spatial: usize) -> Window {
    let all = |v| Dims::filled(spatial, v);
    Window { strides: all(1), dilations: all(0), padding_l: all(1), padding_r: all(1) }
}

fn f32s(dims: &[i64]) -> Tensor {
    Tensor::any(Dims::new(dims).unwrap(), DataType::F32)
}

fn conv(src: &[i64], weights: &[i64], dst: &[i64]) -> Op {
    Conv::new(Prop::ForwardInference, ConvAlg::Direct, [f32s(src), f32s(weights), f32s(dst)], None, window(src.len().saturating_sub(2)))
        .into()
}

fn matmul(src: Tensor, weights: Tensor, dst: Tensor) -> Op {
    Matmul { src, weights, bias: None, dst }.into()
}

/// The parts of an invalid-arguments error.
fn refused(result: Result<impl Sized, Error>, what: &str) -> oxidnn_spec::Invalid {
    match result {
        Err(Error::InvalidArguments(i)) => i,
        Err(e) => panic!("{what}: expected invalid arguments, got {e}"),
        Ok(_) => panic!("{what}: was accepted"),
    }
}

#[test]
fn wrong_descriptions_are_refused() {
    let big = i64::MAX / 2;
    let any = Attr::default;
    let cases: Vec<(&str, Op)> = vec![
        ("channels differ", conv(&[1, 3, 8, 8], &[4, 5, 3, 3], &[1, 4, 8, 8])),
        ("batch differs", conv(&[1, 3, 8, 8], &[4, 3, 3, 3], &[2, 4, 8, 8])),
        ("output size", conv(&[1, 3, 8, 8], &[4, 3, 3, 3], &[1, 4, 9, 8])),
        ("negative dim", conv(&[1, -3, 8, 8], &[4, -3, 3, 3], &[1, 4, 8, 8])),
        ("overflowing dims", conv(&[big, 3, big, 8], &[4, 3, 3, 3], &[big, 4, big, 8])),
        ("too few dims", conv(&[1, 3], &[4, 3], &[1, 4])),
        ("mismatched ranks", conv(&[1, 3, 8, 8], &[4, 3, 3], &[1, 4, 8, 8])),
        ("inner sizes differ", matmul(f32s(&[2, 3]), f32s(&[4, 5]), f32s(&[2, 5]))),
        ("a type that matmul does not take", matmul(f32s(&[2, 3]), Tensor::any([3, 5], DataType::S32), f32s(&[2, 5]))),
        ("rank 1", matmul(f32s(&[2]), f32s(&[2]), f32s(&[2]))),
        (
            "axis out of range",
            Softmax {
                prop: Prop::ForwardInference,
                alg: SoftmaxAlg::Accurate,
                src: Some(f32s(&[2, 3])),
                dst: f32s(&[2, 3]),
                diff_src: None,
                diff_dst: None,
                axis: 2,
            }
            .into(),
        ),
        (
            "clip with beta below alpha",
            Eltwise {
                prop: Prop::ForwardInference,
                alg: EltwiseAlg::Clip,
                alpha: Real::new(1.0),
                beta: Real::new(-1.0),
                src: f32s(&[2, 3]),
                dst: Some(f32s(&[2, 3])),
                diff_src: None,
                diff_dst: None,
            }
            .into(),
        ),
    ];
    for (what, op) in cases {
        let e = refused(Problem::new(op, any()), what);
        assert!(!e.argument.is_empty() && !e.got.is_empty() && !e.expected.is_empty(), "{what}: {e:?}");
    }
}

#[test]
fn wrong_attributes_are_refused() {
    let product = || matmul(f32s(&[2, 3]), f32s(&[3, 5]), f32s(&[2, 5]));
    let mut mask = Attr::default();
    mask.scales.insert(Arg::SRC, Quant::per(1 << 7, DataType::F32));
    refused(Problem::new(product(), mask), "a mask with a bit that no dimension has");
    let mut arg = Attr::default();
    arg.scales.insert(Arg::MEAN, Quant::common());
    refused(Problem::new(product(), arg), "scales of an argument that is not there");
}

/// A ready primitive with its memories, dst filled with a pattern.
struct Ready {
    stream: Stream,
    primitive: Primitive,
    memories: Vec<(Arg, Memory<'static>)>,
}

const PATTERN: f32 = 123.5;

fn ready(attr: Attr) -> Ready {
    let engine = oxidnn_cpu::engine();
    let stream = Stream::new(&engine).unwrap();
    let problem = Problem::new(matmul(f32s(&[4, 64]), f32s(&[64, 8]), f32s(&[4, 8])), attr).unwrap();
    let desc = PrimitiveDesc::new(&engine, problem).unwrap();
    let memories = desc.problem().operands().into_iter().map(|o| (o.arg, Memory::new(&engine, o.tensor).unwrap())).collect::<Vec<_>>();
    memories.iter().find(|m| m.0 == Arg::DST).unwrap().1.write_f32(&[PATTERN; 32]).unwrap();
    Ready { stream, primitive: desc.create().unwrap(), memories }
}

impl Ready {
    fn memory(&self, arg: Arg) -> &Memory<'static> {
        &self.memories.iter().find(|m| m.0 == arg).unwrap().1
    }

    /// Executes with `args`; it must be refused, naming `argument` and the problem, and write nothing.
    fn refuses(&self, args: &[(Arg, &Memory<'_>)], argument: &str) {
        let e = refused(self.primitive.execute(&self.stream, args), argument);
        assert_eq!(e.argument, argument, "{e}");
        let line = e.problem.unwrap_or_else(|| panic!("{argument}: no problem line"));
        line.parse::<Problem>().unwrap_or_else(|e| panic!("`{line}` does not replay: {e}"));
        assert!(self.memory(Arg::DST).read_f32().unwrap().iter().all(|v| *v == PATTERN), "{argument}: something was written");
    }
}

#[test]
fn wrong_executions_are_refused_and_write_nothing() {
    let r = ready(Attr::default());
    let (src, wei, dst) = (r.memory(Arg::SRC), r.memory(Arg::WEIGHTS), r.memory(Arg::DST));
    let target = *CpuDevice::host().target();
    let other = Engine::new(CpuDevice::new(CpuTarget { threads: target.threads + 1, ..target }));
    let foreign = Memory::new(&other, src.tensor().clone()).unwrap();
    let engine = src.engine().unwrap();
    let smaller = Memory::new(engine, Tensor::plain([4, 63], DataType::F32).unwrap()).unwrap();
    let typed = Memory::new(engine, Tensor::plain([4, 64], DataType::Bf16).unwrap()).unwrap();
    r.refuses(&[(Arg::SRC, src), (Arg::DST, dst)], "wei");
    r.refuses(&[(Arg::SRC, src), (Arg::SRC, src), (Arg::WEIGHTS, wei), (Arg::DST, dst)], "src");
    r.refuses(&[(Arg::SRC, src), (Arg::WEIGHTS, wei), (Arg::BIAS, wei), (Arg::DST, dst)], "bia");
    r.refuses(&[(Arg::SRC, &smaller), (Arg::WEIGHTS, wei), (Arg::DST, dst)], "src");
    r.refuses(&[(Arg::SRC, &typed), (Arg::WEIGHTS, wei), (Arg::DST, dst)], "src");
    r.refuses(&[(Arg::SRC, &foreign), (Arg::WEIGHTS, wei), (Arg::DST, dst)], "src");
    let wrong_stream = Stream::new(&other).unwrap();
    let e = refused(r.primitive.execute(&wrong_stream, &[(Arg::SRC, src), (Arg::WEIGHTS, wei), (Arg::DST, dst)]), "stream");
    assert_eq!(e.argument, "stream");
    r.primitive.execute(&r.stream, &[(Arg::SRC, src), (Arg::WEIGHTS, wei), (Arg::DST, dst)]).unwrap();
    assert!(dst.read_f32().unwrap().iter().all(|v| *v == 0.0));
}

#[test]
fn a_scratchpad_too_small_is_refused() {
    // A power that no row raises in registers, of a sum with what the destination holds, so that every row needs scratch.
    let sum = PostOp::Sum { scale: Real::new(1.0), zero_point: 0, dtype: None };
    let power = PostOp::Eltwise { alg: EltwiseAlg::Pow, alpha: Real::new(1.0), beta: Real::new(5.3) };
    let r = ready(Attr { scratchpad: ScratchpadMode::User, post_ops: vec![sum, power], ..Attr::default() });
    let (src, wei, dst) = (r.memory(Arg::SRC), r.memory(Arg::WEIGHTS), r.memory(Arg::DST));
    let needed = r.primitive.desc().scratchpad().unwrap();
    let engine = src.engine().unwrap();
    let small = Memory::new(engine, Tensor::plain([needed.bytes() as i64 - 1], DataType::U8).unwrap()).unwrap();
    r.refuses(&[(Arg::SRC, src), (Arg::WEIGHTS, wei), (Arg::DST, dst)], "scratchpad");
    r.refuses(&[(Arg::SRC, src), (Arg::WEIGHTS, wei), (Arg::DST, dst), (Arg::SCRATCHPAD, &small)], "scratchpad");
    let enough = Memory::new(engine, needed.clone()).unwrap();
    r.primitive.execute(&r.stream, &[(Arg::SRC, src), (Arg::WEIGHTS, wei), (Arg::DST, dst), (Arg::SCRATCHPAD, &enough)]).unwrap();
}
