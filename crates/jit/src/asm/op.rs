//! The instructions that kernels use, and the encodings of each.
//!
//! A row names the encoder's first code of an instruction in either encoding; the codes of the wider registers follow it, which the tests
//! check for every row. Operands come in the order of the manual: destination first.

use super::reg::Width;
use iced_x86::Code::{self, *};

/// An instruction. Lanes are 32 bits wide unless the name says otherwise; `a` and `b` are the sources in order, and the last source may be in
/// memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// `dst = [src]`, or one register copied to another.
    Load,
    /// `[dst] = src`.
    Store,
    /// The same non-temporally; the address is a multiple of the vector's bytes.
    StoreStreaming,
    /// `dst = [src]` under a mask of bytes.
    LoadI8,
    /// `[dst] = src` under a mask of bytes.
    StoreI8,
    /// `dst = [src]` under a mask of 16-bit lanes.
    LoadI16,
    /// `[dst] = src` under a mask of 16-bit lanes.
    StoreI16,
    /// `dst, mask, [src]`: the lanes whose mask lane is negative, else 0.
    MaskLoad,
    /// `[dst], mask, src`: the lanes whose mask lane is negative.
    MaskStore,
    /// Lowest 32 bits from memory or a general register, the rest 0.
    Load32,
    /// Lowest 32 bits to memory or a general register.
    Store32,
    /// Lowest 64 bits from memory or a vector register, the rest 0.
    Load64,
    /// Lowest 64 bits to memory.
    Store64,
    /// Every byte = the lowest byte of the source.
    Broadcast8,
    /// Every 16-bit lane = the lowest of the source.
    Broadcast16,
    /// Every 32-bit lane = the lowest of the source.
    Broadcast32,
    /// Every 64-bit lane = the lowest of the source.
    Broadcast64,
    /// Every 32-bit lane = a general register.
    BroadcastInt,
    /// `dst = a + b`.
    AddF32,
    /// `dst = a - b`.
    SubF32,
    /// `dst = a * b`.
    MulF32,
    /// `dst = a / b`.
    DivF32,
    /// `dst = if a < b { a } else { b }`.
    MinF32,
    /// `dst = if a > b { a } else { b }`.
    MaxF32,
    /// `dst = sqrt(a)`.
    SqrtF32,
    /// `dst, a, how`: to an integer; see `ir::Rounding`.
    RoundF32,
    /// `dst, a, b, what`: 4 the smaller, 5 the larger; the other where one is NaN.
    RangeF32,
    /// `dst = dst * a + b`, rounded once.
    ScaleAddF32,
    /// `dst += a * b`, rounded once.
    FmaF32,
    /// `dst -= a * b`, rounded once.
    FnmaF32,
    /// `dst = a & b`.
    And,
    /// `dst = !a & b`.
    AndNot,
    /// `dst = a | b`.
    Or,
    /// `dst = a ^ b`.
    Xor,
    /// `dst = a + b`.
    AddI32,
    /// `dst = a - b`.
    SubI32,
    /// `dst = a * b`, low half.
    MulI32,
    /// `dst = min(a, b)`, signed.
    MinI32,
    /// `dst = max(a, b)`, signed.
    MaxI32,
    /// The same of bytes.
    MaxI8,
    /// The same of bytes, unsigned.
    MaxU8,
    /// `dst = a << imm`.
    ShlI32,
    /// `dst = a >> imm`, zeros shifted in.
    ShrI32,
    /// `dst = a >> imm`, sign shifted in.
    SarI32,
    /// `dst = a << imm`.
    ShlI16,
    /// `dst = a >> imm`, zeros shifted in.
    ShrI16,
    /// `dst = a >> imm`, sign shifted in.
    SarI16,
    /// Every 32-bit lane = the sum of the products of its two signed 16-bit lanes.
    MaddI16,
    /// Every 16-bit lane = the sum, saturated, of the products of its two unsigned bytes of `a` with the signed ones of `b`.
    MaddU8S8,
    /// 32-bit lanes of `a` and `b` to signed 16-bit lanes, saturated, by blocks of 128 bits.
    PackI16,
    /// 32-bit lanes of `a` and `b` to unsigned 16-bit lanes, saturated, by blocks of 128 bits.
    PackU16,
    /// 16-bit lanes of `a` and `b` to signed bytes, saturated, by blocks of 128 bits.
    PackI8,
    /// 16-bit lanes of `a` and `b` to unsigned bytes, saturated, by blocks of 128 bits.
    PackU8,
    /// Every f32 lane of `dst` += the two bf16 products of its lanes of `a` and `b`.
    DotBf16,
    /// Every i32 lane of `dst` += the four products of the unsigned bytes of `a` and the signed bytes of `b`.
    DotU8S8,
    /// To f32, to nearest.
    F32FromI32,
    /// To i32, to nearest even.
    I32FromF32,
    /// Half as many bytes to f32.
    F32FromF16,
    /// The same with AVX512-FP16, which repeats a 16-bit number in memory.
    F32FromF16Wide,
    /// `dst, a, 0`: to half as many bytes, to nearest even.
    F16FromF32,
    /// A quarter as many bytes, zero-extended.
    I32FromU8,
    /// A quarter as many bytes, sign-extended.
    I32FromI8,
    /// Half as many bytes, zero-extended.
    I32FromU16,
    /// Half as many bytes, sign-extended.
    I32FromI16,
    /// To a quarter as many bytes, saturated.
    I8FromI32,
    /// Unsigned 32-bit lanes to a quarter as many bytes, saturated.
    U8FromI32,
    /// The low halves of 32-bit lanes.
    Low16FromI32,
    /// f32 to half as many bytes of bf16, to nearest even; subnormals become zeros.
    Bf16FromF32,
    /// f32 of `b`, then those of `a`, to 16-bit lanes of bf16, to nearest even; subnormals become zeros.
    Bf16FromBoth,
    /// `dst, a, b, predicate`: a mask, or lanes of ones with AVX2.
    CmpF32,
    /// `dst, a, b, predicate`: a mask, signed.
    CmpI32,
    /// `dst = a > b`, lanes of ones.
    CmpGtI32,
    /// `dst = a == b`, lanes of ones.
    CmpEqI32,
    /// `dst, a, classes`: a mask of the f32 lanes of a class; 32 is that of subnormals.
    ClassF32,
    /// `dst, a, b`: a mask of the lanes whose `a & b` has bits.
    TestI32,
    /// `dst = if mask { b } else { a }`.
    Blend,
    /// `dst, a, b, mask`: `b` where the mask lane is negative.
    BlendV,
    /// Two lanes of `a`, two of `b` in every block of 128 bits.
    ShuffleF32,
    /// `a.0 b.0 a.1 b.1` in every block of 128 bits.
    InterleaveLow32,
    /// `a.2 b.2 a.3 b.3` in every block of 128 bits.
    InterleaveHigh32,
    /// `a.0 b.0` of 64 bits in every block of 128 bits.
    InterleaveLow64,
    /// `a.1 b.1` of 64 bits in every block of 128 bits.
    InterleaveHigh64,
    /// Blocks of 128 bits by an immediate: with AVX-512 the lower half from `a`, the upper from `b`; with AVX2 either from both.
    Blocks128,
    /// 64-bit lanes of every half by an immediate.
    PermuteI64,
    /// `dst[i] = b[a[i]]`.
    PermuteI32,
    /// `dst[i] = b[a[i]]` on 16-bit lanes.
    PermuteI16,
    /// `dst[i] = [a, b][dst[i]]` on bytes, of which the upper bits are not looked at.
    LookupI8,
    /// `dst, a`: a mask of the bytes with a sign.
    SignsI8,
    /// `dst, a, 1`: the upper block of 128 bits of 256.
    High128,
    /// `dst, a, 1`: the upper half of 512 bits.
    High256,
    /// Mask of 16 lanes from the low half of a general register.
    KFromInt16,
    /// Mask of 32 lanes from the low half of a general register.
    KFromInt32,
    /// Mask of 64 lanes from a general register.
    KFromInt64,
    /// A mask of 16 lanes into the low half of a general register.
    IntFromK16,
    /// A mask from another or from memory.
    KMove,
    /// A mask to memory.
    KStore,
    /// A mask of 16 lanes from memory.
    KLoad16,
    /// A mask of 16 lanes to memory.
    KStore16,
    /// Whether two masks of 16 lanes have a lane, for a jump: equal where they have none.
    KTest16,
    /// `dst = a & b`.
    KAnd,
    /// `dst = a | b`.
    KOr,
    /// `dst = !a`.
    KNot,
    /// 64 bits from a register or memory.
    Mov,
    /// 32 bits from a register or memory, zero-extended.
    Mov32,
    /// 32 bits from a register or memory, sign-extended.
    MovI32,
    /// 64 bits to memory.
    MovStore,
    /// 8 bits from memory, zero-extended.
    MovU8,
    /// 16 bits from memory, zero-extended.
    MovU16,
    /// The low 8 bits to memory.
    MovStore8,
    /// The low 16 bits to memory.
    MovStore16,
    /// The signs of f32 lanes as bits of a general register.
    SignBits,
    /// A number.
    MovImm,
    /// An address.
    Lea,
    /// `dst += src`.
    Add,
    /// `dst += imm`.
    AddImm,
    /// `dst -= src`.
    Sub,
    /// `dst -= imm`.
    SubImm,
    /// `dst *= src`.
    Mul,
    /// `dst &= imm`.
    AndImm,
    /// `dst &= src`.
    AndInt,
    /// `dst <<= imm`.
    ShlImm,
    /// `dst >>= imm`, zeros shifted in.
    ShrImm,
    /// `dst -= 1`.
    Dec,
    /// Compares, for a jump.
    Cmp,
    /// Compares, for a jump.
    CmpImm,
    /// Compares `a & b` with 0, for a jump.
    Test,
    /// To the stack.
    Push,
    /// From the stack.
    Pop,
    /// Return.
    Ret,
    /// Clears the upper parts of the vector registers.
    ZeroUpper,
    /// Asks for a line in L1.
    PrefetchL1,
    /// Asks for a line in L2.
    PrefetchL2,
    /// Asks for a line that will be written.
    PrefetchWrite,
    /// Orders non-temporal stores before all later stores.
    StoreFence,
    /// Shapes of the tile registers from 64 bytes of memory; clears them.
    TileConfig,
    /// Gives the tile registers up.
    TileRelease,
    /// A tile of zeros.
    TileZero,
    /// A tile from lines in memory; the index of the address is their distance.
    TileLoad,
    /// The same of lines that are not wanted again soon.
    TileLoadPassing,
    /// A tile to lines in memory; the index of the address is their distance.
    TileStore,
    /// `dst += a * b` on tiles: rows of bf16 pairs by lines of pairs.
    TileDotBf16,
    /// `dst += a * b` on tiles: rows of four unsigned bytes by lines of four signed ones.
    TileDotU8S8,
    /// `dst += a * b` on tiles: rows of four signed bytes by lines of four signed ones.
    TileDotS8S8,
}

impl Op {
    /// All of them.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Op> {
        ROWS.iter().map(|row| row.op)
    }

    /// True for the instructions of AVX512-FP16.
    pub(super) fn is_half(self) -> bool {
        self == Op::F32FromF16Wide
    }

    /// True for the instructions of AMX.
    pub(super) fn is_tile(self) -> bool {
        self as usize >= Op::TileConfig as usize
    }
}

/// How an instruction is encoded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Codes {
    /// In one way.
    One(Code),
    /// With an immediate: in the first way if it fits, else in the second.
    Imm(Code, Code),
    /// By width of the widest vector operand: the codes of the narrowest, the others follow.
    Wide { vex: Option<Code>, evex: Option<Code>, narrowest: Width },
}

pub(super) struct Row {
    pub(super) op: Op,
    pub(super) codes: Codes,
}

const fn both(vex: Code, evex: Code) -> Codes {
    wide(Some(vex), Some(evex), Width::W128)
}

const fn vex(code: Code) -> Codes {
    wide(Some(code), None, Width::W128)
}

const fn evex(code: Code) -> Codes {
    wide(None, Some(code), Width::W128)
}

const fn wide(vex: Option<Code>, evex: Option<Code>, narrowest: Width) -> Codes {
    Codes::Wide { vex, evex, narrowest }
}

/// One row for every instruction, in the order of [`Op`].
pub(super) const ROWS: &[Row] = &[
    Row { op: Op::Load, codes: both(VEX_Vmovups_xmm_xmmm128, EVEX_Vmovups_xmm_k1z_xmmm128) },
    Row { op: Op::Store, codes: both(VEX_Vmovups_xmmm128_xmm, EVEX_Vmovups_xmmm128_k1z_xmm) },
    Row { op: Op::StoreStreaming, codes: both(VEX_Vmovntps_m128_xmm, EVEX_Vmovntps_m128_xmm) },
    Row { op: Op::LoadI8, codes: evex(EVEX_Vmovdqu8_xmm_k1z_xmmm128) },
    Row { op: Op::StoreI8, codes: evex(EVEX_Vmovdqu8_xmmm128_k1z_xmm) },
    Row { op: Op::LoadI16, codes: evex(EVEX_Vmovdqu16_xmm_k1z_xmmm128) },
    Row { op: Op::StoreI16, codes: evex(EVEX_Vmovdqu16_xmmm128_k1z_xmm) },
    Row { op: Op::MaskLoad, codes: vex(VEX_Vmaskmovps_xmm_xmm_m128) },
    Row { op: Op::MaskStore, codes: vex(VEX_Vmaskmovps_m128_xmm_xmm) },
    Row { op: Op::Load32, codes: both(VEX_Vmovd_xmm_rm32, EVEX_Vmovd_xmm_rm32) },
    Row { op: Op::Store32, codes: both(VEX_Vmovd_rm32_xmm, EVEX_Vmovd_rm32_xmm) },
    Row { op: Op::Load64, codes: both(VEX_Vmovq_xmm_xmmm64, EVEX_Vmovq_xmm_xmmm64) },
    Row { op: Op::Store64, codes: both(VEX_Vmovq_xmmm64_xmm, EVEX_Vmovq_xmmm64_xmm) },
    Row { op: Op::Broadcast8, codes: both(VEX_Vpbroadcastb_xmm_xmmm8, EVEX_Vpbroadcastb_xmm_k1z_xmmm8) },
    Row { op: Op::Broadcast16, codes: both(VEX_Vpbroadcastw_xmm_xmmm16, EVEX_Vpbroadcastw_xmm_k1z_xmmm16) },
    Row { op: Op::Broadcast32, codes: both(VEX_Vpbroadcastd_xmm_xmmm32, EVEX_Vpbroadcastd_xmm_k1z_xmmm32) },
    Row { op: Op::Broadcast64, codes: both(VEX_Vpbroadcastq_xmm_xmmm64, EVEX_Vpbroadcastq_xmm_k1z_xmmm64) },
    Row { op: Op::BroadcastInt, codes: evex(EVEX_Vpbroadcastd_xmm_k1z_r32) },
    Row { op: Op::AddF32, codes: both(VEX_Vaddps_xmm_xmm_xmmm128, EVEX_Vaddps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::SubF32, codes: both(VEX_Vsubps_xmm_xmm_xmmm128, EVEX_Vsubps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::MulF32, codes: both(VEX_Vmulps_xmm_xmm_xmmm128, EVEX_Vmulps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::DivF32, codes: both(VEX_Vdivps_xmm_xmm_xmmm128, EVEX_Vdivps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::MinF32, codes: both(VEX_Vminps_xmm_xmm_xmmm128, EVEX_Vminps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::MaxF32, codes: both(VEX_Vmaxps_xmm_xmm_xmmm128, EVEX_Vmaxps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::SqrtF32, codes: both(VEX_Vsqrtps_xmm_xmmm128, EVEX_Vsqrtps_xmm_k1z_xmmm128b32) },
    Row { op: Op::RoundF32, codes: both(VEX_Vroundps_xmm_xmmm128_imm8, EVEX_Vrndscaleps_xmm_k1z_xmmm128b32_imm8) },
    Row { op: Op::RangeF32, codes: evex(EVEX_Vrangeps_xmm_k1z_xmm_xmmm128b32_imm8) },
    Row { op: Op::ScaleAddF32, codes: both(VEX_Vfmadd213ps_xmm_xmm_xmmm128, EVEX_Vfmadd213ps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::FmaF32, codes: both(VEX_Vfmadd231ps_xmm_xmm_xmmm128, EVEX_Vfmadd231ps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::FnmaF32, codes: both(VEX_Vfnmadd231ps_xmm_xmm_xmmm128, EVEX_Vfnmadd231ps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::And, codes: both(VEX_Vpand_xmm_xmm_xmmm128, EVEX_Vpandd_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::AndNot, codes: both(VEX_Vpandn_xmm_xmm_xmmm128, EVEX_Vpandnd_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::Or, codes: both(VEX_Vpor_xmm_xmm_xmmm128, EVEX_Vpord_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::Xor, codes: both(VEX_Vpxor_xmm_xmm_xmmm128, EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::AddI32, codes: both(VEX_Vpaddd_xmm_xmm_xmmm128, EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::SubI32, codes: both(VEX_Vpsubd_xmm_xmm_xmmm128, EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::MulI32, codes: both(VEX_Vpmulld_xmm_xmm_xmmm128, EVEX_Vpmulld_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::MinI32, codes: both(VEX_Vpminsd_xmm_xmm_xmmm128, EVEX_Vpminsd_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::MaxI32, codes: both(VEX_Vpmaxsd_xmm_xmm_xmmm128, EVEX_Vpmaxsd_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::MaxI8, codes: both(VEX_Vpmaxsb_xmm_xmm_xmmm128, EVEX_Vpmaxsb_xmm_k1z_xmm_xmmm128) },
    Row { op: Op::MaxU8, codes: both(VEX_Vpmaxub_xmm_xmm_xmmm128, EVEX_Vpmaxub_xmm_k1z_xmm_xmmm128) },
    Row { op: Op::ShlI32, codes: both(VEX_Vpslld_xmm_xmm_imm8, EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8) },
    Row { op: Op::ShrI32, codes: both(VEX_Vpsrld_xmm_xmm_imm8, EVEX_Vpsrld_xmm_k1z_xmmm128b32_imm8) },
    Row { op: Op::SarI32, codes: both(VEX_Vpsrad_xmm_xmm_imm8, EVEX_Vpsrad_xmm_k1z_xmmm128b32_imm8) },
    Row { op: Op::ShlI16, codes: both(VEX_Vpsllw_xmm_xmm_imm8, EVEX_Vpsllw_xmm_k1z_xmmm128_imm8) },
    Row { op: Op::ShrI16, codes: both(VEX_Vpsrlw_xmm_xmm_imm8, EVEX_Vpsrlw_xmm_k1z_xmmm128_imm8) },
    Row { op: Op::SarI16, codes: both(VEX_Vpsraw_xmm_xmm_imm8, EVEX_Vpsraw_xmm_k1z_xmmm128_imm8) },
    Row { op: Op::MaddI16, codes: both(VEX_Vpmaddwd_xmm_xmm_xmmm128, EVEX_Vpmaddwd_xmm_k1z_xmm_xmmm128) },
    Row { op: Op::MaddU8S8, codes: both(VEX_Vpmaddubsw_xmm_xmm_xmmm128, EVEX_Vpmaddubsw_xmm_k1z_xmm_xmmm128) },
    Row { op: Op::PackI16, codes: both(VEX_Vpackssdw_xmm_xmm_xmmm128, EVEX_Vpackssdw_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::PackU16, codes: both(VEX_Vpackusdw_xmm_xmm_xmmm128, EVEX_Vpackusdw_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::PackI8, codes: both(VEX_Vpacksswb_xmm_xmm_xmmm128, EVEX_Vpacksswb_xmm_k1z_xmm_xmmm128) },
    Row { op: Op::PackU8, codes: both(VEX_Vpackuswb_xmm_xmm_xmmm128, EVEX_Vpackuswb_xmm_k1z_xmm_xmmm128) },
    Row { op: Op::DotBf16, codes: evex(EVEX_Vdpbf16ps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::DotU8S8, codes: both(VEX_Vpdpbusd_xmm_xmm_xmmm128, EVEX_Vpdpbusd_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::F32FromI32, codes: both(VEX_Vcvtdq2ps_xmm_xmmm128, EVEX_Vcvtdq2ps_xmm_k1z_xmmm128b32) },
    Row { op: Op::I32FromF32, codes: both(VEX_Vcvtps2dq_xmm_xmmm128, EVEX_Vcvtps2dq_xmm_k1z_xmmm128b32) },
    Row { op: Op::F32FromF16, codes: both(VEX_Vcvtph2ps_xmm_xmmm64, EVEX_Vcvtph2ps_xmm_k1z_xmmm64) },
    Row { op: Op::F32FromF16Wide, codes: evex(EVEX_Vcvtph2psx_xmm_k1z_xmmm64b16) },
    Row { op: Op::F16FromF32, codes: both(VEX_Vcvtps2ph_xmmm64_xmm_imm8, EVEX_Vcvtps2ph_xmmm64_k1z_xmm_imm8) },
    Row { op: Op::I32FromU8, codes: both(VEX_Vpmovzxbd_xmm_xmmm32, EVEX_Vpmovzxbd_xmm_k1z_xmmm32) },
    Row { op: Op::I32FromI8, codes: both(VEX_Vpmovsxbd_xmm_xmmm32, EVEX_Vpmovsxbd_xmm_k1z_xmmm32) },
    Row { op: Op::I32FromU16, codes: both(VEX_Vpmovzxwd_xmm_xmmm64, EVEX_Vpmovzxwd_xmm_k1z_xmmm64) },
    Row { op: Op::I32FromI16, codes: both(VEX_Vpmovsxwd_xmm_xmmm64, EVEX_Vpmovsxwd_xmm_k1z_xmmm64) },
    Row { op: Op::I8FromI32, codes: evex(EVEX_Vpmovsdb_xmmm32_k1z_xmm) },
    Row { op: Op::U8FromI32, codes: evex(EVEX_Vpmovusdb_xmmm32_k1z_xmm) },
    Row { op: Op::Low16FromI32, codes: evex(EVEX_Vpmovdw_xmmm64_k1z_xmm) },
    Row { op: Op::Bf16FromF32, codes: evex(EVEX_Vcvtneps2bf16_xmm_k1z_xmmm128b32) },
    Row { op: Op::Bf16FromBoth, codes: evex(EVEX_Vcvtne2ps2bf16_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::CmpF32, codes: both(VEX_Vcmpps_xmm_xmm_xmmm128_imm8, EVEX_Vcmpps_kr_k1_xmm_xmmm128b32_imm8) },
    Row { op: Op::CmpI32, codes: evex(EVEX_Vpcmpd_kr_k1_xmm_xmmm128b32_imm8) },
    Row { op: Op::CmpGtI32, codes: vex(VEX_Vpcmpgtd_xmm_xmm_xmmm128) },
    Row { op: Op::CmpEqI32, codes: vex(VEX_Vpcmpeqd_xmm_xmm_xmmm128) },
    Row { op: Op::ClassF32, codes: evex(EVEX_Vfpclassps_kr_k1_xmmm128b32_imm8) },
    Row { op: Op::TestI32, codes: evex(EVEX_Vptestmd_kr_k1_xmm_xmmm128b32) },
    Row { op: Op::Blend, codes: evex(EVEX_Vblendmps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::BlendV, codes: vex(VEX_Vblendvps_xmm_xmm_xmmm128_xmm) },
    Row { op: Op::ShuffleF32, codes: both(VEX_Vshufps_xmm_xmm_xmmm128_imm8, EVEX_Vshufps_xmm_k1z_xmm_xmmm128b32_imm8) },
    Row { op: Op::InterleaveLow32, codes: both(VEX_Vunpcklps_xmm_xmm_xmmm128, EVEX_Vunpcklps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::InterleaveHigh32, codes: both(VEX_Vunpckhps_xmm_xmm_xmmm128, EVEX_Vunpckhps_xmm_k1z_xmm_xmmm128b32) },
    Row { op: Op::InterleaveLow64, codes: both(VEX_Vunpcklpd_xmm_xmm_xmmm128, EVEX_Vunpcklpd_xmm_k1z_xmm_xmmm128b64) },
    Row { op: Op::InterleaveHigh64, codes: both(VEX_Vunpckhpd_xmm_xmm_xmmm128, EVEX_Vunpckhpd_xmm_k1z_xmm_xmmm128b64) },
    Row {
        op: Op::Blocks128,
        codes: wide(Some(VEX_Vperm2f128_ymm_ymm_ymmm256_imm8), Some(EVEX_Vshuff32x4_ymm_k1z_ymm_ymmm256b32_imm8), Width::W256),
    },
    Row { op: Op::PermuteI64, codes: wide(Some(VEX_Vpermq_ymm_ymmm256_imm8), Some(EVEX_Vpermq_ymm_k1z_ymmm256b64_imm8), Width::W256) },
    Row { op: Op::PermuteI32, codes: wide(Some(VEX_Vpermd_ymm_ymm_ymmm256), Some(EVEX_Vpermd_ymm_k1z_ymm_ymmm256b32), Width::W256) },
    Row { op: Op::PermuteI16, codes: evex(EVEX_Vpermw_xmm_k1z_xmm_xmmm128) },
    Row { op: Op::LookupI8, codes: evex(EVEX_Vpermi2b_xmm_k1z_xmm_xmmm128) },
    Row { op: Op::SignsI8, codes: evex(EVEX_Vpmovb2m_kr_xmm) },
    Row {
        op: Op::High128,
        codes: wide(Some(VEX_Vextracti128_xmmm128_ymm_imm8), Some(EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8), Width::W256),
    },
    Row { op: Op::High256, codes: wide(None, Some(EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8), Width::W512) },
    Row { op: Op::KFromInt16, codes: Codes::One(VEX_Kmovw_kr_r32) },
    Row { op: Op::KFromInt32, codes: Codes::One(VEX_Kmovd_kr_r32) },
    Row { op: Op::KFromInt64, codes: Codes::One(VEX_Kmovq_kr_r64) },
    Row { op: Op::IntFromK16, codes: Codes::One(VEX_Kmovw_r32_kr) },
    Row { op: Op::KMove, codes: Codes::One(VEX_Kmovq_kr_km64) },
    Row { op: Op::KStore, codes: Codes::One(VEX_Kmovq_m64_kr) },
    Row { op: Op::KLoad16, codes: Codes::One(VEX_Kmovw_kr_km16) },
    Row { op: Op::KStore16, codes: Codes::One(VEX_Kmovw_m16_kr) },
    Row { op: Op::KTest16, codes: Codes::One(VEX_Kortestw_kr_kr) },
    Row { op: Op::KAnd, codes: Codes::One(VEX_Kandq_kr_kr_kr) },
    Row { op: Op::KOr, codes: Codes::One(VEX_Korq_kr_kr_kr) },
    Row { op: Op::KNot, codes: Codes::One(VEX_Knotq_kr_kr) },
    Row { op: Op::Mov, codes: Codes::One(Mov_r64_rm64) },
    Row { op: Op::Mov32, codes: Codes::One(Mov_r32_rm32) },
    Row { op: Op::MovI32, codes: Codes::One(Movsxd_r64_rm32) },
    Row { op: Op::MovStore, codes: Codes::One(Mov_rm64_r64) },
    Row { op: Op::MovU8, codes: Codes::One(Movzx_r32_rm8) },
    Row { op: Op::MovU16, codes: Codes::One(Movzx_r32_rm16) },
    Row { op: Op::MovStore8, codes: Codes::One(Mov_rm8_r8) },
    Row { op: Op::MovStore16, codes: Codes::One(Mov_rm16_r16) },
    Row { op: Op::SignBits, codes: Codes::One(VEX_Vmovmskps_r32_ymm) },
    Row { op: Op::MovImm, codes: Codes::Imm(Mov_r32_imm32, Mov_r64_imm64) },
    Row { op: Op::Lea, codes: Codes::One(Lea_r64_m) },
    Row { op: Op::Add, codes: Codes::One(Add_r64_rm64) },
    Row { op: Op::AddImm, codes: Codes::Imm(Add_rm64_imm8, Add_rm64_imm32) },
    Row { op: Op::Sub, codes: Codes::One(Sub_r64_rm64) },
    Row { op: Op::SubImm, codes: Codes::Imm(Sub_rm64_imm8, Sub_rm64_imm32) },
    Row { op: Op::Mul, codes: Codes::One(Imul_r64_rm64) },
    Row { op: Op::AndImm, codes: Codes::Imm(And_rm64_imm8, And_rm64_imm32) },
    Row { op: Op::AndInt, codes: Codes::One(And_r64_rm64) },
    Row { op: Op::ShlImm, codes: Codes::One(Shl_rm64_imm8) },
    Row { op: Op::ShrImm, codes: Codes::One(Shr_rm64_imm8) },
    Row { op: Op::Dec, codes: Codes::One(Dec_rm64) },
    Row { op: Op::Cmp, codes: Codes::One(Cmp_r64_rm64) },
    Row { op: Op::CmpImm, codes: Codes::Imm(Cmp_rm64_imm8, Cmp_rm64_imm32) },
    Row { op: Op::Test, codes: Codes::One(Test_rm64_r64) },
    Row { op: Op::Push, codes: Codes::One(Push_r64) },
    Row { op: Op::Pop, codes: Codes::One(Pop_r64) },
    Row { op: Op::Ret, codes: Codes::One(Retnq) },
    Row { op: Op::ZeroUpper, codes: Codes::One(VEX_Vzeroupper) },
    Row { op: Op::PrefetchL1, codes: Codes::One(Prefetcht0_m8) },
    Row { op: Op::PrefetchL2, codes: Codes::One(Prefetcht1_m8) },
    Row { op: Op::PrefetchWrite, codes: Codes::One(Prefetchw_m8) },
    Row { op: Op::StoreFence, codes: Codes::One(Sfence) },
    Row { op: Op::TileConfig, codes: Codes::One(VEX_Ldtilecfg_m512) },
    Row { op: Op::TileRelease, codes: Codes::One(VEX_Tilerelease) },
    Row { op: Op::TileZero, codes: Codes::One(VEX_Tilezero_tmm) },
    Row { op: Op::TileLoad, codes: Codes::One(VEX_Tileloadd_tmm_sibmem) },
    Row { op: Op::TileLoadPassing, codes: Codes::One(VEX_Tileloaddt1_tmm_sibmem) },
    Row { op: Op::TileStore, codes: Codes::One(VEX_Tilestored_sibmem_tmm) },
    Row { op: Op::TileDotBf16, codes: Codes::One(VEX_Tdpbf16ps_tmm_tmm_tmm) },
    Row { op: Op::TileDotU8S8, codes: Codes::One(VEX_Tdpbusd_tmm_tmm_tmm) },
    Row { op: Op::TileDotS8S8, codes: Codes::One(VEX_Tdpbssd_tmm_tmm_tmm) },
];

const _: () = {
    let mut i = 0;
    while i < ROWS.len() {
        assert!(ROWS[i].op as usize == i, "rows follow the order of the instructions");
        i += 1;
    }
};
