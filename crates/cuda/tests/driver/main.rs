//! From a problem to the calls of the driver, without a GPU: with a mock CUDA driver and NVRTC (`driver.c`), which compute nothing and refuse what the real ones
//! refuse.
//!
//! Each test runs in a process of its own that finds the mocks, which the C compiler builds. Without a C compiler the tests are skipped with a message, except under
//! `CI`, where they fail.

use oxidnn_cuda::driver::Context;
use oxidnn_cuda::{CudaDevice, ops};
use oxidnn_runtime::store::Store;
use oxidnn_runtime::{Engine, Memory, PrimitiveDesc, Stream};
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_spec::{Arg, Error, Format, Problem, Tensor};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The folder with the mocks, `None` without a C compiler.
fn libraries() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver");
        std::fs::create_dir_all(&folder).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/driver/driver.c");
        // Another test process may be loading the existing file.
        let made = folder.join(format!("{}.so", std::process::id()));
        let cc = Command::new("cc").args(["-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-o"]).arg(&made).arg(source).output();
        let Ok(Output { status, stderr, .. }) = cc else {
            assert!(std::env::var_os("CI").is_none(), "no C compiler (cc)");
            eprintln!("no C compiler (cc), nothing is tested");
            return None;
        };
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        std::fs::rename(made, folder.join("libcuda.so")).unwrap();
        // One library by two names, with common counters.
        if let Err(e) = std::os::unix::fs::symlink("libcuda.so", folder.join("libnvrtc.so")) {
            assert_eq!(e.kind(), std::io::ErrorKind::AlreadyExists, "{e}");
        }
        Some(folder)
    };
    MADE.get_or_init(make).as_deref()
}

/// Set in processes that find the mocks.
const ON_THE_DRIVER: &str = "OXIDNN_TEST_DRIVER";

fn is_on_the_driver() -> bool {
    std::env::var_os(ON_THE_DRIVER).is_some()
}

/// Set in processes that tune.
const TUNES: &str = "OXIDNN_TEST_TUNES";

/// How long the mock driver takes to load a module, in microseconds.
const LOAD: &str = "OXIDNN_TEST_LOAD_US";

/// Runs a test in a process of `program` (default: this one) with the mocks and a kernel store in `cache`; returns what it printed.
fn on_the_driver(test: &str, program: Option<&Path>, cache: Option<&Path>) -> Option<String> {
    on_the_driver_with(test, program, cache, &[])
}

fn on_the_driver_with(test: &str, program: Option<&Path>, cache: Option<&Path>, variables: &[(&str, &str)]) -> Option<String> {
    let folder = libraries()?;
    let mut command = Command::new(program.map_or_else(|| std::env::current_exe().unwrap(), Path::to_owned));
    command
        .args(["--exact", test, "--nocapture"])
        .env(ON_THE_DRIVER, "1")
        .envs(variables.iter().copied())
        .env("LD_LIBRARY_PATH", folder)
        .env_remove("CUDA_VISIBLE_DEVICES");
    match cache {
        Some(cache) => command.env("XDG_CACHE_HOME", cache),
        None => command.env("OXIDNN_KERNEL_STORE", "0"),
    };
    let out = command.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&out.stderr));
    Some(text)
}

/// Driver calls, launches and compilations so far.
fn counts() -> [usize; 3] {
    let name = Context::primary(0).unwrap().name().unwrap();
    let mut numbers = name.rsplit(' ').map(|n| n.parse().unwrap());
    let [compilations, launches, calls] = [(); 3].map(|()| numbers.next().unwrap());
    [calls, launches, compilations]
}

fn memory(engine: &Engine, tensor: &Tensor) -> Result<Memory<'static>, Error> {
    match tensor.layout.format {
        Format::HostScalar => Memory::host_scalar_of(tensor.dtype, &[0; 8][..tensor.dtype.bits().div_ceil(8)]),
        _ => Memory::new(engine, tensor.clone()),
    }
}

/// A primitive's arguments; runtime sizes are those of the line.
fn arguments(engine: &Engine, desc: &PrimitiveDesc, case: &Case) -> Result<Vec<(Arg, Memory<'static>)>, Error> {
    let mut op = desc.problem().op.clone();
    for o in op.operands_mut().into_iter().filter(|o| o.tensor.layout.has_runtime()) {
        let dims = case.fill.runtime_dims.get(&o.arg).copied().unwrap_or(*o.tensor.dims());
        o.tensor.layout = o.tensor.layout.at_sizes(dims);
    }
    let known = Problem::new(op, desc.problem().attr.clone())?;
    let tensor = |arg| if arg == Arg::SCRATCHPAD { desc.scratchpad().cloned() } else { known.tensor(arg) };
    desc.operands().iter().filter_map(|o| tensor(o.arg).map(|t| Ok((o.arg, memory(engine, &t)?)))).collect()
}

fn executed(engine: &Engine, stream: &Stream, desc: &PrimitiveDesc, case: &Case) -> Result<(), Error> {
    let arguments = arguments(engine, desc, case)?;
    let given: Vec<(Arg, &Memory<'_>)> = arguments.iter().map(|(arg, m)| (*arg, m)).collect();
    desc.create()?.execute(stream, &given)?;
    stream.wait()
}

/// The cases of the lists that `OXIDNN_LINES` names, by default of all smoke and regression lists and of those for GPUs.
fn lines() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let given = std::env::var("OXIDNN_LINES").ok().map(|files| files.split(',').map(PathBuf::from).collect::<Vec<_>>());
    let files = given.unwrap_or_else(|| {
        let mut files = vec![root.join("gpu/tensor-cores.txt"), root.join("gpu/vectors.txt")];
        for driver in std::fs::read_dir(root.join("inputs")).unwrap().flatten() {
            files.extend(["smoke.txt", "regress.txt"].map(|list| driver.path().join(list)).into_iter().filter(|f| f.exists()));
        }
        files
    });
    files.iter().flat_map(|file| cases(&std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display())))).collect()
}

fn cases(lines: &str) -> Vec<Case> {
    let mut settings = Settings::default();
    lines.lines().flat_map(|line| text::parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}"))).collect()
}

/// Every row of every line is planned, built and executed.
fn every_row_of_every_line() {
    let (engine, cases) = (oxidnn_cuda::engine(0).unwrap(), lines());
    let stream = Stream::new(&engine).unwrap();
    let (mut wrong, mut rows) = (Vec::new(), 0);
    for case in &cases {
        let mut desc = PrimitiveDesc::new(&engine, case.problem.clone());
        if let Err(e) = &desc {
            wrong.push(e.to_string());
        }
        while let Ok(row) = desc {
            rows += 1;
            if let Err(e) = executed(&engine, &stream, &row, case) {
                wrong.push(format!("{}: {e}", row.impl_name()));
            }
            desc = row.next_impl();
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    println!("{} problems on {rows} rows", cases.len());
}

#[test]
fn nothing_is_refused() {
    match is_on_the_driver() {
        true => every_row_of_every_line(),
        false => drop(on_the_driver("nothing_is_refused", None, None)),
    }
}

#[test]
fn nothing_is_refused_where_memory_is_not_aligned() {
    match is_on_the_driver() {
        true => every_row_of_every_line(),
        false => drop(on_the_driver_with("nothing_is_refused_where_memory_is_not_aligned", None, None, &[("OXIDNN_TEST_BEYOND", "8")])),
    }
}

/// Kernels with TMA descriptors, scratch, and several launches.
const STEADY: &str = "--matmul --dt=bf16 --stag=ab --wtag=ab --dtag=ab 512x512:512x512\n--softmax --axis=1 64x1000\n\
                      --conv --dir=BWD_W --dt=bf16 --stag=axb --wtag=axb --dtag=axb mb4ic64ih14oc64kh3ph1";

/// Driver calls of an execution: it gets the current context, asks whether the stream is captured, and launches; an event is recorded and queried every so many
/// executions. Waiting gets the context once more and synchronises.
fn calls_of_executions() {
    let engine = oxidnn_cuda::engine(0).unwrap();
    let streams = [(Stream::asynchronous(&engine).unwrap(), 5), (Stream::new(&engine).unwrap(), 11)];
    for (case, (stream, most)) in cases(STEADY).iter().flat_map(|case| streams.iter().map(move |s| (case, s))) {
        let desc = PrimitiveDesc::new(&engine, case.problem.clone()).unwrap();
        let (primitive, arguments) = (desc.create().unwrap(), arguments(&engine, &desc, case).unwrap());
        let given: Vec<(Arg, &Memory<'_>)> = arguments.iter().map(|(arg, m)| (*arg, m)).collect();
        let many = |n: usize| (0..n).for_each(|_| primitive.execute(stream, &given).unwrap());
        many(100);
        let before = counts();
        many(320);
        let after = counts();
        let [calls, launches, _] = [0, 1, 2].map(|i| after[i] - before[i]);
        println!("{}: {} calls, {} launches an execution", desc.impl_name(), calls / 320, launches / 320);
        assert!(launches >= 320 && launches % 320 == 0, "{launches}");
        assert!(calls <= launches + 320 * most + 100, "{}: {calls} calls with {launches} launches", desc.impl_name());
        assert_eq!(after[2], before[2], "nothing is compiled while executing");
    }
}

/// Host nanoseconds of an execution beside what the mock driver takes, on streams that do not wait; `OXIDNN_EXECUTIONS` says of how many.
fn nanoseconds_of_executions() {
    let count: usize = std::env::var("OXIDNN_EXECUTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000);
    let engine = oxidnn_cuda::engine(0).unwrap();
    let stream = Stream::asynchronous(&engine).unwrap();
    for case in cases(STEADY) {
        let desc = PrimitiveDesc::new(&engine, case.problem.clone()).unwrap();
        let (primitive, arguments) = (desc.create().unwrap(), arguments(&engine, &desc, &case).unwrap());
        let given: Vec<(Arg, &Memory<'_>)> = arguments.iter().map(|(arg, m)| (*arg, m)).collect();
        let times = (0..count / 100).map(|_| {
            let begin = Instant::now();
            (0..100).for_each(|_| primitive.execute(&stream, &given).unwrap());
            begin.elapsed().as_nanos() / 100
        });
        let mut times: Vec<u128> = times.collect();
        times.sort_unstable();
        println!("{}: {} ns an execution, at least {}", desc.impl_name(), times[times.len() / 2], times[0]);
        stream.wait().unwrap();
    }
}

#[test]
fn an_execution_takes_little_time_on_the_host() {
    match is_on_the_driver() {
        true => nanoseconds_of_executions(),
        false => print!("{}", on_the_driver("an_execution_takes_little_time_on_the_host", None, None).unwrap_or_default()),
    }
}

#[test]
fn an_execution_is_its_launches() {
    match is_on_the_driver() {
        true => calls_of_executions(),
        false => print!("{}", on_the_driver("an_execution_is_its_launches", None, None).unwrap_or_default()),
    }
}

/// Creates primitives and prints how many kernels were compiled for them.
fn compilations_of_primitives() {
    let engine = oxidnn_cuda::engine(0).unwrap();
    for case in cases(STEADY) {
        PrimitiveDesc::new(&engine, case.problem).unwrap().create().unwrap();
    }
    println!("compiled {}", counts()[2]);
}

#[test]
fn installed_kernels_are_not_compiled_again() {
    if is_on_the_driver() {
        return compilations_of_primitives();
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("installed-{}", std::process::id()));
    let (bin, lib) = (folder.join("bin"), folder.join("lib"));
    std::fs::create_dir_all(&bin).unwrap();
    let program = bin.join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let compiled = |cache: Option<&Path>| {
        let text = on_the_driver("installed_kernels_are_not_compiled_again", Some(&program), cache)?;
        let number = text.split("compiled ").nth(1)?.lines().next()?.parse::<usize>();
        Some(number.unwrap())
    };
    let Some(first) = compiled(None) else { return };
    assert!(first >= 3, "{first}");
    assert_eq!(compiled(None), Some(first), "without a store each process compiles");
    let cache = folder.join("cache");
    assert_eq!([compiled(Some(&cache)), compiled(Some(&cache))], [Some(first), Some(0)], "a process and the next one of the same user");
    // The kernel store of the first process, installed for all.
    std::fs::create_dir_all(&lib).unwrap();
    std::fs::rename(cache.join("oxidnn/cubin"), lib.join("oxidnn-kernels")).unwrap();
    assert_eq!(compiled(None), Some(0), "a user without a store");
    let store = Store::open(folder.join("other/oxidnn/cubin"), 1 << 20).unwrap();
    assert_eq!(compiled(Some(&folder.join("other"))), Some(0), "a user with an empty one");
    assert_eq!(store.bytes(), 0, "what is installed is not kept once more");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A product, and the grid of its launch by the plan for this device.
fn grid(device: &CudaDevice, sizes: &str) -> [u32; 3] {
    let case = cases(&format!("--matmul --dt=bf16 --stag=ab --wtag=ba --dtag=ab {sizes}")).remove(0);
    let row = ops::rows(&case.problem.op).iter().find(|row| row.name == "gemm:sm90").unwrap();
    row.plan(&case.problem, device.target()).unwrap().program().launches[0].grid
}

#[test]
fn tiles_that_were_measured_serve_later_processes() {
    const TEST: &str = "tiles_that_were_measured_serve_later_processes";
    const SIZES: [&str; 2] = ["1024x1024:1024x1024", "512x512:512x512"];
    if is_on_the_driver() {
        // Two devices, as those of two processes that tune one product each.
        let devices = [0, 1].map(|_| CudaDevice::new(0).unwrap());
        println!("grids {:?}", SIZES.map(|sizes| grid(&devices[0], sizes)));
        if std::env::var_os(TUNES).is_some() {
            for (device, sizes) in devices.iter().zip(SIZES) {
                let tuned = device.target().tuned.as_ref().unwrap();
                let (model, products) = tuned.watch(device.target(), || grid(device, sizes));
                let differs = |i: &usize| {
                    tuned.choose(&products[0], *i);
                    grid(device, sizes) != model
                };
                assert!((0..products[0].tiles()).any(|i| differs(&i)));
                tuned.save().unwrap();
            }
            println!("grids {:?}", [0, 1].map(|i| grid(&devices[i], SIZES[i])));
        }
        return;
    }
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tuned-{}", std::process::id()));
    let grids = |tunes: bool| {
        let variables = [("OXIDNN_TEST_NAME", "an H200"), (TUNES, "1")];
        let text = on_the_driver_with(TEST, None, Some(&cache), &variables[..1 + usize::from(tunes)])?;
        Some(text.split("grids ").skip(1).map(|part| part.lines().next().unwrap_or("").to_owned()).collect::<Vec<_>>())
    };
    let Some(before) = grids(false) else { return };
    let tuned = grids(true).unwrap();
    assert_eq!((&tuned[0], tuned.len()), (&before[0], 2));
    let after = grids(false).unwrap();
    assert!(after[0] == tuned[1] && after[0] != before[0], "{before:?} {tuned:?} {after:?}");
    std::fs::remove_dir_all(&cache).unwrap();
}

/// Products whose kernels are in one file.
fn products() -> Vec<Case> {
    let kinds = ["bf16", "f16", "f16:f16:f32", "bf16:bf16:f32"];
    let lines = kinds.map(|kind| format!("--matmul --reset --dt={kind} --stag=ab --wtag=ab,ba --dtag=ab 512x512:512x512\n"));
    cases(&lines.concat())
}

fn create(engine: &Engine, cases: Vec<Case>) {
    for case in cases {
        PrimitiveDesc::new(engine, case.problem).unwrap().create().unwrap();
    }
}

#[test]
fn a_process_ends_while_kernels_are_loaded_ahead() {
    const TEST: &str = "a_process_ends_while_kernels_are_loaded_ahead";
    let engine = || oxidnn_cuda::engine(0).unwrap();
    match std::env::var(LOAD).as_deref().map(str::parse::<u64>) {
        Ok(Ok(us)) => {
            let engines = [engine(), engine()];
            engines.iter().for_each(|e| create(e, products().into_iter().take(1).collect()));
            std::thread::sleep(Duration::from_micros(us * 3 / 2));
            // The test harness prints that for tests that return.
            println!("compiled {}, 1 passed", counts()[2]);
            std::process::exit(0);
        }
        _ if is_on_the_driver() => return create(&engine(), products()),
        _ => {}
    }
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ahead-{}", std::process::id()));
    let Some(_) = on_the_driver(TEST, None, Some(&cache)) else { return };
    let texts = [0, 1000, 20_000].map(|us: u32| on_the_driver_with(TEST, None, Some(&cache), &[(LOAD, &us.to_string())]).unwrap());
    assert!(texts.iter().all(|text| text.contains("compiled 0,")), "{texts:?}");
    std::fs::remove_dir_all(&cache).unwrap();
}
