//! Typed access to memory: elements in logical row-major order for any layout and data type, and raw elements in memory order.

use super::Memory;
use crate::{Element, Engine};
use half::{bf16, f16};
use oxidnn_expr::number;
use oxidnn_spec::{DataType, Dims, Error, Format, Tensor};

/// Rust types that are a data type.
pub trait Native: Element {
    /// The data type.
    const DTYPE: DataType;
}

macro_rules! native {
    ($($t:ty = $d:ident),*) => { $(impl Native for $t { const DTYPE: DataType = DataType::$d; })* };
}
native!(f32 = F32, f64 = F64, f16 = F16, bf16 = Bf16, i32 = S32, i64 = S64, i8 = S8, u8 = U8);

/// The bits of element `index` of `data`; 4-bit types have the element with the even index in the low nibble.
fn load(dtype: DataType, data: &[u8], index: usize) -> u64 {
    let mut bits = [0; 8];
    match dtype.bits() {
        4 => return u64::from(data[index / 2] >> (index % 2 * 4) & 15),
        w => bits[..w / 8].copy_from_slice(&data[index * w / 8..][..w / 8]),
    }
    u64::from_le_bytes(bits)
}

fn store(dtype: DataType, data: &mut [u8], index: usize, bits: u64) {
    match dtype.bits() {
        4 => {
            let (byte, shift) = (&mut data[index / 2], index % 2 * 4);
            *byte = *byte & !(15 << shift) | ((bits & 15) as u8) << shift;
        }
        w => data[index * w / 8..][..w / 8].copy_from_slice(&bits.to_le_bytes()[..w / 8]),
    }
}

/// Number of logical elements; of a sparse tensor its stored values.
fn elements(tensor: &Tensor) -> Result<usize, Error> {
    let n = match &tensor.layout.format {
        Format::Blocked(_) => tensor.layout.elements(),
        Format::HostScalar => Some(1),
        Format::Sparse(s) => Some(s.nnz()),
        Format::Any | Format::Packed(_) => {
            return Err(Error::invalid("layout", "an opaque layout", "one whose elements have known places"));
        }
    };
    n.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| Error::invalid("dims", tensor.dims(), "given sizes"))
}

/// Calls `f(logical index, physical index)` for every element, logical row-major order.
fn for_each_element(tensor: &Tensor, mut f: impl FnMut(usize, usize)) -> Result<(), Error> {
    let n = elements(tensor)?;
    let (Some(b), false) = (tensor.blocking(), tensor.dims().is_empty()) else {
        (0..n).for_each(|i| f(i, i));
        return Ok(());
    };
    let (dims, last) = (tensor.dims(), tensor.dims().len() - 1);
    let mut pos = Dims::filled(dims.len(), 0);
    let mut logical = 0;
    while logical < n {
        if b.is_plain() {
            let base = b.offset_of(&pos);
            for i in 0..dims[last] {
                f(logical + i as usize, (base + i * b.strides[last]) as usize);
            }
        } else {
            for i in 0..dims[last] {
                pos[last] = i;
                f(logical + i as usize, b.offset_of(&pos) as usize);
            }
            pos[last] = 0;
        }
        logical += dims[last] as usize;
        for d in (0..last).rev() {
            pos[d] += 1;
            if pos[d] < dims[d] {
                break;
            }
            pos[d] = 0;
        }
    }
    Ok(())
}

/// Writes the sums of elements after the data of a layout with [`Compensation`](oxidnn_spec::Compensation), as reorders do.
fn write_sums(tensor: &Tensor, data: &mut [u8]) -> Result<(), Error> {
    let Some((blocking, wanted)) = tensor.blocking().and_then(|b| Some((b, b.compensation?))) else { return Ok(()) };
    let (dims, padded) = (tensor.dims(), &blocking.padded_dims);
    let mut start = tensor.compensation_at().unwrap_or(data.len());
    for (mask, factor) in [(wanted.s8s8_mask, -128.0), (wanted.zero_point_mask, -1.0)] {
        let Some(mask) = mask else { continue };
        let has = |d: &usize| mask >> d & 1 == 1;
        let mut sums = vec![0.0; (0..dims.len()).filter(has).map(|d| padded[d].max(0) as usize).product()];
        for_each_element(tensor, |i, at| {
            let (mut rest, mut index, mut stride) = (i, 0, 1);
            for d in (0..dims.len()).rev() {
                let size = dims[d] as usize;
                if has(&d) {
                    index += rest % size * stride;
                    stride *= padded[d] as usize;
                }
                rest /= size;
            }
            sums[index] += factor * number::decode(tensor.dtype, load(tensor.dtype, data, at));
        })?;
        for sum in sums {
            let place = data
                .get_mut(start..start + size_of::<i32>())
                .ok_or_else(|| Error::invalid("memory", "no room for sums", "as many bytes as the tensor"))?;
            place.copy_from_slice(&(sum as i32).to_le_bytes());
            start += size_of::<i32>();
        }
    }
    Ok(())
}

impl Memory<'static> {
    /// Owned memory for a plain tensor of `dims` (row-major, contiguous) with the elements `values`, of their own type.
    ///
    /// ```
    /// # use oxidnn_runtime::{Engine, Memory};
    /// # fn example(engine: &Engine) -> Result<(), oxidnn_spec::Error> {
    /// let table = Memory::from_vec(engine, [2, 3], vec![1i64 << 60, 2, 3, 4, 5, 6])?;
    /// assert_eq!(table.read::<i64>()?[0], 1 << 60);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when `values` are not as many as the elements; [`Error::OutOfMemory`].
    pub fn from_vec<T: Native>(engine: &Engine, dims: impl Into<Dims>, values: Vec<T>) -> Result<Memory<'static>, Error> {
        let memory = Memory::new(engine, Tensor::plain(dims, T::DTYPE)?)?;
        memory.write(&values)?;
        Ok(memory)
    }
}

impl Memory<'_> {
    /// Every element exactly, logical row-major order, of a tensor whose data type is `T`'s.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for another data type, opaque layouts, null addresses, and while the memory is being written.
    pub fn read<T: Native>(&self) -> Result<Vec<T>, Error> {
        self.typed::<T>()?;
        let mut out = vec![T::zeroed(); elements(&self.tensor)?];
        let data = self.map(0)?;
        self.mapped(data.len())?;
        let size = size_of::<T>();
        for_each_element(&self.tensor, |i, at| out[i] = bytemuck::pod_read_unaligned(&data[at * size..][..size]))?;
        Ok(out)
    }

    /// Writes every element exactly, logical row-major order, of a tensor whose data type is `T`'s; padding becomes zero.
    ///
    /// # Errors
    /// As [`Memory::read`]; for another number of values than of elements, for read-only memory, and while the memory is in use.
    pub fn write<T: Native>(&self, values: &[T]) -> Result<(), Error> {
        self.typed::<T>()?;
        self.as_many(values.len())?;
        let mut data = self.map_mut(0)?;
        self.mapped(data.len())?;
        if self.tensor.blocking().is_some_and(|b| b.padded_dims != *self.tensor.dims()) {
            data.fill(0);
        }
        let size = size_of::<T>();
        for_each_element(&self.tensor, |i, at| data[at * size..][..size].copy_from_slice(bytemuck::bytes_of(&values[i])))?;
        write_sums(&self.tensor, &mut data)?;
        data.unmap()
    }

    fn typed<T: Native>(&self) -> Result<(), Error> {
        let own = self.tensor.dtype;
        let expected = || format!("{own}, the tensor's type; `read_f32` and `write_f32` convert");
        if own == T::DTYPE { Ok(()) } else { Err(Error::invalid("element type", T::DTYPE, expected())) }
    }

    /// Every element, logical row-major order (of a sparse tensor its stored values).
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for opaque layouts, null addresses, and while the memory is being written.
    pub fn read_f64(&self) -> Result<Vec<f64>, Error> {
        let mut out = vec![0.0; elements(&self.tensor)?];
        self.each(|i, v| out[i] = v)?;
        Ok(out)
    }

    /// Calls `take(logical row-major index, value)` for every element.
    fn each(&self, mut take: impl FnMut(usize, f64)) -> Result<(), Error> {
        let (data, dtype) = (self.map(0)?, self.tensor.dtype);
        self.mapped(data.len())?;
        for_each_element(&self.tensor, |i, at| take(i, number::decode(dtype, load(dtype, &data, at))))
    }

    /// As [`Memory::read_f64`], rounded to f32.
    ///
    /// # Errors
    /// As [`Memory::read_f64`].
    pub fn read_f32(&self) -> Result<Vec<f32>, Error> {
        let mut out = vec![0.0; elements(&self.tensor)?];
        self.each(|i, v| out[i] = v as f32)?;
        Ok(out)
    }

    /// Writes every element from `value(logical row-major index)`, converted to the data type; padding becomes zero.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for opaque layouts, null addresses, read-only memory, and while the memory is in use.
    pub fn write_with(&self, mut value: impl FnMut(usize) -> f64) -> Result<(), Error> {
        let (mut data, dtype) = (self.map_mut(0)?, self.tensor.dtype);
        self.mapped(data.len())?;
        if self.tensor.blocking().is_some_and(|b| b.padded_dims != *self.tensor.dims()) {
            data.fill(0);
        }
        for_each_element(&self.tensor, |i, at| store(dtype, &mut data, at, number::encode(dtype, value(i))))?;
        write_sums(&self.tensor, &mut data)?;
        data.unmap()
    }

    /// Writes every element, logical row-major order, converted to the data type; padding becomes zero.
    ///
    /// # Errors
    /// As [`Memory::write_with`], and when `values` are not as many as the elements.
    pub fn write_f64(&self, values: &[f64]) -> Result<(), Error> {
        self.as_many(values.len())?;
        self.write_with(|i| values[i])
    }

    /// As [`Memory::write_f64`].
    ///
    /// # Errors
    /// As [`Memory::write_f64`].
    pub fn write_f32(&self, values: &[f32]) -> Result<(), Error> {
        self.as_many(values.len())?;
        self.write_with(|i| f64::from(values[i]))
    }

    /// Makes the padded area zero.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for opaque layouts, null addresses, read-only memory, and while the memory is in use.
    pub fn zero_padding(&self) -> Result<(), Error> {
        let dims = *self.tensor.dims();
        let Some(b) = self.tensor.blocking().filter(|b| b.padded_dims != dims && !dims.contains(&0)) else { return Ok(()) };
        let (mut data, dtype) = (self.map_mut(0)?, self.tensor.dtype);
        self.mapped(data.len())?;
        let mut whole = self.tensor.clone();
        whole.layout.dims = b.padded_dims;
        let is_padding = |mut index: i64| {
            let mut outside = false;
            for (&size, &padded) in dims.iter().zip(b.padded_dims.iter()).rev() {
                outside |= index % padded >= size;
                index /= padded;
            }
            outside
        };
        for_each_element(&whole, |i, at| {
            if is_padding(i as i64) {
                store(dtype, &mut data, at, 0);
            }
        })?;
        data.unmap()
    }

    /// The raw contents of buffer `index`, in units of `T`; the bytes after the last whole unit are left out.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a wrong index, and while the memory is being written.
    pub fn read_raw<T: Element>(&self, index: usize) -> Result<Vec<T>, Error> {
        Ok(self.map(index)?.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
    }

    /// Overwrites the beginning of buffer `index` with the raw `values`.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a wrong index, too many values, read-only memory, and while the memory is in use.
    pub fn write_raw<T: Element>(&self, index: usize, values: &[T]) -> Result<(), Error> {
        let mut data = self.map_mut(index)?;
        let (bytes, size): (&[u8], _) = (bytemuck::cast_slice(values), data.len());
        let place = data.get_mut(..bytes.len());
        place.ok_or_else(|| Error::invalid("values", format!("{} bytes", bytes.len()), format!("at most {size}")))?.copy_from_slice(bytes);
        data.unmap()
    }

    fn as_many(&self, values: usize) -> Result<(), Error> {
        let n = elements(&self.tensor)?;
        if values == n { Ok(()) } else { Err(Error::invalid("values", values, format!("{n} for {}", self.tensor.dims()))) }
    }

    fn mapped(&self, bytes: usize) -> Result<(), Error> {
        let need = self.tensor.bytes();
        if bytes >= need { Ok(()) } else { Err(Error::invalid("memory", format!("{bytes} bytes"), format!("{need} bytes"))) }
    }
}
