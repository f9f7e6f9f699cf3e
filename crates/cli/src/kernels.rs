//! `oxidnn kernels`: compiles the kernels that problems need on GPUs before anybody waits for them, without a GPU.
//!
//! What a kernel's code depends on is not the sizes of a problem, so the kernels of a few thousand problems of all kinds (`oxidnn sweep` prints such) are those of
//! all others of these kinds: where they are in the store, a problem never seen compiles nothing.

use crate::{Kernels, print, problems};
use anyhow::{Context, Result, bail};
use oxidnn_cuda::program::{Program, Source};
use oxidnn_cuda::{CudaTarget, Facts, compile, ops};
use oxidnn_runtime::{knobs, store::Store};
use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs the command; the exit code is 1 when a kernel does not compile.
pub(crate) fn run(args: &Kernels) -> Result<ExitCode> {
    let store = match &args.dir {
        Some(dir) => Store::open(dir, knobs::get().kernel_store as u64)?,
        None => {
            compile::store().context("there is no kernel store: no cache directory, or the knob KERNEL_STORE is 0; name one with --dir")?
        }
    };
    let cases = problems::collect(&args.selection)?;
    let mut code = ExitCode::SUCCESS;
    for name in &args.arch {
        let Some(facts) = Facts::named(name) else {
            bail!("--arch {name}: one of {}", Facts::NAMED.map(|n| n.0).join(", "));
        };
        let (mut kernels, mut list) = (HashSet::new(), Vec::new());
        let target = CudaTarget::described(facts);
        for named in &cases {
            // Code is the same for all sizes that executions give.
            let problem = named.case.problem.example()?;
            let plans = ops::rows(&problem.op).iter().filter_map(|row| row.plan(&problem, &target).ok());
            if let Some(plan) = plans.take(1).next() {
                collect(plan.program(), &mut kernels, &mut list);
            }
        }
        let made = build(&list, &facts.architecture(), &store, args.jobs)?;
        let failed = made.failed.len();
        made.failed.iter().for_each(print::line);
        print::line(format_args!(
            "{}: {} kernels of {} problems, {} of them made now, {failed} failed",
            facts.architecture(),
            list.len(),
            cases.len(),
            made.new
        ));
        if failed > 0 {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// The kernels of a program that are not known yet, in order.
fn collect(program: &Program, known: &mut HashSet<Arc<Source>>, list: &mut Vec<Arc<Source>>) {
    for launch in &program.launches {
        if known.insert(Arc::clone(&launch.source)) {
            list.push(Arc::clone(&launch.source));
        }
    }
    if let Some(unaligned) = &program.unaligned {
        collect(unaligned, known, list);
    }
}

/// What was compiled.
struct Made {
    new: usize,
    failed: Vec<String>,
}

fn build(list: &[Arc<Source>], architecture: &str, store: &Store, jobs: usize) -> Result<Made> {
    let (next, new, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(source) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match compile::prebuild(source, architecture, store) {
                        Ok(made) => _ = new.fetch_add(usize::from(made), Ordering::Relaxed),
                        Err(e) => failed.lock().unwrap_or_else(PoisonError::into_inner).push(e.to_string()),
                    }
                }
            });
        }
    });
    Ok(Made { new: new.into_inner(), failed: failed.into_inner().unwrap_or_else(PoisonError::into_inner) })
}
