//! Wrong requests, one for each rule, and the argument that the error names.

use oxidnn_spec::op::*;
use oxidnn_spec::text::{Settings, parse_line};
use oxidnn_spec::*;

/// Lines that are refused, with the begin of the argument that the error names.
const LINES: &[(&str, &str)] = &[
    // convolution, deconvolution, inner product
    ("--conv --dt=s32 mb2ic4ih5oc8kh3", "data types"),
    ("--conv --dt=u8:f32:f32 mb2ic4ih5oc8kh3", "data types"),
    ("--conv --dir=BWD_D --attr-post-ops=relu mb2ic4ih5oc8kh3", "post-op 0"),
    ("--conv --attr-scales=src:per_dim_1 mb2ic4ih5oc8kh3", "scales of src"),
    ("--conv --attr-scales=wei:per_dim_2 mb2ic4ih5oc8kh3", "scales of wei"),
    ("--conv --attr-scales=src1:common mb2ic4ih5oc8kh3", "scales"),
    ("--conv --dt=u8:s8:u8 --attr-zero-points=wei:per_oc mb2ic4ih5oc8kh3", "zero points of wei"),
    ("--conv --attr-zero-points=src:common mb2ic4ih5oc8kh3", "zero points of src"),
    ("--conv --attr-post-ops=dw:k3s1p1 mb2ic4ih5oc8kh3", "post-op 0"),
    ("--conv --attr-post-ops=dw:k3s1p3 mb2ic4ih5oc8kh1", "post-op 0"),
    ("--conv --attr-post-ops=sum+dw:k3s1p1 mb2ic4ih5oc8kh1", "post-op 0"),
    ("--deconv --attr-post-ops=dw:k3s1p1 mb2ic4ih5oc8kh1", "post-op 0"),
    ("--deconv --attr-scales=dst:per_dim_1 mb2ic4ih5oc8kh3", "scales of dst"),
    ("--ip --dt=u8:s8:u8 --attr-zero-points=src:common mb2ic4oc8", "zero points"),
    ("--ip --attr-dropout=0.5:1 mb2ic4oc8", "dropout"),
    // products
    ("--matmul 2x3:4x5", "wei"),
    ("--matmul 2x3x4:3x4x5:2x3x5", "dst"),
    ("--matmul --dt=s32 2x3:3x5", "data types"),
    ("--matmul --dt=u8:s8:f32 --attr-zero-points=src:per_dim_0 2x64:64x5", "zero points of src"),
    ("--matmul --dt=f32:s8:f32 --attr-fpmath=bf16:true --attr-scales=wei:per_dim_01:f32:8x1 32x64:64x5", "scales of wei"),
    ("--matmul --attr-scales=wei:common:e8m0 2x64:64x5", "scales of wei"),
    ("--matmul --attr-scales=wei:common:s32 2x64:64x5", "scales of wei"),
    ("--matmul --attr-zero-points=dst:common 2x64:64x5", "zero points of dst"),
    ("--matmul --dt=u8:s8:f32 --attr-precomputed-reductions=src:per_tensor:s32 2x64:64x5", "precomputed reductions of src"),
    ("--matmul --encoding=csr+0.5:csr+0.5: 4x6:6x5", "wei"),
    ("--matmul --encoding=csr+0.5:: --bia-dt=f32 --bia-mask=2 4x6:6x5", "bia"),
    ("--matmul --encoding=csr+0.5:: --attr-post-ops=relu 4x6:6x5", "attributes"),
    // post-ops
    ("--matmul --attr-post-ops=sum:1:0:s8 2x3:3x5", "post-op 0"),
    ("--matmul --attr-post-ops=sum:1:3 2x3:3x5", "post-op 0"),
    ("--matmul --attr-post-ops=sum:1:0:f32+sum:1:0:s32 2x3:3x5", "post-op 1"),
    ("--matmul --attr-post-ops=clip:2:1 2x3:3x5", "post-op 0"),
    ("--matmul --attr-post-ops=prelu:64 2x3:3x5", "post-op 0"),
    ("--matmul --attr-post-ops=add:s64:common 2x3:3x5", "post-op 0"),
    ("--eltwise --attr-post-ops=relu 2x3", "post-op 0"),
    ("--softmax --attr-post-ops=sum 2x3", "post-op 0"),
    ("--bnorm --dir=FWD_I --attr-post-ops=tanh mb2ic4ih5", "post-op 0"),
    ("--lrn --attr-post-ops=relu mb2ic4ih5ls5", "post-op 0"),
    // normalisations
    ("--bnorm --dt=s8 mb2ic4ih5", "flags"),
    ("--bnorm --dir=BWD_D --dt=s8 --flags=G mb2ic4ih5", "data types"),
    ("--bnorm --flags=RA mb2ic4ih5", "flags"),
    ("--lnorm --dt=s32 2x3", "data types"),
    ("--lnorm --ss-dt=s8 --flags=C 2x3", "scale"),
    ("--lnorm 7", ""),
    ("--gnorm g3mb2ic4ih5", "groups"),
    ("--lrn --dt=s8 mb2ic4ih5ls5", "data types"),
    ("--lrn mb2ic4ih5ls0", "local_size"),
    // windows
    ("--pool --alg=avg_np mb2ic4ih5oh7kh3ph5", "padding"),
    ("--pool --dir=FWD_D --dt=f64:f32 mb2ic4ih5kh3", "data types"),
    ("--resampling --dt=f8_e5m2 mb2ic4ih5oh10", ""),
    // element-wise
    ("--eltwise --alg=clip --alpha=2 --beta=1 2x3", "beta"),
    ("--eltwise --alg=relu_dst --alpha=-1 2x3", "alpha"),
    ("--eltwise --alg=round --dir=BWD_D 2x3", "propagation kind"),
    ("--eltwise --alg=round --dt=bf16 2x3", "data types"),
    ("--eltwise --dir=BWD_D --dt=s8 2x3", "data types"),
    ("--binary --alg=add 2x3:4x1", ""),
    ("--prelu 2x3:2x2", "wei"),
    ("--prelu 2x3x1x1x1x1:1x3x1x1x1x1", "src"),
    ("--softmax --axis=2 2x3", "axis"),
    ("--softmax --dt=s32 2x3", ""),
    ("--reduction 2x3:2x3", "dst"),
    ("--reduction 2x3:2x2", "dst"),
    ("--reduction --alg=norm_lp_sum --p=0.5 2x3:1x3", "p"),
    ("--reduction --alg=norm_lp_sum --sdt=s8 --ddt=f32 2x3:1x3", "data types"),
    ("--shuffle --axis=1 --group=2 2x3", "group_size"),
    ("--shuffle --axis=3 --group=1 2x3", "axis"),
    ("--concat --axis=1 2x3:3x3", "msrc1"),
    ("--concat --axis=2 2x3:2x3", ""),
    ("--sum 2x3:2x3", ""),
    ("--reorder --attr-post-ops=relu 2x3", "post-op 0"),
    ("--reorder --attr-zero-points=src:common 2x3", "zero points of src"),
    // recurrent networks and attention
    ("--rnn --alg=VANILLA_AUGRU --direction=concat l1t2mb2slc4", "direction"),
    ("--rnn --alg=VANILLA_AUGRU l2t2mb2slc4", "direction"),
    ("--rnn l2t2mb2slc4sic5dhc5", "src"),
    ("--rnn --alg=VANILLA_LSTM --tensors=src:f32:abc:1x3x3 l1t1mb3slc7sic7dhc3dic3", "src"),
    ("--pool --dir=FWD_D ic1ih4194304ow1iw4194304oh1kh4194304kw4194304", "kernel"),
    ("--rnn l1t2mb2slc4sic5dhc6", ""),
    ("--rnn --alg=VANILLA_GRU --prop=FWD_D --cfg=u8u8u8u8 l1t2mb2slc4", "data types"),
    ("--rnn --alg=LBR_GRU --prop=FWD_I --cfg=u8u8u8u8 l1t2mb2slc4", "data types"),
    ("--rnn --alg=VANILLA_RNN --with-projection=true l1t2mb2slc4", "wei3"),
    ("--rnn --alg=VANILLA_GRU --with-peephole=true l1t2mb2slc4", "wei2"),
    ("--sdpa 2x3x4x8:2x2x8x6:2x2x6x8", "src1"),
    ("--sdpa --dt=s8 2x2x4x8:2x2x8x6:2x2x6x8", "data types"),
    ("--sdpa --dir=BWD_D 2x2x4x8:2x2x8x6:2x2x6x8", "propagation kind"),
    ("--sdpa --dir=BWD_DW --dt=f32:s8:s8:f32 2x2x4x8:2x2x8x6:2x2x6x8", "data types"),
    ("--sdpa --dir=BWD_DW --attr-scales=src1:per_dim_3 2x2x4x8:2x2x8x6:2x2x6x8", "scales"),
    ("--sdpa --attr-zero-points=src1:per_dim_3 2x2x4x8:2x2x8x6:2x2x6x8", "zero points"),
];

#[test]
fn wrong_lines_are_refused_by_the_argument_that_is_wrong() {
    let mut odd = Vec::new();
    for (line, argument) in LINES {
        match parse_line(&mut Settings::default(), line) {
            Ok(_) => odd.push(format!("{line}: accepted")),
            Err(e) if !e.option.starts_with(argument) => odd.push(format!("{line}: {e}")),
            Err(_) => {}
        }
    }
    assert!(odd.is_empty(), "{}", odd.join("\n"));
}

fn problem(line: &str) -> Problem {
    parse_line(&mut Settings::default(), line).unwrap().remove(0).problem
}

/// The argument that the error names; the error carries a problem line.
fn refused(p: Problem) -> String {
    match Problem::new(p.op, p.attr) {
        Err(Error::InvalidArguments(e)) => {
            assert!(e.problem.is_some(), "{e}");
            e.argument
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn sizes_of_recurrent_networks_agree_in_every_tensor() {
    let lines = [
        "--rnn --alg=VANILLA_RNN l1t3mb4slc5sic6dhc6",
        "--rnn --alg=VANILLA_LSTM --with-peephole=true --with-projection=true l1t3mb4slc5sic6dhc7dic6",
        "--rnn --alg=VANILLA_GRU --direction=concat l2t3mb4slc5",
        "--rnn --alg=LBR_GRU --direction=sum l1t3mb4slc5sic6dhc6",
        "--rnn --alg=VANILLA_AUGRU l1t3mb4slc5sic6dhc6",
        "--rnn --alg=VANILLA_LSTM --prop=BWD_DW l1t3mb4slc5sic6dhc6",
        "--rnn --alg=LBR_AUGRU --prop=BWD_DW l1t3mb4slc5sic6dhc6",
    ];
    // Under Miri, where a line takes minutes, one with most tensors.
    for line in if cfg!(miri) { &lines[1..2] } else { &lines[..] } {
        let right = problem(line);
        for (i, operand) in right.op.operands().iter().enumerate() {
            // The workspace is derived anew.
            let dims = if operand.arg == Arg::WORKSPACE { Dims::default() } else { *operand.tensor.dims() };
            for d in 0..dims.len() {
                let mut wrong = right.clone();
                let other = Dims::from_fn(dims.len(), |j| dims[j] + i64::from(j == d));
                *wrong.op.operands_mut()[i].tensor = Tensor::plain(other, operand.tensor.dtype).unwrap();
                let answer = Problem::new(wrong.op, wrong.attr);
                assert!(matches!(answer, Err(Error::InvalidArguments(_))), "{line}: {} of {other}: {answer:?}", operand.arg);
            }
        }
    }
    let mut wrong = problem(lines[0]);
    if let Op::Rnn(op) = &mut wrong.op {
        op.src_layer = Tensor::plain([3, 4, 9], DataType::F32).unwrap();
    }
    assert_eq!(refused(wrong), "src");
}

#[test]
fn attributes_that_no_line_writes() {
    let mut p = problem("--matmul 2x3:3x5");
    p.attr.post_ops = vec![PostOp::Sum { scale: Real::new(1.0), zero_point: 0, dtype: None }; MAX_POST_OPS + 1];
    assert_eq!(refused(p), "post-ops");
    let mut p = problem("--matmul 2x3:3x5");
    p.attr.rnn.data = Some((Real::new(1.0), Real::new(0.0)));
    assert_eq!(refused(p), "rnn quantisation");
    let mut p = problem("--matmul 2x3:3x5");
    p.attr.scales.insert(Arg::SRC, Quant { on_host: true, ..Quant::per(1, DataType::F32) });
    assert_eq!(refused(p), "scales of src: host scalar");
    let mut p = problem("--matmul 32x32:32x32");
    p.attr.scales.insert(Arg::SRC, Quant { mode: QuantMode::DynamicMx, groups: [1, 32].into(), ..Quant::per(3, DataType::E8m0) });
    assert_eq!(refused(p), "scales of src: quantisation mode");
    let mut p = problem("--matmul 32x32:32x32");
    p.attr.scales.insert(Arg::DST, Quant { mode: QuantMode::DynamicMx, groups: [1, 16].into(), ..Quant::per(3, DataType::E8m0) });
    assert_eq!(refused(p), "scales of dst: groups");
    let mut p = problem("--binary --alg=add 2x3:2x3");
    p.attr.accumulation = Accumulation::S32;
    assert_eq!(refused(p), "accumulation mode");
    let mut p = problem("--rnn --alg=VANILLA_LSTM --prop=FWD_I --cfg=u8u8u8u8 l1t2mb2slc4");
    p.attr.rnn.weights = Some((24, vec![Real::new(1.0); 3]));
    assert_eq!(refused(p), "rnn weights scales");
    let mut p = problem("--eltwise --attr-dropout=0.5:1:ab 2x3");
    p.attr.dropout.as_mut().unwrap().seed_dtype = DataType::F32;
    assert_eq!(refused(p), "dropout seed");
    let mut p = problem("--matmul --attr-rounding-mode=dst:stochastic 2x3:3x5");
    p.attr.rounding.insert(Arg::SRC, Rounding::Stochastic);
    assert_eq!(refused(p), "rounding mode");
}

#[test]
fn sizes_that_do_not_follow_from_the_window() {
    let mut p = problem("--conv mb2ic4ih5oc8kh3");
    let Op::Conv(x) = &mut p.op else { unreachable!() };
    x.window.padding_l[0] += 1;
    assert_eq!(refused(p.clone()), "dst");
    let Op::Conv(x) = &mut p.op else { unreachable!() };
    x.window.strides[1] = 0;
    assert_eq!(refused(p), "strides");
    let mut p = problem("--pool mb2ic4ih5kh3");
    let Op::Pool(x) = &mut p.op else { unreachable!() };
    x.kernel[0] = 2;
    assert_eq!(refused(p), "dst");
    let mut p = problem("--deconv mb2ic4ih5oc8kh3");
    let Op::Deconv(x) = &mut p.op else { unreachable!() };
    x.window.dilations[0] = 1;
    assert_eq!(refused(p), "src");
}

#[test]
fn selects_and_conditions() {
    let mut p = problem("--binary --alg=add 2x3:2x3");
    let Op::Binary(x) = &mut p.op else { unreachable!() };
    x.alg = BinaryAlg::Select;
    assert_eq!(refused(p), "src2");
    let mut p = problem("--matmul 2x3:3x5");
    let src1 = Tensor::plain([2, 5], DataType::F32).unwrap();
    p.attr.post_ops.push(PostOp::Binary { alg: BinaryAlg::Select, src1: src1.clone(), src2: Some(src1.clone()) });
    assert_eq!(refused(p.clone()), "post-op 0 (binary) src2");
    p.attr.post_ops[0] = PostOp::Binary { alg: BinaryAlg::Select, src1: src1.clone(), src2: Some(Tensor { dtype: DataType::S8, ..src1 }) };
    assert_eq!(Problem::new(p.op, p.attr).unwrap().operands().len(), 5);
}

#[test]
fn runtime_sizes_are_for_data_whose_rules_they_keep() {
    let t = Tensor::plain([2, RUNTIME], DataType::F32).unwrap();
    let known = Tensor::plain([2, 5], DataType::F32).unwrap();
    let relu = |dst| Eltwise::forward(Prop::ForwardInference, EltwiseAlg::Relu, [0.0, 0.0], t.clone(), dst);
    assert!(Problem::new(relu(t.clone()), Attr::default()).is_ok());
    assert!(matches!(Problem::new(relu(known), Attr::default()), Err(Error::InvalidArguments(_))));
    for (line, refused) in [
        ("--conv --stag=abx --wtag=abx --dtag=abx mb*ic8ih*oc8kh3ph1", false),
        ("--conv --stag=abx --wtag=abx --dtag=abx mb1ic8ih9oc8kh*oh9ph1", true),
        ("--conv --stag=abx --wtag=abx --dtag=abx --attr-post-ops=dw:k3s1p1 mb*ic8ih9oc8kh1", true),
        ("--rnn --prop=FWD_I l1t1mb*sic8", true),
    ] {
        match line.parse::<Problem>() {
            Ok(_) => assert!(!refused, "{line}"),
            Err(e) => assert!(refused && e.to_string().contains("given at execution"), "{line}: {e}"),
        }
    }
    for line in
        ["--shuffle --axis=1 --group=5 *x*x3", "--gnorm g6mb*ic*ih*", "--concat --stag=ab:ab --axis=1 *x*:3x*", "--pool mb*ic4ih*kh3sh9ph1"]
    {
        if let Ok(problem) = line.parse::<Problem>() {
            let example = problem.example().unwrap_or_else(|e| panic!("{line}: {e}"));
            assert!(!example.op.has_runtime(), "{line}: {example}");
        }
    }
    // Known sizes with strides that are open.
    for line in ["--reorder --strides=*x1: 31x20", "--matmul --strides=*x1:1x*:*x1 5x64:64x31"] {
        let problem = problem(line);
        assert!(problem.op.has_runtime(), "{line}");
        assert!(!problem.example().unwrap().op.has_runtime(), "{line}");
    }
    assert!(Problem::new(Reorder { src: t.clone(), dst: t.clone() }, Attr::default()).is_ok());
    let dst = Tensor::plain([2, 2], DataType::F32).unwrap();
    let known = Matmul { src: t.clone(), weights: Tensor::plain([3, 2], DataType::F32).unwrap(), bias: None, dst: dst.clone() };
    assert!(matches!(Problem::new(known, Attr::default()), Err(Error::InvalidArguments(_))));
    let agreed = Matmul { src: t, weights: Tensor::plain([RUNTIME, 2], DataType::F32).unwrap(), bias: None, dst };
    assert!(Problem::new(agreed, Attr::default()).is_ok());
}

#[test]
fn operands_come_in_order_with_their_shapes() {
    let line = "--conv --dir=FWD_I --dt=u8:s8:u8 --attr-scales=src:common+wei:per_oc+dst:common --attr-zero-points=src:common \
                --attr-post-ops=sum+relu+add:f32:per_oc+prelu:per_oc g2mb2ic4ih5oc8kh3";
    let p = problem(line);
    let names: Vec<String> = p.operands().iter().map(|o| format!("{} {}", o.arg, o.tensor.dims())).collect();
    let expected = [
        "src 2x4x5x5",
        "wei 2x4x2x3x3",
        "dst 2x8x3x3",
        "scales:src 1x1x1x1",
        "scales:dst 1x1x1x1",
        "scales:wei 2x4x1x1x1",
        "zp:src 1x1x1x1",
        "po2:src1 1x8x1x1",
        "po3:wei 1x8x1x1",
    ];
    assert_eq!(names, expected);
    assert_eq!(p.flops(), 2.0 * (2 * 8 * 2 * 9 * 9) as f64);
}

#[test]
fn a_depthwise_post_op_adds_its_tensors() {
    let p = problem("--conv --dir=FWD_I --dt=u8:s8:u8 --attr-post-ops=relu+dw:k3s2p1:f32+linear:2:1 mb2ic4ih5oc8oh5kh1");
    let depthwise = |arg| p.tensor(Arg::depthwise(arg)).map(|t| t.dims().to_string());
    assert_eq!(depthwise(Arg::WEIGHTS).as_deref(), Some("8x1x1x3x3"));
    assert_eq!(p.tensor(Arg::DST).unwrap().summary(), "f32 2x8x3x3");
    let Op::Conv(conv) = &p.op else { unreachable!() };
    assert_eq!(conv.dst.summary(), "u8 2x8x5x5");
    let sizes = conv.depthwise_sizes(&p.attr).unwrap();
    assert_eq!((sizes.g, sizes.i, sizes.o, sizes.pl), (8, [1, 5, 5], [1, 3, 3], [0, 1, 1]));
}

#[test]
fn layouts_of_backward_pooling_follow_the_forward_pass() {
    for alg in ["max", "avg_p"] {
        let pool = |o: &str| problem(&format!("--pool --dir={o} --alg={alg} mb2ic4ih8kh3"));
        let [mut forward, backward] = ["FWD_D --tag=axb", "BWD_D --tag=any"].map(pool);
        forward.resolve();
        let mut op = backward.op;
        op.follow(&forward.op);
        let mut backward = Problem::new(op, backward.attr).unwrap();
        assert_eq!(backward.tensor(Arg::DIFF_DST).map(|t| t.layout), forward.tensor(Arg::DST).map(|t| t.layout));
        backward.resolve();
        assert_eq!(backward.tensor(Arg::DIFF_SRC).map(|t| t.layout), forward.tensor(Arg::SRC).map(|t| t.layout));
    }
}

#[test]
fn gradients_of_weights_lie_as_they_do() {
    let mut p = problem("--prelu --dir=BWD_DW --stag=axb:axb 2x4x3x5:2x4x3x5");
    let gradient = p.op.tensor_mut(Arg::DIFF_WEIGHTS).unwrap();
    gradient.layout = Layout::any(*gradient.dims());
    p.resolve();
    assert_eq!(p.tensor(Arg::DIFF_WEIGHTS).map(|t| t.layout), p.tensor(Arg::WEIGHTS).map(|t| t.layout));
}

#[test]
fn what_is_concatenated_keeps_blocks_that_every_part_begins_with() {
    for (line, tag) in [
        ("--concat --stag=aBcd16b 2x32x3x5:2x20x3x5", "aBcd16b"),
        ("--concat --stag=acdb:aBcd8b 2x24x3x5:2x20x3x5", "aBcd8b"),
        ("--concat --stag=aBcd16b:aBcd4b 2x20x3x5:2x4x3x5", "aBcd4b"),
        ("--concat --stag=aBcd16b 2x20x3x5:2x16x3x5", "abcd"),
        ("--concat --stag=acdb 2x20x3x5:2x16x3x5", "acdb"),
        // Else they lie as the largest of those without blocks.
        ("--concat --stag=aBcd16b:abcd:acdb 2x20x3x5:2x4x3x5:2x30x3x5", "acdb"),
    ] {
        let mut p = problem(line);
        p.resolve();
        let dst = p.tensor(Arg::DST).unwrap();
        assert_eq!(dst, Tensor::with_tag(*dst.dims(), dst.dtype, tag).unwrap(), "{line}");
    }
}

#[test]
fn work_counts_elements_inside_only() {
    assert_eq!(problem("--conv --dir=FWD_I mb1ic1ih3oc1oh3kh3ph1").flops(), 2.0 * 49.0);
    assert_eq!(problem("--conv --dir=BWD_W mb1ic1ih3oc1oh3kh3ph1").flops(), 2.0 * 49.0);
    assert_eq!(problem("--deconv --dir=FWD_I mb1ic1ih3oc1oh3kh3ph1").flops(), 2.0 * 49.0);
    assert_eq!(problem("--matmul 2x3x4:2x4x5").flops(), 2.0 * 120.0);
    assert_eq!(problem("--ip mb2ic3ih4oc5").flops(), 2.0 * (2 * 3 * 16 * 5) as f64);
    assert_eq!(problem("--eltwise 2x3").flops(), 0.0);
    let mut copy = problem("--eltwise --dir=FWD_I --dt=bf16 2x3");
    copy.resolve();
    assert_eq!(copy.bytes(), 24);
}

#[test]
fn the_table_of_support_is_whole() {
    let table = support();
    assert_eq!(table.len(), 21);
    for s in table {
        assert!(!s.types.rows.is_empty() && s.types.rows.iter().all(|r| r.types.len() <= s.types.columns.len()), "{}", s.kind);
    }
}
