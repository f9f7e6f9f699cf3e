use super::*;

#[test]
fn who_waits_for_other_threads_says_why_a_child_does_not() {
    for waits in ["fn f(m: &Mutex<u8>) { m.lock(); }", "fn f() { CELL.get_or_init(make); }", "static S: LazyLock<u8> = LazyLock::new(f);"] {
        assert!(file_rule("crates/cpu/src/ops/conv/mod.rs", waits).unwrap().contains("use runtime::fork"), "{waits}");
        assert!(file_rule("crates/cpu/src/kernels/code.rs", waits).is_none());
    }
    assert!(file_rule("crates/cpu/src/kernels/code.rs", "fn f() {}").unwrap().contains("take it off"));
}

#[test]
fn what_goes_through_the_door_is_no_fault() {
    let text = "// m.lock()\nfn f(m: &Mutex<u8>) { fork::lock(m); fork::once(&CELL, make); }";
    assert!(file_rule("crates/cpu/src/ops/conv/mod.rs", text).is_none());
    assert!(file_rule("crates/jit/src/arena/mod.rs", "fn f() { m.lock(); }").is_none());
    assert!(file_rule("crates/cpu/src/ops/conv/tests.rs", "fn f() { m.lock(); }").is_none());
}
