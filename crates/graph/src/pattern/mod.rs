//! Which operations become a partition: a table of patterns, tried in descending order of priority on the operations not taken yet.

mod matcher;
mod rows;

use crate::{Op, OpKind};
use matcher::{Field, Pat};
use oxidnn_runtime::fork;
use std::fmt;
use std::sync::OnceLock;

/// A pattern that partitions are made by.
pub(crate) struct Row {
    /// Its name, as clients of the specification know it.
    pub(crate) name: &'static str,
    /// Higher ones are tried first.
    pub(crate) priority: f32,
    pattern: fn() -> Pat,
    /// Why operations that fit the pattern are none the less not a partition.
    refuse: fn(&[&Op]) -> Option<String>,
}

/// The kinds of partitions allowed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Policy {
    /// Operations that can be computed together are one.
    #[default]
    Fusion,
    /// Each operation is one.
    Debug,
    /// As many operations as there are between those that cannot be computed: whole networks, where oneDNN has a partition for each pattern.
    Max,
}

/// Operations that become one partition, in the order of the graph.
pub(crate) struct Group {
    pub(crate) ops: Vec<usize>,
    pub(crate) pattern: &'static str,
}

/// The fate of an operation of a graph.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// The number of the operation.
    pub op: usize,
    /// Its kind.
    pub kind: OpKind,
    /// The number of its partition.
    pub partition: usize,
    /// The pattern that it was taken by.
    pub pattern: &'static str,
    /// Patterns of higher priority that could begin with it: name, priority, and why they do not.
    pub declined: Vec<(&'static str, f32, String)>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {} ({}): partition {} by {}", self.op, self.kind.name(), self.partition, self.pattern)?;
        self.declined.iter().try_for_each(|(name, priority, why)| write!(f, "\n    {name} ({priority}): {why}"))
    }
}

/// A row with its pattern built, and the kinds that it may begin with.
struct Matcher {
    row: &'static Row,
    pat: Pat,
    first: Vec<OpKind>,
}

/// All patterns, those of higher priority first.
fn matchers() -> &'static [Matcher] {
    static MATCHERS: OnceLock<Vec<Matcher>> = OnceLock::new();
    fork::once::<Vec<Matcher>>(&MATCHERS, || {
        let mut all: Vec<Matcher> = rows::ALL
            .iter()
            .flat_map(|rows| rows.iter())
            .map(|row| {
                let pat = (row.pattern)();
                Matcher { row, first: pat.first(), pat }
            })
            .collect();
        all.sort_by(|a, b| b.row.priority.total_cmp(&a.row.priority));
        all
    })
}

/// An instance of a row that begins with operation `start`, or why there is none.
fn instance(field: &Field<'_>, matcher: &Matcher, start: usize) -> Result<Vec<usize>, String> {
    let found = field.instance(&matcher.pat, start)?;
    let ops: Vec<&Op> = found.iter().map(|&i| &field.ops[i]).collect();
    (matcher.row.refuse)(&ops).map_or(Ok(found), Err)
}

/// The groups that operations, in topological order, fall into; each operation is in one.
pub(crate) fn groups(ops: &[Op], policy: Policy) -> Vec<Group> {
    let mut field = Field::new(ops);
    let mut groups: Vec<Group> = Vec::new();
    let order = visited(&field);
    if policy == Policy::Fusion {
        for matcher in matchers() {
            for &start in &order {
                if field.taken[start] || !matcher.first.contains(&ops[start].kind) {
                    continue;
                }
                if let Ok(found) = instance(&field, matcher, start) {
                    found.iter().for_each(|&i| field.taken[i] = true);
                    groups.push(Group { ops: found, pattern: matcher.row.name });
                }
            }
        }
    }
    if policy == Policy::Max {
        for ops in levels(&field) {
            ops.iter().for_each(|&i| field.taken[i] = true);
            groups.push(Group { ops, pattern: WHOLE });
        }
    }
    let single = |i: usize| Group { ops: vec![i], pattern: crate::partition::SINGLE };
    groups.extend((0..ops.len()).filter(|&i| !field.taken[i]).map(single));
    sorted(groups, &order, &field)
}

/// The name of the pattern of as many operations as there are.
const WHOLE: &str = "whole";

/// The computable operations, grouped by the largest number of operations on a path to them that cannot be computed: no path leaves such a
/// group and comes back.
fn levels(field: &Field<'_>) -> Vec<Vec<usize>> {
    let mut level = vec![0usize; field.ops.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, op) in field.ops.iter().enumerate() {
        let before = op.inputs.iter().filter_map(|lt| field.writer(lt.id)).map(|w| level[w.0] + usize::from(field.is_excluded(w.0)));
        level[i] = before.max().unwrap_or(0);
        if !field.is_excluded(i) {
            groups.resize(groups.len().max(level[i] + 1), Vec::new());
            groups[level[i]].push(i);
        }
    }
    groups.retain(|g| !g.is_empty());
    groups
}

/// The order in which instances are looked for, and in which partitions and their ports are listed: from the outputs that nobody reads, the
/// last of these first, by inputs in their order, first those that others wait for.
fn visited(field: &Field<'_>) -> Vec<usize> {
    let unread = |i: &usize| field.ops[*i].outputs.iter().all(|lt| field.consumers(lt.id).is_empty());
    let (mut order, mut seen) = (Vec::with_capacity(field.ops.len()), vec![false; field.ops.len()]);
    for root in (0..field.ops.len()).rev().filter(unread) {
        let mut stack = vec![(root, false)];
        while let Some((i, matchers)) = stack.pop() {
            if matchers {
                order.push(i);
            } else if !std::mem::replace(&mut seen[i], true) {
                stack.push((i, true));
                let makers = field.ops[i].inputs.iter().rev().filter_map(|lt| field.writer(lt.id));
                stack.extend(makers.map(|w| (w.0, false)));
            }
        }
    }
    order
}

/// Why operation `start` is in no group of a better pattern than its own, of `priority`.
pub(crate) fn declined(ops: &[Op], start: usize, pattern: &str) -> Vec<(&'static str, f32, String)> {
    let field = Field::new(ops);
    let own = matchers().iter().find(|r| r.row.name == pattern).map_or(f32::MIN, |r| r.row.priority);
    let better = matchers().iter().filter(|r| r.row.priority > own && r.first.contains(&ops[start].kind));
    let why = |r: &Matcher| match instance(&field, r, start) {
        Ok(_) => "it shares operations with an instance that was found before".to_string(),
        Err(why) => why,
    };
    better.map(|r| (r.row.name, r.row.priority, why(r))).collect()
}

/// The groups, their operations in `order`, after those that they read from: by their last operations.
fn sorted(mut groups: Vec<Group>, order: &[usize], field: &Field<'_>) -> Vec<Group> {
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(r, &i)| rank[i] = r);
    groups.iter_mut().for_each(|g| g.ops.sort_unstable_by_key(|&i| rank[i]));
    groups.sort_by_key(|g| g.ops.last().map(|&i| rank[i]));
    let mut group_of = vec![0; field.ops.len()];
    for (g, group) in groups.iter().enumerate() {
        group.ops.iter().for_each(|&i| group_of[i] = g);
    }
    let before = |g: usize| -> Vec<usize> {
        let read = groups[g].ops.iter().flat_map(|&i| &field.ops[i].inputs);
        read.filter_map(|lt| field.writer(lt.id)).map(|w| group_of[w.0]).filter(|&other| other != g).collect()
    };
    let (mut order, mut seen) = (Vec::with_capacity(groups.len()), vec![false; groups.len()]);
    for root in 0..groups.len() {
        // A group comes after those that it reads from; a group that is on the stack twice is done by then.
        let mut stack = vec![(root, false)];
        while let Some((g, matchers)) = stack.pop() {
            if matchers {
                order.push(g);
            } else if !std::mem::replace(&mut seen[g], true) {
                stack.push((g, true));
                stack.extend(before(g).into_iter().rev().filter(|&b| !seen[b]).map(|b| (b, false)));
            }
        }
    }
    let mut slots: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    order.into_iter().filter_map(|g| slots[g].take()).collect()
}

/// The names and priorities of all patterns.
pub fn patterns() -> impl Iterator<Item = (&'static str, f32)> {
    matchers().iter().map(|r| (r.row.name, r.row.priority))
}
