//! The gradients of normalisations.

use super::{Norm, Share, zero};
use crate::emit::{Emitter, Real, Tail, View};
use crate::ops::columns::{self, Elements, Matrix, Shape};
use crate::ops::map::Map;
use crate::ops::pointwise::tensor;
use crate::ops::rows::Stage;
use crate::ops::rows_vector::Input;
use crate::program::{OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Layout, Tensor};

/// `struct Terms` of `columns.cu` for gradients, with the means `m` and reciprocal standard deviations `s` of columns: those of `d x^`, and of the destination gradient `d`.
pub(super) const CHANNEL_TERMS: &str = "    DEVICE void at(const Args& a, i64 r, i64 c, real (&t)[2][VECTOR]) {\n        real x[VECTOR];\n        \
     src_vector(a, r, c, x);\n        diff_dst_vector(a, r, c, t[1]);\n#pragma unroll\n        \
     for (int v = 0; v < VECTOR; ++v) t[0][v] = t[1][v] * (x[v] - m[v]) * s[v];\n    }\n";

impl Norm<'_> {
    /// Backward passes. With `x^ = (src - mean) / sigma` and `g = scale * dd`: `diff_src = (g - mean(g) - x^ mean(g x^)) / sigma`; without the means if the
    /// statistics are constants, and without the first of them for RMS. Parameter gradients are computed first, since the source gradient may overwrite the
    /// inputs.
    pub(super) fn backward(&self, program: &mut Program) -> Result<(), Skip> {
        let channels = self.src.dims()[self.channel()];
        let sums = Tensor::plain([channels], self.real.dtype()).map_err(|_| OVERFLOW)?;
        let wanted = [Arg::DIFF_SCALE, Arg::DIFF_SHIFT].map(|arg| self.wanted(arg));
        let batch = self.share == Share::Channel && !self.flags.use_global_stats;
        if batch && self.whole_backward(program)? || self.group_backward(program)? {
            return Ok(());
        }
        let asked = batch || wanted.iter().any(Option::is_some);
        let fused = if asked && !batch { self.rows_and_columns(program)? } else { None };
        let with_rows = fused.is_some();
        let mut parts = if asked && !with_rows { self.gradient_parts(program)? } else { fused };
        if parts.is_none() && batch {
            parts = self.plane_gradients(program)?;
        }
        let mut coefficients = [0; 3];
        for at in coefficients.iter_mut().filter(|_| batch) {
            *at = program.book(sums.bytes())?;
        }
        match &parts {
            Some((at, layout)) => self.add_gradients(program, (*at, layout), batch.then_some((coefficients, &sums)))?,
            None if asked => self.sum_gradients(program, &sums, batch.then_some(coefficients))?,
            None => {}
        }
        for (t, arg) in wanted.iter().zip([Arg::DIFF_SCALE, Arg::DIFF_SHIFT]) {
            if let Some(t) = t {
                zero::padding(program, arg, t)?;
            }
        }
        let diff_src = tensor(self.problem, Arg::DIFF_SRC)?;
        if batch || self.flags.use_global_stats {
            self.elements_backward(program, diff_src, batch.then_some((coefficients, &sums)))?;
        } else if !with_rows {
            self.rows_backward(program, diff_src)?;
        }
        for arg in [Arg::DIFF_SRC, Arg::DIFF_SRC_1] {
            if let Some(t) = self.tensor(arg) {
                zero::padding(program, arg, t)?;
            }
        }
        Ok(())
    }

    /// The partial sums of both parameter gradients in one pass down contiguous channels; `None` for other layouts.
    fn gradient_parts(&self, program: &mut Program) -> Result<Option<(usize, Layout)>, Skip> {
        let Some(target) = self.vectors.filter(|_| self.tensor(Arg::WORKSPACE).is_none() && self.real == Real::Single) else {
            return Ok(None);
        };
        let channel = self.channel();
        let count = self.src.dims()[channel];
        let n = self.src.dims().volume().unwrap_or(0) / count.max(1);
        let diff_dst = tensor(self.problem, Arg::DIFF_DST)?;
        let matrices = [Matrix::of("src", Arg::SRC, self.src, channel), Matrix::of("diff_dst", Arg::DIFF_DST, diff_dst, channel)];
        let [Some(x), Some(dd)] = matrices else { return Ok(None) };
        let Some(shape) = Shape::on(3, &[x, dd], [n, count], self.real, target).map(Shape::in_turns) else { return Ok(None) };
        let by_row = self.share == Share::Row;
        let ordered = [self.tensor(Arg::MEAN), self.tensor(Arg::VARIANCE), Some(self.src)].into_iter().flatten().all(in_order);
        if self.share != Share::Channel && !(by_row && ordered) {
            return Ok(None);
        }
        let mut emit = Emitter::new(self.real, n);
        let (mean, inverse) = self.given(&mut emit)?;
        let terms = if by_row {
            format!(
                "    DEVICE void begin(const Args&, i64) {{}}\n    DEVICE void at(const Args& a, i64 r, i64 c, real (&t)[2][VECTOR]) {{\n        real x[VECTOR];\n        \
                 src_vector(a, r, c, x);\n        diff_dst_vector(a, r, c, t[1]);\n        const real m = {}, s = {};\n#pragma unroll\n        \
                 for (int v = 0; v < VECTOR; ++v) t[0][v] = t[1][v] * (x[v] - m) * s;\n    }}\n",
                of_row(&mean),
                of_row(&inverse)
            )
        } else {
            format!(
                "    real m[VECTOR], s[VECTOR];\n    DEVICE void begin(const Args& a, i64 c) {{\n#pragma unroll\n        for (int v = 0; v < VECTOR; ++v) {{\n            \
                 const index q[] = {{(index)(c + v)}};\n            m[v] = {mean}, s[v] = {inverse};\n        }}\n    }}\n{CHANNEL_TERMS}"
            )
        };
        let at = columns::book(program, &shape, 2, self.real)?;
        program.launches.push(shape.launch(emit, &[x, dd], &terms, Some(2), at));
        Ok(Some((at, Layout::plain([shape.parts, count].into()).map_err(|_| OVERFLOW)?)))
    }

    /// Layer normalisation backward in one pass (`rows_gradient.cu`): the source gradient, and the partial sums of [`Self::gradient_parts`]; `None` if it does not
    /// apply.
    pub(super) fn rows_and_columns(&self, program: &mut Program) -> Result<Option<(usize, Layout)>, Skip> {
        let whole = [Arg::WORKSPACE, Arg::DIFF_SRC_1].into_iter().all(|arg| self.tensor(arg).is_none());
        let own = self.share == Share::Row && !self.flags.use_global_stats && self.real == Real::Single;
        let Some(target) = self.vectors.filter(|_| whole && own) else { return Ok(None) };
        let (dims, channel) = (self.src.dims(), self.channel());
        let rows = dims[..channel].iter().product::<i64>();
        let (diff_dst, diff_src) = (tensor(self.problem, Arg::DIFF_DST)?, tensor(self.problem, Arg::DIFF_SRC)?);
        let given = [("src", Arg::SRC, self.src), ("diff_dst", Arg::DIFF_DST, diff_dst), ("diff_src", Arg::DIFF_SRC, diff_src)];
        let [Some(x), Some(dd), Some(dx)] = given.map(|(name, arg, t)| Matrix::of(name, arg, t, channel)) else { return Ok(None) };
        let (all, sizes) = ([x, dd, dx], [rows, dims[channel]]);
        let shape = Shape::of(&all, sizes, self.real, target).or_else(|| Shape::adrift(&all, sizes, self.real, target));
        let Some(shape) = shape else { return Ok(None) };
        let statistics = [self.tensor(Arg::MEAN), self.tensor(Arg::VARIANCE)].into_iter().flatten();
        if !statistics.chain(given.map(|g| g.2)).all(in_order) || !Tail::of(self.problem, Arg::DIFF_SRC, diff_src).is_plain() {
            return Ok(None);
        }
        let mut emit = Emitter::new(self.real, rows);
        let (mean, inverse) = self.given(&mut emit)?;
        let scaled = self.flags.use_scale && self.input(&mut emit, "scale", Arg::SCALE)?;
        emit.define("CENTRED", i32::from(!self.flags.rms));
        emit.code(&format!(
            "DEVICE real row_mean(const Args& a, i64 r) {{ return {}; }}\nDEVICE real row_variance(const Args& a, i64 r) {{ return variance_load(a, r); }}\n\
             DEVICE real inverse_of(real variance) {{ return {}; }}\n\
             DEVICE real factor(const Args& a, i64 c) {{\n    const index p[] = {{(index)c}};\n    return {};\n}}\n",
            of_row(&mean),
            inverse.replace("variance(a, q)", "variance"),
            if scaled { "scale(a, p)" } else { "(real)1" }
        ));
        shape.rows_gradient(emit, &all, program, target)
    }

    /// The same over the planes of channels.
    pub(super) fn plane_gradients(&self, program: &mut Program) -> Result<Option<(usize, Layout)>, Skip> {
        if self.share == Share::Row || self.flags.use_global_stats {
            return Ok(None);
        }
        let (Some((mut rows, at, partial)), Some(target)) = (self.planes(program)?, self.vectors) else { return Ok(None) };
        let (mean, inverse) = self.gradient(&mut rows.emit)?;
        let stat = self.stat();
        rows.emit.code(&format!("DEVICE real mean_of(const Args& a, const index* p) {{\n{stat}    return {mean};\n}}\n"));
        let passed = self.passed();
        rows.stages = vec![Stage::sum(format!("{passed} * (src(a, p) - mean_of(a, p))"), "x"), Stage::sum(passed, "x")];
        rows.result =
            format!("{stat}    part_0_store(a, part_0_at(a, p), s[0] * ({inverse}));\n    part_1_store(a, part_1_at(a, p), s[1]);\n");
        let diff_dst = tensor(self.problem, Arg::DIFF_DST)?;
        let inputs = [View::of("src", Arg::SRC, self.src), View::of("diff_dst", Arg::DIFF_DST, diff_dst)];
        rows.vectorised(inputs.iter().map(|view| Input::of(view, 0, true)).collect(), None, &target.facts);
        program.launches.push(rows.launch());
        Ok(Some((at, partial)))
    }

    /// Declares the source, the statistics and `gradient(a, p)`, the destination's gradient after the fused ReLU's mask. Returns the expressions of mean and
    /// reciprocal standard deviation.
    pub(super) fn gradient(&self, emit: &mut Emitter) -> Result<(String, String), Skip> {
        emit.view(&View::of("src", Arg::SRC, self.src))?;
        emit.view(&View::of("diff_dst", Arg::DIFF_DST, tensor(self.problem, Arg::DIFF_DST)?))?;
        let stats = self.given(emit)?;
        if self.tensor(Arg::WORKSPACE).is_some() {
            emit.word("const u8* positives", crate::program::Word::Address { arg: Arg::WORKSPACE, buffer: 0 });
            self.number_of(emit);
            emit.code(
                "DEVICE bool passes(const Args& a, const index* p) {\n    const i64 i = index_of(a, p);\n    \
                 return a.positives[i >> 3] >> (i & 7) & 1;\n}\n\
                 DEVICE real gradient(const Args& a, const index* p) { return passes(a, p) ? diff_dst(a, p) : (real)0; }\n",
            );
        } else {
            emit.code("DEVICE real gradient(const Args& a, const index* p) { return diff_dst(a, p); }");
        }
        Ok(stats)
    }

    /// Declares the scale and returns the factor of a gradient.
    pub(super) fn scale(&self, emit: &mut Emitter) -> Result<String, Skip> {
        let there = self.flags.use_scale && self.input(emit, "scale", Arg::SCALE)?;
        Ok(if there { format!(" * scale(a, p + {})", self.channel()) } else { String::new() })
    }

    /// The statement that stores the gradient of the second source, if there is one.
    fn added_gradient(&self, emit: &mut Emitter) -> Result<&'static str, Skip> {
        Ok(match self.tensor(Arg::DIFF_SRC_1) {
            Some(t) => {
                emit.view(&View::of("diff_added", Arg::DIFF_SRC_1, t))?;
                "    diff_added_store(a, diff_added_at(a, p), dd);\n"
            }
            None => "",
        })
    }

    /// Statements that write the gradients at `p`.
    pub(super) fn gradients(
        &self,
        emit: &mut Emitter,
        [mean, inverse]: [&str; 2],
        means: Option<[&str; 2]>,
        scale: &str,
    ) -> Result<String, Skip> {
        let added = self.added_gradient(emit)?;
        let own = match means {
            Some([mean_g, mean_gx]) => format!("(dd{scale} - {mean_g} - (src(a, p) - {mean}) * inverse * {mean_gx})"),
            None => format!("dd{scale}"),
        };
        Ok(self.stat() + &format!("    const real dd = gradient(a, p), inverse = {inverse};\n{added}    finish(a, p, {own} * inverse);\n"))
    }

    /// The source gradient with constant statistics, or from the coefficients of channels.
    pub(super) fn elements_backward(
        &self,
        program: &mut Program,
        diff_src: &Tensor,
        made: Option<([usize; 3], &Tensor)>,
    ) -> Result<(), Skip> {
        let tail = Tail::of(self.problem, Arg::DIFF_SRC, diff_src);
        let diff_dst = tensor(self.problem, Arg::DIFF_DST)?;
        let Some((places, channels)) = made else {
            let mut map = Map::over(self.real, &diff_src.layout);
            map.tail(&tail)?;
            let (mean, inverse) = self.gradient(&mut map.emit)?;
            let scale = self.scale(&mut map.emit)?;
            map.element = self.gradients(&mut map.emit, [&mean, &inverse], None, &scale)?;
            program.launches.push(map.launch());
            return Ok(());
        };
        let coefficients = ["own", "apart", "fixed"];
        // They are of channels, or of images and channels.
        let (place, own) = if channels.dims().len() == 1 { ("p + 1", "q") } else { ("p", "p") };
        let matrix = |name, arg, t| Matrix::of(name, arg, t, 1);
        let [x, d, y] =
            [matrix("src", Arg::SRC, self.src), matrix("diff_dst", Arg::DIFF_DST, diff_dst), matrix("to", Arg::DIFF_SRC, diff_src)];
        if let (Some(shape), Some(x), Some(d), Some(y)) = (self.column_rows(&[x, d, y]), x, d, y) {
            let mut emit = Emitter::new(self.real, diff_src.dims().volume().unwrap_or(i64::MAX));
            emit.tail(&tail)?;
            let (mean, _) = self.given(&mut emit)?;
            let mut once = String::new();
            for (name, at) in coefficients.into_iter().zip(places) {
                emit.view(&View::scratch(name, at, channels))?;
                once += &format!(
                    "        Vector<{name}_type, VECTOR> {name}_all;\n        {name}_all.load(a.{name}_data, {name}_at(a, {place}));\n"
                );
            }
            let each = format!(
                "{}            by_own[i] = own_all.number(i), by_apart[i] = apart_all.number(i), rest[i] = fixed_all.number(i), middle[i] = {mean};\n",
                self.stat()
            );
            let value = "            const real v = fma(x.diff_dst.number(i), by_own[i], fma(x.src.number(i) - middle[i], by_apart[i], rest[i]));\n";
            let members = ["by_own", "by_apart", "rest", "middle"];
            let elements = Elements { read: &[x, d], dst: y, layout: &diff_src.layout, members: &members, begin: [&once, &each], value };
            program.launches.push(shape.elements(emit, &elements));
            return Ok(());
        }
        let mut map = Map::over(self.real, &diff_src.layout);
        map.tail(&tail)?;
        let (mean, _) = self.gradient(&mut map.emit)?;
        map.backwards();
        for (name, at) in coefficients.into_iter().zip(places) {
            map.emit.view(&View::scratch(name, at, channels))?;
        }
        let added = self.added_gradient(&mut map.emit)?;
        let made = format!("fma(dd, own(a, {own}), fma(src(a, p) - {mean}, apart(a, {own}), fixed(a, {own})))");
        map.element = self.stat() + &format!("    const real dd = gradient(a, p);\n{added}    finish(a, p, {made});\n");
        if self.by_planes() {
            map.element = map.element.replace("gradient(a, p)", self.passed());
            let inputs = [View::of("src", Arg::SRC, self.src), View::of("diff_dst", Arg::DIFF_DST, diff_dst)];
            map.together(&View::of("dst", Arg::DIFF_SRC, diff_src), &inputs);
        }
        program.launches.push(map.launch());
        Ok(())
    }

    /// The source gradient row by row.
    fn rows_backward(&self, program: &mut Program, diff_src: &Tensor) -> Result<(), Skip> {
        let mut rows = self.rows();
        rows.emit.tail(&Tail::of(self.problem, Arg::DIFF_SRC, diff_src))?;
        let (mean, inverse) = self.gradient(&mut rows.emit)?;
        let scale = self.scale(&mut rows.emit)?;
        let mean_g = if self.flags.rms { "(real)0" } else { "ratio(x, (real)a.terms)" };
        rows.each = self.gradients(&mut rows.emit, [&mean, &inverse], Some(["s[0]", "s[1]"]), &scale)?;
        let mut normal = "normal(a, p)".to_owned();
        let mut dd = "gradient(a, p)";
        if self.share == Share::Row && self.tensor(Arg::WORKSPACE).is_none() {
            // The statistics of a row are at its position.
            let here = |text: &str| text.replace("(a, q)", "(a, p)");
            normal = format!("((src(a, p) - {}) * ({}))", here(&mean), here(&inverse));
            dd = "diff_dst(a, p)";
            rows.each = rows.each.replace("gradient(a, p)", dd);
            self.vectorise(&mut rows, &[("src", Arg::SRC), ("diff_dst", Arg::DIFF_DST)], Arg::DIFF_SRC, diff_src)?;
        } else {
            let stat = self.stat();
            rows.emit.code(&format!(
                "DEVICE real normal(const Args& a, const index* p) {{\n{stat}    return (src(a, p) - {mean}) * ({inverse});\n}}\n"
            ));
        }
        rows.stages =
            vec![Stage::sum(format!("{dd}{scale}"), mean_g), Stage::sum(format!("{dd}{scale} * {normal}"), "ratio(x, (real)a.terms)")];
        program.launches.push(rows.launch());
        Ok(())
    }
}

/// Whether a tensor is dense in the order of its dimensions: a row's statistics are then found by its index.
fn in_order(t: &Tensor) -> bool {
    Layout::plain(*t.dims()).is_ok_and(|plain| plain == t.layout)
}

/// Rewrites an expression of statistics at `q` for row `r`.
fn of_row(text: &str) -> String {
    text.replace("mean(a, q)", "mean_load(a, r)").replace("variance(a, q)", "variance_load(a, r)")
}
