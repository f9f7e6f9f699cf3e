//! Facts that hold on any processor.

use super::*;

#[test]
fn types_without_instructions_are_supported_everywhere() {
    let number = |t| DATA_TYPE.of(t);
    for dtype in [DataType::F32, DataType::S32, DataType::S8, DataType::U8] {
        assert!(has_data_type_support(number(dtype)), "{dtype}");
    }
    assert!(!has_data_type_support(number(DataType::F64)) && !has_data_type_support(1000));
    assert!(has_training_support(number(DataType::F32)) && !has_training_support(number(DataType::S8)));
}

#[test]
fn caches_are_shared() {
    assert_eq!((sharers("0-3,8"), sharers("5"), sharers("")), (5, 1, 0));
    assert_eq!((per_core_cache_size(0), per_core_cache_size(-1), per_core_cache_size(9)), (0, 0, 0));
    assert!(num_cores() > 0);
}
