//! What is read from the text of headers and from what the program prints.

use super::*;

const TEXT: &str = "typedef enum {\n dnnl_a = 0,\n dnnl_b = dnnl_a + 1,\n} dnnl_kind_t;\n\
    dnnl_status_t __attribute__((visibility(\"default\"))) dnnl_one(int x);\n\
    typedef struct dnnl_engine *dnnl_engine_t;\nint not_dnnl_two(int); const char *dnnl_two (void);";

#[test]
fn functions_are_names_before_parentheses() {
    assert_eq!(functions(TEXT, &["dnnl_"]).into_iter().collect::<Vec<_>>(), ["dnnl_one", "dnnl_two"]);
}

#[test]
fn enumerators_carry_their_type() {
    assert_eq!(enumerators(TEXT), [("dnnl_kind_t", "dnnl_a"), ("dnnl_kind_t", "dnnl_b")]);
}

#[test]
fn lines_become_facts() {
    let facts = Facts::parse("function\tdnnl_one\ti32||dnnl_status_t\tp|f32|float const*\nsize\tdnnl_version_t\t32\n").unwrap();
    let one = &facts.functions["dnnl_one"];
    assert_eq!((one.result.passed.as_str(), one.arguments[0].pointed.as_str()), ("i32", "f32"));
    assert_eq!(facts.sizes["dnnl_version_t"], 32);
    assert!(Facts::parse("something else").is_err());
}
