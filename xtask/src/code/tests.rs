use super::*;

fn texts(code: &str) -> Vec<&str> {
    words(code).into_iter().map(|w| w.text).collect()
}

/// The blanked text, runs of blanks as one, after a check that nothing moved.
fn squeezed(text: &str) -> String {
    let code = blanked(text);
    assert_eq!(code.chars().count(), text.chars().count());
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn comments_and_literals_become_blanks() {
    assert_eq!(squeezed("a // b\nc"), "a c");
    assert_eq!(squeezed("a /* b /* c */ d */ e"), "a e");
    assert_eq!(squeezed(r#"f("fn \" {", 'x', '\'', '{')"#), "f( , , , )");
    assert_eq!(squeezed("r#\"a \" b\"# + br\"c\""), "+ b");
}

#[test]
fn lifetimes_and_names_that_end_in_r_stay() {
    let code = "fn f<'a>(x: &'a str) -> Iter<'a> { for r in x {} }";
    assert_eq!(blanked(code), code);
}

#[test]
fn lines_stay_where_they_are() {
    let text = "let a = \"x\ny\";\n/* 1\n2 */ let b;";
    let code = blanked(text);
    assert_eq!(code.lines().count(), text.lines().count());
    assert_eq!(words(&code).last(), Some(&Word { text: ";", line: 3 }));
}

#[test]
fn unfinished_literals_end_with_the_text() {
    for text in ["\"abc", "/* abc", "r#\"abc", "'\\", "// abc", "\"\\"] {
        assert!(blanked(text).trim().is_empty(), "{text}");
    }
}

#[test]
fn words_and_punctuation() {
    assert_eq!(texts("pub fn f_1(x: u8)->u8{x}"), ["pub", "fn", "f_1", "(", "x", ":", "u8", ")", "-", ">", "u8", "{", "x", "}"]);
}
