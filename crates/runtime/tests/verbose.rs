//! Verbose lines from first to last; one test, as the output is the process's.

mod toy;

use oxidnn_runtime::*;
use oxidnn_spec::*;
use std::sync::{Arc, Mutex};
use toy::*;

#[test]
fn lines_in_the_specifications_format() {
    let lines = Arc::new(Mutex::new(Vec::<String>::new()));
    let keep = lines.clone();
    verbose::set_sink(Some(Arc::new(move |line| keep.lock().unwrap().push(line.to_string()))));
    let taken = || std::mem::take(&mut *lines.lock().unwrap());
    let (engine, _) = engine();
    let stream = Stream::new(&engine).unwrap();
    let problem = linear([2, 5], 2.0, 1.0, Attr::default());
    let memory = |values: f64| {
        let m = Memory::new(&engine, Tensor::plain([2, 5], DataType::F32).unwrap()).unwrap();
        m.write_with(|_| values).unwrap();
        m
    };
    let (src, dst) = (memory(1.0), memory(0.0));
    let run = || {
        let primitive = PrimitiveDesc::new(&engine, problem.clone()).unwrap().create().unwrap();
        primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap();
        primitive
    };

    verbose::set(0);
    run();
    assert!(taken().is_empty());

    verbose::set_level(2).unwrap();
    run();
    let out = taken();
    assert!(out[0].starts_with("onednn_verbose,v1,info,oneDNN v3.13.2 (commit oxidnn-"), "{out:#?}");
    assert!(out.iter().any(|l| l == "onednn_verbose,v1,info,cpu,isa:toy"), "{out:#?}");
    let created: Vec<&String> =
        out.iter().filter(|l| l.contains(",primitive,create:cache_hit,cpu,eltwise,scratch:toy,forward_inference,")).collect();
    let executed: Vec<&String> = out.iter().filter(|l| l.contains(",primitive,exec,cpu,eltwise,scratch:toy,forward_inference,")).collect();
    assert_eq!((created.len(), executed.len()), (1, 1), "{out:#?}");
    let fields: Vec<&str> = executed[0].split(',').collect();
    assert_eq!(fields.len(), 13, "{}", executed[0]);
    let replayed = text::verbose::parse(executed[0]).unwrap().problem;
    assert_eq!(replayed.op.tensor(Arg::SRC), problem.op.tensor(Arg::SRC));
    assert!(fields[12].parse::<f64>().is_ok_and(|ms| ms > 0.0));

    verbose::set(verbose::ALL);
    let primitive = run();
    let out = taken();
    let skipped = "onednn_verbose,v1,primitive,create:dispatch,eltwise,does not take these sizes: not whole blocks of 16,wide:toy";
    assert!(out.iter().any(|l| l == skipped), "{out:#?}");
    primitive.execute(&stream, &[(Arg::SRC, &src)]).unwrap_err();
    let out = taken();
    assert!(out[0].starts_with("onednn_verbose,v1,primitive,exec:check,eltwise,invalid dst: got nothing"), "{out:#?}");

    verbose::set_filter(Some("conv|matmul"));
    run();
    assert!(taken().is_empty());
    verbose::set_filter(None);
    verbose::set_timestamp(true);
    run();
    let stamp = taken()[0].split(',').nth(2).unwrap().parse::<f64>();
    assert!(stamp.is_ok_and(|s| s > 1e12));
    assert!(verbose::set_level(3).is_err());
}
