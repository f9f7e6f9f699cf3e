//! What is subtracted from whole sums: sums of the columns of the weights, as often as the source is shifted, by its zero point and by 128 where
//! signed bytes are multiplied as unsigned ones.
//!
//! Results that meet other taps have other sums. So every pass has its own: phases are passes, and where padding is met, which stands for the
//! zero point but may not be able to hold it, so are the results of a phase that meet the same taps.

use super::geometry::Line;
use super::order::Run;
use super::tiles::Pass;
use crate::kernels::scratch::Part;
use crate::kernels::tile::{Ahead, Call, List, MOST_ROWS, ONE_STRIP, Panels, Product, Spec, Start, Stride, Strip, Tile};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Executor, Skip};
use oxidnn_spec::Error;

/// Most passes.
const PASSES: usize = 125;

/// How whole sums are compensated.
#[derive(Debug)]
pub(super) struct Compensation {
    isa: Isa,
    /// How often sums of columns are subtracted, beside the source's zero point.
    pub(super) flip: i32,
    /// Columns of a panel.
    pub(super) width: usize,
    /// By passes, the first bytes of a panel and the steps of taps that lie one behind the other.
    stretches: Vec<Vec<[usize; 2]>>,
}

/// The kernels: of a first stretch, and of those that are added.
pub(super) type Kernels = [Tile; 2];

/// The weights of a pass: memory, byte of the first panel, bytes of a panel.
pub(super) type Panel<'a> = (Buf<'a>, usize, usize);

/// The lines of passes whose results meet the same taps all over, or that read padding where these do not differ by it.
///
/// # Errors
/// Too many.
pub(super) fn passes(lines: &[Line; 3], shifted: bool) -> Result<Vec<[Line; 3]>, Skip> {
    let inside = |line: &Line| {
        line.phases.iter().all(|p| p.reach(line.stride, 0, p.count.max(1)).is_none_or(|(low, high)| low >= 0 && high < line.source))
    };
    let whole = !shifted || lines.iter().all(inside);
    let parts = |line: &Line| -> Vec<Line> {
        let phases = line.phases.iter().enumerate();
        if whole {
            return phases.map(|(i, p)| line.part(i, 0, p.count, 0..p.taps.len())).collect();
        }
        phases.flat_map(|(i, p)| Run::all(p, line).into_iter().map(move |r| line.part(i, r.first, r.count, r.taps))).collect()
    };
    let [depth, height, width] = [0, 1, 2].map(|i| parts(&lines[i]));
    if depth.len().saturating_mul(height.len()).saturating_mul(width.len()) > PASSES {
        return Err(Skip::Shape("sums of columns that differ in more than 125 ways, by phase or at padding"));
    }
    let mut all = Vec::new();
    for d in &depth {
        for h in &height {
            all.extend(width.iter().map(|w| [d.clone(), h.clone(), w.clone()]));
        }
    }
    Ok(all)
}

impl Compensation {
    /// For passes over panels of `width` columns, whose taps have so many steps.
    pub(super) fn new(isa: Isa, flip: i32, width: usize, (passes, steps): (&[Pass], usize)) -> Compensation {
        let stretches = passes.iter().map(|pass| {
            let mut taps: Vec<usize> = Vec::new();
            pass.order.segments.iter().take(1).for_each(|s| pass.taps(s, |tap| taps.push(tap.b)));
            taps.sort_unstable();
            let mut stretches: Vec<[usize; 2]> = Vec::new();
            for b in taps {
                match stretches.last_mut() {
                    Some([first, all]) if *first + *all * width * 4 == b => *all += steps,
                    _ => stretches.push([b, steps]),
                }
            }
            stretches
        });
        Compensation { isa, flip, width, stretches: stretches.collect() }
    }

    /// Bytes of its tables.
    pub(super) fn table_bytes(&self) -> usize {
        self.stretches.iter().map(|s| size_of_val(s) + size_of_val(&**s)).sum()
    }

    /// Makes the kernels.
    pub(super) fn build(&self) -> Result<Kernels, Error> {
        let spec = Spec { a_step: Stride::Given, ..Spec::new(Product::U8S8, 1, self.width / self.isa.width().lanes()) };
        let next = Spec { start: Start::Load, ..spec.clone() };
        Ok([Tile::get(self.isa, &spec)?, Tile::get(self.isa, &next)?])
    }

    /// Sums the columns of all panels of all passes, pass by pass: a tile of one row whose source is ones.
    pub(super) fn sums<'s>(
        &self,
        kernels: &Kernels,
        (executor, ones): (&dyn Executor, Buf),
        (panels, weights): (usize, &(dyn Fn(usize) -> Panel<'s> + Sync)),
        to: Part<'s>,
    ) -> &'s [i32] {
        let mut words = [0; ONE_STRIP];
        let mut list = List::new(&mut words, 1);
        list.strip(Strip { tiles: 1, sums: 0, a_row: 0, c_row: 0, to: (0, &[0; MOST_ROWS]) });
        list.tap(0, ones.as_ptr().addr(), &[0; MOST_ROWS]);
        let sums = to.fill(executor, self.width, &|index, sums| {
            let (pass, panel) = (index / panels, index % panels);
            let (b, at, bytes) = weights(pass);
            sums.fill(0.0);
            for (i, [first, steps]) in self.stretches[pass].iter().enumerate() {
                kernels[i.min(1)].run(Call {
                    strips: list.strips(),
                    steps: *steps,
                    a: ones,
                    a_from: 0,
                    zeros: ones,
                    b,
                    panels: Panels::one(at + panel * bytes + first),
                    c: Buf::empty(),
                    column: 0,
                    tail_column: 0,
                    tail: None,
                    sums,
                    sums_row: self.width,
                    a_step: 0,
                    b_row: 0,
                    last: 0,
                    ahead: Ahead::default(),
                });
            }
        });
        bytemuck::cast_slice(sums)
    }
}
