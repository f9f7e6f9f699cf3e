//! The device: the host, which reports compute capability 8.0, so that programs use 16-bit floating-point types but not 8-bit ones.

use crate::error::{Error, guard};
use crate::memory::{self, Address};
use crate::pointers::Out;
use crate::work::{end_all, is_any_captured, settle_all};
use crate::{graph, stream};
use std::ffi::c_char;

/// Environment variable that sets the reported compute capability, such as `9.0`.
const VARIABLE: &str = "OXIDNN_CUDART_CAPABILITY";
/// The version of the headers that this interface matches.
const VERSION: i32 = 13_050;
/// Reported shared memory per SM and per block (opt-in), in bytes.
const SHARED: usize = 163_840;
const SMS: i32 = 108;

fn capability() -> (i32, i32) {
    let given = std::env::var(VARIABLE).ok();
    let parsed = given.as_deref().and_then(|t| t.split_once('.')).and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parsed.unwrap_or((8, 0))
}

/// `cudaGetDevice`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetDevice(device: Out<'_, i32>) -> Error {
    guard(|| device.set(0))
}

/// `cudaSetDevice`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaSetDevice(device: i32) -> Error {
    guard(|| if device == 0 { Ok(()) } else { Err(Error::INVALID_DEVICE) })
}

/// `cudaGetDeviceCount`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetDeviceCount(count: Out<'_, i32>) -> Error {
    guard(|| count.set(1))
}

/// `cudaDeviceSynchronize`: an error of the work that it waits for, or that a stream is being captured.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSynchronize() -> Error {
    guard(|| if is_any_captured() { Err(Error::STREAM_CAPTURE_UNSUPPORTED) } else { settle_all() })
}

/// `cudaDeviceReset`: waits for all work, then destroys streams, events, graphs and memory, but not the blocks of `cudaMallocAsync`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceReset() -> Error {
    guard(|| {
        let done = settle_all();
        end_all();
        graph::clear();
        stream::clear();
        memory::clear();
        done
    })
}

/// `cudaDriverGetVersion`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDriverGetVersion(version: Out<'_, i32>) -> Error {
    guard(|| version.set(VERSION))
}

/// `cudaRuntimeGetVersion`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaRuntimeGetVersion(version: Out<'_, i32>) -> Error {
    guard(|| version.set(VERSION))
}

/// The largest `cudaDeviceAttr` of the headers.
const LAST_ATTRIBUTE: i32 = 160;
/// Values of `cudaDeviceAttr`; others are 0.
const ATTRIBUTES: &[(i32, i32)] = &[
    (1, 1024),
    (2, 1024),
    (3, 1024),
    (4, 64),
    (8, 49_152),
    (10, 32),
    (12, 65_536),
    (16, SMS),
    (31, 1),
    (39, 2048),
    (41, 1),
    (81, SHARED as i32),
    (82, 65_536),
    (83, 1),
    (97, SHARED as i32),
];

/// `cudaDeviceGetAttribute`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceGetAttribute(value: Out<'_, i32>, attribute: i32, device: i32) -> Error {
    guard(|| {
        if device != 0 {
            return Err(Error::INVALID_DEVICE);
        }
        if !(1..=LAST_ATTRIBUTE).contains(&attribute) {
            return Err(Error::INVALID_VALUE);
        }
        let (major, minor) = capability();
        value.set(match attribute {
            75 => major,
            76 => minor,
            other => ATTRIBUTES.iter().find(|a| a.0 == other).map_or(0, |a| a.1),
        })
    })
}

/// `struct cudaDeviceProp` of CUDA 13; fields that programs do not look at are 0 (`rest`).
#[derive(Clone, Debug)]
#[repr(C)]
pub struct DeviceProp {
    name: [u8; 256],
    uuid: [u8; 32],
    total_memory: usize,
    shared_per_block: usize,
    registers_per_block: i32,
    warp_size: i32,
    memory_pitch: usize,
    threads_per_block: i32,
    threads: [i32; 3],
    grid: [i32; 3],
    constant_memory: usize,
    major: i32,
    minor: i32,
    texture_alignment: usize,
    texture_pitch_alignment: usize,
    multiprocessors: i32,
    rest: [u8; 620],
}

const _: () = assert!(size_of::<DeviceProp>() == 1008);

/// `cudaGetDeviceProperties`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetDeviceProperties(properties: Out<'_, DeviceProp>, device: i32) -> Error {
    guard(|| {
        if device != 0 {
            return Err(Error::INVALID_DEVICE);
        }
        let mut name = [0; 256];
        let text = b"oxidnn on the host";
        name[..text.len()].copy_from_slice(text);
        let (major, minor) = capability();
        properties.set(DeviceProp {
            name,
            uuid: [0; 32],
            total_memory: 1 << 40,
            shared_per_block: 49_152,
            registers_per_block: 65_536,
            warp_size: 32,
            memory_pitch: i32::MAX as usize,
            threads_per_block: 1024,
            threads: [1024, 1024, 64],
            grid: [i32::MAX, 65_535, 65_535],
            constant_memory: 65_536,
            major,
            minor,
            texture_alignment: 512,
            texture_pitch_alignment: 32,
            multiprocessors: SMS,
            rest: [0; 620],
        })
    })
}

/// `cudaGetDriverEntryPoint`: there is no driver; returns null, and `cudaDriverEntryPointSymbolNotFound` as the result.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetDriverEntryPoint(_symbol: *const c_char, function: Out<'_, Address>, _flags: u64, result: Out<'_, i32>) -> Error {
    no_entry(function, result)
}

/// `cudaGetDriverEntryPointByVersion`: as [`cudaGetDriverEntryPoint`].
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetDriverEntryPointByVersion(
    _symbol: *const c_char,
    function: Out<'_, Address>,
    _version: u32,
    _flags: u64,
    result: Out<'_, i32>,
) -> Error {
    no_entry(function, result)
}

fn no_entry(function: Out<'_, Address>, result: Out<'_, i32>) -> Error {
    guard(|| {
        function.set(std::ptr::null_mut())?;
        result.set_optional(1);
        Ok(())
    })
}
