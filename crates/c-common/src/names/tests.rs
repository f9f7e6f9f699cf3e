use super::*;

#[test]
fn names_are_found_by_number() {
    for (kind, number, expected) in [
        ("status", 3, c"unimplemented"),
        ("dt", 10, c"f8_e4m3"),
        ("dt", 32767, c"data_type_max"),
        ("alg_kind", 196_608, c"softmax_accurate"),
        ("cpu_isa", 495, c"cpu_isa_avx10_1_512"),
        ("runtime", 2, c"OpenMP"),
        ("fmt_tag", 874, c"aBcdef32b"),
        ("fmt_tag", -1, c"unknown fmt_tag"),
        ("runtime", 3, c"unknown"),
        ("nothing", 3, c"unknown"),
    ] {
        assert_eq!(name(kind, number), expected, "{kind} {number}");
    }
}

#[test]
fn every_format_tag_is_one_that_layouts_understand() {
    for number in 2..875 {
        let tag = tag(number).unwrap_or_else(|| panic!("{number}"));
        let ndims = tag.bytes().map(|c| c.to_ascii_lowercase()).filter(u8::is_ascii_lowercase).max().map_or(0, |c| c - b'a' + 1);
        let dims = oxidnn_spec::Dims::filled(usize::from(ndims), 3);
        let layout = oxidnn_spec::Layout::with_tag(dims, tag).unwrap_or_else(|e| panic!("{tag}: {e}"));
        assert!(layout.blocking().is_some());
    }
    assert_eq!((tag(0), tag(1), tag(900)), (None, Some("any"), None));
}
