//! Batch, layer and group normalisation, forward and backward: one algorithm over three ways to group elements.
//!
//! For layer and group normalisation a CTA reads, reduces and writes the row that shares statistics. For batch normalisation the sums of a channel are computed in
//! parts, then combined, then applied element by element (three launches), or all in one launch (`whole`).

mod bits;
mod groups;
mod sums;
mod whole;

use super::columns::{self, Elements, Matrix, Shape};
use super::map::{Map, merged_behind};
use super::pointwise::tensor;
use super::reductions::aligned;
use super::rows::{Rows, Stage};
use super::rows_vector::Input;
use super::zero;
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Place, Real, Tail, View, literal, memory_order};
use crate::program::{Launch, MapPlace, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{NormFlags, Prop};
use oxidnn_spec::{Arg, Layout, Op, Problem, Tensor};

const OVERFLOW: Skip = Skip::Shape("sizes that overflow");

/// Bytes of a row that a CTA can keep in registers, at most.
const LARGEST_ROW: i64 = 96 * 1024;

/// `struct Terms` of `columns.cu`: the source's elements.
const OWN_TERMS: &str = "    DEVICE void begin(const Args&, i64) {}\n    DEVICE void at(const Args& a, i64 r, i64 c, real (&t)[1][VECTOR]) { src_vector(a, r, c, t[0]); }\n";

/// The same of gradients, with the means `m` and reciprocal standard deviations `s` of columns: those of `d x^`, and of the destination gradient `d`.
const CHANNEL_TERMS: &str = "    DEVICE void at(const Args& a, i64 r, i64 c, real (&t)[2][VECTOR]) {\n        real x[VECTOR];\n        \
     src_vector(a, r, c, x);\n        diff_dst_vector(a, r, c, t[1]);\n#pragma unroll\n        \
     for (int v = 0; v < VECTOR; ++v) t[0][v] = t[1][v] * (x[v] - m[v]) * s[v];\n    }\n";

/// Which elements share a mean and a variance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Share {
    /// Those of a channel (dim 1).
    Channel,
    /// Those of a row of the last dimension.
    Row,
    /// Those of a batch item and a group of this many channels.
    Group(i64),
}

/// A normalisation.
struct Norm<'a> {
    problem: &'a Problem,
    real: Real,
    share: Share,
    prop: Prop,
    flags: NormFlags,
    epsilon: f64,
    src: &'a Tensor,
    /// The GPU, if vector accesses are allowed.
    vectors: Option<&'a CudaTarget>,
}

/// Batch, layer and group normalisation.
pub(crate) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let flat = flattened(problem);
    aligned(|vectors| lower_by(flat.as_ref().unwrap_or(problem), vectors.then_some(target)))
}

/// The problem with the spatial dimensions merged to one, if they are contiguous in every tensor: vectors can then span rows of an image.
fn flattened(problem: &Problem) -> Option<Problem> {
    matches!(problem.op, Op::BatchNorm(_) | Op::GroupNorm(_)).then(|| merged_behind(problem, Arg::SRC, 2))?
}

fn lower_by(problem: &Problem, vectors: Option<&CudaTarget>) -> Result<Program, Skip> {
    let (share, prop, flags, epsilon, src) = match &problem.op {
        Op::BatchNorm(op) => (Share::Channel, op.prop, op.flags, op.epsilon, &op.src),
        Op::LayerNorm(op) => (Share::Row, op.prop, op.flags, op.epsilon, &op.src),
        Op::GroupNorm(op) => (Share::Group((op.src.dims()[1] / op.groups.max(1)).max(1)), op.prop, op.flags, op.epsilon, &op.src),
        _ => return Err(Skip::Op("anything but normalisations")),
    };
    let norm = Norm { problem, real: Real::of(problem), share, prop, flags, epsilon: f64::from(epsilon.get()), src, vectors };
    let mut program = Program::default();
    if src.is_empty() {
        for arg in [Arg::DIFF_SCALE, Arg::DIFF_SHIFT] {
            if let Some(t) = problem.op.tensor(arg) {
                zero::all(&mut program, arg, t)?;
            }
        }
        return Ok(program);
    }
    if prop.is_forward() {
        norm.forward(&mut program)?
    } else {
        norm.backward(&mut program)?
    }
    Ok(program)
}

impl Norm<'_> {
    fn tensor(&self, arg: Arg) -> Option<&Tensor> {
        self.problem.op.tensor(arg)
    }

    /// The dimension of scale and shift.
    fn channel(&self) -> usize {
        if self.share == Share::Row { self.src.dims().len() - 1 } else { 1 }
    }

    /// Statements that compute `q`, the position in mean and variance for position `p`.
    fn stat(&self) -> String {
        match self.share {
            Share::Channel => "    const index q[] = {p[1]};\n".into(),
            Share::Row => "    const index* q = p;\n".into(),
            Share::Group(channels) => format!("    const index q[] = {{p[0], (index)(p[1] / {channels})}};\n"),
        }
    }

    /// A reduction over the elements that share statistics.
    fn rows(&self) -> Rows {
        let layout = &self.src.layout;
        let (dims, n) = (&layout.dims, layout.ndims());
        match self.share {
            Share::Channel => Rows::over(self.real, layout, |d| d == 1),
            Share::Row => Rows::over(self.real, layout, |d| d + 1 != n),
            Share::Group(channels) => {
                let mut sizes = dims.to_vec();
                sizes[1] = channels;
                sizes.push(dims[1] / channels);
                let inner: Vec<usize> = memory_order(layout).into_iter().filter(|&d| d != 0).collect();
                let terms = inner.iter().fold(1i64, |n, &d| n.saturating_mul(sizes[d]));
                let outputs = sizes[0].saturating_mul(sizes[n]);
                let mut emit = Emitter::new(self.real, terms.saturating_mul(outputs));
                emit.define("RANK", n);
                emit.traversal("output", &sizes, &[0, n]);
                emit.traversal("inner", &sizes, &inner);
                emit.code(&format!(
                    "DEVICE void row_term(const Args& a, index r, index* p) {{\n    inner(a, r, p);\n    p[1] += p[{n}] * {channels};\n}}\n"
                ));
                let rows = Rows::with(emit, [outputs, terms], false);
                let along = inner.iter().rev().find(|&&d| sizes[d] > 1).filter(|&&d| d != 1);
                match along {
                    Some(&d) => rows.along(d, sizes[d]),
                    None => rows,
                }
            }
        }
    }

    /// The gradient of a parameter, if requested.
    fn wanted(&self, arg: Arg) -> Option<&Tensor> {
        self.tensor(arg).filter(|_| self.prop == Prop::Backward)
    }

    /// Declares an argument if the problem has it, and returns whether it does.
    fn input(&self, emit: &mut Emitter, name: &str, arg: Arg) -> Result<bool, Skip> {
        match self.tensor(arg) {
            Some(t) => emit.view(&View::of(name, arg, t)).map(|()| true),
            None => Ok(false),
        }
    }

    /// Forward passes.
    fn forward(&self, program: &mut Program) -> Result<(), Skip> {
        let dst = tensor(self.problem, Arg::DST)?;
        if !self.flags.use_global_stats && self.whole_forward(program, dst)? {
            return self.clear_statistics(program);
        }
        if let Some(ws) = self.tensor(Arg::WORKSPACE).filter(|_| self.flags.use_global_stats || !self.has_bits_by_elements()) {
            zero::all(program, Arg::WORKSPACE, ws)?;
        }
        if self.flags.use_global_stats {
            if let Some(launch) = self.given_by_columns(dst)? {
                program.launches.push(launch);
                return Ok(());
            }
            let mut map = Map::over(self.real, &dst.layout);
            map.tail(&Tail::of(self.problem, Arg::DST, dst))?;
            let (mean, mut inverse) = self.given(&mut map.emit)?;
            if self.spans_channels() {
                let channels = Tensor::plain([self.src.dims()[1]], self.real.dtype()).map_err(|_| OVERFLOW)?;
                let at = self.inverses(program, &channels)?;
                map.emit.view(&scratch("known_inverse", at, &channels))?;
                inverse = "known_inverse(a, q)".into();
            }
            map.element = self.applied(&mut map.emit, &mean, &inverse, false)?;
            if self.by_lanes() {
                map.together(&View::of("dst", Arg::DST, dst), &[View::of("src", Arg::SRC, self.src)]);
            }
            program.launches.push(map.launch());
            return Ok(());
        }
        match self.share {
            Share::Channel => self.batch_forward(program, dst)?,
            Share::Group(channels) if self.group_forward(program, dst, channels)? => {}
            _ => {
                program.launches.push(self.rows_forward(dst)?.launch());
                zero::padding(program, Arg::DST, dst)?;
            }
        }
        self.clear_statistics(program)
    }

    /// Zeroes the padding of the statistics.
    fn clear_statistics(&self, program: &mut Program) -> Result<(), Skip> {
        for arg in [Arg::MEAN, Arg::VARIANCE] {
            if let Some(t) = self.tensor(arg) {
                zero::padding(program, arg, t)?;
            }
        }
        Ok(())
    }

    /// One launch that reduces and writes rows.
    fn rows_forward(&self, dst: &Tensor) -> Result<Rows, Skip> {
        let mut rows = self.rows();
        rows.emit.tail(&Tail::of(self.problem, Arg::DST, dst))?;
        let variance = if self.flags.rms { 0 } else { 1 };
        let mean = if self.flags.rms { "(real)0" } else { "s[0]" };
        rows.stages = self.statistics(mean);
        let kept = self.kept(&mut rows.emit, mean, &format!("s[{variance}]"))?;
        rows.result = self.stat() + &kept;
        if let Share::Group(channels) = self.share {
            // In `result` the group is stored after the dimensions of `p`.
            rows.result = rows.result.replace(&format!("p[1] / {channels}"), &format!("p[{}]", self.src.dims().len()));
        }
        rows.ready = format!("    const real row_inverse = inverse_root(s[{variance}] + {});\n", literal(self.epsilon));
        rows.each = self.applied(&mut rows.emit, mean, "row_inverse", false)?;
        self.vectorise(&mut rows, &[("src", Arg::SRC)], Arg::DST, dst)?;
        Ok(rows)
    }

    /// Allows vector accesses: to the tensors of `data`, which are kept in registers, and to scale and shift if they vary along the row.
    fn vectorise(&self, rows: &mut Rows, data: &[(&str, Arg)], arg: Arg, dst: &Tensor) -> Result<(), Skip> {
        let whole = self.tensor(Arg::WORKSPACE).is_none() && self.tensor(Arg::SRC_1).is_none() && self.tensor(Arg::DIFF_SRC_1).is_none();
        let Some(target) = self.vectors.filter(|_| whole) else { return Ok(()) };
        let mut inputs = Vec::new();
        for (name, arg) in data {
            inputs.push(Input::of(&View::of(name, *arg, tensor(self.problem, *arg)?), 0, true));
        }
        if self.share == Share::Row {
            for (name, arg, used) in [("scale", Arg::SCALE, self.flags.use_scale), ("shift", Arg::SHIFT, self.flags.use_shift)] {
                if let Some(t) = self.tensor(arg).filter(|_| used) {
                    inputs.push(Input::of(&View::of(name, arg, t), self.channel(), false));
                }
            }
        }
        rows.vectorised(inputs, Some(Input::of(&View::of("dst", arg, dst), 0, false)), &target.facts);
        Ok(())
    }

    /// The stages for mean and variance; RMS has no mean.
    fn statistics(&self, mean: &str) -> Vec<Stage> {
        let square = format!("(src(a, p) - {mean}) * (src(a, p) - {mean})");
        let mut stages = vec![Stage::sum("src(a, p)", "ratio(x, (real)a.terms)"), Stage::sum(square, "ratio(x, (real)a.terms)")];
        if self.flags.rms {
            stages.remove(0);
        }
        stages
    }

    /// Statements that store the computed statistics that the problem has as outputs.
    fn kept(&self, emit: &mut Emitter, mean: &str, variance: &str) -> Result<String, Skip> {
        let mut text = String::new();
        if !self.flags.rms && self.input(emit, "mean", Arg::MEAN)? {
            text += &format!("    mean_store(a, mean_at(a, q), {mean});\n");
        }
        if self.input(emit, "variance", Arg::VARIANCE)? {
            text += &format!("    variance_store(a, variance_at(a, q), {variance});\n");
        }
        Ok(text)
    }

    /// Expressions of the given mean and of the reciprocal of the given standard deviation at position `q`.
    fn given(&self, emit: &mut Emitter) -> Result<(String, String), Skip> {
        let mean = if !self.flags.rms && self.input(emit, "mean", Arg::MEAN)? { "mean(a, q)" } else { "(real)0" };
        if !self.input(emit, "variance", Arg::VARIANCE)? {
            return Err(Skip::Op("a normalisation without its variances"));
        }
        Ok((mean.into(), format!("inverse_root(variance(a, q) + {})", literal(self.epsilon))))
    }

    /// Statements that normalise the element at `p`. The bit of a fused ReLU's mask is passed to `keep` if `bits`, else set in the workspace by an atomic.
    fn applied(&self, emit: &mut Emitter, mean: &str, inverse: &str, bits: bool) -> Result<String, Skip> {
        let (channel, flags) = (self.channel(), self.flags);
        emit.view(&View::of("src", Arg::SRC, self.src))?;
        emit.factor(&Factor::scale("factor", &self.problem.attr, Arg::SRC, self.src.dims()));
        let scale =
            if self.input(emit, "scale", Arg::SCALE)? && flags.use_scale { format!(" * scale(a, p + {channel})") } else { String::new() };
        let shift =
            if self.input(emit, "shift", Arg::SHIFT)? && flags.use_shift { format!(" + shift(a, p + {channel})") } else { String::new() };
        let added = if self.input(emit, "added", Arg::SRC_1)? && flags.fuse_add_relu { " + added(a, p)" } else { "" };
        let mut text = self.stat() + &format!("    real v = (src(a, p) - {mean}) * ({inverse}){scale}{shift}{added};\n");
        if flags.fuse_relu || flags.fuse_add_relu {
            text.push_str("    const bool positive = !(v <= 0);\n    v = positive ? v : (real)0;\n");
            if bits {
                text.push_str("    keep(positive);\n");
            } else if self.tensor(Arg::WORKSPACE).is_some() {
                emit.word("u64 positives", crate::program::Word::Address { arg: Arg::WORKSPACE, buffer: 0 });
                self.number_of(emit);
                text.push_str(
                    "    if (positive) {\n        const i64 i = index_of(a, p);\n        const u64 byte = a.positives + i / 8;\n        \
                     atomicOr((u32*)(byte & ~3ull), 1u << ((byte & 3) * 8 + i % 8));\n    }\n",
                );
            }
        }
        text.push_str("    finish(a, p, v * factor(a, p));\n");
        Ok(text)
    }

    /// Batch normalisation forward: statistics, then elements.
    fn batch_forward(&self, program: &mut Program, dst: &Tensor) -> Result<(), Skip> {
        let channels = Tensor::plain([self.src.dims()[1]], self.real.dtype()).map_err(|_| OVERFLOW)?;
        let mut places = [0; 2];
        for at in &mut places {
            *at = program.book(channels.bytes()).ok_or(OVERFLOW)?;
        }
        if !self.moments(program, places, &channels)? {
            self.two_sums(program, places, &channels)?;
        }
        self.elements_forward(program, dst, (places, &channels))
    }

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
    fn group_forward(&self, program: &mut Program, dst: &Tensor, channels: i64) -> Result<bool, Skip> {
        let Some((at, [parts, rows_of_part])) = self.group_parts(program, channels)? else { return Ok(false) };
        let (images, count) = (self.src.dims()[0], self.src.dims()[1]);
        let all = Tensor::plain([images, count], self.real.dtype()).map_err(|_| OVERFLOW)?;
        let mut places = [0; 2];
        for at in &mut places {
            *at = program.book(all.bytes()).ok_or(OVERFLOW)?;
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
        rows.emit.view(&scratch("own_mean", places[0], &all))?;
        rows.emit.view(&scratch("own_inverse", places[1], &all))?;
        rows.each = format!(
            "    if (p[1] != 0) return;\n    const index q[] = {{p[0], (index)(p[2] * {channels} + p[3])}};\n    own_mean_store(a, own_mean_at(a, q), s[0]);\n    \
             own_inverse_store(a, own_inverse_at(a, q), inverse_root(s[1] + {}));\n",
            literal(self.epsilon)
        );
        program.launches.push(rows.launch());
        self.elements_forward(program, dst, (places, &all))?;
        Ok(true)
    }

    /// The configuration for matrices of pixels by contiguous channels; for group normalisation no part spans two images.
    fn column_rows(&self, all: &[Option<Matrix<'_>>]) -> Option<Shape> {
        let target = self.vectors.filter(|_| self.by_lanes())?;
        let all = all.iter().copied().collect::<Option<Vec<_>>>()?;
        let dims = self.src.dims();
        let (images, count, pixels) = (dims[0], dims[1], dims[2..].iter().product::<i64>());
        match self.share {
            Share::Channel => {
                let sizes = [images.checked_mul(pixels)?, count];
                Shape::on(columns::blocks_of(all.len()), &all, sizes, self.real, target).map(Shape::in_turns)
            }
            Share::Group(_) => Shape::of_images(&all, [images, pixels, count], self.real, target),
            Share::Row => None,
        }
    }

    /// Whether vectors along the pixels of a channel would span two of them, so that each element has its own channel.
    fn spans_channels(&self) -> bool {
        let pixels = self.src.dims().last().copied().unwrap_or(1);
        self.share == Share::Channel && self.vectors.is_some() && self.by_planes() && pixels % 8 != 0 && pixels >= 64
    }

    /// The launch that computes the reciprocal standard deviations of channels from the given variances; their place.
    fn inverses(&self, program: &mut Program, channels: &Tensor) -> Result<usize, Skip> {
        let at = program.book(channels.bytes()).ok_or(OVERFLOW)?;
        let mut map = Map::over(self.real, &channels.layout);
        let (_, inverse) = self.given(&mut map.emit)?;
        map.written(&scratch("known_inverse", at, channels))?;
        map.element = format!("    known_inverse_store(a, known_inverse_at(a, p), {});\n", inverse.replace("(a, q)", "(a, p)"));
        program.launches.push(map.launch());
        Ok(at)
    }

    /// The launch that normalises the elements of pixels by contiguous channels, with the given statistics; `None` for other layouts.
    fn given_by_columns(&self, dst: &Tensor) -> Result<Option<Launch>, Skip> {
        let mut emit = Emitter::new(self.real, dst.dims().volume().unwrap_or(i64::MAX));
        let (mean, inverse) = self.given(&mut emit)?;
        // `mean` is also an array of coefficients.
        let [mean, inverse] = [mean, inverse].map(|text| text.replace("mean(a", "::mean(a"));
        self.by_columns(emit, dst, ["", &format!("            {}", self.stat().trim_start()), &mean, &inverse])
    }

    /// The launch of `columns_map.cu`: statements once, statements per column, and the column's mean and reciprocal standard deviation.
    fn by_columns(&self, mut emit: Emitter, dst: &Tensor, [once, prepare, mean, inverse]: [&str; 4]) -> Result<Option<Launch>, Skip> {
        let (x, y) = (Matrix::of("src", Arg::SRC, self.src, 1), Matrix::of("to", Arg::DST, dst, 1));
        let (Some(shape), Some(x), Some(y)) = (self.column_rows(&[x, y]), x, y) else { return Ok(None) };
        emit.tail(&Tail::of(self.problem, Arg::DST, dst))?;
        let flags = [(Arg::SCALE, self.flags.use_scale), (Arg::SHIFT, self.flags.use_shift)];
        let [scaled, shifted] = flags.map(|(arg, used)| used && self.tensor(arg).is_some());
        for (name, arg, used) in [("scale", Arg::SCALE, scaled), ("shift", Arg::SHIFT, shifted)] {
            if used {
                self.input(&mut emit, name, arg)?;
            }
        }
        let each = format!(
            "{prepare}            mean[i] = {mean}, factor[i] = {inverse}{}, shift_by[i] = {};\n",
            if scaled { " * scale(a, p + 1)" } else { "" },
            if shifted { "shift(a, p + 1)" } else { "(real)0" }
        );
        let relu = if self.flags.fuse_relu { "            v = !(v <= 0) ? v : (real)0;\n" } else { "" };
        let value = format!("            real v = fma(x.src.number(i) - mean[i], factor[i], shift_by[i]);\n{relu}");
        let members = ["mean", "factor", "shift_by"];
        let elements = Elements { read: &[x], dst: y, layout: &dst.layout, members: &members, begin: [once, &each], value: &value };
        Ok(Some(shape.elements(emit, &elements)))
    }

    /// Appends the launch that normalises the elements, with mean and reciprocal standard deviation at `places` per channel, or per image and channel.
    fn elements_forward(&self, program: &mut Program, dst: &Tensor, (places, stats): ([usize; 2], &Tensor)) -> Result<(), Skip> {
        let tail = Tail::of(self.problem, Arg::DST, dst);
        let own = if stats.dims().len() == 1 { "p + 1" } else { "p" };
        let mut emit = Emitter::new(self.real, dst.dims().volume().unwrap_or(i64::MAX));
        for (name, at) in ["computed_mean", "computed_inverse"].into_iter().zip(places) {
            emit.view(&scratch(name, at, stats))?;
        }
        let once = format!(
            "        Vector<computed_mean_type, VECTOR> m, s;\n        m.load(a.computed_mean_data, computed_mean_at(a, {own}));\n        \
             s.load(a.computed_inverse_data, computed_inverse_at(a, {own}));\n"
        );
        if let Some(launch) = self.by_columns(emit, dst, [&once, "", "m.number(i)", "s.number(i)"])? {
            program.launches.push(launch);
            return Ok(());
        }
        let mut map = Map::over(self.real, &dst.layout);
        map.tail(&tail)?;
        if self.share == Share::Channel {
            map.backwards();
        }
        for (name, at) in ["computed_mean", "computed_inverse"].into_iter().zip(places) {
            map.emit.view(&scratch(name, at, stats))?;
        }
        let bits = self.has_bits_by_elements();
        map.element = self.applied(&mut map.emit, &format!("computed_mean(a, {own})"), &format!("computed_inverse(a, {own})"), bits)?;
        if bits {
            map.keeps_bits(Arg::WORKSPACE);
        }
        if self.by_planes() {
            map.together(&View::of("dst", Arg::DST, dst), &[View::of("src", Arg::SRC, self.src)]);
        }
        let mut launch = map.launch();
        if bits {
            launch.aligned = [Arg::SRC, Arg::DST, Arg::WORKSPACE].map(|arg| MapPlace::Arg(arg, 0)).into();
        }
        program.launches.push(launch);
        Ok(())
    }

    /// Whether elements can be processed in vectors: no ReLU mask, no second source, no scale of the source.
    fn by_lanes(&self) -> bool {
        self.tensor(Arg::WORKSPACE).is_none() && self.has_own_elements()
    }

    /// Whether elements can be processed in vectors along the pixels of a channel.
    fn by_planes(&self) -> bool {
        (self.by_lanes() || self.has_bits_by_elements()) && self.has_planes()
    }

    fn has_planes(&self) -> bool {
        let last = self.src.dims().len() - 1;
        last > 1 && self.src.dims()[last] > 1 && self.src.blocking().is_some_and(|b| b.is_plain() && b.strides[last] == 1)
    }

    /// A reduction over the planes of channels, if there are enough of them for the GPU, with place and layout of two results per image and channel.
    fn planes(&self, program: &mut Program) -> Result<Option<(Rows, usize, Layout)>, Skip> {
        let dims = self.src.dims();
        let few = self.vectors.is_none_or(|t| dims[0] * dims[1] < 2 * i64::from(t.facts.multiprocessors));
        if few || !self.by_planes() {
            return Ok(None);
        }
        let partial = Layout::plain([dims[0], dims[1]].into()).map_err(|_| OVERFLOW)?;
        let both = Tensor::plain([2, dims[0], dims[1]], self.real.dtype()).map_err(|_| OVERFLOW)?;
        let at = program.book(both.bytes()).ok_or(OVERFLOW)?;
        let mut rows = Rows::over(self.real, &self.src.layout, |d| d < 2);
        for (i, name) in ["part_0", "part_1"].into_iter().enumerate() {
            rows.emit.view(&columns::part_view(name, at, i as i64, &partial, self.real))?;
        }
        Ok(Some((rows, at, partial)))
    }

    /// Statements that store mean `s[0]` and variance `s[1]` of a channel as outputs if requested, and mean and reciprocal standard deviation for the elements.
    fn keep_moments(&self, emit: &mut Emitter, places: [usize; 2], channels: &Tensor) -> Result<String, Skip> {
        emit.view(&scratch("kept_mean", places[0], channels))?;
        emit.view(&scratch("kept_inverse", places[1], channels))?;
        let mut text = format!(
            "    kept_mean_store(a, kept_mean_at(a, p + 1), s[0]);\n    \
             kept_inverse_store(a, kept_inverse_at(a, p + 1), inverse_root(s[1] + {}));\n",
            literal(self.epsilon)
        );
        for (i, (name, arg)) in [("mean", Arg::MEAN), ("variance", Arg::VARIANCE)].into_iter().enumerate() {
            if self.input(emit, name, arg)? {
                text += &format!("    {name}_store(a, {name}_at(a, p + 1), s[{i}]);\n");
            }
        }
        Ok(text)
    }

    /// Moments (mean and sum of squared differences) of parts of contiguous channels in one pass; `None` for other layouts.
    fn column_moments(&self, program: &mut Program) -> Result<Option<(usize, Layout, Option<Shape>)>, Skip> {
        let count = self.src.dims()[1];
        let n = self.src.dims().volume().unwrap_or(0) / count.max(1);
        let Some(target) = self.vectors else { return Ok(None) };
        let Some(matrix) = Matrix::of("src", Arg::SRC, self.src, 1) else { return Ok(None) };
        let Some(shape) = Shape::on(columns::blocks_of(1), &[matrix], [n, count], self.real, target).map(Shape::in_turns) else {
            return Ok(None);
        };
        let at = columns::book(program, &shape, 2, self.real)?;
        program.launches.push(shape.launch(Emitter::new(self.real, n), &[matrix], OWN_TERMS, None, at));
        let partial = Layout::plain([shape.parts, count].into()).map_err(|_| OVERFLOW)?;
        Ok(Some((at, partial, Some(shape))))
    }

    /// The same with the planes of each channel as parts.
    fn plane_moments(&self, program: &mut Program) -> Result<Option<(usize, Layout, Option<Shape>)>, Skip> {
        let (Some((mut rows, at, partial)), Some(target)) = (self.planes(program)?, self.vectors) else { return Ok(None) };
        rows.emit.view(&View::of("src", Arg::SRC, self.src))?;
        rows.stages = vec![Stage::sum("src(a, p)", "ratio(x, (real)a.terms)"), Stage::sum("(src(a, p) - s[0]) * (src(a, p) - s[0])", "x")];
        rows.result = "    part_0_store(a, part_0_at(a, p), s[0]);\n    part_1_store(a, part_1_at(a, p), s[1]);\n".into();
        rows.vectorised(vec![Input::of(&View::of("src", Arg::SRC, self.src), 0, true)], None, &target.facts);
        program.launches.push(rows.launch());
        Ok(Some((at, partial, None)))
    }

    /// Means and variances of channels from the moments of parts (Chan, Golub and LeVeque, 1983); false if it does not apply.
    fn moments(&self, program: &mut Program, places: [usize; 2], channels: &Tensor) -> Result<bool, Skip> {
        let parts = match self.column_moments(program)? {
            None => self.plane_moments(program)?,
            some => some,
        };
        let Some((at, partial, shape)) = parts else { return Ok(false) };
        let n = self.src.dims().volume().unwrap_or(0) / channels.dims()[0].max(1);
        let mut rows = Rows::over(self.real, &partial, |d| d == 1);
        for (i, name) in ["part_mean", "part_square"].into_iter().enumerate() {
            rows.emit.view(&columns::part_view(name, at, i as i64, &partial, self.real))?;
        }
        let own = match shape {
            Some(shape) => {
                shape.count(&mut rows.emit);
                "rows_of(a, p[0])"
            }
            None => {
                rows.emit.number("pixels", self.src.dims()[2..].iter().product());
                "(real)a.pixels"
            }
        };
        rows.emit.real_number("count_of_terms", n as f64);
        let close = "ratio(x, (real)a.count_of_terms)";
        let apart = "(part_mean(a, p) - s[0])";
        rows.stages = vec![
            Stage::sum(format!("{own} * part_mean(a, p)"), close),
            Stage::sum(format!("part_square(a, p) + {own} * {apart} * {apart}"), close),
        ];
        rows.result = self.keep_moments(&mut rows.emit, places, channels)?;
        program.launches.push(rows.launch());
        Ok(true)
    }

    /// The same in two passes: means, then sums of squared differences.
    fn two_sums(&self, program: &mut Program, places: [usize; 2], channels: &Tensor) -> Result<(), Skip> {
        let n = self.src.dims().volume().unwrap_or(0) / self.src.dims()[1].max(1);
        for i in 0..2 {
            let declare = |emit: &mut Emitter| -> Result<(), Skip> {
                emit.view(&View::of("src", Arg::SRC, self.src))?;
                if i == 1 { emit.view(&scratch("computed_mean", places[0], channels)) } else { Ok(()) }
            };
            let term = if i == 0 { "src(a, p)" } else { "(src(a, p) - computed_mean(a, p + 1)) * (src(a, p) - computed_mean(a, p + 1))" };
            self.channel_sum(program, 1, term, declare, |emit| {
                emit.real_number("count_of_terms", n as f64);
                let value = "    const real v = s[0] / (real)a.count_of_terms;\n";
                emit.view(&scratch("kept", places[i], channels))?;
                let (name, arg) = if i == 0 { ("mean", Arg::MEAN) } else { ("variance", Arg::VARIANCE) };
                let also =
                    if self.input(emit, name, arg)? { format!("    {name}_store(a, {name}_at(a, p + 1), v);\n") } else { String::new() };
                let kept = if i == 0 { "v".to_owned() } else { format!("inverse_root(v + {})", literal(self.epsilon)) };
                Ok(format!("{value}    kept_store(a, kept_at(a, p + 1), {kept});\n{also}"))
            })?;
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
    fn rows_and_columns(&self, program: &mut Program) -> Result<Option<(usize, Layout)>, Skip> {
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
    fn plane_gradients(&self, program: &mut Program) -> Result<Option<(usize, Layout)>, Skip> {
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

    /// Backward passes. With `x^ = (src - mean) / sigma` and `g = scale * dd`: `diff_src = (g - mean(g) - x^ mean(g x^)) / sigma`; without the means if the
    /// statistics are constants, and without the first of them for RMS. Parameter gradients are computed first, since the source gradient may overwrite the
    /// inputs.
    fn backward(&self, program: &mut Program) -> Result<(), Skip> {
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
            *at = program.book(sums.bytes()).ok_or(OVERFLOW)?;
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

    /// Declares the source, the statistics and `gradient(a, p)`, the destination's gradient after the fused ReLU's mask. Returns the expressions of mean and
    /// reciprocal standard deviation.
    fn gradient(&self, emit: &mut Emitter) -> Result<(String, String), Skip> {
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
    fn scale(&self, emit: &mut Emitter) -> Result<String, Skip> {
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
    fn gradients(&self, emit: &mut Emitter, [mean, inverse]: [&str; 2], means: Option<[&str; 2]>, scale: &str) -> Result<String, Skip> {
        let added = self.added_gradient(emit)?;
        let own = match means {
            Some([mean_g, mean_gx]) => format!("(dd{scale} - {mean_g} - (src(a, p) - {mean}) * inverse * {mean_gx})"),
            None => format!("dd{scale}"),
        };
        Ok(self.stat() + &format!("    const real dd = gradient(a, p), inverse = {inverse};\n{added}    finish(a, p, {own} * inverse);\n"))
    }

    /// The source gradient with constant statistics, or from the coefficients of channels.
    fn elements_backward(&self, program: &mut Program, diff_src: &Tensor, made: Option<([usize; 3], &Tensor)>) -> Result<(), Skip> {
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
                emit.view(&scratch(name, at, channels))?;
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
            map.emit.view(&scratch(name, at, channels))?;
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

/// A tensor in scratch.
fn scratch<'a>(name: &'a str, at: usize, tensor: &'a Tensor) -> View<'a> {
    View { name, place: Place::Scratch(at), dtype: tensor.dtype, layout: &tensor.layout, padded: false }
}
