//! Random functions, run and compared with an interpreter: registers, spills and loops do not change values.

use super::*;
use crate::testing::{ISAS, run};

/// Elements that look random (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// A statement on numbered variables.
#[derive(Clone, Debug)]
enum Statement {
    /// `v[0] = v[1] op v[2]`
    Vector(usize, [usize; 3]),
    /// `i[0] += i[1]`
    Add([usize; 2]),
    /// `v[0]` = `i[1]` in every lane
    Splat([usize; 2]),
    /// `v[0] = if v[1] > v[2] { v[3] } else { v[0] }`
    Select([usize; 4]),
    /// So many times.
    Repeat(i64, Vec<Statement>),
    /// If `i[0] > i[1]`
    When([usize; 2], Vec<Statement>),
}

const OPS: [Binary; 5] = [Binary::AddI32, Binary::SubI32, Binary::Xor, Binary::MaxI32, Binary::MinI32];

fn block(r: &mut Random, depth: usize, vectors: usize, ints: usize) -> Vec<Statement> {
    let len = 2 + r.below(14);
    (0..len)
        .map(|_| match r.below(if depth == 0 { 8 } else { 10 }) {
            0..5 => Statement::Vector(r.below(OPS.len()), [r.below(vectors), r.below(vectors), r.below(vectors)]),
            5 => Statement::Add([r.below(ints), r.below(ints)]),
            6 => Statement::Splat([r.below(vectors), r.below(ints)]),
            7 => Statement::Select([r.below(vectors), r.below(vectors), r.below(vectors), r.below(vectors)]),
            8 => Statement::Repeat(r.below(4) as i64, block(r, depth - 1, vectors, ints)),
            _ => Statement::When([r.below(ints), r.below(ints)], block(r, depth - 1, vectors, ints)),
        })
        .collect()
}

/// Values of one lane and of the integers.
struct State {
    vectors: Vec<i32>,
    ints: Vec<i64>,
}

fn interpret(state: &mut State, list: &[Statement]) {
    for statement in list {
        match statement {
            Statement::Vector(op, [d, a, b]) => {
                let (a, b) = (state.vectors[*a], state.vectors[*b]);
                state.vectors[*d] = [a.wrapping_add(b), a.wrapping_sub(b), a ^ b, a.max(b), a.min(b)][*op];
            }
            Statement::Add([d, a]) => state.ints[*d] = state.ints[*d].wrapping_add(state.ints[*a]),
            Statement::Splat([d, a]) => state.vectors[*d] = state.ints[*a] as i32,
            Statement::Select([d, a, b, c]) => {
                if state.vectors[*a] > state.vectors[*b] {
                    state.vectors[*d] = state.vectors[*c];
                }
            }
            Statement::Repeat(n, body) => (0..*n).for_each(|_| interpret(state, body)),
            Statement::When([a, b], body) if state.ints[*a] > state.ints[*b] => interpret(state, body),
            Statement::When(..) => {}
        }
    }
}

fn write(f: &mut Function, vectors: &[Val], ints: &[Int], list: &[Statement]) {
    for statement in list {
        match statement {
            Statement::Vector(op, [d, a, b]) => {
                let x = f.binary(OPS[*op], vectors[*a], vectors[*b]);
                f.assign(vectors[*d], x);
            }
            Statement::Add([d, a]) => f.add(ints[*d], ints[*a]),
            Statement::Splat([d, a]) => {
                let x = f.splat_int(f.isa().width(), ints[*a]);
                f.assign(vectors[*d], x);
            }
            Statement::Select([d, a, b, c]) => {
                let mask = f.compare_i32(Compare::Gt, vectors[*a], vectors[*b]);
                let x = f.select(mask, vectors[*c], vectors[*d]);
                f.assign(vectors[*d], x);
            }
            Statement::Repeat(n, body) => {
                let count = f.int(*n);
                f.repeat(count, |f| write(f, vectors, ints, body));
            }
            Statement::When([a, b], body) => f.when(Compare::Gt, ints[*a], ints[*b], |f| write(f, vectors, ints, body)),
        }
    }
}

#[test]
fn random_functions_compute_what_they_say() {
    let mut r = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..300 {
        let (vectors, ints) = (1 + r.below(40), 1 + r.below(20));
        let list = block(&mut r, 3, vectors, ints);
        for isa in ISAS {
            let mut state =
                State { vectors: (0..vectors as i32).map(|i| i * 77 - 9).collect(), ints: (0..ints as i64).map(|i| 13 - i * i).collect() };
            let mut f = Function::new(isa);
            let args = f.arguments();
            let out = f.load_int(args.at(0));
            let v: Vec<Val> = state.vectors.iter().map(|x| f.splat_i32(isa.width(), *x)).collect();
            let i: Vec<Int> = state.ints.iter().map(|x| f.int(*x)).collect();
            write(&mut f, &v, &i, &list);
            // A value that is not stored dies early, and its register is given to others.
            let (kept_vectors, kept_ints) = (vectors.div_ceil(4), ints.div_ceil(4));
            v[..kept_vectors].iter().enumerate().for_each(|(n, v)| f.store(out.at((n * isa.width().bytes()) as i32), *v));
            let lanes = isa.width().lanes();
            let ints_at = vectors * isa.width().bytes();
            i[..kept_ints].iter().enumerate().for_each(|(n, i)| f.store_int(out.at((ints_at + n * 8) as i32), *i));
            let mut memory = vec![0_u32; vectors * lanes + ints * 2];
            let pointer = memory.as_mut_ptr();
            run(f, &pointer);
            interpret(&mut state, &list);
            for (n, x) in state.vectors[..kept_vectors].iter().enumerate() {
                assert!(memory[n * lanes..][..lanes].iter().all(|y| *y as i32 == *x), "round {round} vector {n} {} {list:?}", isa.name());
            }
            for (n, x) in state.ints[..kept_ints].iter().enumerate() {
                let at = vectors * lanes + n * 2;
                assert_eq!(u64::from(memory[at]) | u64::from(memory[at + 1]) << 32, *x as u64, "round {round} integer {n} {}", isa.name());
            }
        }
    }
}
