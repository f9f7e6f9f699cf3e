//! The accumulators of a block: `f32`, and for integers also 32-bit integers, to which sums are moved before `f32` would round.

/// Sums of a block in scratch.
#[derive(Debug)]
pub struct Accumulator<'s> {
    /// The sums since they were last moved.
    pub data: &'s mut [f32],
    whole: &'s mut [f32],
    limit: Option<usize>,
    unsaved: usize,
    saved: bool,
}

impl<'s> Accumulator<'s> {
    /// Zeros for a block of `len` elements, in two equal halves of scratch; `limit` is the longest sum that is exact, for integers.
    pub fn new(scratch: &'s mut [f32], len: usize, limit: Option<usize>) -> Accumulator<'s> {
        let (data, whole) = scratch.split_at_mut(scratch.len() / 2);
        let (data, whole) = (&mut data[..len], &mut whole[..len]);
        data.fill(0.0);
        Accumulator { data, whole, limit, unsaved: 0, saved: false }
    }

    /// Announces `depth` further products, at most the limit, to be added to `data`.
    pub fn reserve(&mut self, depth: usize) {
        if self.limit.is_some_and(|limit| self.unsaved + depth > limit) {
            self.save();
        }
        self.unsaved += depth;
    }

    /// Adds the sums to 32-bit integers, in the bits of `whole`.
    fn save(&mut self) {
        let whole: &mut [i32] = bytemuck::cast_slice_mut(self.whole);
        for (x, w) in self.data.iter_mut().zip(whole) {
            *w = if self.saved { w.wrapping_add(*x as i32) } else { *x as i32 };
            *x = 0.0;
        }
        (self.saved, self.unsaved) = (true, 0);
    }

    /// The sums; for integers too large for `f32`, as integers in the bits of the second slice.
    pub fn finish(mut self) -> (&'s mut [f32], Option<&'s mut [f32]>) {
        if !self.saved {
            return (self.data, None);
        }
        self.save();
        (self.data, Some(self.whole))
    }
}
