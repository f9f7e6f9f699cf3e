//! The formulas of `expr` as CUDA C, by symbolic evaluation: a formula generic over [`Num`] is evaluated once with [`Symbol`]s, which record each operation as
//! a statement (equal ones once).

use oxidnn_expr::Num;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
}

/// Statements recorded on this thread.
#[derive(Default)]
struct Tape {
    text: String,
    known: HashMap<String, u32>,
    /// Values of the form 1 + exp(x), and scales: normal or infinite divisors.
    divisors: HashSet<u32>,
    exponentials: HashSet<u32>,
    ones: HashSet<u32>,
    rounded: Rounded,
}

/// The accuracy that a formula's result needs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Rounded {
    /// That of f32, or f64.
    #[default]
    No,
    /// It is rounded to 16 bits or fewer: exponentials, quotients by 1 + exp(x) and erf use approximate instructions, whose errors are far smaller.
    Short,
}

/// A recorded value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Symbol(u32);

/// A recorded comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Condition(u32);

fn record(kind: &str, value: String) -> u32 {
    TAPE.with_borrow_mut(|tape| {
        let next = tape.known.len() as u32;
        let Tape { text, known, .. } = tape;
        *known.entry(format!("{kind} {value}")).or_insert_with_key(|_| {
            let _ = writeln!(text, "    const {kind} t{next} = {value};");
            next
        })
    })
}

/// The device function of this name, or its approximation for short results.
fn short(name: &str) -> String {
    let prefix = if TAPE.with_borrow(|tape| tape.rounded == Rounded::Short) { "short_" } else { "" };
    format!("{prefix}{name}")
}

fn number(value: String) -> Symbol {
    Symbol(record("real", value))
}

fn condition(value: String) -> Condition {
    Condition(record("bool", value))
}

/// A constant in CUDA C, exact in f64.
pub(crate) fn literal(v: f64) -> String {
    if v.is_nan() {
        "(real)__longlong_as_double(0x7ff8000000000000ll)".into()
    } else if v.is_infinite() {
        format!("(real)__longlong_as_double({}ll)", if v > 0.0 { "0x7ff0000000000000" } else { "0xfff0000000000000u" })
    } else {
        format!("(real){v:?}")
    }
}

/// A device function `real name(real x0, real x1, ..)` with `arity` parameters that computes `formula`.
pub(crate) fn function(name: &str, arity: usize, rounded: Rounded, formula: impl FnOnce(&[Symbol]) -> Symbol) -> String {
    TAPE.with_borrow_mut(|tape| *tape = Tape { rounded, ..Tape::default() });
    let inputs: Vec<Symbol> = (0..arity).map(|i| number(format!("x{i}"))).collect();
    let result = formula(&inputs);
    let body = TAPE.with_borrow_mut(std::mem::take).text;
    let parameters: Vec<String> = (0..arity).map(|i| format!("real x{i}")).collect();
    format!("DEVICE real {name}({}) {{\n{body}    return t{};\n}}\n", parameters.join(", "), result.0)
}

impl Symbol {
    /// The same value, known to be a normal number.
    pub(crate) fn normal(self) -> Symbol {
        TAPE.with_borrow_mut(|tape| tape.divisors.insert(self.0));
        self
    }
}

impl Num for Symbol {
    type Mask = Condition;
    fn constant(v: f64) -> Symbol {
        let made = number(literal(v));
        if v == 1.0 {
            TAPE.with_borrow_mut(|tape| tape.ones.insert(made.0));
        }
        made
    }
    fn add(self, o: Symbol) -> Symbol {
        let made = number(format!("t{} + t{}", self.0, o.0));
        TAPE.with_borrow_mut(|tape| {
            let grown = |x: Symbol, one: Symbol| tape.exponentials.contains(&x.0) && tape.ones.contains(&one.0);
            if grown(self, o) || grown(o, self) {
                tape.divisors.insert(made.0);
            }
        });
        made
    }
    fn sub(self, o: Symbol) -> Symbol {
        number(format!("t{} - t{}", self.0, o.0))
    }
    fn mul(self, o: Symbol) -> Symbol {
        number(format!("t{} * t{}", self.0, o.0))
    }
    fn div(self, o: Symbol) -> Symbol {
        // Both are accurate; `ratio` is faster for these divisors.
        match TAPE.with_borrow(|tape| tape.divisors.contains(&o.0)) {
            true => number(format!("{}(t{}, t{})", short("ratio"), self.0, o.0)),
            false => number(format!("t{} / t{}", self.0, o.0)),
        }
    }
    fn mul_add(self, a: Symbol, b: Symbol) -> Symbol {
        number(format!("fma(t{}, t{}, t{})", self.0, a.0, b.0))
    }
    fn max(self, o: Symbol) -> Symbol {
        number(format!("fmax(t{}, t{})", self.0, o.0))
    }
    fn min(self, o: Symbol) -> Symbol {
        number(format!("fmin(t{}, t{})", self.0, o.0))
    }
    fn clamp(self, low: f64, high: f64) -> Symbol {
        let (low, high) = (literal(low), literal(high));
        let raised = number(format!("t{0} < {low} ? {low} : t{0}", self.0));
        number(format!("{high} < t{0} ? {high} : t{0}", raised.0))
    }
    fn abs(self) -> Symbol {
        number(format!("fabs(t{})", self.0))
    }
    fn sqrt(self) -> Symbol {
        number(format!("sqrt(t{})", self.0))
    }
    fn exp(self) -> Symbol {
        let made = number(format!("{}(t{})", short("exp"), self.0));
        TAPE.with_borrow_mut(|tape| tape.exponentials.insert(made.0));
        made
    }
    fn ln(self) -> Symbol {
        number(format!("log(t{})", self.0))
    }
    fn exp_m1(self) -> Symbol {
        number(format!("expm1(t{})", self.0))
    }
    fn ln_1p(self) -> Symbol {
        number(format!("log1p(t{})", self.0))
    }
    fn tanh(self) -> Symbol {
        number(format!("tangent(t{})", self.0))
    }
    fn erf(self) -> Symbol {
        number(format!("{}(t{})", short("erf"), self.0))
    }
    fn powf(self, p: f64) -> Symbol {
        number(format!("pow(t{}, {})", self.0, literal(p)))
    }
    fn round(self) -> Symbol {
        number(format!("rint(t{})", self.0))
    }
    fn lt(self, o: Symbol) -> Condition {
        condition(format!("t{} < t{}", self.0, o.0))
    }
    fn le(self, o: Symbol) -> Condition {
        condition(format!("t{} <= t{}", self.0, o.0))
    }
    fn eq(self, o: Symbol) -> Condition {
        condition(format!("t{} == t{}", self.0, o.0))
    }
    fn select(mask: Condition, a: Symbol, b: Symbol) -> Symbol {
        number(format!("t{} ? t{} : t{}", mask.0, a.0, b.0))
    }
}
