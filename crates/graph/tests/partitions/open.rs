//! Partitions of open sizes: compiled once, executed for many.

use crate::allocations::counted;
use crate::nets::builder::{Attrs, Net};
use crate::nets::run::partitioned;
use oxidnn_graph::{CompiledPartition, LogicalTensor, OpKind, Partition, Policy, UNKNOWN};
use oxidnn_runtime::{Engine, Memory, Stream};
use oxidnn_spec::{DataType, Dims};

/// Inputs and outputs of the networks' layers.
const WIDTHS: [i64; 2] = [48, 80];

/// A layer of a perceptron over any number of rows: product, bias, GELU and a residual sum.
fn layer() -> Partition {
    let [from, to] = WIDTHS;
    let mut net = Net::default();
    let (x, residual) = (net.input(DataType::F32, &[1, from]), net.input(DataType::F32, &[1, to]));
    let (w, b) = (net.constant(DataType::F32, &[from, to]), net.constant(DataType::F32, &[to]));
    let y = net.op(OpKind::MatMul, &[x, w, b], DataType::F32, Attrs::new());
    let y = net.unary(OpKind::Gelu, y);
    net.binary(OpKind::Add, y, residual);
    let graph = partitioned(&net, Policy::Fusion).expect("a valid graph");
    let [partition] = graph.partitions() else { panic!("{} partitions", graph.partitions().len()) };
    partition.clone()
}

/// The port with this number of rows, where its rows are those of the data.
fn sized(lt: &LogicalTensor, rows: i64) -> LogicalTensor {
    let dims = lt.known_dims().expect("sizes of the graph");
    if dims[0] == 1 { LogicalTensor { dims: Some(Dims::from([rows, dims[1]])), ..*lt } } else { *lt }
}

fn compiled(engine: &Engine, partition: &Partition, rows: i64) -> CompiledPartition {
    let inputs: Vec<LogicalTensor> = partition.inputs().iter().map(|lt| sized(lt, rows)).collect();
    partition.compile(engine, &inputs, partition.outputs()).expect("a supported partition")
}

fn memory(engine: &Engine, lt: &LogicalTensor, rows: i64) -> Memory<'static> {
    let memory = Memory::new(engine, sized(lt, rows).tensor().expect("known sizes")).expect("memory");
    memory.write_with(|i| ((i * 7 + lt.id) % 13) as f64 / 8.0 - 0.75).expect("memory of its own");
    memory
}

/// Inputs for a number of rows, and the output.
struct Bound {
    inputs: Vec<Memory<'static>>,
    output: Memory<'static>,
}

impl Bound {
    fn new(engine: &Engine, compiled: &CompiledPartition, rows: i64) -> Bound {
        let inputs: Vec<Memory<'static>> = compiled.partition().inputs().iter().map(|lt| memory(engine, lt, rows)).collect();
        let views: Vec<&Memory<'_>> = inputs.iter().collect();
        let port = compiled.partition().outputs()[0].id;
        let sized = compiled.sized(&views).expect("sizes that fit");
        let output = sized.logical_tensor(port).expect("a port").tensor().expect("known sizes");
        Bound { output: Memory::new(engine, output).expect("memory"), inputs }
    }

    fn run(&self, stream: &Stream, compiled: &CompiledPartition) -> Vec<f32> {
        self.once(stream, compiled);
        self.output.read_f32().expect("a result")
    }

    fn once(&self, stream: &Stream, compiled: &CompiledPartition) {
        let [a, b, c, d] = &self.inputs[..] else { panic!("{} inputs", self.inputs.len()) };
        compiled.execute(stream, &[a, b, c, d], &[&self.output], None).expect("an execution");
    }
}

const ROWS: [i64; 20] = [1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 128];

#[test]
fn one_partition_computes_twenty_sizes_as_twenty_partitions_do() {
    let engine = oxidnn_cpu::engine();
    let (stream, partition) = (Stream::new(&engine).expect("a stream"), layer());
    let open = compiled(&engine, &partition, UNKNOWN);
    assert!(open.is_open());
    for rows in ROWS.into_iter().chain(ROWS.into_iter().rev()) {
        let fixed = compiled(&engine, &partition, rows);
        assert!(!fixed.is_open());
        let expected = Bound::new(&engine, &fixed, rows).run(&stream, &fixed);
        assert_eq!(expected.len() as i64, rows * WIDTHS[1]);
        assert_eq!(Bound::new(&engine, &open, rows).run(&stream, &open), expected, "{rows} rows");
    }
}

#[test]
fn sizes_that_came_before_allocate_nothing_but_the_handle_of_their_scratch() {
    let engine = oxidnn_cpu::engine();
    let (stream, open) = (Stream::new(&engine).expect("a stream"), compiled(&engine, &layer(), UNKNOWN));
    let all: Vec<Bound> = ROWS.iter().map(|&rows| Bound::new(&engine, &open, rows)).collect();
    let round = || all.iter().for_each(|bound| bound.once(&stream, &open));
    round();
    round();
    drop(Memory::scratch(&engine, 1 << 16).expect("scratch"));
    let handle = counted(|| drop(Memory::scratch(&engine, 1 << 16).expect("scratch")));
    let count = counted(round);
    assert!(count <= handle * ROWS.len() as u64, "{count} allocations, a handle is {handle}");
}

#[test]
fn threads_execute_one_open_partition_for_sizes_of_their_own() {
    let engine = oxidnn_cpu::engine();
    let (partition, open) = (layer(), compiled(&engine, &layer(), UNKNOWN));
    let expect = |rows: i64| {
        let fixed = compiled(&engine, &partition, rows);
        Bound::new(&engine, &fixed, rows).run(&Stream::new(&engine).expect("a stream"), &fixed)
    };
    let expected: Vec<Vec<f32>> = ROWS.iter().map(|&rows| expect(rows)).collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (open, engine, expected) = (&open, &engine, &expected);
            scope.spawn(move || {
                let stream = Stream::new(engine).expect("a stream");
                for step in 0..2 * ROWS.len() {
                    let i = (thread * 5 + step * 3) % ROWS.len();
                    assert_eq!(Bound::new(engine, open, ROWS[i]).run(&stream, open), expected[i], "{} rows", ROWS[i]);
                }
            });
        }
    });
}

#[test]
fn sizes_that_contradict_what_is_known_are_refused() {
    let engine = oxidnn_cpu::engine();
    let (stream, open) = (Stream::new(&engine).expect("a stream"), compiled(&engine, &layer(), UNKNOWN));
    let bound = Bound::new(&engine, &open, 4);
    let wide = Memory::new(&engine, oxidnn_spec::Tensor::plain([4, 47], DataType::F32).expect("a tensor")).expect("memory");
    let [_, b, c, d] = &bound.inputs[..] else { panic!("{} inputs", bound.inputs.len()) };
    let error = open.execute(&stream, &[&wide, b, c, d], &[&bound.output], None).expect_err("47 columns").to_string();
    assert!(error.contains("memory of logical tensor"), "{error}");
    assert_eq!(bound.run(&stream, &open).len() as i64, 4 * WIDTHS[1], "and nothing is broken by it");
}
