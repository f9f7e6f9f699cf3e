use crate::lines::Line;
use crate::testkit::{Bound, compute, numbers};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, DataType, Dims, RUNTIME, Tensor};

#[test]
fn scales_zero_points_and_sum() {
    let attrs = "--attr-scales=src:common:0.5+dst:common:0.25 --attr-zero-points=src:common:3+dst:common:-1 --attr-post-ops=sum:2";
    let mut l = Line::new(&format!("--reorder --sdt=s8 --ddt=s8 {attrs} 1x3"));
    l.set(Arg::SRC, &[5.0, 3.0, 127.0]).set(Arg::DST, &[1.0, 0.0, 4.0]);
    l.set(Arg::scale(Arg::SRC), &[0.5]).set(Arg::scale(Arg::DST), &[0.25]);
    l.set(Arg::zero_point(Arg::SRC), &[3.0]).set(Arg::zero_point(Arg::DST), &[-1.0]).run();
    // (0.5 * (5 - 3) + 2 * 1) / 0.25 - 1 = 11
    assert_eq!(l.values(Arg::DST), [11.0, -1.0, 127.0]);
}

#[test]
fn copies_are_exact() {
    let mut l = Line::new("--reorder --sdt=s64 --ddt=s64 --stag=ab --dtag=ba 1x2");
    let big = (1i64 << 53) + 1;
    let bytes: Vec<u8> = [big, -big].iter().flat_map(|v| v.to_le_bytes()).collect();
    let tensor = Tensor::plain([1, 2], DataType::S64).unwrap();
    l.args.raw(Arg::SRC, &tensor, std::slice::from_ref(&bytes));
    assert_eq!(l.run().args.bytes(Arg::DST), bytes);
}

#[test]
fn four_bit_types_pack_two_to_a_byte() {
    let mut l = Line::new("--reorder --sdt=f32 --ddt=s4 --stag=ab --dtag=ab 1x4");
    l.set(Arg::SRC, &[-9.0, 7.0, 2.5, -1.0]).run();
    assert_eq!(l.args.bytes(Arg::DST), [0x78, 0xf2]);
}

/// Sums of int8 weights after the data, over all dimensions but the output channels', padded with zeros.
#[test]
fn compensation_by_hand() {
    for (flags, factors) in [("s8s8_comp:1", vec![-128]), ("zp_comp:1", vec![-1]), ("s8s8_comp:1+zp_comp:1", vec![-128, -1])] {
        let mut l = Line::new(&format!("--reorder --sdt=f32 --ddt=s8 --stag=abcd --dtag=Abcd4a --oflag={flags} 3x2x1x2"));
        let x: Vec<f64> = (0..12).map(f64::from).collect();
        l.set(Arg::SRC, &x).run();
        assert_eq!(l.values(Arg::DST), x);
        let bytes = l.args.bytes(Arg::DST);
        let sums: Vec<i32> = bytes[16..].chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect();
        let want: Vec<i32> = factors.iter().flat_map(|f| [6 * f, 22 * f, 38 * f, 0]).collect();
        assert_eq!(sums, want, "{flags}");
    }
}

/// Groups of two along the first dimension, one scale for each and column.
#[test]
fn grouped_scales() {
    let mut l = Line::new("--reorder --sdt=s8 --ddt=f32 --attr-scales=src:3:f32:16x1 32x2");
    let scales = [1.0, 2.0, 4.0, 8.0];
    l.set(Arg::SRC, &[1.0; 64]).set(Arg::scale(Arg::SRC), &scales).run();
    let want: Vec<f64> = (0..64).map(|i| scales[i / 32 * 2 + i % 2]).collect();
    assert_eq!(l.values(Arg::DST), want);
}

/// The library finds a scale for each group of 32 numbers of a row, and one for both rows where the mask leaves these out.
#[test]
fn dynamic_scales() {
    let src: Vec<f64> = (0..128).map(|i| if i == 40 { -3584.0 } else { f64::from(i % 7) }).collect();
    for (mask, wanted) in [(3, vec![2f64.powi(-6), 8.0, 2f64.powi(-6), 2f64.powi(-6)]), (2, vec![2f64.powi(-6), 8.0])] {
        let mut l = Line::new(&format!("--reorder --ddt=f8_e4m3 --attr-scales=dst:{mask}:e8m0:1x32:dynamic_mx 2x64"));
        l.set(Arg::SRC, &src).set(Arg::scale(Arg::DST), &vec![0.0; wanted.len()]).run();
        assert_eq!(l.values(Arg::scale(Arg::DST)), wanted, "mask {mask}");
        // 3584 = 448 * 8.
        assert_eq!(l.values(Arg::DST)[40], -448.0);
        let at = |i: usize| l.values(Arg::DST)[i];
        assert_eq!([at(1), at(33)], [64.0, 5.0 / 8.0]);
    }
}

/// Stochastic rounding gives one of the two neighbours, and both of them.
#[test]
fn stochastic_rounding() {
    let mut l = Line::new("--reorder --sdt=f32 --ddt=bf16 --attr-rounding-mode=dst:stochastic 1x1000");
    l.set(Arg::SRC, &[1.0 + 1.0 / 256.0; 1000]).set(Arg::ROUNDING_SEED, &[7.0]).run();
    let up = l.values(Arg::DST).into_iter().filter(|&v| v == 1.0078125).count();
    assert!((400..600).contains(&up), "{up}");
    assert!(l.values(Arg::DST).into_iter().all(|v| v == 1.0 || v == 1.0078125));
}

#[test]
fn through_a_padded_layout_and_back() {
    let x = numbers(5, 2 * 17 * 6);
    let mut there = Line::new("--reorder --sdt=f32 --ddt=f16 --stag=abcd --dtag=aBcd16b 2x17x2x3");
    there.set(Arg::SRC, &x).run();
    let mut back = Line::new("--reorder --sdt=f16 --ddt=f32 --stag=aBcd16b --dtag=acdb 2x17x2x3");
    assert_eq!(back.set(Arg::SRC, &there.values(Arg::DST)).run().values(Arg::DST), x);
}

/// Sizes unknown when the problem was made are those of the arguments.
#[test]
fn runtime_dimensions() {
    let dims = Dims::from([RUNTIME, 3]);
    let op = Reorder { src: Tensor::plain(dims, DataType::F32).unwrap(), dst: Tensor::with_tag(dims, DataType::S8, "ba").unwrap() };
    let mut args = Bound::default();
    args.plain(Arg::SRC, DataType::F32, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 600.0]);
    args.out(Arg::DST, &Tensor::with_tag([2, 3], DataType::S8, "ba").unwrap());
    compute(op, Attr::default(), &args);
    assert_eq!(args.bytes(Arg::DST), [1, 4, 2, 5, 3, 127]);
}

/// Weights of an int8 network: a scale a gate and channel; its data: one scale and a shift.
#[test]
fn quantisation_of_recurrent_networks() {
    let mut l = Line::new("--reorder --sdt=f32 --ddt=s8 --attr-rnn-data=2:3 --attr-rnn-weights=24:1+2+3+4 1x1x2x2x2");
    l.set(Arg::SRC, &[1.0; 8]).run();
    assert_eq!(l.values(Arg::DST), [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    let mut l = Line::new("--reorder --sdt=f32 --ddt=u8 --attr-rnn-data=2:3 --attr-rnn-weights=0:9 1x1x2");
    l.set(Arg::SRC, &[1.0, -2.0]).run();
    assert_eq!(l.values(Arg::DST), [5.0, 0.0]);
}
