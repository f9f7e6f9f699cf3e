//! Patterns of operations, and the search for an instance of one.
//!
//! A pattern is matched from an operation along the readers of its output: the *chain*. If a node constrains the producers of its other
//! inputs, these are matched against the direction of the edges. All choices are tried, the longest first, until all internal outputs of an
//! instance are read inside of it only.

use crate::{Op, OpKind, lower};
use std::collections::HashMap;

/// A pattern.
#[derive(Clone, Debug)]
pub(crate) enum Pat {
    /// An operation.
    One(Node),
    /// One after the other.
    Seq(Vec<Pat>),
    /// Perhaps.
    Opt(Box<Pat>),
    /// At least so many, at most so many, as many as there are.
    Many(Box<Pat>, usize, usize),
    /// The first of them that fits.
    Alt(Vec<Pat>),
    /// Remembers the tensor here under a number; several operations of the instance may read it.
    Mark(usize),
    /// Goes on at the remembered tensor; against the arrows: this must be it.
    At(usize),
}

/// An operation of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    kinds: &'static [OpKind],
    /// The input that the chain comes by; any, where there is none.
    port: Option<usize>,
    inputs: Vec<(Port, Input)>,
    check: Option<fn(&Op) -> bool>,
    /// Operations outside may read its output.
    open: bool,
    /// Several operations of the instance may read its output.
    forks: bool,
    /// It must not be an operation that the instance has already.
    own: bool,
    /// The output that the chain goes on from.
    output: usize,
}

/// Which inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Port {
    Index(usize),
    /// The one of two by which the chain does not come.
    Other,
    All,
}

/// The constraint on an input.
#[derive(Clone, Debug)]
enum Input {
    /// It is produced by an instance of a pattern that ends there.
    Produced(Pat),
    /// It is the remembered tensor.
    Marked(usize),
    /// It is the same tensor wherever this is required under the same number.
    Same(usize),
}

/// An operation of one of these kinds.
pub(crate) fn one(kinds: &'static [OpKind]) -> Pat {
    Pat::One(Node { kinds, port: None, inputs: Vec::new(), check: None, open: false, forks: false, own: false, output: 0 })
}

pub(crate) fn seq<const N: usize>(all: [Pat; N]) -> Pat {
    Pat::Seq(all.into())
}

pub(crate) fn alt<const N: usize>(all: [Pat; N]) -> Pat {
    Pat::Alt(all.into())
}

pub(crate) fn opt(pat: Pat) -> Pat {
    Pat::Opt(Box::new(pat))
}

pub(crate) fn many(pat: Pat, least: usize, most: usize) -> Pat {
    Pat::Many(Box::new(pat), least, most)
}

impl Pat {
    fn node(mut self, change: impl FnOnce(&mut Node)) -> Pat {
        if let Pat::One(node) = &mut self {
            change(node);
        }
        self
    }

    /// The chain comes by input `port`.
    pub(crate) fn by(self, port: usize) -> Pat {
        self.node(|n| n.port = Some(port))
    }

    /// Input `i` is made by `pat`.
    pub(crate) fn input(self, i: usize, pat: Pat) -> Pat {
        self.node(|n| n.inputs.push((Port::Index(i), Input::Produced(pat))))
    }

    /// The other of two inputs is made by `pat`.
    pub(crate) fn other(self, pat: Pat) -> Pat {
        self.node(|n| n.inputs.push((Port::Other, Input::Produced(pat))))
    }

    /// The other of two inputs is the remembered tensor.
    pub(crate) fn other_marked(self, mark: usize) -> Pat {
        self.node(|n| n.inputs.push((Port::Other, Input::Marked(mark))))
    }

    /// Input `i` is the same tensor at all operations that demand this under one number.
    pub(crate) fn same(self, i: usize, mark: usize) -> Pat {
        self.node(|n| n.inputs.push((Port::Index(i), Input::Same(mark))))
    }

    /// Every input is made by `pat`.
    pub(crate) fn every(self, pat: Pat) -> Pat {
        self.node(|n| n.inputs.push((Port::All, Input::Produced(pat))))
    }

    pub(crate) fn when(self, check: fn(&Op) -> bool) -> Pat {
        self.node(|n| n.check = Some(check))
    }

    /// Several operations of the instance may read its output, such as `x` of `x * sigmoid(x)`.
    pub(crate) fn forks(self) -> Pat {
        self.node(|n| n.forks = true)
    }

    /// Its last operation is none that the instance has already.
    pub(crate) fn own(self) -> Pat {
        match self {
            Pat::Seq(mut all) => {
                let last = all.pop().map(Pat::own);
                all.extend(last);
                Pat::Seq(all)
            }
            pat => pat.node(|n| n.own = true),
        }
    }

    /// Operations outside may read its output.
    pub(crate) fn open(self) -> Pat {
        self.node(|n| n.open = true)
    }

    /// The kinds that an instance may begin with, going along the arrows.
    pub(crate) fn first(&self) -> Vec<OpKind> {
        match self {
            Pat::One(node) => node.kinds.to_vec(),
            Pat::Seq(all) => {
                let mut kinds = Vec::new();
                for pat in all {
                    kinds.extend(pat.first());
                    let nothing = matches!(pat, Pat::Seq(all) if all.is_empty());
                    if !nothing && !matches!(pat, Pat::Opt(_) | Pat::Many(_, 0, _) | Pat::Mark(_)) {
                        break;
                    }
                }
                kinds
            }
            Pat::Opt(pat) | Pat::Many(pat, ..) => pat.first(),
            Pat::Alt(all) => all.iter().flat_map(Pat::first).collect(),
            Pat::Mark(_) | Pat::At(_) => Vec::new(),
        }
    }
}

/// A graph as the search sees it: the writer and the readers of each tensor.
pub(crate) struct Field<'g> {
    pub(crate) ops: &'g [Op],
    /// By tensor: operation and index of the output.
    writer: HashMap<usize, (usize, usize)>,
    /// By tensor: operations and indices of their inputs.
    consumers: HashMap<usize, Vec<(usize, usize)>>,
    /// Operations that cannot be computed.
    excluded: Vec<bool>,
    /// Operations that are in an instance already.
    pub(crate) taken: Vec<bool>,
}

impl<'g> Field<'g> {
    pub(crate) fn new(ops: &'g [Op]) -> Field<'g> {
        let mut writer = HashMap::new();
        let mut consumers: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
        for (i, op) in ops.iter().enumerate() {
            writer.extend(op.outputs.iter().enumerate().map(|(p, lt)| (lt.id, (i, p))));
            op.inputs.iter().enumerate().for_each(|(p, lt)| consumers.entry(lt.id).or_default().push((i, p)));
        }
        let excluded = ops.iter().map(|op| lower::refusal(op).is_some()).collect();
        Field { ops, writer, consumers, excluded, taken: vec![false; ops.len()] }
    }

    pub(crate) fn consumers(&self, id: usize) -> &[(usize, usize)] {
        self.consumers.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Whether the operation cannot be computed.
    pub(crate) fn is_excluded(&self, i: usize) -> bool {
        self.excluded[i]
    }

    pub(crate) fn writer(&self, id: usize) -> Option<(usize, usize)> {
        self.writer.get(&id).copied()
    }

    /// The operations of an instance of `pat` that begins with operation `start`, in the order of the graph; or the missing part, if most
    /// of it was found.
    pub(crate) fn instance(&self, pat: &Pat, start: usize) -> Result<Vec<usize>, String> {
        let mut search = Search { field: self, start, budget: BUDGET, deepest: 0, missing: String::new() };
        let mut state = State { at: None, matched: Vec::new(), open: Vec::new(), marks: [None; MARKS], forked: false };
        let mut found = None;
        let closed = search.along(pat, &mut state, &mut |search, state| {
            let fits = search.closed(state);
            if fits {
                found = Some(state.matched.clone());
            }
            fits
        });
        match found.filter(|_| closed) {
            Some(mut matched) => {
                matched.sort_unstable();
                Ok(matched)
            }
            None => Err(search.missing),
        }
    }

    /// Whether a path leaves a set of operations and comes back to it through others.
    fn comes_back(&self, matched: &[usize]) -> bool {
        let mut stack: Vec<usize> = Vec::new();
        let mut seen = vec![false; self.ops.len()];
        let next = |i: usize, stack: &mut Vec<usize>| {
            stack.extend(self.ops[i].outputs.iter().flat_map(|lt| self.consumers(lt.id)).map(|r| r.0));
        };
        matched.iter().for_each(|&i| next(i, &mut stack));
        stack.retain(|i| !matched.contains(i));
        while let Some(i) = stack.pop() {
            if std::mem::replace(&mut seen[i], true) {
                continue;
            }
            if matched.contains(&i) {
                return true;
            }
            next(i, &mut stack);
        }
        false
    }
}

/// How many tensors a pattern may remember.
const MARKS: usize = 8;
/// Steps after which a search gives up: many times those of the largest pattern.
const BUDGET: usize = 50_000;

#[derive(Clone)]
struct State {
    /// The tensor at which the chain is.
    at: Option<usize>,
    matched: Vec<usize>,
    open: Vec<usize>,
    marks: [Option<usize>; MARKS],
    /// Several operations may read the tensor here.
    forked: bool,
}

struct Search<'f, 'g> {
    field: &'f Field<'g>,
    start: usize,
    budget: usize,
    deepest: usize,
    missing: String,
}

type Then<'t, 'f, 'g> = &'t mut dyn FnMut(&mut Search<'f, 'g>, &mut State) -> bool;

impl<'f, 'g> Search<'f, 'g> {
    fn take_step(&mut self) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }

    fn miss(&mut self, state: &State, why: impl FnOnce() -> String) {
        // Of several failures at one depth the last one counts, since optional parts are tried first.
        if state.matched.len() >= self.deepest {
            self.deepest = state.matched.len();
            self.missing = why();
        }
    }

    /// Matches `pat` along the edges, then continues with `then`; leaves the state as it was where nothing fits.
    fn along(&mut self, pat: &Pat, state: &mut State, then: Then<'_, 'f, 'g>) -> bool {
        if !self.take_step() {
            return false;
        }
        match pat {
            Pat::One(node) => self.step(node, state, then),
            Pat::Seq(all) => self.sequence(all, state, then),
            Pat::Opt(pat) => self.along(pat, state, then) || then(self, state),
            Pat::Many(pat, least, most) => self.repeat(pat, *least, *most, state, then),
            Pat::Alt(all) => all.iter().any(|pat| self.along(pat, state, then)),
            Pat::Mark(mark) => {
                let before = state.clone();
                (state.marks[*mark], state.forked) = (state.at, true);
                let fits = then(self, state);
                if !fits {
                    *state = before;
                }
                fits
            }
            Pat::At(mark) => {
                let before = state.clone();
                (state.at, state.forked) = (state.marks[*mark], true);
                let fits = then(self, state);
                if !fits {
                    *state = before;
                }
                fits
            }
        }
    }

    fn sequence(&mut self, all: &[Pat], state: &mut State, then: Then<'_, 'f, 'g>) -> bool {
        match all.split_first() {
            None => then(self, state),
            Some((first, rest)) => self.along(first, state, &mut |search, state| search.sequence(rest, state, then)),
        }
    }

    fn repeat(&mut self, pat: &Pat, least: usize, most: usize, state: &mut State, then: Then<'_, 'f, 'g>) -> bool {
        let more =
            most > 0 && self.along(pat, state, &mut |search, state| search.repeat(pat, least.saturating_sub(1), most - 1, state, then));
        more || least == 0 && then(self, state)
    }

    /// The next operation of the chain.
    fn step(&mut self, node: &Node, state: &mut State, then: Then<'_, 'f, 'g>) -> bool {
        let field = self.field;
        let candidates: Vec<(usize, usize)> = match state.at {
            None => vec![(self.start, node.port.unwrap_or(0))],
            Some(id) => field.consumers(id).to_vec(),
        };
        if state.at.is_some() && !state.forked && candidates.len() > 1 {
            self.miss(state, || format!("its result is read by {} operations", candidates.len()));
            return false;
        }
        if candidates.is_empty() {
            self.miss(state, || format!("nothing reads its result, where {} is expected", names(node.kinds)));
        }
        candidates.into_iter().any(|(i, port)| self.enter(node, i, Some(port), state, then))
    }

    /// Takes operation `i`, which the chain reaches by input `port`, as `node`.
    fn enter(&mut self, node: &Node, i: usize, port: Option<usize>, state: &mut State, then: Then<'_, 'f, 'g>) -> bool {
        let op = &self.field.ops[i];
        let free = !self.field.taken[i] && !self.field.excluded[i] && !state.matched.contains(&i);
        let fits = node.kinds.contains(&op.kind) && free;
        let by = node.port.is_none() || state.at.is_none() || node.port == port;
        if !fits || !by || node.check.is_some_and(|check| !check(op)) {
            self.miss(state, || format!("{} (operation {}) is where {} is expected", op.kind.name(), op.id, names(node.kinds)));
            return false;
        }
        let Some(out) = op.outputs.get(node.output) else { return false };
        let before = state.clone();
        state.matched.push(i);
        state.at = Some(out.id);
        state.forked = node.forks;
        if node.open {
            state.open.push(i);
        }
        let required_inputs = required_inputs(node, op, port);
        let fits = self.match_inputs(&required_inputs, state, then);
        if !fits {
            *state = before;
        }
        fits
    }

    fn match_inputs(&mut self, required_inputs: &[(usize, &Input)], state: &mut State, then: Then<'_, 'f, 'g>) -> bool {
        let Some((&(id, input), rest)) = required_inputs.split_first() else { return then(self, state) };
        match input {
            Input::Marked(mark) | Input::Same(mark) => {
                let first = matches!(input, Input::Same(_)) && state.marks[*mark].is_none();
                let fits = first || state.marks[*mark] == Some(id);
                if fits {
                    // If the rest does not fit, the operation that demanded it restores the state.
                    state.marks[*mark] = Some(id);
                } else {
                    self.miss(state, || format!("an input (logical tensor {id}) comes from elsewhere"));
                }
                fits && self.match_inputs(rest, state, then)
            }
            Input::Produced(pat) => {
                let here = (state.at, state.forked);
                self.against(pat, id, state, &mut |search, state, _| {
                    let there = (state.at, state.forked);
                    (state.at, state.forked) = here;
                    let fits = search.match_inputs(rest, state, then);
                    if !fits {
                        (state.at, state.forked) = there;
                    }
                    fits
                })
            }
        }
    }

    /// Walks `pat`, whose end writes tensor `id`, against the arrows; `then` gets the tensor where it begins.
    fn against(
        &mut self,
        pat: &Pat,
        id: usize,
        state: &mut State,
        then: &mut dyn FnMut(&mut Search<'f, 'g>, &mut State, usize) -> bool,
    ) -> bool {
        if !self.take_step() {
            return false;
        }
        match pat {
            Pat::One(node) => self.producer(node, id, state, then),
            Pat::Seq(all) => self.backwards(all, id, state, then),
            Pat::Opt(pat) | Pat::Many(pat, 0, _) => self.against(pat, id, state, then) || then(self, state, id),
            Pat::Many(pat, ..) => self.against(pat, id, state, then),
            Pat::Alt(all) => all.iter().any(|pat| self.against(pat, id, state, then)),
            Pat::Mark(mark) => {
                let before = state.marks[*mark].replace(id);
                let fits = then(self, state, id);
                if !fits {
                    state.marks[*mark] = before;
                }
                fits
            }
            // The first operation's output is unknown until something reads it.
            Pat::At(mark) => state.marks[*mark].is_none_or(|m| m == id) && then(self, state, id),
        }
    }

    fn backwards(
        &mut self,
        all: &[Pat],
        id: usize,
        state: &mut State,
        then: &mut dyn FnMut(&mut Search<'f, 'g>, &mut State, usize) -> bool,
    ) -> bool {
        match all.split_last() {
            None => then(self, state, id),
            Some((last, rest)) => self.against(last, id, state, &mut |search, state, id| search.backwards(rest, id, state, then)),
        }
    }

    /// The producer of tensor `id` as `node`. One that is in the instance already, such as a dequantisation that two convolutions read, fits too.
    fn producer(
        &mut self,
        node: &Node,
        id: usize,
        state: &mut State,
        then: &mut dyn FnMut(&mut Search<'f, 'g>, &mut State, usize) -> bool,
    ) -> bool {
        let Some((i, port)) = self.field.writer(id) else {
            self.miss(state, || format!("nothing in the graph writes logical tensor {id}, where {} is expected", names(node.kinds)));
            return false;
        };
        let op = &self.field.ops[i];
        if port != node.output || node.port.is_some_and(|p| p >= op.inputs.len()) {
            return false;
        }
        let consumers = self.field.consumers(id).len();
        if consumers > 1 && !node.forks && !state.matched.contains(&i) {
            self.miss(state, || format!("what {} (operation {}) writes is read {consumers} times", op.kind.name(), op.id));
            return false;
        }
        let from: Vec<usize> = node.port.map_or_else(|| (0..op.inputs.len().min(2)).collect(), |p| vec![p]);
        let from = if from.is_empty() { vec![0] } else { from };
        if state.matched.contains(&i) && !node.own && node.kinds.contains(&op.kind) && node.inputs.is_empty() {
            return from.iter().any(|&p| op.inputs.get(p).is_some_and(|lt| then(self, state, lt.id)));
        }
        from.into_iter().any(|p| {
            let begin = op.inputs.get(p).map_or(id, |lt| lt.id);
            self.enter(node, i, Some(p), state, &mut |search, state| then(search, state, begin))
        })
    }

    /// Whether all consumers of the instance's internal outputs are in it, and no path leaves it and comes back.
    fn closed(&mut self, state: &State) -> bool {
        let inside = |i: usize| state.matched.contains(&i);
        for &i in &state.matched {
            let op = &self.field.ops[i];
            for lt in &op.outputs {
                let consumers = self.field.consumers(lt.id);
                let own = consumers.iter().any(|r| inside(r.0));
                if own && !state.open.contains(&i) && !consumers.iter().all(|r| inside(r.0)) {
                    self.miss(state, || format!("others read what {} (operation {}) writes", op.kind.name(), op.id));
                    return false;
                }
            }
        }
        let fits = state.matched.len() > 1 && !self.field.comes_back(&state.matched);
        if !fits {
            self.miss(state, || "nothing follows, or what leaves comes back".into());
        }
        fits
    }
}

/// The constraints on inputs of `op`, by tensor.
fn required_inputs<'n>(node: &'n Node, op: &Op, port: Option<usize>) -> Vec<(usize, &'n Input)> {
    let mut out = Vec::new();
    for (at, input) in &node.inputs {
        let indices: Vec<usize> = match at {
            Port::Index(i) => vec![*i],
            Port::Other => vec![1 - port.unwrap_or(0).min(1)],
            Port::All => (0..op.inputs.len()).collect(),
        };
        // A missing input has no producer.
        out.extend(indices.into_iter().map(|i| (op.inputs.get(i).map_or(usize::MAX, |lt| lt.id), input)));
    }
    out
}

fn names(kinds: &[OpKind]) -> String {
    kinds.iter().map(|k| k.name()).collect::<Vec<_>>().join(" or ")
}
