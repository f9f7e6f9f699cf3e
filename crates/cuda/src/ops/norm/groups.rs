//! Group normalisation backward in parts: sums of each image and channel in one pass, the coefficients of its elements from those of its group, the elements.

use super::{Norm, OVERFLOW, Share, scratch, zero};
use crate::emit::{Emitter, View};
use crate::ops::columns::{self, Matrix, Shape};
use crate::ops::pointwise::tensor;
use crate::ops::rows::{Rows, Stage};
use crate::program::Program;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Layout, Tensor};

impl Norm<'_> {
    /// The backward pass; false if it does not apply.
    pub(super) fn group_backward(&self, program: &mut Program) -> Result<bool, Skip> {
        let Share::Group(channels) = self.share else { return Ok(false) };
        if self.flags.use_global_stats {
            return Ok(false);
        }
        let Some((at, parts)) = self.image_gradients(program, channels)? else { return Ok(false) };
        let (images, count) = (self.src.dims()[0], self.src.dims()[1]);
        if [Arg::DIFF_SCALE, Arg::DIFF_SHIFT].iter().any(|&arg| self.wanted(arg).is_some()) {
            let flat = Layout::plain([images * parts, count].into()).map_err(|_| OVERFLOW)?;
            self.add_gradients(program, (at, &flat), None)?;
        }
        let all = Tensor::plain([images, count], self.real.dtype()).map_err(|_| OVERFLOW)?;
        let mut places = [0; 3];
        for at in &mut places {
            *at = program.book(all.bytes()).ok_or(OVERFLOW)?;
        }
        let partial = Layout::plain([images, parts, count / channels, channels].into()).map_err(|_| OVERFLOW)?;
        self.group_coefficients(program, (at, &partial), (places, &all))?;
        self.elements_backward(program, tensor(self.problem, Arg::DIFF_SRC)?, Some((places, &all)))?;
        for arg in [Arg::DIFF_SCALE, Arg::DIFF_SHIFT, Arg::DIFF_SRC] {
            if let Some(t) = self.tensor(arg) {
                zero::padding(program, arg, t)?;
            }
        }
        Ok(true)
    }

    /// The sums of `d x^` and of the destination gradient `d` over each image and channel, in parts: their place, and parts per image.
    fn image_gradients(&self, program: &mut Program, channels: i64) -> Result<Option<(usize, i64)>, Skip> {
        let Some(target) = self.vectors.filter(|_| self.by_lanes()) else { return Ok(None) };
        let dims = self.src.dims();
        let (images, count, pixels) = (dims[0], dims[1], dims[2..].iter().product::<i64>());
        let diff_dst = tensor(self.problem, Arg::DIFF_DST)?;
        let matrices = [Matrix::of("src", Arg::SRC, self.src, 1), Matrix::of("diff_dst", Arg::DIFF_DST, diff_dst, 1)];
        let [Some(x), Some(dd)] = matrices else { return Ok(self.plane_gradients(program)?.map(|(at, _)| (at, 1))) };
        let Some(shape) = Shape::of_images(&[x, dd], [images, pixels, count], self.real, target) else { return Ok(None) };
        let mut emit = Emitter::new(self.real, images * pixels);
        let (mean, inverse) = self.given(&mut emit)?;
        emit.number("pixels", pixels);
        let terms = format!(
            "    real m[VECTOR], s[VECTOR];\n    DEVICE void begin(const Args& a, i64 c) {{\n#pragma unroll\n        for (int v = 0; v < VECTOR; ++v) {{\n            \
             const index q[] = {{(index)(blockIdx.y * a.apart / a.pixels), (index)(c + v) / {channels}}};\n            m[v] = {mean}, s[v] = {inverse};\n        }}\n    }}\n\
             {}",
            super::CHANNEL_TERMS
        );
        let at = columns::book(program, &shape, 2, self.real)?;
        program.launches.push(shape.launch(emit, &[x, dd], &terms, Some(2), at));
        Ok(Some((at, shape.parts / images)))
    }

    /// The launch that stores the coefficients of the elements of each image and channel, from the sums of `layout` (images, parts, groups, channels).
    fn group_coefficients(
        &self,
        program: &mut Program,
        (at, layout): (usize, &Layout),
        (places, all): ([usize; 3], &Tensor),
    ) -> Result<(), Skip> {
        let channels = layout.dims[3];
        let mut rows = Rows::over(self.real, layout, |d| d == 0 || d == 2);
        for (i, name) in ["part_gx", "part_g"].into_iter().enumerate() {
            rows.emit.view(&columns::part_view(name, at, i as i64, layout, self.real))?;
        }
        for (name, at) in ["own", "apart", "fixed"].into_iter().zip(places) {
            rows.emit.view(&scratch(name, at, all))?;
        }
        let (_, inverse) = self.given(&mut rows.emit)?;
        let scale = match self.tensor(Arg::SCALE).filter(|_| self.flags.use_scale) {
            Some(t) => {
                rows.emit.view(&View::of("scale", Arg::SCALE, t))?;
                "scale(a, k)"
            }
            None => "(real)1",
        };
        rows.emit.code(&format!(
            "DEVICE real factor_of(const Args& a, const index* p) {{\n    const index k[] = {{(index)(p[2] * {channels} + p[3])}};\n    return {scale};\n}}\n"
        ));
        rows.emit.real_number("count_of_terms", (channels * self.src.dims()[2..].iter().product::<i64>()) as f64);
        let close = "ratio(x, (real)a.count_of_terms)";
        rows.stages = ["part_gx", "part_g"].map(|part| Stage::sum(format!("factor_of(a, p) * {part}(a, p)"), close)).into();
        rows.each = format!(
            "    if (p[1] != 0) return;\n    const index q[] = {{p[0], p[2]}}, w[] = {{p[0], (index)(p[2] * {channels} + p[3])}};\n    \
             const real inverse = {inverse};\n    own_store(a, own_at(a, w), inverse * factor_of(a, p));\n    \
             apart_store(a, apart_at(a, w), -inverse * inverse * s[0]);\n    fixed_store(a, fixed_at(a, w), -inverse * s[1]);\n"
        );
        program.launches.push(rows.launch());
        Ok(())
    }
}
