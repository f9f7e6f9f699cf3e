//! Batch and group normalisation in one launch: NHWC by `columns_kept.cu`, NCHW by `planes_kept.cu` (batch normalisation only).

use super::{Norm, Share, zero};
use crate::emit::{Emitter, Tail, View, literal};
use crate::ops::columns::{self, Matrix};
use crate::ops::columns_kept::{self, Bits, Sizes, Whole};
use crate::ops::planes_kept::{self, Kept, Plane};
use crate::ops::pointwise::tensor;
use crate::program::Program;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Tensor};

/// The configuration of either kernel.
enum Shape<'a> {
    /// With the scratch of partial sums.
    Columns(Whole, [Matrix<'a>; 3], usize),
    Planes(Kept, [Plane<'a>; 3]),
}

/// The operation, for either kernel.
struct Body<'a> {
    /// Number of inputs.
    read: usize,
    terms: &'a str,
    /// Coefficients of a channel and their expressions, after the statements `before`.
    numbers: &'a [(&'a str, String)],
    before: &'a str,
    value: &'a str,
}

impl Norm<'_> {
    /// The configuration for these tensors, the last of which is the result.
    fn whole<'n>(&self, program: &mut Program, given: &[(&'n str, Arg, &Tensor)], numbers: i64) -> Result<Option<Shape<'n>>, Skip> {
        let Some(target) = self.vectors.filter(|_| self.share != Share::Row && !self.flags.rms) else { return Ok(None) };
        let bits = match self.tensor(Arg::WORKSPACE) {
            None => Bits::None,
            Some(_) if given.len() == 2 => Bits::Written(Arg::WORKSPACE),
            Some(_) => Bits::Read(Arg::WORKSPACE),
        };
        if !(self.by_lanes() || bits != Bits::None && self.has_bits_by_columns()) {
            return Ok(None);
        }
        let dims = self.src.dims();
        let (count, last) = (dims[1], given.len() - 1);
        let rows = dims.volume().unwrap_or(0) / count.max(1);
        let sizes = match self.share {
            Share::Group(group) => Sizes { images: dims[0], rows: rows / dims[0].max(1), columns: count, group },
            _ => Sizes { images: 1, rows, columns: count, group: 0 },
        };
        let matrices: Option<Vec<_>> = given.iter().map(|&(name, arg, t)| Matrix::of(name, arg, t, 1)).collect();
        if let Some(all) = matrices {
            let Some(whole) = Whole::of([&all[..last], &all[last..]], sizes, (numbers, bits), target) else { return Ok(None) };
            let partial = columns::book(program, &whole.partial(), 2, self.real)?;
            return Ok(Some(Shape::Columns(whole, [all[0], all[1], all[last]], partial)));
        }
        let planes: Option<Vec<_>> = given.iter().map(|&(name, arg, t)| Plane::of(name, arg, t)).collect();
        let Some(all) = planes.filter(|_| self.share == Share::Channel && dims.len() == 3 && bits == Bits::None) else { return Ok(None) };
        let kept = Kept::of([&all[..last], &all[last..]], [dims[0], count, dims[2]], &target.facts);
        Ok(kept.map(|kept| Shape::Planes(kept, [all[0], all[1], all[last]])))
    }

    fn launch_whole(&self, program: &mut Program, (emit, dst): (Emitter, &Tensor), shape: &Shape<'_>, body: &Body<'_>) {
        let Body { read, terms, numbers, before, value } = *body;
        let names: Vec<&str> = numbers.iter().map(|n| n.0).collect();
        let set = |place: &dyn Fn(usize) -> String| {
            let all: String = numbers.iter().enumerate().map(|(k, (_, to))| format!("    {} = {to};\n", place(k))).collect();
            format!("{before}{all}")
        };
        let moments = read == 1;
        program.launches.push(match shape {
            Shape::Columns(whole, all, partial) => {
                let settle = set(&|k| format!("to[{k} * LANES * VECTOR]"));
                let value = names.iter().fold(value.to_owned(), |text, name| text.replace(&format!("${name}"), &format!("{name}[i]")));
                let body = columns_kept::Body {
                    read: &all[..read],
                    dst: all[2],
                    layout: &dst.layout,
                    terms,
                    moments,
                    numbers: &names,
                    settle: &settle,
                    value: &value,
                };
                whole.launch(emit, &body, *partial)
            }
            Shape::Planes(kept, all) => {
                let settle = set(&|k| names[k].to_owned());
                let value = value.replace('$', "");
                let body =
                    planes_kept::Body { read: &all[..read], dst: all[2], terms, moments, numbers: &names, settle: &settle, value: &value };
                kept.launch(emit, &body)
            }
        });
    }

    /// The forward pass; false if it does not apply.
    pub(super) fn whole_forward(&self, program: &mut Program, dst: &Tensor) -> Result<bool, Skip> {
        let Some(shape) = self.whole(program, &[("src", Arg::SRC, self.src), ("to", Arg::DST, dst)], 3)? else { return Ok(false) };
        let mut emit = Emitter::new(self.real, dst.dims().volume().unwrap_or(i64::MAX));
        emit.tail(&Tail::of(self.problem, Arg::DST, dst))?;
        let scaled = self.flags.use_scale && self.input(&mut emit, "scale", Arg::SCALE)?;
        let shifted = self.flags.use_shift && self.input(&mut emit, "shift", Arg::SHIFT)?;
        let mut before = String::new();
        let is_own = match self.share {
            Share::Group(channels) => {
                before += &self.stat();
                format!("is_first && p[1] % {channels} == 0")
            }
            _ => {
                before += "    const index* q = p + 1;\n";
                "is_first".to_owned()
            }
        };
        for (i, (name, arg)) in [("mean", Arg::MEAN), ("variance", Arg::VARIANCE)].into_iter().enumerate() {
            if self.input(&mut emit, name, arg)? {
                before += &format!("    if ({is_own}) {name}_store(a, {name}_at(a, q), s[{i}]);\n");
            }
        }
        let inverse = format!("inverse_root(s[1] + {})", literal(self.epsilon));
        let numbers = [
            ("middle", "s[0]".to_owned()),
            ("factor", if scaled { format!("{inverse} * scale(a, p + 1)") } else { inverse }),
            ("shift_by", if shifted { "shift(a, p + 1)" } else { "(real)0" }.to_owned()),
        ];
        let relu = match (self.flags.fuse_relu, self.tensor(Arg::WORKSPACE)) {
            (false, _) => "",
            (true, None) => "            v = !(v <= 0) ? v : (real)0;\n",
            (true, Some(_)) => {
                "            const bool positive = !(v <= 0);\n            v = positive ? v : (real)0, bits |= (u32)positive << i;\n"
            }
        };
        let body = Body {
            read: 1,
            terms: "    DEVICE void begin(const Args&, i64) {}\n    DEVICE real term(const Loaded& x, int v) const { return x.src.number(v); }\n",
            numbers: &numbers,
            before: &before,
            value: &format!("            real v = fma(x.src.number(i) - $middle, $factor, $shift_by);\n{relu}"),
        };
        self.launch_whole(program, (emit, dst), &shape, &body);
        Ok(true)
    }

    /// The backward pass; false if it does not apply.
    pub(super) fn whole_backward(&self, program: &mut Program) -> Result<bool, Skip> {
        let (diff_dst, diff_src) = (tensor(self.problem, Arg::DIFF_DST)?, tensor(self.problem, Arg::DIFF_SRC)?);
        let given = [("src", Arg::SRC, self.src), ("diff_dst", Arg::DIFF_DST, diff_dst), ("to", Arg::DIFF_SRC, diff_src)];
        let Some(shape) = self.whole(program, &given, 4)? else { return Ok(false) };
        let elements = diff_src.dims().volume().unwrap_or(i64::MAX);
        let mut emit = Emitter::new(self.real, elements);
        emit.tail(&Tail::of(self.problem, Arg::DIFF_SRC, diff_src))?;
        let (mean, inverse) = self.given(&mut emit)?;
        let here = |text: &str| text.replace("(a, q)", "(a, p + 1)");
        let scale = self.scale(&mut emit)?;
        emit.real_number("count_of_terms", (elements / self.src.dims()[1].max(1)) as f64);
        let mut before = format!("    const real inverse = {}, by = inverse{scale}, sum_gx = s[0] * inverse;\n", here(&inverse));
        for (name, arg, sum) in [("diff_scale", Arg::DIFF_SCALE, "sum_gx"), ("diff_shift", Arg::DIFF_SHIFT, "s[1]")] {
            if let Some(t) = self.wanted(arg) {
                emit.view(&View::of(name, arg, t))?;
                before += &format!("    if (is_first) {name}_store(a, {name}_at(a, p + 1), {sum});\n");
                zero::padding(program, arg, t)?;
            }
        }
        let numbers = [
            ("by_own", "by".to_owned()),
            ("by_apart", "-by * inverse * sum_gx / (real)a.count_of_terms".to_owned()),
            ("rest", "-by * s[1] / (real)a.count_of_terms".to_owned()),
            ("middle", here(&mean)),
        ];
        let columns = matches!(shape, Shape::Columns(..));
        let masked = self.tensor(Arg::WORKSPACE).is_some();
        let gradient = |i: &str| {
            if masked { format!("(x.bits >> {i} & 1 ? x.diff_dst.number({i}) : (real)0)") } else { format!("x.diff_dst.number({i})") }
        };
        let (size, own) = if columns { ("VECTOR", "v") } else { ("1", "0") };
        let terms = format!(
            "    real middle[{size}];\n    DEVICE void begin(const Args& a, i64 c) {{\n#pragma unroll\n        for (int v = 0; v < {size}; ++v) {{\n            \
             const index q[] = {{(index)(c + v)}};\n            middle[v] = {mean};\n        }}\n    }}\n    \
             DEVICE void add(const Loaded& x, int v, real& gx, real& g) const {{\n        const real d = {};\n        g += d;\n        \
             gx = fma(d, x.src.number(v) - middle[{own}], gx);\n    }}\n",
            gradient("v")
        );
        let body = Body {
            read: 2,
            terms: &terms,
            numbers: &numbers,
            before: &before,
            value: &format!(
                "            const real v = fma({}, $by_own, fma(x.src.number(i) - $middle, $by_apart, $rest));\n",
                gradient("i")
            ),
        };
        self.launch_whole(program, (emit, diff_src), &shape, &body);
        Ok(true)
    }
}
