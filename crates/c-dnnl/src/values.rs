//! Checks of enum values from C.

use crate::status::Failure;
use oxidnn_c_common::numbers::{DATA_TYPE, Numbers};
use oxidnn_spec::DataType;

/// The value of `number`.
///
/// # Errors
/// `invalid_arguments` if it is no enumerator.
pub fn value<T: Copy + PartialEq>(table: &Numbers<T>, number: i32) -> Result<T, Failure> {
    table.value(number).ok_or_else(|| {
        let known: Vec<String> = table.pairs().iter().map(|p| p.1.to_string()).collect();
        Failure::invalid(table.name, number, format_args!("one of {}", known.join(", ")))
    })
}

/// The data type of an enumerator, `None` for `undef`.
///
/// # Errors
/// `invalid_arguments` if it is no enumerator.
pub fn optional_type(number: i32) -> Result<Option<DataType>, Failure> {
    if number == 0 { Ok(None) } else { value(&DATA_TYPE, number).map(Some) }
}
