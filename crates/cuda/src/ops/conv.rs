//! Convolution and deconvolution by the generic products (`tiles:generic`), in all directions: implicit GEMM with accessors that compute positions.
//!
//! A filter relates a small grid of pixels to a large one: `large = small * stride - padding + tap * dilation`. A convolution reads the large grid and writes
//! the small one, a deconvolution the reverse; their backward-data passes are the opposite.

use super::map::Map;
use super::pointwise::tensor;
use super::products::{Products, Sizes, Sum};
use super::rows::{Rows, Stage};
use super::zero;
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Place, Real, Tail, View, memory_order};
use crate::program::{OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Conv, ConvSizes};
use oxidnn_spec::{Arg, Layout, Op, PostOp, Problem, Prop, Tensor};

/// A forward or backward-data pass.
#[derive(Clone, Copy)]
struct Way {
    /// Forward.
    forward: bool,
    /// The large grid is read.
    from_large: bool,
    /// Channels of a group: summed over, and output.
    given: i64,
    made: i64,
}

/// A convolution or deconvolution.
struct Pass<'a> {
    problem: &'a Problem,
    prop: Prop,
    sizes: ConvSizes,
    /// The large grid is that of the input (convolution).
    input_is_large: bool,
    src: &'a Tensor,
    weights: &'a Tensor,
    bias: Option<&'a Tensor>,
    dst: &'a Tensor,
}

/// Convolution in all directions; forward also with a fused depthwise convolution after it.
pub(crate) fn conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    let pass = Pass {
        problem,
        prop: op.prop,
        sizes: op.sizes(),
        input_is_large: true,
        src: &op.src,
        weights: &op.weights,
        bias: op.bias.as_ref(),
        dst: &op.dst,
    };
    match problem.attr.depthwise_index() {
        Some(index) if op.prop.is_forward() => pass.with_depthwise(op, index, target),
        _ => pass.lower(target),
    }
}

/// Deconvolution in all directions.
pub(crate) fn deconv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Deconv(op) = &problem.op else { return Err(Skip::Op("anything but deconvolutions")) };
    let pass = Pass {
        problem,
        prop: op.prop,
        sizes: op.sizes(),
        input_is_large: false,
        src: &op.src,
        weights: &op.weights,
        bias: op.bias.as_ref(),
        dst: &op.dst,
    };
    pass.lower(target)
}

/// Appends the bias gradient: sums of diff_dst per channel.
pub(crate) fn bias_gradient(program: &mut Program, problem: &Problem, diff_dst: &Tensor, bias: &Tensor) -> Result<(), Skip> {
    if bias.is_empty() {
        return Ok(());
    }
    let mut rows = Rows::over(Real::of(problem), &diff_dst.layout, |d| d == 1);
    rows.emit.view(&View::of("diff_dst", Arg::DIFF_DST, diff_dst))?;
    rows.emit.view(&View::of("bias", Arg::DIFF_BIAS, bias))?;
    rows.stages = vec![Stage::sum("diff_dst(a, p)", "x")];
    rows.result = "    bias_store(a, bias_at(a, p + 1), s[0]);\n".into();
    program.launches.push(rows.launch());
    zero::padding(program, Arg::DIFF_BIAS, bias)
}

/// Whether channels are the fastest dimension.
fn channels_last(layout: &Layout) -> bool {
    memory_order(layout).last() == Some(&1)
}

/// The indices of the spatial dimensions, to append to those of batch and channel.
fn spatial(positions: [&str; 3], spatial: usize) -> String {
    positions[3 - spatial..].iter().map(|p| format!(", {p}")).collect()
}

impl Pass<'_> {
    fn lower(&self, target: &CudaTarget) -> Result<Program, Skip> {
        match self.prop {
            Prop::BackwardData => {
                let tail = Tail::of(self.problem, Arg::DIFF_SRC, self.src);
                self.data(false, &tail, target)
            }
            Prop::BackwardWeights => self.weights_gradient(target),
            _ => {
                let tail = Tail::of(self.problem, Arg::DST, self.dst);
                self.data(true, &tail, target)
            }
        }
    }

    fn spatial(&self) -> usize {
        self.src.dims().len() - 2
    }

    /// Declares strides, padding, dilation and the sizes of both grids.
    fn geometry(&self, emit: &mut Emitter) {
        let z = &self.sizes;
        let (small, large) = if self.input_is_large { (z.o, z.i) } else { (z.i, z.o) };
        // For a dimension of one position the stride is irrelevant, and may exceed the kernel's type of positions.
        let stride = std::array::from_fn(|d| if small[d] == 1 { 1 } else { z.s[d] });
        for (name, values) in [("stride", stride), ("padding", z.pl), ("dilation", z.d), ("small", small), ("large", large)] {
            emit.numbers(name, &values);
        }
        emit.code(
            "DEVICE bool in_large(const Args& a, const index* s, const index* k, index* q) {\n    bool inside = true;\n#pragma unroll\n    \
             for (int d = 0; d < 3; ++d) {\n        q[d] = s[d] * (index)a.stride[d] - (index)a.padding[d] + k[d] * (index)a.dilation[d];\n        \
             inside = inside && q[d] >= 0 && q[d] < (index)a.large[d];\n    }\n    return inside;\n}\n\
             DEVICE bool in_small(const Args& a, const index* l, const index* k, index* q) {\n    bool inside = true;\n#pragma unroll\n    \
             for (int d = 0; d < 3; ++d) {\n        const index scaled = l[d] + (index)a.padding[d] - k[d] * (index)a.dilation[d], stride = (index)a.stride[d];\n        \
             q[d] = scaled / stride;\n        inside = inside && scaled >= 0 && scaled % stride == 0 && q[d] < (index)a.small[d];\n    }\n    \
             return inside;\n}\n",
        );
    }

    /// The types of operands and sums.
    fn sum(&self, types: [&Tensor; 2]) -> Sum {
        let whole = self.problem.attr.zero_points.values().all(|q| q.dtype.is_integral());
        Sum::of(types.map(|t| t.dtype), whole)
    }

    /// Forward, or backward data.
    fn data(&self, forward: bool, tail: &Tail<'_>, target: &CudaTarget) -> Result<Program, Skip> {
        let z = &self.sizes;
        let (small, large) = if self.input_is_large { (z.o, z.i) } else { (z.i, z.o) };
        let (result, given) = if forward { (z.oc, z.ic) } else { (z.ic, z.oc) };
        let way = Way { forward, from_large: forward == self.input_is_large, given, made: result };
        let grid = if way.from_large { small } else { large };
        let from = if forward { (Arg::SRC, self.src) } else { (Arg::DIFF_DST, self.dst) };
        let last = channels_last(&from.1.layout);
        let declare = |emit: &mut Emitter| {
            self.geometry(emit);
            emit.traversal("row", &[z.mb, grid[0], grid[1], grid[2]], &[0, 1, 2, 3]);
            emit.traversal("step", &[given, z.k[0], z.k[1], z.k[2]], if last { &[1, 2, 3, 0] } else { &[0, 1, 2, 3] });
            emit.tail(tail)?;
            self.declare_data(way, from, emit)
        };
        let rows = z.mb.saturating_mul(grid.iter().product());
        let product = Products {
            real: Real::of(self.problem),
            sum: self.sum([from.1, self.weights]),
            sizes: Sizes { batches: z.g, m: rows, n: result, k: given.saturating_mul(z.k.iter().product()) },
            left_k_first: last && given >= 8,
            right_n_first: false,
            z_first: last,
            declare: &declare,
        };
        let mut program = Program::default();
        product.append(&mut program, target)?;
        if let Place::Arg(arg) = tail.dst.place {
            let dst = Tensor { dtype: tail.dst.dtype, layout: tail.dst.layout.clone() };
            zero::padding(&mut program, arg, &dst)?;
        }
        Ok(program)
    }

    fn declare_data(&self, Way { forward, from_large, given, made }: Way, from: (Arg, &Tensor), emit: &mut Emitter) -> Result<(), Skip> {
        let (attr, spatial_dims) = (&self.problem.attr, self.spatial());
        let grouped = self.weights.dims().len() > self.src.dims().len();
        emit.view(&View::of("from", from.0, from.1))?;
        emit.view(&View::of("weights", Arg::WEIGHTS, self.weights))?;
        let zero = Factor::zero_point("from_zero", attr, from.0, from.1.dims());
        let weights_zero = Factor::zero_point("weights_zero", attr, Arg::WEIGHTS, self.weights.dims());
        emit.factor(&zero);
        emit.factor(&weights_zero);
        emit.number("given", given);
        emit.number("made", made);
        let grid = if from_large { "in_large" } else { "in_small" };
        let minus = |f: &Factor<'_>, name: &str| if f.quant.is_some() { format!(" - {name}(a, p)") } else { String::new() };
        let (oc, ic) = if forward { ("n", "t[0]") } else { ("t[0]", "n") };
        let group = if grouped { "z, " } else { "" };
        emit.code(&format!(
            "DEVICE factor left(const Args& a, index z, index m, index k) {{\n    index r[4], t[4], q[3];\n    row(a, m, r);\n    step(a, k, t);\n    \
             if (!{grid}(a, r + 1, t + 1, q)) return 0;\n    const index p[] = {{r[0], (index)(z * a.given + t[0]){}}};\n    \
             return (factor)(from(a, p){});\n}}\n\
             DEVICE factor right(const Args& a, index z, index k, index n) {{\n    index t[4];\n    step(a, k, t);\n    \
             const index p[] = {{{group}{oc}, {ic}{}}};\n    return (factor)(weights(a, p){});\n}}\n",
            spatial(["q[0]", "q[1]", "q[2]"], spatial_dims),
            minus(&zero, "from_zero"),
            spatial(["t[1]", "t[2]", "t[3]"], spatial_dims),
            minus(&weights_zero, "weights_zero"),
        ));
        let mut value = String::from("(real)sum");
        let mut before = String::new();
        if forward {
            emit.factor(&Factor::scale("src_scale", attr, Arg::SRC, self.src.dims()));
            emit.factor(&Factor::scale("weights_scale", attr, Arg::WEIGHTS, self.weights.dims()));
            before = format!("    const index zeros[5] = {{}}, w[6] = {{{group}n}};\n");
            value = "(real)sum * (src_scale(a, zeros) * weights_scale(a, w))".into();
            if let Some(bias) = self.bias {
                emit.view(&View::of("bias", Arg::BIAS, bias))?;
                value.push_str(" + bias(a, p + 1)");
            }
        }
        emit.code(&format!(
            "DEVICE void store(const Args& a, index z, index m, index n, total sum) {{\n    index r[4];\n    row(a, m, r);\n    \
             const index p[] = {{r[0], (index)(z * a.made + n){}}};\n{before}    finish(a, p, {value});\n}}\n",
            spatial(["r[1]", "r[2]", "r[3]"], spatial_dims),
        ));
        Ok(())
    }

    /// The gradients of weights and bias.
    fn weights_gradient(&self, target: &CudaTarget) -> Result<Program, Skip> {
        let z = &self.sizes;
        let diff_dst = tensor(self.problem, Arg::DIFF_DST)?;
        let small_sizes = if self.input_is_large { z.o } else { z.i };
        let (rc, cc) = if self.input_is_large { (z.ic, z.oc) } else { (z.oc, z.ic) };
        let (input, output) = ((Arg::SRC, self.src), (Arg::DIFF_DST, diff_dst));
        let (large, small) = if self.input_is_large { (input, output) } else { (output, input) };
        let declare = |emit: &mut Emitter| {
            self.geometry(emit);
            emit.traversal("row", &[rc, z.k[0], z.k[1], z.k[2]], &[0, 1, 2, 3]);
            emit.traversal("step", &[z.mb, small_sizes[0], small_sizes[1], small_sizes[2]], &[0, 1, 2, 3]);
            emit.tail(&Tail::of(self.problem, Arg::DIFF_WEIGHTS, self.weights))?;
            self.declare_weights([rc, cc], [large, small], emit)
        };
        let product = Products {
            real: Real::of(self.problem),
            sum: self.sum([self.src, diff_dst]),
            sizes: Sizes {
                batches: z.g,
                m: rc.saturating_mul(z.k.iter().product()),
                n: cc,
                k: z.mb.saturating_mul(small_sizes.iter().product()),
            },
            left_k_first: !channels_last(&large.1.layout),
            right_n_first: channels_last(&small.1.layout),
            z_first: false,
            declare: &declare,
        };
        let mut program = product.program(Arg::DIFF_WEIGHTS, self.weights, target)?;
        if let Some(bias) = self.problem.op.tensor(Arg::DIFF_BIAS) {
            bias_gradient(&mut program, self.problem, diff_dst, bias)?;
        }
        Ok(program)
    }

    fn declare_weights(&self, [rc, cc]: [i64; 2], [large, small]: [(Arg, &Tensor); 2], emit: &mut Emitter) -> Result<(), Skip> {
        let attr = &self.problem.attr;
        let grouped = self.weights.dims().len() > self.src.dims().len();
        emit.view(&View::of("large_data", large.0, large.1))?;
        emit.view(&View::of("small_data", small.0, small.1))?;
        let zeros = [
            Factor::zero_point("large_zero", attr, large.0, large.1.dims()),
            Factor::zero_point("small_zero", attr, small.0, small.1.dims()),
        ];
        zeros.iter().for_each(|f| emit.factor(f));
        emit.number("rc", rc);
        emit.number("cc", cc);
        let (oc, ic) = if self.input_is_large { ("n", "r[0]") } else { ("r[0]", "n") };
        let group = if grouped { "z, " } else { "" };
        let n = self.spatial();
        emit.code(&format!(
            "DEVICE factor left(const Args& a, index z, index m, index k) {{\n    index r[4], t[4], q[3];\n    row(a, m, r);\n    step(a, k, t);\n    \
             if (!in_large(a, t + 1, r + 1, q)) return 0;\n    const index p[] = {{t[0], (index)(z * a.rc + r[0]){}}};\n    \
             return (factor)(large_data(a, p) - large_zero(a, p));\n}}\n\
             DEVICE factor right(const Args& a, index z, index k, index n) {{\n    index t[4];\n    step(a, k, t);\n    \
             const index p[] = {{t[0], (index)(z * a.cc + n){}}};\n    return (factor)(small_data(a, p) - small_zero(a, p));\n}}\n\
             DEVICE void store(const Args& a, index z, index m, index n, total sum) {{\n    index r[4];\n    row(a, m, r);\n    \
             const index p[] = {{{group}{oc}, {ic}{}}};\n    finish(a, p, (real)sum);\n}}\n",
            spatial(["q[0]", "q[1]", "q[2]"], n),
            spatial(["t[1]", "t[2]", "t[3]"], n),
            spatial(["r[1]", "r[2]", "r[3]"], n),
        ));
        Ok(())
    }

    /// A 1x1 convolution with a fused depthwise convolution: the intermediate result goes to scratch in the type that the second one reads.
    fn with_depthwise(&self, op: &Conv, index: usize, target: &CudaTarget) -> Result<Program, Skip> {
        let (problem, attr) = (self.problem, &self.problem.attr);
        let z = op.depthwise_sizes(attr).ok_or(Skip::Op("a depthwise post-op without sizes"))?;
        let PostOp::Depthwise { .. } = attr.post_ops[index] else { return Err(Skip::Attr("post-ops".into())) };
        let kept = Tensor::plain(*op.dst.dims(), op.dst.dtype).map_err(|_| OVERFLOW)?;
        let mut booked = Program::default();
        let at = booked.book(kept.bytes())?;
        let place = View { name: "dst", place: Place::Scratch(at), dtype: kept.dtype, layout: &kept.layout, padded: true };
        let before = Tail::part(problem, Arg::DST, place, 0..index);
        let mut program = self.data(true, &before, target)?;
        if program.scratch > 0 {
            return Err(Skip::Shape("a sum in parts before a depthwise convolution"));
        }
        program.scratch = booked.scratch;
        let last = tensor(problem, Arg::DST)?;
        let mut map = Map::over(Real::of(problem), &last.layout);
        let dst = View { padded: true, ..View::of("dst", Arg::DST, last) };
        map.tail(&Tail::part(problem, Arg::depthwise(Arg::DST), dst, index + 1..attr.post_ops.len()))?;
        map.emit.view(&View { name: "image", padded: false, ..place })?;
        map.emit.factor(&Factor::zero_point("image_zero", attr, Arg::DST, op.dst.dims()));
        map.emit.factor(&Factor::scale("image_scale", attr, Arg::DST, op.dst.dims()));
        let weights = tensor(problem, Arg::depthwise(Arg::WEIGHTS))?;
        map.emit.view(&View::of("weights", Arg::depthwise(Arg::WEIGHTS), weights))?;
        map.emit.factor(&Factor::scale("scale", attr, Arg::depthwise(Arg::WEIGHTS), weights.dims()));
        let bias = match problem.op.tensor(Arg::depthwise(Arg::BIAS)) {
            Some(b) => {
                map.emit.view(&View::of("bias", Arg::depthwise(Arg::BIAS), b))?;
                " + bias(a, p + 1)"
            }
            None => "",
        };
        for (name, values) in [("kernel", z.k), ("stride", z.s), ("padding", z.pl), ("input", z.i)] {
            map.emit.numbers(name, &values);
        }
        map.element = format!(
            "    real sum = 0;\n    for (index y = 0; y < a.kernel[1]; ++y) {{\n        for (index x = 0; x < a.kernel[2]; ++x) {{\n            \
             const index q[] = {{p[0], p[1], (index)(p[2] * a.stride[1] - a.padding[1] + y), (index)(p[3] * a.stride[2] - a.padding[2] + x)}};\n            \
             if (q[2] < 0 || q[2] >= a.input[1] || q[3] < 0 || q[3] >= a.input[2]) continue;\n            \
             const index w[] = {{p[1], 0, 0, y, x}};\n            \
             sum += (image(a, q) - image_zero(a, q)) * image_scale(a, q) * weights(a, w);\n        }}\n    }}\n    \
             const index w[] = {{p[1], 0, 0, 0, 0}};\n    finish(a, p, sum * scale(a, w){bias});\n"
        );
        program.launches.push(map.launch());
        Ok(program)
    }
}
