//! Compilation by NVRTC, which is loaded when it is first needed. One of the files with unsafe code.

use super::files::{HEADERS, kernel};
use crate::driver::CudaError;
use crate::program::Source;
use cudarc::nvrtc::sys::{self, nvrtcResult};
use std::ffi::{CStr, CString};
use std::ptr;

/// The header with a kernel's defines, included before everything.
const OPTIONS: &str = "options.cuh";

/// Compiles a kernel to a cubin for `architecture`, such as `sm_90a`.
///
/// # Errors
/// [`CudaError::Missing`] without the library, [`CudaError::Compile`] with the compiler's log.
pub fn compile(source: &Source, architecture: &str) -> Result<Vec<u8>, CudaError> {
    load()?;
    let (text, generated) = kernel(source.file).unwrap_or_default();
    let c = |s: &str| CString::new(s).unwrap_or_default();
    let mut names: Vec<CString> = HEADERS.iter().map(|h| c(h.0)).collect();
    let mut headers: Vec<CString> = HEADERS.iter().map(|h| c(h.1)).collect();
    names.extend([c(generated), c(OPTIONS)]);
    headers.extend([c(&source.header), c(&source.options)]);
    let (names_at, headers_at) = (pointers(&names), pointers(&headers));
    let (text, name) = (c(text), c(&format!("{}.cu", source.file)));
    let mut program = Program(ptr::null_mut());
    // SAFETY: writes a handle; all strings end with a zero and live through the call.
    let made = unsafe {
        let count = names_at.len() as i32;
        sys::nvrtcCreateProgram(&raw mut program.0, text.as_ptr(), name.as_ptr(), count, headers_at.as_ptr(), names_at.as_ptr())
    };
    check("nvrtcCreateProgram", made)?;
    let options = [c(&format!("--gpu-architecture={architecture}")), c("--std=c++17"), c("-w"), c(&format!("--pre-include={OPTIONS}"))];
    let options_at = pointers(&options);
    // SAFETY: the program lives; the options are strings that end with a zero.
    let status = unsafe { sys::nvrtcCompileProgram(program.0, options_at.len() as i32, options_at.as_ptr()) };
    if status == nvrtcResult::NVRTC_ERROR_COMPILATION {
        return Err(CudaError::Compile { kernel: source.file, architecture: architecture.into(), log: program.log() });
    }
    check("nvrtcCompileProgram", status)?;
    program.cubin()
}

fn pointers(strings: &[CString]) -> Vec<*const std::ffi::c_char> {
    strings.iter().map(|s| s.as_ptr()).collect()
}

fn load() -> Result<(), CudaError> {
    // SAFETY: asks the loader for a library; its initialisers are the compiler's own.
    if unsafe { sys::is_culib_present() } {
        return Ok(());
    }
    Err(CudaError::Missing {
        library: "NVRTC, the compiler of CUDA's kernels",
        names: "libnvrtc.so and libnvrtc.so.13 to .11".into(),
        advice: "install it with the CUDA toolkit, or the package nvidia-cuda-nvrtc from PyPI, and name its directory in LD_LIBRARY_PATH",
    })
}

fn check(function: &'static str, status: nvrtcResult) -> Result<(), CudaError> {
    if status == nvrtcResult::NVRTC_SUCCESS {
        return Ok(());
    }
    // SAFETY: gives a constant string for any status.
    let text = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(status)) };
    Err(CudaError::Call { function, name: format!("{status:?}"), text: text.to_string_lossy().into_owned() })
}

/// A program, destroyed when dropped.
struct Program(sys::nvrtcProgram);

impl Program {
    fn log(&self) -> String {
        let mut len = 0;
        // SAFETY: writes one number; the program lives.
        if unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut len) } != nvrtcResult::NVRTC_SUCCESS {
            return String::new();
        }
        let mut log = vec![0u8; len];
        // SAFETY: writes as many bytes as it just said.
        unsafe { sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()) };
        String::from_utf8_lossy(&log).trim_end_matches('\0').trim_end().to_owned()
    }

    fn cubin(&self) -> Result<Vec<u8>, CudaError> {
        let mut len = 0;
        // SAFETY: writes one number; the program lives.
        check("nvrtcGetCUBINSize", unsafe { sys::nvrtcGetCUBINSize(self.0, &raw mut len) })?;
        let mut cubin = vec![0u8; len];
        // SAFETY: writes as many bytes as it just said.
        check("nvrtcGetCUBIN", unsafe { sys::nvrtcGetCUBIN(self.0, cubin.as_mut_ptr().cast()) })?;
        Ok(cubin)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: made by `nvrtcCreateProgram`, destroyed once.
            unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
        }
    }
}
