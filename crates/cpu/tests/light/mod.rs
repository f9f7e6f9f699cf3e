//! A problem with memory for its arguments, for tests and examples of this crate: filled the same way each time, run by any row.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "shared by tests and examples, which use different parts")]

use oxidnn_cpu::{CpuTarget, ops};
use oxidnn_expr::number;
use oxidnn_judge::within;
use oxidnn_runtime::queue::Immediate;
use oxidnn_runtime::{Bound, Buf, Ctx, Exec, Plan, Region, Threads};
use oxidnn_spec::op::{Op, Pool, Prop, Use};
use oxidnn_spec::text::{Case, Settings, parse_line};
use oxidnn_spec::{Arg, DataType, Format, Layout, Operand, Problem, Tensor};
use std::sync::Arc;

/// Every problem of a batch of lines.
pub fn cases(text: &str) -> Vec<Case> {
    let mut settings = Settings::default();
    text.lines().flat_map(|line| parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}"))).collect()
}

/// A small random source.
pub struct Random(u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = self.0 ^ self.0 >> 29;
        x.wrapping_mul(0x9e3779b97f4a7c15) >> 33
    }
    /// In `0..1`.
    pub fn unit(&mut self) -> f64 {
        (self.next() % 65536) as f64 / 65536.0
    }
}

/// The memory of one argument.
#[derive(Clone)]
pub struct Argument {
    pub arg: Arg,
    pub usage: Use,
    pub tensor: Tensor,
    pub bytes: Vec<u64>,
    pub len: usize,
}

/// A value for element `i` of an argument.
fn value(arg: Arg, dtype: DataType, problem: &Problem, random: &mut Random) -> f64 {
    let numbers = [&problem.attr.scales].into_iter().flatten().any(|(of, _)| Arg::scale(*of) == arg);
    let zero_points = problem.attr.zero_points.keys().any(|of| Arg::zero_point(*of) == arg);
    match arg {
        Arg::VARIANCE => 0.5 + random.unit(),
        Arg::DROPOUT_PROBABILITY => 0.3,
        Arg::DROPOUT_SEED | Arg::DROPOUT_OFFSET | Arg::ROUNDING_SEED => 77.0,
        Arg::WORKSPACE => (random.next() % 256) as f64,
        _ if numbers => 0.25 + 2.0 * random.unit(),
        _ if zero_points => (random.next() % 5) as f64,
        _ if dtype == DataType::U8 => (random.next() % 32) as f64,
        _ if dtype.is_integral() => (random.next() % 17) as f64 - 8.0,
        _ if dtype == DataType::E8m0 => 2f64.powi((random.next() % 4) as i32 - 2),
        _ => 4.0 * random.unit() - 2.0,
    }
}

impl Argument {
    fn new(operand: Operand<Tensor>, problem: &Problem) -> Argument {
        let Operand { arg, usage, tensor } = operand;
        let len = tensor.bytes();
        let mut a = Argument { arg, usage, bytes: vec![0; len.div_ceil(8) + 1], len, tensor };
        let mut random = Random(arg.0 as u64 * 7919 + 5);
        let dtype = a.tensor.dtype;
        let bits = dtype.bits();
        let count = len * 8 / bits;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut a.bytes);
        for i in 0..count {
            let code = number::encode(dtype, value(arg, dtype, problem, &mut random));
            if bits == 4 {
                bytes[i / 2] |= ((code & 15) as u8) << (i % 2 * 4);
            } else {
                bytes[i * bits / 8..][..bits / 8].copy_from_slice(&code.to_le_bytes()[..bits / 8]);
            }
        }
        a
    }

    pub fn data(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.bytes)[..self.len]
    }

    /// The stored numbers, those outside the tensor included.
    pub fn numbers(&self) -> Vec<f64> {
        let (bits, dtype) = (self.tensor.dtype.bits(), self.tensor.dtype);
        let data = self.data();
        (0..data.len() * 8 / bits)
            .map(|i| {
                if bits == 4 {
                    return number::decode(dtype, u64::from(data[i / 2] >> (i % 2 * 4) & 15));
                }
                let mut code = [0; 8];
                code[..bits / 8].copy_from_slice(&data[i * bits / 8..][..bits / 8]);
                number::decode(dtype, u64::from_le_bytes(code))
            })
            .collect()
    }

    /// Zeroes the padded area, as inputs have it.
    fn zero_padding(&mut self) {
        let Some(b) = self.tensor.blocking().cloned() else { return };
        let (dims, padded) = (*self.tensor.dims(), b.padded_dims);
        if dims == padded || dims.contains(&0) {
            return;
        }
        let bits = self.tensor.dtype.bits();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.bytes);
        oxidnn_reference::for_each_position(&padded, |pos| {
            if pos.iter().zip(dims.iter()).any(|(p, d)| p >= d) {
                let at = b.offset_of(pos) as usize;
                if bits == 4 {
                    bytes[at / 2] &= !(15 << (at % 2 * 4));
                } else {
                    bytes[at * bits / 8..][..bits / 8].fill(0);
                }
            }
        });
    }
}

/// A resolved problem with its arguments.
#[derive(Clone)]
pub struct Run {
    pub problem: Problem,
    pub arguments: Vec<Argument>,
    pub inplace: bool,
}

impl Run {
    /// Arguments for a case, or `None` when it has buffers that are not dense.
    pub fn new(case: &Case) -> Option<Run> {
        let mut problem = case.problem.clone();
        problem.resolve();
        let mut arguments = Vec::new();
        for mut o in problem.operands() {
            if let Some(dims) = case.fill.runtime_dims.get(&o.arg) {
                let order = o.tensor.layout.tag().unwrap_or_else(|| "abx".into());
                o.tensor.layout = Layout::with_tag(*dims, &order).ok()?;
            }
            if o.tensor.layout.has_runtime() || !matches!(o.tensor.layout.format, Format::Blocked(_) | Format::HostScalar) {
                return None;
            }
            let input = o.usage == Use::In;
            let mut a = Argument::new(o, &problem);
            if input {
                a.zero_padding();
            }
            arguments.push(a);
        }
        let mut run = Run { problem, arguments, inplace: case.fill.inplace };
        if let Op::Pool(p) = &run.problem.op
            && !p.prop.is_forward()
            && p.workspace.is_some()
        {
            run.pool_workspace((**p).clone());
        }
        Some(run)
    }

    /// The workspace that the forward pass of a backward pooling leaves.
    fn pool_workspace(&mut self, pool: Pool) {
        let op = Pool { prop: Prop::ForwardTraining, ..pool };
        let problem = Problem { op: op.into(), attr: Default::default() };
        let mut forward = Run::new(&Case { problem, fill: Default::default(), name: None }).unwrap();
        forward.execute("ref:any", oxidnn_runtime::Threads::inline()).unwrap();
        let workspace = forward.arguments.into_iter().find(|a| a.arg == Arg::WORKSPACE).unwrap();
        for a in self.arguments.iter_mut().filter(|a| a.arg == Arg::WORKSPACE) {
            a.bytes.clone_from(&workspace.bytes);
        }
    }

    /// The plan of a row.
    pub fn plan(&self, row: &str) -> Result<Box<dyn Plan>, String> {
        let row = ops::rows(&self.problem.op).iter().find(|r| r.name == row).ok_or("no such row")?;
        (row.plan)(&self.problem, &CpuTarget::host()).map_err(|s| s.to_string())
    }

    /// Plans, builds and runs a row once.
    pub fn execute(&mut self, row: &str, threads: Threads) -> Result<(), String> {
        let plan = self.plan(row)?;
        // A plan is a value: what was built before changes nothing, and is not what runs.
        drop(plan.build().map_err(|e| e.to_string())?);
        let exec = plan.build().map_err(|e| e.to_string())?;
        self.with(&*plan, &exec, threads, |go| go())
    }

    /// Calls `body` with a function that executes.
    pub fn with<T>(
        &mut self,
        plan: &dyn Plan,
        exec: &Arc<dyn Exec>,
        threads: Threads,
        body: impl FnOnce(&mut dyn FnMut() -> Result<(), String>) -> T,
    ) -> T {
        let mut scratch = vec![[0u64; 8]; plan.scratch_bytes().div_ceil(64) + 1];
        let base = scratch.as_mut_ptr().cast::<u8>();
        let base = base.wrapping_add(base.align_offset(64));
        // SAFETY: the vector outlives the execution and is used by nothing else; one element more than needed leaves room to align.
        let scratch_buf = unsafe { Buf::new(base, plan.scratch_bytes()) };
        let source = self
            .inplace
            .then(|| self.arguments.iter().position(|a| matches!(a.arg, Arg::SRC | Arg::DIFF_DST) || a.arg == Arg::multiple_src(0)))
            .flatten();
        let target = self.arguments.iter().position(|a| matches!(a.arg, Arg::DST | Arg::DIFF_SRC) && a.usage == Use::Out);
        let mut regions: Vec<[Region; 1]> = Vec::new();
        for a in &mut self.arguments {
            // SAFETY: the argument's vector outlives the execution; rows write disjoint elements in parallel.
            regions.push([Region::host(unsafe { Buf::new(a.bytes.as_mut_ptr().cast(), a.len) })]);
        }
        if let (Some(s), Some(t)) = (source, target) {
            regions[t] = regions[s];
        }
        let bound: Vec<Bound<'_>> = self
            .arguments
            .iter()
            .zip(&regions)
            .map(|(a, r)| Bound { arg: a.arg, usage: a.usage, tensor: &a.tensor, regions: r, notes: None })
            .collect();
        let queue = Immediate::new(threads);
        let ctx = Ctx { args: &bound, scratch: Region::host(scratch_buf), queue: &queue };
        body(&mut || exec.run(&ctx).map_err(|e| e.to_string()))
    }
}

/// The first difference of the results of two runs that is beyond what the types and lengths allow.
pub fn difference(expected: &Run, got: &Run) -> Option<String> {
    let longest = expected.arguments.iter().filter_map(|a| a.tensor.layout.elements()).max().unwrap_or(1) as f64;
    for (e, g) in expected.arguments.iter().zip(&got.arguments) {
        if e.data() == g.data() {
            continue;
        }
        let dtype = e.tensor.dtype;
        let (want, have) = (e.numbers(), g.numbers());
        if want.len() != have.len() {
            return Some(format!("{}: {} elements, expected {}", e.arg, have.len(), want.len()));
        }
        let scale = want.iter().filter(|v| v.is_finite()).fold(0f64, |m, v| m.max(v.abs())).clamp(1.0, 1e3);
        for (i, (w, h)) in want.iter().zip(&have).enumerate() {
            let tolerance = if dtype.is_integral() {
                1.0
            } else {
                dtype.epsilon() * w.abs() * 1.01 + 1.2e-7 * (8.0 + longest.sqrt()) * scale.max(w.abs())
            };
            if !within(*h, *w, tolerance) {
                return Some(format!("{} element {i} of {}: expected {w}, got {h} ({})", e.arg, want.len(), e.tensor.summary()));
            }
        }
    }
    None
}
