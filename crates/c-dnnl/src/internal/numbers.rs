//! Members of oneDNN's number types: a value is the bits of one element, conversions are those of `oxidnn_expr::number`.

use crate::handle::Data;
use crate::status::{Status, guard, guard_value};
use oxidnn_expr::number::{decode, encode};
use oxidnn_spec::DataType;

#[cfg(test)]
mod tests;

/// Stores the element nearest to `value` at `to`; returns the address of the object, as assignments do.
fn assign(dtype: DataType, to: Data, value: f64) -> Data {
    let bits = encode(dtype, value).to_le_bytes();
    let _: Status = guard("operator=", || to.write("this", &bits[..dtype.bits().div_ceil(8)]));
    to
}

/// The element at `from`.
fn value(dtype: DataType, from: Data) -> f64 {
    let mut bits = [0; 8];
    guard_value("conversion", f64::NAN, || {
        from.read("this", &mut bits[..dtype.bits().div_ceil(8)])?;
        Ok(decode(dtype, u64::from_le_bytes(bits)))
    })
}

/// The value of the bits of a half.
fn half(dtype: DataType, bits: u16) -> f64 {
    decode(dtype, bits.into())
}

/// Converts one element to another type; always returns true.
fn convert([from, to]: [DataType; 2], src: Data, dst: Data) -> bool {
    assign(to, dst, value(from, src));
    true
}

/// `bfloat16_t &operator=(float)`.
#[unsafe(export_name = "_ZN4dnnl4impl10bfloat16_taSEf")]
pub extern "C" fn bfloat16_assign_f32(this: Data, value: f32) -> Data {
    assign(DataType::Bf16, this, value.into())
}

/// `operator float() const` of `bfloat16_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl10bfloat16_tcvfEv")]
pub extern "C" fn bfloat16_to_f32(this: Data) -> f32 {
    value(DataType::Bf16, this) as f32
}

/// `float8_e5m2_t &operator=(float)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float8_e5m2_taSEf")]
pub extern "C" fn float8_e5m2_assign_f32(this: Data, value: f32) -> Data {
    assign(DataType::F8E5m2, this, value.into())
}

/// `operator float() const` of `float8_e5m2_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float8_e5m2_tcvfEv")]
pub extern "C" fn float8_e5m2_to_f32(this: Data) -> f32 {
    value(DataType::F8E5m2, this) as f32
}

/// `float8_e4m3_t &operator=(float)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float8_e4m3_taSEf")]
pub extern "C" fn float8_e4m3_assign_f32(this: Data, value: f32) -> Data {
    assign(DataType::F8E4m3, this, value.into())
}

/// `operator float() const` of `float8_e4m3_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float8_e4m3_tcvfEv")]
pub extern "C" fn float8_e4m3_to_f32(this: Data) -> f32 {
    value(DataType::F8E4m3, this) as f32
}

/// `float8_e8m0_t &operator=(float)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float8_e8m0_taSEf")]
pub extern "C" fn float8_e8m0_assign_f32(this: Data, value: f32) -> Data {
    assign(DataType::E8m0, this, value.into())
}

/// `operator float() const` of `float8_e8m0_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float8_e8m0_tcvfEv")]
pub extern "C" fn float8_e8m0_to_f32(this: Data) -> f32 {
    value(DataType::E8m0, this) as f32
}

/// `float4_e2m1_t &operator=(float)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float4_e2m1_taSEf")]
pub extern "C" fn float4_e2m1_assign_f32(this: Data, value: f32) -> Data {
    assign(DataType::F4E2m1, this, value.into())
}

/// `operator float() const` of `float4_e2m1_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float4_e2m1_tcvfEv")]
pub extern "C" fn float4_e2m1_to_f32(this: Data) -> f32 {
    value(DataType::F4E2m1, this) as f32
}

/// `float8_e5m2_t &operator=(float16_t)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float8_e5m2_taSENS0_9float16_tE")]
pub extern "C" fn float8_e5m2_assign_f16(this: Data, value: u16) -> Data {
    assign(DataType::F8E5m2, this, half(DataType::F16, value))
}

/// `float8_e5m2_t &operator=(bfloat16_t)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float8_e5m2_taSENS0_10bfloat16_tE")]
pub extern "C" fn float8_e5m2_assign_bf16(this: Data, value: u16) -> Data {
    assign(DataType::F8E5m2, this, half(DataType::Bf16, value))
}

/// `operator float16_t() const` of `float8_e5m2_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float8_e5m2_tcvNS0_9float16_tEEv")]
pub extern "C" fn float8_e5m2_to_f16(this: Data) -> u16 {
    encode(DataType::F16, value(DataType::F8E5m2, this)) as u16
}

/// `operator bfloat16_t() const` of `float8_e5m2_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float8_e5m2_tcvNS0_10bfloat16_tEEv")]
pub extern "C" fn float8_e5m2_to_bf16(this: Data) -> u16 {
    encode(DataType::Bf16, value(DataType::F8E5m2, this)) as u16
}

/// `float8_e4m3_t &operator=(float16_t)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float8_e4m3_taSENS0_9float16_tE")]
pub extern "C" fn float8_e4m3_assign_f16(this: Data, value: u16) -> Data {
    assign(DataType::F8E4m3, this, half(DataType::F16, value))
}

/// `float8_e4m3_t &operator=(bfloat16_t)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float8_e4m3_taSENS0_10bfloat16_tE")]
pub extern "C" fn float8_e4m3_assign_bf16(this: Data, value: u16) -> Data {
    assign(DataType::F8E4m3, this, half(DataType::Bf16, value))
}

/// `operator float16_t() const` of `float8_e4m3_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float8_e4m3_tcvNS0_9float16_tEEv")]
pub extern "C" fn float8_e4m3_to_f16(this: Data) -> u16 {
    encode(DataType::F16, value(DataType::F8E4m3, this)) as u16
}

/// `operator bfloat16_t() const` of `float8_e4m3_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float8_e4m3_tcvNS0_10bfloat16_tEEv")]
pub extern "C" fn float8_e4m3_to_bf16(this: Data) -> u16 {
    encode(DataType::Bf16, value(DataType::F8E4m3, this)) as u16
}

/// `float4_e2m1_t &operator=(float16_t)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float4_e2m1_taSENS0_9float16_tE")]
pub extern "C" fn float4_e2m1_assign_f16(this: Data, value: u16) -> Data {
    assign(DataType::F4E2m1, this, half(DataType::F16, value))
}

/// `float4_e2m1_t &operator=(bfloat16_t)`.
#[unsafe(export_name = "_ZN4dnnl4impl13float4_e2m1_taSENS0_10bfloat16_tE")]
pub extern "C" fn float4_e2m1_assign_bf16(this: Data, value: u16) -> Data {
    assign(DataType::F4E2m1, this, half(DataType::Bf16, value))
}

/// `operator float16_t() const` of `float4_e2m1_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float4_e2m1_tcvNS0_9float16_tEEv")]
pub extern "C" fn float4_e2m1_to_f16(this: Data) -> u16 {
    encode(DataType::F16, value(DataType::F4E2m1, this)) as u16
}

/// `operator float() const` of `float4_e3m0_t`.
#[unsafe(export_name = "_ZNK4dnnl4impl13float4_e3m0_tcvfEv")]
pub extern "C" fn float4_e3m0_to_f32(this: Data) -> f32 {
    value(DataType::F4E3m0, this) as f32
}

/// `try_cvt_f16_to_f32`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6418try_cvt_f16_to_f32EPfPKNS0_9float16_tE")]
pub extern "C" fn try_cvt_f16_to_f32(dst: Data, src: Data) -> bool {
    convert([DataType::F16, DataType::F32], src, dst)
}

/// `try_cvt_f32_to_f16`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6418try_cvt_f32_to_f16EPNS0_9float16_tEPKf")]
pub extern "C" fn try_cvt_f32_to_f16(dst: Data, src: Data) -> bool {
    convert([DataType::F32, DataType::F16], src, dst)
}

/// `try_cvt_f16_to_f8_e4m3`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6422try_cvt_f16_to_f8_e4m3EPNS0_13float8_e4m3_tEPKNS0_9float16_tE")]
pub extern "C" fn try_cvt_f16_to_f8_e4m3(dst: Data, src: Data) -> bool {
    convert([DataType::F16, DataType::F8E4m3], src, dst)
}

/// `try_cvt_f16_to_f8_e5m2`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6422try_cvt_f16_to_f8_e5m2EPNS0_13float8_e5m2_tEPKNS0_9float16_tE")]
pub extern "C" fn try_cvt_f16_to_f8_e5m2(dst: Data, src: Data) -> bool {
    convert([DataType::F16, DataType::F8E5m2], src, dst)
}

/// `try_cvt_f32_to_f8_e4m3`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6422try_cvt_f32_to_f8_e4m3EPNS0_13float8_e4m3_tEPKf")]
pub extern "C" fn try_cvt_f32_to_f8_e4m3(dst: Data, src: Data) -> bool {
    convert([DataType::F32, DataType::F8E4m3], src, dst)
}

/// `try_cvt_f32_to_f8_e5m2`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6422try_cvt_f32_to_f8_e5m2EPNS0_13float8_e5m2_tEPKf")]
pub extern "C" fn try_cvt_f32_to_f8_e5m2(dst: Data, src: Data) -> bool {
    convert([DataType::F32, DataType::F8E5m2], src, dst)
}

/// `try_cvt_f8_e4m3_to_f16`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6422try_cvt_f8_e4m3_to_f16EPNS0_9float16_tEPKNS0_13float8_e4m3_tE")]
pub extern "C" fn try_cvt_f8_e4m3_to_f16(dst: Data, src: Data) -> bool {
    convert([DataType::F8E4m3, DataType::F16], src, dst)
}

/// `try_cvt_f8_e4m3_to_f32`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6422try_cvt_f8_e4m3_to_f32EPfPKNS0_13float8_e4m3_tE")]
pub extern "C" fn try_cvt_f8_e4m3_to_f32(dst: Data, src: Data) -> bool {
    convert([DataType::F8E4m3, DataType::F32], src, dst)
}

/// `try_cvt_f8_e5m2_to_f16`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6422try_cvt_f8_e5m2_to_f16EPNS0_9float16_tEPKNS0_13float8_e5m2_tE")]
pub extern "C" fn try_cvt_f8_e5m2_to_f16(dst: Data, src: Data) -> bool {
    convert([DataType::F8E5m2, DataType::F16], src, dst)
}

/// `try_cvt_f8_e5m2_to_f32`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6422try_cvt_f8_e5m2_to_f32EPfPKNS0_13float8_e5m2_tE")]
pub extern "C" fn try_cvt_f8_e5m2_to_f32(dst: Data, src: Data) -> bool {
    convert([DataType::F8E5m2, DataType::F32], src, dst)
}
