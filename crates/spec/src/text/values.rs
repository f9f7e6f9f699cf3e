//! The values of options: lists, names, numbers, shapes; reading and writing.

use super::error::{ParseError, Result};
use super::{Driver, layouts};
use crate::{DataType, Dims, Layout, MAX_NDIMS, RUNTIME, Real, Tensor};

/// The largest number that stands for a size, stride or offset.
pub(super) const MAX_SIZE: i64 = 1 << 48;
/// The most shapes of one descriptor and the most entries of one `+` or `:` list.
pub(super) const MAX_LIST: usize = 4096;

/// The word for the missing rest of a list by operand.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Rest {
    /// One value stands for all operands.
    Repeat,
    /// The option's default.
    Default,
}

/// One alternative of every option of a line.
pub(super) struct Values<'a> {
    pub(super) driver: &'static Driver,
    pub(super) picked: &'a [(&'static str, &'a str)],
}

impl<'a> Values<'a> {
    /// The value of an option of the driver, its default where the line has none or an empty one.
    pub(super) fn get(&self, option: &str) -> &'a str {
        let picked = self.picked.iter().find(|(name, value)| *name == option && !value.is_empty());
        picked.map_or_else(|| self.driver.default(option), |(_, value)| value)
    }

    /// Reads an option's value.
    pub(super) fn read<T>(&self, option: &str, f: impl FnOnce(&str) -> Result<T>) -> Result<T> {
        f(self.get(option)).map_err(|e| e.of(format_args!("--{option}")))
    }

    /// Reads one of the names in `table`.
    pub(super) fn name<T: Copy>(&self, option: &str, table: &[(T, &'static str)]) -> Result<T> {
        self.read(option, |s| one_of(table, s))
    }

    /// Reads a number.
    pub(super) fn real(&self, option: &str) -> Result<Real> {
        self.read(option, real)
    }

    /// Reads a list `a:b:c` of `n` entries.
    pub(super) fn list<T>(&self, option: &str, n: usize, rest: Rest, mut f: impl FnMut(usize, &str) -> Result<T>) -> Result<Vec<T>> {
        let entries: Vec<&str> = self.get(option).split(':').collect();
        let defaults: Vec<&str> = self.driver.default(option).split(':').collect();
        self.read(option, |s| {
            if entries.len() > n {
                return Err(ParseError::new(s, format_args!("at most {n} entries")));
            }
            let pick = |i: usize| match entries.get(i) {
                Some(e) if !e.is_empty() => *e,
                None if rest == Rest::Repeat && entries.len() == 1 => entries[0],
                _ => defaults.get(i).or(defaults.last()).copied().unwrap_or(""),
            };
            (0..n).map(|i| f(i, pick(i))).collect()
        })
    }

    /// Reads `n` data types.
    pub(super) fn dtypes<const N: usize>(&self, option: &str) -> Result<[DataType; N]> {
        let v = self.list(option, N, Rest::Repeat, |_, s| dtype(s))?;
        Ok(std::array::from_fn(|i| v[i]))
    }

    /// A tensor with the layout that entry 0 of `option` names.
    pub(super) fn tensor(&self, option: &str, dims: Dims, dtype: DataType) -> Result<Tensor> {
        self.read(option, |s| Ok(Tensor { dtype, layout: layouts::read(dims, s)? }))
    }

    /// The layouts of a list of tags for tensors of `dims`.
    pub(super) fn layouts(&self, option: &str, dims: &[Dims], rest: Rest) -> Result<Vec<Layout>> {
        self.list(option, dims.len(), rest, |i, s| layouts::read(dims[i], s))
    }

    /// Reads `true` or `false`.
    pub(super) fn flag(&self, option: &str) -> Result<bool> {
        self.name(option, &[(true, "true"), (false, "false"), (true, "1"), (false, "0"), (false, "")])
    }
}

/// The value that `name` has in `table` (in either case); the first name of a value is the one that is written.
pub(super) fn one_of<T: Copy>(table: &[(T, &'static str)], name: &str) -> Result<T> {
    let found = table.iter().find(|(_, n)| n.eq_ignore_ascii_case(name));
    found.map(|(v, _)| *v).ok_or_else(|| ParseError::unknown(name, "one of", table.iter().map(|(_, n)| *n)))
}

/// The name of `value` in `table`.
pub(super) fn name_in<T: Copy + PartialEq>(table: &[(T, &'static str)], value: T) -> &'static str {
    table.iter().find(|(v, _)| *v == value).map_or("", |(_, n)| n)
}

pub(super) fn dtype(s: &str) -> Result<DataType> {
    s.parse().map_err(|_| ParseError::unknown(s, "a data type", DataType::ALL.iter().map(|d| d.name())))
}

/// A data type, or `undef` for none.
pub(super) fn optional_dtype(s: &str) -> Result<Option<DataType>> {
    if s == "undef" { Ok(None) } else { dtype(s).map(Some) }
}

/// A number; a `*` behind it (benchdnn's "at run time") is let pass.
pub(super) fn real(s: &str) -> Result<Real> {
    let text = s.strip_suffix('*').unwrap_or(s);
    text.parse::<f32>().map(Real::new).map_err(|_| ParseError::new(s, "a number"))
}

/// A whole number that fits `T`.
pub(super) fn int<T: std::str::FromStr>(s: &str) -> Result<T> {
    let text = s.strip_suffix('*').unwrap_or(s);
    text.parse().map_err(|_| ParseError::new(s, "a whole number"))
}

/// A size, stride or offset; `*` for one that is given at execution.
pub(super) fn size(s: &str) -> Result<i64> {
    if s == "*" {
        return Ok(RUNTIME);
    }
    let v = if s.bytes().all(|b| b.is_ascii_digit()) { s.parse::<i64>().ok() } else { None };
    v.filter(|v| *v <= MAX_SIZE).ok_or_else(|| ParseError::new(s, "a size: a whole number up to 2^48, or `*` when given at execution"))
}

/// `2x3x4`.
pub(super) fn dims(s: &str) -> Result<Dims> {
    if s.split('x').count() > MAX_NDIMS {
        return Err(ParseError::new(s, "at most 12 dimensions"));
    }
    let mut out = Dims::default();
    for d in s.split('x') {
        out.push(size(d)?);
    }
    Ok(out)
}

/// `2x3:3x4`, from `least` to `most` shapes.
pub(super) fn shapes(s: &str, least: usize, most: usize) -> Result<Vec<Dims>> {
    let n = s.split(':').count();
    if n < least || n > most.min(MAX_LIST) {
        let range = if least == most { format!("{least}") } else { format!("{least} to {}", most.min(MAX_LIST)) };
        return Err(ParseError::new(s, format_args!("{range} shape(s) such as 2x3x4, joined by `:`")).of("shape"));
    }
    s.split(':').map(|d| dims(d).map_err(|e| e.of("shape"))).collect()
}

/// A row-major tensor.
pub(super) fn plain(dims: Dims, dtype: DataType) -> Result<Tensor> {
    Tensor::plain(dims, dtype).map_err(ParseError::refused)
}
