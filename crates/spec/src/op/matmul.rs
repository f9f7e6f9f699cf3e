//! Matrix multiplication.

use super::operands;
use crate::check::types::{BF16, DATA, F4, F8, F16, F32, F64, FP, INT4, Pass, S8, S32, TypeTable, Types, U8, X8, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Attr, Error, Format, RUNTIME, Sparse, Tensor};

/// `dst[..,m,n] = bias[..] + sum_k(src[..,m,k] * weights[..,k,n])`; batch dimensions broadcast 1 against n on either operand.
/// All tensors have the same number of dimensions (2 to 12); M, N, K and batch sizes may be [`crate::RUNTIME`]. `src` or `weights`
/// (not both) may be sparse.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Matmul {
    /// `.. x M x K`.
    pub src: Tensor,
    /// `.. x K x N`.
    pub weights: Tensor,
    /// Each dim 1 or the destination's.
    pub bias: Option<Tensor>,
    /// `.. x M x N`.
    pub dst: Tensor,
}

operands!(Matmul { src, weights, bias, dst }, o => {
    o.input(Arg::SRC, src);
    o.input(Arg::WEIGHTS, weights);
    o.input(Arg::BIAS, bias);
    o.output(Arg::DST, dst);
});

const SMALL: Types = BF16.or(F16).or(F8).or(F4);
const INTS: Types = X8.or(INT4);

/// Data types of dense products.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["src", "weights", "dst", "bias"],
    rows: &[
        row(Pass::Every, &[F32, F32.or(SMALL), FP.or(F8).or(F4).or(X8), FP.or(F8).or(X8)]),
        row(Pass::Every, &[SMALL, SMALL, FP.or(F8).or(F4).or(X8), FP.or(F8).or(X8)]),
        row(Pass::Every, &[FP.or(F8).or(F4), INTS, FP.or(F8).or(F4).or(X8), FP.or(F8).or(X8)]),
        row(Pass::Every, &[X8, INTS, DATA, DATA]),
        row(Pass::Every, &[F64, F64, F64, F64.or(FP).or(X8).or(S32)]),
    ],
};

/// Data types of products with a sparse operand.
const SPARSE: TypeTable =
    TypeTable { columns: &["src", "weights", "dst"], rows: &[row(Pass::Every, &[F32, F32, F32]), row(Pass::Every, &[F16, F16, F16])] };

/// Data types of products with weights packed with a bit mask.
const PACKED: TypeTable = TypeTable {
    columns: &["src", "weights", "dst"],
    rows: &[row(Pass::Every, &[U8.or(S8), S8, FP.or(S32).or(X8)]), row(Pass::Every, &[FP, FP, FP])],
};

impl Matmul {
    pub(super) fn check(&self) -> Checked {
        let Matmul { src, weights, bias, dst } = self;
        check::rank(Arg::DST, dst, 2..=crate::MAX_NDIMS)?;
        let n = dst.dims().len();
        check::rank(Arg::SRC, src, n..=n)?;
        check::rank(Arg::WEIGHTS, weights, n..=n)?;
        let (s, w, d) = (src.dims(), weights.dims(), dst.dims());
        let size = |v: i64| if v == RUNTIME { "a runtime size".into() } else { v.to_string() };
        let agree = |arg: Arg, name: &str, got: i64, expected: i64| {
            ensure(
                got == expected,
                arg,
                format_args!("{name} = {}", size(got)),
                format_args!("{name} = {} as the other operand", size(expected)),
            )
        };
        agree(Arg::WEIGHTS, "K", w[n - 2], s[n - 1])?;
        agree(Arg::DST, "M", d[n - 2], s[n - 2])?;
        agree(Arg::DST, "N", d[n - 1], w[n - 1])?;
        for i in 0..n - 2 {
            let runtime = d[i] == RUNTIME && (s[i] == RUNTIME || w[i] == RUNTIME);
            let known = (s[i] == d[i] || s[i] == 1) && (w[i] == d[i] || w[i] == 1) && (d[i] == s[i] || d[i] == w[i]);
            ensure(runtime || known, Arg::DST, format_args!("batch {d} of {s} by {w}"), "batch sizes that are equal, or 1 on one operand")?;
        }
        if let Some(bias) = bias {
            check::broadcasts(Arg::BIAS, bias, d)?;
        }
        let types = [Some(src.dtype), Some(weights.dtype), Some(dst.dtype), bias.as_ref().map(|b| b.dtype)];
        match (&src.layout.format, &weights.layout.format) {
            (Format::Sparse(_), Format::Sparse(_)) => {
                Err(Error::arg(Arg::WEIGHTS, "sparse weights by a sparse source", "one sparse operand"))
            }
            (Format::Sparse(Sparse::Packed { .. }), _) => Err(Error::arg(Arg::SRC, "packed sparse", "CSR, COO or dense")),
            (_, Format::Sparse(Sparse::Packed { .. })) => PACKED.check(None, &types[..3]),
            (Format::Sparse(_), _) | (_, Format::Sparse(_)) => {
                ensure(bias.is_none(), Arg::BIAS, "a tensor", "none with a sparse operand")?;
                let plain = dst.layout.is_any() || dst.layout.is_row_major();
                ensure(plain, Arg::DST, "another layout", "row-major with a sparse operand")?;
                SPARSE.check(None, &types[..3])
            }
            _ => TYPES.check(None, &types),
        }
    }

    /// An operand in CSR or COO excludes attributes that change the result.
    pub(crate) fn check_sparse(&self, attr: &Attr) -> Checked {
        let sparse = |t: &Tensor| matches!(t.layout.format, Format::Sparse(Sparse::Csr { .. } | Sparse::Coo { .. }));
        let bare = attr.scales.is_empty() && attr.zero_points.is_empty() && attr.post_ops.is_empty() && attr.dropout.is_none();
        ensure(
            bare || !(sparse(&self.src) || sparse(&self.weights)),
            "attributes",
            "scales, zero points, post-ops or dropout",
            "none with a sparse operand",
        )
    }
}
