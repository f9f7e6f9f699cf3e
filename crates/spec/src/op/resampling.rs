//! Resampling (interpolation).

use super::{Prop, operands};
use crate::check::types::{DATA, F64, Pass, TypeTable, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Dims, RUNTIME, Real, Tensor};

/// How values between elements are made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResamplingAlg {
    /// The nearest element.
    Nearest,
    /// Linear along each spatial dimension.
    Linear,
}

/// Resampling with half-pixel centres of 1 to 3 spatial dimensions. With [`Prop::BackwardData`] `src` and `dst` are the gradients.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Resampling {
    /// Forward kinds or [`Prop::BackwardData`].
    pub prop: Prop,
    /// Algorithm.
    pub alg: ResamplingAlg,
    /// Source (gradient), N x C x spatial.
    pub src: Tensor,
    /// Destination (gradient).
    pub dst: Tensor,
    /// Ratio of destination to source sizes, one a spatial dimension; [`crate::Problem::new`] fills them where there are none.
    pub factors: Vec<Real>,
}

impl Resampling {
    /// Spatial sizes `(source, destination)`, three with leading ones.
    pub fn spatial(&self) -> ([i64; 3], [i64; 3]) {
        let three = |d: &Dims| {
            let mut out = [1; 3];
            out[5 - d.len()..].copy_from_slice(&d[2..]);
            out
        };
        (three(self.src.dims()), three(self.dst.dims()))
    }
}

operands!(Resampling { prop, src, dst }, o => {
    if prop.is_forward() {
        o.input(Arg::SRC, src);
        o.output(Arg::DST, dst);
    } else {
        o.input(Arg::DIFF_DST, dst);
        o.output(Arg::DIFF_SRC, src);
    }
});

/// Data types.
pub(super) const TYPES: TypeTable =
    TypeTable { columns: &["src", "dst"], rows: &[row(Pass::Every, &[DATA, DATA]), row(Pass::Every, &[F64, F64])] };

impl Resampling {
    /// Whether spatial sizes, and with them the factors, come with an execution.
    fn is_open(&self) -> bool {
        [&self.src, &self.dst].iter().any(|t| t.dims().iter().skip(2).any(|d| *d == RUNTIME))
    }

    /// The factors, from the sizes.
    pub(super) fn derive(&mut self) {
        if self.factors.is_empty() && !self.is_open() {
            let sizes = self.src.dims().iter().zip(self.dst.dims().iter()).skip(2);
            self.factors = sizes.map(|(&s, &d)| Real::new(if s > 0 { (d as f64 / s as f64) as f32 } else { 1.0 })).collect();
        }
    }

    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, check::DATA_PROPS)?;
        let (src_arg, dst_arg) = if self.prop.is_forward() { (Arg::SRC, Arg::DST) } else { (Arg::DIFF_SRC, Arg::DIFF_DST) };
        check::rank(src_arg, &self.src, 3..=5)?;
        let (s, d) = (self.src.dims(), self.dst.dims());
        let n = s.len();
        check::rank(dst_arg, &self.dst, n..=n)?;
        ensure(d[..2] == s[..2], dst_arg, d, format_args!("batch and channels of {s}"))?;
        let empty = |t: &Tensor| t.dims()[2..].contains(&0);
        ensure(self.is_open() || empty(&self.src) == empty(&self.dst), dst_arg, d, format_args!("no elements exactly where {s} has none"))?;
        let open = self.is_open() && self.factors.is_empty();
        ensure(open || self.factors.len() == n - 2, "factors", self.factors.len(), format_args!("{} of them", n - 2))?;
        for (i, f) in self.factors.iter().enumerate() {
            let wanted = s[i + 2] as f64 * f64::from(f.get());
            ensure(f.get() > 0.0 && f.get().is_finite(), "factors", f, "finite numbers above 0")?;
            let near = (wanted - d[i + 2] as f64).abs() < 1.0 + wanted * 1e-6;
            let near = near || check::open(s[i + 2], d[i + 2]);
            ensure(near, "factors", format_args!("{f} from {} to {}", s[i + 2], d[i + 2]), "the ratio of the sizes")?;
        }
        TYPES.check(Some(self.prop), &[Some(self.src.dtype), Some(self.dst.dtype)])
    }
}
