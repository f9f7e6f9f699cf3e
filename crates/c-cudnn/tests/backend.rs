//! Programs of the backend interface, compiled against cuDNN's own headers and run on our library: every operation on every engine against loops,
//! descriptors and their errors, plans as text, and calls at random.

mod toolchain;

use toolchain::{Program, Recipe};

#[test]
fn the_backend_program_finds_nothing_wrong() {
    let recipe = Recipe { folder: "backend_programs", packages: 3, libraries: &["libcudnn.so.9"], options: &["-O0", "-g1"] };
    let Some(program) = Program::build(&recipe) else { return };
    program.passes(None).unwrap_or_else(|what| panic!("{what}"));
}
