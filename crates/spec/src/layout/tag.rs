//! Format tags: their grammar, the role names that stand for them, and the tag of a layout.
//!
//! A tag lists dimensions `a..l` in memory order; an upper-case letter marks a blocked dimension, and `16b` appended adds an inner block of
//! 16 of dimension `b` inside the blocks before it. `abx` and `axb` stand for plain and channels-last of any rank, and so do tags with an `x`
//! for "all further dimensions" such as `aBx16b`. Role names (`nchw`, `OIhw16i16o`, `ldigo`) are read by position.

use super::build::LARGEST;
use super::{Blocking, Blocks, Layout};
use crate::{Dims, Error, MAX_NDIMS, RUNTIME};

/// Why a tag was not understood.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TagError {
    /// A character that has no meaning there.
    #[error("`{0}` is not a tag: unexpected `{1}`")]
    Unexpected(String, char),
    /// A dimension named twice, or left out.
    #[error("`{0}` is not a tag: every dimension up to `{1}` must be named exactly once")]
    Missing(String, char),
    /// A letter in upper case without an inner block, or the reverse.
    #[error("`{0}` is not a tag: dimension `{1}` is in upper case exactly when it has an inner block")]
    Case(String, char),
    /// The tag names another number of dimensions than the tensor has.
    #[error("`{tag}` names {tag_dims} dimensions, the tensor has {dims}")]
    Rank {
        /// The tag.
        tag: String,
        /// Dimensions that it names.
        tag_dims: usize,
        /// Dimensions of the tensor.
        dims: usize,
    },
    /// An inner block of size 0 or 1, too many of them, or one too large.
    #[error("`{0}` is not a tag: inner blocks are 2 to 4096 large, at most 12, and 2^20 together")]
    Block(String),
    /// Letters that are not a permutation of a known role name.
    #[error(
        "`{0}` is not a tag: its letters are neither a..l nor those of nchw, oihw, goihw, tnc, ldnc, ldigo, ldgo, ldio or one of their kin"
    )]
    Role(String),
}

/// Role names: the letters of a family in the order of its logical dimensions. A name is a permutation of one of them; every family has
/// a letter behind `l`, so that no letter tag can be taken for a role name.
const ROLES: [&str; 17] =
    ["nc", "ncw", "nchw", "ncdhw", "oi", "oiw", "oihw", "oidhw", "goiw", "goihw", "goidhw", "tn", "tnc", "ldnc", "ldigo", "ldgo", "ldio"];

/// The largest product of inner blocks.
const MAX_BLOCK: i64 = 1 << 20;

/// Outer order (dimension indices) and inner blocks of a tag, for tensors of `n` dimensions.
struct Parsed {
    order: Vec<usize>,
    blocks: Blocks,
}

fn letter(d: usize) -> char {
    (b'a' + d as u8) as char
}

fn parse(tag: &str, n: usize) -> Result<Parsed, TagError> {
    if let Some(c) = tag.chars().find(|c| !c.is_ascii_alphanumeric()) {
        return Err(TagError::Unexpected(tag.into(), c));
    }
    let outer = tag.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (outer, inner) = tag.split_at(outer);
    let role = outer.chars().any(|c| c.to_ascii_lowercase() > 'l' && c != 'x');
    let family = if role { family(outer).ok_or_else(|| TagError::Role(tag.into()))? } else { "abcdefghijkl" };
    let dim = |c: char| {
        let found = family.find(c.to_ascii_lowercase());
        found.ok_or_else(|| TagError::Unexpected(tag.into(), c))
    };
    let mut order = Vec::with_capacity(n);
    let mut upper = [false; MAX_NDIMS];
    for c in outer.chars() {
        if c == 'x' {
            let named = outer.chars().filter(|c| *c != 'x').map(dim).try_fold(0, |m, d| d.map(|d| m.max(d + 1)))?;
            order.extend(named..n);
            continue;
        }
        let d = dim(c)?;
        if order.contains(&d) {
            return Err(TagError::Missing(tag.into(), c));
        }
        upper[d] = c.is_ascii_uppercase();
        order.push(d);
    }
    if outer.contains('x') {
        order.retain(|&d| d < n || upper[d]);
    }
    if order.len() != n {
        return Err(TagError::Rank { tag: tag.into(), tag_dims: order.len(), dims: n });
    }
    let blocks = inner_blocks(inner, tag, dim)?;
    for (d, upper) in upper.into_iter().enumerate().take(n) {
        let c = family.chars().nth(d).unwrap_or_else(|| letter(d));
        if !order.contains(&d) {
            return Err(TagError::Missing(tag.into(), c));
        }
        if upper != blocks.iter().any(|b| b.0 == d) {
            return Err(TagError::Case(tag.into(), c));
        }
    }
    match blocks.iter().find(|b| b.0 >= n) {
        Some((d, _)) => Err(TagError::Unexpected(tag.into(), letter(d))),
        None => Ok(Parsed { order, blocks }),
    }
}

/// The family whose letters are exactly those of `outer`.
fn family(outer: &str) -> Option<&'static str> {
    let sorted = |s: &str| {
        let mut b = s.to_ascii_lowercase().into_bytes();
        b.sort_unstable();
        b
    };
    let letters = sorted(outer);
    ROLES.into_iter().find(|f| sorted(f) == letters)
}

/// Reads `16b4a` behind the outer letters.
fn inner_blocks(inner: &str, tag: &str, dim: impl Fn(char) -> Result<usize, TagError>) -> Result<Blocks, TagError> {
    let bad = || TagError::Block(tag.into());
    let mut blocks = Blocks::default();
    let mut rest = inner;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let size = rest[..digits].parse().ok().filter(|s| (2..=4096).contains(s)).ok_or_else(bad)?;
        let c = rest[digits..].chars().next().ok_or_else(bad)?;
        if !c.is_ascii_lowercase() {
            return Err(TagError::Unexpected(tag.into(), c));
        }
        let d = dim(c)?;
        if blocks.len() == MAX_NDIMS || blocks.volume() * size > MAX_BLOCK {
            return Err(bad());
        }
        blocks.push(d, size);
        rest = &rest[digits + 1..];
    }
    Ok(blocks)
}

impl Layout {
    /// The row-major layout.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when a dimension is negative (and not [`RUNTIME`]) or the size overflows.
    pub fn plain(dims: Dims) -> Result<Layout, Error> {
        let order: Vec<usize> = (0..dims.len()).collect();
        Layout::dense(dims, &order)
    }

    /// The dense layout with the dimensions in `order`, a permutation of them, the last one fastest.
    ///
    /// # Errors
    /// As [`Layout::plain`], and when `order` does not have every dimension once.
    pub fn dense(dims: Dims, order: &[usize]) -> Result<Layout, Error> {
        let there = order.iter().fold(0u64, |all, d| all | 1 << d.min(&63));
        if order.len() != dims.len() || there != (1 << dims.len()) - 1 {
            return Err(Error::invalid("order", format!("{order:?}"), "every dimension once"));
        }
        Layout::ordered(dims, order, Blocks::default())
    }

    /// The layout that `tag` names; `any` leaves the choice to the implementation.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the tag is malformed or does not fit the dimensions.
    pub fn with_tag(dims: Dims, tag: &str) -> Result<Layout, Error> {
        if tag == "any" {
            return Ok(Layout::any(dims));
        }
        let p = parse(tag, dims.len()).map_err(|e| Error::invalid("tag", e, "a format tag such as `abcd`, `nhwc` or `aBcd16b`"))?;
        Layout::ordered(dims, &p.order, p.blocks)
    }

    /// The tag in letters `a..l` that gives this layout, `any` for [`Format::Any`](super::Format::Any); `None` if no tag does: other
    /// strides, an offset, more padding than the blocks need, compensation, or a format without strides.
    pub fn tag(&self) -> Option<String> {
        if self.is_any() {
            return Some("any".into());
        }
        let b = self.blocking()?;
        let tag = self.nearest_tag();
        let same = Layout::with_tag(self.dims, &tag).ok()?;
        (same.blocking()? == b).then_some(tag)
    }

    /// The tag with this blocking's order of dimensions and inner blocks, whatever the strides; empty where there is no (sound) blocking.
    pub(crate) fn nearest_tag(&self) -> String {
        let n = self.dims.len();
        let Some(b) = self.blocking().filter(|b| b.strides.len() == n && b.padded_dims.len() == n) else { return String::new() };
        let far = |v: i64| if v == RUNTIME { i64::MAX } else { v };
        let mut order: Vec<usize> = (0..self.dims.len()).collect();
        order.sort_by_key(|&d| {
            let size = if b.strides[d] == RUNTIME { 0 } else { far(b.padded_dims[d]) / b.inner.of(d).max(1) };
            (std::cmp::Reverse(far(b.strides[d])), std::cmp::Reverse(size), d)
        });
        let blocked = |d: usize| b.inner.iter().any(|i| i.0 == d);
        let outer = order.iter().map(|&d| if blocked(d) { letter(d).to_ascii_uppercase() } else { letter(d) });
        let inner = b.inner.iter().map(|(d, size)| format!("{size}{}", letter(d)));
        outer.map(String::from).chain(inner).collect()
    }

    /// Dense blocked layout with the outer dimensions in `order`.
    pub(crate) fn ordered(dims: Dims, order: &[usize], inner: Blocks) -> Result<Layout, Error> {
        let bad = |expected: &str| Error::invalid("dims", dims, expected);
        if dims.iter().any(|&d| d < 0 && d != RUNTIME || d > LARGEST) {
            return Err(bad("sizes from 0 to 2^59"));
        }
        let round_up = |d: usize| {
            let b = inner.of(d);
            if dims[d] == RUNTIME { Some(RUNTIME) } else { (dims[d] - 1).div_euclid(b).checked_add(1)?.checked_mul(b) }
        };
        let mut padded = dims;
        for d in 0..dims.len() {
            padded[d] = round_up(d).ok_or_else(|| bad("a size that fits 63 bits"))?;
        }
        let mut strides = Dims::filled(dims.len(), 0);
        let mut stride = inner.volume();
        for &d in order.iter().rev() {
            strides[d] = stride;
            let outer = if padded[d] == RUNTIME { RUNTIME } else { (padded[d] / inner.of(d)).max(1) };
            stride = match (stride, outer) {
                (RUNTIME, _) | (_, RUNTIME) => RUNTIME,
                (s, o) => s.checked_mul(o).filter(|v| *v < i64::MAX / 16).ok_or_else(|| bad("a size that fits 63 bits"))?,
            };
        }
        let padded_offsets = Dims::filled(dims.len(), 0);
        let blocking = Blocking { padded_dims: padded, padded_offsets, offset: 0, strides, inner, compensation: None };
        let layout = Layout { dims, format: blocking.into() };
        layout.check_volume()?;
        Ok(layout)
    }
}
