use super::*;
use crate::engine::{dnnl_engine_create, dnnl_engine_get_count};
use oxidnn_c_common::numbers;

#[test]
fn engines_of_the_processor_have_no_cuda_objects() {
    let (engine, mut address) = (Engine::cpu(), std::ptr::null_mut::<u8>());
    assert_eq!(oxidnn_engine_get_cuda_context((&*engine).into(), (&mut address).into()), Status::InvalidArguments);
    let stream = Stream::new(engine.clone(), runtime::Threads::inline()).unwrap();
    assert_eq!(oxidnn_stream_get_cuda_stream((&stream).into(), (&mut address).into()), Status::InvalidArguments);
    assert!(address.is_null());
    let (mut stream, mut over) = (std::ptr::null(), std::ptr::null());
    assert_eq!(oxidnn_stream_create_cuda(New::from(&mut stream), (&*engine).into(), Data::NULL), Status::InvalidArguments);
    assert_eq!(oxidnn_engine_create_cuda(New::from(&mut over), Data::NULL), Status::InvalidArguments);
    assert!(stream.is_null() && over.is_null());
}

#[test]
fn there_is_no_engine_behind_the_last_gpu() {
    let (count, mut handle) = (dnnl_engine_get_count(numbers::GPU), std::ptr::null());
    assert_eq!(dnnl_engine_create(New::from(&mut handle), numbers::GPU, count), Status::InvalidArguments);
    assert!(handle.is_null());
}
