//! Problems at random: the options and descriptors of a driver's `full.txt`, put together anew with other sizes. Every row against the reference,
//! generated code also as narrower processors run it.
//!
//! `OXIDNN_TEST_SEED` and `OXIDNN_TEST_COUNT` choose other problems and more of them a driver; a failing line runs alone with `oxidnn verify`.

use oxidnn_runtime::{Stream, Threads};
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_testing::fill::Random;
use oxidnn_testing::harness::{Harness, RowResult};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Sizes around those at which kernels change: vectors, blocks, panels.
const SIZES: [i64; 22] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 23, 31, 32, 33, 47, 48, 64, 65, 100];
/// Most elements of a problem's tensors.
const ELEMENTS: i64 = 60_000;
/// Most arithmetic of a problem.
const WORK: f64 = 3e6;
/// Tries for one problem: most combinations are no requests.
const TRIES: usize = 200;

/// A driver's lines taken apart.
struct Parts {
    /// Values of each option, as often as lines have them, and how many lines do.
    options: BTreeMap<String, Vec<String>>,
    lines: Vec<(Vec<String>, String)>,
}

fn one_of<T>(rng: &mut Random, list: &[T]) -> usize {
    rng.int(0, list.len() as i64 - 1) as usize
}

impl Parts {
    fn of(driver: &str) -> Parts {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs").join(driver).join("full.txt");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut parts = Parts { options: BTreeMap::new(), lines: Vec::new() };
        for line in text.lines() {
            let mut words: Vec<&str> = line.split_whitespace().skip(1).collect();
            let Some(descriptor) = words.pop() else { continue };
            for (name, value) in words.iter().filter_map(|w| w.split_once('=')) {
                parts.options.entry(name.to_owned()).or_default().push(value.to_owned());
            }
            parts.lines.push((words.into_iter().map(str::to_owned).collect(), descriptor.to_owned()));
        }
        parts
    }

    /// A line with the options of one line, some of them those of others, and the descriptor of a third with other sizes.
    fn line(&self, driver: &str, rng: &mut Random) -> String {
        let (options, _) = &self.lines[one_of(rng, &self.lines)];
        let mut words: Vec<String> = options.clone();
        for word in &mut words {
            let Some(name) = word.split_once('=').map(|w| w.0.to_owned()).filter(|_| rng.int(0, 2) == 0) else { continue };
            if let Some(values) = self.options.get(&name) {
                *word = format!("{name}={}", values[one_of(rng, values)]);
            }
        }
        let descriptor = &self.lines[one_of(rng, &self.lines)].1;
        format!("--{driver} {} {}", words.join(" "), resized(descriptor, rng))
    }
}

/// The descriptor with some sizes replaced, equal ones by equal ones. Outputs of windows follow from the rest.
fn resized(descriptor: &str, rng: &mut Random) -> String {
    let mut others = BTreeMap::<String, i64>::new();
    let mut out = String::new();
    let mut letters = String::new();
    let mut rest = descriptor;
    let windows = ["kh", "kw", "kd"].iter().any(|k| descriptor.contains(k));
    while let Some(first) = rest.chars().next() {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if digits.is_empty() {
            letters.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        rest = &rest[digits.len()..];
        let size = if rest.starts_with('.') || letters.ends_with('.') || letters.ends_with('-') || letters == "eps" {
            digits
        } else {
            let keeps = rng.int(0, 1) == 0 || "klpsd".contains(letters.chars().next().unwrap_or(' '));
            let other = if keeps { digits.parse().unwrap_or(1) } else { SIZES[one_of(rng, &SIZES)] };
            others.entry(digits).or_insert(other).to_string()
        };
        if !(windows && letters.starts_with('o')) {
            out += &letters;
            out += &size;
        }
        letters.clear();
    }
    out + &letters
}

/// A problem that is a request, and small.
fn case(parts: &Parts, driver: &str, rng: &mut Random) -> Option<(String, Case)> {
    (0..TRIES).find_map(|_| {
        let line = parts.line(driver, rng);
        let case = text::parse_line(&mut Settings::default(), &line).ok()?.pop()?;
        let elements = |t: &oxidnn_spec::Tensor| t.layout.elements().unwrap_or(i64::MAX);
        let all = case.problem.operands().iter().map(|o| elements(&o.tensor)).fold(0i64, i64::saturating_add);
        (all <= ELEMENTS && case.problem.flops() <= WORK).then_some((line, case))
    })
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn check(driver: &str) {
    let (seed, cases) = (number("OXIDNN_TEST_SEED", 1), number("OXIDNN_TEST_COUNT", 25));
    let (engine, parts) = (oxidnn_cpu::engine(), Parts::of(driver));
    let harness = Harness::new(engine.clone(), Stream::new(&engine).unwrap(), None).and_narrower(&Threads::global()).unwrap();
    let mut rng = Random::new(seed as u64);
    let (mut wrong, mut executions) = (Vec::new(), 0);
    for (line, case) in (0..cases).filter_map(|_| case(&parts, driver, &mut rng)) {
        match catch_unwind(AssertUnwindSafe(|| harness.verify(&case))) {
            Err(_) => wrong.push(format!("{line}\n    panics")),
            // A request that no row takes.
            Ok(Err(_)) => {}
            Ok(Ok(rows)) => {
                executions += rows.len();
                wrong.extend(rows.iter().flat_map(RowResult::failures).map(|why| format!("{line}\n    {why}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {executions} executions are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(executions >= cases, "only {executions} executions of {cases} problems");
}

macro_rules! drivers {
    ($($driver:ident)*) => {
        $(#[test]
        fn $driver() {
            check(stringify!($driver));
        })*
    };
}

drivers! { eltwise binary pool rnn bnorm lnorm gnorm lrn softmax reduction resampling prelu shuffle concat sum }
