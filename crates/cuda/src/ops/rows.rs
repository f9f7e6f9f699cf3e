//! Reductions: each output combines a row of terms in one or more stages (`kernels/rows.cu`, or `rows_vector.cu` and `columns_vector.cu` if the terms fit in
//! registers).

use super::columns_vector;
use super::rows_vector::{self, Body, Extent, Input};
use crate::emit::{BLOCK, Emitter, Real, View, memory_order};
use crate::ops::ceil;
use crate::program::{Launch, OVERFLOW, Program};
use crate::{CudaTarget, Facts};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Layout, Tensor};

/// Outputs below which a CTA has 8 neighbouring columns instead of 32, and 2.
const FEW: i64 = 1 << 13;
const FEWER: i64 = 1 << 10;

/// A stage of a reduction.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// The neutral value.
    pub(crate) identity: String,
    /// Combines two values `x` and `y`.
    pub(crate) combine: &'static str,
    /// The term at position `p`, with the results `s` of earlier stages.
    pub(crate) term: String,
    /// The stage's result from the combined value `x`.
    pub(crate) close: String,
}

impl Stage {
    /// A sum of terms, closed by an expression of `x`.
    pub(crate) fn sum(term: impl Into<String>, close: impl Into<String>) -> Stage {
        Stage { identity: "(real)0".into(), combine: "x + y", term: term.into(), close: close.into() }
    }
}

/// The tensors for vector accesses.
struct Vectors {
    inputs: Vec<Input>,
    dst: Option<Input>,
    facts: Facts,
}

/// The kernels that keep terms in registers, for contiguous terms and for contiguous outputs.
enum Kept {
    Rows(rows_vector::Shape),
    Columns(columns_vector::Shape),
}

/// A reduction kernel under construction.
pub(crate) struct Rows {
    pub(crate) emit: Emitter,
    pub(crate) stages: Vec<Stage>,
    /// Statements per output.
    pub(crate) result: String,
    /// Statements after all stages that declare what `each` uses: once per thread and row where they can be.
    pub(crate) ready: String,
    /// Statements per term, after all stages; none if empty.
    pub(crate) each: String,
    outputs: i64,
    terms: i64,
    /// Terms per output, if a row is split over several outputs.
    chunk: i64,
    /// Outputs are contiguous in memory, terms are not.
    columns: bool,
    /// The fastest dimension of the terms, and its size.
    along: Option<(usize, i64)>,
    /// The last dimension of the outputs, and its size, if outputs are contiguous along it.
    across: Option<(usize, i64)>,
    /// All tensors that vary along the terms, and the one that `each` writes, if they are only used by their accessors and `finish`.
    vectors: Option<Vectors>,
    /// Terms that a thread loads together.
    ahead: i64,
}

impl Rows {
    /// Over a tensor of `layout`: outputs along the dimensions for which `kept` holds, terms along the others, both in the order of memory.
    pub(crate) fn over(real: Real, layout: &Layout, kept: impl Fn(usize) -> bool) -> Rows {
        let dims = &layout.dims;
        let order = memory_order(layout);
        let (outer, inner): (Vec<usize>, Vec<usize>) = order.iter().partition(|&&d| kept(d));
        let count = |list: &[usize]| list.iter().fold(1i64, |n, &d| n.saturating_mul(dims[d]));
        let (outputs, terms) = (count(&outer), count(&inner));
        let fastest = order.iter().rev().find(|&&d| dims[d] > 1);
        let mut emit = Emitter::new(real, outputs.saturating_mul(terms));
        emit.define("RANK", dims.len());
        emit.traversal("output", dims, &outer);
        emit.traversal("row_term", dims, &inner);
        let columns = fastest.is_some_and(|&d| kept(d));
        let along = inner.iter().rev().find(|&&d| dims[d] > 1).map(|&d| (d, dims[d]));
        let across = outer.iter().rev().find(|&&d| dims[d] > 1).filter(|_| columns).map(|&d| (d, dims[d]));
        Rows { along, across, ..Rows::with(emit, [outputs, terms], columns) }
    }

    /// With positions that the caller declares as `output` and `row_term`.
    pub(crate) fn with(emit: Emitter, [outputs, terms]: [i64; 2], columns: bool) -> Rows {
        Rows {
            emit,
            stages: Vec::new(),
            result: String::new(),
            ready: String::new(),
            each: String::new(),
            outputs,
            terms,
            chunk: terms,
            columns,
            along: None,
            across: None,
            vectors: None,
            ahead: 4,
        }
    }

    /// More loads in flight, for simple terms and few outputs.
    pub(crate) fn ahead(mut self) -> Rows {
        self.ahead = 8;
        self
    }

    /// Sets the fastest dimension of the terms and its size.
    pub(crate) fn along(mut self, dimension: usize, size: i64) -> Rows {
        self.along = Some((dimension, size));
        self
    }

    /// Allows vector accesses: these tensors, and the one that is written, are all that vary along the terms.
    pub(crate) fn vectorised(&mut self, inputs: Vec<Input>, dst: Option<Input>, facts: &Facts) {
        self.vectors = Some(Vectors { inputs, dst, facts: *facts });
    }

    fn kept(&self) -> Option<Kept> {
        let Vectors { inputs, dst, facts } = self.vectors.as_ref()?;
        let along = if self.columns { self.across? } else { self.along? };
        let down = self.along.filter(|&(_, size)| size == self.terms).map(|a| a.0);
        let extent = Extent { outputs: self.outputs, terms: self.terms, along, down };
        if !self.columns {
            return rows_vector::shape(inputs, dst.as_ref(), &extent, facts).map(Kept::Rows);
        }
        if !inputs.iter().all(Input::is_kept) {
            return None;
        }
        columns_vector::shape(inputs, dst.as_ref(), &extent, facts).map(Kept::Columns)
    }

    /// Per index along `channel`, with the terms split into parts. Output `o` is part `o / channels` of channel `o % channels`.
    pub(crate) fn channels(real: Real, layout: &Layout, channel: usize, parts: i64) -> Rows {
        Rows::split(real, layout, &|d| d == channel, parts)
    }

    /// As [`Rows::over`], with the terms split into parts. Output `o` is part `o / n` of row `o % n` of `n`.
    fn split(real: Real, layout: &Layout, kept: &dyn Fn(usize) -> bool, parts: i64) -> Rows {
        let (dims, n) = (&layout.dims, layout.ndims());
        let order = memory_order(layout);
        let (outer, inner): (Vec<usize>, Vec<usize>) = order.iter().partition(|&&d| kept(d));
        let columns = order.iter().rev().find(|&&d| dims[d] > 1).is_some_and(|&d| kept(d));
        let count = |list: &[usize]| list.iter().fold(1i64, |n, &d| n.saturating_mul(dims[d]));
        let (outputs, terms) = (count(&outer), count(&inner));
        let mut sizes = dims.to_vec();
        sizes.extend([1, parts]);
        let mut emit = Emitter::new(real, terms.saturating_mul(outputs));
        emit.define("RANK", n);
        emit.traversal("output", &sizes, &[&[n + 1], &outer[..]].concat());
        emit.traversal("row_term", &sizes, &inner);
        let chunk = ceil(terms, parts);
        Rows { chunk, ..Rows::with(emit, [parts * outputs, terms], columns) }
    }

    /// Outputs per CTA: as few as the number of terms allows; with contiguous outputs at least 32 for coalesced accesses, fewer if there are few outputs.
    fn width(&self) -> i64 {
        let block = i64::from(BLOCK);
        let by_terms = (block / (self.chunk.max(1) as u64).next_power_of_two().min(block as u64) as i64).max(1);
        let together = match self.outputs {
            0..FEWER => 2,
            FEWER..FEW => 8,
            _ => 32,
        };
        if self.columns { by_terms.max(together).min(block) } else { by_terms }
    }

    /// The launch.
    pub(crate) fn launch(self) -> Launch {
        let width = self.width();
        let together = format!("{}{}", self.ready, self.each);
        if let (Some(kept), Some(Vectors { inputs, dst, .. })) = (self.kept(), &self.vectors) {
            let body = Body {
                inputs,
                dst: dst.as_ref(),
                stages: &self.stages,
                ready: &self.ready,
                each: if matches!(kept, Kept::Rows(_)) { &self.each } else { &together },
                result: &self.result,
                outputs: self.outputs,
                terms: self.terms,
            };
            return match kept {
                Kept::Rows(shape) => rows_vector::launch(self.emit, &shape, &body),
                Kept::Columns(shape) => columns_vector::launch(self.emit, &shape, &body),
            };
        }
        let Rows { mut emit, stages, result, outputs, terms, chunk, ahead, .. } = self;
        emit.option("AHEAD", ahead);
        let uses_stages = |s: &Stage| s.term.contains("s[") || s.close.contains("s[");
        emit.option("TOGETHER", if stages.iter().skip(1).any(uses_stages) { 1 } else { stages.len().max(1) });
        emit.define("STAGES", stages.len().max(1));
        for (name, value) in [("width", width), ("outputs", outputs), ("terms", terms), ("chunk", chunk)] {
            emit.number(name, value);
        }
        let cases = |f: &dyn Fn(&Stage) -> String| {
            let all = stages.iter().enumerate().map(|(i, s)| format!("    if (stage == {i}) return {};\n", f(s)));
            all.collect::<String>() + "    return 0;\n"
        };
        let (identity, combine) = (cases(&|s| s.identity.clone()), cases(&|s| s.combine.into()));
        let (term, close) = (cases(&|s| s.term.clone()), cases(&|s| s.close.clone()));
        emit.code(&format!(
            "DEVICE real identity(int stage) {{\n{identity}}}\nDEVICE real combine(int stage, real x, real y) {{\n{combine}}}\n\
             DEVICE real term(int stage, const Args& a, const index* p, const real* s) {{\n{term}}}\n\
             DEVICE real close(int stage, const Args& a, real x, const real* s) {{\n{close}}}\n\
             DEVICE void result(const Args& a, i64 o, const index* p, const real* s) {{\n{result}}}\n"
        ));
        if !together.is_empty() {
            emit.define("WRITES", 1);
            emit.code(&format!("DEVICE void each(const Args& a, const index* p, const real* s) {{\n{together}}}\n"));
        }
        let blocks = (outputs.max(1) as u64).div_ceil(width as u64).min(1 << 20) as u32;
        emit.launch_blocks("rows", [blocks, 1, 1])
    }
}

/// A one-stage reduction of a tensor.
pub(crate) struct Reduced<'a> {
    pub(crate) real: Real,
    pub(crate) layout: &'a Layout,
    pub(crate) stage: Stage,
    pub(crate) target: &'a CudaTarget,
}

impl Reduced<'_> {
    /// If there are too few rows for the GPU, appends two launches: parts of rows, then the parts. `declare` declares the inputs of the terms, `result` returns the
    /// statements that store the result `s[0]` of the row at `p`. Otherwise returns false.
    ///
    /// # Errors
    /// Those of `declare` and `result`.
    pub(crate) fn in_parts(
        self,
        program: &mut Program,
        kept: &dyn Fn(usize) -> bool,
        declare: &dyn Fn(&mut Emitter) -> Result<(), Skip>,
        result: &dyn Fn(&mut Emitter) -> Result<String, Skip>,
    ) -> Result<bool, Skip> {
        let Reduced { real, layout, stage, target } = self;
        let whole = Rows::split(real, layout, kept, 1);
        // Threads per part, and threads that fill the GPU.
        let own = if whole.columns { 8 } else { i64::from(BLOCK) };
        let wanted = 2048 * i64::from(target.facts.multiprocessors);
        let parts = (wanted / whole.outputs.saturating_mul(own).max(1)).min(whole.terms / 512).min(4096);
        if parts < 4 {
            return Ok(false);
        }
        let dims = layout.dims;
        let outer: Vec<usize> = memory_order(layout).into_iter().filter(|&d| kept(d)).collect();
        let partial = Tensor::plain([parts, whole.outputs], real.dtype()).map_err(|_| OVERFLOW)?;
        let at = program.book(partial.bytes())?;
        let view = View::scratch("partial", at, &partial);
        let mut rows = Rows::split(real, layout, kept, parts);
        declare(&mut rows.emit)?;
        rows.emit.view(&view)?;
        rows.result = "    partial_store(a, o, s[0]);\n".into();
        rows.stages = vec![Stage { close: "x".into(), ..stage.clone() }];
        program.launches.push(rows.launch());
        let mut emit = Emitter::new(real, parts.saturating_mul(whole.outputs));
        emit.define("RANK", dims.len());
        emit.traversal("output", &dims, &outer);
        emit.code("DEVICE void row_term(const Args&, index r, index* p) { p[RANK + 1] = r; }\n");
        let mut number = "0".to_owned();
        emit.numbers("row_size", &outer.iter().map(|&d| dims[d]).collect::<Vec<_>>());
        for (i, &d) in outer.iter().enumerate() {
            number = format!("({number} * (index)a.row_size[{i}] + p[{d}])");
        }
        let mut last = Rows::with(emit, [whole.outputs, parts], true).ahead();
        last.emit.view(&view)?;
        last.emit.number("terms_of_row", whole.terms);
        last.emit.code(&format!(
            "DEVICE real part(const Args& a, const index* p) {{\n    const index q[] = {{p[RANK + 1], {number}}};\n    return partial(a, q);\n}}\n"
        ));
        last.stages = vec![Stage { term: "part(a, p)".into(), close: stage.close.replace("a.terms", "a.terms_of_row"), ..stage }];
        last.result = result(&mut last.emit)?;
        program.launches.push(last.launch());
        Ok(true)
    }
}
