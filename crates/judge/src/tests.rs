use super::*;

const WIDE: Bound = Bound { relative: 0.5, absolute: 1e30 };

#[test]
fn an_infinity_equals_itself_only() {
    for bound in [Bound::EXACT, WIDE, Bound { relative: f64::INFINITY, absolute: f64::INFINITY }] {
        for want in [f64::INFINITY, f64::NEG_INFINITY] {
            assert!(bound.accepts(want, want));
            for got in [0.0, 1.0, -1.0, f64::from(f32::MAX), f64::MAX, -want, f64::NAN] {
                assert!(!bound.accepts(got, want), "{got} for {want} within {bound:?}");
                assert!(!bound.accepts(want, got), "{want} for {got} within {bound:?}");
            }
        }
        assert!(bound.accepts(f64::NAN, f64::NAN));
        assert!(!bound.accepts(f64::NAN, 0.0) && !bound.accepts(0.0, f64::NAN));
    }
    assert!(!Bound::near(1e9).accepts(0.0, f64::INFINITY) && !Bound::near(1e9).accepts(f64::NAN, 0.0));
}

#[test]
fn bounds_are_met_and_not_exceeded() {
    let bound = Bound { relative: 0.25, absolute: 1.0 };
    for want in [8.0, -8.0] {
        assert!(bound.accepts(want + 3.0, want) && bound.accepts(want - 3.0, want));
        assert!(!bound.accepts(want + 3.01, want) && !bound.accepts(want - 3.01, want));
    }
    assert!(Bound::EXACT.accepts(0.0, -0.0) && !Bound::EXACT.accepts(1.0, 1.0 + f64::EPSILON));
    assert!(Bound::near(0.1).accepts(0.1, 0.0) && !Bound::near(0.1).accepts(0.11, 0.0));
    assert!(Bound::near(0.1).accepts(11.1, 10.0) && !Bound::near(0.1).accepts(11.11, 10.0));
}

#[test]
fn a_list_that_is_longer_or_shorter_differs() {
    for (got, want) in [(&[1.0][..], &[1.0, 2.0][..]), (&[1.0, 2.0], &[1.0]), (&[], &[1.0])] {
        let d = differ(got, want, WIDE);
        assert_eq!(d, Some(Difference::Length { got: got.len(), want: want.len() }));
    }
    assert_eq!(differ(&[], &[], Bound::EXACT), None);
}

#[test]
fn the_worst_element_is_named_and_all_are_counted() {
    let d = differ(&[1.0, 2.5, 3.0, 9.0], &[1.0, 2.0, 3.0, 4.0], Bound::EXACT);
    let worst = Worst { of: 4, wrong: 2, index: 3, got: 9.0, want: 4.0, allowed: 0.0 };
    assert_eq!(d, Some(Difference::Elements(worst)));
    let nan = differ(&[1e30, f64::NAN, 1e30], &[0.0, 0.0, 0.0], Bound::EXACT);
    assert!(matches!(nan, Some(Difference::Elements(Worst { index: 1, wrong: 3, .. }))), "{nan:?}");
}

#[test]
fn units_in_the_last_place() {
    assert_eq!(ulps(1.0, 1.0), 0.0);
    assert_eq!(ulps(1.0 + f32::EPSILON, 1.0), 1.0);
    assert_eq!(ulps(f32::from_bits(3), f64::from(f32::from_bits(1))), 2.0);
    assert_eq!(ulps(f32::INFINITY, f64::INFINITY), 0.0);
    assert_eq!(ulps(f32::NAN, f64::NAN), 0.0);
    assert_eq!(ulps(f32::MAX, 2f64.powi(128)), 1.0, "one below overflow");
    assert_eq!(ulps(f32::INFINITY, f64::from(f32::MAX)), 1.0, "one beyond the largest");
    assert!(ulps(f32::NEG_INFINITY, 3e38) > 1e6 && ulps(f32::INFINITY, 3e38) > 1e6);
    for (got, want) in [
        (0.0, f64::INFINITY),
        (f32::MAX, f64::INFINITY),
        (f32::INFINITY, 1.0),
        (f32::NEG_INFINITY, f64::INFINITY),
        (f32::NAN, 0.0),
        (0.0, f64::NAN),
        (f32::MAX, 1e200),
    ] {
        assert_eq!(ulps(got, want), f64::INFINITY, "{got} for {want}");
    }
}
