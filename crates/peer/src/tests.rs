//! The translation itself, without a library; and, where `OXIDNN_PEER` names one, a conversation with it (in `tests/`).

use crate::call::{Arguments, Count, Factors, Rank, Sizes, Value};
use crate::describe::write_blocking;
use crate::error::{PeerError, Status};
use crate::{forward, signatures};
use oxidnn_c_common::numbers;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, Op, Prop, ReductionAlg};
use oxidnn_spec::{Arg, Compensation, DataType, Dims, Problem, Tensor};

fn problem(line: &str) -> Problem {
    line.parse().unwrap()
}

#[test]
fn every_function_is_in_the_table_once() {
    for (i, (name, _)) in signatures::SIGNATURES.iter().enumerate() {
        assert!(signatures::SIGNATURES[i + 1..].iter().all(|(other, _)| other != name), "{name}");
    }
    assert_eq!(signatures::of("dnnl_matmul_primitive_desc_create"), Some("pEMMMMA"));
    assert_eq!(signatures::of("dnnl_no_such_function"), None);
}

#[test]
fn every_operation_of_the_c_interface_has_its_creators() {
    let creators = signatures::SIGNATURES.iter().filter(|row| row.0.contains("_primitive_desc_create")).count();
    assert_eq!(creators, 48);
    for row in signatures::SIGNATURES.iter().filter(|row| row.0.contains("_primitive_desc_create")) {
        assert!(row.1.starts_with('p') && row.1.ends_with('A'), "{row:?}");
        assert_eq!(row.1.contains('P'), row.0.contains("backward"), "{row:?}");
    }
}

#[test]
fn tuples_know_their_letters_and_counts() {
    let (sizes, scales) = (Sizes::of(&[2, 3]), [0.5f32, 2.0]);
    let call = (Rank::of(&Dims::from([2, 3])), &sizes, 7i32, 1i64, 0.5f32, Count(2), &scales[..]);
    fn signature<A: Arguments>(_: &A) -> String {
        A::signature()
    }
    assert_eq!(signature(&call), "rdilfnF");
    assert_eq!(call.counts(), [2, 2]);
}

#[test]
fn sizes_are_padded_and_may_be_absent() {
    assert!((&Sizes::none()).c().is_null());
    assert!((&Factors(None)).c().is_null());
    assert!(!(&Sizes::of(&[1; 12])).c().is_null());
}

#[test]
fn numbers_are_those_of_the_headers() {
    let types: Vec<i32> =
        [DataType::F16, DataType::F32, DataType::U8, DataType::F4E3m0, DataType::S64].map(|t| numbers::DATA_TYPE.of(t)).to_vec();
    assert_eq!(types, [1, 3, 6, 15, 16]);
    assert_eq!(numbers::BINARY.of(BinaryAlg::Select), 131_068);
    assert_eq!(numbers::REDUCTION.of(ReductionAlg::NormLpPowerPSum), 196_602);
    assert_eq!(numbers::ELTWISE.of(EltwiseAlg::ClipV2Dst), 262);
    assert_eq!(numbers::PROP.of(Prop::BackwardWeights), 192);
}

#[test]
fn statuses_are_typed() {
    assert_eq!(Status::new(3), Status::Unimplemented);
    assert_eq!(Status::new(42).to_string(), "status 42");
    let refused = PeerError::Refused { what: "dnnl_x".into(), status: Status::Unimplemented };
    assert_eq!(refused.status(), Some(Status::Unimplemented));
    assert_eq!(refused.during("forward hint").to_string(), "forward hint (dnnl_x): unimplemented");
}

#[test]
fn a_library_that_is_not_there_is_an_error() {
    let e = crate::Peer::load(std::path::Path::new("/no/such/libdnnl.so.3"), None).unwrap_err();
    assert!(matches!(e, PeerError::Load { .. }), "{e}");
}

#[test]
fn layouts_are_written_at_the_offsets_of_the_structure() {
    let mut t = Tensor::with_tag([17, 5], DataType::S8, "AB16a4b").unwrap();
    let b = t.layout.blocking_mut().unwrap();
    b.compensation = Some(Compensation { s8s8_mask: Some(2), zero_point_mask: Some(1), scale_adjust: None });
    let mut blob = vec![0u8; 768];
    write_blocking(&mut blob, b);
    let i64_at = |at: usize| i64::from_le_bytes(blob[at..at + 8].try_into().unwrap());
    let i32_at = |at: usize| i32::from_le_bytes(blob[at..at + 4].try_into().unwrap());
    assert_eq!([i64_at(112), i64_at(120)], [32, 8]);
    assert_eq!([i64_at(320), i64_at(328)], [128, 64]);
    assert_eq!(i32_at(416), 2);
    assert_eq!([i64_at(424), i64_at(432), i64_at(520), i64_at(528)], [16, 4, 0, 1]);
    assert_eq!([i32_at(640), i32_at(648), i32_at(656)], [9, 2, 1]);
}

#[test]
fn backward_problems_have_forward_ones() {
    for line in [
        "--conv --dir=BWD_D --dt=f32:bf16:bf16 mb2ic4ih5oc6oh5kh3ph1",
        "--deconv --dir=BWD_WB mb2ic4ih5oc6oh7kh3",
        "--ip --dir=BWD_W mb2ic4oc6",
        "--bnorm --dir=BWD_DW --flags=CHR mb2ic4ih5",
        "--lnorm --dir=BWD_DW --flags=CH 3x4x5",
        "--gnorm --dir=BWD_D --flags=C g2mb2ic4ih5",
        "--lrn --dir=BWD_D mb2ic4ih5",
        "--pool --dir=BWD_D --alg=max mb2ic4ih6oh3kh2sh2",
        "--eltwise --dir=BWD_D --alg=tanh_dst 3x4",
        "--softmax --dir=BWD_D --axis=1 3x4",
        "--resampling --dir=BWD_D --alg=linear mb2ic4ih6oh3",
        "--prelu --dir=BWD_DW 3x4:1x4",
        "--shuffle --dir=BWD_D --axis=1 --group=2 3x4",
        "--rnn --prop=BWD_DW --alg=VANILLA_LSTM l1t2mb2slc4",
    ] {
        let backward = problem(line);
        let forward = forward::of(&backward.op).unwrap_or_else(|| panic!("{line}"));
        assert_eq!((forward.prop(), forward.kind()), (Some(Prop::ForwardTraining), backward.op.kind()), "{line}");
        assert!(Problem::new(forward.clone(), backward.attr.clone()).is_ok(), "{line}");
        assert!(forward.tensor(Arg::SRC).is_some() && forward.tensor(Arg::DST).is_some(), "{line}");
        assert!(forward::of(&forward).is_none(), "{line}");
    }
}

#[test]
fn a_forward_pass_gives_its_source_the_layout_that_the_gradient_leaves_open() {
    let Some(Op::Shuffle(forward)) = forward::of(&problem("--shuffle --dir=BWD_D --tag=ba --axis=1 --group=2 3x4").op) else {
        panic!("a shuffle")
    };
    assert_eq!(forward.src.layout.tag().as_deref(), Some("ba"));
}

#[test]
fn forward_problems_have_none() {
    assert!(forward::of(&problem("--conv --dir=FWD_I mb2ic4ih5oc6oh5kh3ph1").op).is_none());
    assert!(forward::of(&problem("--matmul 3x4:4x5").op).is_none());
}
