//! `gemv:jit`: products of up to 8 rows, which stream the weights once and decode them in registers; and `unpacked:jit` and `unpacked:amx`:
//! products of more rows with weights of 8 or 4 bits, or of f16, which the macrokernel unpacks part by part.

use super::few::{Few, Kind, is_natural};
use super::jit::plan_on;
use super::place;
use super::tiled::{Matrix, Request, product};
use crate::CpuTarget;
use crate::kernels::amx;
use crate::kernels::gemv::{self, Factor, Grouped, MAX_ROWS, Product, Unpacked, Weights};
use crate::kernels::macrokernel::BLayout;
use crate::kernels::microkernel::layout::panel_columns;
use crate::kernels::microkernel::{self, Epilogue};
use crate::ops::{passes, support};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::{Attr, Blocking, DataType, FpMathMode, Op, Problem, Quant, Tensor};

/// Takes dense products of few rows and a floating-point source.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    if !(1..=MAX_ROWS as i64).contains(&op.src.dims()[op.src.dims().len() - 2]) {
        return Err(Skip::Shape("not of 1 to 8 rows, known when it is planned"));
    }
    plan_on(problem, target, support::isa(target)?, |request| {
        let streamed = streamed_by_floats(request)?;
        if request.isa.amx && is_faster_in_tiles(request) == Some(true) {
            return Err(Skip::Shape("enough rows for tiles of AMX"));
        }
        passes::left(epilogue(request, &streamed), request.attr)?;
        if streamed.weights.are_short(request.isa, UNPACKED_COLUMNS * (streamed.rows - 1)) {
            return Err(Skip::Shape("rows of weights so short that unpacking them is faster"));
        }
        Few::new(request, streamed, Kind::Few(Product::new(streamed)?))
    })
}

/// Columns of weights of 4 bits, for each row of the source but the first, up to which unpacking rows that leave a vector idle is faster.
/// Measured on Zen 4.
const UNPACKED_COLUMNS: usize = 16;
/// Rows from which on tiles are faster than gemv, if they multiply the weights' type directly: they read or pack the weights once for all
/// rows. By type (16 bits, f32) and layout (panels, row-major, transposed). Measured on Zen 4.
const MIN_TILE_ROWS: [[usize; 3]; 2] = [[1, 4, 7], [2, MAX_ROWS + 1, MAX_ROWS + 1]];
/// A time model for transposed weights and single columns in L2, in nanoseconds, fitted to 323 products on Zen 3 and Sapphire Rapids:
/// `PACK_LINE_NS` is packing a line of a panel by a vector of columns, in f32 and in bf16 with VNNI pairs, and `PACK_PANEL_NS` beginning a
/// panel; `COLUMN_STEP_NS` an element of a single column, whose products wait for each other in one sum; of gemv, `GEMV_SETUP_NS` is the set-up,
/// `GEMV_STEP_NS` a vector of products, `GEMV_LANE_SUM_NS` adding the lanes of a sum.
const PACK_LINE_NS: [f64; 2] = [5.0, 2.6];
const PACK_PANEL_NS: f64 = 10.0;
const COLUMN_STEP_NS: f64 = 1.2;
const GEMV_SETUP_NS: f64 = 470.0;
const GEMV_STEP_NS: f64 = 0.37;
const GEMV_LANE_SUM_NS: f64 = 2.0;
/// Rows from which on tiles are faster, for other plain weights in L2: `least`, plus one for each `more` of K, since gemv adds the lanes of
/// every row's sums, while packing takes time in proportion to K. By type (f32 and f16; bf16 with native pairs; other bf16) and layout
/// (row-major, transposed).
const MIN_TILE_ROWS_IN_L2: [[[usize; 2]; 2]; 3] = [[[1, usize::MAX], [1, 64]], [[1, 96], [1, 192]], [[2, 32], [1, 64]]];
/// With panels of weights of up to this part of L2, in lanes, tiles are faster from one row on, because setting up gemv takes longer: a
/// quarter of L2 with 512-bit vectors, an eighth with 256-bit ones, measured on Zen 4; most of L2 on processors with AMX, measured on Sapphire Rapids.
const L2_LANES_PER_PANELS: [usize; 2] = [64, 20];
/// Weights so small that setting up gemv takes longer than tiles do.
const MAX_SETUP_BOUND_ELEMENTS: usize = 6 << 10;
/// Largest K of such small weights for tiles that convert bf16 to f32 first, in whole panels even of few columns.
const MAX_CONVERTED_DEPTH: usize = 128;
/// K from which on converting f16 for a panel takes longer than gemv, which converts whole vectors as it walks along rows.
const MIN_F16_WALK_DEPTH: usize = 2048;
/// Rows from which on tiles are faster for native bf16 in rows of less than three vectors.
const MIN_TILE_ROWS_NARROW: usize = 4;
/// Columns of bf16 from which on gemv is faster for single rows of row-major weights; most columns of transposed weights of a 16-bit type that
/// needs a conversion for which tiles are faster; and K, in vectors, from which on gemv is faster with panels, on vectors and on AMX. Measured
/// on Zen 3 and Sapphire Rapids, 1,500 products.
const MIN_ROW_COLUMNS: usize = 24;
const MAX_CONVERTED_COLUMNS: usize = 32;
const MIN_PANEL_VECTORS: [usize; 2] = [8, 4];
/// As `MIN_TILE_ROWS`, for transposed weights and small K: rows, plus one for each 48 of K, since gemv adds the lanes of every sum.
const MIN_TILE_ROWS_SMALL_K: [usize; 2] = [3, 48];
/// As `MIN_TILE_ROWS`, for weights in memory.
const MIN_TILE_ROWS_IN_MEMORY: usize = 6;
/// As `MIN_TILE_ROWS`, for row-major f32 that tiles read in place, because the lines of a panel stay in L2.
const MIN_TILE_ROWS_IN_PLACE: usize = 4;
/// As `MIN_TILE_ROWS`, for panels on AMX, in L2 and beyond. AMX tiles take as long for any number of rows up to 16; gemv keeps up with L2,
/// and with memory, up to these numbers.
const MIN_AMX_TILE_ROWS: [usize; 2] = [2, 4];
/// The same for plain weights, which AMX packs, unless they come from memory.
const MIN_AMX_PACKED_ROWS: usize = 7;
/// Weights larger than this many times L2 are taken to be in memory.
const L2_MULTIPLE_IN_MEMORY: usize = 8;

/// Whether tiles are faster than gemv for the few rows of a product; `None` unless the operands are of one floating-point type, without
/// scales and zero points.
pub(super) fn is_faster_in_tiles(request: &Request<'_>) -> Option<bool> {
    let Request { a, b, attr, target, .. } = *request;
    let plain = !a.tensor.dtype.is_integral() && attr.scales.is_empty() && attr.zero_points.is_empty();
    let alike = plain && a.tensor.dtype == b.tensor.dtype;
    alike.then(|| prefers_tiles(place::count(a.tensor, a.rows), b.tensor, (b.rows, b.columns[0]), target))
}

/// Whether `rows` rows are enough for tiles to be faster than gemv, for weights of the rows' floating-point type. `depth` and `column` are
/// the weights' dimensions.
pub(in crate::ops) fn prefers_tiles(rows: usize, weights: &Tensor, (depth, column): (&[usize], usize), target: &CpuTarget) -> bool {
    let (Some(b), Some(isa)) = (weights.blocking(), target.jit) else { return false };
    let Ok(product) = product(weights.dtype, weights.dtype) else { return false };
    let deep = place::count(weights, depth);
    let wide = place::count(weights, &[column]);
    let layout = if !b.is_plain() { 0 } else { 1 + usize::from(b.strides[column] != 1) };
    let [beyond, far] = [1, L2_MULTIPLE_IN_MEMORY].map(|times| weights.bytes() > target.caches.l2 * times);
    let on_amx = isa.amx && amx::check(product).is_ok();
    let pairs = product == microkernel::DotType::Bf16 && product.is_native(isa);
    let one = wide == 1 && layout > 0;
    // Columns that end within a word are finished element by element.
    if layout == 2 && pairs && rows > 1 && deep % 2 == 1 {
        return true;
    }
    if (layout == 2 || one) && !beyond && (pairs || weights.dtype == DataType::F32) {
        let (lanes, of_type) = (isa.width().lanes(), usize::from(pairs));
        let vectors = deep.div_ceil(lanes << of_type);
        // More rows of a single column take both about the same time longer.
        let (line, sums) = if one { (COLUMN_STEP_NS, 1) } else { (PACK_LINE_NS[of_type], rows * wide) };
        let tiles = (deep as f64 * line + PACK_PANEL_NS) * wide.div_ceil(lanes) as f64;
        return tiles <= GEMV_SETUP_NS + sums as f64 * (vectors as f64 * GEMV_STEP_NS + GEMV_LANE_SUM_NS);
    }
    let (native, lanes) = (product.is_native(isa), isa.width().lanes());
    let converted = weights.dtype == DataType::Bf16 && !native && deep > MAX_CONVERTED_DEPTH;
    if (!one || !native) && !converted && weights.bytes() * 8 / weights.dtype.bits() <= MAX_SETUP_BOUND_ELEMENTS {
        return true;
    }
    // Rows of few columns fill a part of a vector each, and panels of small K end soon: both have more of gemv's loops than of products.
    // Without native pairs gemv converts single columns for every row.
    let few = wide < MIN_ROW_COLUMNS && (!one || !native) || native && !one && rows >= MIN_TILE_ROWS_NARROW && wide < 3 * lanes;
    let narrow = match layout {
        0 => deep < MIN_PANEL_VECTORS[usize::from(on_amx)] * lanes,
        1 => weights.dtype == DataType::Bf16 && few,
        _ => weights.dtype != DataType::F32 && !native && wide <= MAX_CONVERTED_COLUMNS && (rows > 1 || !isa.avx512),
    };
    if narrow {
        return true;
    }
    if on_amx {
        let least = if layout == 0 { MIN_AMX_TILE_ROWS[usize::from(beyond)] } else { MIN_AMX_PACKED_ROWS };
        return rows >= least && (layout == 0 || !far);
    }
    if layout == 1 && weights.dtype == DataType::F16 && !native && isa.avx512 && (wide >= lanes || rows == 1) && deep >= MIN_F16_WALK_DEPTH
    {
        return false;
    }
    if layout == 0 && native && weights.bytes() <= target.caches.l2 * lanes / L2_LANES_PER_PANELS[usize::from(isa.amx)] {
        return true;
    }
    // A row meets each element once, so that more of L2 than a part of it only serves several rows.
    let streams = rows == 1 && layout == 1 && weights.dtype == DataType::F32 && weights.bytes() > target.caches.l2 / 2;
    if layout > 0 && !beyond && !streams {
        let of_type = if weights.dtype == DataType::Bf16 { 2 - usize::from(native) } else { 0 };
        let [least, more] = MIN_TILE_ROWS_IN_L2[of_type][layout - 1];
        return rows >= least + deep.saturating_add(more / 4) / more;
    }
    let right = place::right(isa, weights, depth, &[column], product.vnni());
    // Without native instructions for the type, tiles convert each element for every row, as gemv does, with fewer sums in flight.
    let least = if native { 1 } else { 2 };
    let small_k = if layout == 2 { MIN_TILE_ROWS_SMALL_K[0] + deep / MIN_TILE_ROWS_SMALL_K[1] } else { usize::MAX };
    let by_layout = MIN_TILE_ROWS[usize::from(weights.dtype == DataType::F32)][layout].min(small_k).max(least);
    // Weights in memory are streamed line by line.
    let right = right.map(|(right, place)| if far { right } else { place::of_rows(isa, rows, weights, (right, &place)) });
    let enough = if right == Ok(BLayout::InPlace) { MIN_TILE_ROWS_IN_PLACE } else { by_layout };
    rows >= if far { enough.max(MIN_TILE_ROWS_IN_MEMORY) } else { enough }
}

/// Rows from which on converting f16 weights once pays: in panels or rows, and in columns, which are transposed, too; and elements of a matrix of weights
/// from which on its panels are used often enough. Measured on Zen 3 and on a Xeon.
const MIN_F16_ROWS: [i64; 2] = [16, 24];
const MIN_F16_ELEMENTS: i64 = 1 << 16;

/// Takes dense products with weights of 8 or 4 bits, or of f16 if they have more rows than gemv takes, and a floating-point source.
pub(super) fn plan_compressed(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, support::isa(target)?.without_amx(), unpacked)
}

/// Rows from which on AMX, which unpacks all weights first, is faster than vectors, which decode them for every row, for weights of 8 and of
/// 4 bits: in panels, rows and columns. Measured on Emerald Rapids. Rows of more than twice L2 are better decoded as they are read.
const MIN_AMX_UNPACK_ROWS: [[i64; 3]; 2] = [[5, 7, 6], [3, 7, 4]];

/// The same on AMX, if both operands are bf16 once weights are unpacked, and there are enough rows.
pub(super) fn plan_compressed_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    amx::isa(target.jit)?;
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    let rows = op.dst.dims()[op.dst.dims().len() - 2];
    let [of_four, wide] = [op.weights.dtype.bits() <= 4, op.weights.bytes() > 2 * target.caches.l2];
    plan_on(problem, target, support::isa(target)?, |request| {
        let plain = request.b.tensor.blocking().filter(|b| b.is_plain());
        let layout = plain.map_or(0, |b| 1 + usize::from(b.strides[request.b.columns[0]] != 1));
        let least = if layout == 1 && wide { MAX_ROWS as i64 + 1 } else { MIN_AMX_UNPACK_ROWS[usize::from(of_four)][layout] };
        if rows < least { Err(Skip::Shape("so few rows")) } else { unpacked(request) }
    })
}

fn unpacked(request: &Request<'_>) -> Result<(Few, usize), Skip> {
    let streamed = streamed_by_floats(request)?;
    let Request { a, b, c, isa, target, .. } = *request;
    let words = Unpacked::word_type(&streamed);
    if b.tensor.dtype == DataType::F16 {
        let by_column = b.tensor.blocking().is_some_and(|own| own.is_plain() && own.strides[b.columns[0]] != 1);
        let elements = (place::count(b.tensor, b.rows) * place::count(b.tensor, b.columns)) as i64;
        if c.tensor.dims()[c.rows[0]] < MIN_F16_ROWS[usize::from(by_column)] || elements < MIN_F16_ELEMENTS {
            return Err(Skip::Shape("so few rows or weights that tiles convert as they multiply"));
        }
        // The source is copied element by element, except where it is contiguous.
        if !a.tensor.blocking().is_some_and(|own| own.is_plain() && own.strides[a.columns[0]] == 1) {
            return Err(Skip::Layout("of the source: not contiguous along K".into()));
        }
    }
    // Plain weights are unpacked with tables of scales and zero points.
    let plain = b.tensor.blocking().is_some_and(Blocking::is_plain);
    let streamed = gemv::Request { grouped: streamed.grouped.map(|g| if plain { g.in_tables() } else { g }), ..streamed };
    let row = a.tensor.blocking().map(|own| own.strides[a.rows[0]] as usize * words.bits() / 8);
    let epilogue = passes::left(epilogue(request, &streamed), request.attr)?;
    let product = Unpacked::new(streamed, row.filter(|_| is_natural(request, words)), epilogue, target)?;
    if product.is_on_amx() != isa.amx {
        return Err(Skip::Op("products that tiles of AMX take"));
    }
    Few::new(request, streamed, Kind::Many(product))
}

/// The epilogue in registers, if one is possible.
fn epilogue(request: &Request<'_>, streamed: &gemv::Request) -> Option<Epilogue> {
    place::plain(request.c.tensor, request.c.rows, request.c.columns).ok()?;
    let mut attr = request.attr.clone();
    // Scales that vary along K are applied while unpacking.
    if streamed.grouped.is_some_and(|g| g.scale.is_some()) {
        attr.scales.remove(&request.b.arg);
    }
    // All products have the same lines of operands.
    if request.differs() { None } else { Request { attr: &attr, ..*request }.epilogue(false) }
}

/// The product as kernels that stream the right operand take it, for a left operand of floating-point elements.
fn streamed_by_floats(request: &Request<'_>) -> Result<gemv::Request, Skip> {
    let dtype = request.a.tensor.dtype;
    support::operand_type(dtype)?;
    if dtype.is_integral() { Err(Skip::DataType(format!("{dtype} as source"))) } else { streamed(request) }
}

/// The product as kernels that stream the right operand take it.
pub(super) fn streamed(request: &Request<'_>) -> Result<gemv::Request, Skip> {
    let Request { attr, isa, target, a, b, c, .. } = *request;
    let grouped = grouped(&b, attr, isa)?;
    let adjusted = [&attr.scales, &attr.zero_points].iter().any(|q| q.contains_key(&a.arg));
    Ok(gemv::Request {
        isa,
        workers: target.threads,
        weights: Weights::new(b.tensor, b.columns[0], b.rows, isa)?,
        batches: c.tensor.dims()[..request.batch].iter().product::<i64>() as usize,
        rows: place::count(c.tensor, c.rows),
        bf16: !adjusted && (a.tensor.dtype == DataType::Bf16 || a.tensor.dtype.bits() <= 8),
        grouped,
        rounds: matches!(attr.fpmath.mode, FpMathMode::Bf16 | FpMathMode::Any),
        zero: attr.zero_points.contains_key(&b.arg) && grouped.is_none_or(|g| g.zero.is_none()),
    })
}

/// Group size of a quantisation that varies along K.
fn group_size(quant: Option<&Quant>, depth: usize) -> Option<usize> {
    let quant = quant.filter(|q| q.mask >> depth & 1 == 1)?;
    Some(quant.groups.first().map_or(1, |g| g.max(&1).unsigned_abs() as usize))
}

/// The part of the quantisation of the right operand that varies along K.
fn grouped(b: &Matrix<'_>, attr: &Attr, isa: Isa) -> Result<Option<Grouped>, Skip> {
    let (dims, depth, column) = (b.tensor.dims(), b.rows[0], b.columns[0]);
    let [scale, zero] = [&attr.scales, &attr.zero_points].map(|q| q.get(&b.arg));
    let sizes = [scale, zero].map(|q| group_size(q, depth));
    let Some(size) = sizes.iter().flatten().copied().min() else { return Ok(None) };
    if sizes.iter().flatten().any(|s| s % size != 0) || dims[..depth].iter().any(|d| *d != 1) {
        return Err(Skip::Attr("groups of several sizes, or of a batch of weights".into()));
    }
    let panels = panel_columns(isa, dims[column] as usize) as i64;
    let whole = b.tensor.blocking().is_some_and(|b| dims[column] % b.inner.of(column).max(panels) == 0);
    let factor = |quant: &Quant| {
        use DataType::{Bf16, F16, F32, S8, U8};
        let every = quant.mask >> column & 1 == 1 && quant.groups.get(1).is_none_or(|g| *g <= 1);
        let read = matches!(quant.dtype, F32 | Bf16 | F16 | U8 | S8) && !quant.on_host;
        let in_place = whole && every && read && group_size(Some(quant), depth) == Some(size);
        if in_place { Factor::InPlace(quant.dtype) } else { Factor::Table }
    };
    Ok(Some(Grouped { size, scale: scale.filter(|_| sizes[0].is_some()).map(factor), zero: zero.map(factor) }))
}
