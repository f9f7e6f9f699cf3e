//! Hints reach the specification and come back; descriptors explain themselves; the cache tells what it holds.

use super::*;
use crate::engine::Engine;
use crate::primitive_desc::Decision;
use oxidnn_spec::{Problem, op::Prop};
use std::sync::Arc;

#[test]
fn hints_come_back() {
    let mut attr = Attr::default();
    let mut hint = true;
    let get = |attr: &Attr, hint: &mut bool| dnnl_primitive_attr_get_hint_reusable_kernels(In::from(attr), Out::from(hint));
    assert_eq!((get(&attr, &mut hint), hint), (Status::Success, false));
    assert_eq!(dnnl_primitive_attr_set_hint_reusable_kernels(InOut::from(&mut attr), true), Status::Success);
    assert_eq!((get(&attr, &mut hint), hint), (Status::Success, true));

    let set = |attr: &mut Attr, dim: i32, count: i32| {
        oxidnn_primitive_attr_set_dynamic_dim(InOut::from(attr), Arg::SRC.0, dim, count, Array::of(&[1, 8, 64]))
    };
    let (mut count, mut examples) = (7, std::ptr::null());
    let get = |attr: &Attr, count: &mut i32, examples: &mut *const i64| {
        oxidnn_primitive_attr_get_dynamic_dim(In::from(attr), Arg::SRC.0, 0, Out::from(count), Out::from(examples))
    };
    assert_eq!((get(&attr, &mut count, &mut examples), count), (Status::Success, -1));
    assert_eq!((set(&mut attr, 0, 3), set(&mut attr, -1, 3)), (Status::Success, Status::InvalidArguments));
    assert_eq!((get(&attr, &mut count, &mut examples), count, examples.is_null()), (Status::Success, 3, false));
    assert_eq!(attr.spec().dynamic, [DynamicDim { arg: Arg::SRC, dim: 0, examples: vec![1, 8, 64] }]);
    assert_eq!((set(&mut attr, 0, -1), attr.spec().dynamic.len()), (Status::Success, 0));
}

#[test]
fn descriptors_explain_themselves() {
    let problem: Problem = "--eltwise --alg=relu 8x16".parse().unwrap();
    assert_eq!(problem.op.prop(), Some(Prop::ForwardTraining));
    let engine = Engine::cpu();
    let decision = Decision::new(runtime::PrimitiveDesc::new(engine.runtime(), problem).unwrap());
    let desc = PrimitiveDesc::new(engine, Arc::new(decision));
    let text = desc.explanation().to_str().unwrap();
    assert!(text.starts_with("--eltwise") && text.contains(": chosen\n"), "{text}");
    let mut address = std::ptr::null::<std::ffi::c_char>();
    assert_eq!(oxidnn_primitive_desc_explain(In::from(&desc), Data::of(&mut address)), Status::Success);
    assert_eq!(address, desc.explanation().as_ptr());
}

#[test]
fn the_cache_tells_what_it_holds() {
    let mut statistics = CacheStatistics::default();
    assert_eq!(oxidnn_get_primitive_cache_statistics(Out::from(&mut statistics)), Status::Success);
    let mut bytes = 0;
    assert_eq!(oxidnn_get_primitive_cache_bytes(Out::from(&mut bytes)), Status::Success);
    assert!(bytes >= statistics.bytes as usize);
    assert_eq!(oxidnn_set_primitive_cache_bytes(bytes), Status::Success);
}
