//! `few_columns:jit`, and `gemv:jit` of inner product: floating-point products with one side of few rows or few columns, neither packed;
//! the few columns may be integers, with scales and zero points. The rows of [`gemv`](super::gemv) run the same kernels.
//! The other side is streamed once, in place, by the kernels of `gemv`. With few columns that is the source: columns of the weights become
//! rows of the left operand, and rows of the source columns of the right one. Tiles would multiply idle lanes of columns.

use crate::CpuTarget;
use crate::kernels::access::{Axis, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::dot::pack::Source;
use crate::kernels::epilogue::{self, Epilogue};
use crate::kernels::gemv::{Operands, Places, Product, ReadyProduct, ReadyUnpacked, Request, Unpacked, Weights};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::ops::support;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_runtime::{Ctx, Decision, Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Error, Problem, Tensor};

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

/// An operand of a product.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// Which argument it is.
    pub(crate) arg: Arg,
    /// The dimension of its rows or columns, in the operand and in the result.
    pub(crate) across: [usize; 2],
    /// Dimensions that make up K, slowest first.
    pub(crate) depth: Vec<usize>,
}

/// The operands of a product.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    /// The operand of few rows or columns.
    pub(crate) few: Side,
    /// The streamed operand.
    pub(crate) many: Side,
    /// The result.
    pub(crate) result: Arg,
    /// Number of leading batch dimensions.
    pub(crate) batch: usize,
}

/// A planned product; also one of more rows with compressed weights.
#[derive(Debug)]
pub(crate) struct Few {
    attr: Attr,
    sides: Sides,
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

/// Whether weights of open layout are so few columns of floating-point elements that they stay plain, contiguous along K: in panels all
/// other lanes would be zeros, in memory and in registers.
pub(crate) fn stay_plain(weights: &Tensor, columns: i64, depth: usize, target: &CpuTarget) -> bool {
    let real = [DataType::F32, DataType::Bf16, DataType::F16].contains(&weights.dtype);
    let on_amx = target.jit.is_some_and(|isa| isa.amx) && weights.dtype == DataType::Bf16;
    let (most, least) = if on_amx {
        (AMX_COLUMNS, AMX_PLAIN_DEPTH)
    } else {
        (most_columns(target), if columns > NARROW_COLUMNS { DEPTH[1] } else { PLAIN_DEPTH })
    };
    real && (columns == 1 || (2..=most).contains(&columns) && depth >= least)
}

impl Side {
    fn of<'p>(&self, problem: &'p Problem) -> Result<&'p Tensor, Skip> {
        problem.op.tensor(self.arg).ok_or(Skip::Op("without an operand"))
    }
}

impl Sides {
    /// Whether both are floating-point tensors of one type, or the few rows or columns integers, and of known sizes.
    fn check(&self, problem: &Problem) -> Result<(), Skip> {
        support::known(problem)?;
        let (few, many) = (self.few.of(problem)?, self.many.of(problem)?);
        if problem.op.operands().iter().any(|o| o.tensor.is_empty()) {
            return Err(Skip::Shape("empty"));
        }
        let real = [DataType::F32, DataType::Bf16, DataType::F16].contains(&many.dtype);
        if real && (few.dtype == many.dtype || is_small_integer(few.dtype)) {
            Ok(())
        } else {
            Err(Skip::DataType(format!("{} by {}", few.dtype, many.dtype)))
        }
    }

    /// Refuses products with other than few columns, or for which tiles are faster.
    ///
    /// # Errors
    /// The reason.
    pub(crate) fn check_columns(&self, problem: &Problem, target: &CpuTarget) -> Result<(), Skip> {
        self.check(problem)?;
        let (few, many) = (self.few.of(problem)?, self.many.of(problem)?);
        // Tiles of AMX multiply any number of columns up to 16 in the same time.
        let on_amx = target.jit.is_some_and(|isa| isa.amx) && many.dtype == DataType::Bf16;
        let most = most_columns(target).min(if on_amx { NARROW_COLUMNS } else { i64::MAX });
        let (columns, rows) = (few.dims()[self.few.across[0]], many.dims()[self.many.across[0]]);
        let depth = self.many.depth.iter().map(|d| many.dims()[*d] as usize).fold(1, usize::saturating_mul);
        if few.blocking().is_none_or(|b| !b.is_plain()) && columns > 1 {
            return Err(Skip::Layout("of the weights: panels".into()));
        }
        // Integers are converted in any case.
        let contiguous =
            !is_small_integer(few.dtype) && few.blocking().is_some_and(|b| Axis::new(&self.few.depth, few.dims()).chained(b) == Some(1));
        let several = usize::from(columns > 1 && !contiguous && !is_small_integer(few.dtype));
        let by_row = many.blocking().is_some_and(|b| b.is_plain() && b.strides[self.many.across[0]] == 1 && rows > 1);
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

    /// Plans a problem whose layouts are resolved.
    ///
    /// # Errors
    /// Products that the kernels do not take.
    pub(crate) fn plan(self, problem: Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
        let (kernel, scratch_bytes) = self.product(&problem, target)?;
        RowPlan::of(problem, target, Some(scratch_bytes), kernel)
    }

    /// The kernel of a problem whose layouts are resolved, and its bytes of scratch.
    ///
    /// # Errors
    /// Products that the kernels do not take.
    pub(crate) fn product(self, problem: &Problem, target: &CpuTarget) -> Result<(Few, usize), Skip> {
        self.check(problem)?;
        let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
        let (few, many) = (self.few.of(problem)?, self.many.of(problem)?);
        let result = problem.op.tensor(self.result).ok_or(Skip::Op("without a result"))?;
        support::dense(problem)?;
        epilogue::check(&problem.attr, result)?;
        let attr = &problem.attr;
        let adjusted = attr.scales.contains_key(&self.few.arg) || attr.zero_points.contains_key(&self.few.arg);
        let quantised = |arg: &Arg| *arg != Arg::DST && !(*arg == self.few.arg && is_small_integer(few.dtype));
        if attr.scales.keys().chain(attr.zero_points.keys()).any(quantised) || !attr.precomputed_reductions.is_empty() {
            return Err(Skip::Attr("quantised operands".into()));
        }
        let request = Request {
            isa,
            workers: target.threads,
            weights: Weights::new(many, self.many.across[0], &self.many.depth, isa)?,
            batches: result.dims()[..self.batch].iter().product::<i64>() as usize,
            rows: few.dims()[self.few.across[0]] as usize,
            bf16: many.dtype == DataType::Bf16 && !adjusted,
            grouped: None,
            rounds: false,
            zero: false,
        };
        let product = Product::new(request)?;
        let plain = few.blocking().is_some_and(|b| {
            let even = |n: &i64| product.word_type() == DataType::F32 || n % 2 == 0;
            let depth = Axis::new(&self.few.depth, few.dims());
            let row = Some(&b.strides[self.few.across[0]]).filter(|_| few.dims()[self.few.across[0]] > 1);
            b.is_plain() && depth.chained(b) == Some(1) && b.strides[..self.batch].iter().chain(row).chain([&b.offset]).all(even)
        });
        let has_words = plain && product.takes_words() && product.word_type() == few.dtype;
        let scratch_bytes = product.scratch_bytes().ok_or(TOO_LARGE)?;
        Ok((self.ready(problem, Kind::Few(product), [has_words, false])?, scratch_bytes))
    }

    /// A product of these sides of a problem; whether its kernels take words, and whether scales vary along K.
    pub(super) fn ready(self, problem: &Problem, product: Kind, [has_words, grouped]: [bool; 2]) -> Result<Few, Skip> {
        let (few, many) = (self.few.of(problem)?, self.many.of(problem)?);
        let result = problem.op.tensor(self.result).ok_or(Skip::Op("without a result"))?;
        let Sides { few: side, many: other, batch, .. } = &self;
        let dims = [[other.across[0], other.depth[0]], [side.across[1], other.across[1]]];
        let places = Places::new([few, many, result], *batch, [&side.across[..1], &side.depth], dims)?;
        Ok(Few { attr: problem.attr.clone(), sides: self, product, places, has_words, grouped })
    }
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
        let (Sides { few, many, result, .. }, attr) = (&self.sides, &self.attr);
        let mut a = Source::shifted(simd, ctx, attr, few.arg)?;
        let [b, c] = [View::of(simd, ctx, many.arg)?, View::of(simd, ctx, *result)?];
        c.zero_padding();
        let (mut factors, mut scale, mut zero) = ([ONE; 2], ONE, ZERO);
        if attr.scales.contains_key(&few.arg) {
            let scale = Broadcast::scale(simd, ctx, attr, few.arg, a.view.dims())?;
            if few.arg == Arg::WEIGHTS || scale.varies(few.depth[0]) {
                a.scale = Some(scale).filter(|scale| !scale.is_constant(1.0));
            } else {
                factors[0] = scale.without(few.depth[0]);
            }
        }
        if attr.scales.contains_key(&many.arg) {
            let own = Broadcast::scale(simd, ctx, attr, many.arg, b.dims())?;
            *if self.grouped { &mut scale } else { &mut factors[1] } = if self.grouped { own } else { own.without(many.depth[0]) };
        }
        if attr.zero_points.contains_key(&many.arg) {
            zero = Broadcast::zero_point(simd, ctx, attr, many.arg, b.dims())?;
        }
        let column = if few.arg == Arg::WEIGHTS { few.across[1] } else { many.across[1] };
        let bias = View::optional(simd, ctx, Arg::BIAS)?;
        let bias =
            bias.map(|bias| if bias.dims().len() == c.dims().len() { Broadcast::tensor(bias) } else { Broadcast::along(bias, column) });
        let before = Before { factors: (!attr.scales.is_empty()).then_some(factors), bias };
        let operands = Operands {
            places: &self.places,
            a: &a,
            words: ctx.input(few.arg).filter(|_| self.has_words),
            b: b.buf(),
            zero: &zero,
            scale: &scale,
            factors: [Arg::scale(many.arg), Arg::zero_point(many.arg)].map(|arg| ctx.bound(arg).and_then(|b| b.regions.first()?.bytes())),
            tail: &Epilogue::new(Chain::new(simd, ctx, attr, *result)?.with(&before))?,
        };
        match code {
            Code::Few(product) => product.run(&operands, ctx.executor(), &mut scratch),
            Code::Many(product) => product.run((simd, &operands), ctx.executor(), &mut scratch),
        }
    }
}
