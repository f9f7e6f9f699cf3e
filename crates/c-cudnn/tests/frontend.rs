//! Programs of cudnn-frontend, compiled against its own headers and run on our library over the CUDA runtime on the host: both of its interfaces.

mod backend_support;

use backend_support::Program;

#[test]
fn programs_of_cudnn_frontend_compute_right() {
    let Some(program) = Program::build("frontend_programs", 6, &["libcudnn.so.9", "libcudart.so.13"]) else { return };
    program.passes(None);
}
