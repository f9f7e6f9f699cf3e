//! A device that knows one operation, element-wise `alpha * src + beta` in f32 over plain layouts, with three rows: one that takes only
//! sizes divisible by 16, one that books scratch, and one that takes everything; and reorders, of which it can only copy.

#![allow(dead_code, reason = "each test file uses a part")]

use oxidnn_runtime::*;
use oxidnn_spec::op::{Eltwise, EltwiseAlg};
use oxidnn_spec::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of `usual` rounds or elements of a test as many as it takes: all, but under Miri, which is some thousand times slower.
pub(crate) const fn rounds(usual: usize) -> usize {
    if cfg!(miri) { usual.div_ceil(50) } else { usual }
}

pub(crate) struct Toy {
    pub(crate) builds: Arc<AtomicUsize>,
}

impl Device for Toy {
    fn kind(&self) -> EngineKind {
        EngineKind::Cpu
    }
    fn name(&self) -> String {
        "toy".into()
    }
    fn fingerprint(&self) -> String {
        format!("toy {:p}", Arc::as_ptr(&self.builds))
    }
    fn plan(&self, problem: &Problem, from_row: usize) -> Result<Planned, Refused> {
        plan_rows(table(problem), problem, self, from_row)
    }
}

const LINEAR: &[Impl<Toy>] = &[
    Impl::new("wide:toy", |p, t| if elements(p).is_multiple_of(16) { plan(p, t, 0) } else { Err(Skip::Shape("not whole blocks of 16")) }),
    Impl::new("scratch:toy", |p, t| if elements(p) >= 8 { plan(p, t, elements(p) * 4) } else { Err(Skip::Shape("too small")) }),
    Impl::new("ref:any", |p, t| plan(p, t, 0)),
];

const COPY: &[Impl<Toy>] = &[Impl::new("copy:toy", |p, t| plan(p, t, 0))];

fn table(problem: &Problem) -> &'static [Impl<Toy>] {
    match &problem.op {
        Op::Eltwise(e) if e.alg == EltwiseAlg::Linear => LINEAR,
        Op::Reorder(_) => COPY,
        _ => &[],
    }
}

fn elements(p: &Problem) -> usize {
    p.op.result().and_then(|t| t.layout.elements()).unwrap_or(0) as usize
}

fn plan(problem: &Problem, toy: &Toy, scratch: usize) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    problem.resolve();
    Ok(Box::new(Linear { problem, scratch, builds: toy.builds.clone() }))
}

#[derive(Debug)]
struct Linear {
    problem: Problem,
    scratch: usize,
    builds: Arc<AtomicUsize>,
}

impl Plan for Linear {
    fn problem(&self) -> &Problem {
        &self.problem
    }
    fn scratch_bytes(&self) -> usize {
        self.scratch
    }
    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        self.builds.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(std::time::Duration::from_millis(2));
        let (alpha, beta) = match &self.problem.op {
            Op::Eltwise(e) => (e.alpha.get(), e.beta.get()),
            _ => (1.0, 0.0),
        };
        Ok(Arc::new(LinearCode { alpha, beta, scratch: self.scratch }))
    }
}

/// A `beta` whose executions fail, after a while.
pub(crate) const FAILS: f32 = f32::INFINITY;

struct LinearCode {
    alpha: f32,
    beta: f32,
    scratch: usize,
}

impl Exec for LinearCode {
    fn run(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        if self.beta == FAILS {
            std::thread::sleep(std::time::Duration::from_millis(5));
            return Err(Error::Runtime("as it should".into()));
        }
        let (src, dst) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DST)?);
        let scratch = ctx.scratch_buf();
        assert!(scratch.len() >= self.scratch && scratch.as_ptr().addr().is_multiple_of(64));
        let n = dst.len() / 4;
        let tasks = n.div_ceil(256);
        ctx.executor().run(ctx.executor().threads(), tasks, &|_, t| {
            for i in t * 256..n.min((t + 1) * 256) {
                let mut v = self.alpha * src.get::<f32>(i) + self.beta;
                if self.scratch > 0 {
                    scratch.set(i, v);
                    v = scratch.get(i);
                }
                dst.set(i, v);
            }
        });
        Ok(())
    }
}

/// An engine, and the number of times that code was built on it.
pub(crate) fn engine() -> (Engine, Arc<AtomicUsize>) {
    let builds = Arc::new(AtomicUsize::new(0));
    (Engine::new(Toy { builds: builds.clone() }), builds)
}

pub(crate) fn linear(dims: impl Into<Dims>, alpha: f32, beta: f32, attr: Attr) -> Problem {
    let dims = dims.into();
    let src = Tensor::plain(dims, DataType::F32).unwrap();
    let dst = Some(Tensor::any(dims, DataType::F32));
    let (alpha, beta) = (alpha.into(), beta.into());
    let op = Eltwise { prop: Prop::ForwardInference, alg: EltwiseAlg::Linear, alpha, beta, src, dst, diff_src: None, diff_dst: None };
    Problem::new(op, attr).unwrap()
}

/// A copy whose first dim is given at execution.
pub(crate) fn runtime_copy() -> Problem {
    let tensor = Tensor::plain([RUNTIME, 3], DataType::F32).unwrap();
    Problem::new(op::Reorder { src: tensor.clone(), dst: tensor }, Attr::default()).unwrap()
}

pub(crate) fn user_scratchpad() -> Attr {
    Attr { scratchpad: ScratchpadMode::User, ..Attr::default() }
}
