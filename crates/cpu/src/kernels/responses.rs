//! Local response normalisation in generated code: safe to run, since every address is checked before it is used.
//!
//! Rows of a tensor go through scratch in which every row is surrounded by zeros, so that a window is the same number of loads everywhere,
//! whether its elements are neighbours in a vector (windows of channels that are last, or in blocks of a vector) or vectors (planes, and
//! windows of pixels, dimension by dimension). Forward: squares to scratch, then their sums over windows to responses. Backward: squares,
//! the terms of the gradient, their sums to gradients. Sums stay in registers; scratch stays in L1 or L2, so tensors are read and written
//! once.

use super::chain::jit::interleaved::Interleaved;
use super::chain::jit::value::Recorder;
use super::code::{self, Key};
use super::extent::{Written, reach};
use oxidnn_expr::Num;
use oxidnn_expr::functions::Bits;
use oxidnn_jit::ir::{Accumulate, Addr, Binary, Compare, Elem, Int, Pred, Val};
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::mem::offset_of;

/// Most elements of a window.
pub const MOST: usize = 9;

/// What a call computes. `x` is the source, `d` the gradient of the result; `S`, `T` and `A` are planes of scratch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pass {
    /// `S = x^2`, and the sum of all of these.
    Squares,
    /// `T = sum(S)`, along one of several dimensions of a window.
    Sums,
    /// `y = x b^-beta` with `b = k + share sum(S)`.
    Respond,
    /// `A = d b^-beta`, `T = d x b^-(beta + 1)`.
    Terms,
    /// `y = A - slope x sum(T)`.
    Combine,
}

/// An operand of a pass: the elements of a tensor, or of a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Source,
    Gradient,
    Result,
    /// A plane, from the first element on.
    Plane(usize),
    /// A plane, from the first element of the first window on.
    Windows(usize),
}

/// Planes of scratch: `S`, `T` and `A`.
pub const SQUARES: usize = 0;
/// The plane of terms.
pub const TERMS: usize = 1;
/// The plane of factors.
pub const FACTORS: usize = 2;

impl Pass {
    fn roles(self) -> &'static [Role] {
        match self {
            Pass::Squares => &[Role::Source, Role::Plane(SQUARES)],
            Pass::Sums => &[Role::Windows(SQUARES), Role::Plane(TERMS)],
            Pass::Respond => &[Role::Windows(SQUARES), Role::Source, Role::Result],
            Pass::Terms => &[Role::Windows(SQUARES), Role::Source, Role::Gradient, Role::Plane(TERMS), Role::Plane(FACTORS)],
            Pass::Combine => &[Role::Windows(TERMS), Role::Source, Role::Plane(FACTORS), Role::Result],
        }
    }
}

/// The key of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    /// The pass.
    pub pass: Pass,
    /// Element type of the tensors.
    pub elem: Elem,
    /// Elements of a window, at most [`MOST`].
    pub window: u8,
    /// Four times `beta`.
    pub quarters: u8,
    /// Whether all `b` are in [`USUAL`].
    pub usual: bool,
    /// Whether rows may end within a vector.
    pub masked: bool,
}

/// The range of numbers whose cubes, roots and powers are far from the ends of f32.
pub const USUAL: (f32, f32) = (1e-12, 1e12);
/// Exponents, in quarters, that square roots can compute.
pub const QUARTERS: &[u8] = &[1, 2, 3, 4, 6, 7, 8];

/// `x^-(quarters / 4)` for non-negative numbers; for numbers in [`USUAL`] without square root and division instructions where that is
/// faster.
#[inline(always)]
pub fn power<N: Bits>(x: N, quarters: u8, usual: bool) -> N {
    let one = N::constant(1.0);
    match (quarters, usual) {
        (2, true) => inverse_root(x),
        (3, true) => cubed(inverse_fourth_root(x)),
        (6, true) => {
            let root = inverse_root(x);
            root.mul(root).mul(root)
        }
        (7, true) => {
            let root = inverse_fourth_root(x);
            cubed(root).mul(squared(squared(root)))
        }
        (1, _) => one.div(x.sqrt().sqrt()),
        (2, _) => one.div(x.sqrt()),
        (3, _) => three_quarters(x),
        (4, _) => one.div(x),
        (6, _) => one.div(x.mul(x.sqrt())),
        (7, _) => three_quarters(x).div(x),
        _ => one.div(x).div(x),
    }
}

/// `x^(-1/2)` by Newton's method, from an estimate within 4 %.
#[inline(always)]
fn inverse_root<N: Bits>(x: N) -> N {
    let half = N::constant(0.5).mul(x);
    let mut y = N::from_bits(N::word_sub(N::word(0x5f37_59df), N::word_sar(x.bits(), 1)));
    for _ in 0..3 {
        y = y.mul(N::constant(1.5).sub(half.mul(y).mul(y)));
    }
    y
}

/// `x^(-1/4)`: from an estimate within some 3 %, two steps of third order towards `x y^4 = 1`.
#[inline(always)]
fn inverse_fourth_root<N: Bits>(x: N) -> N {
    let minus = x.mul(N::constant(-1.0));
    let mut y = N::from_bits(N::word_sub(N::word(INVERSE_FOURTH_ROOT), N::word_sar(x.bits(), 2)));
    for _ in 0..2 {
        let rest = minus.mul_add(squared(squared(y)), N::constant(1.0));
        y = y.mul_add(rest.mul(rest.mul_add(N::constant(0.156_25), N::constant(0.25))), y);
    }
    y
}

/// `(1 + 1/4) (127 - 0.045) 2^23`: the bits of a float approximate its logarithm, up to the mantissa's curvature, whose mean is 0.045.
const INVERSE_FOURTH_ROOT: i32 = (1.25 * 126.954_953 * 8_388_608.0) as i32;

#[inline(always)]
fn squared<N: Num>(x: N) -> N {
    x.mul(x)
}

#[inline(always)]
fn cubed<N: Num>(x: N) -> N {
    x.mul(x).mul(x)
}

/// `x^(-3/4)` by square roots.
#[inline(always)]
fn three_quarters<N: Bits>(x: N) -> N {
    let root = x.sqrt();
    N::constant(1.0).div(root.mul(root.sqrt()))
}

/// Vectors that are processed together, with their powers interleaved, since a power is a dependency chain.
const INTERLEAVED_VECTORS: [usize; 3] = [4, 2, 1];

/// Most operands of a pass.
const MAX_OPERANDS: usize = 5;

/// Arguments. Strides are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// Operands in the order of the pass's roles: the first vector, the stride of vectors, and what is added at the end of a row.
    at: [*mut u8; MAX_OPERANDS],
    vector: [usize; MAX_OPERANDS],
    next: [usize; MAX_OPERANDS],
    /// Rows, whole vectors of each in groups of [`INTERLEAVED_VECTORS`], and elements after those.
    rows: usize,
    vectors: [usize; 3],
    left: usize,
    /// Stride of a window's elements.
    near: usize,
    /// Where a vector of sums is stored.
    total: *mut f32,
    share: f32,
    k: f32,
    slope: f32,
}

impl Key for Spec {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        let pass = match self.pass {
            Pass::Squares => "squares",
            Pass::Sums => "sums",
            Pass::Respond => "respond",
            Pass::Terms => "terms",
            Pass::Combine => "combine",
        };
        format!("responses.{pass}.{}.{}.{}", self.window, self.elem.name(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        Writer::new(self, f).write(f);
    }
}

fn field(f: &mut Function, args: Int, offset: usize) -> Int {
    f.load_int(args.at(offset as i32))
}

/// Writes the code of a kernel.
struct Writer<'s> {
    spec: &'s Spec,
    args: Int,
    /// The addresses of operands, followed by those of every third element of a window from the fourth on.
    at: Vec<Int>,
    near: Int,
    share: Val,
    k: Val,
    slope: Val,
    total: Val,
}

impl<'s> Writer<'s> {
    fn new(spec: &'s Spec, f: &mut Function) -> Writer<'s> {
        let (args, width) = (f.arguments(), f.isa().width());
        let roles = spec.pass.roles();
        let mut at: Vec<Int> = (0..roles.len()).map(|i| field(f, args, offset_of!(Args, at) + i * size_of::<usize>())).collect();
        let near = field(f, args, offset_of!(Args, near));
        if matches!(roles[0], Role::Windows(_)) {
            let mut last = at[0];
            for _ in 1..spec.window.div_ceil(3) {
                last = f.address(last.indexed(near, 2, 0));
                f.add(last, near);
                at.push(last);
            }
        }
        let number = |f: &mut Function, offset: usize| {
            let number = f.splat(width, args.at(offset as i32));
            f.pin(number);
            number
        };
        let [share, k, slope] = [offset_of!(Args, share), offset_of!(Args, k), offset_of!(Args, slope)].map(|offset| number(f, offset));
        let total = f.zero(width);
        f.pin(total);
        Writer { spec, args, at, near, share, k, slope, total }
    }

    fn write(&self, f: &mut Function) {
        let rows = field(f, self.args, offset_of!(Args, rows));
        f.repeat_some(rows, |f| {
            let count = |f: &mut Function, i: usize| field(f, self.args, offset_of!(Args, vectors) + i * size_of::<usize>());
            if f.isa().avx512 {
                let fours = count(f, 0);
                f.repeat(fours, |f| self.vectors::<4>(f, None));
            }
            let twos = count(f, 1);
            f.repeat(twos, |f| self.vectors::<2>(f, None));
            let ones = count(f, 2);
            f.repeat(ones, |f| self.vectors::<1>(f, None));
            if self.spec.masked {
                let left = field(f, self.args, offset_of!(Args, left));
                f.when(Compare::Gt, left, 0, |f| {
                    let mask = f.first_lanes(left);
                    self.vectors::<1>(f, Some(mask));
                });
            }
            self.advance(f, offset_of!(Args, next));
        });
        if self.spec.pass == Pass::Squares {
            let to = field(f, self.args, offset_of!(Args, total));
            f.store(to.at(0), self.total);
        }
    }

    /// Moves all operands by strides among the arguments; from vector to vector, those in scratch by constants.
    fn advance(&self, f: &mut Function, distances: usize) {
        let (roles, vector) = (self.spec.pass.roles(), distances == offset_of!(Args, vector));
        for (i, at) in self.at.iter().enumerate() {
            let of = if i < roles.len() { i } else { 0 };
            if vector && matches!(roles[of], Role::Plane(_) | Role::Windows(_)) {
                f.add(*at, (4 * f.isa().width().lanes()) as i32);
                continue;
            }
            let distance = field(f, self.args, distances + of * size_of::<usize>());
            f.add(*at, distance);
        }
    }

    /// The sum over the windows of a vector, the first or a further one.
    fn sum(&self, f: &mut Function, vector: usize) -> Val {
        let (width, operands) = (f.isa().width(), self.spec.pass.roles().len());
        let at = (4 * width.lanes() * vector) as i32;
        let element = |j: usize| -> Addr {
            let base = if j < 3 { self.at[0] } else { self.at[operands + j / 3 - 1] };
            if j.is_multiple_of(3) { base.at(at) } else { base.indexed(self.near, (j % 3) as u8, at) }
        };
        let sum = f.load(width, element(0));
        for j in 1..usize::from(self.spec.window) {
            let more = f.load(width, element(j));
            f.update(Binary::AddF32, sum, more);
        }
        sum
    }

    /// `b` of a vector, the first or a further one.
    fn base(&self, f: &mut Function, vector: usize) -> Val {
        let base = self.sum(f, vector);
        f.accumulate(Accumulate::ScaleAddF32, base, self.share, self.k);
        base
    }

    /// The powers of `b`.
    fn power<const N: usize>(&self, f: &mut Function, bases: [Val; N]) -> [Val; N] {
        let Spec { quarters, usual, .. } = *self.spec;
        let recorder = Recorder::new(f);
        power(Interleaved(bases.map(|base| recorder.value(base))), quarters, usual).0.map(|x| recorder.lanes(x))
    }

    /// The powers of `b`, and those of one more.
    fn powers<const N: usize>(&self, f: &mut Function, bases: [Val; N]) -> [[Val; 2]; N] {
        if let Spec { quarters: 3, usual: true, .. } = self.spec {
            let recorder = Recorder::new(f);
            let root = inverse_fourth_root(Interleaved(bases.map(|base| recorder.value(base))));
            let square = squared(root);
            let power = square.mul(root);
            let next = power.mul(squared(square));
            return std::array::from_fn(|i| [power, next].map(|x| recorder.lanes(x.0[i])));
        }
        let powers = self.power(f, bases);
        std::array::from_fn(|i| [powers[i], f.binary(Binary::DivF32, powers[i], bases[i])])
    }

    /// Processes some vectors, and moves on.
    fn vectors<const N: usize>(&self, f: &mut Function, mask: Option<Pred>) {
        let bases = |f: &mut Function| std::array::from_fn::<_, N, _>(|vector| self.base(f, vector));
        let factors: [[Option<Val>; 2]; N] = match self.spec.pass {
            Pass::Respond => {
                let bases = bases(f);
                self.power(f, bases).map(|power| [Some(power), None])
            }
            Pass::Terms => {
                let bases = bases(f);
                self.powers(f, bases).map(|powers| powers.map(Some))
            }
            _ => [[None; 2]; N],
        };
        for factors in factors {
            self.vector(f, factors, mask);
            self.advance(f, offset_of!(Args, vector));
        }
    }

    /// Processes a vector with the powers that its pass needs.
    fn vector(&self, f: &mut Function, factors: [Option<Val>; 2], mask: Option<Pred>) {
        let elem = self.spec.elem;
        match (self.spec.pass, factors) {
            (Pass::Respond, [Some(power), _]) => {
                let x = f.load_as(elem, self.at[1].at(0), mask);
                let y = f.binary(Binary::MulF32, x, power);
                f.store_as(elem, self.at[2].at(0), y, mask);
            }
            (Pass::Terms, [Some(power), Some(next)]) => {
                let d = f.load_as(elem, self.at[2].at(0), mask);
                let factor = f.binary(Binary::MulF32, d, power);
                f.store(self.at[4].at(0), factor);
                let x = f.load_as(elem, self.at[1].at(0), mask);
                let term = f.binary(Binary::MulF32, d, x);
                let mut term = f.binary(Binary::MulF32, term, next);
                if let Some(mask) = mask {
                    // Missing elements add nothing, whatever their power is.
                    let zero = f.zero(f.isa().width());
                    term = f.select(mask, term, zero);
                }
                f.store(self.at[3].at(0), term);
            }
            (Pass::Sums, _) => {
                let sum = self.sum(f, 0);
                f.store(self.at[1].at(0), sum);
            }
            (Pass::Combine, _) => {
                let sum = self.sum(f, 0);
                let x = f.load_as(elem, self.at[1].at(0), mask);
                let slope = f.binary(Binary::MulF32, x, self.slope);
                let y = f.load(f.isa().width(), self.at[2].at(0));
                f.accumulate(Accumulate::FnmaF32, y, slope, sum);
                f.store_as(elem, self.at[3].at(0), y, mask);
            }
            _ => {
                let x = f.load_as(elem, self.at[0].at(0), mask);
                let square = f.binary(Binary::MulF32, x, x);
                f.store(self.at[1].at(0), square);
                f.update(Binary::AddF32, self.total, square);
            }
        }
    }
}

/// A tensor: its memory, the byte offset of the call, and the strides of rows and vectors in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The memory.
    pub buf: Buf<'a>,
    /// The first byte.
    pub at: usize,
    /// Stride of rows.
    pub row: usize,
    /// Stride of vectors.
    pub vector: usize,
}

/// A plane of scratch, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Plane {
    /// Index of the first element.
    pub first: usize,
    /// Stride of rows.
    pub row: usize,
    /// Stride of a window's elements.
    pub near: usize,
}

/// A call.
#[derive(Debug)]
pub struct Call<'c> {
    /// The source, the gradient of the result, and the result; `None` for tensors that the pass does not use.
    pub tensors: [Option<Side<'c>>; 3],
    /// The scratch.
    pub space: &'c mut [f32],
    /// The planes in it: squares, terms and factors.
    pub planes: [Plane; 3],
    /// Number of rows, and elements of each.
    pub sizes: [usize; 2],
    /// `share`, `k` and `slope`.
    pub numbers: [f32; 3],
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Responses {
    entry: Entry<Args>,
    spec: Spec,
    lanes: usize,
    /// Vectors that are processed together, the largest number first.
    together: [usize; 3],
}

/// Most lanes of a vector.
const MAX_LANES: usize = 16;

impl Responses {
    /// The kernel for `spec`.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, spec: &Spec) -> Result<Responses, Error> {
        // With 16 registers four do not fit.
        let together = if isa.avx512 { INTERLEAVED_VECTORS } else { [usize::MAX, 2, 1] };
        Ok(Responses { entry: code::get(isa, spec)?, spec: spec.clone(), lanes: isa.width().lanes(), together })
    }

    /// Runs the pass. Returns the sum of all squares, if it computes them.
    ///
    /// # Panics
    /// If an address is outside its memory, or a tensor is missing.
    pub fn run(&self, call: &mut Call<'_>) -> f32 {
        if call.sizes.contains(&0) {
            return 0.0;
        }
        let mut total = [0.0; MAX_LANES];
        let args = Args { total: total.as_mut_ptr(), ..self.checked(call) };
        // SAFETY: tensors and planes hold all rows and vectors that were checked; `total` has room for the widest vector.
        unsafe { self.entry.call(&args) }
        if self.spec.pass == Pass::Squares { total.iter().sum() } else { 0.0 }
    }

    /// The arguments of a call that is not empty.
    fn checked(&self, call: &mut Call<'_>) -> Args {
        let Call { tensors, planes, sizes: [rows, elements], numbers: [share, k, slope], .. } = *call;
        let (vectors, left, width) = (elements / self.lanes, elements % self.lanes, 4 * self.lanes);
        assert!(left == 0 || self.spec.masked, "{elements} elements are not whole vectors");
        let steps = elements.div_ceil(self.lanes);
        let [four, two, _] = self.together;
        let mut args = Args {
            at: [std::ptr::null_mut(); MAX_OPERANDS],
            vector: [0; MAX_OPERANDS],
            next: [0; MAX_OPERANDS],
            rows,
            vectors: [vectors / four, vectors % four / two, vectors % four % two],
            left,
            near: 0,
            total: std::ptr::null_mut(),
            share,
            k,
            slope,
        };
        let (space, window) = (Written::from(&mut *call.space), usize::from(self.spec.window));
        for (i, role) in self.spec.pass.roles().iter().enumerate() {
            let tensor = match role {
                Role::Source => tensors[0],
                Role::Gradient => tensors[1],
                Role::Result => tensors[2],
                Role::Plane(_) | Role::Windows(_) => None,
            };
            let (row, vector);
            if let Role::Plane(plane) | Role::Windows(plane) = *role {
                let elements = if matches!(role, Role::Windows(_)) { window } else { 1 };
                let Plane { first, row: distance, near } = planes[plane];
                let first = first.checked_sub(elements / 2 * near).map_or(usize::MAX, |first| 4 * first);
                (row, vector) = (distance * 4, width);
                args.at[i] = space.at("scratch", first, reach(&[(rows, row), (steps, vector), (elements, near * 4)], width));
                if elements > 1 {
                    args.near = near * 4;
                }
            } else {
                let side = tensor.unwrap_or(Side { buf: Buf::empty(), at: 0, row: 0, vector: 0 });
                (row, vector) = (side.row, side.vector);
                let last = (elements - (steps - 1) * self.lanes) * self.spec.elem.bytes();
                args.at[i] = Written::from(side.buf).at("tensor", side.at, reach(&[(rows, row), (steps, vector)], last));
            }
            (args.vector[i], args.next[i]) = (vector, row.wrapping_sub(steps * vector));
        }
        args
    }
}
