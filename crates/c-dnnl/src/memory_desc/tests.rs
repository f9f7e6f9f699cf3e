use super::create::*;
use super::derive::*;
use super::query::*;
use super::*;
use crate::handle::{Array, Data, Text};
use oxidnn_c_common::names;
use proptest::prelude::*;

/// What a creator makes of its place for a handle.
fn made(create: impl FnOnce(New<'_, MemoryDesc>) -> Status) -> Result<Box<MemoryDesc>, Status> {
    let mut handle = std::ptr::null();
    match create(New::from(&mut handle)) {
        Status::Success => Ok(crate::handle::tests::take(handle)),
        status => Err(status),
    }
}

fn tag(dims: &[i64], dtype: i32, tag: &str) -> Result<Box<MemoryDesc>, Status> {
    let text = std::ffi::CString::new(tag).unwrap();
    let ndims = dims.len() as i32;
    made(|d| dnnl_memory_desc_create_with_string_tag(d, ndims, Array::of(dims), dtype, Text::at(text.as_ptr())))
}

fn strides(dims: &[i64], dtype: i32, strides: &[i64]) -> Result<Box<MemoryDesc>, Status> {
    let ndims = dims.len() as i32;
    made(|d| dnnl_memory_desc_create_with_strides(d, ndims, Array::of(dims), dtype, Array::of(strides)))
}

fn size(desc: &MemoryDesc) -> usize {
    dnnl_memory_desc_get_size(In::from(desc))
}

const F32: i32 = 3;
const S4: i32 = 11;
const RUNTIME: i64 = i64::MIN;

proptest! {
    /// A record says all of a tensor.
    #[test]
    fn tensors_survive_the_way_through_a_record(number in 2..875i32, sizes in prop::collection::vec(0..40i64, 12), dtype in 0..7usize) {
        let letters = names::tag(number).unwrap();
        let ndims = letters.bytes().map(|c| c.to_ascii_lowercase()).filter(u8::is_ascii_lowercase).max().map_or(0, |c| c - b'a' + 1);
        let dims = Dims::new(&sizes[..usize::from(ndims)]).unwrap();
        let tensor = Tensor { dtype: numbers::DATA_TYPE.pairs()[dtype].0, layout: Layout::with_tag(dims, letters).unwrap() };
        prop_assert_eq!(super::tensor(&record(&tensor), "md"), Ok(tensor));
    }

    /// Whatever clients write into a record is refused or a tensor, and never a panic.
    #[test]
    fn records_of_anything_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 768), kind in 0..7i32, ndims in 0..14i32) {
        let mut desc: MemoryDesc = bytemuck::pod_read_unaligned(&bytes);
        (desc.format_kind, desc.ndims, desc.data_type) = (kind, ndims, F32);
        let _ = super::tensor(&desc, "md");
        let _ = (size(&desc), equal(&desc, &MemoryDesc::ZERO));
    }
}

#[test]
fn formats_that_are_not_blocked_survive_too() {
    let packed = Packed { name: "rows", bytes: 640, params: Dims::from([3, 4]) };
    for tensor in [
        Tensor::any([2, 3], DataType::S8),
        Tensor::host_scalar(DataType::F16),
        Tensor::csr([4, 5], DataType::F32, 3).unwrap(),
        Tensor::coo([4, 5], DataType::F32, 3).unwrap(),
        Tensor::packed_sparse([4, 5], DataType::F32, 3).unwrap(),
        Tensor::opaque([2, 3], DataType::F32, packed),
    ] {
        assert_eq!(super::tensor(&record(&tensor), "md"), Ok(tensor));
    }
}

#[test]
fn compensation_is_flags_and_masks() {
    let mut tensor = Tensor::with_tag([32, 3], DataType::S8, "Ab16a").unwrap();
    let sums = Compensation { s8s8_mask: Some(1), zero_point_mask: Some(1), scale_adjust: Some(Real::new(0.5)) };
    tensor.layout.blocking_mut().unwrap().compensation = Some(sums);
    let desc = record(&tensor);
    assert_eq!((desc.extra.flags, desc.extra.compensation_mask, desc.extra.asymm_compensation_mask), (11, 1, 1));
    assert_eq!(super::tensor(&desc, "md"), Ok(tensor));
    assert_eq!(size(&desc), 96 + 2 * 32 * 4);
}

#[test]
fn nothing_has_no_dimensions() {
    for desc in [tag(&[], F32, "abc"), tag(&[2, 3], F32, "undef"), strides(&[], F32, &[])] {
        assert_eq!(desc.map(|d| *d), Ok(MemoryDesc::ZERO));
    }
    assert_eq!((size(&MemoryDesc::ZERO), GLOB_ZERO_MD.ndims), (0, 0));
    let zero = In::from(&MemoryDesc::ZERO);
    assert_eq!((dnnl_memory_desc_equal(zero, zero), dnnl_memory_desc_equal(zero, In::from(None))), (1, 0));
}

#[test]
fn requests_that_are_none_are_refused() {
    for wrong in
        [tag(&[2, 3], 0, "ab"), tag(&[2, 3], 8, "ab"), tag(&[2, 3], F32, "abc"), tag(&[-1, 3], F32, "ab"), tag(&[0; 13], F32, "ab")]
    {
        assert_eq!(wrong, Err(Status::InvalidArguments));
    }
    assert_eq!(strides(&[4, 3], F32, &[2, 1]), Err(Status::InvalidArguments));
    assert_eq!(tag(&[32, 3], S4, "ab"), Err(Status::InvalidArguments));
    assert_eq!(tag(&[RUNTIME, 3], F32, "any"), Err(Status::InvalidArguments));
    assert!(tag(&[RUNTIME, 3], F32, "ab").is_ok_and(|d| size(&d) == 1 << 63));
}

#[test]
fn sizes_count_gaps_but_not_what_is_before() {
    assert_eq!(size(&strides(&[2, 3], F32, &[8, 1]).unwrap()), 2 * 8 * 4);
    assert_eq!(size(&tag(&[17, 1], 12, "BA8b8a").unwrap()), 96);
    let whole = tag(&[4, 32], F32, "aB16b").unwrap();
    let part = made(|d| dnnl_memory_desc_create_submemory(d, In::from(&*whole), Array::of(&[4, 16]), Array::of(&[0, 16]))).unwrap();
    assert_eq!((part.offset0, size(&part)), (16, 4 * 32 * 4));
    assert_eq!(size(&tag(&[0, 3], F32, "ab").unwrap()), 0);
}

#[test]
fn parts_are_whole_blocks_inside() {
    let whole = tag(&[4, 32], F32, "aB16b").unwrap();
    let part = |sizes: [i64; 2], offsets: [i64; 2]| {
        made(|d| dnnl_memory_desc_create_submemory(d, In::from(&*whole), Array::of(&sizes), Array::of(&offsets))).map(|d| d.dims[1])
    };
    assert_eq!(part([4, 16], [0, 17]), Err(Status::InvalidArguments));
    assert_eq!(part([4, 8], [0, 8]), Err(Status::Unimplemented));
    assert_eq!(part([4, 8], [0, 16]), Ok(8));
    let any = tag(&[4, 32], F32, "any").unwrap();
    let of_any = made(|d| dnnl_memory_desc_create_submemory(d, In::from(&*any), Array::of(&[1, 1]), Array::of(&[0, 0])));
    assert_eq!(of_any, Err(Status::Unimplemented));
}

#[test]
fn reshapes_keep_blocks_and_padding_where_they_are() {
    let reshape =
        |from: &MemoryDesc, dims: &[i64]| made(|d| dnnl_memory_desc_reshape(d, In::from(from), dims.len() as i32, Array::of(dims)));
    let padded = tag(&[17, 1], F32, "BA8b8a").unwrap();
    let wider = reshape(&padded, &[17, 1, 1]).unwrap();
    assert_eq!((&wider.padded_dims[..3], &wider.blocked().inner_idxs[..2]), (&[24, 1, 8][..], &[2, 0][..]));
    let merged = reshape(&tag(&[2, 3, 4], F32, "abc").unwrap(), &[6, 4]).unwrap();
    assert!(equal(&merged, &tag(&[6, 4], F32, "ab").unwrap()));
    assert_eq!(reshape(&tag(&[2, 3, 4], F32, "acb").unwrap(), &[6, 4]), Err(Status::InvalidArguments));
    assert_eq!(reshape(&tag(&[0, 16, 2], F32, "abc").unwrap(), &[0, 2]), Err(Status::InvalidArguments));
}

#[test]
fn axes_change_their_places() {
    let permute = |from: &MemoryDesc, to: [i32; 2]| made(|d| dnnl_memory_desc_permute_axes(d, In::from(from), Array::of(&to)));
    let desc = tag(&[2, 3], F32, "ab").unwrap();
    assert!(permute(&desc, [1, 0]).is_ok_and(|d| equal(&d, &tag(&[3, 2], F32, "ba").unwrap())));
    for wrong in [[0, 0], [0, 2], [-1, 0]] {
        assert_eq!(permute(&desc, wrong), Err(Status::InvalidArguments));
    }
    assert_eq!(permute(&tag(&[RUNTIME, 3], F32, "ab").unwrap(), [1, 0]), Err(Status::InvalidArguments));
}

#[test]
fn queries_answer_by_the_format() {
    let ask = |desc: &MemoryDesc, query: i32| {
        let mut answer = 0i64;
        (dnnl_memory_desc_query(In::from(desc), query, Data::of(&mut answer)), answer)
    };
    let desc = tag(&[2, 17], F32, "aB16b").unwrap();
    assert_eq!((ask(&desc, 256), ask(&desc, 258), ask(&desc, 263)), ((Status::Success, 2), (Status::Success, 3), (Status::Success, 1)));
    assert_eq!(ask(&desc, 260), (Status::Success, (&raw const desc.padded_dims).addr() as i64));
    assert_eq!((ask(&desc, 266).0, ask(&desc, 999).0), (Status::Unimplemented, Status::Unimplemented));
    assert_eq!(ask(&tag(&[2, 17], F32, "any").unwrap(), 14).0, Status::InvalidArguments);
}

#[test]
fn each_buffer_of_a_sparse_tensor_has_a_size_and_a_type() {
    let csr = |ndims, indices| made(|d| dnnl_memory_desc_create_with_csr_encoding(d, ndims, Array::of(&[4, 5, 6]), F32, 3, indices, 4));
    let desc = csr(2, 4).unwrap();
    assert_eq!([0, 1, 2, 3].map(|i| dnnl_memory_desc_get_size_v2(In::from(&*desc), i)), [12, 12, 20, 0]);
    let kind = |index| {
        let mut answer = 0;
        (dnnl_memory_desc_query_v2(In::from(&*desc), 258, index, Data::of(&mut answer)), answer)
    };
    assert_eq!((kind(0), kind(2), kind(3).0), ((Status::Success, 3), (Status::Success, 4), Status::InvalidArguments));
    assert_eq!(csr(3, 4), Err(Status::Unimplemented));
    let wide = csr(2, 16).unwrap();
    assert_eq!(dnnl_memory_desc_get_size_v2(In::from(&*wide), 1), 24);
    assert_eq!(In::from(&*wide).tensor("md").map_err(|f| f.status), Err(Status::Unimplemented));
}

#[test]
fn blobs_are_records() {
    let desc = tag(&[2, 3], F32, "ab").unwrap();
    let (mut bytes, mut length) = ([0u8; 768], 0);
    assert_eq!(dnnl_memory_desc_get_blob(crate::handle::ArrayMut::null(), (&mut length).into(), In::from(&*desc)), Status::Success);
    assert_eq!(length, 768);
    assert_eq!(dnnl_memory_desc_get_blob(crate::handle::ArrayMut::of(&mut bytes), (&mut length).into(), In::from(&*desc)), Status::Success);
    assert_eq!(made(|d| dnnl_memory_desc_create_with_blob(d, Array::of(&bytes))), Ok(desc));
}
