//! A C++ program, compiled against cuDNN's own headers and run with our library, as a client of cuDNN would be.
//!
//! Its areas are in `programs`; an area fails if one of its checks does. Without `g++` or the headers the tests print a message and pass, or fail if
//! `CI=true`.

mod toolchain;

use std::collections::BTreeSet;
use std::sync::OnceLock;
use toolchain::{Program, Recipe};

/// The program; `None`, after a message, if compiler or headers are missing.
fn program() -> Option<&'static Program> {
    static BUILT: OnceLock<Option<Program>> = OnceLock::new();
    let recipe = Recipe { folder: "programs", packages: 3, libraries: &["libcudnn.so.9"], options: &["-O1", "-g1"] };
    BUILT.get_or_init(|| Program::build(&recipe)).as_ref()
}

#[test]
fn the_program_finds_nothing_wrong() {
    let Some(program) = program() else { return };
    let areas = program.areas();
    assert!(areas.len() > 3, "{areas:?}");
    let wrong: Vec<String> = areas.iter().filter_map(|area| program.passes(Some(area)).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_engine_is_chosen_by_the_environment() {
    let Some(program) = program() else { return };
    let output = program.run(Some("engine")).env("OXIDNN_CUDNN_ENGINE", "cuda").env("OXIDNN_CUDNN_VERSION", "9.10.2").output();
    let output = output.expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Without a GPU the error names what is missing and what to do.
    let told =
        text.contains("CUDNN_STATUS_SUCCESS") || (text.contains("CUDNN_STATUS_NOT_INITIALIZED") && text.contains("OXIDNN_CUDNN_ENGINE"));
    assert!(output.status.success() && text.contains("version 91002") && told, "{text}");
}

/// The functions among the library's exported symbols.
fn exported(symbols: &str) -> Vec<&str> {
    symbols
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .filter_map(|n| n.strip_suffix("@@libcudnn.so.9"))
        .filter(|n| n.starts_with("cudnn"))
        .collect()
}

#[test]
fn every_exported_function_is_called_by_a_program_of_ours() {
    let Some(program) = program() else { return };
    let symbols = program.about_library("readelf", &["-W", "--dyn-syms"]);
    let exported = exported(&symbols);
    let folders = ["programs", "backend_programs", "frontend_programs"];
    let code: String =
        folders.iter().flat_map(|folder| toolchain::sources(folder)).map(|text| toolchain::without_comments(&text)).collect();
    let words: BTreeSet<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    assert!(exported.len() >= 239, "{} functions", exported.len());
    let never: Vec<&&str> = exported.iter().filter(|name| !words.contains(**name)).collect();
    assert!(never.is_empty(), "no program calls {never:?}");
}

#[test]
fn what_pytorch_calls_is_called_as_pytorch_does() {
    let list = include_str!("torch.txt").lines().filter(|line| !line.starts_with('#'));
    let calls: Vec<(&str, &str)> = list.filter_map(|line| line.split_once(' ')).collect();
    assert_eq!(calls.len(), 84);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (function, program) in calls {
        let code = toolchain::without_comments(&std::fs::read_to_string(folder.join(program)).expect(program));
        let by_classes = function.starts_with("cudnnBackend") && code.contains("fe::");
        assert!(by_classes || code.contains(&format!("{function}(")), "{program} does not call {function}");
    }
}

#[test]
fn every_declared_function_is_exported_with_its_version() {
    let Some(program) = program() else { return };
    let symbols = program.about_library("readelf", &["-W", "--dyn-syms"]);
    let exported = exported(&symbols);
    let declared = program.declared();
    assert!(declared.len() > 200, "only {} functions found in the headers", declared.len());
    let missing: Vec<&String> = declared.iter().filter(|d| !exported.contains(&d.as_str())).collect();
    assert!(missing.is_empty(), "not exported: {missing:?}");
    let dynamic = program.about_library("readelf", &["-d"]);
    assert!(dynamic.contains("[libcudnn.so.9]") && dynamic.contains("NODELETE"), "{dynamic}");
}
