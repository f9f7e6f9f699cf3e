use super::*;
use oxidnn_spec::Attr;
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{DataType, Tensor};

#[test]
fn the_hint_brings_rows_for_all_shapes_first() {
    let tensor = |m: i64, n: i64| Tensor::plain([m, n], DataType::F32).unwrap();
    let product = Matmul { src: tensor(2, 3), weights: tensor(3, 4), bias: None, dst: tensor(2, 4) };
    let names = |hint: bool| {
        let attr = Attr { hint_reusable_kernels: hint, ..Attr::default() };
        rows_for(&Problem::new(product.clone(), attr).unwrap()).iter().map(|r| r.name).collect::<Vec<_>>()
    };
    let (plain, hinted) = (names(false), names(true));
    let table = rows(&Problem::new(product.clone(), Attr::default()).unwrap().op);
    let particular: Vec<_> = table.iter().filter(|row| row.tier == Tier::Particular).map(|row| row.name).collect();
    let last = hinted.iter().rposition(|name| name.ends_with(MARK)).expect("a row for all shapes");
    assert!(!particular.is_empty() && particular.iter().all(|name| !hinted[..=last].contains(name)), "{plain:?} {hinted:?}");
    assert_eq!((plain.len(), plain.last(), names(true)), (hinted.len(), hinted.last(), hinted.clone()));
}
