//! Exported functions in Rust source.

use super::*;

const SOURCE: &str = r#"
/// Text with an arrow -> and a `fn x(a: b)`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_one(engine: In<Engine>, name: &str_like, kind: Out<i32>) -> Status {
"#;

fn passed(f: &Function) -> Vec<(&str, &str)> {
    f.arguments.iter().map(|t| (t.passed.as_str(), t.pointed.as_str())).collect()
}

#[test]
fn names_come_from_attributes_or_functions() {
    let text = "type Number<'a> = In<'a, f32>;\n#[unsafe(no_mangle)]\npub extern \"C\" fn dnnl_one(engine: In<'_, Engine>, kind: Out<'_, i32>, f: f32) -> Status {}\n\
        #[unsafe(export_name = \"_Z3two\")]\npub extern \"C\" fn two(\n    at: Number<'_>,\n    call: Option<extern \"C\" fn(usize) -> usize>,\n) {}\n\
        extern \"C\" fn inner(x: Unknown) {}\n";
    let all = functions("file", text).unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["_Z3two", "dnnl_one"]);
    assert_eq!(passed(&all["dnnl_one"]), [("p", ""), ("p", "i32"), ("f32", "")]);
    assert_eq!((passed(&all["_Z3two"]), all["_Z3two"].result.passed.as_str()), (vec![("p", "f32"), ("p", "")], "v"));
}

#[test]
fn unknown_types_are_refused() {
    let error = functions("file", SOURCE).unwrap_err();
    assert!(format!("{error:#}").contains("str_like"), "{error:#}");
}
