use super::*;
use crate::kernels::microkernel::{InitialSums, Panels, Prefetch};
use crate::kernels::scratch::{self, Scratch};
use oxidnn_runtime::Inline;

const COLUMNS: usize = 16;

/// Bytes over their whole range.
fn bytes(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 89 + i / 13 * 7) as u8).collect()
}

/// Signed bytes from -64 to 64, both included.
fn seven_bits(n: usize) -> Vec<u8> {
    (0..n).map(|i| ((i * 89 + i / 13 * 7) % 129) as u8).map(|b| b.wrapping_sub(64)).collect()
}

/// Two strips, of several tiles and of one, with several taps of whole steps and a partial one.
struct Case {
    product: DotType,
    rows: usize,
    tiles: usize,
    steps: usize,
    partial: usize,
}

/// Whether and when rows are widened.
#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    Bytes,
    /// By weights of seven bits, as they are.
    SevenBits,
    Meanwhile,
    Before,
}

const TAPS: usize = 2;
const PANELS: usize = 2;

impl Case {
    fn depth(&self) -> usize {
        self.steps * 4 + self.partial
    }

    /// Lines of a tap of a panel.
    fn lines(&self) -> usize {
        self.steps + usize::from(self.partial > 0)
    }

    /// The sums: of bytes, of words that are widened for the call, or of words that were widened before.
    fn sums(&self, how: How, weights: fn(usize) -> Vec<u8>) -> Vec<f32> {
        let isa = Isa::AVX2;
        let spec =
            MicrokernelKey { k_tail: self.partial as u8, start: InitialSums::Zero, ..MicrokernelKey::new(self.product, self.rows, 2) };
        let all = self.rows * self.tiles;
        let (a, zeros) = (bytes(all * self.depth() + 8), vec![0; self.depth() + 8]);
        let panel = TAPS * self.lines() * COLUMNS * 4;
        let b: Vec<u8> = weights(PANELS * panel);
        let mut sums = vec![-1.0; (all + self.rows) * PANELS * COLUMNS];
        let mut words = [0; 256];
        let mut list = AddressList::new(&mut words, self.rows);
        let rows = std::array::from_fn(|i| i * self.depth());
        let sums_row = PANELS * COLUMNS;
        for (tiles, first) in [(self.tiles, 0), (1, all)] {
            let sums = first * sums_row * 4;
            list.strip(TileStrip { tiles, sums, a_row: self.depth(), c_row: 0, to: (0, &[0; MOST_ROWS]) });
            list.tap(0, a.as_ptr().addr() + 4, &rows);
            if first == 0 {
                list.tap(self.lines() * COLUMNS * 4, a.as_ptr().addr(), &rows);
            } else {
                list.tap(0, zeros.as_ptr().addr(), &[0; MOST_ROWS]);
            }
        }
        // SAFETY: kernels only read the memory, which outlives them.
        let buf = |bytes: &[u8]| unsafe { Buf::new(bytes.as_ptr().cast_mut(), bytes.len()) };
        let call = MicrokernelCall {
            strips: list.strips(),
            steps: self.steps,
            a: buf(&a),
            a_from: 0,
            zeros: buf(&zeros),
            b: buf(&b),
            panels: Panels { at: 0, step: panel, count: PANELS, outer: false },
            c: Buf::empty(),
            column: 0,
            epilogue_column: 0,
            epilogue: None,
            sums: &mut sums,
            sums_row,
            a_step: 0,
            b_row: 0,
            last: 0,
            prefetch: Prefetch::default(),
        };
        if matches!(how, How::Meanwhile | How::Before) {
            let source = if how == How::Before { a.len() } else { 0 };
            let about =
                UpconvertRequest { isa, spec: &spec, tiles: MIN_TILES, panels: MIN_TAP_STEPS, source, parts: &[[TAPS, self.lines()]] };
            let wide = Upconvert::new(&about).unwrap();
            assert_eq!(wide.is_whole(), how == How::Before);
            let len = UpconvertedSources::len([a.len(), zeros.len()]);
            let mut memory = vec![0_u64; scratch::booked(&[len]).unwrap() / 8 + 8];
            // SAFETY: nobody else uses the memory.
            let mut part = unsafe { Scratch::new(Buf::new(memory.as_mut_ptr().cast(), size_of_val(&memory[..]))) }.take(len).unwrap();
            let before = [buf(&a), buf(&zeros)];
            let sources = wide.is_whole().then(|| UpconvertedSources::new(&wide, (Simd::host(), &Inline), before, &mut part));
            let mut numbers = vec![0.0; b.len() / 2];
            panels(Simd::host(), buf(&b), COLUMNS * 4, &mut numbers);
            let call = MicrokernelCall { panels: Panels { step: 2 * panel, ..call.panels }, ..call };
            let mut scratch = vec![0_u64; wide.scratch_len().unwrap().div_ceil(2)];
            let tile = Microkernel::get(isa, &super::words(spec)).unwrap();
            let partial = self.partial as u8;
            wide.run(
                (Simd::host(), bytemuck::cast_slice_mut(&mut scratch)),
                &tile,
                call,
                Upconverted { panels: &numbers, sources, k_tail: partial },
            );
        } else {
            let spec = if how == How::SevenBits { super::seven_bits(spec) } else { spec };
            Microkernel::get(isa, &spec).unwrap().run(call);
        }
        sums
    }
}

#[test]
fn words_have_the_sums_of_bytes() {
    if !Isa::AVX2.is_present() {
        return;
    }
    for product in [DotType::U8S8, DotType::S8S8] {
        for (rows, tiles) in [(1, 3), (5, 2), (6, 9)] {
            for (steps, partial) in [(1, 0), (0, 3), (8, 1), (23, 2), (200, 0)] {
                let case = Case { product, rows, tiles, steps, partial };
                let sums = |how, weights| case.sums(how, weights).into_iter().map(f32::to_bits).collect::<Vec<_>>();
                for how in [How::Meanwhile, How::Before].into_iter().filter(|how| *how == How::Meanwhile || partial == 0) {
                    let about = format!("{how:?}, {product:?}: {tiles} tiles of {rows} rows, {steps} steps and {partial} numbers");
                    assert_eq!(sums(how, bytes), sums(How::Bytes, bytes), "{about}");
                }
                let about = format!("{product:?}: {tiles} tiles of {rows} rows, {steps} steps and {partial} numbers");
                assert_eq!(sums(How::SevenBits, seven_bits), sums(How::Bytes, seven_bits), "{about}");
            }
        }
    }
}

#[test]
fn panels_fit_whose_numbers_are_within_64() {
    let simd = Simd::host();
    // SAFETY: the memory is only read, and outlives its use.
    let fits = |bytes: &[u8]| super::fits(simd, unsafe { Buf::new(bytes.as_ptr().cast_mut(), bytes.len()) });
    for len in [1, 31, 64, 200] {
        let panel = seven_bits(len);
        assert!(fits(&panel), "{len}");
        for at in [0, len / 2, len - 1] {
            for (number, ok) in [(-128_i8, false), (-65, false), (-64, true), (64, true), (65, false), (127, false)] {
                let mut other = panel.clone();
                other[at] = number as u8;
                assert_eq!(fits(&other), ok, "{number} at {at} of {len}");
            }
        }
    }
}

#[test]
fn what_is_multiplied_as_it_is_stays_bytes() {
    let spec = MicrokernelKey::new(DotType::U8S8, 6, 2);
    let wide =
        |isa, spec: &MicrokernelKey| Upconvert::new(&UpconvertRequest { isa, spec, tiles: 100, panels: 4, source: 0, parts: &[[1, 16]] });
    assert!(wide(Isa::AVX2, &spec).is_some());
    assert!(wide(Isa::AVX2_VNNI, &spec).is_none());
    assert!(wide(Isa::AVX2, &MicrokernelKey { product: DotType::F32, ..spec.clone() }).is_none());
    assert!(wide(Isa::AVX2, &MicrokernelKey { line: LineStride::Strided, ..spec }).is_none());
}
