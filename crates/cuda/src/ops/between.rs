//! `between:sm90`: convolutions of NCHW tensors, and of NHWC tensors whose pixels are not 16-byte aligned, by the rows for aligned NHWC, with copies of the operands
//! that these cannot read before, and of results that they cannot write after.

use super::transpose::{Kept, copied};
use super::{conv, gemm};
use crate::CudaTarget;
use crate::ops::ceil;
use crate::program::{Launch, MapPlace, OVERFLOW, Program, Word};
use crate::row::Lower;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::Conv;
use oxidnn_spec::{Arg, Blocking, Dims, Layout, Op, PostOp, Problem, Prop, Tensor};

/// A way to do it: which tensors are copied, in which order of dimensions, and the rows that use the copies.
struct Way<'a> {
    args: &'a [Arg],
    channels_last: bool,
    rows: &'a [Lower],
}

/// Convolution or deconvolution, all but depthwise ones.
pub(crate) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    by_rows(problem, target, &[gemm::slices::conv, gemm::groups::conv])
}

/// Depthwise convolution.
pub(crate) fn depthwise(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    by_rows(problem, target, &[gemm::depthwise::conv, gemm::slices::any])
}

/// By the rows for one group, or else by `grouped`.
fn by_rows(problem: &Problem, target: &CudaTarget, grouped: &[Lower]) -> Result<Program, Skip> {
    let (prop, groups, is_apart) = match &problem.op {
        Op::Conv(op) => (op.prop, op.sizes().g, is_apart(op)),
        Op::Deconv(op) => (op.prop, op.sizes().g, false),
        _ => return Err(Skip::Op("anything but convolutions")),
    };
    gemm::hopper(target)?;
    if problem.attr.depthwise_index().is_some() {
        return Err(Skip::Shape("a depthwise convolution behind it"));
    }
    if problem.attr.post_ops.iter().any(|p| matches!(p, PostOp::Sum { .. })) {
        return Err(Skip::Attr("a sum with what is there".into()));
    }
    let (src, dst) = match prop {
        Prop::BackwardData => (Arg::DIFF_SRC, Arg::DIFF_DST),
        Prop::BackwardWeights => (Arg::SRC, Arg::DIFF_DST),
        _ => (Arg::SRC, Arg::DST),
    };
    let apart = |t: &Tensor| t.blocking().is_some_and(|b| b.is_plain() && b.strides[1] != 1 && t.dims()[1] > 1);
    let astray = |t: &Tensor| {
        let is_whole = |b: &Blocking, d: usize| d == 1 || t.dims()[d] == 1 || b.strides[d] * t.dtype.bits() as i64 % 128 == 0;
        t.blocking().is_some_and(|b| b.is_plain() && !(0..t.dims().len()).all(|d| is_whole(b, d)))
    };
    let is_copied = |&arg: &Arg| problem.op.tensor(arg).is_some_and(|t| apart(t) || !is_written(arg) && astray(t));
    let all: Vec<Arg> = [src, dst].into_iter().filter(is_copied).collect();
    let (written, read): (Vec<Arg>, Vec<Arg>) = all.iter().partition(|&&arg| is_written(arg));
    // 1x1 with strides: the copy holds only the pixels that are read, and the convolution becomes a product.
    let gathered: &[Lower] = if is_apart { &[gemm::pointwise_conv] } else { &[] };
    let one_side: &[Lower] = match groups {
        _ if written.is_empty() => &[],
        1 => &[gemm::window],
        _ => &[gemm::slices::conv],
    };
    let whole: &[Lower] = match &problem.op {
        Op::Deconv(_) if groups > 1 => &[gemm::slices::any],
        Op::Deconv(_) => &[gemm::window, gemm::weights::weights, gemm::conv_f32::lower],
        _ if groups > 1 => grouped,
        _ => &[gemm::pointwise_conv, gemm::stem::conv, gemm::window, gemm::weights::weights, gemm::first::conv, gemm::conv_f32::lower],
    };
    let few: &[Lower] = if matches!(problem.op, Op::Conv(_)) && groups == 1 { &[gemm::stem::conv, gemm::first::conv] } else { &[] };
    let results: Vec<Arg> = all.iter().copied().filter(|&arg| matches!(arg, Arg::DST | Arg::DIFF_DST)).collect();
    let ways = [
        // The rows for few input channels read any layout.
        Way { args: if prop == Prop::BackwardData { &[] } else { &results }, channels_last: true, rows: few },
        Way { args: &read, channels_last: false, rows: gathered },
        Way { args: &read, channels_last: true, rows: one_side },
        Way { args: &all, channels_last: true, rows: whole },
    ];
    let within = target.within();
    let mut last = Skip::Layout("channels that are next to each other already".into());
    for way in ways.iter().filter(|way| !way.args.is_empty()) {
        for row in way.rows {
            match between(problem, way, *row, [target, &within]) {
                Ok(program) => return Ok(program),
                Err(why) => last = why,
            }
        }
    }
    Err(last)
}

fn is_written(arg: Arg) -> bool {
    matches!(arg, Arg::DST | Arg::DIFF_SRC)
}

/// Whether it is a strided 1x1 convolution without padding.
fn is_apart(op: &Conv) -> bool {
    let z = op.sizes();
    op.prop != Prop::BackwardData && z.k == [1; 3] && z.pl == [0; 3] && z.s != [1; 3] && (0..3).all(|d| (z.o[d] - 1) * z.s[d] < z.i[d])
}

/// The pixels of `src` that such a convolution reads, as a strided tensor.
fn visited(src: &Tensor, dst: &Tensor, steps: &Dims) -> Result<Tensor, Skip> {
    let mut dims = *src.dims();
    dims[2..].copy_from_slice(&dst.dims()[2..]);
    let mut view = Tensor::plain(dims, src.dtype).map_err(|_| OVERFLOW)?;
    let (Some(own), Some(given)) = (view.layout.blocking_mut(), src.blocking()) else { return Err(OVERFLOW) };
    (own.offset, own.strides) = (given.offset, given.strides);
    for (d, step) in steps.iter().enumerate() {
        own.strides[d + 2] = given.strides[d + 2].checked_mul(*step).ok_or(OVERFLOW)?;
    }
    Ok(view)
}

/// Spaces the pixels of a dense NHWC tensor by multiples of 16 bytes.
fn align(tensor: &mut Tensor) -> Result<(), Skip> {
    let (channels, unit) = (tensor.dims()[1].max(1), 128 / tensor.dtype.bits().max(1) as i64);
    let lead = ceil(channels, unit) * unit;
    let blocking = tensor.layout.blocking_mut().ok_or(OVERFLOW)?;
    for (_, stride) in blocking.strides.iter_mut().enumerate().filter(|(d, _)| *d != 1) {
        *stride = (*stride / channels).checked_mul(lead).ok_or(OVERFLOW)?;
    }
    Ok(())
}

fn between(problem: &Problem, way: &Way<'_>, row: Lower, [target, within]: [&CudaTarget; 2]) -> Result<Program, Skip> {
    let mut inner = problem.clone();
    let mut view = None;
    if let Op::Conv(op) = &mut inner.op
        && way.args.contains(&Arg::SRC)
        && is_apart(op)
    {
        let visited = visited(&op.src, &op.dst, &op.window.strides)?;
        op.src = visited.clone();
        op.window.strides.fill(1);
        op.window.padding_r.fill(0);
        view = Some(visited);
    }
    let mut kept = Vec::new();
    let mut all = Program::default();
    for o in inner.op.operands_mut() {
        if way.args.contains(&o.arg) {
            let dims = *o.tensor.dims();
            let mut order: Vec<usize> = (0..dims.len()).collect();
            if way.channels_last {
                order[1..].rotate_left(1);
            }
            o.tensor.layout = Layout::dense(dims, &order).map_err(|_| OVERFLOW)?;
            if way.channels_last {
                align(o.tensor)?;
            }
            let at = all.book(o.tensor.bytes())?;
            kept.push(Kept { arg: o.arg, tensor: o.tensor.clone(), at });
        }
    }
    let mut program = row(&inner, within)?.shifted(all.scratch);
    let generic = if matches!(problem.op, Op::Deconv(_)) { conv::deconv } else { conv::conv };
    let otherwise = Program::or_unaligned(generic, problem, target)?;
    (all.scratch, all.unaligned) = (program.scratch.max(otherwise.scratch), otherwise.unaligned);
    let mut after = Vec::new();
    for kept in &kept {
        let Kept { arg, at, .. } = *kept;
        let given = view.as_ref().filter(|_| arg == Arg::SRC).or(problem.op.tensor(arg)).ok_or(OVERFLOW)?;
        let copy = copied(given, kept, !is_written(arg), target)?;
        if is_written(arg) {
            after.extend(copy.launches)
        } else {
            all.launches.extend(copy.launches)
        }
        program = program.moved(arg, MapPlace::Scratch(at));
    }
    let reads_weights = |l: &Launch| l.words.iter().any(|w| matches!(w, Word::Address { arg: Arg::WEIGHTS, .. }));
    if let ([.., copy], [weights, _, ..]) = (&mut all.launches[..], &mut program.launches[..])
        && reads_weights(weights)
    {
        copy.lead(weights);
    }
    all.launches.extend(program.launches);
    all.launches.extend(after);
    Ok(all)
}
