//! Numbers that are none, infinities, zeros of both signs and subnormal numbers: every row gives NaN where the reference does and nowhere else.
//! Sums stay small and maxima are those of whole numbers, so that all else is exact or within tolerance.

use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_runtime::{Engine, PrimitiveDesc, Stream};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::text::{self, Settings};
use oxidnn_spec::{Arg, DataType, Problem, Use};
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::harness::{self, Truth};
use oxidnn_testing::host::HostArgs;
use oxidnn_testing::{fill, targets};

/// Values that functions treat apart; 1e-40 is subnormal in f32.
const SPECIAL: [f64; 23] = [
    1.0,
    f64::NAN,
    -1.0,
    f64::INFINITY,
    0.5,
    f64::NEG_INFINITY,
    -0.0,
    0.0,
    2.5,
    1e-40,
    -1e-40,
    -3.0,
    0.25,
    -0.5,
    1.5,
    -2.0,
    3.0,
    -0.25,
    2.0,
    0.75,
    -1.5,
    8.0,
    -8.0,
];

/// The tensors that hold data, not parameters.
const DATA: [Arg; 6] = [Arg::SRC, Arg::SRC_1, Arg::DST, Arg::DIFF_DST, Arg::multiple_src(0), Arg::multiple_src(1)];

/// The engines that generated code is run on.
fn engines() -> Vec<(Engine, Option<CpuTarget>)> {
    let narrower = targets::narrower().into_iter().map(|t| (Engine::new(CpuDevice::new(t)), Some(t)));
    std::iter::once((oxidnn_cpu::engine(), None)).chain(narrower).collect()
}

/// A row with the engine and the stream that run it, and its name there.
struct Row<'r> {
    desc: &'r PrimitiveDesc,
    on: (&'r Engine, &'r Stream),
    name: String,
}

impl Row<'_> {
    fn execute(&self, inputs: &HostArgs) -> HostArgs {
        harness::execute(self.desc, self.on.0, self.on.1, inputs).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
}

/// Calls `body` for every row that takes a line, with the problem and its usual inputs.
fn each(line: &str, mut body: impl FnMut(&Row<'_>, Problem, HostArgs)) {
    let case = text::parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}")).remove(0);
    for (engine, target) in engines() {
        let stream = Stream::new(&engine).expect("a stream");
        for desc in harness::rows(&engine, &case.problem).unwrap_or_else(|e| panic!("{line}: {e}")) {
            if target.is_some_and(|t| !targets::runs(&t, &desc)) {
                continue;
            }
            let at = target.map_or(String::new(), |t| format!("@{}", t.jit.map_or("none", |j| j.name())));
            let name = format!("{line}\n    {}{at}", desc.impl_name());
            let problem = concrete(desc.problem(), &case.fill).expect("a concrete problem");
            let inputs = fill::arguments(&problem, &case.fill);
            body(&Row { desc: &desc, on: (&engine, &stream), name }, problem, inputs);
        }
    }
}

/// Every row on the special values; what is wrong.
fn check(line: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    each(line, |row, problem, inputs| {
        let forward = problem.op.prop().is_none_or(|p| p.is_forward());
        for o in problem.operands().iter().filter(|o| o.usage == Use::In && DATA.contains(&o.arg) && !o.tensor.dtype.is_integral()) {
            let Some(host) = inputs.get(o.arg) else { continue };
            // Two operands meet in all pairs, where they have as many elements.
            let n = SPECIAL.len();
            let at = |i: usize| if [Arg::SRC_1, Arg::DIFF_DST, Arg::multiple_src(1)].contains(&o.arg) { i / n } else { i };
            // Slopes at subnormal numbers leave the range of f32, where an infinity or 0 multiplies them.
            let value =
                |i: usize| Some(SPECIAL[at(i) % n]).filter(|v| forward || !v.is_finite() || *v == 0.0 || v.abs() > 1e-30).unwrap_or(0.125);
            host.set_values(&(0..host.values().len()).map(value).collect::<Vec<_>>());
        }
        let truth = Truth::over(&problem, inputs).expect("the reference");
        let got = row.execute(&truth.inputs);
        wrong.extend(truth.compare(&got).iter().map(|m| format!("{}: {m}", row.name)));
    });
    wrong
}

fn check_all(lines: impl IntoIterator<Item = String>) {
    let wrong: Vec<String> = lines.into_iter().flat_map(|line| check(&line)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// All functions, with parameters that make sense for each.
fn functions() -> Vec<(EltwiseAlg, &'static [&'static str])> {
    use EltwiseAlg::*;
    let parameters: fn(EltwiseAlg) -> &'static [&'static str] = |alg| match alg {
        Clip | ClipV2 | ClipV2Dst => &["--alpha=-1 --beta=2", "--alpha=0.5 --beta=0.5"],
        Pow => &[
            "--alpha=1 --beta=0.5",
            "--alpha=2 --beta=-0.5",
            "--alpha=1 --beta=1.5",
            "--alpha=-1 --beta=3",
            "--alpha=1 --beta=-2",
            "--alpha=1 --beta=0",
            "--alpha=1 --beta=1",
            "--alpha=1 --beta=inf",
            "--alpha=1 --beta=-inf",
            "--alpha=1 --beta=0.3",
            "--alpha=1 --beta=-1.7",
            "--alpha=1 --beta=9",
        ],
        HardSigmoid | HardSwish => &["--alpha=0.25 --beta=0.5"],
        Elu | EluDst | Relu | ReluDst => &["--alpha=0.5", "--alpha=0"],
        Linear => &["--alpha=2 --beta=1", "--alpha=0 --beta=1"],
        SoftRelu | Swish => &["--alpha=1.5", "--alpha=-1"],
        _ => &[""],
    };
    EltwiseAlg::NAMES.iter().map(|(alg, _)| (*alg, parameters(*alg))).collect()
}

#[test]
fn functions_of_elements() {
    let mut lines = Vec::new();
    for (alg, parameters) in functions() {
        for parameters in parameters {
            // Rounding to whole numbers is a function of f32, and has no gradient.
            let all = alg != EltwiseAlg::Round;
            for dtype in ["f32", "bf16", "f16"].into_iter().filter(|d| all || *d == "f32") {
                lines.push(format!("--eltwise --dir=FWD_I --dt={dtype} --alg={} {parameters} 23x23", alg.name()));
                if all {
                    lines.push(format!("--eltwise --dir=BWD_D --dt={dtype} --alg={} {parameters} 23x23", alg.name()));
                }
            }
        }
    }
    check_all(lines);
}

#[test]
fn functions_of_two_and_of_windows() {
    let mut lines = Vec::new();
    for (alg, name) in BinaryAlg::NAMES {
        if alg != BinaryAlg::Select {
            lines.push(format!("--binary --alg={name} 23x23:23x23"));
            lines.push(format!("--binary --alg={name} 23x23:1x23"));
            lines.push(format!("--matmul --attr-post-ops={name}:f32:3 23x2:2x23"));
        }
    }
    for dir in ["FWD_I", "FWD_D"] {
        for tag in ["abx", "axb", "aBx16b"] {
            lines.push(format!("--pool --dir={dir} --tag={tag} --alg=max mb1ic23ih9iw9oh4ow4kh3sh2"));
            lines.push(format!("--pool --dir={dir} --tag={tag} --alg=max mb1ic16ih5iw5oh5ow5kh3ph1"));
        }
    }
    for dtype in ["f32", "bf16"] {
        for alg in ["max", "min", "sum", "mean", "mul"] {
            for dims in ["23x23:23x1", "23x23:1x23", "2x23x3:1x23x1", "7x2:7x1"] {
                lines.push(format!("--reduction --sdt={dtype} --ddt={dtype} --alg={alg} {dims}"));
            }
        }
    }
    for alg in ["softmax_accurate", "softmax_log", "softmax_accurate_inf_as_zero"] {
        for (axis, dims) in [(1, "5x23"), (0, "23x5"), (1, "3x7x2"), (1, "23x2")] {
            lines.push(format!("--softmax --dir=FWD_I --alg={alg} --axis={axis} {dims}"));
        }
    }
    lines.push("--prelu --dir=FWD_D 23x23:1x23".into());
    lines.push("--concat --axis=0 3x23:5x23".into());
    lines.push("--sum --sdt=f32:f32 --scales=1:0.5 23x23".into());
    lines.push("--shuffle --axis=1 --group=2 23x4".into());
    check_all(lines);
}

#[test]
fn narrow_numbers_are_none_where_the_wide_ones_are() {
    assert!(DataType::Bf16.digits() < DataType::F32.digits());
    let lines = ["f16", "bf16"].map(|d| format!("--binary --sdt={d}:{d} --ddt={d} --alg=max 23x23:23x23"));
    check_all(lines);
}

/// Elements of few bits, whose mean and variance are such numbers too: no row loses a bit of these.
#[test]
fn statistics_of_numbers_of_few_bits_are_exact() {
    let mut wrong = Vec::new();
    // The unit and the mean of a channel, in which elements are a quarter of a unit away at most, on both sides as often.
    let of = |channel: usize| (2f64.powi((channel % 7) as i32 - 3), (channel % 5) as f64 - 2.0);
    for (dtype, tag) in ["f32", "bf16", "f16"].iter().flat_map(|dtype| ["abx", "axb", "aBx16b", "aBx8b"].map(|tag| (dtype, tag))) {
        for sizes in ["mb4ic200ih17iw16", "mb8ic19ih4iw8"] {
            each(&format!("--bnorm --dir=FWD_D --dt={dtype} --tag={tag} {sizes}"), |row, _, inputs| {
                let src = inputs.get(Arg::SRC).expect("a source");
                let [channels, pixels] = [src.tensor.dims()[1], src.tensor.dims()[2] * src.tensor.dims()[3]].map(|n| n as usize);
                let value = |i: usize| {
                    let (unit, mean) = of(i / pixels % channels);
                    let distance = (i % 4 + 1) as f64 / 16.0;
                    unit * (mean + if i % 8 < 4 { distance } else { -distance })
                };
                src.set_values(&(0..src.values().len()).map(value).collect::<Vec<_>>());
                let got = row.execute(&inputs);
                let [means, variances] = [Arg::MEAN, Arg::VARIANCE].map(|arg| got.get(arg).expect("a result").values());
                let expected = |c: usize| (of(c).0 * of(c).1, of(c).0 * of(c).0 * 7.5 / 256.0);
                if let Some(c) = (0..channels).find(|c| (means[*c], variances[*c]) != expected(*c)) {
                    wrong.push(format!("{}: channel {c}: {:?}, not {:?}", row.name, (means[c], variances[c]), expected(c)));
                }
            });
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
