//! Programs that use the backend interface, compiled against cuDNN's own headers and run with our library: every operation on every engine compared with
//! loops, descriptors and their errors, serialised plans, random calls, and measured times that later processes reuse.

mod toolchain;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use toolchain::{Program, Recipe};

/// The program; `None`, after a message, if compiler or headers are missing.
fn program() -> Option<&'static Program> {
    static BUILT: OnceLock<Option<Program>> = OnceLock::new();
    let recipe = Recipe { folder: "backend_programs", packages: 3, libraries: &["libcudnn.so.9"], options: &["-O0", "-g1"] };
    BUILT.get_or_init(|| Program::build(&recipe)).as_ref()
}

#[test]
fn the_backend_program_finds_nothing_wrong() {
    let Some(program) = program() else { return };
    program.passes(None).unwrap_or_else(|what| panic!("{what}"));
}

/// The folder with the simulated `libcuda` and `libnvrtc` of the tests of `crates/cuda`; `None` without a C compiler.
fn driver() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("backend_driver");
    fs::create_dir_all(&folder).expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda/tests/driver/driver.c");
    for library in ["libcuda.so", "libnvrtc.so"] {
        let cc = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-o"])
            .arg(folder.join(library))
            .arg(&source)
            .output();
        let made = cc.ok().inspect(|cc| assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr)));
        if made.is_none() {
            assert!(std::env::var_os("CI").is_none(), "no C compiler (cc)");
            eprintln!("no C compiler (cc), nothing is tested");
            return None;
        }
    }
    Some(folder)
}

#[test]
fn graphs_run_on_a_device_whose_memory_the_host_cannot_use() {
    let (Some(program), Some(driver)) = (program(), driver()) else { return };
    let areas = ["attention", "blocks", "convolutions", "elements", "moving", "norms", "pools", "products", "random", "reductions"];
    let run = |area: &&str| {
        let mut command = program.run(Some(area));
        let found = std::env::join_paths([&driver, program.libraries()]).expect("folders without colons");
        let output = command
            .env("OXIDNN_CUDNN_ENGINE", "cuda")
            .env("OXIDNN_TEST_DRIVER", "1")
            .env("OXIDNN_KERNEL_STORE", "0")
            .env("LD_LIBRARY_PATH", found)
            .output();
        let output = output.expect("the program starts");
        (!output.status.success()).then(|| format!("{area}: {}\n{}", output.status, String::from_utf8_lossy(&output.stdout)))
    };
    let wrong: Vec<String> = areas.iter().filter_map(run).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The output of a process about its choices.
struct Said {
    /// Lists of algorithms or engines, by name.
    lists: Vec<(String, String)>,
    measured: usize,
    taken: usize,
    warned: usize,
}

impl Said {
    /// Runs a process with its kernel store below `cache`, and `more` environment variables.
    fn by(program: &Program, cache: &Path, more: &[(&str, &str)]) -> Said {
        let mut command = program.run(Some("choices"));
        let output = command.env("OXIDNN_CUDNN_CHOICES", "1").env("XDG_CACHE_HOME", cache).envs(more.iter().copied()).output();
        let output = output.expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        let last = text.lines().find(|l| l.starts_with("measured ")).expect("its counts");
        let mut counts = last.split([' ', ',']).filter_map(|word| word.parse().ok());
        let mut count = || counts.next().expect("a count");
        let list = |line: &str| line.split_once(": ").map(|(name, list)| (name.to_owned(), list.to_owned()));
        Said { measured: count(), taken: count(), warned: count(), lists: text.lines().filter_map(list).collect() }
    }

    fn list(&self, name: &str) -> &str {
        &self.lists.iter().find(|l| l.0 == name).unwrap_or_else(|| panic!("no list {name}")).1
    }
}

/// The entries of the store below `cache`.
fn entries(cache: &Path) -> Vec<PathBuf> {
    let folder = fs::read_dir(cache.join("oxidnn/measured"));
    folder.map(|all| all.map(|e| e.expect("an entry").path()).collect()).unwrap_or_default()
}

#[test]
fn measured_choices_serve_later_processes() {
    let Some(program) = program() else { return };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("choices");
    let _ = fs::remove_dir_all(&cache);
    // Three passes, a flipped filter and a graph.
    let first = Said::by(program, &cache, &[]);
    assert_eq!((first.measured, first.taken, first.warned), (5, 0, 0));
    assert_eq!(entries(&cache).len(), 5);
    assert_eq!(first.list("A"), first.list("B"));
    let second = Said::by(program, &cache, &[]);
    assert_eq!((second.measured, second.taken, second.warned), (0, 5, 0), "nothing is measured again");
    for name in ["FindEx", "Find", "Get", "Find by data", "Find by weights", "Find, turned", "B", "A", "instant", "fallback"] {
        assert_eq!(first.list(name), second.list(name), "{name}");
    }
    assert_eq!(
        (second.list("Get before Find"), second.list("A before B")),
        (first.list("Find"), first.list("B")),
        "known before anybody asks"
    );
    // With choices switched off, or without a kernel store, each list is measured, and nothing is written.
    let written: Vec<_> = entries(&cache).iter().map(|e| fs::metadata(e).and_then(|m| m.modified()).expect("a time")).collect();
    let off = Said::by(program, &cache, &[("OXIDNN_CUDNN_CHOICES", "0")]);
    assert_eq!((off.measured, off.taken, off.warned), (7, 0, 0), "the second Find and that without room, too");
    let storeless = Said::by(program, &cache, &[("OXIDNN_KERNEL_STORE", "0")]);
    assert_eq!((storeless.measured, storeless.taken, storeless.warned), (5, 0, 0));
    assert_eq!(entries(&cache).iter().map(|e| fs::metadata(e).and_then(|m| m.modified()).expect("a time")).collect::<Vec<_>>(), written);
    // Damaged entries are ignored with a warning, and measured anew.
    for entry in entries(&cache) {
        let mut bytes = fs::read(&entry).expect("an entry");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x20;
        fs::write(&entry, bytes).expect("an entry");
    }
    let damaged = Said::by(program, &cache, &[]);
    assert_eq!((damaged.measured, damaged.taken, damaged.warned), (5, 0, 5));
    let mended = Said::by(program, &cache, &[]);
    assert_eq!((mended.measured, mended.taken, mended.warned), (0, 5, 0));
}
