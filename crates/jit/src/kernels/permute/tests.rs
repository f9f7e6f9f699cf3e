use super::*;
use crate::testing::{ISAS, golden, run};
use half::bf16;

/// A number of the source and its bytes.
fn number(elem: Elem, i: usize) -> (f32, Vec<u8>) {
    let x = (i % 127) as f32;
    let bytes = match elem {
        Elem::F32 => x.to_le_bytes().to_vec(),
        Elem::Low16 => (x as u16).to_le_bytes().to_vec(),
        Elem::Low8 | Elem::I8 => vec![x as u8],
        _ => bf16::from_f32(x).to_le_bytes().to_vec(),
    };
    (x, bytes)
}

/// The vector and lane that lane `lane` of vector `write` comes from.
fn lane(kernel: &Permute, n: usize, (write, lane): (usize, usize)) -> (usize, usize) {
    let lanes = match kernel.order {
        Order::Bits(lanes) => lanes,
        Order::Interleaved(rows) => return ((write << n | lane) % usize::from(rows), (write << n | lane) / usize::from(rows)),
        Order::Kept => return (write, lane),
        Order::Deinterleaved(rows) => {
            return ((lane * usize::from(rows) + write) >> n, (lane * usize::from(rows) + write) & ((1 << n) - 1));
        }
    };
    let gone = (0..n as u8).filter(|bit| !lanes[..n].contains(bit));
    let (mut vector, mut from) = (0, 0);
    for (i, bit) in lanes[..n].iter().enumerate() {
        match usize::from(*bit).checked_sub(BITS) {
            Some(row) => vector |= (lane >> i & 1) << row,
            None => from |= (lane >> i & 1) << bit,
        }
    }
    gone.enumerate().for_each(|(i, bit)| from |= (write >> i & 1) << bit);
    (vector, from)
}

/// Permutes two tiles, all of whose elements are looked at, and what lies around them.
fn compare(isa: Isa, kernel: Permute, exists: impl Fn(usize, usize) -> bool) {
    let (n, lanes) = (bits(isa), isa.width().lanes());
    let (across, sizes) = (lanes + 3, [kernel.from.bytes(), kernel.to.bytes()]);
    let [reads, writes] = kernel.vectors.map(usize::from);
    let from: Vec<u8> = (0..2 * reads * across).flat_map(|i| number(kernel.from, i).1).collect();
    let before = if kernel.adds { 3.0f32.to_le_bytes() } else { [0xee; 4] };
    let mut to: Vec<u8> = (0..2 * writes * across * sizes[1]).map(|i| before[i % 4]).collect();
    let mut want = to.clone();
    let stride = if kernel.each { writes * LANES } else { lanes };
    // Vectors that are written lie in the opposite order.
    let at = [(0..reads).map(|i| i * across * sizes[0]).collect::<Vec<_>>(), (0..writes).rev().map(|i| i * across * sizes[1]).collect()];
    let tiles = [[0, 0], [reads * across * sizes[0], writes * across * sizes[1]]];
    let mut masks = [vec![0_u16; reads], vec![u16::MAX >> (16 - lanes); writes], vec![0; writes]];
    for (w, l) in (0..writes).flat_map(|w| (0..lanes).map(move |l| (w, l))) {
        let (vector, place) = lane(&kernel, n, (w, l));
        if vector < reads && exists(vector, place) {
            masks[0][vector] |= 1 << place;
            masks[2][w] |= 1 << l;
        }
    }
    let factors: Vec<f32> = (0..UNCHANGED.len() * stride).map(|i| [1.0, 2.0, 0.5][i % 3]).collect();
    let args = Args {
        from: from.as_ptr(),
        to: to.as_mut_ptr(),
        tiles: tiles.as_ptr(),
        count: 2,
        reads: at[0].as_ptr(),
        writes: at[1].as_ptr(),
        masks: [0, 1, 2].map(|i| masks[i].as_ptr()),
        factors: std::array::from_fn(|i| factors[i * stride..].as_ptr()),
        adds: &2.0,
    };
    run(kernel.function(isa), &args);
    let factor = |i: usize, w: usize, l: usize| match kernel.factors[i] {
        Factor::None => NEUTRAL[i],
        Factor::Same => factors[i * stride],
        Factor::ByRow => factors[i * stride + l + if kernel.each { w * LANES } else { 0 }],
    };
    for (t, w, l) in (0..2).flat_map(|t| (0..writes).flat_map(move |w| (0..lanes).map(move |l| (t, w, l)))) {
        let (vector, place) = lane(&kernel, n, (w, l));
        let there = vector < reads && (kernel.masked == Masked::No || exists(vector, place));
        let (x, bytes) = number(kernel.from, (t * reads + vector) * across + place);
        let x = (x - factor(0, w, l)) * factor(1, w, l) / factor(2, w, l) + factor(3, w, l) + if kernel.adds { 6.0 } else { 0.0 };
        let bytes = match kernel.to {
            _ if !there => vec![0; sizes[1]],
            Elem::F32 => x.to_le_bytes().to_vec(),
            Elem::I8 => vec![x.round_ties_even() as i8 as u8],
            _ => bytes,
        };
        want[tiles[t][1] + at[1][w] + l * sizes[1]..][..sizes[1]].copy_from_slice(&bytes);
    }
    assert!(to == want, "{}", kernel.name(isa));
}

/// What does nothing to an element, by the steps of its arithmetic.
const NEUTRAL: [f32; UNCHANGED.len()] = [0.0, 1.0, 1.0, 0.0];

/// Kernels whose written lanes are any bits in any order: all choices of eight.
fn all(isa: Isa) -> Vec<[u8; BITS]> {
    let n = bits(isa);
    let mut found = Vec::new();
    for code in 0..(2 * n).pow(n as u32) {
        let mut lanes = [0; BITS];
        for (i, lane) in lanes[..n].iter_mut().enumerate() {
            let bit = code / (2 * n).pow(i as u32) % (2 * n);
            *lane = if bit < n { bit } else { BITS + bit - n } as u8;
        }
        let rows = lanes[..n].iter().filter(|b| usize::from(**b) >= BITS).count();
        let once = (0..n).all(|i| lanes[..i].iter().all(|b| *b != lanes[i]));
        if once && lanes[..n].iter().all(|b| usize::from(*b) < BITS + rows) {
            found.push(lanes);
        }
    }
    found
}

fn vectors(isa: Isa, lanes: [u8; BITS]) -> u8 {
    1 << lanes[..bits(isa)].iter().filter(|b| usize::from(**b) >= BITS).count()
}

#[test]
fn bits_come_to_any_places() {
    for isa in ISAS {
        // Every other of the many orders of 16 lanes.
        for lanes in all(isa).into_iter().step_by(if bits(isa) == BITS { 7 } else { 1 }) {
            let vectors = [vectors(isa, lanes); 2];
            let kernel = Permute {
                from: Elem::F32,
                to: Elem::F32,
                factors: UNCHANGED,
                each: false,
                order: Order::Bits(lanes),
                vectors,
                adds: false,
                masked: Masked::No,
                streaming: false,
            };
            compare(isa, kernel, |_, _| true);
        }
    }
}

#[test]
fn elements_are_converted_scaled_and_masked() {
    let types =
        [(Elem::F32, Elem::I8), (Elem::Bf16, Elem::F32), (Elem::Low16, Elem::Low16), (Elem::Low8, Elem::Low8), (Elem::I8, Elem::F32)];
    let scaled = [[Factor::Same, Factor::ByRow, Factor::Same, Factor::None], [Factor::None, Factor::None, Factor::ByRow, Factor::Same]];
    for isa in ISAS {
        for (i, lanes) in all(isa).into_iter().enumerate().step_by(if bits(isa) == BITS { 41 } else { 5 }) {
            let (from, to) = types[i % types.len()];
            let moved = from == to;
            let factors = if moved { UNCHANGED } else { scaled[i / 2 % 2] };
            let most = vectors(isa, lanes);
            let vectors = [(most / 2).max(1), (most / (1 + i as u8 % 2)).max(1)];
            let kernel = Permute {
                from,
                to,
                factors,
                each: false,
                order: Order::Bits(lanes),
                vectors,
                adds: false,
                masked: Masked::Both,
                streaming: false,
            };
            compare(isa, kernel, |vector, lane| (vector + lane) % 3 != i % 3);
        }
    }
}

#[test]
fn rows_become_neighbours_and_back() {
    for isa in ISAS {
        for n in [3, 5, 6, 7] {
            for order in [Order::Interleaved(n), Order::Deinterleaved(n)] {
                let kernel = Permute {
                    from: Elem::F32,
                    to: Elem::F32,
                    factors: UNCHANGED,
                    each: false,
                    order,
                    vectors: [n; 2],
                    adds: false,
                    masked: Masked::No,
                    streaming: false,
                };
                compare(isa, kernel, |_, _| true);
                let scaled = Permute {
                    from: Elem::I8,
                    factors: [Factor::Same, Factor::Same, Factor::None, Factor::None],
                    masked: Masked::Both,
                    ..kernel
                };
                compare(isa, scaled, |vector, lane| (vector + lane) % 3 != 1);
            }
        }
    }
}

/// A copy, and a transposition with factors of each vector, to whose results what was there before is added.
#[test]
fn vectors_have_factors_of_their_own_and_what_was_there_is_added() {
    for isa in ISAS {
        let n = bits(isa);
        let rows: [u8; BITS] = std::array::from_fn(|i| (BITS + i) as u8);
        for (order, count) in [(Order::Kept, 3), (Order::Bits(rows), 1 << n)] {
            for (each, masked) in [(false, false), (true, false), (true, true)] {
                let factors = [Factor::None, Factor::ByRow, Factor::ByRow, Factor::None];
                let kernel = Permute {
                    from: Elem::F32,
                    to: Elem::F32,
                    factors,
                    each,
                    order,
                    vectors: [count; 2],
                    adds: true,
                    masked: if masked { Masked::Both } else { Masked::No },
                    streaming: false,
                };
                compare(isa, kernel, |vector, place| !masked || (vector + place) % 3 > 0);
            }
        }
    }
}

#[test]
fn golden_listings() {
    let order = Order::Bits([0, 1, 4, 5]);
    let (factors, vectors) = (UNCHANGED, [4; 2]);
    let kernel =
        Permute { from: Elem::F32, to: Elem::F32, factors, each: false, order, vectors, adds: false, masked: Masked::No, streaming: false };
    for (kernel, isa) in
        [(kernel, Isa::AVX512), (Permute { order: Order::Interleaved(3), vectors: [3; 2], masked: Masked::Both, ..kernel }, Isa::AVX2)]
    {
        assert_eq!(golden(&kernel, isa).inner_spills, 0);
    }
}
