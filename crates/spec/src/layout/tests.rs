use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::hash::DefaultHasher;

fn tag(dims: &[i64], tag: &str) -> Tensor {
    Tensor::with_tag(Dims::new(dims).unwrap(), DataType::F32, tag).unwrap()
}

fn hash(t: &impl Hash) -> u64 {
    let mut h = DefaultHasher::new();
    t.hash(&mut h);
    h.finish()
}

/// Every position of `dims`, row-major.
fn positions(dims: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for &d in dims {
        all = all.into_iter().flat_map(|p: Vec<i64>| (0..d).map(move |i| [&p[..], &[i]].concat())).collect();
    }
    all
}

fn offsets(l: &Layout) -> Vec<i64> {
    positions(&l.dims).iter().map(|p| l.blocking().unwrap().offset_of(p)).collect()
}

#[test]
fn layouts_after_others_are_without_blocks_beyond_the_address_space() {
    let dims = Dims::new(&[1 << 20, 5]).unwrap();
    let mut blocks = Blocks::default();
    blocks.push(1, 1 << 40);
    let far = Blocking {
        padded_dims: dims,
        padded_offsets: Dims::filled(2, 0),
        offset: 0,
        strides: Dims::new(&[9, 1]).unwrap(),
        inner: blocks,
        compensation: None,
    };
    let layout = Layout { dims, format: far.into() };
    assert_eq!(layout.resized(dims), Layout::plain(dims).unwrap());
}

/// A layout of 1 to 4 small dimensions in any order, with up to three inner blocks.
fn layout(least: i64) -> impl Strategy<Value = Layout> {
    let dims = prop::collection::vec(least..7i64, 1..=4);
    dims.prop_flat_map(|dims| {
        let n = dims.len();
        let order = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
        let blocks = prop::collection::vec((0..n, 2..5i64), 0..=3);
        (Just(dims), order, blocks)
    })
    .prop_map(|(dims, order, blocks)| {
        let mut inner = Blocks::default();
        for (d, size) in blocks {
            inner.push(d, size);
        }
        Layout::ordered(Dims::new(&dims).unwrap(), &order, inner).unwrap()
    })
}

fn plain_layout(least: i64) -> impl Strategy<Value = Layout> {
    let dims = prop::collection::vec(least..7i64, 1..=4);
    dims.prop_flat_map(|dims| (Just(dims.clone()), Just((0..dims.len()).collect::<Vec<_>>()).prop_shuffle()))
        .prop_map(|(dims, order)| Layout::ordered(Dims::new(&dims).unwrap(), &order, Blocks::default()).unwrap())
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
    let b = t.layout.blocking_mut().unwrap();
    b.offset = 1;
    assert_eq!(t.layout.tag(), None);
    assert_eq!(Layout::any([2, 3]).tag().as_deref(), Some("any"));
    assert_eq!(Layout::host_scalar().tag(), None);
    assert_eq!(Layout::with_tag([RUNTIME, 3, RUNTIME].into(), "acb").unwrap().tag().as_deref(), Some("acb"));
}

#[test]
fn strides_that_overlap_or_split_bytes_are_refused() {
    let make = |dims: [i64; 2], strides: [i64; 2], dtype| Tensor::with_strides(dims, dtype, Some(strides.into()));
    assert!(make([2, 3], [3, 1], DataType::F32).is_ok());
    assert!(make([2, 3], [2, 1], DataType::F32).is_err());
    assert!(make([2, 3], [0, 1], DataType::F32).is_ok());
    assert!(make([1, 3], [1, 1], DataType::F32).is_ok());
    assert!(make([2, 3], [-3, 1], DataType::F32).is_err());
    assert!(make([2, 3], [RUNTIME, 1], DataType::F32).is_ok());
    assert!(make([2, 3], [i64::MAX, 1], DataType::F32).is_err());
    assert!(make([2, 3], [5, 1], DataType::S4).is_err());
    assert!(make([2, 3], [6, 1], DataType::S4).is_ok());
    assert_eq!(Tensor::with_strides([2, 3], DataType::F32, None).unwrap(), tag(&[2, 3], "ab"));
    assert!(Tensor::with_strides([-1], DataType::F32, None).is_err());
    assert!(Tensor::with_strides([1i64 << 40, 1 << 40], DataType::F32, None).is_err());
}

#[test]
fn sizes_count_padding_offsets_buffers_and_nibbles() {
    assert_eq!(Tensor::plain([3, 3], DataType::S4).unwrap().bytes(), 5);
    assert_eq!(Tensor::plain([3, 0], DataType::F32).unwrap().bytes(), 0);
    assert_eq!(Tensor::any([3, 3], DataType::F32).bytes(), 0);
    assert_eq!(Tensor::plain([3, RUNTIME], DataType::F32).unwrap().buffer_bytes(0), None);
    assert_eq!(Tensor::host_scalar(DataType::S64).bytes(), 8);
    let csr = Tensor::csr([4, 6], DataType::F16, 5).unwrap();
    assert_eq!([0, 1, 2].map(|i| csr.buffer_bytes(i)), [Some(10), Some(20), Some(20)]);
    assert_eq!(csr.buffers(), 3);
    let coo = Tensor::coo([4, 6], DataType::F32, 5).unwrap();
    assert_eq!([0, 1, 2].map(|i| coo.buffer_bytes(i)), [Some(20); 3]);
    assert!(matches!(Tensor::csr([4, 6, 2], DataType::F32, 5), Err(Error::Unimplemented(_))));
    assert!(matches!(Tensor::coo([4, 6], DataType::F32, 25), Err(Error::InvalidArguments(_))));
    let mut weights = tag(&[17, 4], "Ab16a");
    weights.dtype = DataType::S8;
    let b = weights.layout.blocking_mut().unwrap();
    b.compensation = Some(Compensation { s8s8_mask: Some(1), ..Default::default() });
    assert_eq!(weights.bytes(), 32 * 4 + 32 * 4);
}

#[test]
fn parts_keep_the_padding_of_the_border() {
    let l = tag(&[2, 40, 3], "aBc16b").layout;
    let part = l.submemory(&[1, 24, 3], &[1, 16, 0]).unwrap();
    assert_eq!(&*part.blocking().unwrap().padded_dims, &[1, 32, 3]);
    assert!(matches!(l.submemory(&[1, 8, 3], &[0, 8, 0]), Err(Error::Unimplemented(_))));
    assert!(matches!(l.submemory(&[1, 20, 3], &[0, 0, 0]), Err(Error::Unimplemented(_))));
    assert!(l.submemory(&[1, 4, 3], &[0, 16, 0]).is_ok());
    assert!(matches!(l.submemory(&[1, 40, 3], &[2, 0, 0]), Err(Error::InvalidArguments(_))));
    assert!(matches!(l.submemory(&[1, i64::MAX, 3], &[0, 1, 0]), Err(Error::InvalidArguments(_))));
    assert!(matches!(l.submemory(&[1, -1, 3], &[0, 1, 0]), Err(Error::InvalidArguments(_))));
    assert!(matches!(Layout::any([2]).submemory(&[1], &[0]), Err(Error::Unimplemented(_))));
}

#[test]
fn blocked_dimensions_do_not_split() {
    let l = tag(&[2, 32, 3, 4], "aBcd16b").layout;
    assert!(l.reshape(&[2, 32, 12]).is_ok());
    assert!(l.reshape(&[64, 3, 4]).is_err());
    assert!(l.reshape(&[2, 16, 2, 3, 4]).is_err());
    let wide = l.reshape(&[2, 1, 32, 3, 4]).unwrap();
    assert_eq!(wide.blocking().unwrap().inner.iter().collect::<Vec<_>>(), [(2, 16)]);
    assert_eq!(tag(&[2, 3, 4], "abc").layout.reshape(&[6, 2, 2]).unwrap(), tag(&[6, 2, 2], "abc").layout);
    assert!(tag(&[2, 3, 4], "acb").layout.reshape(&[6, 4]).is_err());
    assert!(Layout::any([2, 3]).reshape(&[6]).unwrap().is_any());
    assert!(Layout::any([2, 3]).reshape(&[5]).is_err());
}

#[test]
fn nests_are_short() {
    let over = |dims: &[i64], layouts: [&Layout; 2]| Nest::over(&Dims::new(dims).unwrap(), layouts).unwrap().loops.len();
    let (nchw, nhwc, blocked) = (tag(&[2, 32, 3, 4], "abcd"), tag(&[2, 32, 3, 4], "acdb"), tag(&[2, 32, 3, 4], "aBcd16b"));
    assert_eq!(over(&[2, 32, 3, 4], [&nchw.layout, &nchw.layout]), 1);
    assert_eq!(over(&[2, 32, 3, 4], [&blocked.layout, &blocked.layout]), 1);
    assert_eq!(over(&[2, 32, 3, 4], [&nchw.layout, &nhwc.layout]), 3);
    assert_eq!(over(&[2, 32, 3, 4], [&blocked.layout, &nhwc.layout]), 4);
    let per_channel = tag(&[1, 32, 1, 1], "abcd");
    assert_eq!(over(&[2, 32, 3, 4], [&nchw.layout, &per_channel.layout]), 3);
    assert!(tag(&[2, 3], "ab").layout.is_dense(false));
    assert!(!tag(&[2, 3], "aB4b").layout.is_dense(false));
    assert!(tag(&[2, 3], "aB4b").layout.is_dense(true));
    assert!(!Tensor::with_strides([2, 3], DataType::F32, Some([4, 1].into())).unwrap().layout.is_dense(true));
}

proptest! {
    #[test]
    fn offsets_are_distinct_and_inside(l in layout(0)) {
        let all = offsets(&l);
        let distinct: BTreeSet<_> = all.iter().collect();
        prop_assert_eq!(distinct.len(), all.len());
        prop_assert!(all.iter().all(|&o| o >= 0 && o < l.extent().unwrap()));
        prop_assert!(l.check().is_ok() && l.is_dense(true));
    }

    #[test]
    fn equal_layouts_hash_alike(l in layout(1), d in 0..4usize, stride in 0..99i64) {
        let mut other = l.clone();
        let b = other.blocking_mut().unwrap();
        let d = d % b.strides.len();
        b.strides[d] = stride;
        prop_assert_eq!(l == other, hash(&l) == hash(&other));
        prop_assert!(l == other || b_padded(&l, d) > 1);
    }

    #[test]
    fn accepted_strides_keep_elements_apart(dims in prop::collection::vec(0..5i64, 3), strides in prop::collection::vec(1..30i64, 3)) {
        let (dims, strides) = (Dims::new(&dims).unwrap(), Dims::new(&strides).unwrap());
        if let Ok(t) = Tensor::with_strides(dims, DataType::F32, Some(strides)) {
            let all = offsets(&t.layout);
            prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        }
    }

    #[test]
    fn parts_lie_where_the_whole_has_them(l in layout(1), cut in prop::collection::vec((0..7i64, 0..7i64), 4)) {
        let n = l.ndims();
        let start: Vec<i64> = (0..n).map(|d| cut[d].0 % l.dims[d]).collect();
        let size: Vec<i64> = (0..n).map(|d| (cut[d].1 % (l.dims[d] - start[d] + 1)).max(0)).collect();
        if let Ok(part) = l.submemory(&size, &start) {
            prop_assert!(part.check().is_ok());
            for p in positions(&size) {
                let whole: Vec<i64> = p.iter().zip(&start).map(|(a, b)| a + b).collect();
                prop_assert_eq!(part.blocking().unwrap().offset_of(&p), l.blocking().unwrap().offset_of(&whole));
            }
        }
    }

    #[test]
    fn permuting_moves_positions(l in layout(1), seed in 0..24usize) {
        let n = l.ndims();
        let mut permutation: Vec<usize> = (0..n).collect();
        permutation.rotate_left(seed % n);
        if seed % 2 == 1 { permutation.swap(0, n - 1); }
        let moved = l.permute(&permutation).unwrap();
        for p in positions(&l.dims) {
            let mut q = p.clone();
            for (d, &to) in permutation.iter().enumerate() { q[to] = p[d]; }
            prop_assert_eq!(moved.blocking().unwrap().offset_of(&q), l.blocking().unwrap().offset_of(&p));
        }
    }

    #[test]
    fn reshaping_keeps_the_order(l in layout(1), factors in prop::collection::vec(1..7i64, 0..5)) {
        let volume = l.elements().unwrap();
        let mut dims: Vec<i64> = vec![];
        let mut rest = volume;
        for f in factors.into_iter().filter(|f| volume % f == 0) {
            if rest % f == 0 { dims.push(f); rest /= f; }
        }
        dims.push(rest);
        match l.reshape(&dims) {
            Ok(new) => prop_assert_eq!(offsets(&new), offsets(&l)),
            Err(e) => prop_assert!(!l.is_row_major(), "{e}"),
        }
    }

    #[test]
    fn nests_visit_every_pair_once(a in layout(1), b in plain_layout(1), fill in 0..4i64) {
        let n = a.ndims();
        let other = Layout::ordered(a.dims, &(0..n).rev().collect::<Vec<_>>(), Blocks::default()).unwrap();
        let dims: Vec<i64> = (0..n).map(|d| if b.ndims() > d && fill == 0 { 1 } else { a.dims[d] }).collect();
        let narrow = Layout::plain(Dims::new(&dims).unwrap()).unwrap();
        if let Some(nest) = Nest::over(&a.dims, [&a, &other, &narrow]) {
            let mut seen = vec![];
            nest.for_each(|at| seen.push(at));
            let mut expected: Vec<[i64; 3]> = positions(&a.dims).iter().map(|p| {
                let q: Vec<i64> = p.iter().zip(&dims).map(|(&i, &d)| if d == 1 { 0 } else { i }).collect();
                [a.blocking().unwrap().offset_of(p), other.blocking().unwrap().offset_of(p), narrow.blocking().unwrap().offset_of(&q)]
            }).collect();
            seen.sort();
            expected.sort();
            prop_assert_eq!(seen, expected);
        } else {
            let b = a.blocking().unwrap();
            prop_assert!(b.padded_dims != a.dims || !b.inner.is_empty());
        }
    }

    #[test]
    fn resized_layouts_keep_order_and_are_dense(l in layout(1), grow in 1..4i64) {
        let same = l.resized(l.dims);
        prop_assert!(same.is_dense(true));
        prop_assert_eq!(&same, &l);
        let larger = l.resized(Dims::from_fn(l.ndims(), |d| l.dims[d] * grow));
        prop_assert!(larger.is_dense(true) && larger.check().is_ok());
    }

    #[test]
    fn hostile_sizes_give_errors(dims in prop::collection::vec(hostile(), 1..14), strides in prop::collection::vec(hostile(), 0..14), more in prop::collection::vec(hostile(), 12)) {
        let (Some(dims), Some(strides)) = (Dims::new(&dims), Dims::new(&strides)) else { return Ok(()) };
        for dtype in [DataType::F64, DataType::S4] {
            let made = [
                Tensor::with_strides(dims, dtype, Some(strides)),
                Tensor::with_strides(dims, dtype, None),
                Tensor::with_tag(dims, dtype, "axb"),
                Tensor::with_tag(dims, dtype, "aBx16b"),
                Tensor::csr(dims, dtype, more[0]),
                Tensor::coo(dims, dtype, more[0]),
                Tensor::packed_sparse(dims, dtype, more[0]),
            ];
            for t in made.into_iter().flatten() {
                let n = dims.len();
                prop_assert!(t.layout.check().is_ok());
                for i in 0..4 { let _ = t.buffer_bytes(i); }
                let _ = t.layout.submemory(&more[..n], &strides);
                let _ = t.layout.reshape(&more);
                let _ = t.layout.reshape(&strides);
                let _ = t.layout.is_dense(true);
                let _ = t.layout.resized(strides);
                let _ = Nest::over(&dims, [&t.layout]);
            }
        }
    }
}

fn b_padded(l: &Layout, d: usize) -> i64 {
    l.blocking().unwrap().padded_dims[d]
}

/// Sizes as an attacker or a bug makes them.
fn hostile() -> impl Strategy<Value = i64> {
    prop_oneof![0..5i64, Just(RUNTIME), Just(i64::MAX), Just(-1), Just(1 << 31), Just(1 << 59), any::<i64>()]
}

#[test]
fn orders_of_dimensions_have_each_once() {
    let dims = Dims::from([2, 3, 4]);
    assert_eq!(Layout::dense(dims, &[0, 2, 1]).unwrap(), Layout::with_tag(dims, "acb").unwrap());
    for wrong in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 2], &[0, 1, 99]] {
        assert!(Layout::dense(dims, wrong).is_err(), "{wrong:?}");
    }
}
