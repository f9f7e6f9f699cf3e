//! Primitives under many threads: the same bits everywhere, memory guarded, code made once.

mod toy;

use oxidnn_runtime::threads::Threads;
use oxidnn_runtime::*;
use oxidnn_spec::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use toy::*;

const N: i64 = rounds(4099) as i64;

fn memory(engine: &Engine, f: impl Fn(usize) -> f64) -> Memory<'static> {
    let m = Memory::new(engine, Tensor::plain([N], DataType::F32).unwrap()).unwrap();
    m.write_with(f).unwrap();
    m
}

fn value(i: usize) -> f64 {
    (i as f64 * 0.37).sin()
}

/// Handles go where threads need them.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Engine>();
    shared::<Stream>();
    shared::<Memory<'static>>();
    shared::<PrimitiveDesc>();
    shared::<Primitive>();
};

#[test]
fn eight_threads_execute_one_primitive() {
    let (engine, _) = engine();
    let desc = PrimitiveDesc::new(&engine, linear([N], 1.7, -0.3, Attr::default())).unwrap();
    let primitive = desc.create().unwrap();
    let src = memory(&engine, value);
    let alone = memory(&engine, |_| 0.0);
    let inline = Stream::with_threads(&engine, Threads::inline()).unwrap();
    primitive.execute(&inline, &[(Arg::SRC, &src), (Arg::DST, &alone)]).unwrap();
    let want = alone.read_raw::<u32>(0).unwrap();
    for threads in [1, 2, 7] {
        let stream = Stream::with_threads(&engine, Threads::new(threads)).unwrap();
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    let dst = memory(&engine, |_| 0.0);
                    for _ in 0..rounds(50) {
                        dst.map_mut(0).unwrap().fill(0xff);
                        primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap();
                        assert_eq!(dst.read_raw::<u32>(0).unwrap(), want);
                    }
                });
            }
        });
    }
}

#[test]
fn made_on_one_thread_and_executed_on_another() {
    let (engine, _) = engine();
    let (sender, receiver) = std::sync::mpsc::channel();
    let maker = {
        let engine = engine.clone();
        std::thread::spawn(move || {
            for i in 0..20 {
                let desc = PrimitiveDesc::new(&engine, linear([N], i as f32, 1.0, Attr::default())).unwrap();
                sender.send((i, desc.create().unwrap(), Stream::new(&engine).unwrap())).unwrap();
            }
        })
    };
    let (src, dst) = (memory(&engine, |i| i as f64), memory(&engine, |_| 0.0));
    for (i, primitive, stream) in receiver {
        primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap();
        assert_eq!(dst.read_f32().unwrap()[3], i as f32 * 3.0 + 1.0);
    }
    maker.join().unwrap();
}

#[test]
fn two_writers_of_one_memory_do_not_race() {
    let (engine, _) = engine();
    let primitive = PrimitiveDesc::new(&engine, linear([N], 1.0, 0.0, Attr::default())).unwrap().create().unwrap();
    let stream = Stream::with_threads(&engine, Threads::inline()).unwrap();
    let sources: Vec<_> = (0..4).map(|t| memory(&engine, move |_| t as f64)).collect();
    let dst = memory(&engine, |_| 0.0);
    let (done, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|s| {
        for src in &sources {
            s.spawn(|| {
                for _ in 0..rounds(300) {
                    match primitive.execute(&stream, &[(Arg::SRC, src), (Arg::DST, &dst)]) {
                        Ok(()) => done.fetch_add(1, Ordering::Relaxed),
                        Err(Error::InvalidArguments(_)) => refused.fetch_add(1, Ordering::Relaxed),
                        Err(e) => panic!("{e}"),
                    };
                    if let Ok(bytes) = dst.map(0) {
                        let first: [u8; 4] = bytes[..4].try_into().unwrap();
                        assert!(bytes.chunks(4).all(|c| c == first), "a torn result");
                    }
                }
            });
        }
    });
    assert_eq!(done.into_inner() + refused.into_inner(), 4 * rounds(300));
    assert!(dst.map_mut(0).is_ok());
}

#[test]
fn code_is_built_once_under_contention() {
    let (engine, builds) = engine();
    for i in 0..10 {
        let problem = linear([N], 1.0, i as f32, Attr::default());
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| PrimitiveDesc::new(&engine, problem.clone()).unwrap().create().unwrap());
            }
        });
        assert_eq!(builds.load(Ordering::SeqCst), i + 1);
    }
}
