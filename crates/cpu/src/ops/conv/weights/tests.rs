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
        let grid = Grid::new([row, row, dim], [1, 1, dim.places], 2);
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

/// Joint taps of several rows have their pixels at the same distances from a position's first one everywhere, with zeros for pixels that do
/// not exist.
#[test]
fn joint_taps_have_their_padding() {
    let row = Dim::of_places(1);
    for (height, across) in dims().into_iter().flat_map(|h| dims().into_iter().map(move |w| (h, w))).filter(|(_, w)| w.dilation == 1) {
        let grid = Grid::new([row, height, across], [1, height.places, across.places], 1);
        let places = Places { images: (0, 1), at: [(0, 1), (0, height.places), (0, across.places)], pair_offset: [0; 3] };
        let mut copy = vec![Some((usize::MAX, 0)); grid.pixels().unwrap()];
        grid.rows(&places, |to, [row, _]| {
            copy[to..to + row.before].fill(None);
            for i in 0..row.count {
                copy[to + row.before + i] = Some((row.at[1], row.first + i * row.step));
            }
            copy[to + row.before + row.count..to + grid.lines().0].fill(None);
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

/// Padded copies have a slot for each tap at each place, with a pixel unless the tap is on padding.
#[test]
fn padded_slots_are_where_lines_say() {
    let row = Dim::of_places(1);
    for dim in dims() {
        for each in 1..=dim.places {
            let other = Grid::new([row, row, Dim::of_places(dim.places)], [1, 1, each], 3);
            let [grid, other] = Grid::padded([Grid::new([row, row, dim], [1, 1, each], 3), other]);
            assert_eq!(grid.lines().0, other.lines().0);
            for first in (0..dim.places).step_by(each) {
                let count = each.min(dim.places - first);
                let places = Places { images: (0, 1), at: [(0, 1), (0, 1), (first, count)], pair_offset: [0; 3] };
                let mut copy = vec![None; grid.pixels().unwrap()];
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
