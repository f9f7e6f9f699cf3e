//! `few_columns:jit`, and `gemv:jit` of inner product: floating-point products with one side of few rows or few columns, neither packed;
//! the few columns may be integers, with scales and zero points. The rows of [`gemv`](super::gemv) run the same kernels.
//! The other side is streamed once, in place, by the kernels of `gemv`. With few columns that is the source: columns of the weights become
//! rows of the left operand, and rows of the source columns of the right one. Tiles would multiply idle lanes of columns.

use super::dots::MOST_COLUMNS;
use super::gemv::streamed;
use super::place;
use super::tiled::Request;
use crate::CpuTarget;
use crate::kernels::access::{Axis, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::dot::pack::Source;
use crate::kernels::gemv::{self, Operands, Places, Product, ReadyProduct, ReadyUnpacked, Unpacked};
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::PortableEpilogue;
use crate::kernels::scratch::Scratch;
use crate::row::{Generated, TOO_LARGE};
use oxidnn_runtime::{Ctx, Decision, Skip};
use oxidnn_spec::{Arg, Attr, Blocking, DataType, Error, Problem, Tensor};

/// Most columns of a product on a processor: with more than half of its lanes, a tile is faster.
pub(crate) fn most_columns(target: &CpuTarget) -> i64 {
    target.jit.map_or(0, |isa| isa.width().lanes() as i64 / 2)
}

/// The same of weights of open layout for tiles of AMX, which multiply any number of columns up to 16 in the same time. Measured on
/// Sapphire Rapids.
const AMX_COLUMNS: i64 = 2;
/// Least K from which on weights of open layout and of several columns stay plain: with less, packing them for few rows costs more than
/// idle lanes of panels do for many.
const PLAIN_DEPTH: usize = 512;
/// The same for bf16 with AMX, whose tiles of some rows are fast enough until K is so long that memory limits both.
const AMX_PLAIN_DEPTH: usize = 8192;
/// Least K, for one column and for several: the work after each sum costs as much as a few vectors of products.
const DEPTH: [usize; 2] = [64, 768];
/// Columns that idle at least half of the lanes of 256 bits; with more, K is at least `DEPTH` of several.
const NARROW_COLUMNS: i64 = 4;
/// What part of `DEPTH` and `WALKED` several narrow columns need with vectors of 512 bits. Measured on Sapphire Rapids.
const WIDE_PART: usize = 4;
/// Rows for each of more columns of f16 from which on it pays to convert the columns. Measured on Sapphire Rapids.
const F16_ROWS: i64 = 4;
/// Least elements of the streamed side, for one column and for several, that make preparing the other side worthwhile. `DEPTH` and `WALKED`
/// were measured on Zen 3.
const WALKED: [usize; 2] = [4 << 10, 96 << 10];
/// Least depth where the other side is contiguous across it: lanes are results, whose sums pass through L1.
const LINES: usize = 16;
/// Least bytes of depth for each of several columns that are contiguous, and so taken as they lie: lanes are added for each. Measured on Zen 4.
const CONTIGUOUS: usize = 128;

/// A planned product of few rows; also one of more rows with compressed weights.
#[derive(Debug)]
pub(crate) struct Few {
    attr: Attr,
    /// The operand of few rows, the streamed one, and the result.
    args: [Arg; 3],
    product: Kind,
    places: Places,
    /// Whether the kernels take the words of the few rows.
    has_words: bool,
    /// Whether scales of the streamed side vary along K; these are applied before the epilogue.
    grouped: bool,
}

/// How it is computed.
#[derive(Debug)]
pub(super) enum Kind {
    Few(Product),
    Many(Unpacked),
}

/// Its generated kernels.
pub(crate) enum Code {
    Few(Box<ReadyProduct>),
    Many(Box<ReadyUnpacked>),
}

/// Rows for each column but the first from which on it pays to convert columns of integers, element by element. Measured on Zen 4.
const INTEGER_ROWS: i64 = 6;

/// Whether these are integers all of which bf16 represents exactly.
fn is_small_integer(dtype: DataType) -> bool {
    matches!(dtype, DataType::S8 | DataType::U8 | DataType::S4 | DataType::U4)
}

/// Least K of few columns of bytes for a dot product for each element. Tiles of AMX multiply several by bf16 faster.
const MIN_BYTES_DEPTH: usize = 1024;

/// Whether weights of open layout are so few columns of floating-point elements or bytes that they stay plain, contiguous along K: in panels all
/// other lanes would be zeros, in memory and in registers.
pub(crate) fn stay_plain(src: DataType, weights: &Tensor, [columns, depth]: [usize; 2], target: &CpuTarget) -> bool {
    let (has_tiles, columns) = (target.jit.is_some_and(|isa| isa.amx), columns as i64);
    if weights.dtype == DataType::S8 {
        let most = if has_tiles && src == DataType::Bf16 { 1 } else { MOST_COLUMNS as i64 };
        return target.jit.is_some() && (1..=most).contains(&columns) && depth >= MIN_BYTES_DEPTH;
    }
    let real = [DataType::F32, DataType::Bf16, DataType::F16].contains(&weights.dtype);
    let (most, least) = if has_tiles && weights.dtype == DataType::Bf16 {
        (AMX_COLUMNS, AMX_PLAIN_DEPTH)
    } else {
        (most_columns(target), if columns > NARROW_COLUMNS { DEPTH[1] } else { PLAIN_DEPTH })
    };
    real && (columns == 1 || (2..=most).contains(&columns) && depth >= least)
}

/// Refuses products of other than few columns, or for which tiles are faster; the request is the transposed product.
fn check_columns(request: &Request<'_>) -> Result<(), Skip> {
    let Request { a, b, target, .. } = *request;
    let (few, many) = (a.tensor, b.tensor);
    // Tiles of AMX multiply any number of columns up to 16 in the same time.
    let on_amx = target.jit.is_some_and(|isa| isa.amx) && many.dtype == DataType::Bf16;
    let most = most_columns(target).min(if on_amx { NARROW_COLUMNS } else { i64::MAX });
    let (columns, rows, depth) = (few.dims()[a.rows[0]], many.dims()[b.columns[0]], place::count(many, b.rows));
    if few.blocking().is_none_or(|b| !b.is_plain()) && columns > 1 {
        return Err(Skip::Layout("of the weights: panels".into()));
    }
    // Integers are converted in any case.
    let contiguous = !is_small_integer(few.dtype) && few.blocking().is_some_and(|b| Axis::new(a.columns, few.dims()).chained(b) == Some(1));
    let several = usize::from(columns > 1 && !contiguous && !is_small_integer(few.dtype));
    let by_row = many.blocking().is_some_and(|own| own.is_plain() && own.strides[b.columns[0]] == 1 && rows > 1);
    let part = if most > NARROW_COLUMNS && several == 1 && columns <= NARROW_COLUMNS { WIDE_PART } else { 1 };
    let least = match by_row {
        _ if columns > NARROW_COLUMNS => DEPTH[1],
        true => LINES,
        false if columns > 1 && contiguous => CONTIGUOUS * columns as usize * 8 / few.dtype.bits(),
        false => DEPTH[several] / part,
    };
    let walked = depth.saturating_mul(rows.max(0) as usize);
    let least_rows = match few.dtype {
        dtype if is_small_integer(dtype) => INTEGER_ROWS * (columns - 1),
        DataType::F16 if columns > NARROW_COLUMNS => F16_ROWS * columns,
        _ => columns,
    };
    let most = if by_row || is_small_integer(few.dtype) { most.min(NARROW_COLUMNS) } else { most };
    let fits = (1..=most).contains(&columns) && rows >= columns.max(least_rows) && depth >= least && walked >= WALKED[several] / part;
    if fits { Ok(()) } else { Err(Skip::Shape("not of so few columns by so many rows and so much depth that a walk pays")) }
}

impl Few {
    /// The product of few columns, as the transposed one of few rows, unless tiles are faster; and its bytes of scratch.
    ///
    /// # Errors
    /// The reason.
    pub(crate) fn columns(request: &Request<'_>) -> Result<(Few, usize), Skip> {
        let request = request.transposed();
        check_types(&request)?;
        check_columns(&request)?;
        Few::rows(&request)
    }

    /// The product of few rows, of one floating-point type or of integers by it, and its bytes of scratch.
    ///
    /// # Errors
    /// Products that the kernels do not take.
    pub(crate) fn rows(request: &Request<'_>) -> Result<(Few, usize), Skip> {
        check_types(request)?;
        let Request { a, attr, .. } = *request;
        let quantised = |arg: &Arg| *arg != Arg::DST && !(*arg == a.arg && is_small_integer(a.tensor.dtype));
        if attr.scales.keys().chain(attr.zero_points.keys()).any(quantised) {
            return Err(Skip::Attr("quantised operands".into()));
        }
        let streamed = streamed(request)?;
        Few::new(request, streamed, Kind::Few(Product::new(streamed)?))
    }

    /// The kernel of a planned product of these operands, and its bytes of scratch.
    pub(super) fn new(request: &Request<'_>, streamed: gemv::Request, product: Kind) -> Result<(Few, usize), Skip> {
        let Request { a, b, c, attr, batch, .. } = *request;
        let scratch_bytes = match &product {
            Kind::Few(product) => product.scratch_bytes(),
            Kind::Many(product) => product.scratch_bytes(),
        };
        let has_words = matches!(&product, Kind::Few(product) if product.takes_words() && is_natural(request, product.word_type()));
        let dims = [[b.columns[0], b.rows[0]], [c.rows[0], c.columns[0]]];
        let places = Places::new([a.tensor, b.tensor, c.tensor], batch, [a.rows, a.columns], dims)?;
        let grouped = streamed.grouped.is_some_and(|g| g.scale.is_some());
        let few = Few { attr: attr.clone(), args: [a.arg, b.arg, c.arg], product, places, has_words, grouped };
        Ok((few, scratch_bytes.ok_or(TOO_LARGE)?))
    }
}

/// Whether the left operand has the kernels' type, no quantisation, and is contiguous along K, in whole words.
pub(super) fn is_natural(request: &Request<'_>, words: DataType) -> bool {
    let Request { a, attr, batch, .. } = *request;
    let t = a.tensor;
    let even = |n: &i64| words == DataType::F32 || n % 2 == 0;
    let depth = Axis::new(a.columns, t.dims());
    let row = |b: &Blocking| b.strides[a.rows[0]] * i64::from(t.dims()[a.rows[0]] > 1);
    let plain = t.blocking().is_some_and(|b| {
        b.is_plain() && (depth.chained(b) == Some(1) || depth.len() == 1) && b.strides[..batch].iter().chain(&[row(b), b.offset]).all(even)
    });
    plain && t.dtype == words && ![&attr.scales, &attr.zero_points].iter().any(|q| q.contains_key(&a.arg))
}

/// Refuses all but operands of one floating-point type, and few rows of integers by such a type.
fn check_types(request: &Request<'_>) -> Result<(), Skip> {
    let [few, many] = [request.a, request.b].map(|m| m.tensor.dtype);
    let real = [DataType::F32, DataType::Bf16, DataType::F16].contains(&many);
    if real && (few == many || is_small_integer(few)) { Ok(()) } else { Err(Skip::DataType(format!("{few} by {many}"))) }
}

impl Generated for Few {
    type Code = Code;

    fn decision(&self, problem: &Problem) -> Decision {
        let how = match &self.product {
            Kind::Few(product) => product.how(),
            Kind::Many(product) => product.how(),
        };
        how.decision(problem)
    }

    fn build(&self) -> Result<Code, Error> {
        Ok(match &self.product {
            Kind::Few(product) => Code::Few(Box::new(product.build()?)),
            Kind::Many(product) => Code::Many(Box::new(product.build()?)),
        })
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        const ZERO: Broadcast<'static> = Broadcast::constant(0.0);
        const ONE: Broadcast<'static> = Broadcast::constant(1.0);
        let ([few, many, result], attr, places) = (self.args, &self.attr, &self.places);
        let mut a = Source::shifted(simd, ctx, attr, few)?;
        let [b, c] = [View::of(simd, ctx, many)?, View::of(simd, ctx, result)?];
        c.zero_padding();
        let (mut factors, mut scale, mut zero) = ((!attr.scales.is_empty()).then_some([ONE; 2]), None, None);
        if let Some([of_few, of_many]) = &mut factors {
            let (own, depth) = (Broadcast::scale(simd, ctx, attr, few, a.view.dims())?, places.axes[1].fastest());
            if few == Arg::WEIGHTS || own.varies(depth) {
                a.scale = Some(own).filter(|scale| !scale.is_constant(1.0));
            } else {
                *of_few = own.without(depth);
            }
            let own = Broadcast::scale(simd, ctx, attr, many, b.dims())?;
            if self.grouped {
                scale = Some(own);
            } else {
                *of_many = own.without(places.weights[1]);
            }
        }
        if attr.zero_points.contains_key(&many) {
            zero = Some(Broadcast::zero_point(simd, ctx, attr, many, b.dims())?);
        }
        let column = places.dst[usize::from(few != Arg::WEIGHTS)];
        let bias = View::optional(simd, ctx, Arg::BIAS)?;
        let bias =
            bias.map(|bias| if bias.dims().len() == c.dims().len() { Broadcast::tensor(bias) } else { Broadcast::along(bias, column) });
        let before = Before { factors, bias };
        let operands = Operands {
            places,
            a: &a,
            words: ctx.input(few).filter(|_| self.has_words),
            b: b.buf(),
            zero: zero.as_ref().unwrap_or(&ZERO),
            scale: scale.as_ref().unwrap_or(&ONE),
            factors: [Arg::scale(many), Arg::zero_point(many)].map(|arg| ctx.bound(arg).and_then(|b| b.regions.first()?.bytes())),
            epilogue: &PortableEpilogue::new(Chain::new(simd, ctx, attr, result)?.with(&before))?,
        };
        match code {
            Code::Few(product) => product.run(&operands, ctx.executor(), &mut scratch),
            Code::Many(product) => product.run((simd, &operands), ctx.executor(), &mut scratch),
        }
    }
}
