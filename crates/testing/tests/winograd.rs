//! Winograd's algorithm: the harness's problems of every form it takes, and how exact it is on real numbers.

use oxidnn_runtime::{Engine, PrimitiveDesc, Stream, Threads};
use oxidnn_spec::text::{self, Case, FillHints, Settings};
use oxidnn_spec::{Arg, Use};
use oxidnn_testing::fill::{self, Random};
use oxidnn_testing::harness::{self, Harness, Outcome, Truth};
use oxidnn_testing::tolerance::WINOGRAD;

const ROW: &str = "winograd:jit";

/// Both passes, paddings, parts of tiles, layouts, many tiles and few, panels that are not full, what follows the sums.
const FORMS: &[&str] = &[
    "--conv --dir=FWD_B --alg=wino mb2ic32ih13iw18oc48kh3ph1",
    "--conv --dir=FWD_I --alg=wino mb1ic16ih5iw5oc16kh3ph0",
    "--conv --dir=FWD_B --alg=wino mb3ic16ih4iw9oc80kh3ph2",
    "--conv --dir=FWD_I --alg=wino mb1ic48ih3iw1oc48kh3ph1",
    "--conv --dir=FWD_I --alg=wino mb16ic64ih7oc256kh3ph1",
    "--conv --dir=FWD_I --alg=wino mb1ic64ih7oc256kh3ph1",
    "--conv --dir=FWD_I --alg=wino mb2ic64ih20oc272kh3ph1",
    "--conv --dir=FWD_I --alg=wino --stag=axb --dtag=abx mb1ic32ih12oc32kh3ph1",
    "--conv --dir=FWD_B --alg=wino --attr-post-ops=sum+relu+add:f32:per_oc mb1ic32ih30oc64kh3ph1",
    "--conv --dir=FWD_B --alg=wino --attr-post-ops=tanh mb1ic128ih12oc32kh3ph1",
    "--conv --dir=FWD_B --dt=f32:f32:u8 --alg=wino --attr-scales=dst:common:4 --attr-post-ops=relu mb1ic32ih12oc32kh3ph1",
    "--conv --dir=FWD_B --alg=wino --attr-scales=src:common:0.5+wei:per_oc mb1ic32ih12oc32kh3ph1",
    "--conv --dir=BWD_D --alg=wino mb2ic32ih13iw18oc48kh3ph1",
    "--conv --dir=BWD_D --alg=wino mb1ic16ih5oc32kh3ph0",
    "--conv --dir=BWD_D --alg=wino mb1ic128ih7oc64kh3ph1",
];

/// Windows of a residual network, and others with the longest sums.
const LAYERS: &[&str] = &[
    "--conv --dir=FWD_I --alg=auto ic64ih56oc64kh3ph1",
    "--conv --dir=FWD_I --alg=auto ic128ih28oc128kh3ph1",
    "--conv --dir=FWD_I --alg=auto ic256ih14oc256kh3ph1",
    "--conv --dir=FWD_I --alg=auto ic512ih7oc512kh3ph1",
    "--conv --dir=BWD_D --alg=auto ic64ih28oc512kh3ph1",
    "--conv --dir=FWD_I --alg=auto ic1024ih9iw10oc64kh3ph1",
];

fn case(line: &str) -> Case {
    let mut cases = text::parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}"));
    cases.pop().unwrap_or_else(|| panic!("{line}: no problem"))
}

#[test]
fn every_form() {
    let engine = oxidnn_cpu::engine();
    let stream = Stream::new(&engine).unwrap();
    let harness = Harness::new(engine, stream, Some(ROW.into())).and_narrower(&Threads::new(2)).unwrap();
    for line in FORMS {
        let rows = harness.verify(&case(line)).unwrap();
        assert!(!rows.is_empty() || !generates(), "{line}: {ROW} does not take it");
        for r in rows {
            assert!(matches!(r.outcome, Outcome::Passed), "{line}: {}: {:?}", r.row, r.outcome);
        }
    }
}

/// Whether generated code runs here.
fn generates() -> bool {
    oxidnn_cpu::CpuDevice::host().target().jit.is_some()
}

/// The norm of the error relative to the norm of the result, of uniform numbers in -1..1.
fn error(engine: &Engine, stream: &Stream, line: &str) -> Option<f64> {
    let desc = PrimitiveDesc::with_filter(engine, case(line).problem, ROW).ok()?;
    let args = fill::arguments(desc.problem(), &FillHints::default());
    let mut random = Random::new(7);
    for (_, tensor) in &args.0 {
        let values: Vec<f64> = tensor.values().iter().map(|_| f64::from(random.bits()) / f64::from(1u32 << 31) - 1.0).collect();
        tensor.set_values(&values);
    }
    let truth = Truth::over(desc.problem(), args.clone()).unwrap();
    let got = harness::execute(&desc, engine, stream, &args).unwrap();
    let (mut difference, mut size) = (0.0, 0.0);
    for o in desc.problem().operands().into_iter().filter(|o| o.usage == Use::Out) {
        let (g, w) = (got.get(o.arg).unwrap().values(), truth.outputs.get(o.arg).unwrap().values());
        difference += g.iter().zip(&w).map(|(g, w)| (g - w).powi(2)).sum::<f64>();
        size += w.iter().map(|w| w * w).sum::<f64>();
    }
    assert!(truth.compare(&got).is_empty(), "{line}: element by element");
    Some((difference / size).sqrt())
}

#[test]
fn real_numbers_are_well_within_what_is_granted() {
    let engine = oxidnn_cpu::engine();
    let stream = Stream::new(&engine).unwrap();
    for line in LAYERS {
        if let Some(error) = error(&engine, &stream, line) {
            assert!(error < WINOGRAD / 5.0, "{line}: {error:e}");
        } else {
            assert!(!generates(), "{line}: {ROW} does not take it");
        }
    }
}

#[test]
fn direct_means_direct() {
    let engine = oxidnn_cpu::engine();
    let direct = case("--conv --dir=FWD_I --alg=direct ic64ih56oc64kh3ph1").problem;
    assert!(PrimitiveDesc::with_filter(&engine, direct, ROW).is_err());
}

/// Weights prepared for one image and algorithm serve all.
#[test]
fn weights_are_those_of_direct_windows() {
    let engine = oxidnn_cpu::engine();
    let weights = |line: &str| PrimitiveDesc::new(&engine, case(line).problem).unwrap().tensor(Arg::WEIGHTS).cloned();
    let direct = weights("--conv --dir=FWD_I --alg=direct mb8ic64ih30oc64kh3ph1");
    assert_eq!(direct, weights("--conv --dir=FWD_I --alg=auto mb1ic64ih56oc64kh3ph1"));
    assert_eq!(direct, weights("--conv --dir=FWD_I --alg=auto mb1ic64ih3oc64kh3ph1"));
}
