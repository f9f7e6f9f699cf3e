use super::data::*;
use super::scalar::*;
use super::*;
use crate::handle::{InOut, Out};
use oxidnn_spec::Dims;

fn plain(dims: &[i64], dtype: DataType) -> Tensor {
    Tensor::plain(Dims::new(dims).unwrap(), dtype).unwrap()
}

fn memory(tensor: Tensor, handles: &[Data]) -> Memory {
    Memory::new(Engine::cpu(), Some(tensor), handles).unwrap()
}

fn allocate() -> Data {
    let mut wish = usize::MAX;
    Data::of(&mut wish).addresses("wish", 1).unwrap()[0]
}

fn address(memory: &Memory, index: i32) -> Option<*mut u8> {
    let mut found = std::ptr::null_mut();
    let status = dnnl_memory_get_data_handle_v2(In::from(memory), Out::from(&mut found), index);
    (status == Status::Success).then_some(found)
}

fn mapped(memory: &Memory, index: i32) -> Option<*mut u8> {
    let mut found = std::ptr::null_mut();
    let status = dnnl_memory_map_data_v2(In::from(memory), Out::from(&mut found), index);
    (status == Status::Success).then_some(found)
}

#[test]
fn handles_are_the_callers_or_the_librarys() {
    let mut data = [1f32; 6];
    let own = memory(plain(&[2, 3], DataType::F32), &[allocate()]);
    let given = memory(plain(&[2, 3], DataType::F32), &[Data::of(&mut data)]);
    let null = memory(plain(&[2, 3], DataType::F32), &[Data::NULL]);
    assert!(address(&own, 0).is_some_and(|p| !p.is_null() && p.addr() % 64 == 0));
    assert_eq!((address(&given, 0), address(&null, 0)), (Some(data.as_mut_ptr().cast()), Some(std::ptr::null_mut())));
    assert_eq!(mapped(&given, 0), address(&given, 0));
    for index in [-1, 1] {
        assert_eq!((address(&own, index), mapped(&own, index)), (None, None));
    }
}

#[test]
fn what_is_empty_maps_to_nothing() {
    let mut data = [0f32; 6];
    let empty = memory(plain(&[2, 0], DataType::F32), &[Data::of(&mut data)]);
    assert_eq!((address(&empty, 0), mapped(&empty, 0)), (Some(data.as_mut_ptr().cast()), Some(std::ptr::null_mut())));
    let nothing = Memory::new(Engine::cpu(), None, &[Data::NULL]).unwrap();
    assert_eq!((nothing.desc().ndims, mapped(&nothing, 0)), (0, Some(std::ptr::null_mut())));
}

#[test]
fn sparse_memory_has_a_handle_for_each_buffer() {
    let (mut values, mut indices) = ([0f32; 3], [0i32; 3]);
    let csr = Tensor::csr([4, 5], DataType::F32, 3).unwrap();
    let mut m = memory(csr, &[Data::of(&mut values), Data::of(&mut indices), allocate()]);
    assert_eq!((m.runtime().buffers(), address(&m, 1), address(&m, 3)), (3, Some(indices.as_mut_ptr().cast()), None));
    assert!(address(&m, 2).is_some_and(|p| !p.is_null()));
    assert_eq!(dnnl_memory_set_data_handle_v2(InOut::from(&mut m), Data::NULL, 1), Status::Success);
    assert_eq!((address(&m, 1), m.runtime().data_handle(1)), (Some(std::ptr::null_mut()), Some(std::ptr::null_mut())));
    assert_eq!(dnnl_memory_set_data_handle_v2(InOut::from(&mut m), Data::NULL, 3), Status::InvalidArguments);
}

#[test]
fn undecided_descriptions_have_no_memory() {
    for tensor in [Tensor::any([2, 3], DataType::F32), plain(&[2, oxidnn_spec::RUNTIME], DataType::F32), Tensor::host_scalar(DataType::F32)]
    {
        let failure = Memory::new(Engine::cpu(), Some(tensor), &[Data::NULL]).unwrap_err();
        assert_eq!(failure.status, Status::InvalidArguments);
    }
}

#[test]
fn a_number_on_the_host_is_copied_and_has_no_engine() {
    let desc = record(&Tensor::host_scalar(DataType::Bf16));
    let (mut value, mut handle) = (0x3f80u16, std::ptr::null());
    let bad = dnnl_memory_create_host_scalar(New::from(&mut handle), In::from(&desc), Data::NULL);
    assert_eq!((bad, handle.is_null()), (Status::InvalidArguments, true));
    let runtime = runtime::Memory::host_scalar_of(DataType::Bf16, &value.to_ne_bytes()).unwrap();
    let mut scalar = Memory { desc, engine: None, handles: Vec::new(), runtime, owned: Vec::new(), copies: Mutex::default() };
    value = 0x4000;
    let mut read = 0u16;
    assert_eq!(dnnl_memory_get_host_scalar_value(In::from(&scalar), Data::of(&mut read)), Status::Success);
    assert_eq!(read, 0x3f80);
    assert_eq!(dnnl_memory_set_host_scalar_value(InOut::from(&mut scalar), Data::of(&mut value)), Status::Success);
    assert_eq!(dnnl_memory_get_host_scalar_value(In::from(&scalar), Data::of(&mut read)), Status::Success);
    assert_eq!((read, address(&scalar, 0), mapped(&scalar, 0).is_some()), (0x4000, None, true));
    let mut engine = std::ptr::dangling();
    assert_eq!(dnnl_memory_get_engine(In::from(&scalar), New::from(&mut engine)), Status::Success);
    assert!(engine.is_null());
    let tensor = memory(plain(&[1], DataType::F32), &[Data::NULL]);
    assert_eq!(dnnl_memory_get_host_scalar_value(In::from(&tensor), Data::of(&mut read)), Status::InvalidArguments);
}

#[test]
fn allocations_have_the_size_that_the_interface_tells() {
    let strided = Tensor::with_strides([2, 3], DataType::F32, Some(Dims::from([8, 1]))).unwrap();
    let m = memory(strided, &[allocate()]);
    assert_eq!(m.owned[0].region().len(), 64);
}
