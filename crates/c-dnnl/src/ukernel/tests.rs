//! Blocks of sums, packed and finished, against plain loops; the order of calls that is asked for.

use super::attr_params::*;
use super::brgemm::*;
use super::transform::*;
use crate::handle::{Array, ArrayMut, Data, In, InOut, New, Out};
use crate::post_ops::{PostOps, dnnl_post_ops_append_binary, dnnl_post_ops_append_eltwise};
use crate::status::Status;
use oxidnn_c_common::numbers::{BINARY, DATA_TYPE, ELTWISE};
use oxidnn_expr::number::{decode, encode};
use oxidnn_spec::DataType::{self, Bf16, F16, F32, S8, S32, U8};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};

fn bytes(dtype: DataType, values: impl Iterator<Item = i64>) -> Vec<u8> {
    values.flat_map(|v| encode(dtype, v as f64).to_le_bytes().into_iter().take(dtype.bits() / 8)).collect()
}

fn a_value(i: usize, k: usize) -> i64 {
    ((i * 5 + k * 3) % 9) as i64
}

fn b_value(k: usize, j: usize) -> i64 {
    ((k * 7 + j * 2) % 8) as i64 - 3
}

const M: usize = 9;
const N: usize = 40;
const K: usize = 38;

/// The kernel, or nothing where no code is generated.
fn brgemm(types: [DataType; 3], batch: i64, ldb: i64) -> Option<Brgemm> {
    let (m, n, k) = (M as i64, N as i64, K as i64);
    match Brgemm::new([m, n, k, batch], [k + 2, ldb, n], types.map(|t| DATA_TYPE.of(t))) {
        Err(failure) if failure.status == Status::Unimplemented => None,
        made => Some(made.unwrap()),
    }
}

/// `B` as the kernel wants it, from plain or transposed memory, and the distance of its lines.
fn packed(types: [DataType; 3], transposed: bool) -> (Vec<u8>, i64) {
    let [a, b] = [types[0], types[1]].map(|t| DATA_TYPE.of(t));
    let mut wanted = -1;
    assert_eq!(dnnl_brgemm_get_B_pack_type(Out::from(&mut wanted), a, b), Status::Success);
    let plain = (0..K).flat_map(|k| (0..N).map(move |j| b_value(k, j)));
    if wanted == 1 {
        return (bytes(types[1], plain), N as i64);
    }
    assert_eq!(wanted, 3);
    let turned = (0..N).flat_map(|j| (0..K).map(move |k| b_value(k, j)));
    let (mut from, in_ld) = if transposed { (bytes(types[1], turned), K) } else { (bytes(types[1], plain), N) };
    let (k, n, ld) = (K as i64, N as i64, 64i64);
    let mut transform = Transform::new(Sizes { k, n, in_ld: in_ld as i64, out_ld: ld }, 1 + i32::from(transposed), [b, b]).unwrap();
    let mut to = vec![0xffu8; (K + 3) * 64 * types[1].bits() / 8];
    let (from, to_) = (Data::from(&mut from[..]), Data::from(&mut to[..]));
    assert_eq!(dnnl_transform_execute(In::from(&transform), from, to_), Status::InvalidArguments, "not generated");
    assert_eq!(dnnl_transform_generate(InOut::from(&mut transform)), Status::Success);
    assert_eq!(dnnl_transform_execute(In::from(&transform), from, to_), Status::Success);
    (to, ld)
}

fn product(i: usize, j: usize) -> i64 {
    (0..K).map(|k| a_value(i, k) * b_value(k, j)).sum()
}

#[test]
fn sums_agree_with_plain_loops() {
    for types in [[F32, F32, F32], [Bf16, Bf16, F32], [F16, F16, F32], [U8, S8, S32], [S8, S8, S32]] {
        for transposed in [false, true] {
            if brgemm(types, 1, N as i64).is_none() {
                return;
            }
            let (mut b, ldb) = packed(types, transposed);
            let mut kernel = brgemm(types, 2, ldb).unwrap();
            let mut a = bytes(types[0], (0..M).flat_map(|i| (0..K + 2).map(move |k| a_value(i, k))));
            let mut c = vec![f32::from_bits(if types[2] == S32 { 7 } else { 7f32.to_bits() }); M * N];
            assert_eq!(dnnl_brgemm_set_add_C(InOut::from(&mut kernel), 1), Status::Success);
            assert_eq!(dnnl_brgemm_generate(InOut::from(&mut kernel)), Status::InvalidArguments, "not finalised");
            assert_eq!(dnnl_brgemm_finalize(InOut::from(&mut kernel)), Status::Success);
            assert_eq!(dnnl_brgemm_generate(InOut::from(&mut kernel)), Status::Success);
            // The same pair twice, from an address behind both.
            let (a_, b_) = (Data::from(&mut a[..]).behind(64), Data::from(&mut b[..]).behind(128));
            let offsets = [-64, -128, -64, -128];
            let status = dnnl_brgemm_execute(In::from(&kernel), a_, b_, Array::of(&offsets), ArrayMut::of(&mut c), Data::NULL);
            assert_eq!(status, Status::Success);
            for (at, got) in c.iter().enumerate() {
                let got = if types[2] == S32 { f64::from(got.to_bits() as i32) } else { f64::from(*got) };
                assert_eq!(got, (2 * product(at / N, at % N) + 7) as f64, "{types:?} at {at}");
            }
        }
    }
}

#[test]
fn sums_are_finished() {
    for (types, d_type) in [([F32, F32, F32], Bf16), ([U8, S8, S32], U8), ([Bf16, Bf16, F32], F32)] {
        if brgemm(types, 1, N as i64).is_none() {
            return;
        }
        let (mut b, ldb) = packed(types, false);
        let mut kernel = brgemm(types, 1, ldb).unwrap();
        let mut a = bytes(types[0], (0..M).flat_map(|i| (0..K + 2).map(move |k| a_value(i, k))));
        let mut post_ops = PostOps::default();
        let column = crate::memory_desc::record(&oxidnn_spec::Tensor::plain([M as i64, 1], F32).unwrap());
        let append = InOut::from(&mut post_ops);
        assert_eq!(dnnl_post_ops_append_binary(append, BINARY.of(BinaryAlg::Add), In::from(&column)), Status::Success);
        let append = InOut::from(&mut post_ops);
        assert_eq!(dnnl_post_ops_append_eltwise(append, ELTWISE.of(EltwiseAlg::Relu), 0.0, 0.0), Status::Success);
        let ldd = N as i64 + 4;
        assert_eq!(dnnl_brgemm_set_post_ops(InOut::from(&mut kernel), ldd, DATA_TYPE.of(d_type), In::from(&post_ops)), Status::Success);
        assert_eq!(dnnl_brgemm_set_A_scales(InOut::from(&mut kernel), 0), Status::Success);
        assert_eq!(dnnl_brgemm_set_B_scales(InOut::from(&mut kernel), 2), Status::Success);
        assert_eq!(dnnl_brgemm_set_D_scales(InOut::from(&mut kernel), 0), Status::Success);
        assert_eq!(dnnl_brgemm_set_B_scales(InOut::from(&mut kernel), 1), Status::InvalidArguments);
        assert_eq!(dnnl_brgemm_finalize(InOut::from(&mut kernel)), Status::Success);
        assert_eq!(dnnl_brgemm_generate(InOut::from(&mut kernel)), Status::Success);
        let (mut valid, mut size) = (0, 0);
        assert_eq!(dnnl_brgemm_is_execute_postops_valid(In::from(&kernel), Out::from(&mut valid)), Status::Success);
        assert_eq!(dnnl_brgemm_get_scratchpad_size(In::from(&kernel), Out::from(&mut size)), Status::Success);
        assert_eq!(valid, 1);
        let (mut scratch, mut d) = (vec![0f32; size / 4], vec![0u8; M * (N + 4) * d_type.bits() / 8]);
        let (mut a_scale, mut d_scale) = ([0.5f32], [2f32]);
        let mut b_scales: Vec<f32> = (0..N).map(|j| (1 << (j % 3)) as f32).collect();
        let mut operand: Vec<f32> = (0..M).map(|i| i as f32 - 2.0).collect();
        let mut operands = [Data::from(&mut operand[..])];
        let mut params = AttrParams::default();
        let set = [
            dnnl_ukernel_attr_params_set_A_scales(InOut::from(&mut params), Data::from(&mut a_scale[..])),
            dnnl_ukernel_attr_params_set_B_scales(InOut::from(&mut params), Data::from(&mut b_scales[..])),
            dnnl_ukernel_attr_params_set_D_scales(InOut::from(&mut params), Data::from(&mut d_scale[..])),
        ];
        assert_eq!(set, [Status::Success; 3]);
        let (a_, b_, d_) = (Data::from(&mut a[..]), Data::from(&mut b[..]), Data::from(&mut d[..]));
        let run = |params: &AttrParams, scratch: &mut [f32]| {
            let (offsets, c) = (Array::of(&[0i64, 0]), Array::null());
            dnnl_brgemm_execute_postops(In::from(&kernel), a_, b_, offsets, c, d_, ArrayMut::of(scratch), In::from(params))
        };
        assert_eq!(run(&params, &mut scratch), Status::InvalidArguments, "the post-op's operand is missing");
        let set = dnnl_ukernel_attr_params_set_post_ops_args(InOut::from(&mut params), Data::from(&mut operands[..]));
        assert_eq!(set, Status::Success);
        assert_eq!(run(&params, &mut scratch), Status::Success);
        for (i, j) in (0..M).flat_map(|i| (0..N).map(move |j| (i, j))) {
            let want = ((product(i, j) as f64 * 0.5 * f64::from(b_scales[j]) + i as f64 - 2.0).max(0.0)) / 2.0;
            let at = (i * (N + 4) + j) * d_type.bits() / 8;
            let bits = d[at..at + d_type.bits() / 8].iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
            assert_eq!(decode(d_type, bits), decode(d_type, encode(d_type, want)), "{types:?} to {d_type} at {i},{j}");
        }
    }
}

#[test]
fn wrong_kernels_are_refused() {
    let f32_ = DATA_TYPE.of(F32);
    let mut handle = std::ptr::null::<Brgemm>();
    let mut create = |sizes: [i64; 7], types: [i32; 3]| {
        let [m, n, k, batch, lda, ldb, ldc] = sizes;
        dnnl_brgemm_create(New::from(&mut handle), m, n, k, batch, lda, ldb, ldc, types[0], types[1], types[2])
    };
    assert_eq!(create([0, 1, 1, 1, 1, 1, 1], [f32_; 3]), Status::InvalidArguments);
    assert_eq!(create([1, 1, 4, 1, 3, 1, 1], [f32_; 3]), Status::InvalidArguments);
    assert_eq!(create([1, 1, 1, 0, 1, 1, 1], [f32_; 3]), Status::InvalidArguments);
    assert_eq!(create([1, 1, 1, 1, 1, 1, 1], [f32_, f32_, 1000]), Status::InvalidArguments);
    assert_eq!(create([1, 1, 1, 1, 1, 1, 1], [f32_, DATA_TYPE.of(S8), f32_]), Status::Unimplemented);
    let mut wanted = -1;
    assert_eq!(dnnl_brgemm_get_B_pack_type(Out::from(&mut wanted), f32_, DATA_TYPE.of(S8)), Status::Success);
    assert_eq!(wanted, 0);
    assert_eq!(dnnl_brgemm_release_hw_context(), Status::Success);
}
