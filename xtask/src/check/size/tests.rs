use super::*;

fn sizes(text: &str) -> Vec<(String, usize)> {
    let code = code::blanked(text);
    functions(&code::words(&code)).into_iter().map(|f| (f.name.to_owned(), f.lines)).collect()
}

#[test]
fn functions_are_counted_from_the_name_to_the_closing_brace() {
    let text = "trait T {\n    fn a();\n    fn b(x: [u8; 2]) -> u8\n    where\n        u8: Copy,\n    {\n        if x { \"}\" } else { y }\n    }\n}";
    assert_eq!(sizes(text), [("b".to_owned(), 6)]);
}

#[test]
fn functions_within_functions_and_types_of_functions() {
    let text = "fn outer(f: fn(u8) -> u8) {\n    fn inner() {\n    }\n    g(|| { 1 });\n}";
    assert_eq!(sizes(text), [("outer".to_owned(), 5), ("inner".to_owned(), 2)]);
}

#[test]
fn long_files_and_functions_are_reported() {
    let body = "    x();\n".repeat(MAX_FUNCTION_LINES - 1);
    let long = format!("fn long() {{\n{body}}}\n");
    assert_eq!(rule("a.rs", &long), ["a.rs:1: long has 101 lines, at most 100"]);
    let short = format!("fn short() {{\n{}}}\n", "    x();\n".repeat(MAX_FUNCTION_LINES - 2));
    assert!(rule("a.rs", &short).is_empty());
    assert_eq!(rule("a.rs", &"//\n".repeat(MAX_FILE_LINES + 1)), ["a.rs: 1001 lines, at most 1000"]);
}
