//! One primitive for all sizes: it computes what primitives made for each do, to the bit, refuses sizes that contradict each other, and what is
//! remembered of sizes is bounded. The cache is the process's, so its limits are one test.

use oxidnn_runtime::{Engine, Memory, Primitive, PrimitiveDesc, Stream, Threads, cache};
use oxidnn_spec::op::{Conv, ConvAlg, Prop, Window};
use oxidnn_spec::{Arg, Attr, DataType, Dims, PostOp, Problem, RUNTIME, Tensor, op::EltwiseAlg};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A 3x3 convolution of 16 to 24 channels, channels last, with a relu behind; `weights` in any layout where none is given.
fn convolution([n, h, w]: [i64; 3], weights: Option<Tensor>) -> Problem {
    let image = |c: i64| Tensor::with_tag([n, c, h, w], DataType::F32, "acdb").unwrap();
    let weights = weights.unwrap_or_else(|| Tensor::any([24, 16, 3, 3], DataType::F32));
    let ones = |v: i64| Dims::from([v, v]);
    let window = Window { strides: ones(1), dilations: ones(0), padding_l: ones(1), padding_r: ones(1) };
    let relu = PostOp::Eltwise { alg: EltwiseAlg::Relu, alpha: 0.0.into(), beta: 0.0.into() };
    let bias = Some(Tensor::plain([24], DataType::F32).unwrap());
    let op = Conv::new(Prop::ForwardInference, ConvAlg::Direct, [image(16), weights, image(24)], bias, window);
    Problem::new(op, Attr { post_ops: vec![relu], ..Attr::default() }).unwrap()
}

fn primitive(engine: &Engine, problem: Problem) -> Primitive {
    PrimitiveDesc::new(engine, problem).unwrap().create().unwrap()
}

fn filled(engine: &Engine, tensor: &Tensor, seed: usize) -> Memory<'static> {
    let memory = Memory::new(engine, tensor.clone()).unwrap();
    memory.write_with(|i| (((i + seed) * 7919) % 257) as f64 / 64.0 - 2.0).unwrap();
    memory
}

/// Sizes that differ in every way: one and many images, narrow, wide, and those that tiles do not divide.
fn sizes() -> impl Iterator<Item = [i64; 3]> {
    (0..100).map(|i| [1 + i % 3, 1 + (i * 5) % 23, 1 + (i * 7) % 29])
}

struct Images {
    tensors: [Tensor; 2],
    src: Memory<'static>,
    open: Memory<'static>,
    fixed: Memory<'static>,
}

impl Images {
    fn of(engine: &Engine, size: [i64; 3]) -> Images {
        let problem = convolution(size, None);
        let tensors = [Arg::SRC, Arg::DST].map(|arg| problem.op.tensor(arg).unwrap().clone());
        let [src, dst] = &tensors;
        Images { src: filled(engine, src, 1), open: filled(engine, dst, 2), fixed: filled(engine, dst, 3), tensors }
    }
}

#[test]
fn one_primitive_computes_the_bits_of_a_hundred() {
    let engine = oxidnn_cpu::engine();
    let stream = Stream::new(&engine).unwrap();
    let open = primitive(&engine, convolution([RUNTIME; 3], None));
    let packed = open.desc().tensor(Arg::WEIGHTS).unwrap().clone();
    assert_ne!(open.desc().impl_name(), "ref:any");
    let (weights, bias) = (filled(&engine, &packed, 0), filled(&engine, &Tensor::plain([24], DataType::F32).unwrap(), 5));
    let images: Vec<Images> = sizes().map(|size| Images::of(&engine, size)).collect();
    for (size, i) in sizes().zip(&images) {
        let fixed = primitive(&engine, convolution(size, Some(packed.clone())));
        for (primitive, dst) in [(&open, &i.open), (&fixed, &i.fixed)] {
            primitive.execute(&stream, &[(Arg::SRC, &i.src), (Arg::WEIGHTS, &weights), (Arg::BIAS, &bias), (Arg::DST, dst)]).unwrap();
        }
        assert_eq!(i.open.read_raw::<u32>(0).unwrap(), i.fixed.read_raw::<u32>(0).unwrap(), "{size:?}: {:?}", i.tensors);
    }
    // All threads use the one primitive, each with another size at a time.
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let stream = Stream::with_threads(&engine, Threads::inline()).unwrap();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(i) = images.get(at % images.len()).filter(|_| at < 4 * images.len()) else { return };
                    let dst = filled(&engine, &i.tensors[1], at);
                    let args = [(Arg::SRC, &i.src), (Arg::WEIGHTS, &weights), (Arg::BIAS, &bias), (Arg::DST, &dst)];
                    open.execute(&stream, &args).unwrap();
                    assert_eq!(dst.read_raw::<u32>(0).unwrap(), i.fixed.read_raw::<u32>(0).unwrap());
                }
            });
        }
    });
    contradictions_are_refused(&engine, &open, [&weights, &bias]);
    memory_is_bounded(&engine, &open, &images, [&weights, &bias]);
}

fn contradictions_are_refused(engine: &Engine, open: &Primitive, [weights, bias]: [&Memory<'_>; 2]) {
    let stream = Stream::new(engine).unwrap();
    let (small, large) = (Images::of(engine, [1, 5, 5]), Images::of(engine, [1, 5, 6]));
    let run = |src: &Memory<'_>, dst: &Memory<'_>| {
        open.execute(&stream, &[(Arg::SRC, src), (Arg::WEIGHTS, weights), (Arg::BIAS, bias), (Arg::DST, dst)])
    };
    let error = run(&small.src, &large.open).unwrap_err().to_string();
    assert!(error.contains("dst") && error.contains("[5, 6]") && error.contains("[5, 5]"), "{error}");
    let other = filled(engine, &Tensor::with_tag([1, 16, 5, 5], DataType::F32, "abcd").unwrap(), 0);
    let error = run(&other, &small.open).unwrap_err().to_string();
    assert!(error.contains("src") && error.contains("layout"), "{error}");
    let other = filled(engine, &Tensor::with_tag([1, 17, 5, 5], DataType::F32, "acdb").unwrap(), 0);
    let error = run(&other, &small.open).unwrap_err().to_string();
    assert!(error.contains("1x17x5x5"), "{error}");
    run(&small.src, &small.open).unwrap();
}

fn memory_is_bounded(engine: &Engine, open: &Primitive, images: &[Images], [weights, bias]: [&Memory<'_>; 2]) {
    let stream = Stream::new(engine).unwrap();
    let all = || {
        for i in images {
            open.execute(&stream, &[(Arg::SRC, &i.src), (Arg::WEIGHTS, weights), (Arg::BIAS, bias), (Arg::DST, &i.open)]).unwrap();
        }
        cache::remembered_sizes()
    };
    let (capacity, budget) = (cache::capacity(), cache::byte_budget());
    cache::set_capacity(10);
    assert!((1..=10).contains(&all().0));
    cache::set_capacity(capacity);
    cache::set_byte_budget(100 << 10);
    let (entries, bytes) = all();
    assert!(entries >= 1 && bytes <= 100 << 10, "{entries} of {bytes} bytes");
    cache::set_byte_budget(budget);
    assert!(all().0 > 50);
    cache::clear();
    assert_eq!(cache::remembered_sizes(), (0, 0));
    all();
}
