//! Problem lines lowered for GPUs that need not be present, and their kernels compiled by NVRTC (module `common` finds it).

mod common;

use oxidnn_cuda::program::Source;
use oxidnn_cuda::{CudaTarget, Facts, compile, ops};
use oxidnn_spec::text::{self, Settings};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
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
    "rnn",
    "sdpa",
    "shuffle",
    "softmax",
    "sum",
];

/// Lines that no row supports have one of these words.
const REFUSED: &[&str] = &["packed"];

/// The test compiles one of so many kernels.
const SAMPLE: usize = 24;

/// What the smoke lines of an operation lower to.
#[derive(Default)]
struct Lowered {
    /// Kernels with the first line that needs them, in the order of lines.
    kernels: Vec<(String, Arc<Source>)>,
    refused: Vec<String>,
    cases: usize,
}

fn lowered(driver: &str, facts: Facts) -> Lowered {
    lowered_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs").join(driver).join("smoke.txt"), facts)
}

fn lowered_file(file: &Path, facts: Facts) -> Lowered {
    let lines = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let target = CudaTarget::described(facts);
    let (mut all, mut known, mut settings) = (Lowered::default(), HashSet::new(), Settings::default());
    for line in lines.lines() {
        for case in text::parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}")) {
            all.cases += 1;
            let problem = case.problem.example().unwrap_or_else(|e| panic!("{line}: {e}"));
            let plans: Vec<_> = ops::rows(&problem.op).iter().map(|row| (row.name, row.plan(&problem, &target))).collect();
            if plans.iter().all(|p| p.1.is_err()) {
                all.refused.push(format!("{line}: {plans:?}"));
            }
            for launch in plans.iter().filter_map(|p| p.1.as_ref().ok()).flat_map(|plan| &plan.program().launches) {
                if known.insert(Arc::clone(&launch.source)) {
                    all.kernels.push((line.to_owned(), Arc::clone(&launch.source)));
                }
            }
        }
    }
    all
}

#[test]
fn smoke_lines_are_lowered_for_described_gpus() {
    for facts in [Facts::H200, Facts::A100] {
        for driver in DRIVERS {
            let all = lowered(driver, facts);
            assert!(all.cases >= 50 && all.kernels.len() >= 15, "{driver}: {} cases, {} kernels", all.cases, all.kernels.len());
            for line in &all.refused {
                assert!(REFUSED.iter().any(|word| line.contains(word)), "{driver}: {line}");
            }
        }
    }
}

/// The kernels of the first row that supports each line of the files, each once, with the line that needs it.
fn needed(files: &[PathBuf], facts: Facts) -> HashMap<Arc<Source>, String> {
    let (target, mut all) = (CudaTarget::described(facts), HashMap::new());
    for file in files {
        let (lines, mut settings) = (std::fs::read_to_string(file).unwrap(), Settings::default());
        for line in lines.lines() {
            for case in text::parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}")) {
                let problem = case.problem.example().unwrap();
                let plan = ops::rows(&problem.op).iter().find_map(|row| row.plan(&problem, &target).ok());
                for program in plan.map_or(Vec::new(), |plan| plan.programs().unwrap_or_else(|e| panic!("{line}: {e}"))) {
                    all.extend(program.launches.into_iter().map(|launch| (launch.source, line.to_owned())));
                }
            }
        }
    }
    all
}

#[test]
fn the_registry_has_the_kernels_of_all_suites() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let suites = std::fs::read_dir(root.join("suites")).unwrap().flatten().map(|e| e.path());
    let lists = ["tensor-cores.txt", "vectors.txt"].map(|name| root.join("gpu").join(name));
    let files: Vec<PathBuf> = suites.filter(|f| f.extension().is_some_and(|e| e == "txt")).chain(lists).collect();
    for (_, facts) in Facts::NAMED {
        let registry = needed(&[root.join("gpu/registry.txt")], facts);
        let missing: Vec<_> = needed(&files, facts).into_iter().filter(|(source, _)| !registry.contains_key(source)).collect();
        let lines: Vec<&str> = missing.iter().map(|m| m.1.as_str()).collect();
        assert!(registry.len() > 500 && lines.is_empty(), "{}: append to tests/gpu/registry.txt\n{}", facts.sm, lines.join("\n"));
    }
}

#[test]
fn shapes_do_not_change_what_is_compiled() {
    let target = CudaTarget::described(Facts::H200);
    let header = |line: &str| {
        let case = text::parse_line(&mut Settings::default(), line).unwrap().remove(0);
        let row = ops::rows(&case.problem.op).last().unwrap();
        row.plan(&case.problem, &target).unwrap().program().launches.iter().map(|l| Arc::clone(&l.source)).collect::<Vec<_>>()
    };
    for (a, b) in [
        // `rows_vector` is compiled for a few classes of row length, planes for the vector widths that divide their rows; others have one variant.
        ("--softmax --sdt=f32 --ddt=f32 --axis=1 16x1000", "--softmax --sdt=f32 --ddt=f32 --axis=1 77x900"),
        ("--softmax --sdt=f32 --ddt=f32 --axis=1 16x1001", "--softmax --sdt=f32 --ddt=f32 --axis=1 77x1011"),
        ("--softmax --sdt=f32 --ddt=f32 --axis=1 16x555555", "--softmax --sdt=f32 --ddt=f32 --axis=1 77x333333"),
        (
            "--conv --dir=FWD_I --dt=f32 --alg=direct mb2ic16ih14oc32kh3ph1",
            "--conv --dir=FWD_I --dt=f32 --alg=direct mb5ic24ih30oc48kh3ph1",
        ),
        ("--pool --dir=FWD_I --alg=max ic8ih16kh3ph1sh2oh8", "--pool --dir=FWD_I --alg=max ic24ih32kh3ph1sh2oh16"),
    ] {
        assert_eq!(header(a), header(b), "{a} | {b}");
    }
}

#[test]
fn what_lines_lower_to_compiles() {
    if common::nvrtc().is_none() {
        return;
    }
    let mut wrong = Vec::new();
    for facts in [Facts::H200, Facts::A100] {
        for driver in DRIVERS {
            let all = lowered(driver, facts);
            for (line, source) in all.kernels.iter().step_by(SAMPLE) {
                match compile::compile(source, &facts.architecture()) {
                    Ok(cubin) => assert!(cubin.starts_with(b"\x7fELF"), "{line}: no cubin"),
                    Err(e) => wrong.push(format!("{line}\n{e}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} kernels:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every kernel of the lines of the file that `OXIDNN_LINES` names.
#[test]
fn kernels_of_given_lines_compile() {
    let (Some(file), Some(_)) = (std::env::var_os("OXIDNN_LINES"), common::nvrtc()) else { return };
    let all = lowered_file(Path::new(&file), Facts::H200);
    let made = |e: &(String, Arc<Source>)| compile::compile(&e.1, "sm_90a").err().map(|why| format!("{}\n{why}", e.0));
    let wrong: Vec<String> = all.kernels.iter().filter_map(made).collect();
    assert!(wrong.is_empty() && all.refused.is_empty(), "{} kernels:\n{}\n{}", wrong.len(), wrong.join("\n"), all.refused.join("\n"));
    println!("{} kernels of {} problems", all.kernels.len(), all.cases);
}

#[test]
fn kernels_in_vectors_compile() {
    if common::nvrtc().is_none() {
        return;
    }
    let all = lowered_file(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/gpu/vectors.txt").as_path(), Facts::H200);
    assert!(all.refused.is_empty() && all.kernels.len() >= 60, "{} kernels; {}", all.kernels.len(), all.refused.join("\n"));
    let made = |e: &(String, Arc<Source>)| compile::compile(&e.1, "sm_90a").err().map(|why| format!("{}\n{why}", e.0));
    let wrong: Vec<String> = all.kernels.iter().filter_map(made).collect();
    assert!(wrong.is_empty(), "{} kernels:\n{}", wrong.len(), wrong.join("\n"));
}
