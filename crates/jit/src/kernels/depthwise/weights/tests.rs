use super::*;
use crate::testing::{ISAS, run};

/// Strips of the part that is repeated.
const STRIPS: usize = 3;

/// Two images of three rows, by vectors of channels.
fn compare(kernel: &Gradient, isa: Isa, vectors: usize, channels: usize) {
    let (lanes, group) = (isa.width().lanes(), usize::from(kernel.group));
    let stride = usize::from(kernel.stride);
    let (low, high, across) = kernel.reach(STRIPS).unwrap();
    let columns = (high - low + 1) as usize;
    let number = |i: usize| ((i * 37 + i / 11) % 13) as f32 - 6.0;
    let (lines, tall) = (usize::from(kernel.lines), 2 + usize::from(kernel.lines));
    let source: Vec<f32> = (0..2 * tall * columns * channels).map(number).collect();
    let gradient: Vec<f32> = (0..2 * 3 * across * channels).map(|i| number(i + 7)).collect();
    let slots_line = kernel.taps.iter().map(|t| usize::from(t.weights) + 1).max().unwrap_or(0) * group * lanes;
    let slots = lines * slots_line;
    let mut sums = vec![1.0f32; vectors * slots];
    let repeated = kernel.parts.iter().find(|p| p.repeated).map_or(0, |p| usize::from(p.places));
    let steps = |rows: usize, across: usize, strip: usize| Steps {
        column: channels * 4,
        strip: strip * channels * 4,
        line: across * channels * 4,
        row: across * channels * 4,
        image: rows * across * channels * 4,
        vector: lanes * 4,
    };
    let args = Args {
        source: source[-low as usize * channels..].as_ptr().cast(),
        source_steps: steps(tall, columns, repeated * stride),
        gradient: gradient.as_ptr().cast(),
        gradient_steps: steps(3, across, repeated),
        strips: STRIPS,
        rows: 3,
        images: 2,
        vectors,
        channels,
        sums: sums.as_mut_ptr(),
        sums_vector: slots * 4,
        sums_line: slots_line * 4,
    };
    run(kernel.function(isa), &args);
    // The taps of every place.
    let met: Vec<&[Tap]> = kernel
        .parts
        .iter()
        .flat_map(|p| {
            let taps = &kernel.taps[usize::from(p.taps.0)..][..usize::from(p.taps.1)];
            std::iter::repeat_n(taps, usize::from(p.places) * if p.repeated { STRIPS } else { 1 })
        })
        .collect();
    for (i, got) in sums.iter().enumerate() {
        let (vector, slot, lane) = (i / slots, i % slots / lanes, i % lanes);
        let (c, from) = (vector * lanes + lane, vector * lanes + lane / group * group + slot % group);
        let mut want = 1.0;
        let (line, tap_slot) = (slot * lanes / slots_line, slot * lanes % slots_line / lanes / group);
        for (row, place) in (0..6).flat_map(|row| (0..across).map(move |p| (row, p))).filter(|_| c < channels) {
            for tap in met[place].iter().filter(|t| usize::from(t.weights) == tap_slot) {
                let column = ((place * stride) as i64 + i64::from(tap.column) - low) as usize;
                let met = row / 3 * tall + row % 3 + line;
                want += source[(met * columns + column) * channels + from] * gradient[(row * across + place) * channels + c];
            }
        }
        assert_eq!(*got, want, "{} vector {vector} slot {slot} lane {lane}", kernel.name(isa));
    }
}

/// A row that begins and ends with places that do not use all taps.
fn kernel(places: u8, stride: u8, taps: u8, group: u8) -> Gradient {
    let part = |places: u8, repeated: bool, taps: (u8, u8)| Part { places, repeated, taps };
    let list = (0..taps).map(|i| Tap { column: i16::from(i) - 1, weights: u16::from(taps - 1 - i) }).collect();
    let mut parts = vec![part(places, true, (0, taps)), part(1, false, (0, taps))];
    if taps > 1 {
        parts.insert(0, part(1, false, (1, taps - 1)));
        parts.push(part(2.min(places), false, (0, taps - 1)));
    }
    Gradient { types: [Elem::F32; 2], dots: false, group, stride, lines: 1, taps: list, parts, masked: false }
}

#[test]
fn sums_are_added_to() {
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for group in [1, 2, 4, 8].into_iter().filter(|g| *g < lanes) {
            let most = Gradient::most_taps(isa, group) as u8;
            for (places, stride, taps) in [(1, 1, 1), (8, 1, 3), (2, 2, 2), (2, 3, 7)] {
                let taps = taps.min(most);
                let places = places.min(Gradient::most_places(isa, group, taps.into()) as u8);
                let kernel = kernel(places, stride, taps, group as u8);
                compare(&kernel, isa, 2, 2 * lanes);
                compare(&Gradient { masked: true, ..kernel.clone() }, isa, 2, 2 * lanes - group);
                let lines = (most / taps).min(3);
                compare(&Gradient { lines, ..kernel }, isa, 2, 2 * lanes);
            }
        }
    }
}

/// The multiply-adds are all there is: no sum goes to the stack.
#[test]
fn nothing_spills() {
    for isa in ISAS {
        for group in [1, 2, 4] {
            for taps in 1..=Gradient::most_taps(isa, group).min(8) {
                let kernel = Gradient { masked: true, ..kernel(Gradient::most_places(isa, group, taps) as u8, 1, taps as u8, group as u8) };
                let compiled = kernel.compile(isa).unwrap();
                assert_eq!(compiled.inner_spills, 0, "{}", kernel.name(isa));
            }
        }
    }
}
