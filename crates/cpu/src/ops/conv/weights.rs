//! Gradients of weights of convolution and deconvolution: `bwd_weights:jit` and `bwd_weights:amx` on generated microkernels ([`tiled`]), and
//! `packed:portable`, the same macrokernel around the portable ones.

mod copy;
pub(crate) mod cost;
mod prefetch;
mod run;
pub(crate) mod side;
mod store;
#[cfg(test)]
mod tests;
pub(crate) mod tiled;

use crate::CpuTarget;
use crate::kernels::portable_epilogue;
use crate::ops::conv::window::sizes_of;
use crate::ops::support;
use crate::row::TOO_LARGE;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Op, Problem, Prop, Tensor};
use side::{Dim, Roles};
use tiled::{Engine, Gradient, Task, portable_isa};

/// A problem in the terms of this kernel.
pub(crate) struct Setup<'a> {
    /// The operation's sizes; the window's outputs are `o` and its inputs `i` for a convolution, the reverse for a deconvolution.
    pub(crate) sizes: ConvSizes,
    /// The tensor that the window slides over.
    pub(crate) x: (Arg, &'a Tensor),
    /// The other one.
    pub(crate) y: (Arg, &'a Tensor),
    /// The gradient of the weights.
    pub(crate) weights: &'a Tensor,
    /// Whether `x` is the first of the weights' channel dimensions (deconvolution).
    pub(crate) x_first: bool,
}

impl Setup<'_> {
    /// A convolution or deconvolution backward by weights: the window slides over a convolution's source, or over a deconvolution's
    /// destination.
    ///
    /// # Errors
    /// Other operations.
    pub(crate) fn of(op: &Op) -> Result<Setup<'_>, Skip> {
        if op.prop() != Some(Prop::BackwardWeights) {
            return Err(Skip::Op("this propagation kind"));
        }
        let (src, diff_dst) = (Arg::SRC, Arg::DIFF_DST);
        match op {
            Op::Conv(op) => {
                Ok(Setup { sizes: op.sizes(), x: (src, &op.src), y: (diff_dst, &op.dst), weights: &op.weights, x_first: false })
            }
            Op::Deconv(op) => {
                Ok(Setup { sizes: op.sizes(), x: (diff_dst, &op.dst), y: (src, &op.src), weights: &op.weights, x_first: true })
            }
            _ => Err(Skip::Op("anything but convolution")),
        }
    }
}

/// The window over `X` of a convolution or deconvolution.
pub(crate) fn window(setup: &Setup<'_>) -> [Dim; 3] {
    let (s, [x, y]) = (setup.sizes, [setup.x.1, setup.y.1].map(|t| sizes_of(t).map(|n| n.max(0) as usize)));
    std::array::from_fn(|i| Dim {
        size: x[i],
        places: y[i],
        taps: s.k[i] as usize,
        dilation: s.d[i] as usize,
        stride: s.s[i] as usize,
        pad: s.pl[i],
    })
}

impl Task {
    /// Whether copies have zeros for padding on AMX, which reads the rows of an image as one part then: for windows of several taps.
    fn is_padded(&self, isa: Isa) -> bool {
        isa.amx && !self.merged && self.window.iter().any(|dim| dim.taps > 1)
    }

    /// The same with neighbouring dimensions that no window crosses as one, where memory has all pixels in one row: one copy of many pixels
    /// and one part of the reduction take the place of many.
    fn along_lines(mut self, tensors: [&Tensor; 2]) -> Task {
        for i in 0..2 {
            let (outer, inner) = (self.window[i], self.window[i + 1]);
            let [outer, inner] = [outer, inner].map(|dim| (dim == Dim::of_places(dim.places)).then_some(dim.places));
            let Some(places) = outer.zip(inner).and_then(|(outer, inner)| outer.checked_mul(inner)) else { continue };
            let follows = |(roles, t): (&Roles, &Tensor)| {
                let strides = roles.strides(t);
                strides.is_some_and(|s| self.window[i].places == 1 || Some(s.at[i]) == s.at[i + 1].checked_mul(self.window[i + 1].places))
            };
            if self.roles.iter().zip(tensors).all(follows) {
                (self.window[i], self.window[i + 1]) = (Dim::of_places(1), Dim::of_places(places));
                self.roles.iter_mut().for_each(|roles| roles.pixel[i] = None);
            }
        }
        self
    }
}

/// Plans `problem` on portable microkernels, for operands of any type and layout.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    resolve(&mut problem, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let setup = Setup::of(&problem.op)?;
    let tensors = [setup.x.1, setup.y.1];
    for t in tensors {
        support::operand_type(t.dtype)?;
    }
    portable_epilogue::check(&problem.attr, setup.weights)?;
    let task = Task::of(&setup, portable_isa(target));
    let gradient = Gradient::new(&task, tensors, &problem.attr, (Engine::Portable, target)).ok_or(TOO_LARGE)?;
    gradient.plan(problem, target)
}

/// Resolves open layouts: data to channels last, the weights' gradient to the layout of the forward pass.
fn resolve(problem: &mut Problem, target: &CpuTarget) -> Result<(), Skip> {
    let s = Setup::of(&problem.op)?;
    let tag = support::window_tag(s.weights, s.weights.dims().len() > s.x.1.dims().len(), 0, target.isa);
    let data = [s.x.0, s.y.0];
    for o in problem.op.operands_mut() {
        if o.arg == Arg::DIFF_WEIGHTS {
            support::resolve(o.tensor, &tag)?;
        } else if data.contains(&o.arg) {
            support::resolve(o.tensor, "axb")?;
        }
    }
    Ok(())
}
