use super::*;

#[test]
fn tables_are_written_between_their_markers() {
    let text = "a\n<!-- types: cargo xtask readme -->\nold\n<!-- end of types -->\nb\n<!-- attributes: cargo xtask readme -->\n<!-- end of attributes -->\n";
    let fresh = with_tables(text).unwrap();
    assert!(!fresh.contains("old") && fresh.starts_with("a\n") && fresh.contains("\nb\n"));
    assert_eq!(with_tables(&fresh).unwrap(), fresh);
    assert!(with_tables("no markers").is_err());
}

#[test]
fn every_primitive_has_a_line_and_f32_or_any_type() {
    let table = types();
    assert_eq!(table.lines().count(), 2 + support().len());
    for line in table.lines().skip(2) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert_eq!(cells.len(), COLUMNS.len() + 3, "{line}");
        assert!(cells[3].contains('F'), "no f32: {line}");
    }
}

#[test]
fn passes_are_those_of_the_specification() {
    let of = |kind: &str, dtype| passes(support().iter().find(|s| s.kind == kind).unwrap(), &[dtype]);
    assert_eq!(of("convolution", DataType::F32), "F D W");
    assert_eq!(of("matmul", DataType::S4), "F");
    assert_eq!(of("rnn", DataType::U8), "I");
    assert_eq!(of("lrn", DataType::S8), "");
}
