use super::*;

fn tag(dims: &[i64], tag: &str) -> Tensor {
    Tensor::with_tag(Dims::new(dims).unwrap(), DataType::F32, tag).unwrap()
}

#[test]
fn tags_give_strides_and_blocks() {
    let t = tag(&[2, 17, 3, 4], "aBcd16b");
    let b = t.blocking().unwrap();
    assert_eq!(&*b.padded_dims, &[2, 32, 3, 4]);
    assert_eq!(&*b.strides, &[384, 192, 64, 16]);
    assert_eq!(b.offset_of(&[1, 16, 2, 3]), 384 + 192 + 128 + 48);
    assert_eq!(t.bytes(), 2 * 32 * 12 * 4);
    assert_eq!(tag(&[2, 3, 4, 5], "nhwc"), tag(&[2, 3, 4, 5], "axb"));
    assert_eq!(tag(&[2, 3, 4, 5], "nhwc"), tag(&[2, 3, 4, 5], "acdb"));
    assert_eq!(tag(&[32, 32, 3, 3], "OIhw16i16o"), tag(&[32, 32, 3, 3], "ABcd16b16a"));
    assert_eq!(tag(&[2, 32, 32, 3, 3], "gOIhw16i16o"), tag(&[2, 32, 32, 3, 3], "aBCde16c16b"));
    assert_eq!(tag(&[3, 4, 5], "ntc"), tag(&[3, 4, 5], "bac"));
    assert_eq!(tag(&[1, 2, 3, 4, 5], "ldgoi"), tag(&[1, 2, 3, 4, 5], "abdec"));
}

#[test]
fn role_names_are_read_by_family() {
    for (role, letters) in [
        ("nc", "ab"),
        ("cn", "ba"),
        ("oi", "ab"),
        ("io", "ba"),
        ("tn", "ab"),
        ("ncw", "abc"),
        ("nwc", "acb"),
        ("oiw", "abc"),
        ("wio", "cba"),
        ("tnc", "abc"),
        ("ntc", "bac"),
        ("nchw", "abcd"),
        ("nhwc", "acdb"),
        ("chwn", "bcda"),
        ("oihw", "abcd"),
        ("hwio", "cdba"),
        ("ohwi", "acdb"),
        ("goiw", "abcd"),
        ("wigo", "dcab"),
        ("ldnc", "abcd"),
        ("ldio", "abcd"),
        ("ldoi", "abdc"),
        ("ldgo", "abcd"),
        ("ncdhw", "abcde"),
        ("ndhwc", "acdeb"),
        ("oidhw", "abcde"),
        ("dhwio", "cdeba"),
        ("goihw", "abcde"),
        ("hwigo", "decab"),
        ("ldigo", "abcde"),
        ("ldgoi", "abdec"),
        ("goidhw", "abcdef"),
        ("dhwigo", "defcab"),
        ("nCw16c", "aBc16b"),
        ("nChw8c", "aBcd8b"),
        ("NChw16n16c", "ABcd16a16b"),
        ("nCdhw16c", "aBcde16b"),
        ("OIhw4i16o4i", "ABcd4b16a4b"),
        ("Goihw16g", "Abcde16a"),
        ("gOIdhw4i16o4i", "aBCdef4c16b4c"),
        ("ldOi32o", "abDc32d"),
    ] {
        let n = letters.bytes().take_while(u8::is_ascii_alphabetic).count();
        let dims = Dims::from_fn(n, |d| 32 + d as i64);
        assert_eq!(Layout::with_tag(dims, role), Layout::with_tag(dims, letters), "{role}");
        assert_eq!(Layout::with_tag(dims, role).unwrap().tag().as_deref(), Some(letters), "{role}");
    }
}

#[test]
fn letters_are_never_roles() {
    for (letters, order) in
        [("ab", [0, 1].as_slice()), ("ba", &[1, 0]), ("abcd", &[0, 1, 2, 3]), ("acdb", &[0, 2, 3, 1]), ("cdba", &[2, 3, 1, 0])]
    {
        let dims = Dims::from_fn(order.len(), |d| 2 + d as i64);
        let strides = Layout::with_tag(dims, letters).unwrap().blocking().unwrap().strides;
        let mut sorted = order.to_vec();
        sorted.sort_by_key(|&d| std::cmp::Reverse(strides[d]));
        assert_eq!(sorted, order, "{letters}");
    }
    let b = tag(&[64, 33], "BA16a16b");
    assert_eq!((&*b.blocking().unwrap().padded_dims, &*b.blocking().unwrap().strides), ([64, 48].as_slice(), [256, 1024].as_slice()));
    assert_eq!(b.layout.tag().as_deref(), Some("BA16a16b"));
}

#[test]
fn x_stands_for_the_other_dimensions() {
    assert_eq!(tag(&[2, 3, 4, 5], "abx"), tag(&[2, 3, 4, 5], "abcd"));
    assert_eq!(tag(&[2, 3, 4, 5, 6], "axb"), tag(&[2, 3, 4, 5, 6], "acdeb"));
    assert_eq!(tag(&[2, 3, 4, 5], "aBx16b"), tag(&[2, 3, 4, 5], "aBcd16b"));
    assert_eq!(tag(&[2, 3, 4], "xba"), tag(&[2, 3, 4], "cba"));
    assert_eq!(tag(&[7], "abx"), tag(&[7], "a"));
    assert_eq!(tag(&[7], "axb"), tag(&[7], "a"));
    assert_eq!(tag(&[7, 8], "axb"), tag(&[7, 8], "ab"));
}

#[test]
fn wrong_tags_are_refused() {
    let refused = |n: usize, text: &str| Layout::with_tag(Dims::filled(n, 4), text).unwrap_err().to_string();
    for (n, text, why) in [
        (4, "abc", "names 3 dimensions"),
        (3, "nchw", "names 4 dimensions"),
        (4, "nchx", "its letters are neither"),
        (4, "nnhw", "its letters are neither"),
        (4, "abcc", "exactly once"),
        (3, "abd", "up to `c`"),
        (4, "aBcd", "upper case exactly"),
        (4, "abcd16b", "upper case exactly"),
        (4, "aBcd1b", "inner blocks"),
        (4, "aBcd16", "inner blocks"),
        (4, "aBcd99999b", "inner blocks"),
        (4, "ABCD4096a4096b4096c4096d", "inner blocks"),
        (4, "ab-d", "unexpected `-`"),
        (4, "aBcd16B", "unexpected `B`"),
        (4, "", "names 0 dimensions"),
        (1, "Bx4b", ""),
        (2, "é", "unexpected"),
    ] {
        assert!(refused(n, text).contains(why), "{text}: {}", refused(n, text));
    }
}

#[test]
fn what_no_tag_says_has_no_tag() {
    let mut t = tag(&[2, 3], "ab");
    assert_eq!(t.layout.tag().as_deref(), Some("ab"));
    let Format::Blocked(b) = &mut t.layout.format else { panic!() };
    b.offset = 1;
    assert_eq!(t.layout.tag(), None);
    assert_eq!(Layout::any([2, 3]).tag().as_deref(), Some("any"));
    assert_eq!(Layout::host_scalar().tag(), None);
    assert_eq!(Layout::with_tag([RUNTIME, 3, RUNTIME].into(), "acb").unwrap().tag().as_deref(), Some("acb"));
}
