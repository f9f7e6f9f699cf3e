use super::*;
use crate::create::norm::{
    dnnl_batch_normalization_backward_primitive_desc_create, dnnl_batch_normalization_forward_primitive_desc_create,
};
use crate::create::rnn::dnnl_lstm_forward_primitive_desc_create;
use crate::handle::{lent, made};
use crate::memory_desc::record;
use oxidnn_spec::{DataType, Dims, Tensor};

fn f32s(dims: &[i64]) -> MemoryDesc {
    record(&Tensor::plain(Dims::new(dims).unwrap(), DataType::F32).unwrap())
}

fn batch_norm(prop: i32, flags: u32) -> Box<PrimitiveDesc> {
    let (engine, x) = (crate::engine::Engine::cpu(), f32s(&[2, 8, 5, 5]));
    let none = None.into();
    made(|pd| match prop {
        64 | 96 => {
            let (src, dst) = ((&x).into(), (&x).into());
            dnnl_batch_normalization_forward_primitive_desc_create(pd, (&*engine).into(), prop, src, dst, 1e-3, flags, none)
        }
        _ => {
            let [a, b, c] = [(&x).into(), (&x).into(), (&x).into()];
            dnnl_batch_normalization_backward_primitive_desc_create(pd, (&*engine).into(), prop, a, b, c, 1e-3, flags, None.into(), none)
        }
    })
    .unwrap()
}

fn int(pd: &PrimitiveDesc, what: i32) -> (Status, i32) {
    let mut v = -7;
    (dnnl_primitive_desc_query(pd.into(), what, 0, Data::of(&mut v)), v)
}

fn dims(pd: &PrimitiveDesc, what: i32, index: i32) -> Option<Vec<i64>> {
    let pointer = dnnl_primitive_desc_query_md(pd.into(), what, index);
    (!pointer.is_null()).then(|| {
        let desc = lent(pointer, pd);
        desc.dims[..desc.ndims as usize].to_vec()
    })
}

#[test]
fn numbers_are_there_for_operations_that_have_them() {
    let pd = batch_norm(64, 6);
    assert_eq!(int(&pd, what::PRIMITIVE_KIND), (Status::Success, 9));
    assert_eq!(int(&pd, what::PROP_KIND), (Status::Success, 64));
    assert_eq!(int(&pd, what::FLAGS), (Status::Success, 6));
    assert_eq!([int(&pd, what::NUM_OF_INPUTS).1, int(&pd, what::NUM_OF_OUTPUTS).1], [3, 3]);
    let mut epsilon = 0f32;
    assert_eq!(dnnl_primitive_desc_query((&*pd).into(), what::EPSILON, 0, Data::of(&mut epsilon)), Status::Success);
    assert_eq!(epsilon, 1e-3);
    for absent in [0, 5, 7, what::STRIDES, what::ALG_KIND, what::ALPHA, what::AXIS, what::FACTORS, what::KERNEL, 128, 137, 256, 300, -1] {
        assert_eq!(int(&pd, absent), (Status::Unimplemented, -7), "{absent}");
    }
    let mut engine: *const Engine = std::ptr::null();
    assert_eq!(dnnl_primitive_desc_query((&*pd).into(), what::ENGINE, 0, Data::of(&mut engine)), Status::Success);
    assert_eq!(engine, std::sync::Arc::as_ptr(pd.engine()));
    assert_eq!(dnnl_primitive_desc_query_s32((&*pd).into(), what::NUM_OF_INPUTS, 0), 3);
    assert_eq!(dnnl_primitive_desc_query_s32(None.into(), what::NUM_OF_INPUTS, 0), 0);
}

#[test]
fn statistics_are_sources_or_destinations_by_the_pass() {
    let training = batch_norm(64, 6 | 8);
    assert_eq!(dims(&training, what::DST_MD, 2), Some(vec![8]));
    assert_eq!(dims(&training, what::SRC_MD, 1), Some(vec![]));
    assert_eq!(dims(&training, what::WEIGHTS_MD, 1), Some(vec![8]));
    assert_eq!(dims(&training, what::WORKSPACE_MD, 0), Some(vec![50]));
    assert_eq!(dims(&training, what::WORKSPACE_MD, 1), None);
    assert_eq!(dims(&training, what::PROP_KIND, 0), None);
    let inference = batch_norm(96, 3);
    assert_eq!(dims(&inference, what::SRC_MD, 2), Some(vec![8]));
    assert_eq!(dims(&inference, what::EXEC_ARG_MD, Arg::MEAN.0), Some(vec![8]));
    assert_eq!(dims(&inference, what::EXEC_ARG_MD, 77), Some(vec![]));
    assert_eq!(dims(&inference, what::SCRATCHPAD_MD, 0), Some(vec![]));
}

#[test]
fn the_gradient_of_the_data_alone_lists_those_of_the_parameters_too() {
    let pd = batch_norm(160, 6);
    assert_eq!(int(&pd, what::NUM_OF_OUTPUTS), (Status::Success, 3));
    assert_eq!(dims(&pd, what::DIFF_WEIGHTS_MD, 1), Some(vec![8]));
    assert_eq!(pd.runtime().num_outputs(), 1);
}

#[test]
fn absent_weights_of_a_network_take_no_index() {
    let engine = crate::engine::Engine::cpu();
    let (layer, iter, weights, peephole, bias) =
        (f32s(&[3, 2, 4]), f32s(&[1, 1, 2, 4]), f32s(&[1, 1, 4, 4, 4]), f32s(&[1, 1, 3, 4]), f32s(&[1, 1, 4, 4]));
    let lstm = |peephole: In<'_, MemoryDesc>| {
        let (x, h, w, b) = (In::from(&layer), In::from(&iter), In::from(&weights), In::from(&bias));
        made(|pd| {
            let (engine, none) = ((&*engine).into(), None.into());
            dnnl_lstm_forward_primitive_desc_create(pd, engine, 96, 1, x, h, h, w, w, peephole, none, b, x, h, h, 0, None.into())
        })
        .unwrap()
    };
    assert_eq!(dims(&lstm(None.into()), what::WEIGHTS_MD, 2), Some(vec![1, 1, 4, 4]));
    let with = lstm((&peephole).into());
    assert_eq!([2, 3].map(|i| dims(&with, what::WEIGHTS_MD, i)), [Some(vec![1, 1, 3, 4]), Some(vec![1, 1, 4, 4])]);
    assert_eq!(int(&with, what::CELL_KIND), (Status::Success, 12287));
    assert_eq!(int(&with, what::ACTIVATION_KIND), (Status::Success, 0));
}
