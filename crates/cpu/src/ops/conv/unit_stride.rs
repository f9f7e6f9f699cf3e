//! 1x1 windows with strides, reduced to unit stride: of strides of 2, three of four pixels are not read. They are left out where the source is
//! copied anyway, as by `staged:jit`.

use oxidnn_spec::{Dims, MAX_NDIMS, Op, Problem, Prop};

#[cfg(test)]
mod tests;

/// The problem over the pixels that are read, as a strided view of the source, if 1x1 windows skip some. Where pixels are closest and whole
/// lines are wanted, those of a line are not skipped: they are read in vectors.
pub(super) fn reduce(problem: &Problem, whole_lines: bool) -> Option<Problem> {
    let mut reduced = problem.clone();
    let Op::Conv(op) = &mut reduced.op else { return None };
    let (s, n) = (op.sizes(), op.src.dims().len());
    let skips = s.k == [1; 3] && s.pl == [0; 3] && s.s != [1; 3];
    let inside = (0..3).all(|i| (s.o[i] - 1) * s.s[i] < s.i[i]);
    let known = !op.src.dims().has_runtime() && !op.src.is_empty();
    let apart = op.src.blocking().is_some_and(|b| b.inner.iter().all(|(d, _)| d < 2));
    if op.prop == Prop::BackwardData || op.depthwise_dst.is_some() || !(skips && inside && known && apart) {
        return None;
    }
    let whole = whole_lines && op.src.blocking().is_some_and(|b| b.strides[n - 1] == 1);
    let kept = n - usize::from(whole);
    let dims = Dims::from_fn(n, |d| if d < 2 || d >= kept { op.src.dims()[d] } else { s.o[d + 3 - n] });
    op.src.layout = op.src.layout.submemory(&dims, &[0; MAX_NDIMS][..n]).ok()?;
    let b = op.src.layout.blocking_mut()?;
    for d in 2..kept {
        b.strides[d] = b.strides[d].checked_mul(s.s[d + 3 - n])?;
        (op.window.strides[d - 2], op.window.padding_r[d - 2]) = (1, 0);
    }
    Some(reduced)
}
