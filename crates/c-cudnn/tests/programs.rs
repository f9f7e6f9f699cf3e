//! A program in C++, compiled against cuDNN's own headers and run on our library: what a client of cuDNN sees.
//!
//! Its areas lie in `programs`; they count their checks and fail when one does not hold. Without `g++` or the headers the tests say so and pass, but
//! where `CI=true` says that they must not.

mod toolchain;

use toolchain::Toolchain;

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

#[test]
fn the_program_finds_nothing_wrong() {
    let Some(tools) = toolchain() else { return };
    let program = tools.program();
    let areas = program.areas();
    assert!(areas.len() > 3, "{areas:?}");
    let mut wrong = Vec::new();
    for area in &areas {
        let output = program.run(area).output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => eprintln!("{}", text.lines().last().unwrap_or("")),
            false => wrong.push(format!("{area}: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_engine_is_chosen_by_the_environment() {
    let Some(tools) = toolchain() else { return };
    let output = tools.program().run("engine").env("OXIDNN_CUDNN_ENGINE", "cuda").env("OXIDNN_CUDNN_VERSION", "9.10.2").output();
    let output = output.expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("version 91002") && text.contains("CUDNN_STATUS_NOT_SUPPORTED"), "{text}");
}

#[test]
fn every_declared_function_is_exported_with_its_version() {
    let Some(tools) = toolchain() else { return };
    let symbols = tools.about_library("readelf", &["-W", "--dyn-syms"]);
    let exported: Vec<&str> = symbols.lines().filter_map(|l| l.split_whitespace().last()?.strip_suffix("@@libcudnn.so.9")).collect();
    let declared = tools.declared();
    assert!(declared.len() > 200, "only {} functions found in the headers", declared.len());
    let missing: Vec<&String> = declared.iter().filter(|d| !exported.contains(&d.as_str())).collect();
    assert!(missing.is_empty(), "not exported: {missing:?}");
    let dynamic = tools.about_library("readelf", &["-d"]);
    assert!(dynamic.contains("[libcudnn.so.9]") && dynamic.contains("NODELETE"), "{dynamic}");
}
