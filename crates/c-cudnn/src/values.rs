//! Checks of enum values from C.

use crate::enums::{self, *};
use crate::status::Failure;
use oxidnn_spec::DataType;

/// cuDNN's data types that oxidnn has.
const TYPES: &[(i32, DataType)] = &[
    (CUDNN_DATA_FLOAT, DataType::F32),
    (CUDNN_DATA_DOUBLE, DataType::F64),
    (CUDNN_DATA_HALF, DataType::F16),
    (CUDNN_DATA_INT8, DataType::S8),
    (CUDNN_DATA_INT32, DataType::S32),
    (CUDNN_DATA_UINT8, DataType::U8),
    (CUDNN_DATA_BFLOAT16, DataType::Bf16),
    (CUDNN_DATA_INT64, DataType::S64),
    (CUDNN_DATA_BYTE_BOOLEAN, DataType::Boolean),
    (CUDNN_DATA_FP8_E4M3, DataType::F8E4m3),
    (CUDNN_DATA_FP8_E5M2, DataType::F8E5m2),
    (CUDNN_DATA_FP8_E8M0, DataType::E8m0),
    (CUDNN_DATA_FP4_E2M1, DataType::F4E2m1),
    (CUDNN_DATA_INT4, DataType::S4),
    (CUDNN_DATA_UINT4, DataType::U4),
];

/// The data type of a `cudnnDataType_t`.
///
/// # Errors
/// `BAD_PARAM` if it is no enumerator, `NOT_SUPPORTED_DATA_TYPE` if oxidnn does not have the type.
pub fn data_type(name: &str, number: i32) -> Result<DataType, Failure> {
    if let Some(known) = TYPES.iter().find(|t| t.0 == number) {
        return Ok(known.1);
    }
    check(name, "cudnnDataType_t", number)?;
    let what = format_args!("{name}: {} is not a type of oxidnn's", enums::name("cudnnDataType_t", number));
    Err(Failure::new(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, what))
}

/// Checks that `number` is an enumerator of `kind`.
///
/// # Errors
/// `BAD_PARAM`, with the names of the valid ones.
pub fn check(name: &str, kind: &str, number: i32) -> Result<i32, Failure> {
    if enums::all().any(|e| e.0 == kind && e.2 == number) {
        return Ok(number);
    }
    let known: Vec<&str> = enums::all().filter(|e| e.0 == kind).map(|e| e.1).collect();
    Err(Failure::invalid(name, number, format_args!("a value of {kind}: {}", known.join(", "))))
}
