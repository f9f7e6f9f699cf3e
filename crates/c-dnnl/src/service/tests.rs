use super::*;

#[test]
fn the_version_is_the_interfaces() {
    let v = dnnl_version();
    assert_eq!((v.major, v.minor, v.patch, v.cpu_runtime, v.gpu_runtime), (3, 13, 2, 2, 0));
    assert!(v.hash.starts_with(b"oxidnn-") && v.hash.ends_with(&[0]));
}

#[test]
fn settings_are_checked_and_kept() {
    let mut mode = -1;
    assert_eq!(dnnl_set_default_fpmath_mode(5), Status::InvalidArguments);
    assert_eq!(dnnl_set_default_fpmath_mode(0), Status::Success);
    assert_eq!((dnnl_get_default_fpmath_mode(Out::from(&mut mode)), mode), (Status::Success, 0));
    assert_eq!([-1, 3].map(|n| dnnl_set_verbose(n)), [Status::InvalidArguments; 2]);
    assert_eq!(dnnl_set_primitive_cache_capacity(-1), Status::InvalidArguments);
    assert_eq!([0, 15, 16].map(|n| dnnl_set_jit_profiling_flags(n)), [Status::Success, Status::Success, Status::InvalidArguments]);
    assert_eq!((dnnl_set_jit_dump(0), dnnl_set_jit_profiling_jitdumpdir(Data::NULL)), (Status::Success, Status::Success));
}
