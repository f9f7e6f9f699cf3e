//! Programs of cudnn-frontend, compiled against its own headers and run on our library over the CUDA runtime on the host: both of its interfaces.

mod toolchain;

use toolchain::{Program, Recipe};

#[test]
fn programs_of_cudnn_frontend_compute_right() {
    let libraries = &["libcudnn.so.9", "libcudart.so.13"];
    let Some(program) = Program::build(&Recipe { folder: "frontend_programs", packages: 6, libraries, options: &["-O0", "-g0"] }) else {
        return;
    };
    program.passes(None).unwrap_or_else(|what| panic!("{what}"));
    // Again where streams have threads of their own.
    let output = program.run(Some("streams")).env("OXIDNN_CUDART_ASYNC", "1").output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
