//! Convolutions of bytes with a zero point, whose padding is read as the zero point, in a padded copy of the source on AMX, and as a row of it
//! on vectors: every result then has the same compensation, whether its window reads padding or not.
//!
//! Zero points are known only at execution. If one does not fit into the source's type, the other plan runs: without the copy, and with
//! results that read padding in passes of their own ([`compensation`](super::compensation)).

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
    /// For zero points that the source's type cannot represent.
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
