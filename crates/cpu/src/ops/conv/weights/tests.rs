use super::side::{Dim, Grid, Places, Strides};

/// The pixel that a tap reads at a position, by definition.
fn pixel(dim: &Dim, place: usize, tap: usize) -> Option<usize> {
    let at = (place * dim.stride + tap * dim.dilation) as i64 - dim.pad;
    usize::try_from(at).ok().filter(|p| *p < dim.size)
}

fn dims() -> Vec<Dim> {
    let mut dims = Vec::new();
    for (size, taps, dilation, stride, pad) in
        [(7, 3, 1, 1, 1), (8, 3, 1, 2, 1), (9, 1, 1, 2, 0), (11, 3, 2, 3, 2), (5, 5, 1, 1, 4), (4, 2, 3, 5, 3), (6, 7, 1, 2, 3)]
    {
        let reach = (taps - 1) * dilation + 1;
        let places = (size + 2 * pad as usize - reach) / stride + 1;
        dims.push(Dim { size, places, taps, dilation, stride, pad });
    }
    dims
}

#[test]
fn taps_are_inside_where_their_pixel_exists() {
    for dim in dims() {
        for tap in 0..dim.taps {
            let inside = dim.inside(tap);
            for place in 0..dim.places {
                assert_eq!(inside.contains(&place), pixel(&dim, place, tap).is_some(), "{dim:?} {tap} {place}");
            }
        }
    }
}

/// Copies hold the pixel that each tap reads at each position; operands in place have it where the strides say.
#[test]
fn pixels_are_where_lines_say() {
    let row = Dim::of_places(1);
    let strides = Strides { image: 1000, at: [100, 100, 3], block: usize::MAX, far: 0 };
    for dim in dims() {
        for each in 1..=dim.places {
            let grid = Grid::new([row, row, dim], [1, 1, each], 3);
            for first in (0..dim.places).step_by(each) {
                let count = each.min(dim.places - first);
                let places = Places { images: (0, 1), at: [(0, 1), (0, 1), (first, count)], pair_offset: [0; 3] };
                let mut copy = vec![None; grid.pixels().unwrap()];
                grid.rows(&places, |to, row| {
                    for i in 0..row.count {
                        copy[to + row.before + i] = Some(row.first + i * row.step);
                    }
                });
                for tap in 0..dim.taps {
                    let (copied, placed) = (grid.copied([0, 0, tap], 0), grid.placed([0, 0, tap], &places, &strides));
                    for place in grid.inside(2, tap, &places) {
                        let steps = (place - first) as i64;
                        let want = pixel(&dim, place, tap);
                        assert_eq!(
                            copy[(copied.base + steps * copied.at[2] as i64) as usize],
                            want,
                            "{dim:?} {each} {first} {tap} {place}"
                        );
                        assert_eq!(placed.base + steps * placed.at[2] as i64, want.unwrap() as i64 * 3);
                    }
                }
            }
        }
    }
}

/// A merged row has all taps of a position side by side, with zeros for pixels that do not exist.
#[test]
fn merged_rows_have_their_padding() {
    let row = Dim::of_places(1);
    for dim in dims().into_iter().filter(|d| d.dilation == 1) {
        let grid = Grid::new([row, row, dim], [1, 1, dim.places], 2);
        let places = Places { images: (0, 1), at: [(0, 1), (0, 1), (0, dim.places)], pair_offset: [0; 3] };
        let mut copy = vec![Some(usize::MAX); grid.pixels().unwrap()];
        grid.rows(&places, |to, row| {
            copy[to..to + row.before].fill(None);
            for i in 0..row.count {
                copy[to + row.before + i] = Some(row.first + i * row.step);
            }
            copy[to + row.before + row.count..][..row.behind].fill(None);
        });
        let line = grid.copied([0; 3], 0);
        for place in 0..dim.places {
            for tap in 0..dim.taps {
                assert_eq!(copy[line.base as usize + place * line.at[2] + tap], pixel(&dim, place, tap), "{dim:?} {place} {tap}");
            }
        }
    }
}

/// Joint taps of several rows have their pixels at the same distances from a position's first one everywhere, with zeros for pixels that do
/// not exist.
#[test]
fn joint_taps_have_their_padding() {
    let row = Dim::of_places(1);
    for (height, across) in dims().into_iter().flat_map(|h| dims().into_iter().map(move |w| (h, w))).filter(|(_, w)| w.dilation == 1) {
        let grid = Grid::new([row, height, across], [1, height.places, across.places], 1);
        let places = Places { images: (0, 1), at: [(0, 1), (0, height.places), (0, across.places)], pair_offset: [0; 3] };
        let mut copy = vec![Some((usize::MAX, 0)); grid.pixels().unwrap()];
        grid.rows(&places, |to, row| {
            copy[to..to + row.before].fill(None);
            for i in 0..row.count {
                copy[to + row.before + i] = Some((row.at[1], row.first + i * row.step));
            }
            copy[to + row.before + row.count..][..row.behind].fill(None);
        });
        let line = grid.copied([0; 3], 0);
        for (h, w) in (0..height.places).flat_map(|h| (0..across.places).map(move |w| (h, w))) {
            for index in 0..grid.joint_taps() {
                let [_, kh, kw] = grid.joint_tap(index);
                let at = line.base as usize + h * line.at[1] + w * line.at[2] + grid.tap_offset(index);
                assert_eq!(copy[at], pixel(&height, h, kh).zip(pixel(&across, w, kw)), "{height:?} {across:?} {h} {w} {index}");
            }
        }
    }
}

/// A slot of a flat copy: nothing written yet, a zero, or a pixel's height and width.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Slot {
    Unwritten,
    Zero,
    Pixel(usize, usize),
}

/// The slots of a flat copy of a box.
fn flat_copy(grid: &Grid, places: &Places) -> Vec<Slot> {
    let mut slots = vec![Slot::Unwritten; grid.pixels().unwrap() * grid.pair];
    grid.rows(places, |word, row| {
        let to = &mut slots[word * grid.pair..][..row.before + row.count + row.behind];
        to.fill(Slot::Zero);
        for (i, slot) in to[row.before..][..row.count].iter_mut().enumerate() {
            *slot = Slot::Pixel(row.at[1], row.first + i * row.step);
        }
        assert!(row.count == 0 || row.before.is_multiple_of(grid.pair), "{row:?}");
    });
    slots
}

/// From the first slot that a tap reads in a flat copy on, places of the other operand stand beside the pixels that the tap reads there, or
/// beside zeros; everything between is written, and beside zeros.
#[test]
fn flat_copies_have_their_pixels_side_by_side() {
    let row = Dim::of_places(1);
    for (height, across) in dims().into_iter().flat_map(|h| dims().into_iter().map(move |w| (h, w))) {
        for (pair, each) in
            [1, 2].into_iter().flat_map(|pair| (pair..=across.places.next_multiple_of(pair)).step_by(pair).map(move |each| (pair, each)))
        {
            let x = Grid::new([row, height, across], [1, height.places, each], 3);
            let x = x.flattened(&x, pair);
            let y = Grid::new([row, height, across].map(|d| Dim::of_places(d.places)), [1, height.places, each], 3).flattened(&x, pair);
            for first in (0..across.places).step_by(each) {
                let count = each.min(across.places - first);
                let places = Places { images: (0, 1), at: [(0, 1), (0, height.places), (first, count)], pair_offset: [0; 3] };
                let (x_slots, y_slots, all) = (flat_copy(&x, &places), flat_copy(&y, &places), y.flat_slots(&places, 1));
                assert_eq!(y_slots[..all].iter().filter(|slot| matches!(slot, Slot::Pixel(..))).count(), height.places * count);
                for (kh, kw) in (0..height.taps).flat_map(|h| (0..across.taps).map(move |w| (h, w))) {
                    let from = &x_slots[x.flat_offset([0, kh, kw], 1)..][..all];
                    for (x, y) in from.iter().zip(&y_slots) {
                        assert!(*x != Slot::Unwritten && *y != Slot::Unwritten);
                        let Slot::Pixel(h, w) = *y else { continue };
                        let want = pixel(&height, h, kh).zip(pixel(&across, w, kw)).map_or(Slot::Zero, |(h, w)| Slot::Pixel(h, w));
                        assert_eq!(*x, want, "{height:?} {across:?} {each} {first} {kh} {kw}");
                    }
                }
            }
        }
    }
}
