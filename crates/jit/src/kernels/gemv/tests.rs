use super::*;
use crate::kernels::unpack::Stored;
use crate::testing::{ISAS, golden, run};
use half::{bf16, f16};

/// One of 16 numbers of a type, by the low bits of its code: multiples of a quarter below 32, so that every sum is exact in every order.
fn number(stored: Stored, x: i32) -> f32 {
    let sign = if x & 8 == 0 { 1.0 } else { -1.0 };
    match stored {
        Stored::F8E5m2 => (1.0 + (x & 3) as f32 * 0.25) * (1 + (x >> 2 & 1)) as f32 * sign,
        Stored::F8E4m3 => (1.0 + (x & 3) as f32 * 0.25) * sign,
        Stored::F4E2m1 => [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][(x & 7) as usize] * sign,
        Stored::F4E3m0 => [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0][(x & 7) as usize] * sign,
        Stored::U8 | Stored::U4 => x as f32,
        _ => (x - 8) as f32,
    }
}

fn pick(k: usize, j: usize) -> i32 {
    ((k * 37 + j * 11 + k / 7) % 16) as i32
}

fn weight(stored: Stored, k: usize, j: usize) -> f32 {
    number(stored, pick(k, j))
}

fn source(i: usize, k: usize) -> f32 {
    ((i * 5 + k * 3 + k / 5) % 9) as f32 - 4.0
}

/// A word of weights.
fn word(stored: Stored, picks: impl Iterator<Item = i32>) -> u32 {
    picks.enumerate().fold(0, |word, (i, pick)| {
        let (x, sign) = (number(stored, pick), pick as u32 >> 3 << 7);
        let code = match stored {
            Stored::F32 => x.to_bits(),
            Stored::Bf16 => u32::from(bf16::from_f32(x).to_bits()),
            Stored::F16 => u32::from(f16::from_f32(x).to_bits()),
            Stored::S8 | Stored::U8 => u32::from(x as i32 as u8),
            Stored::S4 | Stored::U4 => x as i32 as u32 & 15,
            Stored::F8E5m2 => 0x3c + (pick as u32 & 7) + sign,
            Stored::F8E4m3 => 0x38 + 2 * (pick as u32 & 3) + sign,
            Stored::F4E2m1 | Stored::F4E3m0 => pick as u32,
        };
        word | code << (i * stored.bits())
    })
}

/// A word of `A`: the number or the pair of a part, the places given by `k`.
fn a_word(decode: Decode, part: usize, k: impl Fn(usize) -> f32) -> u32 {
    let [low, high] = decode.places(part).map(k);
    if decode.pairs { low.to_bits() >> 16 | high.to_bits() & 0xffff_0000 } else { low.to_bits() }
}

fn decodes(isa: Isa) -> impl Iterator<Item = Decode> {
    Stored::ALL.into_iter().flat_map(move |stored| {
        let pairs = stored.has_pairs(isa).then_some(Decode { stored, pairs: true });
        std::iter::once(Decode { stored, pairs: false }).chain(pairs)
    })
}

fn args<B>(a: &[u32], b: &[B], c: &mut [f32]) -> Args {
    Args {
        a: a.as_ptr().cast(),
        b: b.as_ptr().cast(),
        c: c.as_mut_ptr(),
        a_row: 0,
        b_row: 0,
        c_row: 0,
        groups: 1,
        blocks: 0,
        rest: 0,
        last: 0,
        scale: std::ptr::null(),
        scale_row: 0,
        zero: std::ptr::null(),
        zero_row: 0,
        a_sums: std::ptr::null(),
    }
}

fn product(decode: Decode, i: usize, j: usize, depth: std::ops::Range<usize>) -> f32 {
    depth.map(|k| source(i, k) * weight(decode.stored, k, j)).sum()
}

/// The scale of a group and column.
fn scale(g: usize, j: usize) -> f32 {
    (1 << ((g + j) % 3)) as f32
}

/// Runs panels of `groups` groups of `steps` lines each and compares all sums.
fn panel(isa: Isa, kernel: Gemv, groups: usize, steps: usize) {
    let Layout::Panel { line, vectors, panels, groups: quantised } = kernel.layout else { unreachable!() };
    let (decode, rows, lanes) = (kernel.decode, usize::from(kernel.rows), isa.width().lanes());
    let (line, panels, each) = (usize::from(line) * lanes, usize::from(panels), decode.line_depth());
    let (taken, lines) = (usize::from(vectors) * lanes, groups * steps);
    let columns = panels * taken;
    let words = |l: usize, j: usize| word(decode.stored, (0..each).map(move |p| pick(l * each + p, j)));
    let place = |i: usize| (i / line % lines, i / line / lines * taken + i % line);
    let word = |i: usize| words(place(i).0, place(i).1).to_le_bytes()[..decode.line_bytes()].to_vec();
    let b: Vec<u8> = (0..panels * lines * line).flat_map(word).collect();
    let parts = decode.line_parts();
    let a = |i: usize| a_word(decode, i / rows % parts, |place| source(i % rows, i / rows / parts * each + place));
    let a: Vec<u32> = (0..lines * parts * rows).map(a).collect();
    let zero = |g: usize, j: usize| ((g + 2 * j) % 4) as f32;
    let scales: Vec<f32> = (0..groups * columns).map(|i| scale(i / columns, i % columns)).collect();
    let zeros: Vec<u8> = (0..groups * columns).map(|i| zero(i / columns, i % columns) as u8).collect();
    let group = |g: usize| g * steps * each..(g + 1) * steps * each;
    let sums: Vec<f32> = (0..groups * rows).map(|i| group(i / rows).map(|k| source(i % rows, k)).sum()).collect();
    let c_row = columns + 5;
    let mut c: Vec<f32> = (0..rows * c_row).map(|i| i as f32).collect();
    let (blocks, rest) = (steps / kernel.unroll(), steps % kernel.unroll());
    let more = (scales.as_ptr().cast(), zeros.as_ptr(), sums.as_ptr());
    let args = Args { c_row: c_row * 4, groups, blocks, rest, scale: more.0, zero: more.1, a_sums: more.2, ..args(&a, &b, &mut c) };
    let args = Args { scale_row: columns * 4, zero_row: columns, b_row: lines * line * decode.line_bytes(), ..args };
    run(kernel.function(isa), &args);
    for (at, got) in c.iter().enumerate() {
        let (i, j) = (at / c_row, at % c_row);
        let sum = |g: usize| {
            let minus = if quantised.is_some_and(|q| q.zero.is_some()) { zero(g, j) * sums[g * rows + i] } else { 0.0 };
            let factor = if quantised.is_some_and(|q| q.scale.is_some()) { scale(g, j) } else { 1.0 };
            factor * (product(decode, i, j, group(g)) - minus)
        };
        if j < columns {
            assert_eq!(*got, at as f32 + (0..groups).map(sum).sum::<f32>(), "row {i} column {j} of {}", kernel.name(isa));
        } else {
            assert_eq!(*got, at as f32, "between rows of {}", kernel.name(isa));
        }
    }
}

#[test]
fn panels() {
    for isa in ISAS {
        for decode in decodes(isa) {
            for rows in 1..=MAX_ROWS {
                for line in 1..=if isa.avx512 { 4 } else { 2 } {
                    let vectors = Gemv::vectors(isa, decode, rows, line) as u8;
                    for panels in 1..=Gemv::panels(isa, decode, rows, line) as u8 {
                        let layout = Layout::Panel { line: line as u8, vectors, panels, groups: None };
                        panel(isa, Gemv { decode, rows: rows as u8, layout }, 1, 9);
                    }
                }
            }
        }
    }
}

#[test]
fn panels_with_groups() {
    for isa in ISAS {
        for decode in decodes(isa) {
            for (rows, line) in [(1, 2), (3, 2), (8, 1)] {
                for (scale, zero) in [(Some(Elem::F32), None), (None, Some(Elem::U8)), (Some(Elem::F32), Some(Elem::U8))] {
                    let panels = Gemv::panels(isa, decode, rows.into(), line.into()) as u8;
                    let layout = Layout::Panel { line, vectors: line, panels, groups: Some(Groups { scale, zero }) };
                    panel(isa, Gemv { decode, rows, layout }, 3, 5);
                }
            }
        }
    }
}

/// Runs rows of weights: `groups` times as many as are taken at once, of `vectors` whole vectors each.
fn lines(isa: Isa, kernel: Gemv, groups: usize, vectors: usize) {
    let Layout::Rows { lines, masked } = kernel.layout else { unreachable!() };
    let (decode, rows, lanes, each) = (kernel.decode, usize::from(kernel.rows), isa.width().lanes(), kernel.decode.in_lane());
    let last = if masked { 5 } else { 0 };
    let (depth, shown) = (groups * usize::from(lines), vectors * lanes + last);
    let b_row = shown + 3;
    let lane = |i: usize| word(decode.stored, (0..each).map(|p| pick(i / b_row, i % b_row * each + p)));
    let bytes = each * decode.stored.bits() / 8;
    let b: Vec<u8> = (0..depth * b_row - 3).flat_map(|i| lane(i).to_le_bytes().into_iter().take(bytes)).collect();
    let a: Vec<u32> = (0..depth * rows).map(|i| source(i % rows, i / rows).to_bits()).collect();
    let mut c: Vec<f32> = (0..(vectors + usize::from(masked)) * each * rows * lanes).map(|i| i as f32).collect();
    let args = Args { b_row: b_row * bytes, groups, blocks: vectors, last, ..args(&a, &b, &mut c) };
    run(kernel.function(isa), &args);
    for (at, got) in c.iter().enumerate() {
        let (lane, row, part, vector) = (at % lanes, at / lanes % rows, at / lanes / rows % each, at / lanes / rows / each);
        if vector * lanes + lane < shown {
            let want = at as f32 + product(decode, row, (vector * lanes + lane) * each + part, 0..depth);
            assert_eq!(*got, want, "row {row} vector {vector} part {part} lane {lane} of {}", kernel.name(isa));
        }
    }
}

#[test]
fn rows_of_weights() {
    for isa in ISAS {
        for decode in decodes(isa).filter(|d| !d.pairs) {
            for rows in 1..=MAX_ROWS as u8 {
                for (taken, masked) in [(1, false), (Gemv::lines(isa) as u8, true), (Gemv::lines(isa) as u8, false)] {
                    lines(isa, Gemv { decode, rows, layout: Layout::Rows { lines: taken, masked } }, 2, 3);
                    lines(isa, Gemv { decode, rows, layout: Layout::Rows { lines: taken, masked } }, 1, 0);
                }
            }
        }
    }
}

/// Runs columns of weights: `groups` times as many as are taken at once, of `vectors` whole vectors each.
fn columns(isa: Isa, kernel: Gemv, groups: usize, vectors: usize) {
    let Layout::Columns { columns, masked, scales } = kernel.layout else { unreachable!() };
    let (decode, rows, lanes, each) = (kernel.decode, usize::from(kernel.rows), isa.width().lanes(), kernel.decode.stored.in_word());
    let last = if masked { 5 } else { 0 };
    let (count, shown) = (groups * usize::from(columns), vectors * lanes + last);
    let b_row = shown + 3;
    let words = |i: usize| word(decode.stored, (0..each).map(|p| pick(i % b_row * each + p, i / b_row)));
    let b: Vec<u32> = (0..count * b_row - 3).map(words).collect();
    let parts = decode.parts();
    let a = |i: usize| {
        let (word, row, part) = (i / lanes / rows / parts * lanes + i % lanes, i / lanes % rows, i / lanes / rows % parts);
        a_word(decode, part, |place| if word < shown { source(row, word * each + place) } else { 0.0 })
    };
    let a: Vec<u32> = if parts == 1 {
        // Rows as they lie, with what is no number after them.
        let a = |i: usize| {
            if i % b_row < shown { a_word(decode, 0, |place| source(i / b_row, i % b_row * each + place)) } else { u32::MAX }
        };
        (0..rows * b_row - 3).map(a).collect()
    } else {
        (0..(vectors + usize::from(masked)) * parts * rows * lanes).map(a).collect()
    };
    let results = usize::from(columns) * rows;
    let mut c = vec![f32::NAN; (groups - 1) * results + results.next_multiple_of(lanes)];
    // With scales, a part is a vector where groups share it, else two.
    let in_vector = scales.map_or(1, |s| usize::from(s.in_vector));
    let (blocks, group) = match (scales, in_vector) {
        (None, _) => (vectors, shown * each),
        (_, 1) => (2, 2 * lanes * each),
        _ => (1, lanes / in_vector * each),
    };
    let table: Vec<f32> = (0..(shown * each).div_ceil(group.max(1)) * count).map(|i| scale(i / count, i % count)).collect();
    let args = Args { scale: table.as_ptr().cast(), scale_row: count * 4, ..args(&a, &b, &mut c) };
    let args = Args { a_row: b_row * 4, b_row: b_row * 4, groups, blocks, rest: vectors / blocks.max(1), last, ..args };
    run(kernel.function(isa), &args);
    for (i, got) in c[..count * rows].iter().enumerate() {
        let part = |g: usize| product(decode, i % rows, i / rows, g * group..(g + 1) * group) * scale(g, i / rows);
        let want = match scales {
            None => product(decode, i % rows, i / rows, 0..shown * each),
            Some(_) => (0..shown * each / group).map(part).sum(),
        };
        assert_eq!(*got, want, "row {} column {} of {}", i % rows, i / rows, kernel.name(isa));
    }
}

#[test]
fn columns_of_weights() {
    for isa in ISAS {
        for decode in decodes(isa) {
            for rows in 1..=MAX_ROWS {
                for (taken, masked) in [(1, false), (Gemv::columns(isa, decode, rows), true), (Gemv::columns(isa, decode, rows), false)] {
                    let layout = Layout::Columns { columns: taken as u8, masked, scales: None };
                    columns(isa, Gemv { decode, rows: rows as u8, layout }, 2, 3);
                    columns(isa, Gemv { decode, rows: rows as u8, layout }, 1, 0);
                }
            }
        }
    }
}

#[test]
fn columns_with_scales_of_groups() {
    for isa in ISAS {
        for decode in decodes(isa) {
            let most = if isa.avx512 { 8 } else { 4 };
            for (rows, in_vector) in [(1, 1), (1, 2), (1, 4), (2, 1), (2, most), (3, 2), (4, 4)] {
                for taken in [1, Gemv::scaled_columns(isa, decode, rows)] {
                    let scales = Some(Scales { elem: Elem::F32, in_vector });
                    let layout = Layout::Columns { columns: taken as u8, masked: false, scales };
                    columns(isa, Gemv { decode, rows: rows as u8, layout }, 2, 4);
                }
            }
        }
    }
}

/// Every kernel keeps its inner loops free of spills.
#[test]
fn inner_loops_do_not_spill() {
    for isa in ISAS {
        for decode in decodes(isa) {
            for rows in 1..=MAX_ROWS {
                let mut layouts = vec![Layout::Columns { columns: Gemv::columns(isa, decode, rows) as u8, masked: true, scales: None }];
                if rows <= SCALED_ROWS {
                    let scales = Some(Scales { elem: Elem::Bf16, in_vector: 4 });
                    layouts.push(Layout::Columns { columns: Gemv::scaled_columns(isa, decode, rows) as u8, masked: false, scales });
                }
                for line in 1..=if isa.avx512 { 4 } else { 2 } {
                    let panels = Gemv::panels(isa, decode, rows, line) as u8;
                    let (vectors, line) = (Gemv::vectors(isa, decode, rows, line) as u8, line as u8);
                    let groups = Some(Groups { scale: Some(Elem::Bf16), zero: Some(Elem::F32) });
                    layouts.extend([None, groups].map(|groups| Layout::Panel { line, vectors, panels, groups }));
                }
                if !decode.pairs {
                    layouts.push(Layout::Rows { lines: Gemv::lines(isa) as u8, masked: true });
                }
                for layout in layouts {
                    let kernel = Gemv { decode, rows: rows as u8, layout };
                    let compiled = kernel.function(isa).finish().unwrap();
                    assert_eq!(compiled.inner_spills, 0, "{}", kernel.name(isa));
                }
            }
        }
    }
}

#[test]
fn code_is_as_kept() {
    let pairs = Decode { stored: Stored::S4, pairs: true };
    let floats = |stored| Decode { stored, pairs: false };
    let panel = |vectors, groups| Layout::Panel { line: vectors, vectors, panels: 1, groups };
    let panels = Layout::Panel { line: 2, vectors: 2, panels: 4, groups: None };
    let groups = Some(Groups { scale: Some(Elem::Bf16), zero: Some(Elem::U8) });
    let kept = [
        (Gemv { decode: pairs, rows: 1, layout: panel(4, None) }, Isa::AVX512_BF16),
        (Gemv { decode: pairs, rows: 4, layout: panel(4, groups) }, Isa::AVX512_BF16),
        (Gemv { decode: floats(Stored::F32), rows: 1, layout: panel(4, None) }, Isa::AVX512),
        (Gemv { decode: floats(Stored::F32), rows: 1, layout: panels }, Isa::AVX2),
        (Gemv { decode: floats(Stored::S8), rows: 1, layout: panel(4, None) }, Isa::AVX512),
        (Gemv { decode: floats(Stored::U4), rows: 2, layout: panel(2, None) }, Isa::AVX2),
        (Gemv { decode: floats(Stored::F32), rows: 1, layout: Layout::Rows { lines: 8, masked: true } }, Isa::AVX512),
        (Gemv { decode: floats(Stored::Bf16), rows: 4, layout: Layout::Columns { columns: 4, masked: true, scales: None } }, Isa::AVX512),
    ];
    for (kernel, isa) in kept {
        golden(&kernel, isa);
    }
}
