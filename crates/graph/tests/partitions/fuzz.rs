//! Random graphs: whatever they are made of, they are refused with a reason or partitioned, compiled and computed; valid ones compute what their
//! operations compute one by one.

use crate::nets::Net;
use crate::nets::dice::Dice;
use crate::nets::run::{largest, run};
use oxidnn_graph::{AttrId, AttrValue, Graph, LayoutType, LogicalTensor, Need, Op, OpKind, Policy, Property, UNKNOWN};
use oxidnn_judge::Bound;
use oxidnn_runtime::EngineKind;
use oxidnn_spec::{DataType, Dims, FpMath, Real};

impl Dice {
    fn size(&mut self) -> i64 {
        *self.pick(&[0, 1, 1, 2, 3, 3, 4, 4, 5, 16, -1, UNKNOWN, i64::MAX, 1 << 40, 1 << 59, i64::MAX / 16])
    }

    fn small(&mut self) -> i64 {
        *self.pick(&[1, 1, 2, 3, 4])
    }

    fn dims(&mut self) -> Dims {
        let n = *self.pick(&[0, 1, 2, 2, 3, 3, 4, 4, 5, 12]);
        let wild = self.one_in(6);
        Dims::from_fn(n, |_| if wild { self.size() } else { self.small() })
    }

    fn value(&mut self, id: AttrId, allowed: &[&str]) -> AttrValue {
        let count = self.roll(5);
        let mut whole = || if self.one_in(8) { self.size() } else { self.small() - 1 };
        let v = match id as i32 {
            0..0x20 => AttrValue::F32(Real::new(whole() as f32)),
            0x20..0x30 => AttrValue::F32s((0..count).map(|_| Real::new(whole() as f32 / 4.0)).collect()),
            0x30..0x40 => AttrValue::S64(whole()),
            0x40..0x60 => AttrValue::S64s((0..count).map(|_| whole()).collect()),
            0x60..0x80 => AttrValue::Bool(whole() > 1),
            _ => AttrValue::Text(if allowed.is_empty() || self.one_in(9) { "NOTHING".into() } else { self.pick(allowed).to_string() }),
        };
        if self.one_in(60) { AttrValue::Text("a word".into()) } else { v }
    }

    fn tensor(&mut self, id: usize) -> LogicalTensor {
        let types = [DataType::F32, DataType::F32, DataType::F32, DataType::Bf16, DataType::U8, DataType::S8, DataType::S32, DataType::F64];
        let dtype = if self.one_in(40) { None } else { Some(*self.pick(&types)) };
        let layout = *self.pick(&[LayoutType::Strided, LayoutType::Strided, LayoutType::Any, LayoutType::Undef, LayoutType::Opaque(7)]);
        let property = *self.pick(&[Property::Variable, Property::Undef, Property::Constant, Property::Variable]);
        let dims = if self.one_in(4) { None } else { Some(self.dims()) };
        let made = match dims {
            Some(dims) if self.one_in(5) => {
                let strides = Dims::from_fn(dims.len(), |_| self.size());
                LogicalTensor::with_strides(id, dtype, dims, strides, property)
            }
            Some(dims) => LogicalTensor::with_dims(id, dtype, dims, layout, property),
            None => LogicalTensor::new(id, dtype, Some(self.roll(5)), layout, property),
        };
        made.unwrap_or(LogicalTensor { id, dtype, dims: None, strides: Dims::default(), layout, property })
    }

    fn op(&mut self, id: usize, pool: &[LogicalTensor]) -> Op {
        let kind = OpKind::from_number(self.roll(88) as i32).expect("a kind");
        let (schema, mut op) = (kind.schema(), Op::new(id, kind, "fuzz"));
        for rule in schema.attrs {
            if matches!(rule.need, Need::Required) && !self.one_in(20) || self.one_in(3) {
                op.attrs.insert(rule.id, self.value(rule.id, rule.allowed));
            }
        }
        if self.one_in(30) {
            op.attrs.insert(AttrId::Groups, AttrValue::S64(self.size()));
        }
        let counts = [schema.inputs.list.len(), schema.outputs.list.len()].map(|n| if self.one_in(12) { self.roll(5) } else { n });
        op.inputs = (0..counts[0]).map(|_| *self.pick(pool)).collect();
        op.outputs = (0..counts[1]).map(|_| *self.pick(pool)).collect();
        op
    }
}

#[test]
fn graphs_of_anything_are_refused_or_partitioned() {
    let engine = oxidnn_cpu::engine();
    let mut dice = Dice(1);
    let [mut partitioned, mut compiled, mut refused] = [0usize; 3];
    for _ in 0..100_000 {
        let count = 2 + dice.roll(8);
        let mut pool: Vec<LogicalTensor> = (0..count).map(|id| dice.tensor(id)).collect();
        if dice.one_in(3) {
            // Tensors that agree with each other.
            let first = LogicalTensor { dtype: Some(DataType::F32), ..pool[0] };
            pool = (0..count).map(|id| LogicalTensor { id, ..first }).collect();
        }
        let mut graph = Graph::new(EngineKind::Cpu, FpMath::default());
        for id in 0..1 + dice.roll(6) {
            let id = if dice.one_in(20) { 0 } else { id };
            if let Err(e) = graph.add_op(&dice.op(id, &pool)) {
                refused += 1;
                assert!(e.to_string().contains("operation"), "{e}");
            }
        }
        if let Err(e) = graph.finalize() {
            refused += 1;
            assert!(!e.to_string().is_empty());
            continue;
        }
        graph.filter(Policy::Fusion).expect("finalized");
        let ops: usize = graph.partitions().iter().map(|p| p.ops().len()).sum();
        assert_eq!(ops, graph.ops().len(), "each operation is in one partition");
        partitioned += graph.partitions().len();
        for partition in graph.partitions().iter().filter(|p| p.refusal().is_none()) {
            match partition.compile(&engine, partition.inputs(), partition.outputs()) {
                Ok(_) => compiled += 1,
                Err(e) => assert!(!e.to_string().is_empty()),
            }
        }
    }
    assert!(
        partitioned > 10_000 && compiled > 1_000 && refused > 10_000,
        "{partitioned} partitions, {compiled} compiled, {refused} refused"
    );
}

/// A graph of operations that fit each other: functions, products, conversions, movements, read once or several times.
fn sound(dice: &mut Dice) -> Net {
    use OpKind::*;
    let mut net = Net::default();
    let sizes = [[2, 4, 8], [1, 4, 8], [2, 8, 8]];
    let mut all: Vec<(LogicalTensor, [i64; 3])> = sizes.iter().map(|&d| (net.input(DataType::F32, &d), d)).collect();
    for _ in 0..3 + dice.roll(9) {
        let (x, dims) = if dice.one_in(3) { *dice.pick(&all) } else { all[all.len() - 1] };
        let made = match dice.roll(10) {
            0..3 => (net.unary(*dice.pick(&[Relu, Tanh, Sigmoid, Clamp, Abs, Gelu]), x), dims),
            3..6 => {
                let other = all.iter().filter(|(_, d)| (0..3).all(|i| d[i] == dims[i] || d[i] == 1)).map(|o| o.0).collect::<Vec<_>>();
                (net.binary(*dice.pick(&[Add, Subtract, Multiply, Maximum, Minimum]), x, *dice.pick(&other)), dims)
            }
            6 => {
                let weights = net.constant(DataType::F32, &[8, 8]);
                (net.op(MatMul, &[x, weights], DataType::F32, Vec::new()), dims)
            }
            7 => {
                let attrs = vec![(AttrId::Axis, AttrValue::S64(-1))];
                (net.op(SoftMax, &[x], DataType::F32, attrs), dims)
            }
            8 => {
                let bounded = net.unary(Tanh, x);
                let q = net.quantize(bounded, DataType::S8, 0.03125, 0);
                (net.dequantize(q, 0.03125, 0), dims)
            }
            _ => {
                let x = net.transpose(x, &[0, 2, 1]);
                let x = net.unary(Relu, x);
                (net.transpose(x, &[0, 2, 1]), dims)
            }
        };
        all.push(made);
    }
    net
}

#[test]
fn sound_graphs_compute_what_their_operations_compute() {
    let engine = oxidnn_cpu::engine();
    let mut dice = Dice(7);
    for i in 0..400 {
        let net = sound(&mut dice);
        let fused = run(&engine, &net, Policy::Fusion).unwrap_or_else(|e| panic!("graph {i}: {e}\n{}", net.lines()));
        let single = run(&engine, &net, Policy::Debug).unwrap_or_else(|e| panic!("graph {i}: {e}\n{}", net.lines()));
        for (id, (_, expected)) in &single {
            let got = &fused[id].1;
            // A number that is rounded to a byte on the way may be the neighbour: what follows moves with it.
            let bytes = net.ops.iter().any(|o| o.kind == OpKind::Quantize);
            let allowed = largest(expected).max(1.0) * if bytes { 0.25 } else { 1e-4 };
            let off = oxidnn_judge::differ(got, expected, Bound { relative: 0.0, absolute: allowed });
            assert!(off.is_none(), "graph {i}, tensor {id}: {off:?}\n{}", net.lines());
        }
    }
}
