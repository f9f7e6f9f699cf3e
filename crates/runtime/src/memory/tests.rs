use super::*;
use crate::{Device, EngineKind, Planned, Refused};
use oxidnn_spec::{Compensation, Dims, Layout, Problem, RUNTIME, Sparse};

/// A device of memory only.
struct Plain;

impl Device for Plain {
    fn kind(&self) -> EngineKind {
        EngineKind::Cpu
    }
    fn name(&self) -> String {
        "plain".into()
    }
    fn fingerprint(&self) -> String {
        "plain".into()
    }
    fn plan(&self, _problem: &Problem, _from_row: usize) -> Result<Planned, Refused> {
        Err(Vec::new())
    }
}

fn engine() -> Engine {
    Engine::new(Plain)
}

fn tensor(dims: impl Into<Dims>, dtype: DataType, tag: &str) -> Tensor {
    Tensor::with_tag(dims, dtype, tag).unwrap()
}

#[test]
fn owned_memory_is_zeroed_and_aligned() {
    let m = Memory::new(&engine(), tensor([3, 5], DataType::F32, "ab")).unwrap();
    assert_eq!(m.data_handle(0).unwrap().addr() % ALIGNMENT, 0);
    assert_eq!(m.read_f32().unwrap(), [0.0; 15]);
    assert_eq!((m.buffers(), m.data_handle(1)), (1, None));
}

#[test]
fn values_go_through_every_type_and_layout() {
    let engine = engine();
    for dtype in DataType::ALL {
        for tag in ["abc", "cab", "aBc4b", "ABc2b4a2b", "acb"] {
            let m = Memory::new(&engine, tensor([3, 5, 2], dtype, tag)).unwrap();
            let values: Vec<f64> = (0..30).map(|i| [1.0, if dtype == DataType::Boolean { 0.0 } else { 2.0 }][i * 7 % 5 % 2]).collect();
            m.write_f64(&values).unwrap();
            assert_eq!(m.read_f64().unwrap(), values, "{dtype} {tag}");
        }
    }
}

#[test]
fn elements_lie_where_the_layout_says_and_padding_is_zero() {
    let m = Memory::new(&engine(), tensor([1, 3, 2], DataType::F32, "aBc4b")).unwrap();
    m.map_mut(0).unwrap().fill(0xff);
    m.write_with(|i| i as f64 + 1.0).unwrap();
    assert_eq!(m.read_raw::<f32>(0).unwrap(), [1.0, 3.0, 5.0, 0.0, 2.0, 4.0, 6.0, 0.0]);
    let m = Memory::new(&engine(), tensor([5], DataType::S4, "a")).unwrap();
    m.write_f64(&[1.0, -2.0, 3.0, -8.0, 7.0]).unwrap();
    assert_eq!(m.read_raw::<u8>(0).unwrap(), [0xe1, 0x83, 0x07]);
}

#[test]
fn user_slices_are_used_in_place() {
    let (engine, t) = (engine(), tensor([2, 2], DataType::S32, "ab"));
    let mut data = [1i32, 2, 3, 4, 5];
    let m = Memory::from_slice_mut(&engine, t.clone(), &mut data).unwrap();
    m.write_raw(0, &[9i32, 8]).unwrap();
    assert_eq!(m.read_f64().unwrap(), [9.0, 8.0, 3.0, 4.0]);
    assert!(m.write_raw(0, &[0i32; 5]).is_err());
    drop(m);
    assert_eq!(data, [9, 8, 3, 4, 5]);
    let m = Memory::from_slice(&engine, t.clone(), &data).unwrap();
    assert!(m.map_mut(0).is_err() && m.write_f64(&[0.0; 4]).is_err());
    let short = Memory::from_slice(&engine, t, &data[..3]).unwrap_err();
    assert_eq!(short.to_string(), "invalid memory: got a slice of 12 bytes, expected at least 16 bytes");
}

#[test]
fn what_has_no_place_in_memory_is_refused() {
    let engine = engine();
    let runtime = Tensor::plain([RUNTIME, 2], DataType::F32).unwrap();
    let scalar = Tensor::host_scalar(DataType::F32);
    for t in [Tensor::any([2, 2], DataType::F32), runtime, scalar] {
        assert!(matches!(Memory::new(&engine, t.clone()), Err(Error::InvalidArguments(_))), "{t:?}");
        assert!(matches!(Memory::from_slice(&engine, t.clone(), &[0u8; 64]), Err(Error::InvalidArguments(_))), "{t:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri ends where memory does")]
fn what_is_larger_than_memory_is_refused() {
    let huge = Tensor::plain([1i64 << 40, 1 << 10], DataType::U8).unwrap();
    assert!(matches!(Memory::new(&engine(), huge), Err(Error::OutOfMemory { .. })));
}

#[test]
fn empty_tensors_and_null_addresses_have_no_bytes() {
    let engine = engine();
    let m = Memory::new(&engine, tensor([3, 0], DataType::F32, "ab")).unwrap();
    assert!(m.map(0).unwrap().is_empty() && m.read_f32().unwrap().is_empty());
    m.write_f32(&[]).unwrap();
    // SAFETY: null is legal.
    let null = unsafe { Memory::from_raw(&engine, tensor([3], DataType::F32, "a"), &[std::ptr::null_mut()]) }.unwrap();
    assert!(null.map(0).unwrap().is_empty() && null.map_mut(0).unwrap().is_empty());
    assert!(null.read_f32().is_err() && null.write_f32(&[0.0; 3]).is_err());
    assert!(null.data_handle(0).unwrap().is_null());
}

#[test]
fn raw_addresses_can_be_exchanged() {
    let (engine, t) = (engine(), tensor([2], DataType::F32, "a"));
    let (mut a, mut b) = ([1f32, 2.0], [3f32, 4.0]);
    // SAFETY: the arrays outlive the memory object, which nobody else uses.
    let mut m = unsafe { Memory::from_raw(&engine, t.clone(), &[a.as_mut_ptr().cast()]) }.unwrap();
    assert_eq!(m.read_f32().unwrap(), [1.0, 2.0]);
    // SAFETY: as above.
    unsafe { m.set_data_handle(0, b.as_mut_ptr().cast()) }.unwrap();
    assert_eq!(m.read_f32().unwrap(), [3.0, 4.0]);
    // SAFETY: refused.
    assert!(unsafe { m.set_data_handle(1, b.as_mut_ptr().cast()) }.is_err());
    // SAFETY: refused.
    assert!(unsafe { Memory::from_raw(&engine, t, &[]) }.is_err());
    // Whoever has the addresses may write there.
    assert!(m.lasting().is_err());
}

#[test]
fn sparse_tensors_have_several_buffers() {
    let layout = Layout { dims: Dims::from([3, 4]), format: Format::Sparse(Sparse::Csr { nnz: 5 }) };
    let m = Memory::new(&engine(), Tensor { dtype: DataType::F32, layout }).unwrap();
    let bytes: Vec<usize> = (0..3).map(|i| m.map(i).unwrap().len()).collect();
    assert_eq!(bytes, [20, 20, 16]);
    m.write_raw(2, &[0i32, 2, 4, 5]).unwrap();
    m.write_f64(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!(m.read_f64().unwrap().len(), 5);
    assert!(m.map(3).is_err() && m.view(tensor([5], DataType::F32, "a")).is_err());
}

#[test]
fn host_scalars_need_no_engine() {
    let m = Memory::host_scalar(-7i64).unwrap();
    assert!(m.engine().is_none());
    assert_eq!((m.tensor(), m.read_f64().unwrap()), (&Tensor::host_scalar(DataType::S64), vec![-7.0]));
}

#[test]
fn mappings_exclude_each_other_and_views_count_together() {
    let m = Memory::new(&engine(), tensor([4, 2], DataType::F32, "ab")).unwrap();
    let view = m.view(tensor([8], DataType::F32, "a")).unwrap();
    {
        let (_a, _b) = (m.map(0).unwrap(), view.map(0).unwrap());
        let refused = m.map_mut(0).unwrap_err().to_string();
        assert_eq!(refused, "invalid map: got memory that is being read, expected memory that no execution or mapping uses");
    }
    let w = view.map_mut(0).unwrap();
    assert!(m.map(0).is_err() && m.map_mut(0).is_err());
    w.unmap().unwrap();
    assert!(m.map_mut(0).is_ok());
    assert!(m.view(tensor([9], DataType::F32, "a")).is_err());
}

#[test]
fn padding_becomes_zero_and_nothing_else() {
    for (dtype, dims, tag) in
        [(DataType::F32, [2, 5, 3], "aBc4b"), (DataType::U8, [5, 3, 2], "ABc4a2b2a"), (DataType::S4, [3, 5, 2], "aBc4b")]
    {
        let m = Memory::new(&engine(), Tensor::with_tag(dims, dtype, tag).unwrap()).unwrap();
        m.map_mut(0).unwrap().fill(0x11);
        let before = m.read_f64().unwrap();
        m.zero_padding().unwrap();
        assert_eq!(m.read_f64().unwrap(), before, "{tag}");
        let elements: i64 = dims.iter().product();
        let kept: u32 = m.map(0).unwrap().iter().map(|b| b.count_ones()).sum();
        assert_eq!(i64::from(kept), elements * 2 * dtype.bits() as i64 / 8, "{tag}");
    }
}

#[test]
fn elements_apart_are_mapped_within_bounds() {
    let [from, to] = [0; 2].map(|_| Allocation::host(22).unwrap());
    let (from, to) = (from.buf(), to.buf());
    (0..22).for_each(|i| from.set::<u8>(i, i as u8));
    to.map_at::<[u8; 2]>(&from, [4, 10], 3, |[x, y]| [y, x]);
    let mapped: Vec<u8> = (0..12).map(|i| to.get(i)).collect();
    assert_eq!(mapped, [1, 0, 0, 0, 11, 10, 0, 0, 21, 20, 0, 0]);
    to.map_at::<u8>(&from, [usize::MAX; 2], 0, |x| x);
    for (steps, count) in [([4, 10], 4), ([11, 1], 3), ([usize::MAX, 1], 3)] {
        let map = || to.map_at::<[u8; 2]>(&from, steps, count, |x| x);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(map)).unwrap_err();
    }
}

#[test]
fn lasting_memory_is_looked_at_once_and_only_read() {
    let engine = engine();
    let memory = Memory::new(&engine, tensor([2000], DataType::U8, "a")).unwrap();
    memory.map_mut(0).unwrap()[1700] = 1;
    let early = memory.view(tensor([2000], DataType::U8, "a")).unwrap();
    let memory = memory.lasting().unwrap();
    let view = memory.view_at(100, tensor([1800], DataType::U8, "a")).unwrap();
    let looked = std::cell::Cell::new(0);
    let zeros = |bytes: crate::Buf<'_>| {
        looked.set(looked.get() + bytes.len());
        bytes.cells().iter().all(|b| b.get() == 0)
    };
    let ask = |view: &Memory<'_>, from: usize, len: usize| {
        looked.set(0);
        let holds = view.notes().unwrap().all(view.regions()[0].bytes().unwrap().part(from, len), zeros);
        (holds, looked.get())
    };
    // Bytes 100 to 1600 of the memory: two whole blocks between 412 bytes and 64.
    assert_eq!(ask(&view, 0, 1500), (true, 1500));
    assert_eq!(ask(&view, 0, 1500), (true, 412 + 64));
    assert_eq!(ask(&memory, 512, 1024), (true, 0));
    assert_eq!(ask(&memory, 0, 512), (true, 512));
    assert_eq!(ask(&memory, 600, 30), (true, 30));
    // What is not zero lies after the last whole block.
    assert_eq!(ask(&memory, 512, 1488), (false, 464));
    assert!([&memory, &view, &early].iter().all(|m| m.map_mut(0).is_err() && m.map(0).is_ok()));
    let other = Memory::new(&engine, tensor([2000], DataType::U8, "a")).unwrap();
    let elsewhere = other.regions()[0].bytes().unwrap();
    looked.set(0);
    assert!(memory.notes().unwrap().all(elsewhere, zeros) && memory.notes().unwrap().all(elsewhere, zeros));
    assert_eq!(looked.get(), 4000);
}

#[test]
fn elements_are_written_with_the_sums_that_their_layout_has() {
    let mut weights = tensor([3, 5], DataType::S8, "BA4b2a");
    weights.layout.blocking_mut().unwrap().compensation =
        Some(Compensation { s8s8_mask: None, zero_point_mask: Some(0b10), scale_adjust: None });
    let m = Memory::new(&engine(), weights).unwrap();
    let values: Vec<i8> = (1..=15).collect();
    for write in 0..2 {
        if write == 0 {
            m.write(&values).unwrap()
        } else {
            m.write_f32(&values.iter().map(|v| f32::from(*v)).collect::<Vec<_>>()).unwrap()
        }
        let sums = &m.read_raw::<i32>(0).unwrap()[m.tensor().compensation_at().unwrap() / 4..];
        // Columns 1 + 6 + 11 and so on, and those of padding.
        assert_eq!(sums, [-18, -21, -24, -27, -30, 0, 0, 0]);
    }
}
