//! Bytes with a zero point whose padding is that zero point, in a copy of the source: no result differs from others by the padding that it meets.
//!
//! A zero point that bytes of the source's type do not hold, which is known when it runs, leaves padding where it is.

use super::pixels::Code;
use super::tiles::Tiles;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::row::Generated;
use oxidnn_runtime::{Ctx, Decision};
use oxidnn_spec::{DataType, Error, MAX_NDIMS, Problem};

/// A planned problem.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) tiles: Tiles,
    /// For zero points that are no padding.
    pub(super) other: Tiles,
}

impl Generated for Filled {
    type Code = [Code; 2];

    fn decision(&self, problem: &Problem) -> Decision {
        self.tiles.decision(problem)
    }

    fn build(&self) -> Result<[Code; 2], Error> {
        Ok([self.tiles.build()?, self.other.build()?])
    }

    fn table_bytes(&self) -> usize {
        self.tiles.table_bytes() + self.other.table_bytes()
    }

    fn run(&self, [code, other]: &[Code; 2], simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        let zero_point = self.tiles.zero_points(simd, ctx)?.at(&[0; MAX_NDIMS]) as i32;
        let signed = ctx.bound(self.tiles.source).is_some_and(|bound| bound.tensor.dtype == DataType::S8);
        let fits = if signed { i8::try_from(zero_point).is_ok() } else { u8::try_from(zero_point).is_ok() };
        if fits { self.tiles.run(code, simd, ctx, scratch) } else { self.other.run(other, simd, ctx, scratch) }
    }
}
