//! Sets of names against each other.

use super::*;

#[test]
fn every_difference_is_named() {
    let set = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(listed("# why\n_Z3one function\n\n_Z3two\n"), set(&["_Z3one", "_Z3two"]));
    let wrong = compare(&set(&["a", "b"]), &set(&["c", "d"]), &set(&["a", "c", "e"]));
    assert_eq!(wrong.len(), 3);
    assert!(wrong[0].starts_with("b: declared") && wrong[1].starts_with("d: in the list") && wrong[2].starts_with("e: exported"));
}
