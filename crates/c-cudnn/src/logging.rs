//! The logging callback: `cudnnSetCallback`.

use crate::enums::*;
use crate::pointers::{Data, Out};
use crate::status::{Failure, Status, guard};
use oxidnn_runtime::fork;
use std::ffi::{c_char, c_uint, c_ulonglong};
use std::sync::{LazyLock, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

/// `cudnnDebug_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Debug {
    version: c_uint,
    status: Status,
    seconds: c_uint,
    microseconds: c_uint,
    milliseconds_since_creation: c_uint,
    handle: Data,
    stream: Data,
    process: c_ulonglong,
    thread: c_ulonglong,
    device: i32,
    reserved: [i32; 15],
}

/// `cudnnCallback_t`.
pub type Callback = Option<extern "C" fn(severity: i32, user: Data, debug: *const Debug, message: *const c_char)>;

#[derive(Clone, Copy)]
struct Listener {
    mask: c_uint,
    user: Data,
    callback: Callback,
}

static LISTENER: LazyLock<Mutex<Listener>> = LazyLock::new(|| Mutex::new(Listener { mask: 0, user: Data::NULL, callback: None }));

/// `cudnnSetCallback`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetCallback(mask: u32, udata: Data, fptr: Callback) -> Status {
    guard("cudnnSetCallback", || {
        *fork::lock(&LISTENER) = Listener { mask, user: udata, callback: fptr };
        Ok(())
    })
}

/// `cudnnGetCallback`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCallback(mask: Out<'_, u32>, udata: Out<'_, Data>, fptr: Out<'_, Callback>) -> Status {
    guard("cudnnGetCallback", || {
        if mask.is_null() || udata.is_null() || fptr.is_null() {
            return Err(Failure::null("mask, udata or fptr"));
        }
        let listener = *fork::lock(&LISTENER);
        mask.set("mask", listener.mask)?;
        udata.set("udata", listener.user)?;
        fptr.set("fptr", listener.callback)
    })
}

/// Calls the callback, if it wants errors.
pub(crate) fn failed(_function: &'static str, status: Status, text: &str) {
    tell(CUDNN_SEV_ERROR, status, || text.to_owned());
}

/// Calls the callback, if it wants information.
pub(crate) fn told(text: impl FnOnce() -> String) {
    tell(CUDNN_SEV_INFO, Status(CUDNN_STATUS_SUCCESS), text);
}

/// Calls the callback, if it wants warnings.
pub(crate) fn warned(text: impl FnOnce() -> String) {
    tell(CUDNN_SEV_WARNING, Status(CUDNN_STATUS_SUCCESS), text);
}

/// The lines of the text, each ended by a zero, and another zero, the form in which cuDNN writes them.
fn tell(severity: i32, status: Status, text: impl FnOnce() -> String) {
    let listener = *fork::lock(&LISTENER);
    let Some(callback) = listener.callback.filter(|_| listener.mask >> severity & 1 == 1) else { return };
    let text = text();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let debug = Debug {
        version: crate::version::reported() as c_uint,
        status,
        seconds: now.as_secs() as c_uint,
        microseconds: now.subsec_micros(),
        milliseconds_since_creation: 0,
        handle: Data::NULL,
        stream: Data::NULL,
        process: u64::from(std::process::id()),
        thread: 0,
        device: 0,
        reserved: [0; 15],
    };
    let message: Vec<c_char> = text.lines().flat_map(|l| l.bytes().chain([0])).chain([0]).map(|b| b as c_char).collect();
    callback(severity, listener.user, &raw const debug, message.as_ptr());
}

const _: () = assert!(size_of::<Debug>() == 120);
