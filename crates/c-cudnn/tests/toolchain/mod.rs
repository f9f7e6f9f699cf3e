//! Finds compiler, headers and library, and compiles the program, each file once until it or a header changes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

/// The packages of PyPI whose headers the program is compiled against.
const PACKAGES: [&str; 3] = ["nvidia-cudnn-cu13==9.27.0.42", "nvidia-cuda-runtime==13.5.37", "nvidia-cuda-crt==13.5.37"];
/// Names include folders that are taken instead of the packages', separated by colons.
const VARIABLE: &str = "OXIDNN_CUDNN_INCLUDE";

static FOUND: OnceLock<Result<Toolchain, String>> = OnceLock::new();
static PROGRAM: OnceLock<Program> = OnceLock::new();

/// What compiling takes.
pub(crate) struct Toolchain {
    include: Vec<PathBuf>,
    work: PathBuf,
}

/// The compiled program.
pub(crate) struct Program {
    path: PathBuf,
    library: PathBuf,
}

impl Toolchain {
    /// The compiler and the headers, downloaded when they are not there yet.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn find() -> Result<&'static Toolchain, &'static str> {
        FOUND.get_or_init(Toolchain::search).as_ref().map_err(String::as_str)
    }

    fn search() -> Result<Toolchain, String> {
        for tool in ["g++", "nm", "readelf"] {
            Command::new(tool).arg("--version").output().map_err(|e| format!("{tool} cannot be run: {e}"))?;
        }
        let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-cudnn");
        std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
        let include: Vec<PathBuf> = match std::env::var_os(VARIABLE) {
            Some(folders) => std::env::split_paths(&folders).collect(),
            None => packages(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("../cudnn-headers"))?,
        };
        match include.iter().any(|i| i.join("cudnn.h").is_file()) {
            true => Ok(Toolchain { include, work }),
            false => Err(format!("no cudnn.h in {include:?}")),
        }
    }

    /// The program, compiled and linked with the library under test.
    ///
    /// # Panics
    /// When it does not compile: the compiler's messages.
    pub(crate) fn program(&self) -> &'static Program {
        PROGRAM.get_or_init(|| self.build())
    }

    fn build(&self) -> Program {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let newest = listed(&sources, "hpp").into_iter().filter_map(modified).max();
        let files: Vec<(PathBuf, PathBuf)> = listed(&sources, "cpp")
            .into_iter()
            .map(|f| (f.clone(), self.work.join(f.with_extension("o").file_name().unwrap_or_default())))
            .collect();
        let queue = Mutex::new(files.iter().filter(|(f, o)| modified(o) < modified(f).max(newest)).collect::<Vec<_>>());
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some((source, object)) = { queue.lock().expect("no compiler panicked").pop() } {
                        let mut command = Command::new("g++");
                        command.args(["-std=c++17", "-O1", "-g1", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations", "-c"]);
                        command.arg(source).arg("-o").arg(object);
                        for folder in &self.include {
                            command.arg("-isystem").arg(folder);
                        }
                        succeed(&mut command);
                    }
                });
            }
        });
        let library = self.library();
        let path = self.work.join("program");
        let mut link = Command::new("g++");
        link.args(files.iter().map(|f| &f.1)).arg("-o").arg(&path).arg(library.join("libcudnn.so.9")).args(["-lm", "-lpthread"]);
        succeed(&mut link);
        Program { path, library }
    }

    /// What `tool` says of our library.
    pub(crate) fn about_library(&self, tool: &str, arguments: &[&str]) -> String {
        succeed(Command::new(tool).args(arguments).arg(self.library().join("libcudnn.so.9")))
    }

    /// The functions that the headers declare.
    pub(crate) fn declared(&self) -> Vec<String> {
        let folder = self.include.iter().find(|i| i.join("cudnn.h").is_file()).expect("it was found");
        let mut all = Vec::new();
        for header in listed(folder, "h").iter().filter(|h| !h.ends_with("_v9.h")) {
            let text = std::fs::read_to_string(header).expect("a header");
            for line in text.lines().filter(|l| !l.trim_start().starts_with(['*', '/'])) {
                let Some((_, rest)) = line.split_once("cudnn").filter(|_| !line.contains("typedef")) else { continue };
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if rest[name.len()..].starts_with('(')
                    && line.split('(').next().is_some_and(|l| l.trim_start() == format!("cudnn{name}") || l.contains("CUDNNWINAPI"))
                {
                    all.push(format!("cudnn{name}"));
                }
            }
        }
        all.sort();
        all.dedup();
        all
    }

    /// A folder with our library under the name that programs look for; cargo has built it beside the test.
    fn library(&self) -> PathBuf {
        let test = std::env::current_exe().expect("a test knows where it is");
        let built = test.parent().expect("it lies in a folder").join("libcudnn.so");
        assert!(built.is_file(), "cargo left no {}", built.display());
        let folder = self.work.join("lib");
        std::fs::create_dir_all(&folder).expect("the target folder can be written");
        let link = folder.join("libcudnn.so.9");
        if std::fs::read_link(&link).ok().as_ref() != Some(&built) {
            let _ = std::fs::remove_file(&link);
            let _ = std::os::unix::fs::symlink(&built, &link);
        }
        folder
    }
}

impl Program {
    /// A run of an area, or of all.
    pub(crate) fn run(&self, area: &str) -> Command {
        let mut command = Command::new(&self.path);
        command.arg(area).env("LD_LIBRARY_PATH", &self.library);
        command
    }

    /// The areas that the program has.
    pub(crate) fn areas(&self) -> Vec<String> {
        succeed(&mut self.run("list")).split_whitespace().map(str::to_owned).collect()
    }
}

/// The packages' include folders under `folder`, downloaded with pip the first time. What is no header is thrown away: cuDNN itself is large.
fn packages(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let include = vec![folder.join("nvidia/cudnn/include"), folder.join("nvidia/cu13/include")];
    if include[0].join("cudnn.h").is_file() && include[1].join("crt/host_defines.h").is_file() {
        return Ok(include);
    }
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    for package in PACKAGES {
        let pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps", "--only-binary=:all:", package];
        let fetched = Command::new("python3").args(pip).current_dir(folder).output().map_err(|e| e.to_string())?;
        let Some(wheel) = listed(folder, "whl").pop() else {
            return Err(format!(
                "no headers of {package}: let pip reach a package index, or name include folders with cudnn.h and cuda_runtime_api.h in {VARIABLE} ({})",
                String::from_utf8_lossy(&fetched.stderr).trim()
            ));
        };
        let unpack =
            "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); z.extractall('.', [n for n in z.namelist() if '/include/' in n])";
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
