use super::*;
use EltwiseAlg::*;

/// `(alg, alpha, beta, s, value, derivative)` computed with 30 digits outside the project.
const KNOWN: [(EltwiseAlg, f32, f32, f64, f64, f64); 3] = [
    (Tanh, 0.0, 0.0, 0.5, 0.46211715726000975, 0.7864477329659274),
    (Logistic, 0.0, 0.0, -2.0, 0.11920292202211755, 0.10499358540350652),
    (GeluErf, 0.0, 0.0, 1.0, 0.8413447460685429, 1.0833154705876864),
];

#[test]
fn known_values() {
    for (alg, alpha, beta, s, value, slope) in KNOWN {
        assert!((forward(alg, alpha, beta, s) - value).abs() < 1e-15, "{alg:?}({s})");
        assert!((backward(alg, alpha, beta, 1.0, s) - slope).abs() < 1e-15, "{alg:?}'({s})");
    }
}
