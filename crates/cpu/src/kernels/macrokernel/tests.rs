use super::*;
use crate::kernels::microkernel::layout::panel_columns;
use crate::kernels::microkernel::{DotType, MOST_ROWS, Stride, TileStrip};
use crate::kernels::multiversion::Simd;
use oxidnn_runtime::Buf;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// Plain matrices: `A` row-major, `B` in panels, the reduction cut into parts of `each`.
struct Plain<'a> {
    a: usize,
    depth: usize,
    columns: usize,
    got: &'a Mutex<Vec<f32>>,
}

impl RowProvider for Plain<'_> {
    type Cursor = usize;

    fn cursor(&self, _: usize, row: usize) -> usize {
        row
    }

    fn strip(&self, row: &mut usize, sums: usize, most: usize, list: &mut AddressList<'_>) -> usize {
        let (tiles, a_row) = (most.min(3), self.depth * 4);
        list.strip(TileStrip { tiles, sums, a_row, c_row: 0, to: (0, &[0; MOST_ROWS]) });
        list.tap(0, self.a + *row * a_row, &std::array::from_fn(|i| i * a_row));
        *row += list.rows() * tiles;
        tiles
    }

    fn base(&self, _: usize) -> [usize; 2] {
        [self.a, 0]
    }

    fn store(&self, block: SumBlock<'_>) {
        let mut got = self.got.lock().unwrap();
        for (i, row) in block.rows.clone().enumerate() {
            for (j, column) in block.columns.clone().enumerate() {
                got[row * self.columns + column] = block.sums[i * block.step + j];
            }
        }
    }
}

fn buf<T>(of: &mut [T]) -> Buf<'_> {
    // SAFETY: the memory outlives the test, and its parallel parts write to disjoint blocks.
    unsafe { Buf::new(of.as_mut_ptr().cast(), size_of_val(of)) }
}

/// Multiplies small integers, whose sums are exact, and compares with plain loops.
fn check(isa: Isa, (rows, columns, depth): (usize, usize, usize), parts: usize, workers: usize) {
    let panel = panel_columns(isa, columns);
    let mut a: Vec<f32> = (0..rows * depth).map(|i| (i % 7) as f32 - 3.0).collect();
    let value = |k: usize, j: usize| ((k * 5 + j * 3) % 11) as f32 - 5.0;
    let panels = columns.div_ceil(panel);
    let mut b = vec![0.0f32; panels * depth * panel];
    for j in 0..columns {
        (0..depth).for_each(|k| b[j / panel * depth * panel + k * panel + j % panel] = value(k, j));
    }
    let each = depth / parts;
    let shape = Shape {
        units: 1,
        rows: vec![rows],
        even: false,
        columns,
        panel,
        panel_bytes: depth * panel * 4,
        memory: 0,
        k_blocks: (0..parts).map(|i| KBlock { taps: 1, steps: each, k_tail: 0, first: i * each, taken: None }).collect(),
        source: rows * depth * 4,
        product: DotType::F32,
        b_layout: BLayout::Panels,
        a_step: Stride::Fixed(4),
        joint_row_bytes: 0,
        begins: false,
        padded: false,
        epilogue: None,
    };
    let macrokernel = Arc::new(VectorMacrokernel::new(isa, shape, &CpuTarget { threads: workers, ..CpuTarget::host() }));
    let got = Mutex::new(vec![f32::NAN; rows * columns]);
    let ready = macrokernel.build(Some(&Plain { a: 0, depth, columns, got: &got })).unwrap();
    let work = Plain { a: a.as_ptr().addr(), depth, columns, got: &got };
    let mut share = vec![0.0; macrokernel.scratch_len(1).unwrap()];
    let (mut zeros, mut c) = ([0u8; 64], [0u8; 0]);
    let operands = Operands {
        simd: Simd::host(),
        rows: &work,
        a: buf(&mut a),
        zeros: buf(&mut zeros),
        sources: None,
        left: &AtomicBool::new(false),
        b: buf(&mut b),
        notes: None,
        packs: Packing::Nothing,
        b_unit: &|_| 0,
        b_panel: depth * panel * 4,
        b_row: 0,
        a_step: 0,
        c: buf(&mut c),
        epilogue: None,
    };
    (0..macrokernel.tasks()).for_each(|task| ready.task(task, &mut share, &operands));
    let got = got.into_inner().unwrap();
    for i in 0..rows {
        for j in 0..columns {
            let want: f32 = (0..depth).map(|k| a[i * depth + k] * value(k, j)).sum();
            assert_eq!(got[i * columns + j], want, "{rows}x{columns}x{depth} in {parts} parts: row {i}, column {j}");
        }
    }
}

#[test]
fn products_of_any_size_are_cut_and_carried() {
    for isa in [Isa::AVX2, Isa::AVX512].into_iter().filter(|i| i.is_present()) {
        for sizes in [(1, 1, 4), (5, 16, 8), (7, 17, 8), (49, 130, 24), (200, 64, 12), (64, 300, 40), (3000, 70, 64), (40, 600, 512)] {
            (1..=2).for_each(|parts| [1, 2, 5].into_iter().for_each(|workers| check(isa, sizes, parts, workers)));
        }
    }
}
