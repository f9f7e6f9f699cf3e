use super::*;
use crate::op::{ConvAlg, EltwiseAlg, Prop, RnnActivation};
use crate::{DataType, Format, Layout, PostOp, QuantMode, RUNTIME, Sparse, Tensor};
use proptest::prelude::*;

fn problem(line: &str) -> Problem {
    line.parse().unwrap_or_else(|e| panic!("{line}: {e}"))
}

fn error(line: &str) -> String {
    match parse_line(&mut Settings::default(), line) {
        Ok(_) => panic!("{line} is accepted"),
        Err(e) => e.to_string(),
    }
}

fn conv(line: &str) -> crate::op::Conv {
    match problem(line).op {
        Op::Conv(c) => *c,
        op => panic!("{op:?}"),
    }
}

/// Of the lines of long tables one in so many: all, but under Miri, which is some thousand times slower.
const EVERY: usize = if cfg!(miri) { 6 } else { 1 };

#[test]
fn sizes_that_are_left_out_are_computed() {
    let c = conv("--conv ic16ih7oc32kh3ph1");
    assert_eq!((c.src.dims(), c.weights.dims(), c.dst.dims()), (&[2, 16, 7, 7].into(), &[32, 16, 3, 3].into(), &[2, 32, 7, 7].into()));
    assert_eq!((c.prop, c.alg, c.bias.is_some()), (Prop::ForwardTraining, ConvAlg::Direct, true));
    let c = conv("--conv --dir=FWD_I mb1ic3iw10oc4kw3sw2");
    assert_eq!((c.dst.dims(), c.window.padding_r[0], c.bias), (&[1, 4, 4].into(), -1, None));
    let c = conv("--conv g2_ic10oc20_id16kd1_n\"3d:1\"");
    assert_eq!((c.src.dims(), c.weights.dims()), (&[2, 10, 16, 16, 16].into(), &[2, 10, 5, 1, 1, 1].into()));
    let c = conv("--conv ic16oc16_ih13kh3ph1_iw50kw3pw1_id10kd3pd1");
    assert_eq!(c.dst.dims(), &[2, 16, 10, 13, 50].into());
    let c = conv("--conv mb1ic1ih7oc1kh3rh2");
    assert_eq!((c.dst.dims()[2], c.window.padding_r), (7, [2, 2].into()));
    let Op::Deconv(d) = problem("--deconv mb1ic4ih5oc8kh4sh2ph1").op else { panic!() };
    assert_eq!((d.dst.dims(), d.window.padding_r), (&[1, 8, 10, 10].into(), [1, 1].into()));
    let Op::Matmul(m) = problem("--matmul 1x3x4:5x4x6").op else { panic!() };
    assert_eq!(m.dst.dims(), &[5, 3, 6].into());
    let Op::Rnn(r) = problem("--rnn --alg=VANILLA_LSTM --direction=concat --with-projection slc8sic5dhc6dic5t3").op else { panic!() };
    assert_eq!((r.dst_layer.dims(), r.weights_iter.dims()), (&[3, 2, 10].into(), &[1, 2, 5, 4, 6].into()));
    assert_eq!(r.activation, RnnActivation::Relu);
}

#[test]
fn options_persist_until_a_driver_or_reset() {
    let mut s = Settings::default();
    assert_eq!(parse_line(&mut s, "--eltwise --alg=TANH --dt=bf16 # comment --alg=none").unwrap(), []);
    let cases = parse_line(&mut s, "2x3 --alg=exp 4x5").unwrap();
    assert_eq!(
        cases.iter().map(|c| c.to_string()).collect::<Vec<_>>(),
        ["--eltwise --dt=bf16 --alg=tanh 2x3", "--eltwise --dt=bf16 --alg=exp 4x5"]
    );
    assert_eq!(parse_line(&mut s, "--reset 2x3").unwrap()[0].to_string(), "--eltwise 2x3");
    assert_eq!(parse_line(&mut s, "--softmax 2x3").unwrap()[0].to_string(), "--softmax 2x3");
    let cases = parse_line(&mut s, "--eltwise --dir=FWD_D,BWD_D --alg=relu,exp --alpha=0,0.5 2x3").unwrap();
    assert_eq!(cases.len(), 8);
    assert_eq!(cases[3].to_string(), "--eltwise --alg=exp --alpha=0.5 2x3");
    assert_eq!(parse_line(&mut s, "--mode=P --skip-impl=ref,x64:gemm -v5 2x3").unwrap().len(), 8);
}

#[test]
fn lines_of_a_file_go_on_behind_a_backslash() {
    let file = "--reset\n--attr-post-ops=, \\\n    sum:0.5, \\\n   linear:2:1\n2x3 \\\n  4x5\n";
    let all: Vec<_> = lines(file).collect();
    assert_eq!(all, [(1, "--reset".into()), (2, "--attr-post-ops=,sum:0.5,linear:2:1".into()), (5, "2x3 4x5".into())]);
}

#[test]
fn ported_lines_mean_what_they_mean_to_benchdnn() {
    for line in [
        "--matmul --dt=u8:s8:u8 --wtag=any --attr-zero-points=src:common:1*+dst:common:-2* 10x30:30x20",
        "--matmul --bia_dt=f32 --bia_mask=4 2x10x30:2x30x20",
        "--matmul --strides=8x4x1:24x6x1:21x7x1 3x2x4:3x4x6",
        "--matmul --stag=bax --wtag=abx --strides=::8x4x1 2x2x3:2x3x2",
        "--matmul --stag=ab --wtag=ab --dtag=ab --runtime_dims_masks=15:15 10x30:30x20",
        "--matmul --wtag=BA16a64b4a --dt=u8:s8:f32 10x30:30x20",
        "--matmul --encoding=csr+0.9:: --dtag=ab --wtag=ab 10x30:30x20",
        "--reorder --sdt=s8 --ddt=u8 --stag=ncw,nwc --dtag=ncw,nwc --attr-scales=src:common:2.5* 2x8x8",
        "--reorder --sdt=f32 --ddt=s8 --dtag=hwio --oflag=s8s8_comp:1+zp_comp:1 32x16x3x3",
        "--binary --sdt=u8:s8 --ddt=u8 --stag=nc:nc --attr-scales=src:common:1.5*+src1:common:2.5* 100x100:100x100",
        "--binary --alg=ADD,SELECT --inplace=true,false --stag=abx:any,axb:any 2x3:2x1",
        "--binary --alg=ADD,SELECT --sdt=f32:bf16:s8,f32:f16 --stag=abx:any:abx 2x3:2x1",
        "--conv --dir=FWD_D --attr-post-ops=sum+relu:0.5 ic16oc16ih4oh4kh1ph0",
        "--conv --dt=u8:s8:u8 --attr-post-ops=relu+dw_k3s1p1:s8+relu ic16oc16ih4oh4kh1ph0",
        "--conv --attr-post-ops=add:s32:common,add:f32:per_tensor:axb ic16oc16ih4oh4kh1ph0",
        "--rnn --alg=VANILLA_RNN,LBR_GRU --prop=BWD_DW --flags=,O --scaling= --attr-fpmath=,bf16 l1t2mb3sic4",
        "--rnn --alg=VANILLA_LSTM --cfg=u8u8u8f32 --scaling=per_oc --prop=FWD_I l1t2mb3sic4",
        "--bnorm --dir=FWD_D,BWD_DW --flags=,G,CH --tag=axb ic32iw32_n\"bnorm_1d:1\"",
        "--softmax --dir=FWD_I --stag=ab --axis=1 1536x128",
        "--sum --sdt=f32:bf16 --scales=0.25:2 --stag=abx:axb 2x3x4",
        "--resampling --alg=linear --tag=axb mb2ic4ih5oh10",
        "--lrn --alg=WITHIN mb2ic4ih5",
        "--sdpa --mask=causal_tl --scale=mul 1x2x4x8:1x1x8x4:1x1x4x8",
    ]
    .into_iter()
    .step_by(EVERY)
    {
        let cases = parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}"));
        for case in cases {
            let text = case.to_string();
            assert_eq!(text.parse::<Case>().as_ref(), Ok(&case), "{line} -> {text}");
        }
    }
}

#[test]
fn lines_are_written_short() {
    for (line, written) in [
        (
            "--conv --dir=FWD_I --dt=f32:f32:f32 g1mb1ic3ih224iw224oc64oh112ow112kh7kw7sh2sw2ph3pw3",
            "--conv --dir=FWD_I g1mb1ic3oc64ih224oh112kh7sh2ph3",
        ),
        ("--conv --dir=FWD_I mb1ic3iw9oc4kw3 ", "--conv --dir=FWD_I mb1ic3oc4iw9ow7kw3"),
        ("--matmul --dt=f32 --stag=ab --wtag=any --dtag=ab 1x4096:4096x4096:1x4096", "--matmul --stag=ab --dtag=ab 1x4096:4096x4096"),
        ("--eltwise --tag=nhwc --alg=relu 1x2x3x4_n\"a:b\"", "--eltwise --tag=acdb 1x2x3x4_n\"a:b\""),
        ("--binary --alg=add --sdt=f32:f32 --stag=abx:abx 2x3:1x3", "--binary 2x3:1x3"),
        ("--pool --dir=BWD_D --alg=avg_p mb1ic2ih4kh2sh2", "--pool --dir=BWD_D --alg=avg_p mb1ic2ih4oh2kh2sh2"),
        ("--gnorm --flags=CH --dt=f32:s8 g2mb1ic4ih3", "--gnorm --dt=f32:s8 --flags=CH g2mb1ic4ih3iw3"),
    ] {
        let case: Case = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(case.to_string(), written);
    }
}

#[test]
fn what_options_cannot_say_is_written_in_layouts_and_tensors() {
    let line = "--conv --dir=FWD_I --stag=abcd/s1000x100x10x1/o5 --tensors=dst:s8:acdb/p1x16x7x7 mb1ic4oc4ih9oh7kh3";
    let p = problem(line);
    let c = conv(line);
    let b = c.src.blocking().unwrap();
    assert_eq!((b.strides, b.offset), ([1000, 100, 10, 1].into(), 5));
    assert_eq!((c.dst.dtype, c.dst.blocking().unwrap().padded_dims), (DataType::S8, [1, 16, 7, 7].into()));
    assert_eq!(problem(&p.to_string()), p);
    let rnn = "--rnn --alg=VANILLA_LSTM --without=src_iter+src_iter_c+bias --tensors=wei1:f32:abdec sic4";
    assert_eq!(problem(&problem(rnn).to_string()), problem(rnn));
    let Op::Matmul(m) = problem("--matmul --wtag=csr/n7 4x5:5x6").op else { panic!() };
    assert_eq!(m.weights.layout.format, Format::Sparse(Sparse::Csr { nnz: 7 }));
}

#[test]
fn runtime_sizes_keep_the_actual_ones_as_hints() {
    let case: Case = "--matmul --stag=ab --wtag=ba --dtag=ab --runtime-dims-masks=1:2 3x4:4x5".parse().unwrap();
    let Op::Matmul(m) = &case.problem.op else { panic!() };
    assert_eq!((m.src.dims(), m.dst.dims()), (&[RUNTIME, 4].into(), &[RUNTIME, RUNTIME].into()));
    assert_eq!(case.fill.runtime_dims[&Arg::DST], [3, 5].into());
    assert_eq!(case.problem.to_string(), "--matmul --stag=ab --wtag=ba --dtag=ab *x4:4x*");
    assert_eq!(problem(&case.problem.to_string()), case.problem);
    assert_eq!(case.to_string().parse::<Case>().unwrap(), case);
}

#[test]
fn runtime_sizes_that_no_line_can_say_are_refused() {
    let error =
        "--deconv --stag=axb --dtag=axb --runtime-sizes=2x7x281474976710656 mb*ic16ih*iw*oc24kh4ph1sh2".parse::<Case>().unwrap_err();
    assert!(error.to_string().contains("up to 2^48 of dst"), "{error}");
}

#[test]
fn numbers_that_are_words_stand_behind_their_letters() {
    for line in ["--lrn --tag=axb mb1ic4ih3alphainf", "--lrn --tag=axb mb1ic4ih3alpha-infbetaNaNk2", "--lrn --tag=axb mb1ic4ih3betainfkNaN"]
    {
        let case: Case = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(case.to_string().parse::<Case>().unwrap(), case, "{line}");
    }
    let Op::Lrn(huge) = problem("--lrn --tag=axb mb1ic4ih3alpha1e99").op else { panic!() };
    assert_eq!(huge.alpha.get(), f32::INFINITY);
    assert!("--lrn --tag=axb mb1inf4ih3".parse::<Case>().is_err());
}

#[test]
fn attributes_are_read() {
    let line = "--matmul --dt=u8:s8:s8 --attr-scales=src:common:0.5+wei:per_oc:bf16+dst:host_scalar --attr-zero-points=wei:per_ocic:s8:32x1 \
                --attr-fpmath=bf16:true --attr-acc-mode=s32 --attr-scratchpad=user --attr-deterministic=true \
                --attr-rounding-mode=dst:stochastic:7 --attr-dropout=0.25:11:undef:3 \
                --attr-post-ops=sum:0.5:2:u8+gelu_erf+clip:-1:1+mul:f32:per_oc:ab+select:bf16:3+prelu:per_dim_1 64x64:64x32";
    let case: Case = line.parse().unwrap();
    let (attr, fill) = (&case.problem.attr, &case.fill);
    assert_eq!(
        (attr.scales[&Arg::WEIGHTS].mask, attr.scales[&Arg::WEIGHTS].dtype, attr.scales[&Arg::DST].on_host),
        (2, DataType::Bf16, true)
    );
    assert_eq!((attr.zero_points[&Arg::WEIGHTS].mask, attr.zero_points[&Arg::WEIGHTS].groups), (3, [32, 1].into()));
    assert_eq!((fill.scales[&Arg::SRC].get(), fill.rounding_seed, fill.dropout.unwrap().offset), (0.5, Some(7), 3));
    assert!(attr.dropout.as_ref().is_some_and(|d| d.mask.is_none() && d.use_offset && d.seed_dtype == DataType::S64));
    assert_eq!(attr.post_ops[0], PostOp::Sum { scale: 0.5.into(), zero_point: 2, dtype: Some(DataType::U8) });
    let PostOp::Eltwise { alg, beta, .. } = attr.post_ops[2] else { panic!() };
    assert_eq!((alg, beta.get()), (EltwiseAlg::Clip, 1.0));
    let PostOp::Binary { src1, .. } = &attr.post_ops[3] else { panic!() };
    assert_eq!(src1, &Tensor::with_tag([1, 32], DataType::F32, "ab").unwrap());
    let PostOp::Binary { src2: Some(c), .. } = &attr.post_ops[4] else { panic!() };
    assert_eq!((c.dtype, c.dims()), (DataType::S8, &[64, 32].into()));
    assert_eq!(case.to_string().parse::<Case>().unwrap(), case);
    let grouped = "--conv --dt=s8:s8:f32 --attr-scales=wei:per_oc g2ic8oc8ih4kh1";
    assert_eq!(problem(grouped).attr.scales[&Arg::WEIGHTS].mask, 3);
    let mx = problem("--matmul --dt=f8_e4m3:f8_e4m3:f8_e4m3 --attr-scales=dst:3:e8m0:1x32:dynamic_mx 32x64:64x64");
    assert_eq!(mx.attr.scales[&Arg::DST].mode, QuantMode::DynamicMx);
}

#[test]
fn linear_activations_are_read_and_written() {
    let line = "--rnn --prop=FWD_I --alg=VANILLA_LSTM --attr-rnn-linear=0.5+0.25+-1+2:0.75 l1t2mb3slc4sic4dhc4dic4";
    let linear = problem(line).attr.rnn.linear.unwrap();
    assert_eq!((linear.gates.iter().map(|g| g.get()).sum::<f32>(), linear.cell.get()), (1.75, 0.75));
    assert_eq!(problem(&problem(line).to_string()), problem(line));
    assert!(error(&line.replace("+2:", ":")).contains("rnn linear activations"), "three factors of four gates");
    assert!(error(&line.replace(":0.75", "")).contains("FACTOR+FACTOR..:FACTOR"));
}

#[test]
fn errors_say_where_what_and_what_instead() {
    assert_eq!(
        error("--eltwise --dt=f32 --alg=gelu_taxh 2x3").split(" relu").next(),
        Some("word 3 (column 20): --alg: got `gelu_taxh`, expected one of:")
    );
    assert!(error("--eltwise --alg=gelu_taxh 2x3").ends_with("did you mean `gelu_tanh`?"));
    let wrong = error("--eltwise --dtt=f32 2x3");
    assert!(wrong.starts_with("word 2 (column 11): --dtt: got `dtt`, expected an option of --eltwise: dir dt"), "{wrong}");
    assert!(wrong.ends_with("did you mean `dt`?"), "{wrong}");
    assert!(error("--conv --dri=FWD_D mb1ic3ih4oc4").ends_with("did you mean `dir`?"));
    assert!(error("--elwise 2x3").ends_with("did you mean `eltwise`?"));
    assert!(error("2x3").starts_with("word 1 (column 1): driver: got `2x3`, expected a driver first"));
    assert!(error("--conv ic3ih4oc4kq3").contains("descriptor: got `kq`"));
    assert!(error("--conv ic3oc4").contains("expected ih (and id, iw), or iw alone"));
    assert!(error("--conv ic3ih4ih4oc4").contains("ih: got"));
    assert!(error("--conv --stag=nhwd --dir=FWD_I ic3ih4oc4 # x").contains("--stag: got `nhwd`"));
    assert!(error("--matmul --stag=abc 2x3:3x4").starts_with("word 2 (column 10): --stag: got `abc`"));
    assert!(error("--matmul 2x3x4:3x4").contains("same number of dimensions"));
    assert!(error("--eltwise --dt=f32,f3 2x3").contains("--dt: got `f3`"));
    assert!(error("--eltwise 1x1x1x1x1x1x1x1x1x1x1x1x1").contains("at most 12 dimensions"));
    let hundred = (0..101).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    assert!(error(&format!("--eltwise --alpha={hundred} --beta={hundred} 2x3")).contains("at most 10000 problems"));
}

#[test]
fn a_bias_of_which_nothing_is_said_has_the_type_of_doubles() {
    for (line, bias) in [
        ("--conv --dt=f64 mb1ic2oc3ih4", DataType::F64),
        ("--ip --dir=BWD_WB --dt=f64 ic2oc3", DataType::F64),
        ("--ip ic2oc3", DataType::F32),
    ] {
        let problem: Problem = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        let arg = if line.contains("BWD") { Arg::DIFF_BIAS } else { Arg::BIAS };
        assert_eq!(problem.op.tensor(arg).map(|t| t.dtype), Some(bias), "{line}");
        assert_eq!(problem.to_string().parse::<Problem>().unwrap(), problem, "{problem}");
        assert!(!problem.to_string().contains("bia-dt"), "{problem}");
    }
}

#[test]
fn verbose_lines_look_like_onednns_and_replay() {
    for (line, kind) in [
        (
            "src:s8:a:blocked:ab::f0 wei:s8:ap:blocked:AB16a64b4a::f1:s8m2 dst:f32:a:blocked:ab::f0,attr-scales:src0:0:f32+wei:2:f32 attr-post-ops:sum:0.5+eltwise_relu+binary_add:f32:2:any,,4x8:8x16",
            "matmul,brg_matmul:avx512_core_vnni,undef",
        ),
        (
            "src:u8:a:blocked:acdb::f0 wei:s8:a:blocked:AcdB16a4b::f8:zpm1 bia:f32:a:blocked:a::f0 dst:u8:a:blocked:acdb::f0,attr-scales:src0:0:f32+wei:1:f32 attr-zero-points:src0:0:s32,alg:convolution_direct,mb2_ic16oc16_ih7oh7kh3sh1dh0ph1_iw7ow7kw3sw1dw0pw1",
            "convolution,brg_conv_fwd:avx512_core_vnni,forward_training",
        ),
        ("data:f32::blocked:abcd::f0,,alg:eltwise_relu alpha:0 beta:0,1x32x28x28", "eltwise,jit:avx512_core_bf16,forward_training"),
        (
            "src:f32::blocked:abcd::f0 dst:f32::blocked:abcd::f0 diff_src:f32::blocked:abcd::f0,,flags:CH,g2mb2ic4ih2iw2",
            "group_normalization,ref:any,backward",
        ),
    ]
    .into_iter()
    .step_by(EVERY)
    {
        let text = format!("onednn_verbose,v1,primitive,create:cache_miss,cpu,{kind},{line},17.9");
        let case = verbose::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut resolved = case.problem.clone();
        resolved.resolve();
        let fields = verbose::fields(&case.problem, &resolved);
        let ours = format!("onednn_verbose,v1,primitive,exec,cpu,{},row,{fields},1", fields.kind);
        assert_eq!(verbose::parse(&ours).unwrap(), case, "{ours}");
        if kind.starts_with("eltwise") {
            assert_eq!(format!("{},jit:avx512_core_bf16,{fields}", fields.kind), format!("{kind},{line}"));
        }
    }
    for (text, problem_line) in [
        (
            "onednn_verbose,exec,cpu,pooling_v2,jit:avx512_core_bf16,forward_training,src_bf16::blocked:acdb:f0 dst_bf16::blocked:acdb:f0 \
             ws_u8::blocked:acdb:f0,attr-scratchpad:user ,alg:pooling_max,mb1ic64_ih112oh56kh3sh2dh0ph0_iw112ow56kw3sw2dw0pw0,0.3",
            "--pool --dt=bf16 --tag=acdb --dtag=acdb --attr-scratchpad=user mb1ic64ih112oh56kh3sh2",
        ),
        (
            "dnnl_verbose,exec,cpu,rnn,ref:any,forward_training,src_layer_f32::blocked:abc:f0 src_iter_f32::blocked:abcd:f0 \
             wei_layer_f32::blocked:abcde:f0 wei_iter_f32::blocked:abcde:f0 bias_f32::blocked:abcd:f0 dst_layer_f32::blocked:abc:f0 \
             dst_iter_f32::blocked:abcd:f0,,alg:vanilla_rnn direction:unidirectional_left2right activation:eltwise_relu,l2t2mb1sic2slc2dhc2dic2,3",
            "--rnn --prop=FWD_D --tag=abc:abcde:abc l2t2mb1slc2sic2dhc2dic2",
        ),
        (
            "onednn_verbose,v1,primitive,exec,cpu,rnn,brgemm:avx512_core,forward_inference,src_layer:f32::blocked:abc::f0 \
             src_iter:f32:a:blocked:abcd::f0 wei_layer:f32:a:blocked:abdEc32e::f0 wei_iter:f32:a:blocked:abdEc32e::f0 \
             bias:f32::blocked:abcd::f0 dst_layer:f32:a:blocked:abc::f0,,alg:vanilla_lstm \
             direction:unidirectional_left2right activation:undef flags:,l1t64mb8sic256slc256dhc256dic256,0",
            "--rnn --alg=VANILLA_LSTM --without=dst_iter+dst_iter_c --tag=abc:any:any l1t64mb8slc256sic256dhc256dic256",
        ),
        (
            "onednn_verbose,v1,1712.5,primitive,exec,cpu,matmul,ref,undef,src:f32::blocked:ab:40x1:f0 wei:f32::blocked:ab::f0 \
             bia:f32::blocked:ab::f0_mask3 dst:f32::blocked:ab::f0,,,2x30:30x4,0.1",
            "--matmul --bia-dt=f32 --bia-mask=3 --stag=ab/s40x1 --wtag=ab --dtag=ab 2x30:30x4",
        ),
    ]
    .into_iter()
    .step_by(EVERY)
    {
        assert_eq!(verbose::parse(text).unwrap_or_else(|e| panic!("{text}: {e}")).problem.to_string(), problem_line);
    }
    assert!(verbose::parse("onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:8").is_err());
    assert!(verbose::parse("onednn_verbose,v1,primitive,create:dispatch,matmul,nothing,file.cpp:1").is_err());
}

#[test]
fn wrong_problems_are_written_too() {
    let mut c = conv("--conv --attr-post-ops=relu ic16ih7oc32kh3ph1");
    c.window.strides = [1].into();
    c.window.padding_l = Dims::default();
    c.weights = Tensor::any([3], DataType::F32);
    c.dst = Tensor::any(Dims::default(), DataType::F32);
    if let Some(b) = &mut c.bias {
        b.layout.dims = [1, 2].into();
    }
    let mut problem = Problem { op: c.into(), attr: Attr::default() };
    assert!(problem.to_string().starts_with("--conv"));
    for line in [
        "--ip mb2ic3ih4oc5",
        "--matmul 2x3:3x4",
        "--pool ic4ih9kh3",
        "--rnn sic4",
        "--resampling ic2ih3oh4",
        "--sum 2x3",
        "--sdpa 1x2x4x8:1x2x8x4:1x2x4x8",
    ] {
        problem = line.parse().unwrap();
        for o in problem.op.operands_mut() {
            o.tensor.layout.dims = Dims::default();
        }
        assert!(problem.to_string().starts_with(line.split(' ').next().unwrap()));
        assert!(!verbose::fields(&problem, &problem).to_string().is_empty());
    }
}

#[test]
fn tensors_are_shown_as_they_are_written() {
    assert_eq!(Tensor::with_tag([2, 17, 3, 4], DataType::F32, "nChw16c").unwrap().to_string(), "f32:aBcd16b:2x17x3x4");
    assert_eq!(Tensor::any([2, RUNTIME], DataType::F8E4m3).to_string(), "f8_e4m3:any:2x*");
}

/// Values to draw lines from, per option; the last row is the descriptors.
type Pool = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const POOLS: [Pool; 8] = [
    (
        "conv",
        &[
            ("dir", "FWD_B FWD_D FWD_I BWD_D BWD_W BWD_WB"),
            ("dt", "f32 bf16 u8:s8:f32"),
            ("bia-dt", "undef f32 bf16"),
            ("stag", "any abx axb aBx16b abcd/s4000x200x20x1/o3"),
            ("wtag", "any abx ABx16b16a"),
            ("alg", "direct auto wino"),
        ],
        "ic16oc16ih9kh3 g2mb3ic4oc6ih5iw7kh2sh2ph1 mb1ic3oc5ih8kh3dh1rh4 g1ic4oc4ih5kh1",
    ),
    (
        "matmul",
        &[
            ("dt", "f32 bf16:s8:bf16 u8:s8:s32"),
            ("bia-dt", "undef f32"),
            ("bia-mask", "0 1 2 3"),
            ("stag", "any ab ba"),
            ("wtag", "any BA16a64b4a"),
            ("runtime-dims-masks", "0 1:2 3:3"),
            ("attr-scales", "src:common wei:per_oc:bf16 wei:3:f16:32x1 src:common:2+dst:host_scalar"),
            ("attr-post-ops", "relu sum:0.5:1:s8 add:f32:per_oc+swish:1 select:f32:2:ab prelu:3"),
        ],
        "3x64:64x5 1x32:32x1",
    ),
    (
        "reorder",
        &[
            ("sdt", "f32 s8"),
            ("ddt", "s8 f32"),
            ("stag", "abx axb abcd/s90x30x10x2/o1"),
            ("dtag", "ABcd16b16a abcd/p4x32x3x4 any hwio"),
            ("oflag", "s8s8_comp:1 s8s8_comp:1+zp_comp:3"),
        ],
        "4x17x3x3 1x1x1x1 2x0x3x4",
    ),
    (
        "binary",
        &[("alg", "add select ge"), ("sdt", "f32 f32:bf16 f32:f32:f32 s8:u8:s8"), ("stag", "abx axb:abx any"), ("dtag", "any axb")],
        "2x3x4:2x1x4 1x3x4:2x3x4 2x3x4:2x3x4:2x1x4",
    ),
    (
        "lnorm",
        &[
            ("dir", "FWD_D FWD_I BWD_D BWD_DW"),
            ("dt", "f32 f32:s8"),
            ("tag", "abx axb any:any acb:abc"),
            ("stat-tag", "abx any ba"),
            ("ss-dt", "f32 bf16"),
            ("flags", "C CH GCH M"),
            ("eps", "0.001 1e-30"),
        ],
        "2x3x4 5x6x1",
    ),
    (
        "pool",
        &[("dir", "FWD_D FWD_I BWD_D"), ("dt", "f32 s8:u8"), ("tag", "abx axb any"), ("alg", "max avg_p avg_np"), ("dtag", "any axb")],
        "ic4ih9kh3sh2 mb1ic3iw8kw2pw1 ic2id4ih5iw6kd1kh2kw3",
    ),
    (
        "rnn",
        &[
            ("prop", "FWD_D FWD_I BWD_DW"),
            ("alg", "VANILLA_RNN VANILLA_LSTM LBR_AUGRU"),
            ("activation", "RELU TANH"),
            ("cfg", "f32 bf16f32 u8u8u8f32"),
            ("direction", "left2right concat sum"),
            ("without", "src_iter+src_iter_c bias+dst_iter+dst_iter_c"),
            ("tag", "any abx tnc:ldgoi:ntc"),
            ("scaling", "common per_oc"),
            ("attr-rnn-data", "none 3:4"),
        ],
        "l1t2mb3sic4 l2t1mb1slc3sic3dhc3",
    ),
    (
        "eltwise",
        &[
            ("dir", "FWD_D BWD_D"),
            ("alg", "relu gelu_erf exp_dst"),
            ("alpha", "0 1e10 -0.1"),
            ("tag", "abx axb any any:axb"),
            ("attr-dropout", "0.5 0.1:7:undef 0.1:7:abx:3 0:1:any:s64:host"),
            ("inplace", "true"),
        ],
        "2x3x4 7",
    ),
];

fn pooled_line() -> impl Strategy<Value = String> {
    (0..POOLS.len(), any::<[u16; 16]>()).prop_map(|(pool, dice)| {
        let (driver, options, descriptors) = POOLS[pool];
        let pick = |list: &'static str, die: u16| {
            let all: Vec<&str> = list.split(' ').collect();
            all.get(usize::from(die) % (all.len() + 1)).copied()
        };
        let mut line = format!("--{driver}");
        for ((option, values), die) in options.iter().zip(dice) {
            if let Some(v) = pick(values, die) {
                line += &format!(" --{option}={v}");
            }
        }
        let all: Vec<&str> = descriptors.split(' ').collect();
        line + " " + all[usize::from(dice[15]) % all.len()]
    })
}

#[test]
fn changing_sizes_have_examples() {
    let line = "--matmul --stag=ab --dtag=ab --attr-dynamic=src:0:1x8+dst:0:1x8 3x4:4x5";
    let problem: Problem = line.parse().unwrap();
    assert_eq!(problem.to_string(), line);
    let sizes: Vec<String> = problem.examples().iter().map(|p| p.tensor(Arg::DST).unwrap().dims().to_string()).collect();
    assert_eq!(sizes, ["1x5", "8x5"]);
    for wrong in ["src:2:1", "bia:0:1", "src:0:0", "src:0:1x2+dst:0:1", "src:0", "src:x:1"] {
        let line = line.replace("src:0:1x8+dst:0:1x8", wrong);
        assert!(line.parse::<Problem>().is_err(), "{line}");
    }
    // Sizes that do not fit each other are no example.
    let line = line.replace("src:0:1x8+dst:0:1x8", "src:0:1x8");
    assert!(line.parse::<Problem>().unwrap().examples().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 4000 }))]

    #[test]
    fn what_is_read_is_written_and_read_again(line in pooled_line()) {
        let Ok(cases) = parse_line(&mut Settings::default(), &line) else { return Ok(()) };
        for case in cases {
            let text = case.to_string();
            prop_assert_eq!(text.parse::<Case>().map_err(|e| e.to_string()), Ok(case.clone()), "{}", text);
            let text = case.problem.to_string();
            prop_assert_eq!(text.parse::<Problem>().map_err(|e| e.to_string()), Ok(case.problem), "{}", text);
        }
    }

    #[test]
    fn any_blocking_is_written_and_read_again(
        (dims, strides, offset, padding, tag) in (
            prop::collection::vec(0i64..20, 4),
            prop::collection::vec(0i64..5000, 4),
            0i64..50,
            prop::collection::vec(0i64..3, 4),
            prop::sample::select(vec!["abcd", "acdb", "dcba", "aBcd8b", "BAcd2a4b2a", "ABCD2a2b2c2d"]),
        )
    ) {
        let mut layout = Layout::with_tag(Dims::new(&dims).unwrap(), tag).unwrap();
        if let Some(b) = layout.blocking_mut() {
            for (d, blocks) in padding.iter().enumerate() {
                b.padded_dims[d] += blocks * b.inner.of(d);
            }
            if offset > 25 {
                b.strides = Dims::new(&strides).unwrap();
            }
            b.offset = offset % 26;
        }
        let text = layouts::write(&layout);
        prop_assert_eq!(layouts::read(layout.dims, &text).map_err(|e| e.to_string()), Ok(layout), "{}", text);
    }

    #[test]
    fn nothing_panics(line in "(--(conv|matmul|rnn|sum|reorder|lrn|binary|sdpa|ip|pool|concat|resampling) )?(--[a-z-]{1,12}=[a-z0-9:+/x*.,-]{0,12} ){0,3}[a-z0-9x:*_n\"-]{0,30}") {
        let _ = parse_line(&mut Settings::default(), &line);
        let _ = verbose::parse(&line);
    }
}
