//! The kernels of the CUDA engine against the reference without a GPU: `oxidnn verify` on the driver of `crates/cuda/tests/driver`, whose launches run in the
//! emulator of `crates/cuda/tests/emulator`. `OXIDNN_LINES=FILE,FILE` verifies other lists than `tests/gpu/emulated.txt`, whose lines need no settings of those before.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

const EMULATOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cuda/tests/emulator");
const PARTS: [&str; 4] = ["threads", "memory", "copies", "matrices"];
const FLAGS: [&str; 7] = ["-std=c++20", "-O3", "-fPIC", "-fvisibility=hidden", "-mavx2", "-mf16c", "-mfma"];

/// Runs a compiler in `folder`; `None` if there is none.
fn compiles(compiler: &str, folder: &Path, args: &[&str]) -> Option<()> {
    let Ok(Output { status, stderr, .. }) = Command::new(compiler).args(args).current_dir(folder).output() else {
        assert!(std::env::var_os("CI").is_none(), "no compiler ({compiler})");
        eprintln!("no compiler ({compiler}), no kernel is verified");
        return None;
    };
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    Some(())
}

/// The folder of the built emulator, with the driver in `lib`.
fn built() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).as_deref()
}

fn build() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulator");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("lib")).unwrap();
    for file in std::fs::read_dir(EMULATOR).unwrap().flatten().filter(|file| file.path().is_file()) {
        std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    let sources = PARTS.map(|part| format!("{part}.cpp"));
    let args: Vec<&str> = FLAGS.into_iter().chain(["-shared", "-o", "libemulator.so"]).chain(sources.iter().map(String::as_str)).collect();
    compiles("g++", &folder, &args)?;
    compiles("python3", &folder, &["compile.py"])?;
    let driver = format!("{EMULATOR}/../driver/driver.c");
    for library in ["lib/libcuda.so", "lib/libnvrtc.so"] {
        compiles("cc", &folder, &["-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library, &driver])?;
    }
    Some(folder)
}

#[test]
#[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), ignore = "the emulator is for Linux on x86-64")]
fn kernels_give_what_the_reference_gives() {
    let Some(folder) = built() else { return };
    let lists =
        std::env::var("OXIDNN_LINES").unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/gpu/emulated.txt").into());
    let problems: Vec<String> =
        lists.split(',').flat_map(|list| std::fs::read_to_string(list).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    // The emulator runs one kernel at a time: a process for each core.
    let count = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let parts = Vec::from_iter((0..count).map(|part| {
        let list = folder.join(format!("{part}.txt"));
        std::fs::write(&list, problems.iter().skip(part).step_by(count).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxidnn"));
        command.args(["verify", "--engine", "gpu", "--brief", "--batch"]).arg(list);
        command.env("OXIDNN_TEST_EMULATOR", folder).env("LD_LIBRARY_PATH", folder.join("lib")).env("XDG_CACHE_HOME", folder);
        command.env_remove("CUDA_VISIBLE_DEVICES").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }));
    for part in parts {
        let Output { status, stdout, stderr } = part.wait_with_output().unwrap();
        assert!(status.success(), "{}\n{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        print!("{}", String::from_utf8_lossy(&stdout));
    }
}

/// What the emulator says to each fault of `faults.cu`.
const FAULTS: [&str; 12] = [
    "nothing",
    "thread 255: a read of 4 bytes at 0x",
    "thread 255: a read of 4 bytes at 2048, outside of 1032 bytes of shared memory",
    "thread 99: a read of 16 bytes at an address that is no multiple of 16",
    "thread 7: a write of global memory at an address of shared memory",
    "is read, and written by thread 40, without a barrier between",
    "thread 34: byte 1028 of shared memory is read, and written by thread 33, without a barrier between",
    "byte 1044 of shared memory is written, and written by thread",
    "without a barrier between",
    "a __syncthreads that other threads do not reach",
    "threads wait for each other, thread 0 at an mbarrier",
    "outside of all allocations",
];

#[test]
#[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), ignore = "the emulator is for Linux on x86-64")]
fn faults_are_found() {
    let Some(folder) = built() else { return };
    let faults = folder.join("faults");
    std::fs::create_dir_all(&faults).unwrap();
    std::fs::copy(format!("{EMULATOR}/faults/faults.cu"), faults.join("faults.cu")).unwrap();
    std::fs::write(faults.join("options.cuh"), "").unwrap();
    let program = format!("{EMULATOR}/faults/faults.cpp");
    let Some(()) = compiles("python3", folder, &["compile.py", "faults", "faults", "90", "faults/kernel.so"]) else { return };
    let Some(()) = compiles("g++", folder, &["-std=c++20", "-o", "faults/program", &program, "-L.", "-lemulator"]) else { return };
    let mut command = Command::new(faults.join("program"));
    let out = command.arg(faults.join("kernel.so")).arg(FAULTS.len().to_string()).env("LD_LIBRARY_PATH", folder).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let said: Vec<&str> = text.lines().collect();
    assert_eq!(said.len(), FAULTS.len(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    for (said, expected) in said.iter().zip(FAULTS) {
        assert!(said.contains(expected), "expected: {expected}\nsaid: {said}");
    }
}
