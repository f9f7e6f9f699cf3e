use super::*;
use oxidnn_jit::Isa;
use oxidnn_runtime::Level;
use oxidnn_spec::text::{Settings, parse_line};

/// For each row, a problem that it takes.
const TAKEN: &[(&str, &str)] = &[
    ("fused:any", "--conv --attr-post-ops=relu+dw:k3s1p1 mb1ic64ih28oc64kh1"),
    ("flat:jit", "--conv --dir=BWD_W --stag=abx --wtag=abx --dtag=abx mb1ic64ih28oc64"),
    ("repeated:jit", "--conv --dir=BWD_W g48mb1ic48ih28oc96oh28kh3ph1"),
    ("direct:jit", "--conv g64mb1ic64ih28oc64oh28kh3ph1"),
    ("direct:jit", "--conv --dir=BWD_W g64mb1ic64ih28oc64oh28kh3ph1"),
    ("scaled:jit", "--conv --stag=abx --dtag=abx g64mb1ic64ih28oc64"),
    ("winograd:jit", "--conv --alg=wino mb1ic64ih28oc64oh28kh3ph1"),
    ("packed:amx", "--conv --dt=bf16 mb1ic64ih28oc64oh28kh3ph1"),
    ("rounded:amx", "--conv --attr-fpmath=bf16 mb1ic64ih28oc64oh28kh3ph1"),
    ("few_channels:jit", "--conv --stag=abx --dtag=abx mb1ic64ih64oc2oh64"),
    ("nchw1x1:jit", "--conv --stag=abx --dtag=abx mb1ic64ih56oc64oh56"),
    ("staged:jit", "--conv --stag=abx --dtag=abx mb1ic64ih56oc64oh28sh2"),
    ("scattered:jit", "--conv --dir=BWD_D --stag=abx --dtag=abx mb1ic3ih56oc64oh56kh3ph1"),
    ("scattered:jit", "--conv --stag=axb --dtag=axb mb1ic64ih56oc1oh56kh3ph1"),
    ("edges:jit", "--conv mb1ic64id3oc64kd3pd1"),
    ("packed:jit", "--conv mb1ic64ih28oc64oh28kh3ph1"),
    ("packed:jit", "--conv --dir=BWD_D mb1ic64ih28oc64oh14kh3ph1sh2"),
    ("bwd_weights:amx", "--conv --dir=BWD_W --dt=bf16:f32:bf16 mb2ic64ih28oc64oh28kh3ph1"),
    ("flat:jit", "--conv --dir=BWD_W --stag=abx --dtag=abx mb1ic64ih28oc64oh28"),
    ("bwd_weights:jit", "--conv --dir=BWD_W mb1ic64ih28oc64oh28kh3ph1"),
    ("staged:jit", "--conv --stag=abx --dtag=axb --dt=bf16 mb1ic64ih28oc64oh28kh3ph1"),
    ("passes:jit", "--conv --dt=bf16 --attr-rounding-mode=dst:stochastic mb1ic64ih28oc64oh28kh3ph1"),
    ("passes:portable", "--conv --dt=bf16 --attr-rounding-mode=dst:stochastic mb1ic64ih28oc64oh28kh3ph1"),
    ("direct:portable", "--conv g64mb1ic64ih28oc64oh28kh3ph1"),
    ("packed:portable", "--conv mb1ic64ih28oc64oh28kh3ph1"),
    ("packed:portable", "--conv --dir=BWD_W mb1ic64ih28oc64oh28kh3ph1"),
    ("doubles:portable", "--conv --dt=f64 mb1ic64ih28oc64oh28kh3ph1"),
    ("ref:any", "--conv mb1ic64ih28oc64oh28kh3ph1"),
];

#[test]
fn every_row_says_how_it_computes() {
    let target = CpuTarget { jit: Some(Isa::AMX), ..CpuTarget::host() };
    for row in IMPLS {
        assert!(TAKEN.iter().any(|(name, _)| *name == row.name), "no problem for {}", row.name);
    }
    for (name, line) in TAKEN {
        let row = IMPLS.iter().find(|row| row.name == *name).unwrap();
        let plan = (row.plan)(&problem(line), &target).unwrap_or_else(|e| panic!("{name} {line}: {e}"));
        let decision = plan.decision();
        assert!(!decision.algorithm.is_empty(), "{name} {line}");
        assert_eq!(decision.blocks.first().map(|b| b.level), Some(Level::Registers), "{name} {line}: {decision:?}");
        assert!(decision.blocks.len() > 1 && decision.blocks.iter().all(|b| !b.what.is_empty()), "{name} {line}: {decision:?}");
        // From a tenth of the peak of any processor to a tenth of a second.
        assert!(decision.seconds.is_some_and(|s| s > 1e-8 && s < 0.1), "{name} {line}: {decision:?}");
    }
}

fn problem(line: &str) -> Problem {
    parse_line(&mut Settings::default(), line).unwrap().swap_remove(0).problem
}

/// Operations with post-ops that generated code does not apply in registers are computed in two passes.
#[test]
fn passes_finish_what_registers_do_not() {
    let target = CpuTarget { jit: Some(Isa::AVX512), ..CpuTarget::host() };
    let first = |line: &str| {
        let problem = problem(line);
        crate::ops::rows(&problem.op).iter().find(|row| (row.plan)(&problem, &target).is_ok()).unwrap().name
    };
    for line in [
        "--conv --attr-post-ops=select:f32:common:any:s8:per_tensor mb1ic16ih28oc64kh3ph1",
        "--conv --attr-post-ops=select:f32:common:any:s8:per_tensor g64mb1ic64ih28oc64kh3ph1",
        "--conv --dt=u8:s8:f32 --attr-zero-points=wei:common:1 --attr-post-ops=relu mb1ic64ih28oc64kh3ph1",
        "--matmul --attr-post-ops=select:f32:common:any:s8:per_tensor 64x64:64x256",
        "--matmul --attr-post-ops=select:f32:common:any:s8:per_tensor 2x1000:1000x2000",
        "--conv --attr-post-ops=select:f32:common:any:s8:per_tensor mb1ic16ih5oc64kh3ph1",
        "--conv --stag=axb --dtag=axb --attr-post-ops=add:f32:per_tensor:abx mb1ic64ih28oc64oh28kh3ph1",
    ] {
        assert_eq!(first(line), "passes:jit", "{line}");
    }
}

/// Rows that are the best for groups of few channels.
#[test]
fn groups_of_few_channels_have_their_row() {
    let target = CpuTarget { jit: Some(Isa::AVX512_BF16), ..CpuTarget::host() };
    for (name, line) in [
        ("direct:jit", "--conv --dir=FWD_I g3mb1ic6ih28oc3oh28kh3ph1"),
        ("direct:jit", "--conv --dir=FWD_I g2mb1ic16ih28oc8oh28kh3ph1"),
        ("direct:jit", "--conv --dir=BWD_D g5mb1ic10ih28oc20oh28kh3ph1"),
        ("packed:jit", "--conv --dir=FWD_I --dt=u8:s8:f32 g3mb1ic6ih28oc3oh28kh3ph1"),
        ("nchw1x1:jit", "--conv --dir=FWD_I --stag=abx --dtag=abx g4mb1ic16ih28oc16oh28"),
    ] {
        let first = IMPLS.iter().find(|row| (row.plan)(&problem(line), &target).is_ok());
        assert_eq!(first.map(|row| row.name), Some(name), "{line}");
    }
}

/// Only source pixels that windows of one pixel read are copied.
#[test]
fn pixels_that_are_skipped_are_not_copied() {
    let target = CpuTarget { jit: Some(Isa::AVX512_BF16), threads: 1, ..CpuTarget::host() };
    let problem = problem("--conv --dir=BWD_W --stag=abx --dtag=abx mb4ic64ih56oc32oh28sh2");
    let source = problem.tensor(Arg::SRC).map_or(0, |t| t.bytes());
    let plan = staged(&problem, &target).unwrap();
    assert!(plan.scratch_bytes() < source / 2, "{} bytes for a source of {source}", plan.scratch_bytes());
}
