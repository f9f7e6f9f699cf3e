//! Problem descriptors of letters: `mb2ic16ih7oc16oh7kh3ph1`.

use super::error::{ParseError, Result};
use super::values::{real, size};
use crate::{Dims, RUNTIME, Real};
use std::fmt::Write;

/// The letters of a descriptor with their numbers.
pub(super) struct Letters<'a> {
    found: Vec<(&'static str, &'a str)>,
}

/// Letters whose numbers are real.
const REALS: [&str; 4] = ["eps", "alpha", "beta", "k"];

impl<'a> Letters<'a> {
    /// Reads `text`, which may use the letters in `known`; `_` between them is skipped.
    pub(super) fn read(text: &'a str, known: &[&'static str]) -> Result<Letters<'a>> {
        let mut found: Vec<(&'static str, &str)> = Vec::new();
        let mut rest = text.trim_start_matches('_');
        while !rest.is_empty() {
            let len = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (key, tail) = rest.split_at(key_len(&rest[..len], known));
            let Some(key) = known.iter().find(|k| **k == key) else {
                let got = if key.is_empty() { rest } else { key };
                return Err(ParseError::unknown(got, "one of the letters", known.iter().copied()).of("descriptor"));
            };
            let (number, tail) = tail.split_at(if REALS.contains(key) { real_len(tail) } else { size_len(tail) });
            if number.is_empty() {
                return Err(ParseError::new(rest, "a number behind the letters").of(key));
            }
            if found.iter().any(|(k, _)| k == key) {
                return Err(ParseError::new(text, "each letter once").of(key));
            }
            found.push((key, number));
            rest = tail.trim_start_matches('_');
        }
        Ok(Letters { found })
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.found.iter().find(|(k, _)| *k == key).map(|(_, v)| *v)
    }

    /// The size behind `key`, if it is there.
    pub(super) fn size(&self, key: &str) -> Result<Option<i64>> {
        self.text(key).map(|s| size(s).map_err(|e| e.of(key))).transpose()
    }

    /// The size behind `key`.
    pub(super) fn need(&self, key: &str) -> Result<i64> {
        self.size(key)?.ok_or_else(|| ParseError::new("nothing", "a size: it has no default").of(key))
    }

    /// The real number behind `key`, if it is there.
    pub(super) fn real(&self, key: &str) -> Result<Option<Real>> {
        self.text(key).map(|s| real(s).map_err(|e| e.of(key))).transpose()
    }

    /// Number of spatial dimensions: 3 with a depth letter, else 2 with a height, 1 with a width, 0.
    pub(super) fn spatial(&self) -> usize {
        let has = |dim: char| self.found.iter().any(|(k, _)| k.len() == 2 && k.ends_with(dim) && "iokspdr".contains(&k[..1]));
        if has('d') {
            3
        } else if has('h') {
            2
        } else {
            usize::from(has('w'))
        }
    }

    /// The numbers of one kind (`i`, `o`, `k`, `s`, `p`, `d` or `r`) by spatial dimension, depth first; `None` where the kind is not there.
    /// A missing width takes the height, a missing height the depth, a missing depth the height.
    pub(super) fn kind(&self, kind: char, spatial: usize) -> Result<Option<Dims>> {
        let of = |dim: char| self.size(&format!("{kind}{dim}"));
        let (d, h, w) = (of('d')?, of('h')?, of('w')?);
        if d.or(h).or(w).is_none() {
            return Ok(None);
        }
        let all = [d.or(h).or(w), h.or(d).or(w), w.or(h).or(d)];
        Ok(Some(Dims::from_fn(spatial, |i| all[3 - spatial + i].unwrap_or(1))))
    }
}

/// Numbers that are words.
const WORDS: [&str; 3] = ["inf", "-inf", "NaN"];

/// How many of these letters are a key: all, unless a number begins among them.
fn key_len(letters: &str, known: &[&str]) -> usize {
    let is_number = |s: &str| WORDS.iter().any(|word| s.starts_with(word));
    let real = |k: &&&str| REALS.contains(k) && letters.strip_prefix(**k).is_some_and(is_number);
    known.iter().find(real).map_or(letters.len(), |k| k.len())
}

fn size_len(s: &str) -> usize {
    if s.starts_with('*') { 1 } else { s.bytes().take_while(u8::is_ascii_digit).count() }
}

fn real_len(s: &str) -> usize {
    let b = s.as_bytes();
    for word in WORDS {
        if s.starts_with(word) {
            return word.len();
        }
    }
    let digits = |from: usize| b[from.min(b.len())..].iter().take_while(|c| c.is_ascii_digit() || **c == b'.').count();
    let sign = usize::from(b.first() == Some(&b'-'));
    let mut len = sign + digits(sign);
    if len > sign && matches!(b.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(b.get(len + 1), Some(b'-' | b'+')));
        let exponent = digits(len + 1 + sign);
        len += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    if len > sign { len } else { 0 }
}

/// Sizes of one spatial dimension of a window.
#[derive(Clone, Copy)]
pub(super) struct Line {
    /// Input size; for a deconvolution its output.
    pub(super) i: i64,
    /// Kernel size.
    pub(super) k: i64,
    /// Stride.
    pub(super) s: i64,
    /// Dilation, 0-based.
    pub(super) d: i64,
}

impl Line {
    fn extent(&self) -> i128 {
        (i128::from(self.k) - 1) * (i128::from(self.d) + 1) + 1
    }
    fn is_runtime(&self) -> bool {
        [self.i, self.k, self.s, self.d].contains(&RUNTIME)
    }
    /// Output size with padding `l` and `r`.
    pub(super) fn output(&self, l: i64, r: i64) -> i64 {
        if self.is_runtime() {
            return RUNTIME;
        }
        let room = i128::from(self.i) - self.extent() + i128::from(l) + i128::from(r);
        i64::try_from(room.div_euclid(i128::from(self.s.max(1))) + 1).unwrap_or(i64::MAX).max(0)
    }
    /// Size of the output of a deconvolution with padding `l` and `r`; `i` is its input.
    pub(super) fn transposed(&self, l: i64, r: i64) -> i64 {
        if self.is_runtime() {
            return RUNTIME;
        }
        let o = (i128::from(self.i) - 1) * i128::from(self.s) - i128::from(l) - i128::from(r) + self.extent();
        i64::try_from(o).unwrap_or(i64::MAX).max(0)
    }
    /// Padding after that makes `o` outputs exactly, with padding `l` before.
    pub(super) fn padding_after(&self, o: i64, l: i64) -> i64 {
        if self.is_runtime() || o == RUNTIME {
            return l;
        }
        let r = (i128::from(o) - 1) * i128::from(self.s) - i128::from(self.i) + self.extent() - i128::from(l);
        i64::try_from(r).unwrap_or(i64::MAX)
    }
}

/// Writes a descriptor of letters.
#[derive(Default)]
pub(super) struct Writer(pub(super) String);

impl Writer {
    /// A letter with its size.
    pub(super) fn size(&mut self, key: &str, v: i64) {
        self.0.push_str(key);
        if v == RUNTIME {
            self.0.push('*');
        } else {
            let _ = write!(self.0, "{v}");
        }
    }

    /// A letter with a real number, unless that is the default.
    pub(super) fn real(&mut self, key: &str, v: Real, default: f32) {
        if v != Real::new(default) {
            let _ = write!(self.0, "{key}{v}");
        }
    }

    /// All letters of the kind, for one number a spatial dimension.
    pub(super) fn all(&mut self, kind: char, v: &[i64]) {
        for (dim, v) in ["d", "h", "w"][3 - v.len().min(3)..].iter().zip(v) {
            self.size(&format!("{kind}{dim}"), *v);
        }
    }

    /// The letters of the kind that are needed: the height alone where all numbers are the same, none where they are all `default`.
    pub(super) fn kind(&mut self, kind: char, v: &[i64], default: Option<i64>) {
        let same = v.windows(2).all(|w| w[0] == w[1]);
        match v.first() {
            Some(first) if same && Some(*first) == default => {}
            Some(first) if same && v.len() > 1 && *first != RUNTIME => self.size(&format!("{kind}h"), *first),
            _ => self.all(kind, v),
        }
    }
}
