//! Finds compiler, headers and library, and compiles the programs, each file once until it or a header changes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

/// The release of PyPI's `onednn-devel` whose headers say oneDNN 3.13.
const RELEASE: &str = "2026.1.0";
/// Names an include folder that is taken instead of the package's.
const VARIABLE: &str = "OXIDNN_ONEDNN_INCLUDE";
/// The headers with functions, and what has to be defined to see them.
const HEADERS: &[&str] = &["dnnl_common.h", "dnnl.h", "dnnl_debug.h", "dnnl_graph.h", "dnnl_threadpool.h", "dnnl_ukernel.h"];

/// Tests share the folder, the downloaded headers and the programs, which are built once.
static FOUND: OnceLock<Result<Toolchain, String>> = OnceLock::new();
static C: OnceLock<Program> = OnceLock::new();
static CPP: OnceLock<Program> = OnceLock::new();
static LIBRARY: OnceLock<PathBuf> = OnceLock::new();

/// What compiling takes.
pub(crate) struct Toolchain {
    include: PathBuf,
    work: PathBuf,
}

/// A compiled program.
pub(crate) struct Program {
    /// `c` or `cpp`, the folder of its sources.
    pub(crate) language: &'static str,
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
        for tool in ["gcc", "g++", "nm"] {
            Command::new(tool).arg("--version").output().map_err(|e| format!("{tool} cannot be run: {e}"))?;
        }
        let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-dnnl");
        std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
        let include = match std::env::var_os(VARIABLE) {
            Some(folder) => PathBuf::from(folder),
            None => package(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("../onednn-devel").join(RELEASE))?,
        };
        if !include.join("dnnl.h").is_file() {
            return Err(format!("{} has no dnnl.h", include.display()));
        }
        Ok(Toolchain { include, work })
    }

    /// The program in C, compiled and linked with the library under test.
    ///
    /// # Panics
    /// When it does not compile: the compiler's messages.
    pub(crate) fn c(&self) -> &'static Program {
        C.get_or_init(|| self.build("c"))
    }

    /// As [`Toolchain::c`], in C++.
    pub(crate) fn cpp(&self) -> &'static Program {
        CPP.get_or_init(|| self.build("cpp"))
    }

    fn build(&self, language: &'static str) -> Program {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let mut files = vec![sources.join("check.c")];
        files.extend(listed(&sources.join(language), language));
        let headers = listed(&sources, "h").into_iter().chain(listed(&sources.join(language), if language == "c" { "h" } else { "hpp" }));
        let newest = headers.chain([PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("include/oxidnn_dnnl.h")]).filter_map(modified).max();
        let objects: Vec<PathBuf> = files.iter().map(|f| self.object(language, f)).collect();
        let queue = Mutex::new(files.iter().zip(&objects).filter(|(f, o)| modified(o) < modified(f).max(newest)).collect::<Vec<_>>());
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some((source, object)) = { queue.lock().expect("no compiler panicked").pop() } {
                        self.compile(source, object, &sources);
                    }
                });
            }
        });
        let library = self.library();
        let path = self.work.join(format!("program-{language}"));
        let linked = library.join("libdnnl.so.3");
        let mut link = Command::new("g++");
        link.args(&objects).arg("-o").arg(&path).args(["-Wl,-z,lazy", "-rdynamic"]).arg(&linked).args(["-ldl", "-lm", "-lpthread"]);
        succeed(&mut link);
        Program { language, path, library }
    }

    /// What our library tells the loader.
    pub(crate) fn dynamic_section(&self) -> String {
        succeed(Command::new("readelf").arg("-d").arg(self.library().join("libdnnl.so.3")))
    }

    /// The functions that the headers declare.
    pub(crate) fn declared(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for header in HEADERS {
            let mut command = Command::new("gcc");
            command
                .args(["-E", "-P", "-DDNNL_EXPERIMENTAL_UKERNEL", "-I"])
                .arg(&self.include)
                .arg(self.include.join("oneapi/dnnl").join(header));
            let text = succeed(&mut command);
            for (at, _) in text.match_indices('(') {
                let start = text[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |i| i + 1);
                let name = &text[start..at];
                if name.starts_with("dnnl_") && name != "dnnl_alloc_f" {
                    all.insert(name.to_owned());
                }
            }
        }
        all
    }

    fn object(&self, language: &str, source: &Path) -> PathBuf {
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        self.work.join(format!("{language}-{name}.o"))
    }

    fn compile(&self, source: &Path, object: &Path, sources: &Path) {
        let is_c = source.extension().is_some_and(|e| e == "c");
        let mut command = Command::new(if is_c { "gcc" } else { "g++" });
        command.arg(if is_c { "-std=c11" } else { "-std=c++17" });
        command.args(["-O0", "-g1", "-Wall", "-Wextra", "-Werror", "-DDNNL_EXPERIMENTAL_UKERNEL", "-c"]).arg(source).arg("-o").arg(object);
        command.arg("-I").arg(sources).arg("-I").arg(&self.include).arg("-I").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"));
        succeed(&mut command);
    }

    /// A folder with our library under the name that programs look for; cargo has built it beside the test. Made once, as tests run at the same time.
    fn library(&self) -> PathBuf {
        let link = || {
            let test = std::env::current_exe().expect("a test knows where it is");
            let built = test.parent().expect("it lies in a folder").join("libdnnl.so");
            assert!(built.is_file(), "cargo left no {}", built.display());
            let folder = self.work.join("lib");
            std::fs::create_dir_all(&folder).expect("the target folder can be written");
            let link = folder.join("libdnnl.so.3");
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(&built, &link).expect("the target folder can be written");
            folder
        };
        LIBRARY.get_or_init(link).clone()
    }
}

impl Program {
    /// Areas that are run in a process of their own.
    pub(crate) fn alone(&self) -> &'static [&'static str] {
        if self.language == "c" { &["max_isa"] } else { &["openmp", "environment"] }
    }

    /// A run on our library.
    pub(crate) fn on_ours(&self) -> Command {
        self.on(&self.library)
    }

    /// A run on our library under another program.
    pub(crate) fn under(&self, other: &str) -> Command {
        let mut command = Command::new(other);
        command.arg("-q").arg(&self.path);
        command.env("LD_LIBRARY_PATH", &self.library).env("ONEDNN_VERBOSE", "none").env_remove("DNNL_VERBOSE");
        command
    }

    /// A run on a library, named by its file or folder.
    pub(crate) fn on(&self, library: &Path) -> Command {
        let folder = if library.is_dir() { library } else { library.parent().unwrap_or(library) };
        let mut command = Command::new(&self.path);
        command.env("LD_LIBRARY_PATH", folder).env("ONEDNN_VERBOSE", "none").env_remove("DNNL_VERBOSE");
        command
    }

    /// The library's functions that the program refers to.
    pub(crate) fn undefined(&self) -> BTreeSet<String> {
        let text = succeed(Command::new("nm").args(["-D", "--undefined-only"]).arg(&self.path));
        text.split_whitespace().filter(|w| w.starts_with("dnnl_")).map(|w| w.split('@').next().unwrap_or(w).to_owned()).collect()
    }
}

/// The package's include folder in `folder`, downloaded with pip the first time.
fn package(folder: &Path) -> Result<PathBuf, String> {
    let include = folder.join(format!("onednn_devel-{RELEASE}.data/data/include"));
    if include.join("dnnl.h").is_file() {
        return Ok(include);
    }
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let wheel = format!("onednn-devel=={RELEASE}");
    let pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps", "--only-binary=:all:", &wheel];
    let fetched = Command::new("python3").args(pip).current_dir(folder).output();
    let file = listed(folder, "whl").pop();
    let unpacked = file.map(|f| Command::new("python3").args(["-m", "zipfile", "-e"]).arg(f).arg(folder).output());
    match (fetched, unpacked) {
        (_, Some(Ok(_))) => Ok(include),
        (fetched, _) => Err(format!(
            "no headers of onednn-devel {RELEASE}: let pip reach a package index, or name an include folder of oneDNN 3.13 in {VARIABLE} ({})",
            fetched.map_or_else(|e| e.to_string(), |o| String::from_utf8_lossy(&o.stderr).trim().to_owned())
        )),
    }
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
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
