use super::*;
use crate::names;
use std::fmt::Debug;

/// Every number leads back to a value with the same number, and `kind`, where there is one, has a name for it.
fn both_ways<T: Copy + PartialEq + Debug>(table: &Numbers<T>, kind: Option<&str>) {
    for &(value, number) in table.pairs() {
        let first = table.of(value);
        assert_eq!(table.value(first), Some(value), "{} {value:?}", table.name);
        assert!(table.value(number).is_some());
        if let Some(kind) = kind {
            let name = names::name(kind, number).to_string_lossy();
            assert!(!name.starts_with("unknown") || number == 4098, "{} {number}", table.name);
        }
    }
    assert_eq!(table.value(-7), None);
}

#[test]
fn numbers_and_values_belong_together() {
    both_ways(&DATA_TYPE, Some("dt"));
    both_ways(&PROP, Some("prop_kind"));
    both_ways(&CONV, Some("alg_kind"));

    both_ways(&ELTWISE, Some("alg_kind"));
    both_ways(&BINARY, Some("alg_kind"));
    both_ways(&POOL, Some("alg_kind"));
    both_ways(&LRN, Some("alg_kind"));
    both_ways(&REDUCTION, Some("alg_kind"));
    both_ways(&RESAMPLING, Some("alg_kind"));
    both_ways(&SOFTMAX, Some("alg_kind"));
    both_ways(&CELL, Some("alg_kind"));
    both_ways(&ACTIVATION, Some("alg_kind"));
    both_ways(&DIRECTION, Some("rnn_direction"));
    both_ways(&FPMATH, Some("fpmath_mode"));
    both_ways(&ACCUMULATION, Some("accumulation_mode"));
    both_ways(&SCRATCHPAD, Some("scratchpad_mode"));
    both_ways(&ROUNDING, Some("rounding_mode"));
    both_ways(&QUANT_MODE, Some("quantization_mode"));
}

#[test]
fn every_data_type_has_the_number_of_its_name() {
    for t in DataType::ALL {
        assert_eq!(names::name("dt", DATA_TYPE.of(t)).to_str(), Ok(t.name()));
    }
}

#[test]
fn flags_of_normalisations_are_bits() {
    let flags = NormFlags { use_scale: true, rms: true, ..NormFlags::default() };
    assert_eq!((norm_flags(flags), to_norm_flags(34), to_norm_flags(64)), (34, Some(flags), None));
}

#[test]
fn a_deconvolution_left_to_choose_is_direct() {
    assert_eq!((DECONV.of(ConvAlg::Auto), DECONV.value(10), DECONV.value(11)), (10, Some(ConvAlg::Direct), Some(ConvAlg::Winograd)));
}
