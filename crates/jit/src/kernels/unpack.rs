//! Stored weights, and the conversion of a vector of them to vectors of elements to multiply with.
//!
//! A vector in memory is a row of 32-bit words, each of which holds 1, 2, 4 or 8 elements. Elements at the same place in their words make a
//! *part*: one vector of f32. Four-bit elements are looked up where there is a permutation of 16 entries, so that decoding one takes a
//! shift and a lookup for any code.
//!
//! With *pairs* a part is a vector of bf16 pairs, for dot products. Words of two bf16 are pairs already. Words of eight 4-bit elements are
//! taken as two halves: shifted right by `4 p`, both halves show element `p` of the half in their low bits, and a lookup among 32 entries
//! of 16 bits, which uses five of these bits, gives the pair of elements `p` and `p + 4` (entries `i` and `i + 16` are equal, so the fifth
//! bit needs no mask). So a word of eight elements costs 4 lookups and 3 shifts.

use crate::ir::{Addr, Binary, Elem, Function, Int, Pred, Unary, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// A type of stored weights.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stored {
    /// 32-bit float.
    F32,
    /// 16-bit float with 8 bits of exponent.
    Bf16,
    /// 16-bit float of IEEE 754.
    F16,
    /// Signed byte.
    S8,
    /// Unsigned byte.
    U8,
    /// Signed 4-bit number; the first of a byte is in its low half.
    S4,
    /// Unsigned 4-bit number.
    U4,
    /// 8-bit float with 5 bits of exponent.
    F8E5m2,
    /// 8-bit float with 4 bits of exponent.
    F8E4m3,
    /// 4-bit float with 2 bits of exponent.
    F4E2m1,
    /// 4-bit float with 3 bits of exponent.
    F4E3m0,
}

impl Stored {
    /// All of them.
    pub const ALL: [Stored; 11] = [
        Stored::F32,
        Stored::Bf16,
        Stored::F16,
        Stored::S8,
        Stored::U8,
        Stored::S4,
        Stored::U4,
        Stored::F8E5m2,
        Stored::F8E4m3,
        Stored::F4E2m1,
        Stored::F4E3m0,
    ];

    /// Size of a number.
    pub const fn bits(self) -> usize {
        match self {
            Stored::F32 => 32,
            Stored::Bf16 | Stored::F16 => 16,
            Stored::S8 | Stored::U8 | Stored::F8E5m2 | Stored::F8E4m3 => 8,
            Stored::S4 | Stored::U4 | Stored::F4E2m1 | Stored::F4E3m0 => 4,
        }
    }

    /// Elements in a word of 32 bits.
    pub const fn in_word(self) -> usize {
        32 / self.bits()
    }

    /// Whether it is decoded to bf16 pairs on a processor.
    pub const fn has_pairs(self, isa: Isa) -> bool {
        isa.avx512 && isa.bf16 && (matches!(self, Stored::Bf16) || self.bits() == 4)
    }

    /// The name in kernels' names.
    pub const fn name(self) -> &'static str {
        match self {
            Stored::F32 => "f32",
            Stored::Bf16 => "bf16",
            Stored::F16 => "f16",
            Stored::S8 => "s8",
            Stored::U8 => "u8",
            Stored::S4 => "s4",
            Stored::U4 => "u4",
            Stored::F8E5m2 => "f8_e5m2",
            Stored::F8E4m3 => "f8_e4m3",
            Stored::F4E2m1 => "f4_e2m1",
            Stored::F4E3m0 => "f4_e3m0",
        }
    }

    /// Whether it is an integer.
    pub const fn is_integral(self) -> bool {
        matches!(self, Stored::S8 | Stored::U8 | Stored::S4 | Stored::U4)
    }

    const fn is_signed(self) -> bool {
        matches!(self, Stored::S8 | Stored::S4)
    }

    /// The 8-bit elements as memory has them.
    pub const fn elem(self) -> Option<Elem> {
        match self {
            Stored::S8 => Some(Elem::I8),
            Stored::U8 => Some(Elem::U8),
            Stored::F8E5m2 => Some(Elem::F8E5m2),
            Stored::F8E4m3 => Some(Elem::F8E4m3),
            _ => None,
        }
    }

    const fn is_f4(self) -> bool {
        matches!(self, Stored::F4E2m1 | Stored::F4E3m0)
    }

    /// The elements that 4-bit codes stand for, in the order of the codes: of floats eight magnitudes, then the same with a sign.
    fn codes(self) -> impl Iterator<Item = f32> {
        let magnitude = move |i: u8| match self {
            Stored::F4E2m1 => [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][usize::from(i % 8)],
            Stored::F4E3m0 => [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0][usize::from(i % 8)],
            Stored::S4 if i >= 8 => f32::from(i) - 16.0,
            _ => f32::from(i),
        };
        (0..16).map(move |i| if self.is_f4() && i >= 8 { -magnitude(i) } else { magnitude(i) })
    }
}

/// How vectors of weights are decoded: the type, and whether to bf16 pairs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Decode {
    /// The type.
    pub stored: Stored,
    /// To bf16 pairs, where the type [has them](Stored::has_pairs); else to f32.
    pub pairs: bool,
}

impl Decode {
    /// Parts of a vector.
    pub const fn parts(self) -> usize {
        if self.pairs { self.stored.in_word() / 2 } else { self.stored.in_word() }
    }

    /// Depth of a line of a panel: the elements of a column's word. Lines of f16 are whole, with one number of each column.
    pub const fn line_depth(self) -> usize {
        if matches!(self.stored, Stored::F16) { 1 } else { self.stored.in_word() }
    }

    /// Elements in a lane of a vector of a row: bytes are widened as they are loaded.
    pub const fn in_lane(self) -> usize {
        if self.stored.bits() == 8 { 1 } else { self.stored.in_word() }
    }

    /// Parts of a line of a panel.
    pub const fn line_parts(self) -> usize {
        if matches!(self.stored, Stored::F16) { 1 } else { self.parts() }
    }

    /// Bytes of a column in a line of a panel.
    pub const fn line_bytes(self) -> usize {
        self.stored.bits() * self.line_depth() / 8
    }

    /// Place within the word of the elements of a part: of one number, or of the two of a pair.
    pub const fn places(self, part: usize) -> [usize; 2] {
        match (self.pairs, self.stored) {
            (false, _) => [part, part],
            (true, Stored::Bf16) => [0, 1],
            (true, _) => [part, part + 4],
        }
    }
}

/// Writes the instructions that decode; holds the registers that they need.
#[derive(Debug)]
pub(super) struct Decoder {
    decode: Decode,
    /// Elements by code, or bits to keep.
    constant: Option<Val>,
}

impl Decoder {
    /// Loads the constants.
    pub(super) fn new(f: &mut Function, decode: Decode) -> Decoder {
        let width = f.isa().width();
        let constant = match decode.stored {
            stored if stored.bits() == 4 && decode.pairs => {
                let table: Vec<u8> = stored.codes().flat_map(|x| ((x.to_bits() >> 16) as u16).to_le_bytes()).collect();
                Some(table.repeat(2))
            }
            stored if stored.bits() == 4 && (f.isa().avx512 || stored.is_f4()) => {
                Some(stored.codes().take(width.lanes()).flat_map(f32::to_le_bytes).collect())
            }
            _ => None,
        };
        let keep = match decode.stored {
            Stored::Bf16 if !decode.pairs => Some(0xffff_0000_u32 as i32),
            Stored::U8 => Some(0xff),
            Stored::U4 if !f.isa().avx512 => Some(15),
            _ => None,
        };
        let constant = match (constant, keep) {
            (Some(table), _) => {
                let at = f.constant(&table);
                Some(f.load(width, at))
            }
            (None, Some(bits)) => Some(f.splat_i32(width, bits)),
            (None, None) => None,
        };
        Decoder { decode, constant }
    }

    /// A part of the weights `x`.
    pub(super) fn part(&self, f: &mut Function, x: Val, part: usize) -> Val {
        let stored = self.decode.stored;
        match (stored, self.constant) {
            (Stored::F32, _) => x,
            (Stored::Bf16, None) => x,
            (Stored::Bf16, Some(_)) if part == 0 => f.unary(Unary::ShlI32(16), x),
            (Stored::Bf16, Some(upper)) => f.binary(Binary::And, x, upper),
            (Stored::F16, _) => {
                let x = shifted(f, x, part * 16);
                f.unary(Unary::F32FromLowF16, x)
            }
            (Stored::F8E5m2, _) => f.f32_from_f8(Elem::F8E5m2, x, part as u8),
            (Stored::F8E4m3, _) => f.f32_from_f8(Elem::F8E4m3, x, part as u8),
            (Stored::F4E2m1 | Stored::F4E3m0, Some(magnitudes)) if !f.isa().avx512 => {
                let x = shifted(f, x, part * 4);
                let magnitude = f.binary(Binary::Lookup32, x, magnitudes);
                let sign = f.unary(Unary::ShrI32(3), x);
                let sign = f.unary(Unary::ShlI32(31), sign);
                f.binary(Binary::Or, magnitude, sign)
            }
            (stored, Some(table)) if stored.bits() == 4 && f.isa().avx512 => {
                let shift = part as u8 * 4;
                if self.decode.pairs {
                    let x = if shift == 0 { x } else { f.unary(Unary::ShrI16(shift), x) };
                    return f.binary(Binary::Lookup16, x, table);
                }
                let x = shifted(f, x, usize::from(shift));
                f.binary(Binary::Lookup32, x, table)
            }
            _ => self.whole_number(f, x, part),
        }
    }

    /// A number of up to 8 bits, moved to the low bits of its word and converted.
    fn whole_number(&self, f: &mut Function, x: Val, part: usize) -> Val {
        let bits = self.decode.stored.bits();
        let above = 32 - (part + 1) * bits;
        let number = if self.decode.stored.is_signed() {
            let high = if above == 0 { x } else { f.unary(Unary::ShlI32(above as u8), x) };
            f.unary(Unary::SarI32(32 - bits as u8), high)
        } else {
            let low = shifted(f, x, part * bits);
            match self.constant {
                Some(keep) if above > 0 => f.binary(Binary::And, low, keep),
                _ => low,
            }
        };
        f.unary(Unary::F32FromI32, number)
    }
}

fn shifted(f: &mut Function, x: Val, bits: usize) -> Val {
    if bits == 0 { x } else { f.unary(Unary::ShrI32(bits as u8), x) }
}

/// A kernel that decodes lines of a panel to memory, for products of many rows. This is its key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Unpack {
    /// The type: of 8 or 4 bits, or f16.
    pub stored: Stored,
    /// To lines of bf16 pairs, which is exact without scales and zero points, and rounded to nearest even with them; else to lines of f32. See
    /// [`Unpack::places`].
    pub pairs: bool,
    /// Vectors in a line.
    pub line: u8,
    /// Type of scales by column, which multiply.
    pub scale: Option<Elem>,
    /// Type of zero points by column, which are subtracted before.
    pub zero: Option<Elem>,
}

/// Arguments of [`Unpack`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// First line of the panel.
    pub from: *const u8,
    /// Where elements go: for every line as many lines as it has elements (or pairs) of a column.
    pub to: *mut f32,
    /// Lines.
    pub lines: usize,
    /// Scales of the panel's columns.
    pub scale: *const u8,
    /// Zero points of the panel's columns.
    pub zero: *const u8,
}

impl Key for Unpack {
    type Args = Args;

    /// The name in dumps and profiles, such as `unpack.s4.pairs.64.avx512_bf16`.
    fn name(&self, isa: Isa) -> String {
        let quantised = |prefix: &str, elem: Option<Elem>| elem.map_or(String::new(), |e| format!(".{prefix}-{}", e.name()));
        let (scale, zero) = (quantised("scale", self.scale), quantised("zero", self.zero));
        let pairs = if self.pairs { ".pairs" } else { "" };
        let columns = usize::from(self.line) * isa.width().lanes();
        format!("unpack.{}{pairs}.{columns}{scale}{zero}.{}", self.stored.name(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        let (args, isa) = (f.arguments(), f.isa());
        let scaled = self.scale.is_some() || self.zero.is_some();
        let looked_up = self.pairs && !scaled && self.stored.has_pairs(isa);
        let decoder = Decoder::new(f, Decode { stored: self.stored, pairs: looked_up });
        let mut arg = |offset: usize| f.load_int(args.at(offset as i32));
        let (from, to, lines) = (arg(offset_of!(Args, from)), arg(offset_of!(Args, to)), arg(offset_of!(Args, lines)));
        let (scale, zero) = (arg(offset_of!(Args, scale)), arg(offset_of!(Args, zero)));
        let (line, width) = (usize::from(self.line), isa.width());
        let columns = |f: &mut Function, elem: Option<Elem>, base: Int| -> Option<Vec<Val>> {
            let place = |elem: Elem, v: usize| base.at((v * width.lanes() * elem.bytes()) as i32);
            elem.map(|elem| (0..line).map(|v| f.load_as(elem, place(elem, v), None)).collect())
        };
        let (scales, zeros) = (columns(f, self.scale, scale), columns(f, self.zero, zero));
        let pair = (self.pairs && !looked_up).then(|| Pair::new(f, self.stored, [self.scale.is_some(), self.zero.is_some()]));
        f.repeat(lines, |f| {
            for v in 0..line {
                let x = f.load(width, from.at((v * width.bytes()) as i32));
                let number = |f: &mut Function, part: usize| {
                    let mut number = decoder.part(f, x, part);
                    if let Some(zeros) = &zeros {
                        number = f.binary(Binary::SubF32, number, zeros[v]);
                    }
                    if let Some(scales) = &scales {
                        number = f.binary(Binary::MulF32, number, scales[v]);
                    }
                    number
                };
                for n in 0..self.lines() {
                    let word = match pair {
                        None => number(f, n),
                        Some(pair) => {
                            let numbers = self.places(n).map(|part| number(f, part));
                            pair.write(f, numbers)
                        }
                    };
                    f.store(to.at(((n * line + v) * width.bytes()) as i32), word);
                }
            }
            f.add(from, (line * width.bytes()) as i32);
            f.add(to, (self.lines() * line * width.bytes()) as i32);
        });
    }
}

/// How two f32 of every lane become bf16: exact ones by the upper halves of lanes, others rounded.
#[derive(Clone, Copy)]
enum Pair {
    Exact(Val),
    Rounded(Binary),
}

impl Pair {
    /// For stored numbers with scales, with zero points, both or none. Without scales no number is subnormal.
    fn new(f: &mut Function, stored: Stored, [scale, zero]: [bool; 2]) -> Pair {
        let width = f.isa().width();
        match (scale, zero || stored.bits() > 8) {
            (true, _) => Pair::Rounded(Binary::PairBf16),
            (false, true) => Pair::Rounded(Binary::PairBf16Flushed),
            (false, false) => Pair::Exact(f.splat_i32(width, 0xffff_0000_u32 as i32)),
        }
    }

    fn write(self, f: &mut Function, [low, high]: [Val; 2]) -> Val {
        match self {
            Pair::Rounded(op) => f.binary(op, low, high),
            Pair::Exact(upper) => {
                let (low, high) = (f.unary(Unary::ShrI32(16), low), f.binary(Binary::And, high, upper));
                f.binary(Binary::Or, low, high)
            }
        }
    }
}

impl Unpack {
    /// Lines that a line becomes.
    pub const fn lines(&self) -> usize {
        if self.pairs { self.stored.in_word() / 2 } else { self.stored.in_word() }
    }

    /// Depths within a line of the elements of line `n` that it becomes: of one number, or of the two of a pair. Pairs of 4-bit elements are those
    /// that one lookup gives, not neighbours.
    pub const fn places(&self, n: usize) -> [usize; 2] {
        match (self.pairs, self.stored.bits()) {
            (false, _) => [n, n],
            (true, 4) => [n, n + 4],
            (true, _) => [2 * n, 2 * n + 1],
        }
    }
}

/// A kernel that decodes rows of weights to lines of a panel. This is its key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UnpackRows {
    /// The type: of 8 or 4 bits, or f16.
    pub stored: Stored,
    /// Two rows to a line of bf16 pairs, as [`Unpack::pairs`]; else a row to a line of f32.
    pub pairs: bool,
    /// Vectors in a line.
    pub line: u8,
    /// Whether scales multiply.
    pub scale: bool,
    /// Whether zero points are subtracted before.
    pub zero: bool,
}

/// Arguments of [`UnpackRows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RowArgs {
    /// The panel's first element of the first row; of every row a line's elements are read.
    pub from: *const u8,
    /// Bytes from a row to the next.
    pub row: usize,
    /// The lines.
    pub to: *mut f32,
    /// Their number.
    pub lines: usize,
    /// Zero points and scales of the panel's columns, where there are any.
    pub zero: *const f32,
    /// As said.
    pub scale: *const f32,
}

impl Key for UnpackRows {
    type Args = RowArgs;

    /// The name in dumps and profiles, such as `unpack.rows.s4.pairs.64.scale.zero.avx512_bf16`.
    fn name(&self, isa: Isa) -> String {
        let parts = [(self.pairs, ".pairs"), (self.scale, ".scale"), (self.zero, ".zero")];
        let [pairs, scale, zero] = parts.map(|(is, name)| if is { name } else { "" });
        let columns = usize::from(self.line) * isa.width().lanes();
        format!("unpack.rows.{}{pairs}.{columns}{scale}{zero}.{}", self.stored.name(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        let (args, width, line) = (f.arguments(), f.isa().width(), usize::from(self.line));
        let mut arg = |offset: usize| f.load_int(args.at(offset as i32));
        let (from, row, to) = (arg(offset_of!(RowArgs, from)), arg(offset_of!(RowArgs, row)), arg(offset_of!(RowArgs, to)));
        let (lines, zero, scale) = (arg(offset_of!(RowArgs, lines)), arg(offset_of!(RowArgs, zero)), arg(offset_of!(RowArgs, scale)));
        let vector = |v: usize| (v * width.bytes()) as i32;
        let mut columns =
            |has: bool, of: Int| -> Vec<Val> { (0..if has { line } else { 0 }).map(|v| f.load(width, of.at(vector(v)))).collect() };
        let (zeros, scales) = (columns(self.zero, zero), columns(self.scale, scale));
        let nibbles = (self.stored.bits() == 4).then(|| Nibbles::new(f, self.stored));
        let pair = self.pairs.then(|| Pair::new(f, self.stored, [self.scale, self.zero]));
        f.repeat(lines, |f| {
            let next = f.address(from.indexed(row, 1, 0));
            for v in 0..line {
                let number = |f: &mut Function, from: Int| {
                    let at = from.at((v * width.lanes() * self.stored.bits() / 8) as i32);
                    let x = match (&nibbles, self.stored.elem()) {
                        (Some(nibbles), _) => nibbles.load(f, at),
                        (None, elem) => f.load_as(elem.unwrap_or(Elem::F16), at, None),
                    };
                    let x = zeros.get(v).map_or(x, |zero| f.binary(Binary::SubF32, x, *zero));
                    scales.get(v).map_or(x, |scale| f.binary(Binary::MulF32, x, *scale))
                };
                let word = match pair {
                    None => number(f, from),
                    Some(pair) => {
                        let numbers = [from, next].map(|from| number(f, from));
                        pair.write(f, numbers)
                    }
                };
                f.store(to.at(vector(v)), word);
            }
            f.set(from, next);
            if self.pairs {
                f.add(from, row);
            }
            f.add(to, vector(line));
        });
    }
}

/// Loads 4-bit elements that follow each other, eight in a word: a multiplication shifts every lane's element to the highest bits.
struct Nibbles {
    stored: Stored,
    factors: Val,
    /// Elements by code, where there is a permutation of as many entries as the vector has lanes; of floats, or with the sign cut off.
    table: Option<Val>,
    /// The lanes of the first word, where a vector has two.
    first: Option<Pred>,
}

impl Nibbles {
    fn new(f: &mut Function, stored: Stored) -> Nibbles {
        let width = f.isa().width();
        let mut load = |bytes: Vec<u8>| {
            let at = f.constant(&bytes);
            f.load(width, at)
        };
        let factors = load((0..width.lanes()).flat_map(|lane| (1_u32 << (28 - 4 * (lane % 8))).to_le_bytes()).collect());
        let table = stored.is_f4().then(|| load(stored.codes().take(width.lanes()).flat_map(f32::to_le_bytes).collect()));
        let first = (width.lanes() > 8).then(|| {
            let eight = f.int(8);
            f.first_lanes(eight)
        });
        Nibbles { stored, factors, table, first }
    }

    fn load(&self, f: &mut Function, at: Addr) -> Val {
        let width = f.isa().width();
        let mut words = f.splat(width, at);
        if let Some(first) = self.first {
            let second = f.splat(width, at.behind(4));
            words = f.select(first, words, second);
        }
        let high = f.binary(Binary::MulI32, words, self.factors);
        if self.stored == Stored::S4 {
            let number = f.unary(Unary::SarI32(28), high);
            return f.unary(Unary::F32FromI32, number);
        }
        let code = f.unary(Unary::ShrI32(28), high);
        let Some(table) = self.table else { return f.unary(Unary::F32FromI32, code) };
        let element = f.binary(Binary::Lookup32, code, table);
        if f.isa().avx512 {
            return element;
        }
        let sign = f.unary(Unary::ShrI32(31), high);
        let sign = f.unary(Unary::ShlI32(31), sign);
        f.binary(Binary::Or, element, sign)
    }
}
