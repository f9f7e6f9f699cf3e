//! Lists of strips: the words that kernels read, and their check against the buffers.
//!
//! A strip is a number of tiles whose rows follow each other at constant strides, in `A` as in the destination. A list is written and
//! checked once for all panels that its tiles are multiplied by: work here is done for each strip, not for each tile and panel.

use super::{ListedCall, MOST_ROWS, MicrokernelKey, Places};
use oxidnn_jit::kernels::dot::STRIP_HEADER_WORDS;
use std::ops::Range;

/// Strips being written, in the format that `oxidnn_jit::kernels::dot` describes.
#[derive(Debug)]
pub struct AddressList<'t> {
    words: &'t mut [usize],
    /// The begin of the list, after others that are kept, and its end.
    start: usize,
    len: usize,
    /// The begin of the last strip.
    last: usize,
    rows: usize,
    /// Bytes that are added to the offsets of `B` of all taps.
    behind: usize,
    /// Whether a tap has the address of the first row only.
    across: bool,
}

/// A list that is kept in the same words as later ones, with the tiles of a product that it has.
#[derive(Clone, Default, Debug)]
pub(in crate::kernels) struct KeptList {
    pub(in crate::kernels) tiles: Range<usize>,
    words: Range<usize>,
    rows: usize,
}

/// A strip without its taps.
#[derive(Clone, Copy, Debug)]
pub struct TileStrip<'s> {
    /// Number of tiles.
    pub tiles: usize,
    /// Bytes from the sums of the call to the first one.
    pub sums: usize,
    /// Bytes from one row of `A` to the next; used only with several tiles.
    pub a_row: usize,
    /// Bytes from one row of the destination to the next; used only with several tiles.
    pub c_row: usize,
    /// An address of the destination, and the byte offsets from there to column 0 of the first tile's rows; further words are ignored.
    pub to: (usize, &'s [usize; MOST_ROWS]),
}

/// Words behind the end of a list that may be overwritten.
const SLACK: usize = MOST_ROWS;

/// Words that hold one strip of one tap.
pub const ONE_STRIP: usize = STRIP_HEADER_WORDS + 1 + 2 * MOST_ROWS + SLACK;

impl<'t> AddressList<'t> {
    /// Words of `strips` strips with this many rows and taps; a tap has the addresses of `listed` rows. `None` on overflow.
    pub fn words(strips: usize, [rows, listed]: [usize; 2], taps: usize) -> Option<usize> {
        (1 + listed).checked_mul(taps)?.checked_add(STRIP_HEADER_WORDS + rows)?.checked_mul(strips)?.checked_add(SLACK)
    }

    /// An empty list in `words`, for tiles of `rows` rows; taps have the addresses of all rows.
    pub fn new(words: &'t mut [usize], rows: usize) -> AddressList<'t> {
        AddressList { words, start: 0, len: 0, last: 0, rows, behind: 0, across: false }
    }

    /// An empty list in `words`, for tiles whose taps have the address of the first row only.
    pub fn across(words: &'t mut [usize], rows: usize) -> AddressList<'t> {
        AddressList { across: true, ..AddressList::new(words, rows) }
    }

    /// Adds `bytes` to the offsets of `B` of all following taps.
    pub(in crate::kernels) fn put_behind(&mut self, bytes: usize) {
        self.behind = bytes;
    }

    /// Number of rows of the tiles.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The words of all strips.
    pub fn strips(&self) -> &[usize] {
        &self.words[self.start..self.len]
    }

    /// The list.
    pub(in crate::kernels) fn listed(&self) -> ListedCall<'_> {
        ListedCall::plain(self.strips(), self.rows, if self.across { 2 } else { 1 + self.rows })
    }

    /// Begins another list, of tiles of `rows` rows, behind the present one.
    pub(in crate::kernels) fn begin(&mut self, rows: usize) {
        (self.start, self.rows) = (self.len, rows);
    }

    /// Ends the list, which has the tiles `tiles` and is kept, and begins another with the same number of rows.
    pub(in crate::kernels) fn keep(&mut self, tiles: Range<usize>) -> KeptList {
        let words = self.start..self.len;
        self.start = self.len;
        KeptList { tiles, words, rows: self.rows }
    }

    /// A list that has been kept since the last [`AddressList::restart`].
    pub(in crate::kernels) fn kept(&self, kept: &KeptList) -> ListedCall<'_> {
        let tap = if self.across { 2 } else { 1 + kept.rows };
        ListedCall::plain(&self.words[kept.words.clone()], kept.rows, tap)
    }

    /// Drops all strips, kept ones too; following tiles have `rows` rows.
    pub fn restart(&mut self, rows: usize) {
        (self.start, self.len, self.last, self.rows) = (0, 0, 0, rows);
    }

    /// Whether there is room for another strip of `taps` taps.
    #[inline]
    pub fn has_room(&self, taps: usize) -> bool {
        let listed = if self.across { 1 } else { self.rows };
        self.len + STRIP_HEADER_WORDS + self.rows + taps * (1 + listed) + SLACK <= self.words.len()
    }

    /// Adds a strip, without taps.
    ///
    /// # Panics
    /// Without room for it.
    #[inline(always)]
    pub fn strip(&mut self, strip: TileStrip<'_>) {
        let words = &mut self.words[self.len..self.len + STRIP_HEADER_WORDS + SLACK];
        words[..STRIP_HEADER_WORDS].copy_from_slice(&[0, strip.tiles, strip.sums, strip.a_row, strip.c_row]);
        words[STRIP_HEADER_WORDS..].iter_mut().zip(strip.to.1).for_each(|(to, offset)| *to = strip.to.0.wrapping_add(*offset));
        self.last = self.len;
        self.len += STRIP_HEADER_WORDS + self.rows;
    }

    /// Adds a tap to the last strip. Its lines of `B` are `b` bytes behind the first of a panel; the first tile's rows of `A` are at the
    /// byte offsets `offsets` from the address `from`.
    ///
    /// # Panics
    /// Without room for it.
    #[inline(always)]
    pub fn tap(&mut self, b: usize, from: usize, offsets: &[usize; MOST_ROWS]) {
        self.words[self.last] += 1;
        if self.across {
            self.words[self.len..self.len + 2].copy_from_slice(&[b + self.behind, from.wrapping_add(offsets[0])]);
            self.len += 2;
            return;
        }
        // All rows are written; later words overwrite those of missing rows.
        let tap = &mut self.words[self.len..self.len + 1 + SLACK];
        tap[0] = b + self.behind;
        tap[1..].iter_mut().zip(offsets).for_each(|(to, offset)| *to = from.wrapping_add(*offset));
        self.len += self.rows + 1;
    }
}

/// The heads of the strips in the words of a list, each with the words of its taps: `rows` rows in a tile, `tap` words a tap.
pub(super) fn strips(mut rest: &[usize], rows: usize, tap: usize) -> impl Iterator<Item = (&[usize], &[usize])> {
    std::iter::from_fn(move || {
        let (head, more) = rest.split_at_checked(STRIP_HEADER_WORDS + rows)?;
        let (taps, more) = more.split_at_checked(head[0].checked_mul(tap)?)?;
        rest = more;
        Some((head, taps))
    })
}

/// The places that the words of a list may name.
pub(super) struct Reach {
    pub(super) a: Places,
    pub(super) zeros: Places,
    /// Offsets in `B` from the first line of the first panel.
    pub(super) b: Places,
    /// Rows of the destination; `None` if they are not used.
    pub(super) c: Option<Places>,
    /// Bytes of the sums of the call from the first on, and bytes of a row; `None` if they are not used.
    pub(super) sums: Option<(Places, usize)>,
}

/// Whether all that taps name is inside the buffers; rows of `A` may be in either of two.
type Check = fn(&Reach, [&Places; 2], &[usize]) -> bool;

impl Reach {
    /// [`Reach::taps`] by number of rows that a tap names: loops of constant length take half the time.
    const CHECKS: [Check; MOST_ROWS] = [
        Reach::taps::<1>,
        Reach::taps::<2>,
        Reach::taps::<3>,
        Reach::taps::<4>,
        Reach::taps::<5>,
        Reach::taps::<6>,
        Reach::taps::<7>,
        Reach::taps::<8>,
        Reach::taps::<9>,
        Reach::taps::<10>,
    ];

    /// A [`Check`] of taps that name `N` rows.
    fn taps<const LISTED: usize>(&self, [a, zeros]: [&Places; 2], mut taps: &[usize]) -> bool {
        let mut inside = true;
        while let Some(([b], more)) = taps.split_first_chunk::<1>()
            && let Some((rows, more)) = more.split_first_chunk::<LISTED>()
        {
            inside &= self.b.holds(*b);
            if !rows.iter().fold(true, |ok, row| ok & a.holds(*row)) {
                inside &= rows.iter().fold(true, |ok, row| ok & (a.holds(*row) | zeros.holds(*row)));
            }
            taps = more;
        }
        inside
    }

    /// The number of strips, if all that they name is inside the buffers.
    #[inline]
    pub(super) fn strips(&self, spec: &MicrokernelKey, strips: &[usize]) -> Option<usize> {
        let (rows, tap_words) = (usize::from(spec.rows), 1 + spec.listed());
        let check = Reach::CHECKS[spec.listed() - 1];
        let (mut count, mut inside, mut rest) = (0, true, strips);
        while let Some((head, more)) = rest.split_at_checked(STRIP_HEADER_WORDS + rows) {
            let (taps, more) = more.split_at_checked(head[0].checked_mul(tap_words)?)?;
            // Rows before the last tile.
            let before = head[1].checked_sub(1)?.checked_mul(rows)?;
            let (a, zeros) = (self.a.and_then(before.checked_mul(head[3])?), self.zeros.and_then(before.checked_mul(head[3])?));
            if let Some(c) = &self.c {
                let c = c.and_then(before.checked_mul(head[4])?);
                inside &= head[STRIP_HEADER_WORDS..].iter().fold(true, |ok, row| ok & c.holds(*row));
            }
            if let Some((sums, row)) = &self.sums {
                inside &= sums.and_then(before.checked_mul(*row)?).holds(head[2]);
            }
            inside &= check(self, [&a, &zeros], taps);
            (count, rest) = (count + 1, more);
        }
        (inside && rest.is_empty()).then_some(count)
    }
}
