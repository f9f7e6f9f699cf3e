//! Every problem line of `tests/inputs/<driver>/smoke.txt` is lowered for described GPUs; what it lowers to is compiled where NVRTC is there.

use oxidnn_cuda::program::Source;
use oxidnn_cuda::{CudaTarget, Facts, compile, ops};
use oxidnn_spec::text::{self, Settings};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

const DRIVERS: &[&str] = &[
    "binary",
    "bnorm",
    "concat",
    "conv",
    "deconv",
    "eltwise",
    "gnorm",
    "ip",
    "lnorm",
    "lrn",
    "matmul",
    "pool",
    "prelu",
    "reduction",
    "reorder",
    "resampling",
    "sdpa",
    "shuffle",
    "softmax",
    "sum",
];

/// The sources that the smoke lines of a driver lower to, and the lines that no row takes.
fn sources(driver: &str, facts: Facts) -> (HashSet<Arc<Source>>, Vec<String>, usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs").join(driver).join("smoke.txt");
    let lines = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let target = CudaTarget::described(facts);
    let (mut all, mut refused, mut cases) = (HashSet::new(), Vec::new(), 0);
    let mut settings = Settings::default();
    for line in lines.lines() {
        for case in text::parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}")) {
            cases += 1;
            let mut why = Vec::new();
            let mut taken = false;
            for row in ops::rows(&case.problem.op) {
                match row.plan(&case.problem, &target) {
                    Ok(plan) => {
                        taken = true;
                        all.extend(plan.program().launches.iter().map(|l| Arc::clone(&l.source)));
                    }
                    Err(skip) => why.push(format!("{}: {skip}", row.name)),
                }
            }
            if !taken {
                refused.push(format!("{line}\n    {}", why.join("; ")));
            }
        }
    }
    (all, refused, cases)
}

#[test]
fn smoke_lines_are_lowered() {
    for driver in DRIVERS {
        let (all, refused, cases) = sources(driver, Facts::H200);
        println!("{driver}: {cases} cases, {} kernels, {} refused", all.len(), refused.len());
        for r in refused {
            println!("  {r}");
        }
    }
}

#[test]
fn what_they_lower_to_compiles() {
    let Some(library) = std::env::var_os("OXIDNN_NVRTC") else {
        assert!(std::env::var_os("CI").is_none(), "OXIDNN_NVRTC does not name libnvrtc.so.13");
        return;
    };
    // SAFETY: NVRTC's initialisers are its own; it stays loaded, so that it is found by its name.
    std::mem::forget(unsafe { libloading::Library::new(&library) }.expect("OXIDNN_NVRTC names libnvrtc.so.13"));
    let only = std::env::var("OXIDNN_DRIVER").ok();
    let mut wrong = 0;
    for driver in DRIVERS.iter().filter(|d| only.as_deref().is_none_or(|o| o == **d)) {
        let (all, _, _) = sources(driver, Facts::H200);
        let start = std::time::Instant::now();
        for (i, source) in all.iter().enumerate().filter(|(i, _)| only.is_some() || i % 8 == 0) {
            if let Err(e) = compile::compile(source, "sm_90a") {
                wrong += 1;
                if wrong < 4 {
                    println!("{driver} {i}: {e}\n{}", source.header);
                }
            }
        }
        println!("{driver}: {} kernels, {:?}", all.len(), start.elapsed());
    }
    assert_eq!(wrong, 0);
}
