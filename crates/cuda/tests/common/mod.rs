//! Finds NVRTC and the disassembler, without a GPU.
//!
//! They come from the folder `nvidia/cu13` that `OXIDNN_CUDA` names, otherwise from PyPI's packages in a virtual environment under the target directory, which is
//! created if there are Python and a network. Without them, tests that need them are skipped with a message, except under `CI`, where they fail.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The packages. Every CUDA 13 driver loads the code of this NVRTC.
const PACKAGES: [&str; 3] = ["nvidia-cuda-nvrtc==13.0.*", "nvidia-cuda-cuobjdump==13.*", "nvidia-cuda-nvdisasm==13.*"];

/// The folder with `lib` and `bin` of a virtual environment under the target directory.
fn installed() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda");
    let find = || {
        let lib = std::fs::read_dir(folder.join("lib")).ok()?.flatten().next()?.path();
        Some(lib.join("site-packages/nvidia/cu13")).filter(|p| p.join("lib/libnvrtc.so.13").exists() && p.join("bin/cuobjdump").exists())
    };
    if find().is_none() {
        let run = |c: &mut Command| c.status().is_ok_and(|s| s.success());
        let _ = run(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            && run(Command::new(folder.join("bin/pip")).args(["install", "-q"]).args(PACKAGES));
    }
    find()
}

fn load(folder: &Path) {
    let library = folder.join("lib/libnvrtc.so.13");
    let beside = std::fs::read_dir(folder.join("lib")).unwrap().flatten().map(|e| e.path());
    let builtins = beside.filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("libnvrtc-builtins.so")));
    for file in builtins.chain([library]) {
        // SAFETY: NVRTC's initialisers are its own; it stays loaded.
        std::mem::forget(unsafe { libloading::Library::new(&file) }.unwrap_or_else(|e| panic!("{}: {e}", file.display())));
    }
}

/// Loads NVRTC, so that it is found by its name from now on, and returns the folder with the tools in `bin`; `None` if there is none.
pub(crate) fn nvrtc() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let folder = std::env::var_os("OXIDNN_CUDA").map(PathBuf::from).or_else(installed);
        match &folder {
            Some(folder) => load(folder),
            None => {
                let advice = format!("set OXIDNN_CUDA to a folder nvidia/cu13, or install {}", PACKAGES.join(", "));
                assert!(std::env::var_os("CI").is_none(), "NVRTC is missing: {advice}");
                eprintln!("NVRTC is missing, nothing is compiled: {advice}");
            }
        }
        folder
    });
    found.as_deref()
}
