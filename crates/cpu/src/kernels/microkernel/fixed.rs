//! Lists that are written once, when a product is prepared, and serve all executions: their addresses are offsets from the beginnings of
//! operands.
//!
//! Listing a tile of a window of nine taps takes as long as a hundred multiply-adds, and checking it half of that, which matters for tiles
//! of two thousand multiply-adds or fewer. The extent of a fixed list is known when it is made, so an execution checks only its ends.

use super::list::{Reach, strips};
use super::{MicrokernelCall, Places};
use oxidnn_jit::kernels::dot::STRIP_HEADER_WORDS;
use std::ops::Range;

/// A list with offsets instead of addresses.
#[derive(Debug)]
pub struct FixedList {
    words: Box<[usize]>,
    rows: usize,
    tap: usize,
    extent: Extent,
}

/// The range of all offsets in a list.
#[derive(Clone, Copy, Debug)]
struct Extent {
    a: Span,
    b: Span,
    c: Span,
    sums: Span,
    /// Bytes of a row of sums.
    sums_row: usize,
}

/// Offsets from the first to the second, both included; empty if the first is larger.
#[derive(Clone, Copy, Debug)]
struct Span(usize, usize);

/// A list for a call of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct ListedCall<'l> {
    pub(in crate::kernels) words: &'l [usize],
    pub(in crate::kernels) rows: usize,
    pub(super) tap: usize,
    fixed: Option<(&'l Extent, [usize; 2])>,
}

impl Span {
    const NONE: Span = Span(usize::MAX, 0);

    /// Extended by an offset that is used again up to `more` bytes further on; `None` on overflow.
    fn with(self, place: usize, more: usize) -> Option<Span> {
        Some(Span(self.0.min(place), self.1.max(place.checked_add(more)?)))
    }

    /// Whether all of them, added to `base`, are places.
    fn is_within(self, places: &Places, base: usize) -> bool {
        let [first, last] = [self.0, self.1].map(|at| places.holds(base.wrapping_add(at)));
        self.0 > self.1 || first && last && self.1 - self.0 < places.count
    }
}

impl FixedList {
    /// The list `list`, for sums with `sums_row` bytes in a row; `None` if a row of `A` is at the offset `not`, or on overflow.
    pub fn new(list: ListedCall<'_>, sums_row: usize, not: usize) -> Option<FixedList> {
        let ListedCall { words, rows, tap, .. } = list;
        let mut extent = Extent { a: Span::NONE, b: Span::NONE, c: Span::NONE, sums: Span::NONE, sums_row };
        for (head, taps) in strips(words, rows, tap) {
            // Rows before the last tile.
            let before = head[1].checked_sub(1)?.checked_mul(rows)?;
            extent.sums = extent.sums.with(head[2], before.checked_mul(sums_row)?)?;
            let [a_more, c_more] = [before.checked_mul(head[3])?, before.checked_mul(head[4])?];
            for row in &head[STRIP_HEADER_WORDS..] {
                extent.c = extent.c.with(*row, c_more)?;
            }
            for words in taps.chunks_exact(tap) {
                extent.b = extent.b.with(words[0], 0)?;
                for row in &words[1..] {
                    extent.a = extent.a.with(*row, a_more).filter(|_| *row != not)?;
                }
            }
        }
        Some(FixedList { words: words.into(), rows, tap, extent })
    }

    /// Number of its words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// The list for `A` and a destination that begin at these addresses.
    pub fn at(&self, base: [usize; 2]) -> ListedCall<'_> {
        ListedCall { words: &self.words, rows: self.rows, tap: self.tap, fixed: Some((&self.extent, base)) }
    }
}

impl<'l> ListedCall<'l> {
    /// A list of addresses.
    pub(super) fn plain(words: &'l [usize], rows: usize, tap: usize) -> ListedCall<'l> {
        ListedCall { words, rows, tap, fixed: None }
    }

    /// Number of rows of the tiles.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The offsets added to the words of `A` and of the destination.
    #[inline]
    pub(super) fn base(&self) -> [usize; 2] {
        self.fixed.map_or([0; 2], |f| f.1)
    }

    /// The number of strips, if all that a list of offsets names is inside the buffers; the inner `None` if not. `None` for a list of
    /// addresses.
    #[inline]
    pub(super) fn count(&self, reach: &Reach, call: &MicrokernelCall<'_>) -> Option<Option<usize>> {
        let (extent, [a, c]) = self.fixed?;
        let sums = reach.sums.as_ref().is_none_or(|(places, row)| *row == extent.sums_row && extent.sums.is_within(places, 0));
        let to = reach.c.as_ref().is_none_or(|places| extent.c.is_within(places, c));
        let inside = extent.a.is_within(&reach.a, a) && extent.b.is_within(&reach.b, 0) && to && sums && call.strips.is_empty();
        Some(inside.then(|| self.strips().count()))
    }

    /// The heads of all strips and the words of their taps.
    fn strips(&self) -> impl Iterator<Item = (&'l [usize], &'l [usize])> {
        strips(self.words, self.rows, self.tap)
    }

    /// Taps of all tiles.
    pub fn all_taps(&self) -> usize {
        self.strips().map(|(strip, _)| strip[0] * strip[1]).sum()
    }

    /// The farthest address of the first row of `A` over the taps of the first strip, and bytes from one row to the next; `None` without
    /// taps.
    pub fn source(&self) -> Option<(usize, usize)> {
        let (strip, taps) = self.strips().next()?;
        let first = taps.chunks_exact(self.tap).map(|tap| tap[1]).max()?;
        Some((first.wrapping_add(self.base()[0]), strip[3]))
    }

    /// The taps of all strips whose lines of `B` begin in a range of bytes, written to `words`, which has room for all. Strips without such
    /// taps are left out unless `keep`.
    ///
    /// # Panics
    /// If `words` is too short.
    pub fn taken<'w>(&self, range: Range<usize>, keep: bool, words: &'w mut [usize]) -> ListedCall<'w>
    where
        'l: 'w,
    {
        let (tap, mut len) = (self.tap, 0);
        for (strip, taps) in self.strips() {
            let (first, mut count) = (len, 0);
            words[len..len + strip.len()].copy_from_slice(strip);
            len += strip.len();
            for words_of in taps.chunks_exact(tap).filter(|words| range.contains(&words[0])) {
                words[len..len + tap].copy_from_slice(words_of);
                (len, count) = (len + tap, count + 1);
            }
            words[first] = count;
            if count == 0 && !keep {
                len = first;
            }
        }
        ListedCall { words: &words[..len], ..*self }
    }
}
