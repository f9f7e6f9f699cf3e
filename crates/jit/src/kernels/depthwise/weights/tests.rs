use super::*;
use crate::testing::{ISAS, run};

/// Two images of three rows of two strips, by vectors of channels.
fn compare(kernel: &Gradient, isa: Isa, vectors: usize, channels: usize) {
    let (lanes, group) = (isa.width().lanes(), usize::from(kernel.group));
    let (places, stride) = (usize::from(kernel.places), usize::from(kernel.stride));
    let (columns, across) = (2 * places * stride + 40, 2 * places);
    let number = |i: usize| ((i * 37 + i / 11) % 13) as f32 - 6.0;
    let source: Vec<f32> = (0..2 * 3 * columns * channels).map(number).collect();
    let gradient: Vec<f32> = (0..2 * 3 * across * channels).map(|i| number(i + 7)).collect();
    let slots = kernel.taps.iter().map(|t| usize::from(t.weights) + 1).max().unwrap_or(0) * group * lanes;
    let mut sums = vec![1.0f32; vectors * slots];
    // Column 8 is the first place's.
    let first = (8 + kernel.first()) as usize * channels;
    let steps = |across: usize, strip: usize| Steps {
        column: channels * 4,
        strip: strip * channels * 4,
        row: across * channels * 4,
        image: 3 * across * channels * 4,
        vector: lanes * 4,
    };
    let args = Args {
        source: source[first..].as_ptr().cast(),
        source_steps: steps(columns, places * stride),
        gradient: gradient.as_ptr().cast(),
        gradient_steps: steps(across, places),
        strips: 2,
        rows: 3,
        images: 2,
        vectors,
        channels,
        sums: sums.as_mut_ptr(),
        sums_vector: slots * 4,
    };
    if !run(kernel.function(isa), &args) {
        return;
    }
    for (i, got) in sums.iter().enumerate() {
        let (vector, slot, lane) = (i / slots, i % slots / lanes, i % lanes);
        let (c, from) = (vector * lanes + lane, vector * lanes + lane / group * group + slot % group);
        let mut want = 1.0;
        for tap in kernel.taps.iter().filter(|t| usize::from(t.weights) == slot / group && c < channels) {
            for (row, place) in (0..6).flat_map(|row| (0..across).map(move |p| (row, p))) {
                let column = (8 + (place * stride) as i64 + i64::from(tap.column)) as usize;
                want += source[(row * columns + column) * channels + from] * gradient[(row * across + place) * channels + c];
            }
        }
        assert_eq!(*got, want, "{} vector {vector} slot {slot} lane {lane}", kernel.name(isa));
    }
}

fn kernel(places: u8, stride: u8, taps: i16, group: u8) -> Gradient {
    let taps = (0..taps).map(|i| Tap { column: i - 1, weights: (taps - 1 - i) as u16 }).collect();
    Gradient { types: [Elem::F32; 2], group, places, stride, taps, masked: false }
}

#[test]
fn sums_are_added_to() {
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for group in [1, 2, 4, 8].into_iter().filter(|g| *g < lanes) {
            let most = Gradient::most_taps(isa, group) as i16;
            for (places, stride, taps) in [(1, 1, 1), (Gradient::most_places(isa) as u8, 1, 3), (2, 2, 2), (2, 3, 7)] {
                let kernel = kernel(places, stride, taps.min(most), group as u8);
                compare(&kernel, isa, 2, 2 * lanes);
                compare(&Gradient { masked: true, ..kernel }, isa, 2, 2 * lanes - group);
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
                let kernel = Gradient { masked: true, ..kernel(Gradient::most_places(isa) as u8, 1, taps as i16, group as u8) };
                let compiled = kernel.compile(isa).unwrap();
                assert_eq!(compiled.inner_spills, 0, "{}", kernel.name(isa));
            }
        }
    }
}
