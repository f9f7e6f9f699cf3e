//! Types of functions against each other.

use super::*;

fn function(arguments: &[(&str, &str)]) -> BTreeMap<String, Function> {
    let type_of = |&(passed, pointed): &(&str, &str)| Type { passed: passed.into(), pointed: pointed.into(), written: passed.into() };
    let arguments = arguments.iter().map(type_of).collect();
    BTreeMap::from([("dnnl_f".to_owned(), Function { result: type_of(&("i32", "")), arguments })])
}

#[test]
fn unknown_pointees_agree_with_all() {
    let declared = function(&[("p", "f32"), ("p", "s"), ("i64", "")]);
    assert!(function_types(&declared, &function(&[("p", "f32"), ("p", ""), ("i64", "")])).is_empty());
}

#[test]
fn other_passing_is_told() {
    let declared = function(&[("p", "f32"), ("i64", "")]);
    let wrong = function_types(&declared, &function(&[("p", "i32"), ("i32", "")]));
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert_eq!(function_types(&declared, &function(&[("p", "f32")])).len(), 1);
}
