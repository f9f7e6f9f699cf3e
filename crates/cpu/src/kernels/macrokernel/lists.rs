//! Address lists of a product's pieces, in runs of tiles of equal height, written once for all executions if they read no padding.

use super::{PADDING, RowProvider, VectorMacrokernel};
use crate::kernels::microkernel::list::KeptList;
use crate::kernels::microkernel::{AddressList, FixedList};
use std::ops::Range;

/// Most words of all lists that are kept: more are written again as fast as they are read from a far cache.
const MAX_KEPT_WORDS: usize = 16 << 10;

/// The same for a single unit of elements wider than bytes: all lists fit into a part of L1.
const MAX_KEPT_WORDS_OF_UNIT: usize = 2048;

/// The same where a tap is few products, which take less time than listing it.
const MAX_KEPT_WORDS_OF_FEW: usize = 128 << 10;

/// Most products of vectors for a row of a tap that are few.
const FEW_PRODUCTS: usize = 32;

/// Most pieces for which lists are made.
const MAX_PIECES: usize = 4 << 10;

/// Most lists that are written at a time.
const MAX_LISTS: usize = 16;

/// Consecutive tiles of equal height.
#[derive(Clone, Debug)]
pub(super) struct TileRun {
    /// The first row, and rows of a tile.
    first: usize,
    rows: usize,
    /// Their indices among the tiles of the piece.
    tiles: Range<usize>,
}

/// Some tiles of a piece.
#[derive(Debug)]
pub(super) enum ListedTiles {
    /// Their list, and their indices among the tiles of the piece.
    Fixed { list: FixedList, tiles: Range<usize> },
    /// To be listed by every execution.
    Unlisted(TileRun),
}

/// The rows and batches of pieces, by range of tiles.
#[derive(Default, Debug)]
pub(super) struct AddressLists(Vec<(Range<usize>, Range<usize>, Vec<ListedTiles>)>);

impl AddressLists {
    /// Lists all tiles of `work`, whose operands begin at address 0. Nothing is listed if all tiles are to use a K block before the next
    /// one, nor for many tiles of a single unit of elements wider than bytes: listing takes little time beside their multiply-adds, and in
    /// a network, whose weights come from far, so would lists. Lists of several units are used again for each.
    pub(super) fn new<W: RowProvider>(macrokernel: &VectorMacrokernel, work: &W) -> AddressLists {
        let mut lists = AddressLists(Vec::new());
        if macrokernel.shape.k_blocks.len() > 1 {
            return lists;
        }
        let few = macrokernel.shape.most(&|p| p.all_steps()) * macrokernel.shape.columns.div_ceil(macrokernel.isa.width().lanes())
            <= FEW_PRODUCTS;
        let wide = !few && !macrokernel.shape.product.is_integer() && macrokernel.shape.units == 1;
        let mut words = vec![0; macrokernel.lens.list * size_of::<f32>() / size_of::<usize>()];
        let mut left = if few {
            MAX_KEPT_WORDS_OF_FEW
        } else if wide {
            MAX_KEPT_WORDS_OF_UNIT
        } else {
            MAX_KEPT_WORDS
        };
        let blocks = |tiles: Range<usize>| tiles.clone().step_by(macrokernel.block).map(move |t| t..tiles.end.min(t + macrokernel.block));
        let pieces = (0..macrokernel.tasks()).flat_map(|task| macrokernel.cut.pieces(task)).flat_map(|piece| blocks(piece.tiles));
        for tiles in pieces.take(MAX_PIECES) {
            if left == 0 {
                return if wide { AddressLists::default() } else { lists };
            }
            if let Err(at) = lists.find(&tiles) {
                let rows = macrokernel.rows(&tiles);
                let batches = ListedTiles::all(macrokernel, work, (&tiles, rows.start), (&mut words, &mut left));
                lists.0.insert(at, (tiles, rows, batches));
            }
        }
        if wide && left == 0 { AddressLists::default() } else { lists }
    }

    fn find(&self, tiles: &Range<usize>) -> Result<usize, usize> {
        self.0.binary_search_by_key(&(tiles.start, tiles.end), |(t, ..)| (t.start, t.end))
    }

    /// The rows and batches of a piece with these tiles; `None` if they are not kept.
    pub(super) fn of(&self, tiles: &Range<usize>) -> Option<(&Range<usize>, &[ListedTiles])> {
        self.find(tiles).ok().map(|at| (&self.0[at].1, &self.0[at].2[..]))
    }
}

impl ListedTiles {
    /// All batches of some tiles, of which the first begins at row `row`.
    fn all<W: RowProvider>(
        macrokernel: &VectorMacrokernel,
        work: &W,
        (tiles, row): (&Range<usize>, usize),
        (words, left): (&mut [usize], &mut usize),
    ) -> Vec<ListedTiles> {
        let (mut batches, list_tiles) = (Vec::new(), macrokernel.facts.list_tiles);
        for run in macrokernel.runs(tiles) {
            let kept = batches.len();
            let found = &mut |all: &AddressList<'_>, lists: &[KeptList]| {
                lists.iter().all(|kept| {
                    let Some(list) = FixedList::new(all.kept(kept), macrokernel.sums_row(), PADDING) else { return false };
                    let fits = list.words() <= *left;
                    *left = if fits { *left - list.words() } else { 0 };
                    batches.push(ListedTiles::Fixed { list, tiles: kept.tiles.clone() });
                    fits
                })
            };
            if !macrokernel.list(work, (0, row), (std::iter::once(run.clone()), list_tiles), &mut AddressList::new(words, 0), found) {
                batches.truncate(kept);
                batches.push(ListedTiles::Unlisted(run));
            }
        }
        batches
    }
}

/// The rows of tiles that are [`VectorMacrokernel::even`].
pub(super) fn rows([first, last]: &[(usize, usize, Range<usize>); 2]) -> Range<usize> {
    first.0..last.0 + last.1 * last.2.len()
}

impl VectorMacrokernel {
    /// Bytes of a row of sums.
    fn sums_row(&self) -> usize {
        self.lens.step * 4
    }

    /// The rows of some tiles.
    pub(super) fn rows(&self, tiles: &Range<usize>) -> Range<usize> {
        if self.shape.even {
            return rows(&self.even(tiles));
        }
        let mut rows: Option<Range<usize>> = None;
        for run in self.runs(tiles) {
            rows = Some(rows.map_or(run.first, |r| r.start)..run.first + run.rows * run.tiles.len());
        }
        rows.unwrap_or(0..0)
    }

    /// Some tiles of rows that are a single stretch: the taller ones, then the others, as first row, rows of a tile, and indices of the
    /// tiles.
    pub(super) fn even(&self, tiles: &Range<usize>) -> [(usize, usize, Range<usize>); 2] {
        let [each, more] = self.facts.rows;
        let run = |rows: usize, tiles: Range<usize>| (tiles.start * each + tiles.start.min(more), rows, tiles);
        let low = more.clamp(tiles.start, tiles.end);
        [run(each + 1, tiles.start..low), run(each, low..tiles.end)]
    }

    /// Some tiles as runs of tiles of equal height. Every stretch is cut evenly.
    pub(super) fn runs(&self, tiles: &Range<usize>) -> impl Iterator<Item = TileRun> {
        let (mut row, mut tile, tiles) = (0, 0, tiles.clone());
        self.shape.rows.iter().flat_map(move |n| {
            let count = n.div_ceil(self.tall);
            let (first, start) = (row, tile);
            (row, tile) = (row + n, tile + count);
            let here = tiles.start.clamp(start, tile) - start..tiles.end.clamp(start, tile) - start;
            // The first tiles have one row more for the remainder.
            let (each, more) = (n / count.max(1), n % count.max(1));
            let piece = tiles.start;
            let run = move |t: Range<usize>, rows: usize| TileRun {
                first: first + t.start * each + t.start.min(more),
                rows,
                tiles: (start + t.start).max(piece) - piece..(start + t.end).max(piece) - piece,
            };
            let [tall, low] = [here.start.min(more)..here.end.min(more), here.start.max(more)..here.end.max(more)];
            [run(tall, each + 1), run(low, each)].into_iter().filter(|run| !run.tiles.is_empty())
        })
    }

    /// Lists runs of a piece of a unit that begins at a row, as many at a time as there is room for, of at most `list_tiles` tiles each.
    /// `found` gets the lists and says whether to continue. True if all tiles were listed.
    pub(super) fn list<W: RowProvider>(
        &self,
        work: &W,
        (unit, row): (usize, usize),
        (runs, list_tiles): (impl Iterator<Item = TileRun>, usize),
        list: &mut AddressList<'_>,
        found: &mut dyn FnMut(&AddressList<'_>, &[KeptList]) -> bool,
    ) -> bool {
        let (taps, sums_row) = (self.shape.strip_taps(), self.sums_row());
        let (mut lists, mut len): ([KeptList; MAX_LISTS], usize) = Default::default();
        list.restart(0);
        for run in runs {
            let mut cursor = work.cursor(unit, run.first);
            let (mut done, mut from) = (run.tiles.start, run.tiles.start);
            list.begin(run.rows);
            while done < run.tiles.end {
                if done - from >= list_tiles || done > from && !list.has_room(taps) {
                    lists[len] = list.keep(from..done);
                    (from, len) = (done, len + 1);
                }
                if len == MAX_LISTS || !list.has_room(taps) {
                    if !found(list, &lists[..len]) {
                        return false;
                    }
                    list.restart(run.rows);
                    len = 0;
                }
                let at = (run.first + (done - run.tiles.start) * run.rows - row) * sums_row;
                done += work.strip(&mut cursor, at, (list_tiles - (done - from)).min(run.tiles.end - done), list);
            }
            lists[len] = list.keep(from..done);
            len += 1;
        }
        len == 0 || found(list, &lists[..len])
    }
}
