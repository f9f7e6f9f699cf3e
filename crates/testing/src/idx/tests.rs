//! What is read is what was written; what is no such file is an error, never a panic.

use super::*;

/// A file of unsigned bytes.
fn file(dims: &[u32], data: &[u8]) -> Vec<u8> {
    let mut f = vec![0, 0, UNSIGNED_BYTE, dims.len() as u8];
    dims.iter().for_each(|d| f.extend(d.to_be_bytes()));
    f.extend(data);
    f
}

fn message(result: Result<impl Sized, Error>) -> String {
    result.map_or_else(|e| e.to_string(), |_| "accepted".into())
}

#[test]
fn images_and_labels_are_read() {
    let (images, labels) = (file(&[2, 2, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), file(&[2], &[9, 0]));
    let set = Labelled::parse(&images, &labels, 10).expect("fits");
    assert_eq!((set.count(), set.size()), (2, (2, 3)));
    assert_eq!((set.image(1), set.label(0), set.label(1)), (&[7, 8, 9, 10, 11, 12][..], 9, 0));
}

#[test]
fn every_shortened_or_lengthened_file_is_refused() {
    let whole = file(&[2, 2, 2], &[0; 8]);
    assert!(parse(&whole).is_ok());
    for n in 0..whole.len() {
        assert!(parse(&whole[..n]).is_err(), "{n} bytes");
    }
    let longer = [whole.as_slice(), &[0]].concat();
    assert!(message(parse(&longer)).contains("got 9 bytes of data"));
}

#[test]
fn sizes_that_overflow_are_refused() {
    let sizes = [u32::MAX; 255];
    assert!(message(parse(&file(&sizes, &[]))).contains("as many as sizes"));
    assert!(parse(&file(&[u32::MAX, u32::MAX, 0], &[])).is_ok(), "no elements: a legal file");
}

#[test]
fn other_types_and_other_files_are_refused() {
    for wrong in [&b"\x1f\x8b\x08\x00"[..], b"", b"\0\0\x0d\x01\0\0\0\0", b"\x01\0\x08\0", b"\0\0\x08\xff\0\0"] {
        assert!(message(parse(wrong)).contains("IDX header"), "{wrong:?}");
    }
}

#[test]
fn files_that_do_not_fit_each_other_are_refused() {
    let (images, labels) = (file(&[2, 1, 1], &[0; 2]), file(&[2], &[0, 3]));
    assert!(Labelled::parse(&images, &labels, 4).is_ok());
    assert!(message(Labelled::parse(&images, &labels, 3)).contains("got 3, expected less than 3"));
    assert!(message(Labelled::parse(&images, &file(&[3], &[0; 3]), 4)).contains("one for each image"));
    assert!(message(Labelled::parse(&images, &images, 4)).contains("IDX labels"));
    assert!(message(Labelled::parse(&labels, &labels, 4)).contains("IDX images"));
    assert!(message(Labelled::parse(&file(&[0, 8, 8], &[]), &file(&[0], &[]), 4)).contains("at least one image"));
}
