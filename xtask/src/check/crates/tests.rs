use super::*;

#[test]
fn dependencies_point_one_way() {
    let metadata = serde_json::json!({ "packages": [
        { "name": "oxidnn-spec", "dependencies": [{ "name": "thiserror", "kind": null }, { "name": "oxidnn-expr", "kind": "dev" }] },
        { "name": "oxidnn-expr", "dependencies": [{ "name": "oxidnn-spec", "kind": null }, { "name": "oxidnn-cpu", "kind": null }] },
        { "name": "oxidnn-new", "dependencies": [] },
    ] });
    let wrong = judge(&metadata);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert_eq!(wrong[0], "oxidnn-expr: may not depend on oxidnn-cpu");
    assert!(wrong[1].starts_with("oxidnn-new: a crate that xtask does not know"));
}

#[test]
fn the_table_has_no_cycle() {
    for (name, allowed) in MAY_DEPEND {
        for to in *allowed {
            let back = MAY_DEPEND.iter().find(|(n, _)| n == to).expect("a crate of the table");
            assert!(!back.1.contains(name), "{name} and {to} may depend on each other");
        }
    }
}
