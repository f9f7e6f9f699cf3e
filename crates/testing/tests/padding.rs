//! Padding is not multiplied: weights that are infinite or no numbers reach the results whose windows have a pixel there, and no others.

use oxidnn_cpu::CpuDevice;
use oxidnn_runtime::{Engine, PrimitiveDesc, Stream};
use oxidnn_spec::Arg;
use oxidnn_spec::text::{self, FillHints, Settings};
use oxidnn_testing::harness::{self, Truth};
use oxidnn_testing::{fill, targets};

/// Both passes and deconvolutions; strides, dilations, paddings wider than the source, few channels and many, tiles of several lines, reductions in
/// parts, groups, layouts.
const LINES: &[&str] = &[
    "--conv --dir=FWD_B mb1ic16ih7oc24kh3ph1",
    "--conv --dir=FWD_D mb2ic3ih9iw13oc17kh5ph2",
    "--conv --dir=FWD_D --stag=abx --dtag=abx mb1ic40ih6oc33kh3ph1sh2",
    "--conv --dir=FWD_D mb1ic8ih3oc8kh3ph4",
    "--conv --dir=FWD_D mb1ic20iw9oc40kw3pw2dw1",
    "--conv --dir=FWD_D mb1ic320ih5oc20kh3ph1",
    "--conv --dir=FWD_D mb1ic4id5ih6iw7oc20kd3kh3ph1pd1",
    "--conv --dir=FWD_D --attr-post-ops=sum+relu g2mb1ic24ih5oc32kh3ph1",
    "--conv --dir=FWD_D g32mb1ic32ih6oc32kh3ph1",
    "--conv --dir=BWD_D mb1ic24ih7oc16kh3ph1",
    "--conv --dir=BWD_D mb2ic24ih8oc16kh3ph1sh2",
    "--conv --dir=BWD_D mb1ic3ih8oc16kh3ph1sh2",
    "--deconv --dir=FWD_B mb1ic16ih7oc24kh3ph1",
    "--deconv --dir=FWD_D mb1ic16ih5oh10oc24kh4ph1sh2",
    "--deconv --dir=BWD_D mb1ic16ih7oc24kh3ph1",
    "--conv --dir=FWD_D --dt=bf16:bf16:f32 mb1ic16ih7oc24kh3ph1",
    "--conv --dir=FWD_D --dt=bf16:bf16:f32 mb1ic17ih7oc40kh3ph1",
    "--conv --dir=FWD_D --dt=bf16:bf16:f32 mb1ic3ih9oc24kh5ph2",
    "--conv --dir=FWD_D --dt=bf16:bf16:f32 mb1ic640ih5oc80kh3ph1",
    "--conv --dir=FWD_D --dt=bf16 --attr-post-ops=sum mb2ic64ih14oc64kh3ph1",
    "--conv --dir=FWD_D --dt=f16:f16:f32 mb1ic16ih7oc24kh3ph1",
    "--deconv --dir=FWD_D --dt=bf16 mb1ic16ih5oh10oc24kh4ph1sh2",
];

fn check(engine: &Engine, runs: impl Fn(&PrimitiveDesc) -> bool, wrong: &mut Vec<String>) -> usize {
    let stream = Stream::new(engine).unwrap();
    let mut executions = 0;
    for line in LINES {
        let case = text::parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}")).remove(0);
        for row in harness::rows(engine, &case.problem).unwrap().into_iter().filter(|row| runs(row)) {
            let inputs = fill::arguments(row.problem(), &FillHints::default());
            let weights = inputs.get(Arg::WEIGHTS).unwrap();
            let mut values = weights.values();
            let step = values.len() / 3 + 1;
            for (value, odd) in values.iter_mut().step_by(step).zip([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]) {
                *value = odd;
            }
            weights.set_values(&values);
            let got = harness::execute(&row, engine, &stream, &inputs).unwrap();
            let truth = Truth::over(row.problem(), inputs).unwrap();
            executions += 1;
            wrong.extend(truth.compare(&got).iter().map(|m| format!("{line}\n    {}: {m}", row.impl_name())));
        }
    }
    executions
}

#[test]
fn weights_that_are_no_finite_numbers_do_not_spread() {
    let mut wrong = Vec::new();
    let mut executions = check(&oxidnn_cpu::engine(), |_| true, &mut wrong);
    for target in targets::narrower() {
        executions += check(&Engine::new(CpuDevice::new(target)), |row| targets::runs(&target, row), &mut wrong);
    }
    assert!(wrong.is_empty(), "{} of {executions} executions are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(executions >= 2 * LINES.len(), "only {executions} executions");
}
