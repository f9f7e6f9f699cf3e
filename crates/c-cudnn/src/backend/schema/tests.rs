use super::*;
use std::collections::BTreeSet;

#[test]
fn every_descriptor_is_there_once_and_every_attribute_too() {
    let ids: Vec<i32> = all().map(|d| d.id).collect();
    let distinct: BTreeSet<i32> = ids.iter().copied().collect();
    assert_eq!(distinct, (0..TYPES_OF_DESCRIPTORS).collect());
    assert_eq!(ids.len(), distinct.len());
    let rows: Vec<i32> = all().flat_map(|d| d.rows).map(|r| r.id).collect();
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len());
    assert!(rows.len() == 376, "{}", rows.len());
}

#[test]
fn descriptors_hold_descriptors_and_nothing_else_does() {
    for row in all().flat_map(|d| d.rows) {
        assert_eq!(row.of != Of::Value, row.types.contains(&BackendDescriptor), "{}", row.name);
        assert!(!row.types.is_empty(), "{}", row.name);
    }
}

#[test]
fn types_have_the_numbers_of_their_places() {
    for (i, t) in TYPES.iter().enumerate() {
        assert_eq!(*t as usize, i);
        assert_eq!(Type::of(i as i32), Some(*t));
    }
    assert_eq!(Type::of(-1), None);
    assert_eq!(Type::of(33), None);
}
