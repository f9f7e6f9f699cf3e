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
            let grid = Grid::new([row, row, dim], [1, 1, each], false);
            for first in (0..dim.places).step_by(each) {
                let count = each.min(dim.places - first);
                let places = Places { images: (0, 1), at: [(0, 1), (0, 1), (first, count)], pair_offset: [0; 3] };
                let mut copy = vec![None; grid.all_pixels(1).unwrap()];
                grid.rows(&places, |to, [row, _]| {
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
        let grid = Grid::new([row, row, dim], [1, 1, dim.places], true);
        let places = Places { images: (0, 1), at: [(0, 1), (0, 1), (0, dim.places)], pair_offset: [0; 3] };
        let mut copy = vec![Some(usize::MAX); grid.pixels().unwrap()];
        grid.rows(&places, |to, [row, _]| {
            copy[to..to + row.before].fill(None);
            for i in 0..row.count {
                copy[to + row.before + i] = Some(row.first + i * row.step);
            }
            copy[to + row.before + row.count..to + grid.lines().0].fill(None);
        });
        let line = grid.copied([0; 3], 0);
        for place in 0..dim.places {
            for tap in 0..dim.taps {
                assert_eq!(copy[line.base as usize + place * line.at[2] + tap], pixel(&dim, place, tap), "{dim:?} {place} {tap}");
            }
        }
    }
}

/// Padded copies have a slot for each tap at each place, with a pixel unless the tap is on padding.
#[test]
fn padded_slots_are_where_lines_say() {
    let row = Dim::of_places(1);
    for dim in dims() {
        for each in 1..=dim.places {
            let other = Grid::new([row, row, Dim::of_places(dim.places)], [1, 1, each], false);
            let [grid, other] = Grid::padded([Grid::new([row, row, dim], [1, 1, each], false), other]);
            assert_eq!(grid.lines().0, other.lines().0);
            for first in (0..dim.places).step_by(each) {
                let count = each.min(dim.places - first);
                let places = Places { images: (0, 1), at: [(0, 1), (0, 1), (first, count)], pair_offset: [0; 3] };
                let mut copy = vec![None; grid.all_pixels(1).unwrap()];
                grid.rows(&places, |to, [row, _]| {
                    for i in 0..row.count {
                        copy[to + row.before + i] = Some(row.first + i * row.step);
                    }
                });
                for tap in 0..dim.taps {
                    let copied = grid.copied([0, 0, tap], 0);
                    let met = !dim.inside(tap).is_empty();
                    assert_eq!(grid.inside(2, tap, &places).len(), if met { count } else { 0 });
                    for place in grid.inside(2, tap, &places) {
                        let slot = copied.base + (place - first) as i64 * copied.at[2] as i64;
                        assert_eq!(copy[slot as usize], pixel(&dim, place, tap), "{dim:?} {each} {first} {tap} {place}");
                    }
                }
            }
        }
    }
}
