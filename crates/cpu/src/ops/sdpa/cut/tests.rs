use super::*;
use oxidnn_spec::{Op, Problem};

fn attention(line: &str) -> Sdpa {
    match line.parse::<Problem>().unwrap().op {
        Op::Sdpa(op) => *op,
        other => panic!("{other:?}"),
    }
}

const LINES: [&str; 7] = [
    "--sdpa 2x4x300x16:2x2x16x700:2x2x700x24",
    "--sdpa --mask=causal_br 1x4x100x64:1x4x64x130:1x4x130x64",
    "--sdpa 1x8x1x64:1x2x64x2100:1x2x2100x64",
    "--sdpa 1x6x7x300:1x2x300x1100:1x2x1100x40",
    "--sdpa 1x1x1x1:1x1x1x1:1x1x1x1",
    "--sdpa 1x3x65x2000:1x1x2000x513:1x1x513x8",
    "--sdpa 3x12x64x64:3x4x64x4096:3x4x4096x64",
];

#[test]
fn every_row_meets_every_key_of_its_head_once() {
    for line in LINES {
        let op = attention(line);
        for products in [Products::generated(oxidnn_jit::Isa::AVX512, 32 << 10), Products::portable(crate::Isa::Avx2)] {
            let cut = Cut::new(&op, &products);
            let [batch, heads, shared] = cut.heads;
            let mut met = vec![0; batch * heads * cut.queries * cut.keys];
            for place in (0..cut.row_blocks()).flat_map(|block| (0..cut.parts).map(move |part| (block, part))) {
                let place = cut.place(place.0, place.1);
                assert!(place.rows.len() <= MAX_ROWS && cut.heights().contains(&place.rows.len()), "{line}: {place:?}");
                for row in place.rows {
                    assert_eq!(row / cut.queries * shared / heads, place.shared, "{line}");
                    let first = (place.batch * heads * cut.queries + row) * cut.keys;
                    met[first + place.keys.start..first + place.keys.end].iter_mut().for_each(|n| *n += 1);
                }
            }
            assert!(met.iter().all(|n| *n == 1), "{line}: {cut:?}");
        }
    }
}

#[test]
fn gradients_have_every_row_and_every_key_once() {
    for line in LINES {
        let op = attention(line);
        let cut = BackwardCut::new(&op, &Products::generated(oxidnn_jit::Isa::AVX512, 32 << 10));
        let keys: Vec<usize> = (0..cut.parts).flat_map(|part| cut.part(part)).collect();
        assert_eq!(keys, (0..cut.keys).collect::<Vec<_>>(), "{line}");
        let rows: Vec<usize> = (0..cut.blocks).flat_map(|block| cut.block_rows(block)).collect();
        assert_eq!(rows, (0..cut.all_rows).collect::<Vec<_>>(), "{line}");
        for start in (0..cut.parts).flat_map(|part| cut.part(part).step_by(cut.block)) {
            let height = cut.block.min(cut.keys - start);
            assert!(height <= MAX_ROWS && cut.key_heights().contains(&height), "{line}: {height} keys");
        }
    }
}

#[test]
fn the_last_visible_key_is_that_of_any_row() {
    for line in [LINES[0], LINES[1], "--sdpa --mask=causal_tl 1x8x5x8:1x2x8x40:1x2x40x8"] {
        let cut = Cut::new(&attention(line), &Products::portable(crate::Isa::Avx2));
        for block in 0..cut.row_blocks() {
            let rows = cut.place(block, 0).rows;
            assert_eq!(cut.reach(&rows), rows.map(|row| cut.visible(row)).max().unwrap_or(0), "{line}");
        }
    }
}
