//! Programs in C and C++, compiled against oneDNN's own headers and run on our library: what a client of oneDNN sees.
//!
//! The programs lie in `programs`; they count their checks and exit with a failure when one does not hold. They are first of all right about
//! oneDNN: `OXIDNN_PEER=LIB cargo test -p oxidnn-c-dnnl` runs them on that library too. Without `g++` or the headers the
//! tests say so and pass, but where `CI=true` says that they must not.

mod toolchain;

use oxidnn_cpu::CpuTarget;
use std::collections::BTreeSet;
use std::process::{Command, Output};
use toolchain::{Program, Toolchain};

/// Compiler and headers; `None` after a message where they are not to be had.
fn toolchain() -> Option<&'static Toolchain> {
    match Toolchain::find() {
        Ok(tools) => Some(tools),
        Err(why) => {
            assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
            eprintln!("skipped: {why}");
            None
        }
    }
}

/// Asserts that a run found nothing wrong, and shows what it found otherwise.
fn passes(what: &str, output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with("onednn_verbose")).collect();
    assert!(output.status.success(), "{what}: {}\n{}\n{errors}", output.status, lines.join("\n"));
    eprintln!("{what}: {}", lines.last().unwrap_or(&""));
}

/// Runs all areas, and those that want a process of their own, on a library.
fn run_all(program: &Program, command: impl Fn() -> Command) {
    passes(program.language, &command().output().expect("the program starts"));
    for area in program.alone() {
        passes(area, &command().arg(area).output().expect("the program starts"));
    }
}

fn run_on_ours_and_peer(program: &Program) {
    run_all(program, || program.on_ours());
    if let Some(peer) = std::env::var_os("OXIDNN_PEER") {
        run_all(program, || program.on(peer.as_ref()));
    }
}

#[test]
fn the_c_program_finds_nothing_wrong() {
    let Some(tools) = toolchain() else { return };
    run_on_ours_and_peer(tools.c());
}

#[test]
fn the_cpp_program_finds_nothing_wrong() {
    let Some(tools) = toolchain() else { return };
    run_on_ours_and_peer(tools.cpp());
}

#[test]
fn programs_that_wait_do_not_notice_asynchronous_streams() {
    let Some(tools) = toolchain() else { return };
    for program in [tools.c(), tools.cpp()] {
        let mut command = program.on_ours();
        command.env("ONEDNN_ASYNCHRONOUS_STREAMS", "1");
        passes(&format!("{}, asynchronous", program.language), &command.output().expect("the program starts"));
    }
}

/// Runs an area of the C++ program in a process of its own on our library, with some settings.
fn fault(area: &str, settings: &[(&str, &str)]) -> Option<String> {
    let program = toolchain()?.cpp();
    let mut command = program.on_ours();
    command.envs(settings.iter().copied()).arg(area);
    let output = command.output().expect("the program starts");
    passes(&format!("{area} {settings:?}"), &output);
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `OXIDNN_FORKS=COUNT` makes more forks of each kind.
#[test]
fn children_of_forks_compute() {
    for threads in ["1", "2", "3", "4", "8"] {
        fault("forks", &[("ONEDNN_NUM_THREADS", threads)]);
        fault("forks_after_jobs", &[("ONEDNN_NUM_THREADS", threads)]);
    }
    fault("forked_code", &[]);
    fault("forked_stream", &[("ONEDNN_ASYNCHRONOUS_STREAMS", "1")]);
    fault("forked_memory", &[("ONEDNN_ASYNCHRONOUS_STREAMS", "1")]);
}

#[test]
fn faults_of_the_process_do_no_harm() {
    let areas = [
        "pinned_thread",
        "masks",
        "small_files",
        "large_memory",
        "little_memory",
        "shared_scratchpad",
        "quiet_calls",
        "float_modes",
        "last_thread",
    ];
    for area in areas {
        fault(area, &[]);
    }
    fault("float_modes", &[("ONEDNN_JIT", "0")]);
    fault("float_modes", &[("ONEDNN_NUM_THREADS", "4")]);
}

#[test]
fn hostile_calls_are_answered() {
    fault("fuzz", &[]);
    fault("fuzz", &[("ONEDNN_ASYNCHRONOUS_STREAMS", "1")]);
}

#[test]
fn small_stacks_are_enough() {
    fault("small_stack", &[]);
    fault("small_stack", &[("ONEDNN_JIT", "0")]);
}

#[test]
fn absurd_numbers_of_threads_are_bounded() {
    let settings = [("ONEDNN_NUM_THREADS", "100000"), ("ONEDNN_VERBOSE", "profile")];
    let Some(text) = fault("verbose", &settings) else { return };
    assert!(text.contains("NUM_THREADS=100000 is more than the") && text.contains(",nthr:"), "{text}");
    assert!(!text.contains("nthr:100000"), "{text}");
}

#[test]
fn the_library_stays_where_it_is() {
    let Some(tools) = toolchain() else { return };
    assert!(tools.dynamic_section().contains("NODELETE"));
}

#[test]
fn programs_run_under_valgrind() {
    let Some(tools) = toolchain() else { return };
    if std::process::Command::new("valgrind").arg("--version").output().is_err() {
        return eprintln!("skipped: valgrind cannot be run");
    }
    let program = tools.cpp();
    let mut command = program.under("valgrind");
    passes("valgrind", &command.arg("verbose").output().expect("valgrind starts"));
}

#[test]
fn every_declared_function_is_called() {
    let Some(tools) = toolchain() else { return };
    let called: BTreeSet<String> = tools.c().undefined().union(&tools.cpp().undefined()).cloned().collect();
    let declared = tools.declared();
    assert!(declared.len() > 280, "only {} functions found in the headers", declared.len());
    let missing: Vec<&String> = declared.difference(&called).collect();
    assert!(missing.is_empty(), "no program calls {missing:?}");
}

/// Verbose lines of a run of one area with a setting.
fn verbose(program: &Program, setting: &str, area: &str) -> Vec<String> {
    let output = program.on_ours().env("ONEDNN_VERBOSE", setting).arg(area).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|l| l.starts_with("onednn_verbose,v1,")).map(str::to_owned).collect()
}

#[test]
fn the_environment_asks_for_verbose_lines_on_stdout() {
    let Some(tools) = toolchain() else { return };
    let program = tools.cpp();
    assert_eq!(verbose(program, "none", "verbose"), Vec::<String>::new());
    let lines = verbose(program, "profile", "verbose");
    let has = |parts: &[&str]| lines.iter().any(|l| parts.iter().all(|p| l.contains(p)));
    assert!(has(&["info,oneDNN v3."]), "{lines:#?}");
    assert!(has(&["info,cpu,runtime:", ",nthr:"]) && has(&["info,cpu,isa:"]), "{lines:#?}");
    assert!(has(&["primitive,info,template:operation,engine,primitive,implementation,prop_kind"]), "{lines:#?}");
    assert!(has(&["primitive,create:cache_miss,cpu,matmul,"]), "{lines:#?}");
    assert!(has(&["primitive,create:cache_hit,cpu,matmul,"]), "{lines:#?}");
    assert!(has(&["primitive,exec,cpu,matmul,", "src:f32::blocked:ab::f0", "eltwise_relu", ",3x4:4x5,"]), "{lines:#?}");
    let of_checks = verbose(program, "check", "verbose");
    assert!(!of_checks.iter().any(|l| l.contains("primitive,exec")), "{of_checks:#?}");
    assert!(of_checks.iter().any(|l| l.contains("error,dnnl_engine_create,invalid index: got 5")), "{of_checks:#?}");
}

#[test]
fn the_environment_asks_for_emulation() {
    let Some(tools) = toolchain() else { return };
    if CpuTarget::host().jit.is_some_and(|jit| jit.amx) {
        eprintln!("skipped: this processor has the tiles of AMX");
        return;
    }
    let products_on_tiles = |setting: &str| {
        let mut command = tools.cpp().on_ours();
        command.env("ONEDNN_VERBOSE", "profile").env("ONEDNN_EMULATE", setting).arg("products");
        let output = command.output().expect("the program starts");
        passes("products", &output);
        String::from_utf8_lossy(&output.stdout).lines().filter(|l| l.contains("exec,cpu,") && l.contains(",packed:amx,")).count()
    };
    assert_eq!(products_on_tiles("0"), 0);
    assert!(products_on_tiles("1") > 0);
}
