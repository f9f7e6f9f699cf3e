//! Rows whose code cannot be made for want of memory leave the primitive to later ones.

mod toy;

use oxidnn_runtime::*;
use oxidnn_spec::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toy::*;

/// The toy device without memory for the code of its first rows.
struct Full {
    toy: Toy,
    rows: usize,
}

impl Device for Full {
    fn kind(&self) -> EngineKind {
        EngineKind::Cpu
    }
    fn name(&self) -> String {
        "full".into()
    }
    fn fingerprint(&self) -> String {
        format!("{} without the first {} rows", self.toy.fingerprint(), self.rows)
    }
    fn plan(&self, problem: &Problem, from_row: usize) -> Result<Planned, Refused> {
        let mut planned = self.toy.plan(problem, from_row)?;
        if planned.row < self.rows {
            planned.plan = Box::new(Unbuilt(planned.plan));
        }
        Ok(planned)
    }
}

#[derive(Debug)]
struct Unbuilt(Box<dyn Plan>);

impl Plan for Unbuilt {
    fn problem(&self) -> &Problem {
        self.0.problem()
    }
    fn scratch_bytes(&self) -> usize {
        self.0.scratch_bytes()
    }
    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        Err(Error::OutOfMemory { bytes: 4096, what: "generated code".into() })
    }
}

fn full(rows: usize) -> (Engine, Arc<AtomicUsize>) {
    let builds = Arc::new(AtomicUsize::new(0));
    (Engine::new(Full { toy: Toy { builds: builds.clone() }, rows }), builds)
}

#[test]
fn the_next_row_that_can_be_made_computes() {
    for rows in 0..3 {
        let (engine, builds) = full(rows);
        for attr in [Attr::default(), user_scratchpad()] {
            let desc = PrimitiveDesc::new(&engine, linear([8, 4], 2.0, 1.0, attr)).unwrap();
            assert_eq!(desc.impl_name(), "wide:toy");
            builds.store(0, Ordering::SeqCst);
            let primitive = desc.create().unwrap();
            let tensor = desc.tensor(Arg::SRC).unwrap();
            let src = Memory::from_slice(&engine, tensor.clone(), &[3.0f32; 32]).unwrap();
            let dst = Memory::new(&engine, tensor.clone()).unwrap();
            let scratchpad = desc.scratchpad().map(|t| Memory::new(&engine, t.clone()).unwrap());
            let mut args = vec![(Arg::SRC, &src), (Arg::DST, &dst)];
            args.extend(scratchpad.as_ref().map(|s| (Arg::SCRATCHPAD, s)));
            primitive.execute(&Stream::new(&engine).unwrap(), &args).unwrap();
            assert_eq!(dst.read_f32().unwrap(), [7.0; 32]);
            // What stands in for a row is not kept: the next primitive tries the row again.
            desc.create().unwrap();
            assert_eq!(builds.load(Ordering::SeqCst), if rows == 0 { 1 } else { 2 });
        }
    }
}

#[test]
fn a_row_that_was_asked_for_is_not_replaced_and_the_last_cannot_be() {
    let refused = |error: Error| matches!(error, Error::OutOfMemory { bytes: 4096, .. });
    let (engine, _) = full(1);
    let desc = PrimitiveDesc::with_filter(&engine, linear([8, 4], 2.0, 1.0, Attr::default()), "wide").unwrap();
    assert!(refused(desc.create().unwrap_err()));
    let (engine, _) = full(3);
    let desc = PrimitiveDesc::new(&engine, linear([8, 4], 2.0, 1.0, Attr::default())).unwrap();
    assert!(refused(desc.create().unwrap_err()));
}
