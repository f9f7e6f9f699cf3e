use super::*;
use crate::ops::rows;
use oxidnn_spec::op::{BinaryAlg, Matmul};
use oxidnn_spec::text::{Settings, parse_line};
use oxidnn_spec::{DataType, Layout, PostOp};

/// A matrix product in `dtype` with a binary post-op that adds a matrix in the other order.
fn added(dtype: DataType) -> Problem {
    let tensor = |m: i64, n: i64| Tensor::plain([m, n], dtype).unwrap();
    let product = Matmul { src: tensor(40, 70), weights: tensor(70, 90), bias: None, dst: tensor(40, 90) };
    let src1 = Tensor { dtype: DataType::F32, layout: Layout::with_tag([40, 90].into(), "ba").unwrap() };
    let mut attr = Attr::default();
    attr.post_ops.push(PostOp::Binary { alg: BinaryAlg::Add, src1, src2: None });
    Problem::new(product, attr).unwrap()
}

#[test]
fn passes_are_made_for_generated_code_alone() {
    let target = CpuTarget::host();
    let chosen = |problem: Problem| {
        let taken = rows(&problem.op).iter().find(|row| (row.plan)(&problem, &target).is_ok());
        taken.map(|row| row.name)
    };
    let generated = if target.jit.is_some() { "passes:jit" } else { "packed:portable" };
    assert_eq!([DataType::F32, DataType::F64].map(|dtype| chosen(added(dtype))), [Some(generated), Some("doubles:portable")]);
}

/// Backward passes take the workspace of the forward pass.
#[test]
fn layouts_that_are_left_open_follow_the_problem() {
    for line in [
        "--pool --tag=abdc mb2ic17ih14oh7kh3sh2ph1",
        "--pool --dir=BWD_D --tag=abdc mb2ic17ih14oh7kh3sh2ph1",
        "--gnorm --tag=abdc g1mb2ic17ih14",
    ] {
        let mut problem = parse_line(&mut Settings::default(), line).unwrap().swap_remove(0).problem;
        let result = problem.op.tensor_mut(if line.contains("BWD") { Arg::DIFF_SRC } else { Arg::DST }).unwrap();
        *result = Tensor::any(*result.dims(), result.dtype);
        let target = CpuTarget::host();
        let plan = rows(&problem.op).iter().find_map(|row| (row.plan)(&problem, &target).ok()).unwrap();
        let abdc = |t: &Tensor| *t == Tensor { dtype: t.dtype, layout: Layout::with_tag(*t.dims(), "abdc").unwrap() };
        assert!(plan.problem().operands().iter().filter(|o| o.tensor.dims().len() == 4).all(|o| abdc(&o.tensor)), "{line}");
    }
}
