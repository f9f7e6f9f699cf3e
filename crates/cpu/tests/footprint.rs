//! What primitives report of their code and tables, and the cache's budget that bounds it: one test, as the cache is the process's.

use oxidnn_runtime::{PrimitiveDesc, cache};
use oxidnn_spec::Problem;
use oxidnn_spec::text::{Settings, parse_line};

fn problem(line: &str) -> Problem {
    let mut settings = Settings::default();
    let mut cases = parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}"));
    cases.pop().expect("a problem").problem
}

#[test]
fn the_cache_keeps_as_many_bytes_as_its_budget_allows() {
    let engine = oxidnn_cpu::engine();
    let create = |line: &str| PrimitiveDesc::new(&engine, problem(line)).unwrap().create().unwrap();
    let lines = [
        "--matmul 17x33:33x65",
        "--conv --dir=FWD_I mb1ic32ih14oc32kh3ph1",
        "--softmax --axis=1 7x100",
        "--reorder --stag=abcd --dtag=acdb 2x16x7x7",
    ];
    for line in lines {
        let primitive = create(line);
        let bytes = primitive.exec().footprint();
        let least = if primitive.desc().impl_name().ends_with(":jit") { 500 } else { 50 };
        assert!((least..1 << 20).contains(&bytes), "{line}, {}: {bytes} bytes", primitive.desc().impl_name());
    }
    let budget = 64 << 10;
    cache::clear();
    cache::set_byte_budget(budget);
    for size in 1..200 {
        create(&format!("--matmul --attr-post-ops=linear:{size}.0:1.0 {size}x33:33x65"));
        assert!(cache::stats().bytes <= budget);
    }
    let entries = cache::stats().entries;
    assert!((1..150).contains(&entries), "{entries} entries");
}
