use super::*;

#[test]
fn there_is_one_cpu() {
    assert_eq!([-1, 0, 1, 3].map(|kind| dnnl_engine_get_count(kind)), [0, 0, 1, 0]);
    let mut handle = std::ptr::null();
    for (kind, index) in [(0, 0), (1, 1), (3, 0), (-1, 0)] {
        assert_eq!(dnnl_engine_create(New::from(&mut handle), kind, index), Status::InvalidArguments);
    }
    assert!(handle.is_null());
    assert_eq!(dnnl_engine_create(New::from(&mut handle), 1, 0), Status::Success);
    assert!(!handle.is_null());
}

#[test]
fn engines_differ_and_share_what_the_runtime_keeps() {
    let (a, b) = (Engine::cpu(), Engine::cpu());
    let mut kind = 0;
    assert_eq!((dnnl_engine_get_kind(In::from(&*a), Out::from(&mut kind)), kind), (Status::Success, 1));
    assert!(!Arc::ptr_eq(&a, &b) && a.runtime() == b.runtime());
    assert_eq!(dnnl_engine_get_kind(In::from(None), Out::from(&mut kind)), Status::InvalidArguments);
}
