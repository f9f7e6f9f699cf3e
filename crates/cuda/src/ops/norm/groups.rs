//! Group normalisation in parts. Forward: moments of parts of each image and channel in one pass, statistics of the groups, the elements. Backward: sums of each
//! image and channel in one pass, the coefficients of its elements from those of its group, the elements.

use super::{LARGEST_ROW, Norm, OWN_TERMS, Share, zero};
use crate::emit::{Emitter, View, literal};
use crate::ops::columns::{self, Matrix, Shape};
use crate::ops::pointwise::tensor;
use crate::ops::rows::{Rows, Stage};
use crate::program::{OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Layout, Tensor};

impl Norm<'_> {
    /// Group normalisation whose groups are too large for a CTA or too few for the GPU: moments of parts of each image and channel in one pass. Returns their place,
    /// parts per image, and pixels per part.
    fn group_parts(&self, program: &mut Program, channels: i64) -> Result<Option<(usize, [i64; 2])>, Skip> {
        let Some(target) = self.vectors.filter(|_| self.by_lanes() && !self.flags.rms) else { return Ok(None) };
        let dims = self.src.dims();
        let (images, count, pixels) = (dims[0], dims[1], dims[2..].iter().product::<i64>());
        if let Some(matrix) = Matrix::of("src", Arg::SRC, self.src, 1) {
            let Some(shape) = Shape::of_images(&[matrix], [images, pixels, count], self.real, target) else { return Ok(None) };
            let at = columns::book(program, &shape, 2, self.real)?;
            program.launches.push(shape.launch(Emitter::new(self.real, images * pixels), &[matrix], OWN_TERMS, None, at));
            return Ok(Some((at, [shape.parts / images, pixels * images / shape.parts])));
        }
        let large = channels * pixels * self.src.dtype.bits() as i64 / 8 > LARGEST_ROW;
        if !large && images * (count / channels) >= i64::from(target.facts.multiprocessors) {
            return Ok(None);
        }
        Ok(self.plane_moments(program)?.map(|(at, ..)| (at, [1, pixels])))
    }

    /// Group normalisation in parts: statistics of groups from those of the parts, then the elements; false if it does not apply.
    pub(super) fn group_forward(&self, program: &mut Program, dst: &Tensor, channels: i64) -> Result<bool, Skip> {
        let Some((at, [parts, rows_of_part])) = self.group_parts(program, channels)? else { return Ok(false) };
        let (images, count) = (self.src.dims()[0], self.src.dims()[1]);
        let all = Tensor::plain([images, count], self.real.dtype()).map_err(|_| OVERFLOW)?;
        let mut places = [0; 2];
        for at in &mut places {
            *at = program.book(all.bytes())?;
        }
        let partial = Layout::plain([images, parts, count / channels, channels].into()).map_err(|_| OVERFLOW)?;
        let mut rows = Rows::over(self.real, &partial, |d| d == 0 || d == 2);
        for (i, name) in ["part_mean", "part_square"].into_iter().enumerate() {
            rows.emit.view(&columns::part_view(name, at, i as i64, &partial, self.real))?;
        }
        rows.emit.number("rows_of_part", rows_of_part);
        let apart = "(part_mean(a, p) - s[0])";
        rows.stages = vec![
            Stage::sum("part_mean(a, p)", "ratio(x, (real)a.terms)"),
            Stage::sum(format!("part_square(a, p) / (real)a.rows_of_part + {apart} * {apart}"), "ratio(x, (real)a.terms)"),
        ];
        rows.result = "    const index q[] = {p[0], p[2]};\n".to_owned() + &self.kept(&mut rows.emit, "s[0]", "s[1]")?;
        rows.emit.view(&View::scratch("own_mean", places[0], &all))?;
        rows.emit.view(&View::scratch("own_inverse", places[1], &all))?;
        rows.each = format!(
            "    if (p[1] != 0) return;\n    const index q[] = {{p[0], (index)(p[2] * {channels} + p[3])}};\n    own_mean_store(a, own_mean_at(a, q), s[0]);\n    \
             own_inverse_store(a, own_inverse_at(a, q), inverse_root(s[1] + {}));\n",
            literal(self.epsilon)
        );
        program.launches.push(rows.launch());
        self.elements_forward(program, dst, (places, &all))?;
        Ok(true)
    }

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
            *at = program.book(all.bytes())?;
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
            super::backward::CHANNEL_TERMS
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
            rows.emit.view(&View::scratch(name, at, all))?;
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
