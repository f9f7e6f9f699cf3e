//! Attention: softmax, masks, paged caches, and fused attention forward and backward.

use super::random::Start;
use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, ReductionAlg};
use oxidnn_spec::{DataType, Dims, Tensor};

/// Row-wise softmax with its maxima and sums of exponentials.
struct Rows {
    result: Val,
    max: Val,
    sum: Val,
}

impl Lowering<'_> {
    /// Softmax along the last dimension. A fully masked row gives zeros.
    fn rows(&mut self, x: &Val, sink: Option<&Val>) -> Result<Rows, Failure> {
        let n = x.rank();
        let dims = Dims::from_fn(n, |d| if d + 1 == n { 1 } else { x.dims()[d] });
        let mut max = self.reduced(ReductionAlg::Max, x, &dims)?;
        if let Some(sink) = sink {
            max = self.two(BinaryAlg::Max, &max, sink)?;
        }
        // For a row of only negative infinity, 0 is subtracted instead of the maximum.
        let held = self.with_number(BinaryAlg::Max, &max, f64::from(f32::MIN))?;
        let below = self.sub(x, &held)?;
        let powers = self.one(EltwiseAlg::Exp, [0.0; 2], &below)?;
        let mut sum = self.reduced(ReductionAlg::Sum, &powers, &dims)?;
        if let Some(sink) = sink {
            let below = self.sub(sink, &held)?;
            let power = self.one(EltwiseAlg::Exp, [0.0; 2], &below)?;
            sum = self.add(&sum, &power)?;
        }
        let empty = self.with_number(BinaryAlg::Eq, &sum, 0.0)?;
        let divisor = self.add(&sum, &empty)?;
        let result = self.div(&powers, &divisor)?;
        Ok(Rows { result, max, sum })
    }

    /// The log-sum-exp of a row.
    fn row_statistics(&mut self, rows: &Rows) -> Result<Val, Failure> {
        let log = self.one(EltwiseAlg::Log, [0.0; 2], &rows.sum)?;
        self.add(&rows.max, &log)
    }

    /// 1 where the position along dimension `d` of four is below the length of its batch, else 0.
    fn inside(&mut self, d: usize, size: i64, length: &Val) -> Result<Val, Failure> {
        let ramp = self.ramp(4, d, size)?;
        let length = self.real(length)?;
        self.two(BinaryAlg::Lt, &ramp, &length)
    }

    /// Rows with zeros in place of those beyond the lengths of their sequences, whose memory may hold anything.
    fn within(&mut self, rows: &Val, length: Option<&Val>) -> Result<Val, Failure> {
        let Some(length) = length.filter(|_| rows.rank() == 4) else { return Ok(rows.clone()) };
        let inside = self.inside(2, rows.dims()[2], length)?;
        self.select_or(&inside, rows, 0.0)
    }
}

/// Writes the softmax statistics that the operation has as outputs: maxima, sums, log-sum-exp.
fn tell(l: &mut Lowering<'_>, op: &Frozen, rows: &Rows) -> Result<(), Failure> {
    for (value, id) in [(&rows.max, CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC), (&rows.sum, CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC)] {
        if let Some(output) = l.wanted(op, id)? {
            l.reorder(value, &output)?;
        }
    }
    if let Some(output) = l.wanted(op, CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC)? {
        let stats = l.row_statistics(rows)?;
        let base = if op.flag(CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2) { std::f64::consts::LOG2_E } else { 1.0 };
        let stats = l.scaled(&stats, base)?;
        l.reorder(&stats, &output)?;
    }
    Ok(())
}

pub(super) fn softmax(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let x = l.read(op, CUDNN_ATTR_OPERATION_SOFTMAX_XDESC)?;
    let sink = l.maybe(op, CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC)?;
    let rows = l.rows(&x, sink.as_ref())?;
    tell(l, op, &rows)?;
    let y = l.output(op, CUDNN_ATTR_OPERATION_SOFTMAX_YDESC)?;
    l.store(&rows.result, &y)
}

/// Diagonal band mask. With a left bound it compares `column - len_kv + len_q + bound` with the row, otherwise `row + len_kv - len_q + shift` with the
/// column; elements for which the comparison is false are replaced.
pub(super) fn band_mask(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let x = l.read(op, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC)?;
    if op.has(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_QDESC) || op.has(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_KVDESC)
    {
        return Err(unsupported("sequences that lie one behind the other (CU_SEQ_LEN): pad them, and give sequence lengths"));
    }
    let n = x.rank();
    if n < 2 {
        return Err(misfit("XDESC", x.dims(), "rows and columns"));
    }
    let (rows, columns) = (l.ramp(n, n - 2, x.dims()[n - 2])?, l.ramp(n, n - 1, x.dims()[n - 1])?);
    let left = l.maybe(op, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC)?;
    let shift = l.maybe(op, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC)?;
    let (mut moving, fixed, signs) = match &left {
        Some(_) => (columns, rows, [BinaryAlg::Sub, BinaryAlg::Add]),
        None => (rows, columns, [BinaryAlg::Add, BinaryAlg::Sub]),
    };
    let lengths = [CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_KVDESC, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_QDESC];
    for (id, alg) in lengths.into_iter().zip(signs) {
        if let Some(length) = l.maybe(op, id)? {
            let length = l.real(&length)?;
            moving = l.two(alg, &moving, &length)?;
        }
    }
    if let Some(bound) = left.or(shift) {
        let bound = l.real(&bound)?;
        moving = l.add(&moving, &bound)?;
    }
    let mode = op.int(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE).unwrap_or(0) as i32;
    let alg = super::pointwise::binary(mode).filter(|_| (300..400).contains(&mode));
    let kept = l.two(alg.ok_or_else(|| unsupported(format_args!("the comparison {mode}")))?, &moving, &fixed)?;
    let other = match l.maybe(op, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC)? {
        Some(other) => other,
        None => l.number(f64::NEG_INFINITY)?,
    };
    let y = l.output(op, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC)?;
    let masked = l.select(&kept, &x, &other)?;
    l.store(&masked, &y)
}

/// Limit on the pages of a cache; each becomes a step.
const PAGES: i64 = 4096;

pub(super) fn paged_load(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let container = l.read(op, CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC)?;
    let table = l.read(op, CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC)?;
    let y = l.output(op, CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC)?;
    if container.rank() != 4 || y.rank() != 4 {
        return Err(misfit("CONTAINER_DESC", container.dims(), "four dimensions"));
    }
    let d = if container.dims()[3] == y.dims()[3] { 2 } else { 3 };
    let loaded = paged(l, &container, &table, d)?;
    let loaded = loaded.along(d, 0, y.dims()[d])?;
    l.store(&loaded, &y)
}

/// Gathers a paged cache: batch x heads x sequence x size, or with the last two swapped; `d` is the sequence dimension.
fn paged(l: &mut Lowering<'_>, container: &Val, table: &Val, d: usize) -> Result<Val, Failure> {
    let c = *container.dims();
    if c[0] > PAGES {
        return Err(unsupported(format_args!("a cache of {} pages: at most {PAGES}", c[0])));
    }
    let (batch, pages) = (table.dims()[0], table.tensor.layout.elements().unwrap_or(0) / table.dims()[0].max(1));
    let table = l.real(table)?;
    // Batch x pages x heads x the two dimensions of a page.
    let table = l.reshaped(&table, &[batch, pages, 1, 1, 1])?;
    let mut all = l.number(0.0)?;
    for page in 0..c[0] {
        let mine = l.with_number(BinaryAlg::Eq, &table, page as f64)?;
        let block = container.along(0, page, 1)?.at_rank(5)?;
        all = l.select(&mine, &block, &all)?;
    }
    let ordered = if d == 2 { all.permuted(&[0, 2, 1, 3, 4])? } else { all.permuted(&[0, 2, 3, 1, 4])? };
    let dims = if d == 2 { [batch, c[1], pages * c[2], c[3]] } else { [batch, c[1], c[2], pages * c[3]] };
    l.reshaped(&ordered, &dims)
}

/// Refuses features of the operation that oxidnn does not have.
fn refused(op: &Frozen, list: &[(i32, &str)]) -> Result<(), Failure> {
    match list.iter().find(|r| op.has(r.0)) {
        Some((_, why)) => Err(unsupported(why)),
        None => Ok(()),
    }
}

const FORWARD_REFUSED: &[(i32, &str)] = &[
    (CUDNN_ATTR_OPERATION_SDPA_FWD_BLOCK_MASK_DESC, "BLOCK_MASK: cuDNN does not say which bits of it are which blocks"),
    (
        CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_QDESC,
        "sequences that lie one behind the other (CU_SEQ_LEN): pad them, and give sequence lengths",
    ),
    (
        CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_KVDESC,
        "sequences that lie one behind the other (CU_SEQ_LEN): pad them, and give sequence lengths",
    ),
];

pub(super) fn forward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    refused(op, FORWARD_REFUSED)?;
    let q = l.read(op, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC)?;
    let k = keys(l, op, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC)?;
    let v = keys(l, op, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC)?;
    let q = descaled(l, op, &q, CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_QDESC)?;
    let k = descaled(l, op, &k, CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_KDESC)?;
    let v = descaled(l, op, &v, CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_VDESC)?;
    if [&q, &k, &v].iter().any(|t| t.rank() != 4) {
        return Err(misfit("SDPA", q.dims(), "four dimensions"));
    }
    let mut scores = l.product(&q, &k.transposed()?)?;
    if let Some(scale) = l.maybe(op, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC)? {
        scores = l.mul(&scores, &scale)?;
    }
    scores = changed(l, op, scores)?;
    let lengths = [l.maybe(op, CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC)?, l.maybe(op, CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC)?];
    scores = padded(l, &scores, &lengths)?;
    let v = l.within(&v, lengths[1].as_ref())?;
    let described = op.object(CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC).cloned();
    let log2 = described.as_ref().is_some_and(|s| s.flag(CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2));
    let sink = match &described {
        Some(softmax) => l.maybe(softmax, CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC)?,
        None => None,
    };
    let rows = l.rows(&scores, sink.as_ref())?;
    if let Some(softmax) = &described {
        tell(l, softmax, &rows)?;
    }
    if let Some(output) = l.wanted(op, CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC)? {
        let stats = l.row_statistics(&rows)?;
        let stats = l.scaled(&stats, if log2 { std::f64::consts::LOG2_E } else { 1.0 })?;
        l.reorder(&stats, &output)?;
    }
    let mut weights = rows.result;
    largest(l, op, &weights, CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_SDESC)?;
    let probability = op.real(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_PROBABILITY).unwrap_or(0.0);
    if probability > 0.0 {
        let ids = [CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_SEED_DESC, CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_OFFSET_DESC];
        let kept = kept(l, op, &weights, ids, probability)?;
        if let Some(output) = l.wanted(op, CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_RNG_DUMP_DESC)? {
            l.reorder(&kept, &output)?;
        }
        let left = l.mul(&weights, &kept)?;
        weights = l.scaled(&left, 1.0 / (1.0 - probability))?;
    }
    let mut o = l.product(&weights, &v)?;
    if let Some(scale) = l.maybe(op, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALE_ODESC)? {
        largest(l, op, &o, CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_ODESC)?;
        o = l.mul(&o, &scale)?;
    } else {
        largest(l, op, &o, CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_ODESC)?;
    }
    let output = l.output(op, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC)?;
    l.store(&o, &output)
}

/// Keys or values, gathered from pages if they are paged.
fn keys(l: &mut Lowering<'_>, op: &Frozen, id: i32, pages: i32) -> Result<Val, Failure> {
    let given = l.read(op, id)?;
    match l.maybe(op, pages)? {
        Some(table) if given.rank() == 4 => paged(l, &given, &table, 2),
        Some(_) => Err(misfit("KDESC", given.dims(), "four dimensions")),
        None => Ok(given),
    }
}

/// 8-bit values, dequantised.
fn descaled(l: &mut Lowering<'_>, op: &Frozen, value: &Val, id: i32) -> Result<Val, Failure> {
    match l.maybe(op, id)? {
        Some(scale) if scale.tensor.layout.elements() == Some(1) => {
            let scale = l.real(&scale)?;
            l.mul(value, &scale)
        }
        Some(_) => Err(unsupported("scales of blocks for attention (MXFP8): dequantise with BLOCK_SCALE_DEQUANTIZE first")),
        None => Ok(value.clone()),
    }
}

/// The absolute maximum, if the operation has it as an output.
fn largest(l: &mut Lowering<'_>, op: &Frozen, value: &Val, id: i32) -> Result<(), Failure> {
    let Some(output) = l.wanted(op, id)? else { return Ok(()) };
    let size = l.one(EltwiseAlg::Abs, [0.0; 2], value)?;
    let largest = l.reduced(ReductionAlg::Max, &size, &[1; 4])?;
    let largest = l.reshaped(&largest, output.dims())?;
    l.reorder(&largest, &output)
}

/// The scores after the operation's subgraph.
fn changed(l: &mut Lowering<'_>, op: &Frozen, scores: Val) -> Result<Val, Failure> {
    let Some(graph) = op.object(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH).and_then(|o| o.as_graph()).cloned() else { return Ok(scores) };
    let uid = |id| op.int(id).ok_or_else(|| Failure::invalid("SDPA_FWD_SUBGRAPH", "no unique id of its input and output", "both"));
    let (input, output) = (uid(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID)?, uid(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID)?);
    l.values.insert(input, scores);
    for node in &graph.nodes {
        l.operation(node)?;
    }
    l.real = DataType::F32;
    let changed = l.values.get(&output).cloned();
    changed.ok_or_else(|| Failure::invalid("SDPA_FWD_SUBGRAPH_OUTPUT_UID", output, "a tensor that the graph writes"))
}

/// Masks the scores of keys and queries beyond the lengths of their sequences.
fn padded(l: &mut Lowering<'_>, scores: &Val, [q, kv]: &[Option<Val>; 2]) -> Result<Val, Failure> {
    let mut scores = scores.clone();
    for (length, d) in [(q, 2), (kv, 3)] {
        if let Some(length) = length {
            let inside = l.inside(d, scores.dims()[d], length)?;
            scores = l.select_or(&inside, &scores, f64::NEG_INFINITY)?;
        }
    }
    Ok(scores)
}

/// Which weights dropout keeps.
fn kept(l: &mut Lowering<'_>, op: &Frozen, weights: &Val, [seed, offset]: [i32; 2], probability: f64) -> Result<Val, Failure> {
    let (seed, offset) = (l.maybe(op, seed)?, l.maybe(op, offset)?);
    let start = Start { seed: l.whole_number(seed)?, offset: l.whole_number(offset)? };
    l.chances(*weights.dims(), 1.0 - probability, &start)
}

const BACKWARD_REFUSED: &[(i32, &str)] = &[
    (CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH, "the gradient of scores that a graph changes (SDPA_BWD_SUBGRAPH): build it of operations"),
    (CUDNN_ATTR_OPERATION_SDPA_BWD_SINK_DESC, "the gradient with a sink"),
    (CUDNN_ATTR_OPERATION_SDPA_BWD_DSINK_DESC, "the gradient of a sink"),
];

pub(super) fn backward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    refused(op, BACKWARD_REFUSED)?;
    let q = l.read(op, CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC)?;
    let (k, v) = (l.read(op, CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC)?, l.read(op, CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC)?);
    let (o, dout) = (l.read(op, CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC)?, l.read(op, CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC)?);
    let stats = l.read(op, CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC)?;
    let scale = l.maybe(op, CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC)?;
    let lengths = [l.maybe(op, CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_QDESC)?, l.maybe(op, CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_KVDESC)?];
    let [queries, keys] = lengths.each_ref().map(Option::as_ref);
    let (q, o, dout, stats) = (l.within(&q, queries)?, l.within(&o, queries)?, l.within(&dout, queries)?, l.within(&stats, queries)?);
    let (k, v) = (l.within(&k, keys)?, l.within(&v, keys)?);
    if [&q, &k, &v, &o, &dout].iter().any(|t| t.rank() != 4) {
        return Err(misfit("SDPA", q.dims(), "four dimensions"));
    }
    let heads = q.dims()[1];
    let (wide_k, wide_v) = (repeated(l, &k, heads)?, repeated(l, &v, heads)?);
    let mut scores = l.product(&q, &wide_k.transposed()?)?;
    if let Some(scale) = &scale {
        scores = l.mul(&scores, scale)?;
    }
    scores = padded(l, &scores, &lengths)?;
    // Fully masked rows have no statistics to subtract.
    let stats = l.with_number(BinaryAlg::Max, &stats, f64::from(f32::MIN))?;
    let below = l.sub(&scores, &stats)?;
    let weights = l.one(EltwiseAlg::Exp, [0.0; 2], &below)?;
    let mut slopes = l.product(&dout, &wide_v.transposed()?)?;
    let along = l.mul(&dout, &o)?;
    let along = l.reduced(ReductionAlg::Sum, &along, &[o.dims()[0], heads, o.dims()[2], 1])?;
    let dv = l.product(&weights.transposed()?, &dout)?;
    slopes = l.sub(&slopes, &along)?;
    slopes = l.mul(&weights, &slopes)?;
    if let Some(scale) = &scale {
        slopes = l.mul(&slopes, scale)?;
    }
    let dq = l.product(&slopes, &wide_k)?;
    let dk = l.product(&slopes.transposed()?, &q)?;
    for (gradient, of, id) in [
        (&dq, &q, CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC),
        (&dk, &k, CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC),
        (&dv, &v, CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC),
    ] {
        let output = l.output(op, id)?;
        let summed = summed(l, gradient, of.dims()[1])?;
        l.reorder(&summed, &output)?;
    }
    Ok(())
}

/// Repeats the heads that several query heads share.
fn repeated(l: &mut Lowering<'_>, value: &Val, heads: i64) -> Result<Val, Failure> {
    let d = *value.dims();
    if d[1] == heads {
        return Ok(value.clone());
    }
    if d[1] < 1 || heads % d[1] != 0 {
        return Err(misfit("KDESC", d, format_args!("a divisor of {heads} heads")));
    }
    let each = heads / d[1];
    let copies = l.temp(Tensor::plain([d[0], heads, d[2], d[3]], value.dtype())?);
    let split = copies.with(copies.tensor.layout.reshape(&[d[0], d[1], each, d[2], d[3]])?);
    let one = l.reshaped(value, &[d[0], d[1], 1, d[2], d[3]])?;
    l.reorder(&one.spread(split.dims())?, &split)?;
    Ok(copies)
}

/// Sums the gradients of query heads that share a head.
fn summed(l: &mut Lowering<'_>, value: &Val, heads: i64) -> Result<Val, Failure> {
    let d = *value.dims();
    if d[1] == heads {
        return Ok(value.clone());
    }
    let split = l.reshaped(value, &[d[0], heads, d[1] / heads, d[2], d[3]])?;
    let sum = l.reduced(ReductionAlg::Sum, &split, &[d[0], heads, 1, d[2], d[3]])?;
    l.reshaped(&sum, &[d[0], heads, d[2], d[3]])
}
