use super::*;

#[test]
fn unsafe_code_is_in_the_files_named() {
    assert!(file_rule("crates/cpu/src/ops/conv/mod.rs", "fn f() { unsafe { g() } }").unwrap().contains("outside the files"));
    assert!(file_rule("crates/runtime/src/buf.rs", "fn f() { unsafe { g() } }").is_none());
    assert!(file_rule("crates/runtime/src/buf.rs", "fn f() {}").unwrap().contains("take it off the list"));
}

#[test]
fn words_about_unsafe_code_are_not_unsafe_code() {
    let text = "//! No unsafe code here.\n#![forbid(unsafe_code)]\nconst NAME: &str = \"unsafe\";";
    assert!(file_rule("crates/spec/src/lib.rs", text).is_none());
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    assert!(root_rule("crates/spec/src/lib.rs", "mod a;").is_some());
    assert!(root_rule("crates/spec/src/lib.rs", "#![forbid(unsafe_code)]\nmod a;").is_none());
    assert!(root_rule("crates/cpu/src/lib.rs", "mod a;").is_none());
}
