use super::*;
use crate::handle::tests::take;

#[test]
fn without_a_pool_a_stream_computes_on_the_calling_thread() {
    let (engine, mut handle) = (Engine::cpu(), std::ptr::null());
    let status = dnnl_threadpool_interop_stream_create(New::from(&mut handle), In::from(&*engine), Data::NULL);
    assert_eq!(status, Status::Success);
    let stream = take(handle);
    let mut pool = std::ptr::dangling_mut();
    assert_eq!(dnnl_threadpool_interop_stream_get_threadpool(In::from(&*stream), Out::from(&mut pool)), Status::Success);
    assert_eq!((pool.is_null(), stream.runtime().executor().threads()), (true, 1));
}

#[test]
fn concurrency_is_a_matter_of_the_thread() {
    let get = || {
        let mut max = 0;
        assert_eq!(dnnl_threadpool_interop_get_max_concurrency(Out::from(&mut max)), Status::Success);
        max
    };
    let before = get();
    assert_eq!(dnnl_threadpool_interop_set_max_concurrency(7), Status::Success);
    assert_eq!((get(), std::thread::spawn(get).join().unwrap()), (7, before));
    assert_eq!(dnnl_threadpool_interop_set_max_concurrency(0), Status::InvalidArguments);
}
