//! `oxidnn kernels`: compiles the kernels that problems need ahead of time, without a GPU.
//!
//! A kernel's code does not depend on the sizes of a problem, so the kernels of a few thousand problems of all kinds (`oxidnn sweep` prints such) serve all others:
//! with these in the store, a new problem compiles nothing.

use crate::problems::Named;
use crate::{Kernels, print, problems};
use anyhow::{Context, Result, anyhow};
use oxidnn_cuda::program::Source;
use oxidnn_cuda::{CudaTarget, Facts, compile, ops};
use oxidnn_runtime::store::Store;
use oxidnn_spec::Problem;
use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs the command; the exit code is 1 when a kernel does not compile.
pub(crate) fn run(args: &Kernels) -> Result<ExitCode> {
    let cases = problems::collect(&args.selection)?;
    let registries: Vec<Registry> = args.arch.iter().map(|name| Registry::of(name)).collect::<Result<_>>()?;
    if args.needed {
        return needed(&cases, registries);
    }
    let store = match &args.dir {
        // A named folder is shipped, so it must have all kernels.
        Some(dir) => Store::open(dir, u64::MAX)?,
        None => {
            compile::store().context("there is no kernel store: no cache directory, or the knob KERNEL_STORE is 0; name one with --dir")?
        }
    };
    let mut code = ExitCode::SUCCESS;
    for mut registry in registries {
        cases.iter().try_for_each(|named| registry.add(&named.case.problem))?;
        let Registry { architecture, list, .. } = registry;
        let made = build(&list, &architecture, &store, args.jobs)?;
        let failed = made.failed.len();
        made.failed.iter().for_each(print::line);
        print::line(format_args!(
            "{architecture}: {} kernels of {} problems, {} of them made now, {failed} failed",
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

/// Prints the problems that need a kernel, on any of the GPUs, that no earlier problem needs.
fn needed(cases: &[Named], mut registries: Vec<Registry>) -> Result<ExitCode> {
    let count = |all: &[Registry]| all.iter().map(|r| r.list.len()).sum::<usize>();
    for named in cases {
        let before = count(&registries);
        registries.iter_mut().try_for_each(|registry| registry.add(&named.case.problem))?;
        if count(&registries) > before {
            print::line(&named.case.problem);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The kernels that problems need on the GPUs of an architecture, each once, in order.
struct Registry {
    architecture: String,
    targets: Vec<CudaTarget>,
    known: HashSet<Arc<Source>>,
    list: Vec<Arc<Source>>,
}

impl Registry {
    fn of(name: &str) -> Result<Registry> {
        let known = || Facts::NAMED.map(|n| n.0).join(", ");
        let architecture = Facts::named(name).with_context(|| format!("--arch {name}: one of {}", known()))?.architecture();
        let targets = Facts::all(name).map(CudaTarget::described).collect();
        Ok(Registry { architecture, targets, known: HashSet::new(), list: Vec::new() })
    }

    /// Those of the first row that supports the problem.
    fn add(&mut self, problem: &Problem) -> Result<()> {
        // The code is the same for all runtime sizes.
        let problem = problem.example()?;
        for i in 0..self.targets.len() {
            let plan = ops::rows(&problem.op).iter().find_map(|row| row.plan(&problem, &self.targets[i]).ok());
            let Some(plan) = plan else { continue };
            let programs = plan.programs().map_err(|why| anyhow!("{problem} where memory is not aligned: {why}"))?;
            for launch in programs.into_iter().flat_map(|program| program.launches) {
                if self.known.insert(Arc::clone(&launch.source)) {
                    self.list.push(launch.source);
                }
            }
        }
        Ok(())
    }
}

/// The compiled kernels.
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
