//! Placement of intermediate results in one block, in which results with disjoint lifetimes share memory.

use super::value::{Spot, Val};
use super::{Lowering, unsupported};
use crate::backend::program::{Binding, Place, Program, Ragged, Step};
use crate::status::Failure;
use oxidnn_runtime::ALIGNMENT;
use std::sync::Mutex;

/// The steps from the first to the last that use an intermediate result.
#[derive(Clone, Copy)]
struct Life {
    temp: usize,
    first: usize,
    last: usize,
}

/// The finished program.
pub(super) fn program(l: Lowering<'_>) -> Result<Program, Failure> {
    let lives = lives(&l);
    let (offsets, scratch) = offsets(&lives, &l.temps);
    if scratch > LARGEST {
        return Err(unsupported("intermediate results that take more bytes than any machine has"));
    }
    let place = |v: &Val| match v.spot {
        Spot::User(i) => Place::User(i),
        Spot::Constant(i) => Place::Constant(i),
        Spot::Temp(i) => Place::Workspace(offsets[i]),
    };
    let steps = l.steps.into_iter().map(|draft| {
        let bindings = draft.bindings.into_iter().map(|(arg, _, v)| Binding { arg, place: place(&v), tensor: v.tensor });
        Step { bindings: bindings.collect(), epsilon: draft.epsilon.map(|v| (place(&v), v.dtype())), primitive: draft.primitive }
    });
    let by_value = |uid: &i64| {
        let tensor = l.graph.tensors.get(uid).filter(|t| t.is_by_value);
        tensor.and_then(|t| t.tensor().ok()).map_or(0, |t| t.bytes())
    };
    let by_value = l.uids.iter().map(by_value).collect();
    let ragged = l.ragged.into_iter().map(|(temp, ragged)| Ragged { padded: offsets[temp], ..ragged }).collect();
    Ok(Program {
        steps: steps.collect(),
        constants: l.constants,
        uids: l.uids,
        by_value,
        ragged,
        scratch,
        fused: l.fused,
        ready: Mutex::default(),
        numbers: Mutex::default(),
    })
}

/// Limit on the workspace in bytes.
const LARGEST: usize = 1 << 60;

/// The bytes of an intermediate result, rounded up to the alignment.
fn room(bytes: usize) -> usize {
    bytes.checked_next_multiple_of(ALIGNMENT).unwrap_or(LARGEST).max(ALIGNMENT)
}

/// The lifetimes of all results, in the order of their first steps.
fn lives(l: &Lowering<'_>) -> Vec<Life> {
    let mut all: Vec<Option<Life>> = vec![None; l.temps.len()];
    for (at, draft) in l.steps.iter().enumerate() {
        for (_, _, value) in &draft.bindings {
            if let Spot::Temp(temp) = value.spot {
                all[temp].get_or_insert(Life { temp, first: at, last: at }).last = at;
            }
        }
    }
    // Copied before the first step, or after the last.
    for (temp, _) in &l.ragged {
        all[*temp] = Some(Life { temp: *temp, first: 0, last: l.steps.len() });
    }
    let mut lives: Vec<Life> = all.into_iter().flatten().collect();
    lives.sort_by_key(|life| life.first);
    lives
}

/// The offset of each intermediate result, and the size of the block: first fit among the results with overlapping lifetimes.
fn offsets(lives: &[Life], sizes: &[usize]) -> (Vec<usize>, usize) {
    let mut offsets = vec![0; sizes.len()];
    let mut placed: Vec<Life> = Vec::new();
    let mut end = 0;
    for life in lives {
        let bytes = room(sizes[life.temp]);
        placed.retain(|p| p.last >= life.first);
        placed.sort_by_key(|p| offsets[p.temp]);
        let mut at = 0usize;
        for p in &placed {
            if offsets[p.temp] >= at.saturating_add(bytes) {
                break;
            }
            at = at.max(room(sizes[p.temp]).saturating_add(offsets[p.temp]));
        }
        offsets[life.temp] = at;
        end = end.max(at.saturating_add(bytes));
        placed.push(*life);
    }
    (offsets, end)
}
