//! How many calls there are between a program and what is made for it: to the row that plans a problem, to the code that a plan builds, and to the
//! kernel of an execution. ARCHITECTURE.md states the numbers.

use oxidnn_runtime::*;
use oxidnn_spec::op::{Eltwise, EltwiseAlg};
use oxidnn_spec::*;
use std::backtrace::Backtrace;
use std::sync::{Arc, Mutex};

/// Names of the functions between a test and where it was taken, outermost first.
type Calls = Vec<String>;

/// Where calls are recorded: in the row, in the plan, in the code.
#[derive(Clone, Default, Debug)]
struct Record(Arc<Mutex<[Calls; 3]>>);

impl Record {
    /// Remembers who called this: functions of the runtime and of this file, by their last names. Those that the compiler has merged into others
    /// are there too where the build has debug information, which names functions alone, and their files in lines of their own.
    fn take(&self, at: usize) {
        let trace = Backtrace::force_capture().to_string();
        let mut lines = trace.lines().map(str::trim_start).peekable();
        let mut calls = Calls::new();
        while let Some(line) = lines.next() {
            let Some((_, name)) = line.split_once(": ").filter(|(n, _)| n.parse::<u32>().is_ok()) else { continue };
            let file = lines.next_if(|line| line.starts_with("at ")).map(|line| line.trim_start_matches("at ./"));
            let path = name.trim_start_matches('<');
            let is_ours = ["oxidnn_runtime::", "hops::"].iter().any(|c| path.starts_with(c))
                || file.is_some_and(|file| ["src/", "tests/"].iter().any(|f| file.starts_with(f)) || file.contains("crates/runtime/"));
            // The last of the names, without types and without the compiler's hash.
            let name = without_types(name);
            let last = name.split("::").filter(|part| !(part.len() == 17 && part.starts_with('h'))).last().unwrap_or(&name);
            match last {
                "from_here" => break,
                last if is_ours && !name.contains("closure") && last != "take" => calls.push(last.to_string()),
                _ => {}
            }
        }
        calls.reverse();
        self.0.lock().unwrap()[at] = calls;
    }
}

/// A path without what it has in angle brackets.
fn without_types(path: &str) -> String {
    let mut depth = 0;
    let outside = |c: &char| {
        depth += i32::from(*c == '<');
        let is_outside = depth == 0;
        depth -= i32::from(*c == '>');
        is_outside
    };
    path.chars().filter(outside).collect()
}

impl Device for Record {
    fn kind(&self) -> EngineKind {
        EngineKind::Cpu
    }
    fn name(&self) -> String {
        "recorder".into()
    }
    fn fingerprint(&self) -> String {
        format!("recorder {:p}", Arc::as_ptr(&self.0))
    }
    fn plan(&self, problem: &Problem, from_row: usize) -> std::result::Result<Planned, Refused> {
        plan_rows(&[Impl::new("row", row)], problem, self, from_row)
    }
}

#[inline(never)]
fn row(problem: &Problem, record: &Record) -> std::result::Result<Box<dyn Plan>, Skip> {
    record.take(0);
    Ok(Box::new(Recorded { problem: problem.clone(), record: record.clone() }))
}

#[derive(Debug)]
struct Recorded {
    problem: Problem,
    record: Record,
}

impl Plan for Recorded {
    fn problem(&self) -> &Problem {
        &self.problem
    }
    fn scratch_bytes(&self) -> usize {
        64
    }
    #[inline(never)]
    fn build(&self) -> std::result::Result<Arc<dyn Exec>, Error> {
        self.record.take(1);
        Ok(Arc::new(self.record.clone()))
    }
}

impl Exec for Record {
    #[inline(never)]
    fn run(&self, _: &Ctx<'_>) -> std::result::Result<(), Error> {
        self.take(2);
        Ok(())
    }
}

#[inline(never)]
fn from_here(engine: &Engine) -> std::result::Result<(), Error> {
    let tensor = Tensor::plain([4], DataType::F32)?;
    let op = Eltwise::forward(Prop::ForwardInference, EltwiseAlg::Relu, [0.0; 2], tensor.clone(), tensor.clone());
    let desc = PrimitiveDesc::new(engine, Problem::new(op, Attr::default())?)?;
    let primitive = desc.create()?;
    let [src, dst] = [Memory::new(engine, tensor.clone())?, Memory::new(engine, tensor)?];
    primitive.execute(&Stream::with_threads(engine, Threads::inline())?, &[(Arg::SRC, &src), (Arg::DST, &dst)])
}

#[test]
fn calls_from_a_program_to_its_kernel_are_few() {
    let record = Record::default();
    from_here(&Engine::new(record.clone())).unwrap();
    let known: [&[&str]; 3] = [
        &["new", "search", "plan", "plan_rows", "row"],
        &["create", "code", "get", "build"],
        &["execute", "execute", "on_stack", "run", "submit", "run"],
    ];
    for (calls, known) in record.0.lock().unwrap().iter().zip(known) {
        assert_eq!(calls.last().map(String::as_str), known.last().copied(), "{calls:?}");
        // Every call that was found is one of these, in their order.
        let mut rest = known.iter();
        assert!(calls.iter().all(|call| rest.any(|name| name == call)), "{calls:?} are other calls than {known:?}");
    }
}
