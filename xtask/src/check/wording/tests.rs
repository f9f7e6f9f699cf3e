use super::*;

#[test]
fn unfinished_code_and_notes_are_found() {
    let note = NOTES[0].to_uppercase();
    let text = format!("fn f() {{\n    {}!()\n}}\n// {note}: later", UNFINISHED[0]);
    let wrong = unfinished("a.rs", &text);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(wrong[0].starts_with("a.rs:2:") && wrong[1].starts_with("a.rs:4:"), "{wrong:?}");
    assert!(unfinished("a.rs", "let todo = \"unimplemented!\"; // an Unimplemented error").is_empty());
}

#[test]
fn paths_of_machines_are_found() {
    let path = |before: &str, folder: &str| machine_paths("a.md", &format!("see {before}/{folder}/x"));
    assert_eq!(path("", "work").len(), 1);
    assert_eq!(path("", "Users").len(), 1);
    assert!(path("", "usr").is_empty());
    assert!(path("https://example.org", "home").is_empty());
    assert!(path("crates", "work").is_empty());
}
