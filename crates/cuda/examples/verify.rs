//! Runs every row of problem lines on GPU 0 and compares with the reference: `verify FILE..`.

use oxidnn_cuda::compile::Loader;
use oxidnn_cuda::driver::{Block, Context, CudaError, Pool, Stream};
use oxidnn_cuda::exec::{Launches, Places};
use oxidnn_cuda::{CudaTarget, Row, ops};
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_spec::{Arg, Format};
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::harness::Truth;
use oxidnn_testing::host::{HostArgs, HostTensor};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

struct Gpu {
    target: CudaTarget,
    loader: Arc<Loader>,
    pool: Arc<Pool>,
}

struct Memory<'a> {
    args: &'a HostArgs,
    blocks: HashMap<(Arg, usize), Arc<Block>>,
    scratch: Option<Block>,
}

impl Places for Memory<'_> {
    fn address(&self, arg: Arg, buffer: usize) -> Option<u64> {
        self.blocks.get(&(arg, buffer)).map(|b| b.address())
    }
    fn host_scalar(&self, arg: Arg) -> Option<u64> {
        let bytes = self.args.get(arg)?.bytes(0);
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(&bytes);
        Some(u64::from_le_bytes(word))
    }
    fn scratch(&self) -> u64 {
        self.scratch.as_ref().map_or(0, |b| b.address())
    }
}

fn run(gpu: &Gpu, stream: &Arc<Stream>, row: &Row, truth: &Truth) -> Result<HostArgs, String> {
    let text = |e: CudaError| e.to_string();
    let plan = row.plan(&truth.problem, &gpu.target).map_err(|e| format!("skip {e}"))?;
    let launches = Launches::load(plan.program(), &gpu.loader).map_err(text)?;
    let mut memory = Memory { args: &truth.inputs, blocks: HashMap::new(), scratch: None };
    for (arg, tensor) in &truth.inputs.0 {
        if matches!(tensor.tensor.layout.format, Format::HostScalar) {
            continue;
        }
        for (i, buf) in tensor.bufs.iter().enumerate() {
            let shared = truth.inplace.filter(|p| p.1 == *arg).and_then(|p| memory.blocks.get(&(p.0, i)).cloned());
            let block = match shared {
                Some(b) => b,
                None => {
                    let block = Arc::new(gpu.pool.allocate(buf.len(), None).map_err(text)?);
                    // SAFETY: the block was just made for these bytes.
                    unsafe { stream.upload(&tensor.bytes(i), block.address()).map_err(text)? };
                    block
                }
            };
            memory.blocks.insert((*arg, i), block);
        }
    }
    if plan.program().scratch > 0 {
        memory.scratch = Some(gpu.pool.allocate(plan.program().scratch, None).map_err(text)?);
    }
    // SAFETY: the memory is made for the problem and freed after `synchronise`.
    unsafe { launches.run(stream, &memory).map_err(text)? };
    stream.synchronise().map_err(text)?;
    let mut got = HostArgs::default();
    for (arg, tensor) in &truth.inputs.0 {
        let out = HostTensor::filled(&tensor.tensor, 0);
        for i in 0..tensor.bufs.len() {
            let mut bytes = tensor.bytes(i);
            if let Some(b) = memory.blocks.get(&(*arg, i)) {
                // SAFETY: the block has as many bytes.
                unsafe { stream.download(b.address(), &mut bytes).map_err(text)? };
            }
            out.bufs[i].iter().zip(bytes).for_each(|(c, b)| c.set(b));
        }
        got.0.push((*arg, out));
    }
    Ok(got)
}

fn verify(gpu: &Gpu, stream: &Arc<Stream>, case: &Case) -> Vec<(String, Result<(), String>)> {
    let mut out = Vec::new();
    for row in ops::rows(&case.problem.op) {
        let mut problem = case.problem.clone();
        problem.resolve();
        let result = concrete(&problem, &case.fill).and_then(|p| Truth::of(&p, &case.fill)).map_err(|e| format!("reference: {e}")).and_then(|truth| {
            let got = run(gpu, stream, row, &truth)?;
            let wrong = truth.compare(&got);
            if wrong.is_empty() { Ok(()) } else { Err(wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")) }
        });
        out.push((row.name.to_owned(), result));
    }
    out
}

fn main() {
    let context = Context::primary(0).expect("a GPU");
    let facts = context.facts().expect("facts");
    println!("{} {facts:?}", context.name().expect("a name"));
    let loader = Arc::new(Loader::new(&context, &facts));
    let gpu = Gpu { target: CudaTarget::described(facts), pool: Pool::new(&context, 0).expect("a pool"), loader };
    for file in std::env::args().skip(1) {
        let start = std::time::Instant::now();
        let mut settings = Settings::default();
        let text = std::fs::read_to_string(&file).expect("a file");
        let cases: Vec<(String, Case)> = text
            .lines()
            .flat_map(|line| text::parse_line(&mut settings, line).expect("a problem").into_iter().map(|c| (line.to_owned(), c)))
            .collect();
        let (next, passed, skipped) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let failures = Mutex::new(Vec::new());
        // Host tensors are not shared between threads: each makes its own from the line.
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let stream = Arc::new(Stream::new(&context).expect("a stream"));
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some((line, case)) = cases.get(i) else { return };
                        let results = verify(&gpu, &stream, case);
                        if results.iter().all(|r| matches!(&r.1, Err(e) if e.starts_with("skip"))) {
                            skipped.fetch_add(1, Ordering::Relaxed);
                            failures.lock().unwrap().push(format!("SKIPPED {line}\n    {results:?}"));
                        }
                        for (row, result) in results {
                            match result {
                                Ok(()) => {
                                    passed.fetch_add(1, Ordering::Relaxed);
                                }
                                Err(e) if e.starts_with("skip") => {}
                                Err(e) => failures.lock().unwrap().push(format!("FAILED {line}\n    {row}: {}", &e[..e.len().min(600)])),
                            }
                        }
                    }
                });
            }
        });
        let failures = failures.into_inner().unwrap();
        for f in &failures {
            println!("{f}");
        }
        let wrong = failures.iter().filter(|f| f.starts_with("FAILED")).count();
        println!(
            "== {file}: {} passed, {wrong} failed, {} refused, {} kernels so far, {:?}",
            passed.load(Ordering::Relaxed),
            skipped.load(Ordering::Relaxed),
            gpu.loader.compiled(),
            start.elapsed()
        );
    }
}
