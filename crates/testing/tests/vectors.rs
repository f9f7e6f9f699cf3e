//! Every implementation row against truth made outside the project (`tests/vectors`).

use oxidnn_runtime::{PrimitiveDesc, Stream};
use oxidnn_spec::Use;
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::{compare, harness, vectors};
use std::path::Path;

/// Checks every vector of `driver` on every row; returns how many row executions were compared.
fn check(driver: &str, at_least: usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(format!("{driver}.jsonl"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let engine = oxidnn_cpu::engine();
    let stream = Stream::new(&engine).unwrap();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for json in text.lines().filter(|l| !l.trim().is_empty()) {
        match vectors::parse(json) {
            Err(e) => wrong.push(e),
            Ok(vector) => match check_vector(&vector, &engine, &stream) {
                Ok(rows) => compared += rows,
                Err(why) => wrong.push(format!("{}\n    {}", vector.line, why.join("\n    "))),
            },
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} executions are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared >= at_least, "only {compared} executions were compared");
}

fn check_vector(vector: &vectors::Vector, engine: &oxidnn_runtime::Engine, stream: &Stream) -> Result<usize, Vec<String>> {
    let one = |e: String| vec![e];
    let mut desc = PrimitiveDesc::new(engine, vector.problem.clone()).map_err(|e| one(e.to_string()))?;
    let mut wrong = Vec::new();
    let mut rows = 0;
    loop {
        let problem = concrete(desc.problem(), &vector.fill).map_err(|e| one(e.to_string()))?;
        let args = vector.arguments(&problem).map_err(one)?;
        let got = harness::execute(&desc, engine, stream, &args).map_err(|e| one(format!("{}: {e}", desc.impl_name())))?;
        for (arg, want) in &vector.outputs {
            let Some(g) = got.get(*arg) else {
                wrong.push(format!("{}: there is no output {arg}", desc.impl_name()));
                continue;
            };
            let usage = problem.operands().into_iter().find(|o| o.arg == *arg).map(|o| o.usage);
            assert_eq!(usage, Some(Use::Out), "{}: {arg}", vector.line);
            let (want, bounds) = vector.truth(&problem, *arg, want, &args).map_err(|e| one(e.to_string()))?;
            wrong.extend(compare::values(*arg, &g.values(), &want, &bounds).map(|m| format!("{}: {m}", desc.impl_name())));
        }
        rows += 1;
        match desc.next_impl() {
            Ok(next) => desc = next,
            Err(_) => break,
        }
    }
    if wrong.is_empty() { Ok(rows) } else { Err(wrong) }
}

macro_rules! drivers {
    ($($driver:ident $at_least:literal)*) => {
        $(#[test]
        fn $driver() {
            check(stringify!($driver), $at_least);
        })*
    };
}

drivers! {
    conv 30 deconv 20 ip 15 matmul 30 bnorm 15 lnorm 10 gnorm 8 lrn 8 pool 15 eltwise 40 softmax 8 reduction 9 resampling 8 binary 13
    prelu 6 shuffle 4 concat 4 sum 4 reorder 30 rnn 20 sdpa 6
}
