use super::*;
use crate::hardware::Caches;

const BUDGET: Budget = Caches::USUAL.budget(false);

/// A product of f32 on AVX-512, the reduction in one part.
fn line<'s>(parts: &'s [KBlock], [units, rows, columns]: [usize; 3], workers: usize) -> Workload<'s> {
    let vectors = columns.div_ceil(16);
    let source = units * rows * parts[0].steps * 4;
    Workload {
        units,
        rows,
        tiles: rows.div_ceil(7),
        vectors,
        panel: vectors.min(4),
        vector: 64,
        packs: false,
        source,
        joint_row_bytes: 0,
        parts,
        workers,
        panels: BUDGET.panels,
        budget: &BUDGET,
    }
}

fn part(depth: usize) -> KBlock {
    KBlock { taps: 1, steps: depth, k_tail: 0, first: 0, taken: None }
}

#[test]
fn tasks_are_all_of_the_product_and_equally_long() {
    for depth in [16, 160, 512, 4608] {
        let parts = [part(depth)];
        for sizes in [[1, 49, 320], [1, 49, 960], [1, 784, 32], [1, 3136, 64], [3, 3136, 256], [8, 49, 160], [1, 5, 7], [2, 196, 2048]] {
            for workers in [1, 2, 3, 16] {
                for joint_row_bytes in [0, 64, 4096] {
                    let line = Workload { joint_row_bytes, ..line(&parts, sizes, workers) };
                    let cut = Partition::new(line);
                    let mut met = vec![0; line.units * line.tiles * line.vectors];
                    let mut worked = vec![0; workers.min(cut.tasks())];
                    let mut longest = 0;
                    for task in 0..cut.tasks() {
                        for Piece { unit, tiles, panels } in cut.pieces(task) {
                            let vectors = panels.start * line.panel..line.vectors.min(panels.end * line.panel);
                            longest = longest.max(vectors.len());
                            let worker = task * worked.len() / cut.tasks();
                            worked[worker] += tiles.len() * vectors.len();
                            for tile in tiles {
                                vectors.clone().for_each(|v| met[(unit * line.tiles + tile) * line.vectors + v] += 1);
                            }
                        }
                    }
                    assert!(met.iter().all(|n| *n == 1), "{sizes:?} of {depth} by {workers}: {cut:?}");
                    assert!(cut.tasks() < workers || cut.tasks().is_multiple_of(workers));
                    let [least, most] = [worked.iter().min(), worked.iter().max()].map(|n| n.copied().unwrap_or(0));
                    assert!(most - least <= 2 * longest, "{sizes:?} of {depth} by {workers}: {worked:?}, {cut:?}");
                }
            }
        }
    }
}

#[test]
fn little_work_is_one_task() {
    assert_eq!(Partition::new(line(&[part(16)], [1, 49, 64], 16)).tasks(), 1);
    assert_eq!(Partition::new(line(&[part(16)], [0, 49, 64], 16)).tasks(), 1);
    assert_eq!(Partition::new(line(&[part(16)], [1, 0, 64], 16)).pieces(0).count(), 0);
}

#[test]
fn a_large_product_is_one_task_of_one_worker_and_four_of_each_of_several() {
    for (workers, tasks) in [(1, 1), (2, 8), (16, 64)] {
        assert_eq!(Partition::new(line(&[part(512)], [1, 3136, 64], workers)).tasks(), tasks, "{workers} workers");
    }
}

#[test]
fn a_group_is_followed_by_the_next() {
    let cut = Partition::new(line(&[part(512)], [1, 49, 960], 2));
    let mut panels = cut.group(0);
    for group in 1..cut.groups() {
        panels = cut.behind(&panels);
        assert_eq!(panels, cut.group(group));
    }
    assert!(cut.behind(&panels).is_empty());
}
