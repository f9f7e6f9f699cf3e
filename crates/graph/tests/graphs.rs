//! Graphs, partitions, compiled partitions and their caches.

use oxidnn_graph::{
    AttrId, AttrValue, CompiledPartition, Error, Graph, LayoutType, LogicalTensor, Op, OpKind, Partition, Policy, Property, cache_capacity,
    constant_capacity, set_cache_capacity, set_constant_capacity,
};
use oxidnn_runtime::{Engine, EngineKind, Memory, Stream};
use oxidnn_spec::op::ConvAlg;
use oxidnn_spec::{DataType, Dims, FpMath, Real};
use std::sync::Mutex;

/// The caches belong to the process: tests that set them take turns.
static CACHES: Mutex<()> = Mutex::new(());

fn tensor(id: usize, dims: &[i64]) -> LogicalTensor {
    let dims = Dims::new(dims).expect("few dimensions");
    LogicalTensor::with_dims(id, Some(DataType::F32), dims, LayoutType::Strided, Property::Undef).expect("a tensor")
}

fn op(id: usize, kind: OpKind, inputs: &[LogicalTensor], outputs: &[LogicalTensor]) -> Op {
    Op { inputs: inputs.to_vec(), outputs: outputs.to_vec(), ..Op::new(id, kind, format!("op{id}")) }
}

fn graph(ops: &[Op]) -> Graph {
    let mut graph = Graph::new(EngineKind::Cpu, FpMath::default());
    ops.iter().for_each(|o| graph.add_op(o).expect("a valid operation"));
    graph
}

fn single(op: &Op, engine: &Engine) -> CompiledPartition {
    let partition = Partition::new(op, EngineKind::Cpu).expect("a valid operation");
    partition.compile(engine, &op.inputs, &op.outputs).expect("a supported partition")
}

fn execute(compiled: &CompiledPartition, engine: &Engine, inputs: &[&[f32]], len: usize) -> Vec<f32> {
    let partition = compiled.partition();
    let memory = |lt: &LogicalTensor| {
        let lt = compiled.logical_tensor(lt.id).expect("a port");
        Memory::new(engine, lt.tensor().expect("a known tensor")).expect("memory")
    };
    let ins: Vec<Memory<'_>> = partition.inputs().iter().map(memory).collect();
    let outs: Vec<Memory<'_>> = partition.outputs().iter().map(memory).collect();
    ins.iter().zip(inputs).for_each(|(m, v)| m.write_f32(v).expect("as many numbers"));
    let (ins, refs): (Vec<_>, Vec<_>) = (ins.iter().collect(), outs.iter().collect());
    compiled.execute(&Stream::new(engine).expect("a stream"), &ins, &refs, None).expect("an execution");
    let values = outs[0].read_f32().expect("a result");
    assert_eq!(values.len(), len);
    values
}

#[test]
fn kinds_have_the_numbers_of_their_rows() {
    let kinds: Vec<OpKind> = (0..).map_while(OpKind::from_number).collect();
    assert_eq!(kinds.len(), 88);
    for (i, kind) in kinds.iter().enumerate() {
        assert_eq!(*kind as usize, i, "{}", kind.name());
        let schema = kind.schema();
        let ports = schema.inputs.list.iter().chain(schema.outputs.list);
        assert!(
            *kind == OpKind::Wildcard || ports.clone().all(|(_, t)| *t < schema.types.len()),
            "{}: a type variable without types",
            kind.name()
        );
    }
    assert_eq!(OpKind::from_number(-1), None);
}

#[test]
fn partitions_come_in_topological_order() {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| tensor(i, &[2, 3]));
    let mut graph = graph(&[op(7, OpKind::Add, &[b, c], &[d]), op(8, OpKind::Exp, &[b], &[c]), op(9, OpKind::Abs, &[a], &[b])]);
    assert!(matches!(graph.filter(Policy::Fusion), Err(Error::InvalidGraph(_))));
    graph.finalize().expect("no cycle");
    graph.finalize().expect("no change");
    graph.filter(Policy::Fusion).expect("finalized");
    graph.filter(Policy::Fusion).expect("as before");
    let ids: Vec<usize> = graph.partitions().iter().flat_map(|p| p.ops()).map(|o| o.id).collect();
    assert_eq!(ids, [9, 8, 7]);
    assert!(matches!(graph.add_op(&op(10, OpKind::Abs, &[a], &[d])), Err(Error::InvalidGraph(_))));
    assert!(matches!(graph.set_fpmath(FpMath::default()), Err(Error::InvalidGraph(_))));
}

#[test]
fn graphs_that_contradict_themselves_are_refused() {
    let [a, b, c] = [0, 1, 2].map(|i| tensor(i, &[2, 3]));
    let wrong = |ops: &[Op], what: &str| match graph(ops).finalize() {
        Err(Error::InvalidGraph(why)) => assert!(why.contains(what), "{why}"),
        other => panic!("{what}: {other:?}"),
    };
    wrong(&[op(1, OpKind::Abs, &[a], &[b]), op(2, OpKind::Exp, &[tensor(1, &[2, 4])], &[c])], "disagree");
    let free = LogicalTensor { layout: LayoutType::Any, ..b };
    wrong(&[op(1, OpKind::Abs, &[a], &[b]), op(2, OpKind::Exp, &[free], &[c])], "disagree");
    wrong(&[op(1, OpKind::Add, &[a, c], &[b]), op(2, OpKind::Exp, &[b], &[c])], "cycle");
    wrong(&[op(1, OpKind::Abs, &[a], &[b]), op(2, OpKind::Exp, &[a], &[b])], "written by");
    let mut same = graph(&[op(1, OpKind::Abs, &[a], &[b]), op(1, OpKind::Exp, &[a], &[c])]);
    assert_eq!(same.ops().len(), 1, "an operation with a known number is ignored");
    same.finalize().expect("one operation");
}

#[test]
fn a_tensor_that_is_read_twice_is_one_port() {
    let engine = oxidnn_cpu::engine();
    let (a, b) = (tensor(0, &[2, 2]), tensor(1, &[2, 2]));
    let compiled = single(&op(1, OpKind::Multiply, &[a, a], &[b]), &engine);
    assert_eq!(compiled.partition().inputs().len(), 1);
    assert_eq!(execute(&compiled, &engine, &[&[1.0, -2.0, 3.0, 0.5]], 4), [1.0, 4.0, 9.0, 0.25]);
    assert_eq!(compiled.in_place(), [(0, 1)]);
}

#[test]
fn ports_that_are_missing_or_of_another_type_are_refused() {
    let engine = oxidnn_cpu::engine();
    let (a, b) = (tensor(0, &[2, 2]), tensor(1, &[2, 2]));
    let partition = Partition::new(&op(1, OpKind::Abs, &[a], &[b]), EngineKind::Cpu).expect("a valid operation");
    let invalid = |inputs: &[LogicalTensor], outputs: &[LogicalTensor]| {
        assert!(matches!(partition.compile(&engine, inputs, outputs), Err(Error::InvalidArguments(_))));
    };
    invalid(&[], &[b]);
    invalid(&[a], &[]);
    invalid(&[LogicalTensor { dtype: Some(DataType::Bf16), ..a }], &[b]);
    invalid(&[LogicalTensor { layout: LayoutType::Any, ..a }], &[b]);
    invalid(&[LogicalTensor { layout: LayoutType::Opaque(3), ..a }], &[b]);
    let elsewhere = Partition::new(&op(1, OpKind::Abs, &[a], &[b]), EngineKind::Gpu).expect("a valid operation");
    assert!(matches!(elsewhere.compile(&engine, &[a], &[b]), Err(Error::InvalidArguments(_))), "an engine of another kind");
    let compiled = partition.compile(&engine, &[a], &[b]).expect("all known");
    let stream = Stream::new(&engine).expect("a stream");
    assert!(compiled.execute(&stream, &[], &[], None).is_err(), "no memory");
}

/// A convolution whose weights are constant, which a kernel wants in a layout of its own.
fn convolution() -> Op {
    let weights = LogicalTensor { property: Property::Constant, ..tensor(1, &[3, 3, 4, 16]) };
    let mut conv = op(1, OpKind::Convolution, &[tensor(0, &[1, 6, 6, 4]), weights], &[tensor(2, &[1, 6, 6, 16])]);
    for (id, v) in [(AttrId::Strides, 1), (AttrId::PadsBegin, 1), (AttrId::PadsEnd, 1), (AttrId::Dilations, 1)] {
        conv.attrs.insert(id, AttrValue::S64s(vec![v; 2]));
    }
    conv
}

#[test]
fn what_depends_on_constants_is_kept_where_there_is_room() {
    let _turn = CACHES.lock().unwrap_or_else(|e| e.into_inner());
    let engine = oxidnn_cpu::engine();
    let compiled = single(&convolution(), &engine);
    let (src, other): (Vec<f32>, Vec<f32>) = ((0..144).map(|i| (i % 7) as f32).collect(), vec![1.0; 576]);
    let weights: Vec<f32> = (0..576).map(|i| (i % 5) as f32 - 2.0).collect();
    let fresh = execute(&compiled, &engine, &[&src, &weights], 576);
    let changed = execute(&compiled, &engine, &[&src, &other], 576);
    assert_ne!(fresh, changed, "nothing is kept where there is no room");
    set_constant_capacity(EngineKind::Cpu, 1 << 20);
    assert_eq!(constant_capacity(EngineKind::Cpu), 1 << 20);
    assert_eq!(execute(&compiled, &engine, &[&src, &weights], 576), fresh);
    assert_eq!(execute(&compiled, &engine, &[&src, &weights], 576), fresh, "from what is kept");
    set_constant_capacity(EngineKind::Cpu, 16);
    assert_eq!(execute(&compiled, &engine, &[&src, &other], 576), changed, "forgotten with the capacity");
    set_constant_capacity(EngineKind::Cpu, 0);
}

#[test]
fn sizes_share_what_is_kept_and_graphs_do_not() {
    let _turn = CACHES.lock().unwrap_or_else(|e| e.into_inner());
    let engine = oxidnn_cpu::engine();
    let op = convolution();
    let partition = Partition::new(&op, EngineKind::Cpu).expect("a valid operation");
    let of = |partition: &Partition, batch: i64| {
        let sized = |lt: LogicalTensor, dims: [i64; 4]| LogicalTensor { dims: Some(dims.into()), ..tensor(lt.id, &dims) };
        let (src, dst) = (sized(op.inputs[0], [batch, 6, 6, 4]), sized(op.outputs[0], [batch, 6, 6, 16]));
        partition.compile(&engine, &[src, op.inputs[1]], &[dst]).expect("a supported partition")
    };
    let (src, other): (Vec<f32>, Vec<f32>) = ((0..144).map(|i| (i % 7) as f32).collect(), vec![1.0; 576]);
    let weights: Vec<f32> = (0..576).map(|i| (i % 5) as f32 - 2.0).collect();
    set_constant_capacity(EngineKind::Cpu, 1 << 20);
    let one = of(&partition, 1);
    let first = execute(&one, &engine, &[&src, &weights], 576);
    let double: Vec<f32> = src.iter().chain(&src).copied().collect();
    let both = execute(&of(&partition, 2), &engine, &[&double, &other], 2 * 576);
    assert_eq!(both[..576], first, "the weights that are the same in every execution");
    let elsewhere = Partition::new(&op, EngineKind::Cpu).expect("a valid operation");
    assert_ne!(execute(&of(&elsewhere, 1), &engine, &[&src, &other], 576), first, "another partition has other weights");
    set_constant_capacity(EngineKind::Cpu, 0);
}

#[test]
fn products_of_packed_weights_are_those_of_weights_as_they_are() {
    let _turn = CACHES.lock().unwrap_or_else(|e| e.into_inner());
    let engine = oxidnn_cpu::engine();
    let weights = LogicalTensor { property: Property::Constant, ..tensor(1, &[48, 80]) };
    let product = |rows: i64| single(&op(1, OpKind::MatMul, &[tensor(0, &[rows, 48]), weights], &[tensor(2, &[rows, 80])]), &engine);
    let w: Vec<f32> = (0..48 * 80).map(|i| (i % 11) as f32 - 5.0).collect();
    for rows in [1, 3, 40] {
        let x: Vec<f32> = (0..rows * 48).map(|i| (i % 7) as f32 - 3.0).collect();
        let count = rows as usize * 80;
        let plain = execute(&product(rows), &engine, &[&x, &w], count);
        set_constant_capacity(EngineKind::Cpu, 1 << 20);
        let compiled = product(rows);
        assert!(compiled.prepared() > 0, "{:?}", compiled.problems());
        assert_eq!(execute(&compiled, &engine, &[&x, &w], count), plain);
        assert_eq!(execute(&compiled, &engine, &[&x, &vec![0.0; w.len()]], count), plain, "from what is kept");
        // Packed weights that there is no room for are packed each time.
        set_constant_capacity(EngineKind::Cpu, 16);
        assert_eq!(execute(&compiled, &engine, &[&x, &w], count), plain);
        set_constant_capacity(EngineKind::Cpu, 0);
    }
}

/// A convolution of channels first with a bias, a normalisation and a rectifier behind it.
fn normalised(groups: i64, bias: bool) -> Partition {
    let constant = |id: usize, dims: &[i64]| LogicalTensor { property: Property::Constant, ..tensor(id, dims) };
    let out = |id: usize| LogicalTensor::new(id, Some(DataType::F32), None, LayoutType::Any, Property::Undef).expect("a tensor");
    let word = |v: &str| AttrValue::Text(v.into());
    let mut inputs = vec![tensor(0, &[2, 8, 5, 5]), constant(1, &[16, 8 / groups, 3, 3])];
    inputs.extend(bias.then(|| constant(2, &[16])));
    let mut conv = op(0, OpKind::Convolution, &inputs, &[out(3)]);
    for (attr, value) in [(AttrId::Strides, 1), (AttrId::PadsBegin, 1), (AttrId::PadsEnd, 1), (AttrId::Dilations, 1)] {
        conv.attrs.insert(attr, AttrValue::S64s(vec![value; 2]));
    }
    let rest = [(AttrId::Groups, AttrValue::S64(groups)), (AttrId::DataFormat, word("NCX")), (AttrId::WeightsFormat, word("OIX"))];
    conv.attrs.extend(rest);
    let parameters = [4, 5, 6, 7].map(|id| constant(id, &[16]));
    let mut norm = op(1, OpKind::BatchNormInference, &[&[out(3)], &parameters[..]].concat(), &[out(8)]);
    norm.attrs.extend([(AttrId::Epsilon, AttrValue::F32(Real::new(1e-3))), (AttrId::DataFormat, word("NCX"))]);
    let relu = op(2, OpKind::Relu, &[out(8)], &[tensor(9, &[2, 16, 5, 5])]);
    let mut graph = graph(&[conv, norm, relu]);
    graph.finalize().expect("a valid graph");
    graph.filter(Policy::Fusion).expect("partitions");
    let [partition] = graph.partitions() else { panic!("{} partitions", graph.partitions().len()) };
    partition.clone()
}

#[test]
fn normalisations_become_part_of_constant_weights() {
    let _turn = CACHES.lock().unwrap_or_else(|e| e.into_inner());
    let engine = oxidnn_cpu::engine();
    for (groups, bias) in [(1, false), (1, true), (2, true), (8, false)] {
        let partition = normalised(groups, bias);
        let compiled = || partition.compile(&engine, partition.inputs(), partition.outputs()).expect("a supported partition");
        let numbers = |lt: &LogicalTensor| -> Vec<f32> {
            let count = lt.known_dims().and_then(|d| d.volume()).expect("known sizes");
            // Variances are positive.
            (0..count).map(|i| ((i * 7 + lt.id as i64) % 11) as f32 / 4.0 - if lt.id == 7 { -0.5 } else { 1.25 }).collect()
        };
        let given: Vec<Vec<f32>> = partition.inputs().iter().map(numbers).collect();
        let inputs: Vec<&[f32]> = given.iter().map(Vec::as_slice).collect();
        let plain = execute(&compiled(), &engine, &inputs, 2 * 16 * 25);
        set_constant_capacity(EngineKind::Cpu, 1 << 20);
        let folded = compiled();
        let last = folded.problems().last().cloned().expect("a problem").0;
        assert!(last.starts_with("--conv") && last.contains("--attr-post-ops=relu "), "{last}");
        let got = execute(&folded, &engine, &inputs, 2 * 16 * 25);
        let largest = plain.iter().fold(0.0, |m: f32, v| m.max(v.abs()));
        let far = got.iter().zip(&plain).find(|(a, b)| (**a - **b).abs() > largest * 1e-5);
        assert!(largest > 1.0 && far.is_none(), "groups {groups}, bias {bias}: {far:?} of {largest}");
        let zeros: Vec<Vec<f32>> = given.iter().skip(1).map(|v| vec![0.0; v.len()]).collect();
        let others: Vec<&[f32]> = [inputs[0]].into_iter().chain(zeros.iter().map(Vec::as_slice)).collect();
        assert_eq!(execute(&folded, &engine, &others, 2 * 16 * 25), got, "from what is kept");
        set_constant_capacity(EngineKind::Cpu, 0);
    }
}

#[test]
fn free_layouts_between_partitions_keep_the_channels_of_a_pixel_together() {
    let engine = oxidnn_cpu::engine();
    let partition = normalised(1, false);
    let free = LogicalTensor { layout: LayoutType::Any, ..partition.outputs()[0] };
    let compiled = partition.compile(&engine, partition.inputs(), &[free]).expect("a supported partition");
    let between = *compiled.logical_tensor(9).expect("a port");
    assert_eq!(between.strides[..], [400, 1, 80, 16]);
    let mut pool = op(3, OpKind::MaxPool, &[between], &[LogicalTensor { id: 10, ..free }]);
    pool.outputs[0].dims = None;
    let list = |v: i64| AttrValue::S64s(vec![v; 2]);
    let lists = [(AttrId::Strides, list(2)), (AttrId::PadsBegin, list(0)), (AttrId::PadsEnd, list(0)), (AttrId::Kernel, list(2))];
    pool.attrs.extend(lists);
    pool.attrs.insert(AttrId::DataFormat, AttrValue::Text("NCX".into()));
    let pooled = *single(&pool, &engine).logical_tensor(10).expect("a port");
    assert_eq!(pooled.strides[..], [64, 1, 32, 16]);
}

#[test]
fn compiled_partitions_are_found_again() {
    let _turn = CACHES.lock().unwrap_or_else(|e| e.into_inner());
    let engine = oxidnn_cpu::engine();
    let (a, b) = (tensor(0, &[2, 2]), tensor(1, &[2, 2]));
    let partition = Partition::new(&op(1, OpKind::Abs, &[a], &[b]), EngineKind::Cpu).expect("a valid operation");
    let make = || partition.compile(&engine, &[a], &[b]).expect("all known");
    let same = |x: &CompiledPartition, y: &CompiledPartition| std::ptr::eq(x.in_place(), y.in_place());
    let first = make();
    assert!(same(&first, &make()));
    let capacity = cache_capacity();
    set_cache_capacity(0);
    assert!(!same(&first, &make()));
    set_cache_capacity(capacity);
    assert_eq!(execute(&first, &engine, &[&[-1.0, 2.0, -3.0, 4.0]], 4), [1.0, 2.0, 3.0, 4.0], "the handle outlives the entry");
}

#[test]
fn threads_execute_one_compiled_partition_at_once() {
    let engine = oxidnn_cpu::engine();
    let compiled = single(&convolution(), &engine);
    let (src, weights): (Vec<f32>, Vec<f32>) = ((0..144).map(|i| (i % 7) as f32).collect(), (0..576).map(|i| (i % 3) as f32).collect());
    let expected = execute(&compiled, &engine, &[&src, &weights], 576);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(execute(&compiled, &engine, &[&src, &weights], 576), expected));
        }
    });
}

/// A convolution of 3x3 windows over so many pixels and channels, channels last, in a type and by an algorithm: its row, and the results.
fn windows(engine: &Engine, dtype: DataType, algorithm: ConvAlg) -> (&'static str, Vec<f64>) {
    const SIZES: [[i64; 4]; 3] = [[1, 14, 14, 256], [3, 3, 256, 256], [1, 14, 14, 256]];
    let typed = |id: usize| LogicalTensor { dtype: Some(dtype), ..tensor(id, &SIZES[id]) };
    let mut conv = op(1, OpKind::Convolution, &[typed(0), typed(1)], &[typed(2)]);
    let ones = AttrValue::S64s(vec![1, 1]);
    conv.attrs =
        [AttrId::Strides, AttrId::PadsBegin, AttrId::PadsEnd, AttrId::Dilations].map(|id| (id, ones.clone())).into_iter().collect();
    let mut graph = Graph::new(EngineKind::Cpu, FpMath::default());
    assert_eq!(graph.convolution(), ConvAlg::Auto);
    graph.set_convolution(algorithm).expect("an open graph");
    graph.add_op(&conv).expect("a valid operation");
    graph.finalize().expect("one operation");
    assert!(matches!(graph.set_convolution(algorithm), Err(Error::InvalidGraph(_))));
    graph.filter(Policy::Fusion).expect("finalized");
    let partition = &graph.partitions()[0];
    let compiled = partition.compile(engine, partition.inputs(), partition.outputs()).expect("a supported partition");
    let [src, weights, dst] = [0, 1, 2].map(|id| Memory::new(engine, typed(id).tensor().expect("a known tensor")).expect("memory"));
    let mut state = 1u32;
    for memory in [&src, &weights] {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 23) - 1.0
        };
        memory.write_with(|_| next()).expect("numbers");
    }
    compiled.execute(&Stream::new(engine).expect("a stream"), &[&src, &weights], &[&dst], None).expect("an execution");
    (compiled.problems().last().expect("a convolution").1, dst.read_f64().expect("a result"))
}

/// What a graph chooses for its convolutions is about as exact as what it does not.
#[test]
fn winograds_algorithm_is_chosen_and_may_be_refused() {
    let engine = oxidnn_cpu::engine();
    let (_, truth) = windows(&engine, DataType::F64, ConvAlg::Direct);
    let size = truth.iter().map(|x| x * x).sum::<f64>();
    let error = |algorithm: ConvAlg| {
        let (row, got) = windows(&engine, DataType::F32, algorithm);
        (row, (got.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / size).sqrt())
    };
    let ([auto, direct], generates) = ([ConvAlg::Auto, ConvAlg::Direct].map(error), oxidnn_cpu::CpuDevice::host().target().jit.is_some());
    assert_eq!(auto.0.contains("winograd"), generates, "{auto:?}");
    assert!(!direct.0.contains("winograd"), "{direct:?}");
    assert!(auto.1 < 4.0 * direct.1 && auto.1 < 4e-6, "{auto:?} {direct:?}");
}
