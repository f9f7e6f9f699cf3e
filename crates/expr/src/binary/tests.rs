use super::*;
use BinaryAlg::*;

#[test]
fn values() {
    let at = |alg, a: f64, b: f64| apply(alg, a, b, 0.0);
    let got = [Add, Sub, Mul, Div, Max, Min].map(|alg| at(alg, 3.0, -2.0));
    assert_eq!(got, [1.0, 5.0, -6.0, -1.5, 3.0, -2.0]);
    for (a, b) in [(1.0, 2.0), (2.0, 1.0), (2.0, 2.0), (f64::NAN, 1.0), (1.0, f64::NAN)] {
        let flags = [Ge, Gt, Le, Lt, Eq, Ne].map(|alg| at(alg, a, b) == 1.0);
        assert_eq!(flags, [a >= b, a > b, a <= b, a < b, a == b, a != b], "{a} {b}");
    }
    assert_eq!((at(Max, f64::NAN, 1.0), at(Min, 1.0, f64::NAN)), (1.0, 1.0));
    assert_eq!([0.0, -0.0, 1.0, -5.0].map(|c| apply(Select, 7.0, 8.0, c)), [8.0, 8.0, 7.0, 7.0]);
    assert_eq!([-2.0, 0.0, 2.0].map(|s| prelu(s, 0.5)), [-1.0, 0.0, 2.0]);
}
