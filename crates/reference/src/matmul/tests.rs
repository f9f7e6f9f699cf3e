use crate::testkit::{Bound, compute, dot, numbers};
use oxidnn_expr::philox;
use oxidnn_spec::op::{EltwiseAlg, Matmul, Reorder};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Dropout, Format, Layout, PostOp, Quant, QuantMode, RUNTIME, Real, Rounding, Sparse, Tensor};

fn tensor(dims: &[i64], dtype: DataType, tag: &str) -> Tensor {
    Tensor::with_tag(Dims::new(dims).unwrap(), dtype, tag).unwrap()
}

fn plain(dims: &[i64], dtype: DataType) -> Tensor {
    Tensor::plain(Dims::new(dims).unwrap(), dtype).unwrap()
}

fn matmul(src: Tensor, weights: Tensor, dst: Tensor) -> Matmul {
    Matmul { src, weights, bias: None, dst }
}

/// Row-major product.
fn naive(a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) -> Vec<f64> {
    let column = |j: usize| (0..k).map(|t| b[t * n + j]).collect::<Vec<f64>>();
    (0..m * n).map(|i| dot(&a[i / n * k..][..k], &column(i % n))).collect()
}

fn whole(seed: u64, n: usize, low: i64, high: i64) -> Vec<f64> {
    numbers(seed, n).iter().map(|v| (low + ((v + 2.0) * 16.0) as i64 % (high - low + 1)) as f64).collect()
}

#[test]
fn batches_broadcast_both_ways_and_bias_too() {
    let mut op = matmul(
        tensor(&[2, 1, 3, 70], DataType::F32, "abdc"),
        tensor(&[1, 4, 70, 65], DataType::F32, "aBcd4b"),
        tensor(&[2, 4, 3, 65], DataType::F32, "acdb"),
    );
    op.bias = Some(plain(&[1, 4, 1, 65], DataType::F32));
    let (a, w, bias) = (numbers(1, 420), numbers(2, 4 * 70 * 65), numbers(3, 260));
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &a).put(Arg::WEIGHTS, &op.weights, &w).put(Arg::BIAS, op.bias.as_ref().unwrap(), &bias);
    b.out(Arg::DST, &op.dst);
    compute(op, Attr::default(), &b);
    let got = b.values(Arg::DST);
    for batch in 0..8 {
        let (i, j) = (batch / 4, batch % 4);
        let mut want = naive(&a[i * 210..][..210], &w[j * 4550..][..4550], [3, 70, 65]);
        want.iter_mut().enumerate().for_each(|(x, v)| *v += bias[j * 65 + x % 65]);
        assert_eq!(got[batch * 195..][..195], want);
    }
}

#[test]
fn runtime_dimensions_come_from_the_arguments() {
    let runtime = |dims: [i64; 2]| Tensor { dtype: DataType::F32, layout: Layout::plain(Dims::from(dims)).unwrap() };
    let op = matmul(runtime([RUNTIME, RUNTIME]), runtime([RUNTIME, 5]), runtime([RUNTIME, 5]));
    let mut b = Bound::default();
    let (a, w) = (numbers(1, 600), numbers(2, 1000));
    b.plain(Arg::SRC, DataType::F32, &[3, 200], &a).plain(Arg::WEIGHTS, DataType::F32, &[200, 5], &w);
    b.out(Arg::DST, &plain(&[3, 5], DataType::F32));
    compute(op, Attr::default(), &b);
    assert_eq!(b.values(Arg::DST), naive(&a, &w, [3, 200, 5]));
}

/// 4-bit weights with grouped scales and zero points along K and N, against the expanded product.
#[test]
fn weights_are_decompressed() {
    for (dtype, zero_dtype, low, high) in [(DataType::U4, DataType::U4, 0, 15), (DataType::S4, DataType::S8, -8, 7)] {
        let op = matmul(plain(&[3, 8], DataType::F32), plain(&[8, 6], dtype), plain(&[3, 6], DataType::F32));
        let mut attr = Attr::default();
        let grouped = |k: i64, n: i64, dtype| Quant { groups: Dims::from([k, n]), ..Quant::per(3, dtype) };
        attr.scales.insert(Arg::WEIGHTS, grouped(2, 3, DataType::Bf16));
        attr.zero_points.insert(Arg::WEIGHTS, grouped(4, 1, zero_dtype));
        let (a, w) = (numbers(1, 24), whole(2, 48, low, high));
        let (scales, zeros) = (numbers(3, 8), whole(4, 12, low, high));
        let mut b = Bound::default();
        b.put(Arg::SRC, &op.src, &a).put(Arg::WEIGHTS, &op.weights, &w).out(Arg::DST, &op.dst);
        b.plain(Arg::scale(Arg::WEIGHTS), DataType::Bf16, &[4, 2], &scales);
        b.plain(Arg::zero_point(Arg::WEIGHTS), zero_dtype, &[2, 6], &zeros);
        compute(op, attr, &b);
        let real: Vec<f64> = (0..48)
            .map(|i| {
                let (k, n) = (i / 6, i % 6);
                (w[i] - zeros[k / 4 * 6 + n]) * scales[k / 2 * 2 + n / 3]
            })
            .collect();
        assert_eq!(b.values(Arg::DST), naive(&a, &real, [3, 8, 6]));
    }
}

/// Sums that the caller has give what the terms give, for either operand and both, with grouped scales too.
#[test]
fn precomputed_sums_replace_zero_points() {
    let op = matmul(plain(&[3, 8], DataType::U8), plain(&[8, 5], DataType::S8), plain(&[3, 5], DataType::F32));
    let groups = |g: [i64; 2]| Quant { groups: Dims::from(g), ..Quant::per(3, DataType::S32) };
    let (a, w) = (whole(1, 24, 0, 60), whole(2, 40, -30, 30));
    let mut attr = Attr::default();
    attr.scales.insert(Arg::SRC, Quant { dtype: DataType::F32, ..groups([1, 4]) });
    attr.scales.insert(Arg::WEIGHTS, Quant::per(2, DataType::F32));
    attr.zero_points.insert(Arg::SRC, groups([1, 4]));
    attr.zero_points.insert(Arg::WEIGHTS, groups([4, 1]));
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &a).put(Arg::WEIGHTS, &op.weights, &w).out(Arg::DST, &op.dst);
    b.plain(Arg::scale(Arg::SRC), DataType::F32, &[3, 2], &numbers(3, 6));
    b.plain(Arg::scale(Arg::WEIGHTS), DataType::F32, &[5], &numbers(4, 5));
    b.plain(Arg::zero_point(Arg::SRC), DataType::S32, &[3, 2], &whole(5, 6, 1, 9));
    b.plain(Arg::zero_point(Arg::WEIGHTS), DataType::S32, &[2, 5], &whole(6, 10, -9, 9));
    compute(op.clone(), attr.clone(), &b);
    let want = b.values(Arg::DST);
    let left: Vec<f64> = a.chunks(4).map(|c| c.iter().sum()).collect();
    let right: Vec<f64> = (0..10).map(|i| (0..4).map(|k| w[(i / 5 * 4 + k) * 5 + i % 5]).sum()).collect();
    b.plain(Arg::precomputed(Arg::SRC), DataType::S32, &[3, 2], &left);
    b.plain(Arg::precomputed(Arg::WEIGHTS), DataType::S32, &[2, 5], &right);
    for which in [vec![(Arg::SRC, [1, 4])], vec![(Arg::WEIGHTS, [4, 1])], vec![(Arg::SRC, [1, 4]), (Arg::WEIGHTS, [4, 1])]] {
        attr.precomputed_reductions = which.into_iter().map(|(arg, g)| (arg, groups(g))).collect();
        compute(op.clone(), attr.clone(), &b);
        assert_eq!(b.values(Arg::DST), want);
    }
    // The given sums are what counts: one more per group is one zero point more.
    attr.precomputed_reductions = [(Arg::SRC, groups([1, 4]))].into();
    b.plain(Arg::precomputed(Arg::SRC), DataType::S32, &[3, 2], &left.iter().map(|v| v + 1.0).collect::<Vec<_>>());
    compute(op, attr, &b);
    assert_ne!(b.values(Arg::DST), want);
}

fn le(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect()
}

#[test]
fn sparse_operands() {
    let dims = Dims::from([3, 4]);
    let sparse = |s: Sparse| Tensor { dtype: DataType::F32, layout: Layout { dims, format: Format::Sparse(s) } };
    let dense = [0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, -1.0, 0.0];
    let csr = [floats(&[2.0, 1.0, 3.0, -1.0]), le([1, 3, 0, 2]), le([0, 2, 2, 4])];
    let coo = [floats(&[-1.0, 2.0, 3.0, 1.0]), le([2, 0, 2, 0]), le([2, 1, 0, 3])];
    let packed_blocking = plain(&[3, 4], DataType::F32).blocking().unwrap().clone();
    let packed = [floats(&[2.0, 1.0, 3.0, -1.0]), vec![0b0000_1010, 0b0000_0101], 0i64.to_le_bytes().to_vec()];
    let cases = [
        (Sparse::Csr { nnz: 4 }, &csr),
        (Sparse::Coo { nnz: 4 }, &coo),
        (Sparse::Packed { nnz: 4, blocking: Some(packed_blocking.into()) }, &packed),
    ];
    let (w, a) = (numbers(1, 4 * 70), numbers(2, 70 * 3));
    for (encoding, buffers) in cases {
        let operand = sparse(encoding);
        let op = matmul(operand.clone(), plain(&[4, 70], DataType::F32), plain(&[3, 70], DataType::F32));
        let mut b = Bound::default();
        b.raw(Arg::SRC, &operand, buffers).put(Arg::WEIGHTS, &op.weights, &w).out(Arg::DST, &op.dst);
        compute(op, Attr::default(), &b);
        assert_eq!(b.values(Arg::DST), naive(&dense, &w, [3, 4, 70]));
        let op = matmul(plain(&[70, 3], DataType::F32), operand.clone(), plain(&[70, 4], DataType::F32));
        let mut b = Bound::default();
        b.put(Arg::SRC, &op.src, &a).raw(Arg::WEIGHTS, &operand, buffers).out(Arg::DST, &op.dst);
        compute(op, Attr::default(), &b);
        assert_eq!(b.values(Arg::DST), naive(&a, &dense, [70, 3, 4]));
    }
}

/// A reorder packs int8 weights in any blocked order; only what is not zero is stored, and too many values are refused.
#[test]
fn packed_weights_are_made_by_a_reorder() {
    let values: Vec<f64> = whole(3, 2 * 9 * 20, -3, 3).into_iter().map(|v| if v < 0.0 { 0.0 } else { v }).collect();
    let nnz = values.iter().filter(|v| **v != 0.0).count() as i64;
    let dims = Dims::from([2, 9, 20]);
    for tag in ["abc", "acb", "aBC8b4c"] {
        let blocking = tensor(&[2, 9, 20], DataType::S8, tag).blocking().cloned().map(std::sync::Arc::new);
        let layout = |nnz| Layout { dims, format: Format::Sparse(Sparse::Packed { nnz, blocking: blocking.clone() }) };
        let packed = Tensor { dtype: DataType::S8, layout: layout(nnz) };
        let reorder = Reorder { src: plain(&[2, 9, 20], DataType::F32), dst: packed.clone() };
        let room: Vec<Vec<u8>> = (0..3).map(|i| vec![0xa5; packed.buffer_bytes(i).unwrap()]).collect();
        let mut b = Bound::default();
        b.put(Arg::SRC, &reorder.src, &values).raw(Arg::DST, &packed, &room);
        compute(reorder.clone(), Attr::default(), &b);
        let op = matmul(plain(&[2, 3, 9], DataType::U8), packed.clone(), plain(&[2, 3, 20], DataType::S32));
        let a = whole(4, 54, 0, 9);
        let mut c = Bound::default();
        let buffers: Vec<Vec<u8>> = (0..3).map(|i| crate::Args::data(&b, Arg::DST, i).unwrap().iter().map(|x| x.get()).collect()).collect();
        c.put(Arg::SRC, &op.src, &a).raw(Arg::WEIGHTS, &packed, &buffers).out(Arg::DST, &op.dst);
        compute(op, Attr::default(), &c);
        let want: Vec<f64> = (0..2).flat_map(|i| naive(&a[i * 27..][..27], &values[i * 180..][..180], [3, 9, 20])).collect();
        assert_eq!(c.values(Arg::DST), want, "{tag}");
        let dst = Tensor { dtype: DataType::S8, layout: layout(nnz - 1) };
        b.raw(Arg::DST, &dst, &room);
        let problem = oxidnn_spec::Problem { op: Reorder { dst, ..reorder }.into(), attr: Attr::default() };
        assert!(crate::run(&problem, &b, &mut vec![0.0; crate::scratch_len(&problem)]).is_err());
    }
}

#[test]
fn indices_outside_the_matrix_are_refused() {
    let layout = Layout { dims: Dims::from([2, 2]), format: Format::Sparse(Sparse::Csr { nnz: 1 }) };
    let operand = Tensor { dtype: DataType::F32, layout };
    for (columns, rows) in [([2], [0, 1, 1]), ([0], [0, 2, 1]), ([-1], [0, 0, 1])] {
        let op = matmul(operand.clone(), plain(&[2, 2], DataType::F32), plain(&[2, 2], DataType::F32));
        let mut b = Bound::default();
        b.raw(Arg::SRC, &operand, &[floats(&[1.0]), le(columns), le(rows)]);
        b.put(Arg::WEIGHTS, &op.weights, &[1.0; 4]).out(Arg::DST, &op.dst);
        let problem = oxidnn_spec::Problem { op: op.into(), attr: Attr::default() };
        assert!(crate::run(&problem, &b, &mut vec![0.0; crate::scratch_len(&problem)]).is_err());
    }
}

#[test]
fn destination_scales_can_be_computed() {
    let op = matmul(plain(&[2, 1], DataType::F32), plain(&[1, 80], DataType::F32), plain(&[2, 80], DataType::F8E4m3));
    let quant = Quant { groups: Dims::from([1, 32]), mode: QuantMode::DynamicMx, ..Quant::per(3, DataType::E8m0) };
    let attr = Attr { scales: [(Arg::DST, quant)].into(), ..Attr::default() };
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &[1.0, 0.25]).put(Arg::WEIGHTS, &op.weights, &(1..=80).map(f64::from).collect::<Vec<_>>());
    b.out(Arg::DST, &op.dst).out(Arg::scale(Arg::DST), &plain(&[2, 3], DataType::E8m0));
    compute(op, attr, &b);
    // The largest of the groups are 32, 64, 80 and a quarter of that; 448 counts as 2^8.
    assert_eq!(b.values(Arg::scale(Arg::DST)), [0.125, 0.25, 0.25, 0.03125, 0.0625, 0.0625]);
    let got = b.values(Arg::DST);
    assert_eq!([got[31], got[32], got[64], got[80]], [256.0, 128.0, 256.0, 8.0]);
}

#[test]
fn dropout_comes_before_post_ops_and_counts_physical_elements() {
    let op = matmul(plain(&[8, 1], DataType::F32), plain(&[1, 8], DataType::F32), tensor(&[8, 8], DataType::F32, "ba"));
    let relu = PostOp::Eltwise { alg: EltwiseAlg::Linear, alpha: Real::new(1.0), beta: Real::new(10.0) };
    let mask = Some(tensor(&[8, 8], DataType::U8, "ba"));
    let mut attr = Attr { post_ops: vec![relu], ..Attr::default() };
    for (seed_dtype, offset) in [(DataType::S32, None), (DataType::S64, Some(1 << 33))] {
        let (use_offset, use_host_scalars) = (offset.is_some(), false);
        attr.dropout = Some(Dropout { mask: mask.clone(), seed_dtype, use_offset, use_host_scalars });
        let mut b = Bound::default();
        b.put(Arg::SRC, &op.src, &[1.0; 8]).put(Arg::WEIGHTS, &op.weights, &[1.0; 8]).out(Arg::DST, &op.dst);
        b.out(Arg::DROPOUT_MASK, mask.as_ref().unwrap()).plain(Arg::DROPOUT_PROBABILITY, DataType::F32, &[1], &[0.5]);
        b.plain(Arg::DROPOUT_SEED, seed_dtype, &[1], &[77.0]);
        b.plain(Arg::DROPOUT_OFFSET, DataType::S64, &[1], &[offset.unwrap_or(0) as f64]);
        compute(op.clone(), attr.clone(), &b);
        let kept = |i: usize| philox::dropout_keeps((i % 8 * 8 + i / 8) as u64, 77, offset.unwrap_or(0), 0.5);
        let mask: Vec<f64> = (0..64).map(|i| f64::from(u8::from(kept(i)))).collect();
        assert_eq!(b.values(Arg::DROPOUT_MASK), mask);
        assert_eq!(b.values(Arg::DST), mask.iter().map(|m| 2.0 * m + 10.0).collect::<Vec<_>>());
    }
}

#[test]
fn rounding_may_be_stochastic() {
    let op = matmul(plain(&[64, 1], DataType::F32), plain(&[1, 64], DataType::F32), plain(&[64, 64], DataType::Bf16));
    let attr = Attr { rounding: [(Arg::DST, Rounding::Stochastic)].into(), ..Attr::default() };
    let mut b = Bound::default();
    let third = 1.0 + 1.0 / 512.0;
    b.put(Arg::SRC, &op.src, &[third; 64]).put(Arg::WEIGHTS, &op.weights, &[1.0; 64]).out(Arg::DST, &op.dst);
    b.plain(Arg::ROUNDING_SEED, DataType::S32, &[1], &[5.0]);
    compute(op, attr, &b);
    let mean = b.values(Arg::DST).iter().sum::<f64>() / 4096.0;
    assert!(b.values(Arg::DST).iter().all(|&v| v == 1.0 || v == 1.0 + 1.0 / 128.0));
    assert!((mean - third).abs() < 5e-4, "{mean}");
}

#[test]
fn f64_keeps_its_digits() {
    let op = matmul(plain(&[1, 2], DataType::F64), plain(&[2, 1], DataType::F64), plain(&[1, 1], DataType::F64));
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &[1.0, 1e-12]).put(Arg::WEIGHTS, &op.weights, &[1.0, 1.0]).out(Arg::DST, &op.dst);
    compute(op, Attr::default(), &b);
    assert_eq!(b.values(Arg::DST), [1.0 + 1e-12]);
}
