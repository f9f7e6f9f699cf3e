use super::*;
use crate::Facts;
use crate::ops;
use oxidnn_spec::text::{self, Settings};
use std::sync::Arc;

const LINE: &str = "--matmul --dt=bf16 --stag=ab --wtag=ba --dtag=ab 1024x1024:1024x1024";

/// The grid of the first launch of the plan of [`LINE`].
fn grid(target: &CudaTarget) -> [u32; 3] {
    let case = text::parse_line(&mut Settings::default(), LINE).unwrap().remove(0);
    let row = ops::rows(&case.problem.op).iter().find(|row| row.name == "gemm:sm90").unwrap();
    row.plan(&case.problem, target).unwrap().program().launches[0].grid
}

#[test]
fn plans_have_the_tile_that_was_chosen() {
    let target = CudaTarget::new(Facts::H200, None, Some(Arc::default()));
    let tuned = target.tuned.as_ref().unwrap();
    let (before, products) = tuned.watch(&target, || grid(&target));
    let [product] = &products[..] else { panic!("{products:?}") };
    assert!(product.tiles() > 5 && before == grid(&CudaTarget::described(Facts::H200)));
    let mut grids = Vec::new();
    for i in 0..product.tiles() {
        tuned.choose(product, i);
        grids.push(grid(&target));
    }
    assert_eq!(grids[0], before);
    assert!(grids.iter().any(|g| *g != before));
}

#[test]
fn lines_of_the_store_are_read_back_and_others_left_out() {
    let target = CudaTarget::new(Facts::H200, None, Some(Arc::default()));
    let tuned = target.tuned.as_ref().unwrap();
    let (_, products) = tuned.watch(&target, || grid(&target));
    for tile in &products[0].tiles {
        let line = written(&products[0].request, &tile.shape);
        assert_eq!(read(&line), Some((products[0].request, tile.shape)));
        assert_eq!(read(line.trim_end().rsplit_once(' ').unwrap().0), None);
    }
    assert_eq!(read("1 2 x"), None);
}
