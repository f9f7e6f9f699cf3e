//! A conversation with the library that the environment variable `OXIDNN_PEER` names (a file, or a folder that holds `libdnnl.so.3`).

use oxidnn_graph::{LayoutType, LogicalTensor, Op, OpKind, Property};
use oxidnn_peer::{Peer, PeerError, Status};
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_spec::{Arg, DataType, Dims, FpMath};
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::harness::Truth;
use std::path::PathBuf;

/// The library, or `None` after a message where there is none to talk to.
fn peer() -> Option<Peer> {
    match std::env::var_os("OXIDNN_PEER") {
        Some(path) => Some(Peer::load(&PathBuf::from(path), None).expect("OXIDNN_PEER names a library that loads")),
        None => {
            eprintln!("skipped: set OXIDNN_PEER to a oneDNN library to run this test");
            None
        }
    }
}

/// Asserts that the library and the reference give the same results.
fn agrees(peer: &Peer, line: &str) {
    let Case { problem, fill, .. } = text::parse_line(&mut Settings::default(), line).unwrap().remove(0);
    let created = peer.create(&problem).unwrap_or_else(|e| panic!("{line}: {e}"));
    assert!(!created.impl_name().unwrap().is_empty());
    let mut resolved = problem;
    resolved.resolve();
    let truth = Truth::of(&concrete(&resolved, &fill).unwrap(), &fill).unwrap();
    let prepared = peer.bind(created, &truth.problem, &truth.inputs, None).unwrap_or_else(|e| panic!("{line}: {e}"));
    prepared.run().unwrap_or_else(|e| panic!("{line}: {e}"));
    let mut got = prepared.outputs(&truth.inputs).unwrap();
    got.0.retain(|(arg, _)| *arg != Arg::WORKSPACE);
    assert!(!got.0.is_empty(), "{line}: no outputs");
    let wrong = truth.compare(&got);
    assert!(wrong.is_empty(), "{line}: {wrong:?}");
}

/// One problem an operation and direction, with attributes of every kind.
const LINES: &[&str] = &[
    "--conv --dir=FWD_B --attr-post-ops=sum:0.5+relu+add:f32:per_oc mb2ic16ih7oc32oh7kh3ph1",
    "--conv --dir=FWD_B --dt=u8:s8:u8 --attr-scales=src:common+wei:per_oc+dst:common --attr-zero-points=src:common mb2ic16ih7oc32oh7kh3ph1",
    "--conv --dir=BWD_D g2mb2ic16ih7oc32oh4kh3sh2ph1",
    "--conv --dir=BWD_WB mb2ic16ih7oc32oh7kh3ph1",
    "--deconv --dir=FWD_B mb2ic16ih7oc8oh9kh3",
    "--deconv --dir=BWD_D mb2ic16ih7oc8oh9kh3",
    "--deconv --dir=BWD_WB mb2ic16ih7oc8oh9kh3",
    "--ip --dir=FWD_B mb2ic16ih3oc32",
    "--ip --dir=BWD_D mb2ic16oc32",
    "--ip --dir=BWD_WB mb2ic16oc32",
    "--matmul --stag=ba --attr-post-ops=gelu_tanh+mul:f32:2 17x33:33x9",
    "--matmul --runtime-dims-masks=3:1 --stag=ab --wtag=ab --dtag=ab 17x33:33x9",
    "--matmul --attr-scratchpad=user 2x17x33:1x33x9",
    "--bnorm --dir=FWD_D --flags=CHR mb3ic8ih5",
    "--bnorm --dir=BWD_DW --flags=CHR mb3ic8ih5",
    "--bnorm --dir=BWD_D --flags=CH mb3ic8ih5",
    "--lnorm --dir=FWD_D --flags=CH 3x4x16",
    "--lnorm --dir=BWD_DW --flags=CH 3x4x16",
    "--gnorm --dir=FWD_D --flags=CH g2mb2ic8ih5",
    "--gnorm --dir=BWD_DW --flags=CH g2mb2ic8ih5",
    "--lrn --dir=FWD_D --alg=ACROSS mb2ic16ih5",
    "--lrn --dir=BWD_D --alg=ACROSS mb2ic16ih5",
    "--pool --dir=FWD_D --alg=max mb2ic16ih8oh4kh2sh2",
    "--pool --dir=BWD_D --alg=max mb2ic16ih8oh4kh2sh2",
    "--pool --dir=BWD_D --alg=avg_np mb2ic16ih8oh4kh3sh2ph1",
    "--eltwise --dir=FWD_D --alg=gelu_erf 3x4x5",
    "--eltwise --dir=BWD_D --alg=tanh_dst 3x4x5",
    "--softmax --dir=FWD_D --axis=1 3x17",
    "--softmax --dir=BWD_D --alg=LOGSOFTMAX --axis=1 3x17",
    "--reduction --alg=mean 3x4x5:3x1x5",
    "--resampling --dir=FWD_D --alg=linear mb2ic4ih5oh9",
    "--resampling --dir=BWD_D --alg=nearest mb2ic4ih5oh9",
    "--binary --alg=add --attr-scales=src:common 3x4x5:3x1x5",
    "--binary --alg=select --sdt=f32:f32:s8 --stag=ab:ab:ab 3x4:3x4:3x4",
    "--prelu --dir=FWD_D 3x4x5:1x4x1",
    "--prelu --dir=BWD_DW 3x4x5:1x4x1",
    "--shuffle --dir=FWD_D --axis=1 --group=4 2x16x3",
    "--shuffle --dir=BWD_D --axis=1 --group=4 2x16x3",
    "--concat --axis=1 2x3x4:2x5x4",
    "--sum --sdt=f32:f32 --scales=0.5:2 2x3x4",
    "--reorder --sdt=f32 --ddt=bf16 --stag=abc --dtag=aBc16b 2x17x3",
    "--reorder --sdt=f32 --ddt=s8 --stag=ab --dtag=ba --attr-scales=src:common --attr-zero-points=dst:common 9x5",
    "--reorder --sdt=f32 --ddt=s8 --stag=ab --dtag=BA16b16a --oflag=s8s8_comp:1 33x17",
    "--rnn --prop=FWD_D --alg=VANILLA_RNN --activation=TANH l2t3mb2slc8",
    "--rnn --prop=BWD_DW --alg=VANILLA_RNN --activation=LOGISTIC l1t3mb2slc8",
    "--rnn --prop=FWD_I --alg=VANILLA_LSTM --direction=concat l1t3mb2slc8",
    "--rnn --prop=BWD_DW --alg=VANILLA_LSTM l1t3mb2slc8",
    "--rnn --prop=BWD_DW --alg=VANILLA_GRU l1t3mb2slc8",
    "--rnn --prop=BWD_DW --alg=LBR_GRU l1t3mb2slc8",
    "--rnn --prop=FWD_D --alg=VANILLA_AUGRU l1t3mb2slc8",
    "--rnn --prop=FWD_D --alg=LBR_AUGRU l1t3mb2slc8",
];

#[test]
fn every_operation_gives_what_the_reference_gives() {
    let Some(peer) = peer() else { return };
    for line in LINES {
        agrees(&peer, line);
    }
}

#[test]
fn what_the_library_lacks_is_a_typed_refusal() {
    let Some(peer) = peer() else { return };
    let refusal = |line: &str| peer.create(&line.parse().unwrap()).map(|_| ()).unwrap_err();
    assert_eq!(refusal("--matmul --dt=f64 3x4:4x5").status(), Some(Status::Unimplemented));
    assert!(matches!(refusal("--sdpa 1x2x3x4:1x2x4x5:1x2x5x4"), PeerError::Inexpressible(_)));
}

#[test]
fn it_says_what_it_is() {
    let Some(peer) = peer() else { return };
    assert!(peer.describe().starts_with("oneDNN 3."), "{}", peer.describe());
}

/// A chain that the library computes as one partition: partitions, memory, execution, results.
#[test]
fn graphs_are_partitioned_and_computed() {
    let Some(peer) = peer() else { return };
    let tensor = |id: usize, dims: &[i64]| {
        let dims = Dims::new(dims).expect("few dimensions");
        LogicalTensor::with_dims(id, Some(DataType::F32), dims, LayoutType::Strided, Property::Variable).expect("a tensor")
    };
    let op = |id: usize, kind: OpKind, inputs: &[LogicalTensor], output: LogicalTensor| {
        let mut op = Op::new(id, kind, kind.name());
        (op.inputs, op.outputs) = (inputs.to_vec(), vec![output]);
        op
    };
    let [a, b, c, d, e] = [tensor(0, &[3, 5]), tensor(1, &[5, 4]), tensor(2, &[3, 4]), tensor(3, &[3, 4]), tensor(4, &[3, 4])];
    let ops = [op(0, OpKind::MatMul, &[a, b], c), op(1, OpKind::Add, &[c, d], e)];
    let partitions = peer.partitions(&ops, FpMath::default()).expect("partitions");
    assert_eq!(partitions.iter().map(|p| p.ops.clone()).collect::<Vec<_>>(), [[0, 1]]);
    assert!(partitions[0].is_supported);
    let bytes = |count: usize, v: f32| v.to_le_bytes().repeat(count);
    let given = [(0, (a, bytes(15, 2.0))), (1, (b, bytes(20, 0.5))), (3, (d, bytes(12, -1.0)))].into();
    let run = peer.graph(&partitions, &given).expect("a compiled graph");
    run.run().expect("an execution");
    run.run_one(0).expect("an execution");
    assert_eq!((run.partitions(), run.compiled().len()), (1, 1));
    let (lt, result) = run.read(4).expect("a result").expect("a strided tensor");
    assert_eq!(lt.dims, e.dims);
    assert_eq!(result, bytes(12, 4.0));
    let missing = peer.graph(&partitions, &Default::default()).expect_err("nothing was given");
    assert!(missing.to_string().contains("logical tensor 0"), "{missing}");
    let wrong = peer.partitions(&[op(0, OpKind::Elu, &[a], c)], FpMath::default()).expect_err("an attribute is missing");
    assert!(wrong.to_string().contains("operation 0 (Elu)"), "{wrong}");
}
