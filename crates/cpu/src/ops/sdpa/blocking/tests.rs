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
            let blocking = Blocking::new(&op, &products);
            let [batch, heads, shared] = blocking.heads;
            let mut met = vec![0; batch * heads * blocking.queries * blocking.keys];
            for place in (0..blocking.row_blocks()).flat_map(|block| (0..blocking.parts).map(move |part| (block, part))) {
                let place = blocking.place(place.0, place.1);
                assert!(place.rows.len() <= MAX_ROWS && blocking.heights().contains(&place.rows.len()), "{line}: {place:?}");
                for row in place.rows {
                    assert_eq!(row / blocking.queries * shared / heads, place.shared, "{line}");
                    let first = (place.batch * heads * blocking.queries + row) * blocking.keys;
                    met[first + place.keys.start..first + place.keys.end].iter_mut().for_each(|n| *n += 1);
                }
            }
            assert!(met.iter().all(|n| *n == 1), "{line}: {blocking:?}");
        }
    }
}

#[test]
fn gradients_have_every_row_and_every_key_once() {
    for line in LINES {
        let op = attention(line);
        let blocking = BackwardBlocking::new(&op, &Products::generated(oxidnn_jit::Isa::AVX512, 32 << 10));
        let keys: Vec<usize> = (0..blocking.parts).flat_map(|part| blocking.part(part)).collect();
        assert_eq!(keys, (0..blocking.keys).collect::<Vec<_>>(), "{line}");
        let rows: Vec<usize> = (0..blocking.blocks).flat_map(|block| blocking.block_rows(block)).collect();
        assert_eq!(rows, (0..blocking.all_rows).collect::<Vec<_>>(), "{line}");
        for start in (0..blocking.parts).flat_map(|part| blocking.part(part).step_by(blocking.block)) {
            let height = blocking.block.min(blocking.keys - start);
            assert!(height <= MAX_ROWS && blocking.key_heights().contains(&height), "{line}: {height} keys");
        }
    }
}

#[test]
fn the_last_visible_key_is_that_of_any_row() {
    for line in [LINES[0], LINES[1], "--sdpa --mask=causal_tl 1x8x5x8:1x2x8x40:1x2x40x8"] {
        let blocking = Blocking::new(&attention(line), &Products::portable(crate::Isa::Avx2));
        for block in 0..blocking.row_blocks() {
            let rows = blocking.place(block, 0).rows;
            assert_eq!(blocking.reach(&rows), rows.map(|row| blocking.visible(row)).max().unwrap_or(0), "{line}");
        }
    }
}
