//! A stream that is not done when `execute` returns: memory, scratch and code are held until it is.

mod toy;

use oxidnn_runtime::*;
use oxidnn_spec::*;
use std::any::Any;
use std::sync::{Arc, Mutex};
use toy::*;

/// The toy device with a queue that is done only when waited for.
struct Late(Toy);

#[derive(Default)]
struct LateQueue {
    held: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl Queue for LateQueue {
    fn submit(&self, exec: &Arc<dyn Exec>, ctx: &Ctx<'_>) -> Result<(), Error> {
        exec.run(ctx)
    }
    fn wait(&self) -> Result<(), Error> {
        self.held.lock().unwrap().clear();
        Ok(())
    }
    fn is_synchronous(&self) -> bool {
        false
    }
    fn retain(&self, held: Box<dyn Any + Send>) {
        self.held.lock().unwrap().push(held);
    }
}

impl Device for Late {
    fn kind(&self) -> EngineKind {
        EngineKind::Gpu
    }
    fn name(&self) -> String {
        "late".into()
    }
    fn rows(&self, problem: &Problem) -> Vec<&'static str> {
        self.0.rows(problem)
    }
    fn plan(&self, problem: &Problem, from_row: usize) -> Result<Planned, Refused> {
        self.0.plan(problem, from_row)
    }
    fn queue(&self) -> Result<Box<dyn Queue>, Error> {
        Ok(Box::<LateQueue>::default())
    }
}

#[test]
fn everything_is_held_until_the_work_is_done() {
    let engine = Engine::new(Late(Toy { builds: Arc::default() }));
    let stream = Stream::new(&engine).unwrap();
    let primitive = Primitive::new(&PrimitiveDesc::new(&engine, linear([10], 2.0, 1.0, Attr::default())).unwrap()).unwrap();
    let memory = || Memory::new(&engine, Tensor::plain([10], DataType::F32).unwrap()).unwrap();
    let (src, dst) = (memory(), memory());
    let idle = scratch::arena().stats().leased;
    primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap();
    assert!(scratch::arena().stats().leased > idle);
    assert!(src.map(0).is_ok() && src.map_mut(0).is_err() && dst.map(0).is_err());
    let again = primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap_err().to_string();
    assert!(again.starts_with("invalid dst: got memory that is being written"), "{again}");
    drop(src);
    stream.wait().unwrap();
    assert_eq!(scratch::arena().stats().leased, idle);
    assert_eq!(dst.read_f32().unwrap(), [1.0; 10]);

    let data = [0f32; 10];
    let slice = Memory::from_slice(&engine, dst.tensor().clone(), &data).unwrap();
    let refused = primitive.execute(&stream, &[(Arg::SRC, &slice), (Arg::DST, &dst)]).unwrap_err().to_string();
    assert!(refused.starts_with("invalid src: got memory over a slice on an asynchronous stream"), "{refused}");
}
