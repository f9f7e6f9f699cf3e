//! Programs that use cudnn-frontend (both of its interfaces), compiled against its own headers and run with our library and the host's CUDA runtime.

mod toolchain;

use toolchain::{Program, Recipe};

#[test]
fn programs_of_cudnn_frontend_compute_right() {
    let libraries = &["libcudnn.so.9", "libcudart.so.13"];
    let Some(program) = Program::build(&Recipe { folder: "frontend_programs", packages: 6, libraries, options: &["-O0", "-g0"] }) else {
        return;
    };
    program.passes(None).unwrap_or_else(|what| panic!("{what}"));
    // Again, with a thread per stream.
    for area in ["streams", "device"] {
        let output = program.run(Some(area)).env("OXIDNN_CUDART_ASYNC", "1").output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
