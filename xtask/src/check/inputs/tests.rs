use super::*;

#[test]
fn comments_blanks_and_repeated_lines_do_not_count() {
    assert_eq!(problems("# a\n\n--sum 2x3\n--sum 2x4\n  --sum 2x3\n"), 2);
}

#[test]
fn there_is_a_driver_for_every_primitive() {
    assert_eq!(DRIVERS.len(), oxidnn_spec::op::support().len());
}
