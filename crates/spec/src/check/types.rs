//! Tables of data types: which combinations each primitive takes in which pass. Data, read by the check and by the documentation.
//!
//! The rows are the union of oneDNN's documentation for any engine and of the types that its CPU reference takes; no row here is refused
//! for want of a kernel.

use super::Checked;
use crate::op::Prop;
use crate::{DataType, Error};
use std::fmt;

/// A set of data types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Types(u32);

impl Types {
    /// The set of `types`.
    pub const fn of(types: &[DataType]) -> Types {
        let (mut bits, mut i) = (0, 0);
        while i < types.len() {
            bits |= 1 << types[i] as u32;
            i += 1;
        }
        Types(bits)
    }
    /// Both sets together.
    pub const fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }
    /// True when `dtype` is in the set.
    pub const fn contains(self, dtype: DataType) -> bool {
        self.0 >> dtype as u32 & 1 == 1
    }
    /// The types of the set.
    pub fn iter(self) -> impl Iterator<Item = DataType> {
        DataType::ALL.into_iter().filter(move |&d| self.contains(d))
    }
}

/// The names, joined by `|`.
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, t) in self.iter().enumerate() {
            write!(f, "{}{t}", if i > 0 { "|" } else { "" })?;
        }
        Ok(())
    }
}

pub(crate) const F32: Types = Types::of(&[DataType::F32]);
pub(crate) const F64: Types = Types::of(&[DataType::F64]);
pub(crate) const F16: Types = Types::of(&[DataType::F16]);
pub(crate) const BF16: Types = Types::of(&[DataType::Bf16]);
pub(crate) const S32: Types = Types::of(&[DataType::S32]);
pub(crate) const S8: Types = Types::of(&[DataType::S8]);
pub(crate) const U8: Types = Types::of(&[DataType::U8]);
pub(crate) const X8: Types = S8.or(U8);
pub(crate) const INT4: Types = Types::of(&[DataType::S4, DataType::U4]);
pub(crate) const F8: Types = Types::of(&[DataType::F8E5m2, DataType::F8E4m3]);
pub(crate) const F4: Types = Types::of(&[DataType::F4E2m1, DataType::F4E3m0]);
pub(crate) const FP: Types = F32.or(BF16).or(F16);
/// The types of data of operations other than products: floats of 16 bits and more, and the integers.
pub(crate) const DATA: Types = FP.or(S32).or(X8);
pub(crate) const ALL: Types = Types::of(&DataType::ALL);

/// The passes that a row is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// All, also of primitives without propagation kind.
    Every,
    /// Both forward kinds.
    Forward,
    /// Forward without the tensors that backward needs.
    Inference,
    /// All backward kinds.
    Backward,
    /// The gradient of the data.
    BackwardData,
    /// The gradient of the weights.
    BackwardWeights,
}

impl Pass {
    /// True when a problem of this propagation kind falls under the row.
    pub fn covers(self, prop: Option<Prop>) -> bool {
        let Some(prop) = prop else { return self == Pass::Every };
        match self {
            Pass::Every => true,
            Pass::Forward => prop.is_forward(),
            Pass::Inference => prop == Prop::ForwardInference,
            Pass::Backward => !prop.is_forward(),
            Pass::BackwardData => prop == Prop::BackwardData,
            Pass::BackwardWeights => prop == Prop::BackwardWeights,
        }
    }
    /// `forward`, `backward data`...
    pub const fn name(self) -> &'static str {
        match self {
            Pass::Every => "every pass",
            Pass::Forward => "forward",
            Pass::Inference => "inference",
            Pass::Backward => "backward",
            Pass::BackwardData => "backward data",
            Pass::BackwardWeights => "backward weights",
        }
    }
}

/// One row: types by column.
#[derive(Clone, Copy, Debug)]
pub struct TypeRow {
    /// The passes.
    pub pass: Pass,
    /// Types by column of the table; columns beyond the last are free.
    pub types: &'static [Types],
    /// All columns must have the same type.
    pub same: bool,
}

/// The combinations that a primitive takes; a gradient stands in the column of its tensor.
#[derive(Clone, Copy, Debug)]
pub struct TypeTable {
    /// Names of the columns.
    pub columns: &'static [&'static str],
    /// The rows.
    pub rows: &'static [TypeRow],
}

pub(crate) const fn row(pass: Pass, types: &'static [Types]) -> TypeRow {
    TypeRow { pass, types, same: false }
}

pub(crate) const fn same(pass: Pass, types: &'static [Types]) -> TypeRow {
    TypeRow { pass, types, same: true }
}

impl TypeTable {
    /// Checks the types of a problem, one a column, `None` where the tensor is absent.
    pub(crate) fn check(&self, prop: Option<Prop>, got: &[Option<DataType>]) -> Checked {
        let rows = || self.rows.iter().filter(|r| r.pass.covers(prop));
        if rows().any(|r| r.takes(got)) {
            return Ok(());
        }
        let named = self.columns.iter().zip(got);
        let got: Vec<String> = named.filter_map(|(c, t)| t.map(|t| format!("{c} {t}"))).collect();
        let expected: Vec<String> = rows().map(|r| r.describe(self.columns)).collect();
        Err(Error::invalid("data types", got.join(", "), format_args!("one of: {}", expected.join("; "))))
    }
}

impl TypeRow {
    fn takes(&self, got: &[Option<DataType>]) -> bool {
        let mut present = got.iter().flatten();
        let first = present.next();
        got.iter().zip(self.types).all(|(t, set)| t.is_none_or(|t| set.contains(t))) && !(self.same && present.any(|t| Some(t) != first))
    }

    fn describe(&self, columns: &[&str]) -> String {
        let cells: Vec<String> = columns.iter().zip(self.types).map(|(c, set)| format!("{c} {set}")).collect();
        format!("{}{}", cells.join(", "), if self.same { " (all the same)" } else { "" })
    }
}
