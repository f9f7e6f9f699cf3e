use super::*;
use crate::target::Isa;

/// Packs a matrix of distinct bytes and compares every element of the panels.
fn check(isa: Isa, form: PanelLayout, (depth, columns): (usize, usize), transposed: bool) {
    let Some(simd) = Simd::new(isa) else { return };
    let (rows, slack) = (depth + 3, 5);
    let (from_depth, from_column) = if transposed { (form.size, rows * form.size) } else { ((columns + slack) * form.size, form.size) };
    let len = if transposed { (columns + 1) * rows } else { rows * (columns + slack) } * form.size;
    let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + i / 251 + 1) as u8 | 1).collect();
    let from = PlainMatrix { bytes: &bytes, depth: from_depth, column: from_column };
    // The part that is packed begins at row 2, column 1.
    let (ks, js) = (2..depth, 1..columns);
    let panels_count = js.len().div_ceil(form.width);
    let mut to = vec![f32::from_bits(0x5555_5555); panels_count * form.panel(ks.len()) / 4];
    panels(simd, &from, ks.clone(), js.clone(), form, &mut to);
    let to: &[u8] = bytemuck::cast_slice(&to);
    for (i, got) in to.chunks_exact(form.size).enumerate() {
        let t = i % form.vnni;
        let (line, j) = (i / form.vnni / form.width, i / form.vnni % form.width);
        let lines = ks.len().div_ceil(form.vnni);
        let (panel, step) = (line / lines, line % lines);
        let (k, column) = (ks.start + step * form.vnni + t, js.start + panel * form.width + j);
        let inside = ks.contains(&k) && js.contains(&column);
        let want = if inside { bytes[k * from_depth + column * from_column..][..form.size].to_vec() } else { vec![0; form.size] };
        assert_eq!(got, want, "{isa:?} {form:?} {depth}x{columns} transposed {transposed}: row {k} column {column}");
    }
}

#[test]
fn panels_have_every_number_in_its_place() {
    for isa in Isa::ALL {
        let lanes = isa.lanes().max(8);
        for (size, together) in [(4, 1), (2, 2), (2, 1), (1, 4)] {
            for width in [lanes, 2 * lanes, 4 * lanes] {
                for (depth, columns) in [(3, 2), (20, 9), (35, 70), (70, 131)] {
                    for transposed in [false, true] {
                        check(isa, PanelLayout { size, vnni: together, width }, (depth, columns), transposed);
                    }
                }
            }
        }
    }
}
