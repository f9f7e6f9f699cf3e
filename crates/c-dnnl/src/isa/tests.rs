use super::*;

#[test]
fn every_number_is_a_limit_and_every_name_a_number() {
    for Set { number, name, .. } in SETS {
        assert!(Limit::named(name).is_some(), "{number} {name}");
    }
    for name in knobs::CPU_ISAS {
        assert!(number(name).is_some(), "{name}");
    }
}

#[test]
fn a_limit_bounds_what_is_effective() {
    let widest = effective(0);
    for Set { number: max, .. } in SETS {
        let set = effective(max);
        assert!(set <= widest && (max == 0 || set & max == set), "{max}: {set}");
    }
    assert_eq!((effective(1), effective(3)), (0, 0));
}

/// Narrower sets are parts of wider ones for oneDNN's bits too, but for the version of AVX10 in the lowest ones.
#[test]
fn bits_of_a_set_contain_those_of_its_parts() {
    for (a, b) in SETS.iter().flat_map(|a| SETS.iter().map(move |b| (a, b))) {
        let part = a.number & b.number == a.number && a.number != 0;
        assert!(!part || a.bits & !b.bits & !0xf == 0, "{} {}", a.name, b.name);
    }
}

#[test]
fn a_choice_is_made_once_and_in_time() {
    let environment = |_: Knobs| 3;
    let choice = Choice::new();
    assert_eq!(
        (choice.value(false, environment), choice.choose(7), choice.choose(7), choice.value(true, environment)),
        (3, true, false, 7)
    );
    let late = Choice::new();
    assert_eq!((late.value(true, environment), late.choose(7), late.value(true, |_| 15)), (3, false, 3));
}

#[test]
fn numbers_and_hints_that_are_none_are_refused() {
    assert_eq!([2, -1, 9999].map(|n| dnnl_set_max_cpu_isa(n)), [Status::InvalidArguments; 3]);
    assert_eq!([2, -1].map(|n| dnnl_set_cpu_isa_hints(n)), [Status::RuntimeError; 2]);
}
