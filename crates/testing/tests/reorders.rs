//! Reorders at random: types, layouts with blocks that do not divide the sizes, strides with gaps or known at execution only, scales, zero points,
//! sums and compensation; every row on every processor that this one can stand for, against the reference.
//!
//! The numbers are such that f32 computes them exactly (scales are powers of two), or any bits where nothing but a conversion happens to them:
//! rows and reference agree to the last bit. A line that fails is printed, to be run alone by `oxidnn verify`. The ignored test makes as many
//! problems as `OXIDNN_REORDERS` says, from a seed on: `OXIDNN_REORDERS=7:100000`.

use oxidnn_cpu::CpuDevice;
use oxidnn_runtime::{Engine, PrimitiveDesc, Stream, Threads};
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_spec::{Arg, DataType, Op, Problem};
use oxidnn_testing::compare::{self, Mismatch};
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::fill::Random;
use oxidnn_testing::harness::{self, Truth};
use oxidnn_testing::host::HostArgs;
use oxidnn_testing::targets;
use oxidnn_testing::tolerance::Bounds;
use std::collections::BTreeMap;

/// The rows that are to have their share.
const ROWS: &[&str] = &["pieces:jit", "lanes:jit", "chunks:jit", "tiles:portable", "chunks:portable", "ref:any"];
/// Problems of the gate.
const PROBLEMS: u64 = 600;
/// Elements of a tensor without its padding, and of most.
const LARGE: i64 = 40_000;
const SMALL: i64 = 4_000;

const SIZES: &[i64] = &[1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 19, 20, 31, 32, 33, 48, 63, 64, 65, 100, 130, 260, 1000];
/// Sizes that blocks divide.
const ROUND: &[i64] = &[1, 2, 3, 16, 32, 48, 64, 128];
/// Sizes of matrices of many tiles.
const MATRICES: &[i64] = &[64, 65, 100, 128, 130, 260];
const COMMON: &[&str] = &["f32", "bf16", "f16", "s8", "u8", "s32"];
const OTHER: &[&str] = &["f64", "s64", "f8_e5m2", "f8_e4m3", "e8m0", "f4_e2m1", "f4_e3m0", "s4", "u4", "boolean"];
/// Blocks of layouts, by the first or second of two dimensions.
const BLOCKS: &[&[(usize, i64)]] = &[
    &[(0, 16)],
    &[(0, 8)],
    &[(0, 4)],
    &[(0, 32)],
    &[(0, 2)],
    &[(0, 3)],
    &[(0, 16), (1, 16)],
    &[(0, 8), (1, 8)],
    &[(0, 4), (1, 4)],
    &[(0, 16), (1, 2)],
    &[(0, 16), (1, 4)],
    &[(0, 64), (1, 2)],
    &[(0, 64), (1, 4)],
    &[(0, 4), (1, 16), (0, 4)],
    &[(0, 8), (1, 16), (0, 2)],
    &[(0, 2), (1, 8), (0, 4)],
    &[(0, 16), (1, 64), (0, 4)],
    &[(0, 16), (1, 48), (0, 2)],
];

/// Draws the parts of a line.
struct Draw(Random);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0.int(0, n as i64 - 1) as usize
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Once in `n` times.
    fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn dtype(&mut self) -> &'static str {
        if self.rarely(6) { self.of(OTHER) } else { self.of(COMMON) }
    }

    fn dims(&mut self, sizes: &[i64]) -> Vec<i64> {
        let (n, most) = (self.of(&[1, 2, 2, 2, 3, 3, 4, 4, 5, 6]), if self.rarely(8) { LARGE } else { SMALL });
        let mut dims = vec![1; n];
        for i in 0..n {
            // The last dimensions would always be the short ones.
            let (d, taken) = ((i + n / 2) % n, dims.iter().product::<i64>());
            let fit: Vec<i64> = sizes.iter().copied().filter(|s| s * taken <= most).collect();
            dims[d] = self.of(&fit);
        }
        dims
    }

    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        if !self.rarely(3) {
            (1..n).for_each(|i| order.swap(i, self.below(i + 1)));
        }
        order
    }

    fn layout(&mut self, dims: &[i64]) -> String {
        let (n, order) = (dims.len(), self.order(dims.len()));
        let letter = |d: usize, blocked: bool| (if blocked { b'A' } else { b'a' } + d as u8) as char;
        if self.rarely(2) {
            let (first, step) = (self.below(n), self.below(n.max(2) - 1) + 1);
            let dim = |which: usize| (first + which * step) % n;
            let blocks = self.of(BLOCKS);
            let blocks = if n == 1 { &blocks[..1] } else { blocks };
            let outer: String = order.iter().map(|&d| letter(d, blocks.iter().any(|b| dim(b.0) == d))).collect();
            let inner: String = blocks.iter().map(|b| format!("{}{}", b.1, letter(dim(b.0), false))).collect();
            return format!("{outer}{inner}{}", if self.rarely(20) { "/o16" } else { "" });
        }
        let mut tag: String = order.iter().map(|&d| letter(d, false)).collect();
        if self.rarely(4) {
            let (mut strides, mut stride) = (vec![0; n], if self.rarely(4) { 2 } else { 1 });
            for &d in order.iter().rev() {
                strides[d] = stride;
                stride *= dims[d];
                stride += if self.rarely(2) { 0 } else { self.0.int(0, 5) };
            }
            let unknown = self.rarely(2);
            let text = |s: &i64, hidden: bool| if hidden { "*".to_owned() } else { s.to_string() };
            let strides: Vec<String> = strides.iter().map(|s| (s, unknown && self.rarely(2))).map(|(s, hidden)| text(s, hidden)).collect();
            tag += &format!("/s{}", strides.join("x"));
        }
        if self.rarely(20) {
            tag += "/o5";
        }
        tag
    }

    /// A mask of some of `n` dimensions.
    fn mask(&mut self, n: usize) -> u32 {
        1 + self.0.int(0, (1 << n) - 2) as u32
    }

    fn quant(&mut self, arg: &str, n: usize, values: &[&str]) -> String {
        if self.rarely(2) { format!("{arg}:common:{}", self.of(values)) } else { format!("{arg}:{}", self.mask(n)) }
    }

    /// Scales or zero points of source, destination, or both; one in `n` times.
    fn quants(&mut self, (option, often): (&str, usize), n: usize, values: &[&str]) -> String {
        if !self.rarely(often) {
            return String::new();
        }
        let args: &[&str] = self.of(&[&["src"][..], &["dst"], &["src", "dst"]]);
        let all: Vec<String> = args.iter().map(|arg| self.quant(arg, n, values)).collect();
        format!(" --attr-{option}={}", all.join("+"))
    }

    fn line(&mut self) -> String {
        // Some are copies of whole blocks, some of them transpositions of matrices of many tiles.
        let plain = self.rarely(4);
        let turned = plain && self.rarely(8);
        let dims = if turned { vec![self.of(MATRICES), self.of(MATRICES)] } else { self.dims(if plain { ROUND } else { SIZES }) };
        let n = dims.len();
        let sdt = if turned { self.of(&["f32", "s32"]) } else { self.dtype() };
        let ddt = if plain || self.rarely(2) { sdt } else { self.dtype() };
        let (stag, dtag) = if turned { ("ab".into(), "ba".into()) } else { (self.layout(&dims), self.layout(&dims)) };
        let mut line = format!("--reorder --sdt={sdt} --ddt={ddt} --stag={stag} --dtag={dtag}");
        if ddt == "s8" && self.rarely(4) {
            let mask = self.mask(n);
            line += &match self.below(4) {
                0 => format!("/c{mask}"),
                1 => format!("/z{mask}"),
                2 => format!("/c{mask}/z{mask}"),
                _ => format!("/c{mask}/a0.5"),
            };
        }
        if !plain {
            line += &self.quants(("scales", 2), n, &["0.25", "0.5", "2", "4"]);
            line += &self.quants(("zero-points", 3), n, &["-3", "1", "2", "5"]);
            if self.rarely(5) {
                line += &format!(" --attr-post-ops=sum:{}", self.of(&["1", "0.5", "2", "-1"]));
            }
        }
        let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
        format!("{line} {}", dims.join("x"))
    }
}

/// Whether f32 holds every number of the source, or rounding it to f32 on the way changes nothing.
fn by_way_of_f32(src: DataType, dst: DataType) -> bool {
    use DataType::{Bf16, E8m0, F8E4m3, F8E5m2, F16, F64, S32, S64};
    match src {
        _ if src == dst => true,
        F64 | S64 => false,
        S32 => !matches!(dst, Bf16 | F16 | E8m0 | F8E4m3 | F8E5m2),
        _ => true,
    }
}

/// Puts any bits in the place of the source's elements, where the problem only moves or converts them; other bytes stay.
fn any_bits(problem: &Problem, args: &HostArgs, r: &mut Random) {
    let (Op::Reorder(op), Some(src)) = (&problem.op, args.get(Arg::SRC)) else { return };
    let attr = &problem.attr;
    let moves = attr.scales.is_empty() && attr.zero_points.is_empty() && attr.post_ops.is_empty();
    let compensated = op.dst.blocking().is_some_and(|b| b.compensation.is_some());
    if !moves || compensated || !by_way_of_f32(op.src.dtype, op.dst.dtype) {
        return;
    }
    let bytes: Vec<u8> = src.bytes(0).iter().zip(src.element_bytes()).map(|(b, is)| if is { r.bits() as u8 } else { *b }).collect();
    if op.src.dtype.bits() >= 8 {
        src.set_bytes(0, &bytes);
    }
}

/// What differs between two executions' destinations: no number may, and no bit of what is only moved.
fn difference(problem: &Problem, got: &HostArgs, want: &HostArgs) -> Option<Mismatch> {
    let (got, want) = (got.get(Arg::DST)?, want.get(Arg::DST)?);
    let moved = problem.tensor(Arg::SRC).is_some_and(|t| t.dtype == want.tensor.dtype) && problem.attr.is_default();
    if moved && got.bufs != want.bufs {
        return Some(Mismatch::noted(Arg::DST, "other bits than those of the source".into()));
    }
    // A sum of a whole number of 17 bits and one with a fraction may be too long for f32.
    let long = matches!(want.tensor.dtype, DataType::S32 | DataType::S64) && !problem.attr.post_ops.is_empty();
    let values = want.values();
    let exact = Bounds::around(want.tensor.dtype, &values, |_, _| f64::from(u8::from(long)), false);
    compare::values(Arg::DST, &got.values(), &values, &exact).or_else(|| compare::surroundings(Arg::DST, got, want))
}

/// A processor and the rows that it is asked for.
struct Place {
    engine: Engine,
    stream: Stream,
    takes: Box<dyn Fn(&PrimitiveDesc) -> bool>,
}

fn places() -> Vec<Place> {
    let engine = oxidnn_cpu::engine();
    let mut all = vec![Place { stream: Stream::new(&engine).unwrap(), engine, takes: Box::new(|_| true) }];
    for target in targets::narrower() {
        let engine = Engine::new(CpuDevice::new(target));
        let stream = Stream::with_threads(&engine, Threads::global()).unwrap();
        all.push(Place { engine, stream, takes: Box::new(move |row| targets::runs(&target, row)) });
    }
    all
}

/// Runs every row of a problem, counting them; what is wrong.
fn check(case: &Case, places: &[Place], r: &mut Random, rows: &mut BTreeMap<String, usize>) -> Result<(), String> {
    let problem = concrete(&case.problem, &case.fill).map_err(|e| e.to_string())?;
    let mut truth = Truth::of(&problem, &case.fill).map_err(|e| e.to_string())?;
    any_bits(&problem, &truth.inputs, r);
    truth.outputs = harness::reference(&problem, &truth.inputs).map_err(|e| e.to_string())?;
    for place in places {
        for row in harness::rows(&place.engine, &case.problem).map_err(|e| e.to_string())? {
            if !(place.takes)(&row) {
                continue;
            }
            *rows.entry(row.impl_name().to_owned()).or_default() += 1;
            let got =
                harness::execute(&row, &place.engine, &place.stream, &truth.inputs).map_err(|e| format!("{}: {e}", row.impl_name()))?;
            if let Some(wrong) = difference(&problem, &got, &truth.outputs) {
                return Err(format!("{}: {wrong}", row.impl_name()));
            }
        }
    }
    Ok(())
}

/// Problems from a seed on.
fn run(first: u64, count: u64) {
    let places = places();
    let (mut wrong, mut legal, mut rows) = (Vec::new(), 0, BTreeMap::new());
    for seed in first..first + count {
        let mut draw = Draw(Random::new(seed));
        let line = draw.line();
        // Zero points of types that have none, masks of what is blocked by groups and the like are refused.
        let Ok(cases) = text::parse_line(&mut Settings::default(), &line) else { continue };
        for case in &cases {
            legal += 1;
            if let Err(e) = check(case, &places, &mut draw.0, &mut rows) {
                wrong.push(format!("{seed}: {line}\n    {e}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {legal} problems:\n{}", wrong.len(), wrong.join("\n"));
    assert!(2 * legal >= count, "{legal} of {count} lines are legal");
    let generated = targets::host().jit.is_some();
    for row in ROWS.iter().filter(|row| generated || !row.ends_with(":jit")) {
        assert!(rows.get(*row) >= Some(&5), "{row}: {rows:?}");
    }
}

#[test]
fn random_reorders() {
    run(1, PROBLEMS);
}

#[test]
#[ignore = "runs as many as OXIDNN_REORDERS asks for"]
fn many_random_reorders() {
    let given = std::env::var("OXIDNN_REORDERS").unwrap_or_else(|_| "1000:20000".into());
    let (seed, count) = given.split_once(':').and_then(|(s, n)| Some((s.parse().ok()?, n.parse().ok()?))).expect("SEED:COUNT");
    run(seed, count);
}
