//! Format tags: their grammar, the role names that stand for them, and the tag of a layout.
//!
//! A tag lists dimensions `a..l` in memory order; an upper-case letter marks a blocked dimension, and `16b` appended adds an inner block of
//! 16 of dimension `b` inside the blocks before it. `abx` and `axb` stand for plain and channels-last of any rank, and so do tags with an `x`
//! for "all further dimensions" such as `aBx16b`. Role names (`nchw`, `OIhw16i16o`, `ldigo`) are read by position.

use super::{Blocking, Blocks, Format, Layout};
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
    #[error("`{0}` is not a tag: inner blocks are 2 to 4096 large and at most 12")]
    Block(String),
}

/// Role letters by family, in the order of logical dimensions; the first family that knows every letter of a name is taken.
const ROLES: [&str; 9] = ["ncdhw", "ncw", "nchw", "goidhw", "oidhw", "ldigo", "ldgoi", "tnc", "ldnc"];

/// Outer order (dimension indices) and inner blocks of a tag, for tensors of `n` dimensions.
pub(super) struct Parsed {
    pub(super) order: Vec<usize>,
    pub(super) blocks: Blocks,
}

pub(super) fn parse(tag: &str, n: usize) -> Result<Parsed, TagError> {
    let letters = canonical(tag, n)?;
    let mut order = Vec::with_capacity(n);
    let mut upper = [false; MAX_NDIMS];
    let mut blocks = Blocks::default();
    let mut chars = letters.chars().peekable();
    while let Some(c) = chars.next_if(char::is_ascii_alphabetic) {
        let d = (c.to_ascii_lowercase() as u8 - b'a') as usize;
        if d >= MAX_NDIMS {
            return Err(TagError::Unexpected(tag.into(), c));
        }
        if order.contains(&d) {
            return Err(TagError::Missing(tag.into(), c.to_ascii_lowercase()));
        }
        upper[d] = c.is_ascii_uppercase();
        order.push(d);
    }
    while chars.peek().is_some() {
        let mut size = 0i64;
        while let Some(c) = chars.next_if(char::is_ascii_digit) {
            size = size * 10 + i64::from(c as u8 - b'0');
            if size > 4096 {
                return Err(TagError::Block(tag.into()));
            }
        }
        let c = chars.next().ok_or_else(|| TagError::Block(tag.into()))?;
        let d = (c as u32).wrapping_sub('a' as u32) as usize;
        if d >= MAX_NDIMS {
            return Err(TagError::Unexpected(tag.into(), c));
        }
        if size < 2 || blocks.len() == MAX_NDIMS {
            return Err(TagError::Block(tag.into()));
        }
        blocks.push(d, size);
    }
    if order.len() != n {
        return Err(TagError::Rank { tag: tag.into(), tag_dims: order.len(), dims: n });
    }
    for d in 0..n {
        let c = (b'a' + d as u8) as char;
        if !order.contains(&d) {
            return Err(TagError::Missing(tag.into(), c));
        }
        if upper[d] != blocks.iter().any(|b| b.0 == d) {
            return Err(TagError::Case(tag.into(), c));
        }
    }
    if let Some((d, _)) = blocks.iter().find(|b| b.0 >= n) {
        return Err(TagError::Unexpected(tag.into(), (b'a' + d as u8) as char));
    }
    Ok(Parsed { order, blocks })
}

/// The tag in letters `a..l` with `x` expanded for `n` dimensions.
fn canonical(tag: &str, n: usize) -> Result<String, TagError> {
    if let Some(c) = tag.chars().find(|c| !c.is_ascii_alphanumeric()) {
        return Err(TagError::Unexpected(tag.into(), c));
    }
    let outer = tag.bytes().take_while(u8::is_ascii_alphabetic).map(|b| b.to_ascii_lowercase());
    if let Some(pos) = tag.find('x').filter(|_| outer.clone().all(|b| b == b'x' || b < b'a' + MAX_NDIMS as u8)) {
        let named = outer.filter(|&b| b != b'x').map(|b| b - b'a' + 1).max().unwrap_or(0) as usize;
        let rest: String = (named..n).map(|d| (b'a' + d as u8) as char).collect();
        return Ok(format!("{}{}{}", &tag[..pos], rest, &tag[pos + 1..]));
    }
    let is_role =
        tag.bytes().any(|b| b.to_ascii_lowercase() > b'l') || !tag.to_ascii_lowercase().starts_with('a') && by_role(tag, n).is_some();
    if !is_role {
        return Ok(tag.into());
    }
    by_role(tag, n).ok_or_else(|| {
        let odd = tag.chars().find(|c| c.is_ascii_alphabetic() && c.to_ascii_lowercase() > 'l').unwrap_or(' ');
        TagError::Unexpected(tag.into(), odd)
    })
}

/// A role name in letters, when its letters are exactly those of a family of rank `n`.
fn by_role(tag: &str, n: usize) -> Option<String> {
    let outer: Vec<u8> = tag.bytes().take_while(u8::is_ascii_alphabetic).map(|b| b.to_ascii_lowercase()).collect();
    if outer.len() != n || outer.iter().all(|b| *b < b'a' + n as u8) {
        return None;
    }
    let family = ROLES.iter().find(|f| outer.iter().all(|c| f.as_bytes().contains(c)))?;
    let present: Vec<u8> = family.bytes().filter(|c| outer.contains(c)).collect();
    let letter = |b: u8| -> Option<char> {
        let d = present.iter().position(|c| *c == b.to_ascii_lowercase())? as u8;
        let c = b'a' + d;
        Some(if b.is_ascii_uppercase() { c.to_ascii_uppercase() } else { c } as char)
    };
    tag.bytes().map(|b| if b.is_ascii_digit() { Some(b as char) } else { letter(b) }).collect()
}

impl Layout {
    /// The row-major layout.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when a dimension is negative (and not [`RUNTIME`]) or the size overflows.
    pub fn plain(dims: Dims) -> Result<Layout, Error> {
        let order: Vec<usize> = (0..dims.len()).collect();
        Layout::ordered(dims, &order, Blocks::default())
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

    /// Dense blocked layout with the outer dimensions in `order`.
    pub(super) fn ordered(dims: Dims, order: &[usize], inner: Blocks) -> Result<Layout, Error> {
        let bad = |expected: &str| Error::invalid("dims", dims, expected);
        if dims.iter().any(|&d| d < 0 && d != RUNTIME) {
            return Err(bad("no negative dimension"));
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
        Ok(Layout { dims, format: Format::Blocked(blocking) })
    }
}
