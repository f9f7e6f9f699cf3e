//! A small linear IR: kernels name values, not registers.
//!
//! A [`Function`] is a list of instructions on virtual vectors ([`Val`]), integers ([`Int`]) and lane masks ([`Pred`]), with structured
//! loops and conditions. Values are variables: an instruction makes a new one or changes an old one (accumulators), so that loops need no
//! joins. The order of instructions is the author's and is kept, because the author of a kernel schedules its inner loop by hand.
//!
//! [`Function::finish`] lowers every instruction for the [`Isa`] (one file per instruction set under `lower`: an operation without an
//! instruction there becomes several), gives values registers by linear scan over their live ranges, and assembles. Values that do not fit
//! go to the stack, the least used (by depth of loops) first, pinned ones never; [`Compiled`] counts the spills, and the tests of kernels
//! assert that inner loops have none.
//!
//! The function is `extern "C" fn(*const A)`: one block of arguments, read through [`Function::arguments`].

mod alloc;
mod build;
mod emit;
mod floats8;
mod lower;
mod machine;
mod quotient;
#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

use crate::asm::{AsmError, Assembled, Width};
use crate::isa::Isa;
pub use quotient::Divisor;

/// A vector of 32-bit lanes (or the bits of narrower elements).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Val(u32);

/// A 64-bit integer or pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Int(u32);

/// One truth value per 32-bit lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pred(u32);

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Addr {
    /// `base + index * scale + disp`
    At {
        /// The pointer.
        base: Int,
        /// A number and the factor on it: 1, 2, 4 or 8.
        index: Option<(Int, u8)>,
        /// Bytes added.
        disp: i32,
    },
    /// A constant of the function, see [`Function::constant`].
    Const(ConstId),
}

/// A constant of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConstId(u32);

impl Addr {
    /// The place so many bytes further on.
    pub(crate) fn behind(self, bytes: i32) -> Addr {
        match self {
            Addr::At { base, index, disp } => Addr::At { base, index, disp: disp + bytes },
            constant @ Addr::Const(_) => constant,
        }
    }
}

impl Int {
    /// The place `disp` bytes after this pointer.
    pub fn at(self, disp: i32) -> Addr {
        Addr::At { base: self, index: None, disp }
    }

    /// The place `index * scale + disp` bytes after this pointer.
    pub fn indexed(self, index: Int, scale: u8, disp: i32) -> Addr {
        Addr::At { base: self, index: Some((index, scale)), disp }
    }
}

/// The last source of a vector instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Src {
    /// A value.
    Val(Val),
    /// A vector in memory.
    Mem(Addr),
    /// A 32-bit number in memory, the same for every lane.
    Splat(Addr),
}

impl From<Val> for Src {
    fn from(v: Val) -> Src {
        Src::Val(v)
    }
}

/// `dst = a op b`
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    /// f32 `a + b`
    AddF32,
    /// f32 `a - b`
    SubF32,
    /// f32 `a * b`
    MulF32,
    /// f32 `a / b`
    DivF32,
    /// f32 `if a < b { a } else { b }`
    MinF32,
    /// f32 `if a > b { a } else { b }`
    MaxF32,
    /// The smaller f32; the other where one is NaN (of those that do not signal).
    SmallestF32,
    /// The larger f32; the other where one is NaN (of those that do not signal).
    LargestF32,
    /// `a & b`
    And,
    /// `!a & b`
    AndNot,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// i32 `a + b`, wrapping
    AddI32,
    /// i32 `a - b`, wrapping
    SubI32,
    /// i32 `a * b`, wrapping
    MulI32,
    /// i32 `min(a, b)`
    MinI32,
    /// i32 `max(a, b)`
    MaxI32,
    /// `max(a, b)` of the four i8 of every lane.
    MaxI8,
    /// `max(a, b)` of the four u8 of every lane.
    MaxU8,
    /// i32 `a.0 * b.0 + a.1 * b.1` for the pairs of i16 in every lane.
    MaddI16,
    /// i16 `a.0 * b.0 + a.1 * b.1`, saturating, for the pairs of u8 (`a`) and i8 (`b`) in every half of a lane.
    MaddU8S8,
    /// `b[a % lanes]`: elements of 32 bits looked up in a vector.
    Lookup32,
    /// The same with 16-bit lanes; AVX-512 only.
    Lookup16,
    /// f32 to bf16, to nearest even: `a` in the low half of every lane, `b` in the high half.
    PairBf16,
    /// The same, where what is subnormal may become 0.
    PairBf16Flushed,
    /// `a.0 b.0 a.1 b.1` of every block of four lanes.
    InterleaveLow32,
    /// `a.2 b.2 a.3 b.3` of every block of four lanes.
    InterleaveHigh32,
    /// `a.0 a.1 b.0 b.1` of every block of four lanes.
    InterleaveLow64,
    /// `a.2 a.3 b.2 b.3` of every block of four lanes.
    InterleaveHigh64,
    /// The even blocks of four lanes of `a`, then those of `b`; vectors have two blocks or more.
    EvenBlocks,
    /// The odd blocks of four lanes of `a`, then those of `b`; vectors have two blocks or more.
    OddBlocks,
}

/// `dst += f(a, b)`, or `dst` with another change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Accumulate {
    /// f32 `dst = dst * a + b`, rounded once.
    ScaleAddF32,
    /// f32 `dst += a * b`, rounded once.
    FmaF32,
    /// f32 `dst -= a * b`, rounded once.
    FnmaF32,
    /// f32 `dst += a.0 * b.0 + a.1 * b.1` for the pairs of bf16 in every lane. Order and rounding of the two additions are the processor's.
    DotBf16,
    /// i32 `dst += sum of a.i * b.i` for the four unsigned bytes of `a` and signed bytes of `b` in every lane, exact and wrapping.
    DotU8S8,
}

/// `dst = f(a)`
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// f32 square root.
    SqrtF32,
    /// f32 to an integer.
    RoundF32(Rounding),
    /// i32 to f32, to nearest even.
    F32FromI32,
    /// f32 to i32, to nearest even; out of range becomes `i32::MIN`.
    I32FromF32,
    /// `a << n`
    ShlI32(u8),
    /// `a >> n`, zeros shifted in.
    ShrI32(u8),
    /// `a >> n`, the sign shifted in.
    SarI32(u8),
    /// 16-bit `a << n`
    ShlI16(u8),
    /// 16-bit `a >> n`, zeros shifted in.
    ShrI16(u8),
    /// 16-bit `a >> n`, the sign shifted in.
    SarI16(u8),
    /// The f16 in the low half of every lane to f32.
    F32FromLowF16,
}

/// How to round to an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Down.
    Floor,
    /// Up.
    Ceil,
    /// Towards 0.
    Truncate,
}

/// A comparison; with NaN all are false but `Ne`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Compare {
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
}

/// Types of elements in memory that loads and stores convert.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Elem {
    /// 32-bit float.
    F32,
    /// 16-bit float with 8 bits of exponent.
    Bf16,
    /// 16-bit float of IEEE 754.
    F16,
    /// 32-bit integer.
    I32,
    /// Signed byte.
    I8,
    /// Unsigned byte.
    U8,
    /// 8-bit float with 5 bits of exponent.
    F8E5m2,
    /// 8-bit float with 4 bits of exponent, without infinities.
    F8E4m3,
    /// Any 16 bits, unchanged: the low half of a lane, whose high half is 0.
    Low16,
    /// Any 8 bits, unchanged: the low byte of a lane, whose other bytes are 0.
    Low8,
    /// A signed byte, as a 32-bit integer; stored as [`Elem::Low8`].
    Whole8,
}

impl Elem {
    /// Size in bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        match self {
            Elem::F32 | Elem::I32 => 4,
            Elem::Bf16 | Elem::F16 | Elem::Low16 => 2,
            Elem::I8 | Elem::U8 | Elem::F8E5m2 | Elem::F8E4m3 | Elem::Low8 | Elem::Whole8 => 1,
        }
    }

    /// The name in kernels' names.
    pub const fn name(self) -> &'static str {
        match self {
            Elem::F32 => "f32",
            Elem::Bf16 => "bf16",
            Elem::F16 => "f16",
            Elem::I32 => "s32",
            Elem::I8 => "s8",
            Elem::U8 => "u8",
            Elem::F8E5m2 => "f8_e5m2",
            Elem::F8E4m3 => "f8_e4m3",
            Elem::Low16 => "b16",
            Elem::Low8 => "b8",
            Elem::Whole8 => "i8",
        }
    }
}

/// The purpose of a prefetch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Prefetch {
    /// To be read soon: into L1.
    L1,
    /// To be read later: into L2.
    L2,
    /// To be written.
    Write,
}

/// `dst = dst op b` on integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum IntOp {
    Add,
    Sub,
    Mul,
    And,
    Shl,
    Shr,
}

/// The second operand of an integer instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IntSrc {
    /// A value.
    Int(Int),
    /// A number of 32 bits, signed.
    Imm(i32),
}

impl From<Int> for IntSrc {
    fn from(i: Int) -> IntSrc {
        IntSrc::Int(i)
    }
}

impl From<i32> for IntSrc {
    fn from(i: i32) -> IntSrc {
        IntSrc::Imm(i)
    }
}

/// A tile register of AMX. There are eight, and their author names them, since their shapes are set by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile(pub u8);

/// Products of tiles, `c += a * b`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TileProduct {
    /// f32 sums of bf16 pairs.
    Bf16,
    /// i32 sums of unsigned bytes (`a`) by signed bytes (`b`), in fours.
    U8S8,
    /// i32 sums of signed bytes by signed bytes, in fours.
    S8S8,
}

impl TileProduct {
    /// All of them.
    pub const ALL: [TileProduct; 3] = [TileProduct::Bf16, TileProduct::U8S8, TileProduct::S8S8];
}

/// When memory is wanted again that a tile is loaded from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reuse {
    /// Soon: the lines stay in L1.
    Temporal,
    /// Not before much else: the lines should not evict others from L1.
    NonTemporal,
}

/// An instruction on tiles.
#[derive(Clone, Copy, PartialEq, Debug)]
enum TileInst {
    Config(Addr),
    Release,
    Zero(Tile),
    Load(Tile, Addr, Reuse),
    Store(Addr, Tile),
    Dot(TileProduct, Tile, Tile, Tile),
}

/// An instruction as its author wrote it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Inst {
    Vector(VecInst),
    Tile(TileInst),
    Arguments(Int),
    Constant(Int, i64),
    Copy(Int, Int),
    LoadInt(Int, Addr),
    LoadI32(Int, Addr),
    LoadU16(Int, Addr),
    LoadU8(Int, Addr),
    StoreInt(Addr, Int),
    Address(Int, Addr),
    /// The address of a slot of the stack frame.
    Local(Int, usize),
    Int(IntOp, Int, IntSrc),
    Prefetch(Prefetch, Addr),
    StoreFence,
    Loop(Int, LoopKind),
    EndLoop(Int, LoopKind),
    /// Skips up to the matching end unless the condition holds.
    If(Compare, Int, IntSrc),
    EndIf,
}

/// Whether a loop may run no time at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LoopKind {
    /// The count may be 0 or negative.
    Checked,
    /// The count is at least 1.
    AtLeastOnce,
}

/// An instruction that is lowered by the instruction set.
#[derive(Clone, Copy, PartialEq, Debug)]
enum VecInst {
    Zero(Val),
    Move(Val, Val),
    SplatMem(Val, Addr),
    SplatAs(Val, Elem, Addr),
    SplatInt(Val, Int),
    Load { dst: Val, from: Addr, mask: Option<Pred> },
    Store { to: Addr, src: Val, mask: Option<Pred> },
    StoreStreaming { to: Addr, src: Val },
    StoreStreamingAs { elem: Elem, to: Addr, src: Val },
    LoadAs { dst: Val, elem: Elem, from: Addr, mask: Option<Pred> },
    StoreAs { elem: Elem, to: Addr, src: Val, mask: Option<Pred> },
    StoreFlushed { to: Addr, src: Val, mask: Option<Pred> },
    StoreBothFlushed { to: Addr, first: Val, second: Val },
    LookupBytes { dst: Val, bytes: Val, table: [Val; 4] },
    StoreBytes { elem: Elem, real: bool, to: [Addr; 2], src: [Val; 4] },
    Unary(Unary, Val, Val),
    Binary(Binary, Val, Val, Src),
    Accumulate(Accumulate, Val, Val, Src),
    CompareF32(Compare, Pred, Val, Val),
    CompareI32(Compare, Pred, Val, Val),
    Select { dst: Val, mask: Pred, yes: Val, no: Val },
    FirstLanes(Pred, Int),
    LoadBits(Pred, Addr),
    StoreBits(Addr, Pred),
}

/// The kind of register that a virtual one needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Class {
    Int,
    Simd,
    Mask,
}

/// A virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Virtual {
    class: Class,
    width: Width,
    pinned: bool,
}

/// A function being written; see the module. Made by [`Function::new`], ended by [`Function::finish`].
pub struct Function {
    isa: Isa,
    body: Vec<Inst>,
    virtuals: Vec<Virtual>,
    constants: Vec<Vec<u8>>,
    /// Slots of the stack frame that its author has.
    locals: usize,
}

/// Why a function could not be compiled: mistakes of its author.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum IrError {
    /// A value is used where it has none.
    #[error("instruction {at} uses value {value}, which may have no value there")]
    Undefined {
        /// Number of the lowered instruction.
        at: usize,
        /// Number of the value.
        value: u32,
    },
    /// More pinned values are alive at once than there are registers.
    #[error("{kind} registers do not suffice for what is pinned and alive at instruction {at}")]
    Pressure {
        /// Kind of register.
        kind: &'static str,
        /// Number of the lowered instruction.
        at: usize,
    },
    /// The assembler refused.
    #[error(transparent)]
    Asm(#[from] AsmError),
}

/// A compiled function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// The code.
    pub code: Assembled,
    /// Loads and stores that exist because registers did not suffice.
    pub spills: usize,
    /// Those of them that lie in a loop without further loops inside.
    pub inner_spills: usize,
    /// Bytes of stack for them.
    pub frame: usize,
}
