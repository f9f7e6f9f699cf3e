//! Two fused convolutions: the possible results of the first one that the depthwise one reads, and the change of its sums by them.

use super::Bounds;
use crate::host::{HostArgs, HostTensor};
use oxidnn_reference::{Factor, for_each_position};
use oxidnn_spec::op::Conv;
use oxidnn_spec::{Arg, Error, Op, Problem, Tensor};

/// The results of the first convolution.
#[derive(Clone, Copy)]
pub struct First<'a> {
    /// As the reference has them.
    pub results: &'a HostTensor,
    /// The allowed values of each of these.
    pub bounds: &'a Bounds,
}

/// The first of two fused convolutions with its arguments among those of both; `None` if there are not two.
///
/// # Errors
/// Errors of [`Problem::new`].
pub fn first(problem: &Problem, args: &HostArgs) -> Result<Option<(Problem, HostArgs)>, Error> {
    let (Op::Conv(both), Some(index)) = (&problem.op, problem.attr.depthwise_index()) else { return Ok(None) };
    let dst = Tensor::with_strides(*both.dst.dims(), both.dst.dtype, None)?;
    let conv =
        Conv::new(both.prop, both.alg, [both.src.clone(), both.weights.clone(), dst.clone()], both.bias.clone(), both.window.clone());
    let mut attr = problem.attr.clone();
    attr.post_ops.truncate(index);
    let ours = |arg: &Arg| [Arg::SRC, Arg::WEIGHTS, Arg::BIAS, Arg::DST].contains(arg);
    attr.scales.retain(|arg, _| ours(arg));
    attr.zero_points.retain(|arg, _| ours(arg));
    let others = args.0.iter().filter(|a| a.0 != Arg::DST).cloned();
    let args = HostArgs(others.chain([(Arg::DST, HostTensor::filled(&dst, 0))]).collect());
    Ok(Some((Problem::new(conv, attr)?, args)))
}

/// The error of the depthwise convolution's sums because of its source: the weights' magnitudes times the errors of the elements under
/// them, each in its own direction. An element next to a tie may be its neighbour.
pub(super) fn spread(problem: &Problem, args: &HostArgs, first: First<'_>) -> Result<Vec<f64>, Error> {
    let Op::Conv(both) = &problem.op else { return Ok(Vec::new()) };
    let (Some(z), Some(weights)) = (both.depthwise_sizes(&problem.attr), args.get(Arg::depthwise(Arg::WEIGHTS))) else {
        return Ok(Vec::new());
    };
    let of_element = Factor::scale(&problem.attr, args, Arg::DST, both.dst.dims())?;
    let of_weights = Factor::scale(&problem.attr, args, Arg::depthwise(Arg::WEIGHTS), weights.tensor.dims())?;
    let results = first.results.values();
    let mut index = 0;
    let mut distances = Vec::with_capacity(results.len());
    for_each_position(both.dst.dims(), |pos| {
        let distance = first.bounds.allowed(index, results[index]) * of_element.at(pos).abs();
        distances.push(if distance.is_finite() { distance } else { 0.0 });
        index += 1;
    });
    let weights = weights.values();
    let ([_, height, width], [_, window, _]) = (z.i, z.k);
    let mut all = Vec::new();
    for_each_position(&[z.mb, z.g, z.o[1], z.o[2]], |p| {
        let mut sum = 0.0;
        for_each_position(&[window, window], |k| {
            let (y, x) = (p[2] * z.s[1] - z.pl[1] + k[0], p[3] * z.s[2] - z.pl[2] + k[1]);
            if (0..height).contains(&y) && (0..width).contains(&x) {
                let weight = weights[((p[1] * window + k[0]) * window + k[1]) as usize];
                sum += weight.abs() * distances[(((p[0] * z.g + p[1]) * height + y) * width + x) as usize];
            }
        });
        all.push(sum * of_weights.at(&[p[1], 0, 0, 0, 0]).abs());
    });
    Ok(all)
}
