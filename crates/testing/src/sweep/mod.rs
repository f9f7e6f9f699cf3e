//! Random problems that people could have: problem lines drawn from tables of published nets' layers, their neighbours, and everything that
//! may be combined with them. The same seed gives the same problems, independent of other requests.

mod table;
#[cfg(test)]
mod tests;

use crate::concrete::concrete;
use crate::fill::Random;
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_spec::{Op, Problem};
use table::{Drawing, Table};

/// The text of the tables.
const TABLES: [&str; 7] = [
    include_str!("tables/shared.txt"),
    include_str!("tables/conv.txt"),
    include_str!("tables/matmul.txt"),
    include_str!("tables/reorder.txt"),
    include_str!("tables/pointwise.txt"),
    include_str!("tables/norm.txt"),
    include_str!("tables/rnn.txt"),
];

/// The name whose choices are the drivers.
const DRIVERS: &str = "drivers";

/// How often a problem is halved to come within its budget, at most.
const MOST_CUTS: u32 = 30;

/// How often a problem is drawn again where the specification refuses it.
const MOST_DRAWS: u32 = 10_000;

/// The cost in operations of filling, laying out and comparing an element, beside the operations of the problem.
const PER_ELEMENT: f64 = 12.0;

/// Which problems are drawn.
#[derive(Clone, Debug)]
pub struct Choices {
    /// Another seed, other problems.
    pub seed: u64,
    /// Small and odd sizes instead of those of nets.
    pub small: bool,
    /// Only these drivers; all where there are none.
    pub drivers: Vec<String>,
    /// Operations of the reference that a problem may cost, see [`cost`].
    pub budget: f64,
}

/// A source of problems.
pub struct Sweep {
    table: Table,
    choices: Choices,
}

/// A problem that was drawn.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its line, from which it was read.
    pub line: String,
    /// The problem.
    pub case: Case,
    /// Draws before it that the specification refused, or that no cut brought within the budget.
    pub refused: u32,
    /// The choices of the tables that made it: a name, and which of its choices.
    pub taken: Vec<(String, usize)>,
}

impl Sweep {
    /// A source of such problems.
    ///
    /// # Errors
    /// An unknown driver, with the known ones.
    pub fn new(choices: Choices) -> Result<Sweep, String> {
        let table = Table::parse(TABLES)?;
        let known = table.holes(DRIVERS);
        if let Some(unknown) = choices.drivers.iter().find(|d| !known.contains(&d.as_str())) {
            return Err(format!("no driver `{unknown}`; there are {}", known.join(", ")));
        }
        Ok(Sweep { table, choices })
    }

    /// Problem `index`.
    ///
    /// # Errors
    /// A mistake in a table.
    pub fn problem(&self, index: u64) -> Result<Drawn, String> {
        let driver = self.driver(index)?;
        let mut last = String::new();
        for refused in 0..MOST_DRAWS {
            let seed = mixed(mixed(mixed(self.choices.seed) ^ index) ^ u64::from(refused));
            match self.draw(&driver, seed)? {
                Ok((line, case, taken)) => return Ok(Drawn { line, case, refused, taken }),
                Err(why) => last = why,
            }
        }
        Err(format!("the specification refuses all problems of `{driver}`: {last}"))
    }

    /// The driver of problem `index`: one of those that are wanted, by the weights of the table.
    fn driver(&self, index: u64) -> Result<String, String> {
        let wanted = |driver: &String| self.choices.drivers.is_empty() || self.choices.drivers.contains(driver);
        let mut drawing = Drawing::new(&self.table, Random::new(mixed(!self.choices.seed ^ mixed(index))), false, 0)?;
        let names = self.table.holes(DRIVERS);
        loop {
            let driver = names[drawing.pick(DRIVERS)?].to_owned();
            if wanted(&driver) {
                return Ok(driver);
            }
        }
    }

    /// One draw, cut as often as the budget wants; the inner error is a refusal.
    fn draw(&self, driver: &str, seed: u64) -> Result<Result<Accepted, String>, String> {
        for cut in 0..=MOST_CUTS {
            let mut drawing = Drawing::new(&self.table, Random::new(seed), self.choices.small, cut)?;
            let text = drawing.draw(driver)?;
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let case = match text::parse_line(&mut Settings::default(), &line) {
                Ok(mut cases) if cases.len() == 1 => cases.remove(0),
                Ok(cases) => return Err(format!("`{line}` stands for {} problems", cases.len())),
                Err(e) => return Ok(Err(format!("{line}: {e}"))),
            };
            if cost(&case) <= self.choices.budget {
                return Ok(Ok((line, case, drawing.taken)));
            }
        }
        Ok(Err("beyond the budget".into()))
    }
}

/// A line, its problem, and the choices that made it.
type Accepted = (String, Case, Vec<(String, usize)>);

/// Spreads the bits of a number (the last step of splitmix64, by Steele, Lea and Flood).
fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The cost of a problem for the reference and for filling and comparing its arguments, in operations; infinite if its sizes overflow.
pub fn cost(case: &Case) -> f64 {
    let mut problem = case.problem.clone();
    problem.resolve();
    let Ok(problem) = concrete(&problem, &case.fill) else { return f64::INFINITY };
    let volume = |dims: &[i64]| dims.iter().map(|&d| d as f64).product::<f64>();
    let elements: f64 = problem.operands().iter().map(|o| volume(o.tensor.dims())).sum();
    let windows = match &problem.op {
        Op::Pool(p) => volume(p.dst.dims()) * volume(&p.kernel),
        Op::Lrn(l) => volume(l.src.dims()) * (l.local_size * l.local_size) as f64,
        _ => 0.0,
    };
    problem.flops() + 2.0 * windows + PER_ELEMENT * elements
}

/// The family of a problem in a report: its driver, its pass, and the type of its data.
pub fn family(problem: &Problem) -> String {
    let line = problem.to_string();
    let driver = line.split_whitespace().next().unwrap_or_default().trim_start_matches('-').to_owned();
    let pass = line.split_whitespace().find_map(|w| w.strip_prefix("--dir=").or_else(|| w.strip_prefix("--prop=")));
    let forward = problem.op.prop().is_none_or(|p| p.is_forward());
    let pass = match pass {
        _ if problem.op.prop().is_none() => String::new(),
        _ if forward => " FWD".into(),
        Some(pass) => format!(" {}", pass.trim_end_matches('B')),
        None => " BWD".into(),
    };
    let dtypes = problem.op.operands().iter().take(2).map(|o| o.tensor.dtype.name()).collect::<Vec<_>>();
    let two = matches!(problem.op, Op::Matmul(_) | Op::Reorder(_));
    let types =
        if two && dtypes.len() == 2 && dtypes[0] != dtypes[1] { dtypes.join(":") } else { dtypes.first().copied().unwrap_or("").into() };
    format!("{driver}{pass} {types}")
}
