//! Programs of the backend interface, compiled against cuDNN's own headers and run on our library: every operation on every engine against loops,
//! descriptors and their errors, plans as text, and calls at random.

mod backend_support;

use backend_support::Program;

#[test]
fn the_backend_program_finds_nothing_wrong() {
    let Some(program) = Program::build("backend_programs", 3, &["libcudnn.so.9"]) else { return };
    program.passes(None);
}
