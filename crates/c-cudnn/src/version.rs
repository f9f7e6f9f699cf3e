//! Versions and error strings.

use crate::enums::*;
use crate::handle::Handle;
use crate::host_runtime::settle;
use crate::pointers::{ArrayMut, Data, In, Out};
use crate::status::{Failure, Status, guard, guard_value, take_last_error};
use std::ffi::{CString, c_char};
use std::sync::OnceLock;

/// The version of the interface: that of the headers that `cargo xtask abi` compares with.
const NEWEST: usize = 92700;
/// Environment variable that sets the reported version: `9.10.2` or 91002.
const VARIABLE: &str = "OXIDNN_CUDNN_VERSION";

/// The reported version, numbered as in cuDNN: 9.27.0 is 92700. It can be set because programs choose what they call by it.
pub(crate) fn reported() -> usize {
    static REPORTED: OnceLock<usize> = OnceLock::new();
    *oxidnn_runtime::fork::once(&REPORTED, || {
        let given = std::env::var(VARIABLE).ok();
        given.as_deref().and_then(parse).unwrap_or(NEWEST)
    })
}

/// Parses a version 9.x: `9.10.2` or 91002.
fn parse(text: &str) -> Option<usize> {
    let numbers: Option<Vec<usize>> = text.split('.').map(|n| n.parse().ok()).collect();
    let version = match numbers?[..] {
        [number] => number,
        [major, minor] => major * 10_000 + minor * 100,
        [major, minor, patch] if minor < 100 && patch < 100 => major * 10_000 + minor * 100 + patch,
        _ => return None,
    };
    (90_000..100_000).contains(&version).then_some(version)
}

/// `cudnnGetVersion`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetVersion() -> usize {
    guard_value("cudnnGetVersion", NEWEST, reported)
}

/// `cudnnGetMaxDeviceVersion`: the newest known compute capability.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetMaxDeviceVersion() -> usize {
    1210
}

/// `cudnnGetCudartVersion`: that of the headers of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCudartVersion() -> usize {
    13000
}

/// `cudnnGetProperty`: `libraryPropertyType` is major, minor, patch.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetProperty(property: i32, value: Out<'_, i32>) -> Status {
    guard("cudnnGetProperty", || {
        let version = reported();
        let parts = [version / 10_000, version / 100 % 100, version % 100];
        let part = usize::try_from(property).ok().and_then(|i| parts.get(i));
        value.set("value", *part.ok_or_else(|| Failure::invalid("type", property, "0 (major), 1 (minor) or 2 (patch)"))? as i32)
    })
}

/// Defines the functions that check a sub-library's version against its header: here all are one library.
macro_rules! version_checks {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Status {
            Status::SUCCESS
        })*
    };
}
version_checks! {
    /// `cudnnGraphVersionCheck`.
    cudnnGraphVersionCheck
    /// `cudnnOpsVersionCheck`.
    cudnnOpsVersionCheck
    /// `cudnnCnnVersionCheck`.
    cudnnCnnVersionCheck
    /// `cudnnAdvVersionCheck`.
    cudnnAdvVersionCheck
    /// `cudnnSubquadraticOpsVersionCheck`.
    cudnnSubquadraticOpsVersionCheck
}

/// `cudnnGetErrorString`: the enumerator's name, valid as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetErrorString(status: Status) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    let names = oxidnn_runtime::fork::once(&NAMES, || {
        let statuses = all().filter(|e| e.0 == "cudnnStatus_t").map(|e| Status(e.2)).chain([Status(-1)]);
        statuses.map(|s| CString::new(s.name()).unwrap_or_default()).collect()
    });
    let name = status.name();
    names.iter().find(|n| n.as_bytes() == name.as_bytes()).map_or(std::ptr::null(), |n| n.as_ptr())
}

/// `cudnnGetLastErrorString`: the error of the calling thread's last failed call, and clears it.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetLastErrorString(message: ArrayMut<'_, c_char>, max_size: usize) {
    guard_value("cudnnGetLastErrorString", (), || {
        if !message.is_null() && max_size > 0 {
            message.write_text(&take_last_error(), max_size);
        }
    });
}

/// `cudnnQueryRuntimeError`: waits for the stream's work and reports whether it failed; `CUDNN_ERRQUERY_RAWCODE` reports success without waiting.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnQueryRuntimeError(handle: In<'_, Handle>, rstatus: Out<'_, Status>, mode: i32, _tag: Data) -> Status {
    guard("cudnnQueryRuntimeError", || {
        let handle = handle.get("handle")?;
        let status = match mode {
            CUDNN_ERRQUERY_RAWCODE => Status::SUCCESS,
            CUDNN_ERRQUERY_NONBLOCKING | CUDNN_ERRQUERY_BLOCKING => match settle(handle) {
                Ok(()) => Status::SUCCESS,
                Err(failure) => failure.status,
            },
            _ => return Err(Failure::invalid("mode", mode, "a value of cudnnErrQueryMode_t")),
        };
        rstatus.set("rstatus", status)
    })
}
