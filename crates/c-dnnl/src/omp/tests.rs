use super::*;

/// Test programs of Rust have no OpenMP library unless something else of the process brought one.
#[test]
fn looking_for_a_library_that_is_not_there_finds_none() {
    find();
    find();
    assert_eq!(max_threads().is_some(), FOUND.get().is_some());
}
