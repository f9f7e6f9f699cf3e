//! Every operation against what oneDNN answers. `ops.txt` has the lines and its answers: whether it supports the operation, the status of the
//! first step that fails, else sizes, strides and values of the outputs. `ops.cpp` made the answers (see CONTRIBUTING.md).

mod common;

use common::{answer, difference, parsed};
use oxidnn_judge::Bound;

/// Lines and what is right for them.
fn cases(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut cases: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        match (line.strip_prefix("case "), cases.last_mut()) {
            (Some(case), _) => cases.push((case, Vec::new())),
            (None, Some(last)) => last.1.push(line),
            (None, None) => panic!("an answer before any case: {line}"),
        }
    }
    cases
}

#[test]
fn operations_answer_as_onednn_does() {
    let cases = cases(include_str!("ops.txt"));
    assert!(cases.len() > 200, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for (case, expected) in cases {
        let got = answer(case);
        if got.len() != expected.len() {
            wrong.push(format!("{case}\n    got {got:?}\n    expected {expected:?}"));
        }
        wrong.extend(got.iter().zip(expected).filter_map(|(g, e)| difference(g, e)).map(|d| format!("{case}\n    {d}")));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The values of output `index` of a line that works.
fn values(line: &str, index: usize) -> Vec<f64> {
    let lines = answer(line);
    assert_eq!(lines.first().map(String::as_str), Some("supported 1"), "{line}: {lines:?}");
    parsed(lines.get(index + 1).unwrap_or_else(|| panic!("{line}: {lines:?}"))).1
}

fn near(what: &str, got: &[f64], expected: &[f64], tolerance: f64) {
    let wrong = oxidnn_judge::differ(got, expected, Bound::near(tolerance));
    assert!(wrong.is_none(), "{what}: {}", wrong.map_or_else(String::new, |w| w.to_string()));
}

// oneDNN supports the following only as parts of larger partitions, or not at all: here they are checked against what they mean.

#[test]
fn powers_are_those_of_the_numbers() {
    let base = values("relu : f32:4x5#p : f32:?", 0);
    let powers = |p: f64| base.iter().map(|x| x.powf(p)).collect::<Vec<_>>();
    near("pow", &values("pow beta=-0.5 : f32:4x5#p : f32:?", 0), &powers(-0.5), 1e-5);
    near("reciprocal", &values("reciprocal : f32:4x5#p : f32:?", 0), &powers(-1.0), 1e-5);
}

#[test]
fn the_gradient_of_a_bias_is_a_sum_over_all_but_the_channels() {
    let sums = values("reduce_sum axes=0,1 : f32:2x4x3 : f32:?", 0);
    near("NXC", &values("bias_add_backward : f32:2x4x3 : f32:?", 0), &sums, 1e-6);
    let sums = values("reduce_sum axes=0,2,3 : f32:2x3x4x2 : f32:?", 0);
    near("NCX", &values("bias_add_backward data_format=NCX : f32:2x3x4x2 : f32:?", 0), &sums, 1e-6);
}

#[test]
fn rows_of_several_dimensions_are_normalised_as_one() {
    let several = "layer_norm begin_norm_axis=1 : f32:2x3x4 f32:3x4 f32:3x4 : f32:? f32:? f32:?";
    let one = "layer_norm : f32:2x12 f32:12 f32:12 : f32:? f32:? f32:?";
    for output in 0..3 {
        near("LayerNorm", &values(several, output), &values(one, output), 1e-6);
    }
    let several = "rms_norm begin_norm_axis=-2 : f32:2x3x4 f32:3x4 : f32:?";
    near("RMSNorm", &values(several, 0), &values("rms_norm : f32:2x12 f32:12 : f32:?", 0), 1e-6);
    let permuted = "layer_norm begin_norm_axis=1 : f32:2x3x4/1x8x2 f32:12 f32:12 : f32:2x3x4/1x8x2 f32:? f32:?";
    assert_eq!(values(permuted, 0).len(), 24);
}

#[test]
fn statistics_and_parameters_may_be_bf16_with_the_data() {
    let exact = "layer_norm : f32:2x8 f32:8 f32:8 : f32:? f32:? f32:?";
    let small = "layer_norm : bf16:2x8 bf16:8 bf16:8 : bf16:? bf16:? bf16:?";
    for output in 0..3 {
        near("LayerNorm", &values(small, output), &values(exact, output), 1.0 / 64.0);
    }
    let exact = "batch_norm_inference epsilon=0.01 : f32:2x2x2x3 f32:3 f32:3 f32:3 f32:3#p : f32:?";
    let small = "batch_norm_inference epsilon=0.01 : bf16:2x2x2x3 bf16:3 bf16:3 bf16:3 bf16:3#p : bf16:?";
    near("BatchNormInference", &values(small, 0), &values(exact, 0), 1.0 / 32.0);
}

#[test]
fn the_gradient_of_the_data_does_not_depend_on_whether_others_are_asked_for() {
    let all = "batch_norm_backward epsilon=0.01 : f32:2x2x2x3 f32:2x2x2x3 f32:3 f32:3#p f32:3 : f32:? f32:? f32:?";
    let one = "batch_norm_backward epsilon=0.01 : f32:2x2x2x3 f32:2x2x2x3 f32:3 f32:3#p f32:3 : f32:?";
    near("BatchNormTrainingBackward", &values(one, 0), &values(all, 0), 1e-6);
}

#[test]
fn the_gradient_of_a_grouped_convolution_is_its_transpose() {
    let head = "strides=1,1 pads_begin=0,0 pads_end=0,0 dilations=1,1 groups=2 data_format=NCX";
    let gradient = format!("convolution_backward_data {head} weights_format=OIX dst_shape=1,4,4,4 : f32:1x6x3x3 f32:6x2x2x2 : f32:?");
    let transposed = format!("conv_transpose {head} weights_format=IOX : f32:1x6x3x3 f32:6x2x2x2 : f32:?");
    near("ConvolutionBackwardData", &values(&gradient, 0), &values(&transposed, 0), 1e-5);
}

#[test]
fn channels_have_zero_points_of_their_own() {
    let quantised = values("quantize scales=0.5,0.25,1 zps=3,-2,1 qtype=per_channel axis=1 : f32:2x3#c2 : s8:2x3", 0);
    assert_eq!(quantised, [7.0, 6.0, 3.0, 7.0, 6.0, 3.0]);
    let back = values("dequantize scales=0.5,0.25,1 zps=3,-2,1 qtype=per_channel axis=1 : s8:2x3#c4 : f32:2x3", 0);
    assert_eq!(back, [0.5, 1.5, 3.0, 0.5, 1.5, 3.0]);
    let dynamic = values("dynamic_dequantize qtype=per_channel axis=0 : s8:2x3#c4 bf16:2#c0.5 s8:2#c2 : bf16:2x3", 0);
    assert_eq!(dynamic, [1.0; 6]);
    let dynamic = values("dynamic_quantize qtype=per_channel axis=1 : f32:2x3#c3 f32:3#c0.5 u8:3#c2 : u8:2x3", 0);
    assert_eq!(dynamic, [8.0; 6]);
}

#[test]
fn dropout_keeps_what_its_mask_says() {
    let numbers = ["s64:#c7@host s64:#c1@host f32:#c0.5@host", "s64:1#c7 s64:1#c1 f32:1#c0.5"];
    let [host, device] = numbers.map(|n| {
        let line = format!("dropout : f32:8x16#p {n} : f32:8x16 u8:8x16");
        let (dst, mask, src) = (values(&line, 0), values(&line, 1), values("relu : f32:8x16#p : f32:8x16", 0));
        let kept = mask.iter().filter(|&&m| m == 1.0).count();
        assert!((32..96).contains(&kept), "{kept} of 128 kept with a probability of one half");
        for ((d, m), s) in dst.iter().zip(&mask).zip(&src) {
            assert_eq!(*d, m * s * 2.0);
        }
        mask
    });
    assert_eq!(host, device);
    assert_eq!(values("dropout : f32:2x8#p s64:1#c7 s64:1#c1 f32:1#c0 : f32:2x8", 0), values("relu : f32:2x8#p : f32:2x8", 0));
}

#[test]
fn a_reduction_of_single_elements_gives_them() {
    let src = values("subtract : f32:2x1x3 f32:#c0 : f32:?", 0);
    assert_eq!(values("reduce_sum axes=1 keep_dims=1 : f32:2x1x3 : f32:?", 0), src);
    let magnitude: Vec<f64> = src.iter().map(|v| v.abs()).collect();
    assert_eq!(values("reduce_l1 axes=1 : f32:2x1x3 : f32:?", 0), magnitude);
}

#[test]
fn requests_that_make_onednn_fail_outright_are_refused() {
    let channels = "convolution strides=1,1 pads_begin=0,0 pads_end=0,0 dilations=1,1 : f32:1x4x4x3 f32:3x3x4x8 : f32:?";
    assert_eq!(answer(channels), ["supported 1", "status compile 9"]);
    assert_eq!(answer("softmax axis=7 : f32:2x3 : f32:?"), ["supported 1", "status compile 9"]);
    assert_eq!(answer("clamp min=1 max=-1 : f32:2x3 : f32:2x3"), ["supported 1", "status compile 2"]);
    assert_eq!(answer("prelu data_format=NCX : f32:2x3x2x2 f32:5 : f32:?"), ["supported 1", "status compile 2"]);
}

/// Attributes that are lists of whole numbers.
const LISTS: [&str; 14] = [
    "strides",
    "pads_begin",
    "pads_end",
    "dilations",
    "kernel",
    "shape",
    "src_shape",
    "dst_shape",
    "weights_shape",
    "order",
    "axes",
    "sizes",
    "output_padding",
    "group_shape",
];

/// The words of a line with one list of an attribute, or the sizes of one port, of another length.
fn uneven(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let lists = |word: &str| -> Vec<String> {
        match (word.split_once('='), word.split_once(':')) {
            (Some((name, _)), _) if LISTS.contains(&name) => {
                ["1", "2,1", "1,1,1", "3,2,1,1", "", "2,2,2,2,2,2,2,2,2,2,2,2"].map(|other| format!("{name}={other}")).to_vec()
            }
            (None, Some((dtype, dims))) if dims.starts_with(|c: char| c.is_ascii_digit()) && !dims.contains(['/', '@']) => {
                let (dims, fill) = dims.split_once('#').map_or((dims, String::new()), |(d, f)| (d, format!("#{f}")));
                let shorter = dims.split_once('x').map_or("", |d| d.1);
                [shorter.to_string(), format!("1x{dims}"), format!("{dims}x1"), "2".into(), "2x2x2x2x2x2".into()]
                    .map(|dims| format!("{dtype}:{dims}{fill}"))
                    .to_vec()
            }
            _ => Vec::new(),
        }
    };
    let with = |i: usize, word: &str| {
        let mut words = words.clone();
        words[i] = word;
        words.join(" ")
    };
    (0..words.len()).flat_map(|i| lists(words[i]).iter().map(|word| with(i, word)).collect::<Vec<_>>()).collect()
}

#[test]
fn ranks_that_do_not_agree_are_errors_and_no_panics() {
    let mut kinds = std::collections::HashMap::<&str, usize>::new();
    let mut panics = Vec::new();
    for (case, _) in cases(include_str!("ops.txt")) {
        // Some lines of every kind: others differ in types and layouts.
        let seen = kinds.entry(case.split(' ').next().unwrap_or_default()).or_default();
        *seen += 1;
        if *seen <= 3 {
            panics.extend(uneven(case).into_iter().filter(|line| std::panic::catch_unwind(|| answer(line)).is_err()));
        }
    }
    assert!(panics.is_empty(), "{} panic:\n{}", panics.len(), panics.join("\n"));
}

#[test]
fn windows_have_a_number_for_every_dimension() {
    let pool = |strides: &str, kernel: &str| {
        answer(&format!(
            "max_pool_backward strides={strides} pads_begin=0,0 pads_end=0,0 kernel={kernel} data_format=NCX : f32:1x2x4x4 f32:1x2x2x2 : f32:?"
        ))
    };
    assert_eq!(pool("2,2", "2,2")[0], "supported 1");
    for (strides, kernel) in [("2,2", "2"), ("2", "2,2"), ("2,2,2", "2,2")] {
        assert!(pool(strides, kernel).last().is_some_and(|l| l.starts_with("status")), "strides {strides}, kernel {kernel}");
    }
}
