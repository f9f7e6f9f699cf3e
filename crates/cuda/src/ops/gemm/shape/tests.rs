use super::*;

fn request(m: i64, n: i64, k: i64) -> Request {
    Request { aligned: true, ..Request::new([m, n, k, 1], [2, 2]) }
}

fn chosen(r: &Request) -> Choice {
    best(r, &CudaTarget::described(Facts::H200)).expect("a shape for every product")
}

#[test]
fn large_products_get_large_tiles_and_small_ones_fill_the_multiprocessors() {
    let large = chosen(&request(4096, 4096, 4096)).shape;
    assert!(large.m * large.n >= 192 * 128 && large.split == 1, "{large:?}");
    let middle = chosen(&request(1024, 1024, 1024)).shape;
    assert_eq!((middle.m * middle.n, middle.split), (128 * 64, 1), "{middle:?}");
    let small = chosen(&request(512, 512, 512)).shape;
    assert_eq!((small.m, small.n, small.cluster, small.split), (64, 64, [1, 1], 1));
}

#[test]
fn wide_tiles_have_post_ops_and_warpgroups_take_turns_where_sums_are_short() {
    let shape = |m, n, k| chosen(&Request { computed: true, ..request(m, n, k) }).shape;
    for wide in [shape(4096, 4096, 1024), shape(8192, 4096, 4096)] {
        assert!(wide.m * wide.n == 128 * 256 && !wide.alternate, "{wide:?}");
    }
    assert!(shape(4096, 4096, 128).alternate && !shape(512, 3072, 768).alternate, "one tile each");
    assert!(!chosen(&request(4096, 4096, 4096)).shape.alternate);
}

#[test]
fn gathered_rows_are_few_where_columns_may_be_many_instead() {
    let window = Request { window: true, undivided: true, planes: true, ..request(3136, 256, 1024) };
    let shape = chosen(&window).shape;
    assert_eq!((shape.m, shape.n), (64, 128), "{shape:?}");
    let taps = chosen(&Request { m: 12_544, n: 128, k: 1152, taps: 9, ..window }).shape;
    assert_eq!((taps.m, taps.n), (128, 128), "one byte of nine comes from memory: {taps:?}");
}

#[test]
fn few_rows_are_the_columns_of_narrow_tiles_that_divide_k_only_where_blocks_are_few() {
    let few = |n, rows| chosen(&Request { swapped: true, ..request(n, rows, 4096) }).shape;
    let sixteen = few(4096, 16);
    assert_eq!((sixteen.m, sixteen.n, sixteen.split), (64, 16, 2));
    for (rows, tile) in [(1, 8), (16, 16), (32, 32)] {
        let wide = few(11008, rows);
        assert_eq!((wide.m, wide.n, wide.split), (128, tile, 1), "86 CTAs, of which all of the next kernel find a place");
    }
}

#[test]
fn every_choice_fits_shared_memory_and_the_rules_of_the_kernel() {
    for (m, n, k) in [
        (1, 8, 8),
        (64, 64, 64),
        (100, 200, 77),
        (3136, 512, 2048),
        (12544, 256, 1024),
        (8192, 8192, 8192),
        (16384, 1, 64),
        (7, 100_000, 32),
    ] {
        for (a_mn, b_mn) in [(false, false), (false, true), (true, false), (true, true)] {
            for (bytes, result_bytes, promote) in [(2, 2, false), (2, 4, false), (1, 1, false), (1, 2, true), (4, 4, false)] {
                let r = Request { a_mn: a_mn && bytes >= 2, b_mn: b_mn && bytes >= 2, bytes, result_bytes, promote, ..request(m, n, k) };
                let c = chosen(&r);
                let s = c.shape;
                let chunks = s.chunks(c.store);
                assert!(1040 + c.stages * ((s.m + s.n) * 128 + 16) + chunks <= i64::from(Facts::H200.shared_memory), "{c:?}");
                assert!(s.m % (64 * s.consumers) == 0 && ceil(k, 128 / bytes) >= s.split, "{c:?}");
                assert!(c.store != Store::Tma || s.n / s.split * result_bytes % 128 == 0, "{c:?}");
                assert!(c.seconds.is_finite() && c.seconds > 1e-6, "{c:?}");
            }
        }
    }
}

#[test]
fn tiles_of_the_transposed_product_fill_the_wave_where_no_other_does() {
    let shape = chosen(&request(3136, 512, 2048)).shape;
    assert_eq!((shape.m, shape.n, shape.transposed), (128, 96, true), "132 tiles");
    for (m, n, k) in [(4096, 320, 2048), (1024, 3072, 256), (4096, 4096, 4096)] {
        assert!(!chosen(&request(m, n, k)).shape.transposed, "{m}x{n}x{k}");
    }
    let planes = Request { planes: true, ..request(3136, 512, 2048) };
    assert!(!chosen(&planes).shape.transposed);
}
