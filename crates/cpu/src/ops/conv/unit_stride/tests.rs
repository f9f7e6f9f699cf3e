use super::*;
use oxidnn_spec::text::{Settings, parse_line};

fn problem(line: &str) -> Problem {
    let cases = parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}"));
    cases.into_iter().next().unwrap_or_else(|| panic!("{line}: nothing")).problem
}

/// The remaining convolution has stride 1, and its pixels are where the strides say.
#[test]
fn windows_that_skip_pixels_become_dense() {
    for (line, pixels, at) in [
        ("--conv --stag=abx --dtag=abx mb2ic8ih9oc8oh5sh2", vec![5, 5], vec![648, 81, 18, 2]),
        ("--conv --stag=abx --dtag=abx mb1ic8ih9iw7oc8oh3ow7sh3sw1", vec![3, 7], vec![504, 63, 21, 1]),
        ("--conv --stag=abx --dtag=abx mb1ic4id4ih4iw9oc8od2oh2ow5kd1kh1kw1sd2sh2sw2", vec![2, 2, 5], vec![576, 144, 72, 18, 2]),
        ("--conv --stag=abx --dtag=abx mb1ic4iw9oc8ow5sw2", vec![5], vec![36, 9, 2]),
    ] {
        let met = reduce(&problem(line), false).unwrap_or_else(|| panic!("{line}"));
        let Op::Conv(op) = &met.op else { panic!("{line}") };
        let strides = &op.src.blocking().unwrap().strides[..op.src.dims().len()];
        assert_eq!((&op.src.dims()[2..], op.sizes().s, strides), (&pixels[..], [1; 3], &at[..]), "{line}");
    }
}

#[test]
fn leaves_the_rest() {
    for line in [
        "--conv --stag=abx --dtag=abx mb2ic8ih9oc8oh9",
        "--conv --stag=abx --dtag=abx mb2ic8ih9oc8oh5kh3sh2ph1",
        "--conv --dir=BWD_D --stag=abx --dtag=abx mb2ic8ih9oc8oh5sh2",
    ] {
        assert!(reduce(&problem(line), false).is_none(), "{line}");
    }
}
