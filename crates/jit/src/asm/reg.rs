//! Names of registers and memory: the operands of instructions.

/// A 64-bit general register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Gpr {
    /// `rax`
    Rax,
    /// `rcx`
    Rcx,
    /// `rdx`
    Rdx,
    /// `rbx`
    Rbx,
    /// `rsp`
    Rsp,
    /// `rbp`
    Rbp,
    /// `rsi`
    Rsi,
    /// `rdi`
    Rdi,
    /// `r8`
    R8,
    /// `r9`
    R9,
    /// `r10`
    R10,
    /// `r11`
    R11,
    /// `r12`
    R12,
    /// `r13`
    R13,
    /// `r14`
    R14,
    /// `r15`
    R15,
}

impl Gpr {
    /// All of them in the order of their numbers.
    pub const ALL: [Gpr; 16] = [
        Gpr::Rax,
        Gpr::Rcx,
        Gpr::Rdx,
        Gpr::Rbx,
        Gpr::Rsp,
        Gpr::Rbp,
        Gpr::Rsi,
        Gpr::Rdi,
        Gpr::R8,
        Gpr::R9,
        Gpr::R10,
        Gpr::R11,
        Gpr::R12,
        Gpr::R13,
        Gpr::R14,
        Gpr::R15,
    ];
}

/// How much of a vector register an instruction uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Width {
    /// 16 bytes
    W128,
    /// 32 bytes
    W256,
    /// 64 bytes
    W512,
}

impl Width {
    /// Size in bytes.
    pub const fn bytes(self) -> usize {
        16 << self as usize
    }

    /// Number of 32-bit lanes.
    pub const fn lanes(self) -> usize {
        4 << self as usize
    }

    /// Half of it; 16 bytes are not halved.
    pub const fn half(self) -> Width {
        match self {
            Width::W512 => Width::W256,
            _ => Width::W128,
        }
    }
}

/// A vector register: its number (0 to 31; above 15 with AVX-512 only) and the part of it that is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Simd {
    /// Number of the register.
    pub index: u8,
    /// Part of it.
    pub width: Width,
}

impl Simd {
    /// `xmm`, `ymm` or `zmm` number `index`.
    pub const fn new(index: u8, width: Width) -> Simd {
        Simd { index, width }
    }
}

/// A mask register of AVX-512, `k0` to `k7`; `k0` cannot mask an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mask(pub u8);

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mem {
    /// `base + index * scale + disp`
    At {
        /// The pointer.
        base: Gpr,
        /// A register (any but `rsp`) and the factor on it: 1, 2, 4 or 8.
        index: Option<(Gpr, u8)>,
        /// Bytes added.
        disp: i32,
    },
    /// A constant that is emitted after the code.
    Const(Const),
}

impl Mem {
    /// `base + disp`
    pub const fn at(base: Gpr, disp: i32) -> Mem {
        Mem::At { base, index: None, disp }
    }
}

/// A constant of the code being assembled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Const(pub(super) usize);

impl Const {
    /// Its number, in the order in which constants were asked for.
    pub(crate) fn number(self) -> usize {
        self.0
    }
}

/// A place in the code being assembled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label(pub(super) usize);

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A general register, or the low half of one where the instruction says so.
    Int(Gpr),
    /// A vector register.
    Simd(Simd),
    /// A mask register.
    Mask(Mask),
    /// A tile register of AMX, `tmm0` to `tmm7`.
    Tile(u8),
    /// A place in memory.
    Mem(Mem),
    /// A 32-bit number in memory that takes the place of every lane; AVX-512 only.
    Splat(Mem),
    /// A number.
    Imm(i64),
}

impl From<Gpr> for Operand {
    fn from(r: Gpr) -> Operand {
        Operand::Int(r)
    }
}

impl From<Simd> for Operand {
    fn from(r: Simd) -> Operand {
        Operand::Simd(r)
    }
}

impl From<Mask> for Operand {
    fn from(r: Mask) -> Operand {
        Operand::Mask(r)
    }
}

impl From<Mem> for Operand {
    fn from(m: Mem) -> Operand {
        Operand::Mem(m)
    }
}

impl From<i64> for Operand {
    fn from(i: i64) -> Operand {
        Operand::Imm(i)
    }
}

/// A condition of a jump, after a comparison of `a` with `b`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cond {
    /// Always.
    Always,
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`, signed
    Lt,
    /// `a >= b`, signed
    Ge,
    /// `a <= b`, signed
    Le,
    /// `a > b`, signed
    Gt,
}
