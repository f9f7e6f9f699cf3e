//! The file about the build.

use super::*;

#[test]
fn the_build_is_described_and_the_change_noted() {
    let text: String = BUILD.iter().map(|(start, _)| format!("{start}X\n")).collect();
    let changed = describe_build(&text).unwrap();
    assert!(changed.starts_with("/* Changed by the oxidnn project"), "{changed}");
    assert!(BUILD.iter().all(|(_, line)| changed.contains(line)), "{changed}");
    assert!(describe_build("nothing of it").is_err());
}
