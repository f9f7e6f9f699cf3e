//! Batch, layer and group normalisation, forward and backward: one algorithm over three ways to group elements.
//!
//! For layer and group normalisation a CTA reads, reduces and writes the row that shares statistics. For batch normalisation the sums of a channel are computed in
//! parts, then combined, then applied element by element (three launches), or all in one launch (`whole`).

mod backward;
mod bits;
mod groups;
mod moments;
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
use crate::emit::{Emitter, Factor, Real, Tail, View, literal, memory_order};
use crate::program::{Launch, MapPlace, OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{NormFlags, Prop};
use oxidnn_spec::{Arg, Op, Problem, Tensor};

/// Bytes of a row that a CTA can keep in registers, at most.
const LARGEST_ROW: i64 = 96 * 1024;

/// `struct Terms` of `columns.cu`: the source's elements.
const OWN_TERMS: &str = "    DEVICE void begin(const Args&, i64) {}\n    DEVICE void at(const Args& a, i64 r, i64 c, real (&t)[1][VECTOR]) { src_vector(a, r, c, t[0]); }\n";

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
                map.emit.view(&View::scratch("known_inverse", at, &channels))?;
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
            *at = program.book(channels.bytes())?;
        }
        if !self.moments(program, places, &channels)? {
            self.two_sums(program, places, &channels)?;
        }
        self.elements_forward(program, dst, (places, &channels))
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
        let at = program.book(channels.bytes())?;
        let mut map = Map::over(self.real, &channels.layout);
        let (_, inverse) = self.given(&mut map.emit)?;
        map.written(&View::scratch("known_inverse", at, channels))?;
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
            emit.view(&View::scratch(name, at, stats))?;
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
            map.emit.view(&View::scratch(name, at, stats))?;
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
}
