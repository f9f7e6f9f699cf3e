use super::*;

#[test]
fn flags_but_profiling_are_all_the_same() {
    let engine = Engine::cpu();
    let create = |flags| dnnl_stream_create(New::from(&mut std::ptr::null()), In::from(&*engine), flags);
    assert_eq!([0, 1, 2, 3].map(create), [Status::Success; 4]);
    let create = |flags| dnnl_stream_create(New::from(&mut std::ptr::null()), In::from(&*engine), flags);
    assert_eq!([4, 5].map(create), [Status::Unimplemented; 2]);
    assert_eq!(dnnl_stream_create(New::from(&mut std::ptr::null()), In::from(None), 1), Status::InvalidArguments);
}

#[test]
fn the_engine_is_that_of_the_stream_though_its_handle_is_gone() {
    let engine = Engine::cpu();
    let address = Arc::as_ptr(&engine);
    let stream = Stream::new(engine, threads::of_process()).unwrap();
    let mut found = std::ptr::null();
    assert_eq!(dnnl_stream_get_engine(In::from(&stream), New::from(&mut found)), Status::Success);
    assert_eq!(found, address);
    assert_eq!(dnnl_stream_wait(In::from(&stream)), Status::Success);
    assert_eq!(dnnl_reset_profiling(In::from(&stream)), Status::Unimplemented);
}
