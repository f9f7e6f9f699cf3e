//! Problems whose sizes come with their arguments: one description, and a member for each set of sizes.
//!
//! Rows do not see open sizes. At description, a row decides the layouts of `any` for example sizes; the layout of weights does not depend
//! on the data's sizes. An execution takes the member of its sizes: the problem with these sizes, its best row and the code of that row,
//! the same as a primitive made for these sizes would have. The family remembers the last member, the process as many members and bytes as
//! the primitive cache may hold. Members are users of that cache, so members and fixed problems of equal sizes share code. Finding a member
//! allocates nothing.

use crate::cache::{self, Key, Lru};
use crate::code::Code;
use crate::desc::Start;
use crate::{Bound, Ctx, Engine, Exec, Plan, Planned, PrimitiveDesc, Region, check, fork, scratch};
use oxidnn_spec::{Error, Operand, Problem, Tensor};
use std::fmt;
use std::sync::{Arc, Mutex};

/// A problem with open sizes.
#[derive(Debug)]
pub(crate) struct Family {
    engine: Engine,
    /// Layouts chosen, sizes open.
    problem: Problem,
    operands: Vec<Operand<Tensor>>,
    rows: Rows,
    key: Arc<Key>,
    /// The member of the last execution.
    last: Mutex<Option<Arc<Member>>>,
}

/// Which rows execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rows {
    /// The best of all for each set of sizes.
    Best,
    /// Those from this one of the table on, in the order in which they were asked at description.
    From(usize),
}

/// One set of sizes.
pub(crate) struct Member {
    /// The sizes of the arguments.
    given: Vec<Tensor>,
    /// The descriptions of every operand that follow from them.
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) desc: PrimitiveDesc,
    pub(crate) code: Arc<Code>,
    family: Arc<Key>,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member({:?})", self.desc)
    }
}

/// The bytes of members besides their code: descriptions, problems, plans.
const MEMBER_BYTES: usize = 16 << 10;

type Members = Mutex<Option<Lru<u64, Arc<Member>>>>;

/// The process's members, by a hash of family and sizes.
static MEMBERS: Members = Mutex::new(None);

/// Keeps at most as many members, and bytes of them, as the primitive cache keeps entries and bytes.
pub(crate) fn limit(capacity: usize, bytes: usize) {
    let mut members = fork::lock(&MEMBERS);
    let evicted = members.as_mut().map(|m| m.limit(capacity, bytes));
    drop(members);
    drop(evicted);
}

/// Number of members that are remembered, and their bytes.
pub(crate) fn remembered() -> (usize, usize) {
    fork::lock(&MEMBERS).as_ref().map_or((0, 0), |m| (m.len(), m.weight()))
}

/// The problem that rows are asked about at description: with example sizes, and the hint to let rows that serve all sizes choose layouts.
pub(crate) fn example(problem: &Problem) -> Result<Problem, Error> {
    let mut example = problem.example().map_err(|e| e.with_problem(problem))?;
    example.attr.hint_reusable_kernels = true;
    Ok(example)
}

/// The description that a row's decision on the example makes of `problem`.
pub(crate) fn plan(engine: &Engine, problem: &Problem, planned: Planned, rows: Rows) -> (Arc<Family>, Planned) {
    let mut chosen = problem.clone();
    let example = planned.plan.problem();
    for o in chosen.op.operands_mut().into_iter().filter(|o| o.tensor.layout.is_any()) {
        if let Some(tensor) = example.op.tensor(o.arg) {
            o.tensor.layout.clone_from(&tensor.layout);
        }
    }
    chosen.attr.post_ops.clone_from(&example.attr.post_ops);
    chosen.attr.dropout.clone_from(&example.attr.dropout);
    let key = match rows {
        Rows::Best => Key::new([Some(engine.id()), None], Key::BEST, problem.clone()),
        Rows::From(row) => Key::new([Some(engine.id()), None], row, problem.clone()),
    };
    let operands = chosen.operands();
    let family = Family { engine: engine.clone(), problem: chosen, operands, rows, key, last: Mutex::default() };
    let family = Arc::new(family);
    let plan = Box::new(FamilyPlan(family.clone()));
    (family, Planned { plan, ..planned })
}

#[derive(Debug)]
struct FamilyPlan(Arc<Family>);

impl Plan for FamilyPlan {
    fn problem(&self) -> &Problem {
        &self.0.problem
    }

    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        Ok(self.0.clone())
    }
}

impl Family {
    pub(crate) fn key(&self) -> &Arc<Key> {
        &self.key
    }

    /// The member of the sizes that `given` has for the operands.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] if they contradict each other or the description; errors of making the member.
    pub(crate) fn member<'a>(&self, given: impl Fn(usize) -> &'a Tensor) -> Result<Arc<Member>, Error> {
        let is_it = |m: &Arc<Member>| m.given.iter().enumerate().all(|(i, t)| t == given(i));
        let last = fork::try_lock(&self.last).and_then(|last| last.clone());
        if let Some(last) = last.filter(is_it) {
            return Ok(last);
        }
        let hash = self.hash(&given);
        let known = fork::try_lock(&MEMBERS).and_then(|mut all| all.as_mut()?.get(&hash).cloned());
        let member = match known.filter(|m| m.family == self.key && is_it(m)) {
            Some(member) => member,
            None => self.remember(hash, Arc::new(self.make(&given)?)),
        };
        if let Some(mut last) = fork::try_lock(&self.last) {
            let before = last.replace(member.clone());
            drop(last);
            drop(before);
        }
        Ok(member)
    }

    /// A number for a set of sizes and strides, another one for almost every other set.
    fn hash<'a>(&self, given: &impl Fn(usize) -> &'a Tensor) -> u64 {
        let mix = |h: u64, v: i64| (h.rotate_left(23) ^ v as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..self.operands.len()).fold(self.key.hash, |h, i| {
            let tensor = given(i);
            let h = tensor.dims().iter().fold(h, |h, d| mix(h, *d));
            tensor.blocking().map_or(h, |b| b.strides.iter().fold(h, |h, s| mix(h, *s)))
        })
    }

    /// Checks the sizes by validating the problem that they make, and lets its best row decide.
    fn make<'a>(&self, given: &impl Fn(usize) -> &'a Tensor) -> Result<Member, Error> {
        let operands = &self.operands;
        let refuse = |i: usize, expected: &Tensor| Err(check::unlike(operands[i].arg, given(i), expected));
        if let Some(i) =
            (0..operands.len()).find(|&i| !check::fits(&operands[i].tensor, given(i)) && !check::is_list(&operands[i], given(i)))
        {
            return refuse(i, &operands[i].tensor);
        }
        let mut problem = self.problem.clone();
        for o in problem.op.operands_mut() {
            if let Some(i) = operands.iter().position(|p| p.arg == o.arg) {
                o.tensor.clone_from(given(i));
            }
        }
        let mut problem = Problem::new(problem.op, problem.attr)?;
        let tensors: Vec<Tensor> = operands.iter().map(|o| problem.tensor(o.arg).unwrap_or_else(|| o.tensor.clone())).collect();
        let open = |i: usize| operands[i].tensor.layout.has_runtime() && given(i).layout.has_runtime();
        if let Some(i) =
            (0..operands.len()).find(|&i| !open(i) && !check::fits(&tensors[i], given(i)) && !check::is_list(&operands[i], given(i)))
        {
            return refuse(i, &tensors[i]);
        }
        let start = match self.rows {
            Rows::Best => Start::default(),
            Rows::From(row) => {
                problem.attr.hint_reusable_kernels = true;
                Start { row, ..Start::default() }
            }
        };
        let desc = PrimitiveDesc::search(&self.engine, problem, None, start)?;
        let (code, _) = cache::code(&desc)?;
        let given = (0..operands.len()).map(|i| given(i).clone()).collect();
        Ok(Member { given, tensors, desc, code, family: self.key.clone() })
    }

    fn remember(&self, hash: u64, member: Arc<Member>) -> Arc<Member> {
        let weight = MEMBER_BYTES + member.code.exec.footprint();
        let mut all = fork::lock(&MEMBERS);
        let all_members = all.get_or_insert_with(|| Lru::new(cache::capacity(), cache::byte_budget()));
        let evicted = (all_members.remove(&hash), all_members.insert(hash, member.clone(), weight));
        drop(all);
        drop(evicted);
        member
    }
}

/// An execution outside of a primitive, which finds its member itself.
impl Exec for Family {
    fn run(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        let member = self.member_of(ctx.args)?;
        let need = member.scratch_bytes();
        if need <= ctx.scratch.len() {
            return member.code.exec.run(ctx);
        }
        let lease = scratch::arena().lease(need)?;
        member.code.exec.run(&Ctx { scratch: Region::host(lease.buf()), ..*ctx })
    }

    fn scratch_bytes(&self, args: &[Bound<'_>]) -> usize {
        self.member_of(args).map_or(0, |m| m.scratch_bytes())
    }
}

impl Family {
    fn member_of(&self, args: &[Bound<'_>]) -> Result<Arc<Member>, Error> {
        self.member(|i| args.iter().find(|b| b.arg == self.operands[i].arg).map_or(&self.operands[i].tensor, |b| b.tensor))
    }
}

impl Member {
    /// Bytes of scratch of an execution.
    pub(crate) fn scratch_bytes(&self) -> usize {
        self.desc.scratch_bytes()
    }
}
