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
    let first = &rows(&Problem::new(product.clone(), Attr::default()).unwrap().op)[0];
    assert!(first.tier == Tier::Particular && first.name == plain[0] && hinted[0].ends_with(MARK), "{plain:?} {hinted:?}");
    assert_eq!((plain.len(), plain.last(), names(true)), (hinted.len(), hinted.last(), hinted.clone()));
}
