use super::*;
use crate::kernels::scratch::lend;
use oxidnn_runtime::queue::Immediate;
use oxidnn_runtime::{Bound, Region, Threads};
use oxidnn_spec::Use;
use oxidnn_spec::op::Matmul;

/// Integers as the words of an index array.
fn words(numbers: &[i32]) -> Vec<f32> {
    numbers.iter().map(|n| f32::from_bits(*n as u32)).collect()
}

fn regions(buffers: &mut [Vec<f32>]) -> Vec<Region<'_>> {
    buffers.iter_mut().map(|numbers| Region::host(lend(numbers))).collect()
}

/// Runs the product of `src` and `weights`, each with its buffers, and returns the elements of the result.
fn product([src, weights]: [(Tensor, Vec<Vec<f32>>); 2], dst: [i64; 2]) -> Result<Vec<f32>, Error> {
    let dst = Tensor::plain(dst, DataType::F32)?;
    let op = Matmul { src: src.0.clone(), weights: weights.0.clone(), bias: None, dst: dst.clone() };
    let plan = plan(&Problem::new(op, Attr::default())?, &CpuTarget::host()).expect("a product of a sparse operand");
    let mut scratch = vec![0.0f32; plan.scratch_bytes() / 4 + 32];
    let aligned = scratch.as_ptr().align_offset(64);
    let mut out = vec![f32::NAN; dst.bytes() / 4];
    let mut buffers = [src.1, weights.1];
    let [left, right] = &mut buffers;
    let regions = [regions(left), regions(right), vec![Region::host(lend(&mut out))]];
    let bound = |arg, tensor, usage, i: usize| Bound { arg, tensor, usage, regions: &regions[i], notes: None };
    let args = [bound(Arg::SRC, &src.0, Use::In, 0), bound(Arg::WEIGHTS, &weights.0, Use::In, 1), bound(Arg::DST, &dst, Use::Out, 2)];
    let ctx = Ctx { args: &args, scratch: Region::host(lend(&mut scratch[aligned..])), queue: &Immediate::new(Threads::inline()) };
    plan.build()?.run(&ctx)?;
    Ok(out)
}

fn dense(dims: [i64; 2], values: &[f32]) -> (Tensor, Vec<Vec<f32>>) {
    (Tensor::plain(dims, DataType::F32).unwrap(), vec![values.to_vec()])
}

/// From values, row indices and column indices.
fn coo(dims: [i64; 2], values: &[f32], rows: &[i32], columns: &[i32]) -> (Tensor, Vec<Vec<f32>>) {
    (Tensor::coo(dims, DataType::F32, values.len() as i64).unwrap(), vec![values.to_vec(), words(rows), words(columns)])
}

fn csr(dims: [i64; 2], values: &[f32], columns: &[i32], starts: &[i32]) -> (Tensor, Vec<Vec<f32>>) {
    (Tensor::csr(dims, DataType::F32, values.len() as i64).unwrap(), vec![values.to_vec(), words(columns), words(starts)])
}

#[test]
fn entries_in_any_order_and_twice_are_added_up() {
    // [[5, 0, 0], [0, 0, 2]], the first element in two entries.
    let entries = || coo([2, 3], &[2.0, 4.0, 1.0], &[1, 0, 0], &[2, 0, 0]);
    let right = dense([3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(product([entries(), right], [2, 2]), Ok(vec![5.0, 10.0, 10.0, 12.0]));
    let left = dense([2, 2], &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(product([left, entries()], [2, 3]), Ok(vec![5.0, 0.0, 4.0, 15.0, 0.0, 8.0]));
}

#[test]
fn compressed_rows_multiply_from_either_side() {
    let entries = || csr([2, 3], &[5.0, 2.0], &[0, 2], &[0, 1, 2]);
    let right = dense([3, 1], &[1.0, 3.0, 5.0]);
    assert_eq!(product([entries(), right], [2, 1]), Ok(vec![5.0, 10.0]));
    let left = dense([1, 2], &[1.0, 2.0]);
    assert_eq!(product([left, entries()], [1, 3]), Ok(vec![5.0, 0.0, 4.0]));
}

#[test]
fn indices_outside_the_matrix_are_errors() {
    let right = || dense([3, 1], &[1.0; 3]);
    let wrong = [
        coo([2, 3], &[1.0], &[2], &[0]),
        coo([2, 3], &[1.0], &[0], &[-1]),
        csr([2, 3], &[1.0], &[3], &[0, 1, 1]),
        csr([2, 3], &[1.0], &[0], &[0, 2, 1]),
        csr([2, 3], &[1.0], &[0], &[1, 1, 1]),
        csr([2, 3], &[1.0], &[0], &[0, -1, 1]),
    ];
    for entries in wrong {
        let buffers = entries.1.clone();
        let result = product([entries, right()], [2, 1]);
        assert!(matches!(&result, Err(Error::InvalidArguments(_))), "{buffers:?}: {result:?}");
    }
}

#[test]
fn a_mask_that_asks_for_more_values_than_there_are_is_an_error() {
    let packed = Tensor::packed_sparse([64, 1], DataType::F32, 1).unwrap();
    let left = || dense([1, 64], &[1.0; 64]);
    let masked = |bits: [u32; 2], start: i32| {
        let bits = bits.map(|b| b as i32);
        (packed.clone(), vec![vec![3.0], words(&bits), words(&[start, 0])])
    };
    assert_eq!(product([left(), masked([0, 8], 0)], [1, 1]), Ok(vec![3.0]));
    for wrong in [masked([1, 8], 0), masked([0, 8], 1), masked([0, 8], -1)] {
        let result = product([left(), wrong], [1, 1]);
        assert!(result.is_err(), "{result:?}");
    }
}
