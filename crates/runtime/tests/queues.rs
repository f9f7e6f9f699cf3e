//! Streams that are not done when `execute` returns: work is ordered by the memory it uses, and what it uses is held until it is done.

mod remote;
mod toy;

use oxidnn_runtime::*;
use oxidnn_spec::*;
use remote::Remote;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toy::*;

fn memory(engine: &Engine, len: i64) -> Memory<'static> {
    Memory::new(engine, Tensor::plain([len], DataType::F32).unwrap()).unwrap()
}

fn primitive(engine: &Engine, len: i64, alpha: f32, beta: f32) -> Primitive {
    PrimitiveDesc::new(engine, linear([len], alpha, beta, Attr::default())).unwrap().create().unwrap()
}

fn run(p: &Primitive, stream: &Stream, src: &Memory<'_>, dst: &Memory<'_>) {
    p.execute(stream, &[(Arg::SRC, src), (Arg::DST, dst)]).unwrap();
}

/// The engines whose streams are tested, with a stream each.
fn streams() -> [(Engine, Stream); 2] {
    let (remote, toy) = (Engine::new(Remote::new()), toy::engine().0);
    let streams = (Stream::new(&remote).unwrap(), Stream::asynchronous(&toy).unwrap());
    [(remote, streams.0), (toy, streams.1)]
}

#[test]
fn a_chain_needs_no_waiting_and_the_host_waits_when_it_maps() {
    for (engine, stream) in streams() {
        let p = primitive(&engine, 10, 2.0, 1.0);
        let [a, b, c] = [0; 3].map(|_| memory(&engine, 10));
        a.write_f32(&[1.0; 10]).unwrap();
        run(&p, &stream, &a, &b);
        run(&p, &stream, &b, &c);
        run(&p, &stream, &c, &a);
        drop((b, c));
        assert_eq!(a.read_f32().unwrap(), [15.0; 10], "{engine}");
        run(&p, &stream, &a, &a);
        a.write_f32(&[3.0; 10]).unwrap();
        run(&p, &stream, &a, &a);
        assert_eq!(a.read_f32().unwrap(), [7.0; 10], "{engine}");
    }
}

#[test]
fn memory_and_code_live_until_the_work_is_done() {
    let engine = Engine::new(Remote::new());
    let stream = Stream::new(&engine).unwrap();
    let dst = memory(&engine, 10);
    {
        let src = memory(&engine, 10);
        src.write_f32(&[4.0; 10]).unwrap();
        run(&primitive(&engine, 10, 2.0, 1.0), &stream, &src, &dst);
    }
    stream.wait().unwrap();
    assert_eq!(dst.read_f32().unwrap(), [9.0; 10]);
}

#[test]
fn the_last_handle_of_a_stream_drains_it() {
    let engine = Engine::new(Remote::new());
    let dst = memory(&engine, 10);
    let stream = Stream::new(&engine).unwrap();
    run(&primitive(&engine, 10, 2.0, 1.0), &stream, &dst, &dst);
    let event = stream.record().unwrap();
    assert!(!event.is_done().unwrap());
    drop(stream);
    assert!(event.is_done().unwrap());
}

#[test]
fn streams_wait_for_each_other_by_the_memory_they_share() {
    let remote = Engine::new(Remote::new());
    for (engine, streams) in [
        (remote.clone(), [0; 2].map(|_| Stream::new(&remote).unwrap())),
        {
            let toy = toy::engine().0;
            (toy.clone(), [0; 2].map(|_| Stream::asynchronous(&toy).unwrap()))
        },
        {
            let toy = toy::engine().0;
            (toy.clone(), [Stream::asynchronous(&toy).unwrap(), Stream::new(&toy).unwrap()])
        },
    ] {
        let p = primitive(&engine, 600, 1.0, 1.0);
        let memories: Vec<_> = (0..10).map(|_| memory(&engine, 600)).collect();
        let (mut state, mut expected) = (1u32, [0f32; 10]);
        let mut event: Option<Event> = None;
        for step in 0..rounds(1000) {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            let (from, to) = ((state >> 8) as usize % 10, (state >> 16) as usize % 10);
            let stream = &streams[(state >> 24) as usize % 2];
            if let Some(event) = event.take() {
                stream.wait_for(&event).unwrap();
            }
            run(&p, stream, &memories[from], &memories[to]);
            expected[to] = expected[from] + 1.0;
            if step % 97 == 0 {
                event = Some(stream.record().unwrap());
            }
        }
        for (memory, value) in memories.iter().zip(expected) {
            assert_eq!(memory.read_f32().unwrap(), [value; 600], "{engine}");
        }
        streams.iter().for_each(|s| s.wait().unwrap());
    }
}

#[test]
fn slices_are_done_with_when_execute_returns() {
    let (engine, _) = toy::engine();
    let stream = Stream::asynchronous(&engine).unwrap();
    let (src, mut out) = ([1f32; 3000], [0f32; 3000]);
    let tensor = Tensor::plain([3000], DataType::F32).unwrap();
    let src = Memory::from_slice(&engine, tensor.clone(), &src).unwrap();
    let dst = Memory::from_slice_mut(&engine, tensor, &mut out).unwrap();
    run(&primitive(&engine, 3000, 2.0, 1.0), &stream, &src, &dst);
    drop(dst);
    assert_eq!(out, [3.0; 3000]);
}

#[test]
fn a_failure_shows_at_the_next_wait_and_releases_everything() {
    let (engine, _) = toy::engine();
    let stream = Stream::asynchronous(&engine).unwrap();
    let p = primitive(&engine, 20, 2.0, toy::FAILS);
    let (src, dst) = (memory(&engine, 20), memory(&engine, 20));
    run(&p, &stream, &src, &dst);
    assert!(src.map_mut(0).unwrap_err().to_string().contains("as it should"), "who maps what failed is told");
    assert!(dst.map(0).unwrap_err().to_string().contains("as it should"));
    assert!(stream.wait().unwrap_err().to_string().contains("as it should"));
    stream.wait().unwrap();
    assert!(src.map_mut(0).is_ok() && dst.map_mut(0).is_ok());
}

#[test]
fn a_race_is_refused() {
    let (engine, _) = toy::engine();
    let stream = Stream::asynchronous(&engine).unwrap();
    let p = primitive(&engine, 10, 2.0, 1.0);
    let (src, dst) = (memory(&engine, 10), memory(&engine, 10));
    let mapping = dst.map(0).unwrap();
    let refused = p.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap_err().to_string();
    assert!(refused.starts_with("invalid dst: got memory that is being read by an execution or mapping under way"), "{refused}");
    drop(mapping);
    run(&p, &stream, &src, &dst);
}

#[test]
fn events_measure_time() {
    let (engine, _) = toy::engine();
    for stream in [Stream::new(&engine).unwrap(), Stream::asynchronous(&engine).unwrap()] {
        let begin = stream.record().unwrap();
        let (src, dst) = (memory(&engine, 10), memory(&engine, 10));
        run(&primitive(&engine, 10, 2.0, 1.0), &stream, &src, &dst);
        let end = stream.record().unwrap();
        end.wait().unwrap();
        assert!(begin.is_done().unwrap() && begin.since(&end).unwrap() == Duration::ZERO && end.since(&begin).is_ok());
    }
}

#[test]
fn many_threads_share_a_stream() {
    let (engine, _) = toy::engine();
    let stream = Stream::asynchronous(&engine).unwrap();
    let (p, src) = (primitive(&engine, 64, 1.0, 1.0), memory(&engine, 64));
    let total = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let dst = memory(&engine, 64);
                for _ in 0..rounds(500) {
                    run(&p, &stream, &src, &dst);
                    run(&p, &stream, &dst, &dst);
                }
                assert_eq!(dst.read_f32().unwrap(), [2.0; 64]);
                total.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    stream.wait().unwrap();
    assert_eq!(total.load(Ordering::Relaxed), 8);
}

#[test]
fn equal_devices_share_code_and_memory() {
    let builds = Arc::new(AtomicUsize::new(0));
    let [a, b] = [0; 2].map(|_| Engine::new(Toy { builds: builds.clone() }));
    assert_eq!((&a, a.id()), (&b, b.id()));
    let (first, second) = (primitive(&a, 48, 3.0, 1.0), primitive(&b, 48, 3.0, 1.0));
    assert_eq!(builds.load(Ordering::SeqCst), 1);
    let (src, dst) = (memory(&a, 48), memory(&b, 48));
    run(&first, &Stream::new(&b).unwrap(), &src, &dst);
    run(&second, &Stream::new(&a).unwrap(), &dst, &dst);
    assert_eq!(dst.read_f32().unwrap(), [4.0; 48]);
}

fn reorder(src: Tensor, dst: Tensor) -> Problem {
    Problem::new(op::Reorder { src, dst }, Attr::default()).unwrap()
}

#[test]
fn transfers_go_between_engines_in_order() {
    let (host, remote, other) = (toy::engine().0, Engine::new(Remote::new()), Engine::new(Remote::new()));
    let plain = Tensor::plain([4, 3], DataType::F32).unwrap();
    let values: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let on = |engine: &Engine| Memory::new(engine, plain.clone()).unwrap();
    let (a, b, c, d) = (on(&host), on(&remote), on(&other), on(&host));
    a.write_f32(&values).unwrap();
    for (from, to) in [(&a, &b), (&b, &c), (&c, &d)] {
        let engines = [from.engine().unwrap(), to.engine().unwrap()];
        let desc = PrimitiveDesc::transfer(engines[0], engines[1], reorder(plain.clone(), plain.clone())).unwrap();
        assert!(!desc.engine().host_visible() && desc.impl_name() == "transfer:any");
        let stream = Stream::new(desc.engine()).unwrap();
        desc.create().unwrap().execute(&stream, &[(Arg::SRC, from), (Arg::DST, to)]).unwrap();
        let wrong = desc.create().unwrap().execute(&stream, &[(Arg::SRC, to), (Arg::DST, from)]).unwrap_err().to_string();
        assert!(wrong.starts_with("invalid src: got memory of"), "{wrong}");
    }
    assert_eq!(d.read_f32().unwrap(), values);
}

#[test]
fn memory_of_another_engine_is_refused_as_bytes_too() {
    let (host, remote) = (toy::engine().0, Engine::new(Remote::new()));
    let (p, stream) = (primitive(&host, 10, 2.0, 1.0), Stream::new(&host).unwrap());
    let (there, here) = (memory(&remote, 10), memory(&host, 10));
    let refused = p.execute_bytes(&stream, &[(Arg::SRC, &there), (Arg::DST, &here)]).unwrap_err().to_string();
    assert!(refused.contains("memory of gpu") && refused.contains("can address"), "{refused}");
}
