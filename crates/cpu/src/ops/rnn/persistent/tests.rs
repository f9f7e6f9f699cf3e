use super::*;
use std::sync::Mutex;

#[test]
fn one_thread_does_everything_in_order() {
    let persistent = Persistent::new(3, 2, [4, 2]);
    let mut tasks = Vec::new();
    persistent.run(1, &mut |task| tasks.push((task.step, task.phase, task.index)));
    assert_eq!(tasks.len(), 12);
    assert!(tasks.is_sorted_by_key(|task| (task.0, task.1)));
    for (step, phase, count) in [(0, 0, 4), (0, 1, 2), (1, 0, 4), (1, 1, 2)] {
        let mut those: Vec<_> = tasks.iter().filter(|t| (t.0, t.1) == (step, phase)).map(|t| t.2).collect();
        those.sort_unstable();
        assert_eq!(those, (0..count).collect::<Vec<_>>());
    }
    persistent.run(0, &mut |task| panic!("{task:?} was done"));
}

#[test]
fn threads_do_every_task_once_and_steps_wait() {
    for phases in [[5, 0], [3, 7], [1, 1]] {
        let (steps, all) = (50, phases[0] + phases[1]);
        let persistent = Persistent::new(3, steps, phases);
        let done = AtomicUsize::new(0);
        let seen = Mutex::new(vec![0; steps * all]);
        thread::scope(|s| {
            for number in 0..3 {
                let (persistent, done, seen) = (&persistent, &done, &seen);
                s.spawn(move || {
                    persistent.run(number, &mut |Task { step, phase, index }| {
                        let before = step * all + if phase == 1 { phases[0] } else { 0 };
                        assert!(done.load(Ordering::SeqCst) >= before, "step {step} began early");
                        seen.lock().unwrap()[before + index] += 1;
                        done.fetch_add(1, Ordering::SeqCst);
                    });
                });
            }
        });
        assert!(seen.into_inner().unwrap().iter().all(|n| *n == 1), "{phases:?}");
    }
}

#[test]
fn a_panic_ends_the_wait_of_others() {
    let persistent = Persistent::new(2, 3, [2, 0]);
    let lost = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| persistent.run(0, &mut |_| panic!("on purpose"))));
    assert!(lost.is_err());
    persistent.run(1, &mut |task| assert_eq!((task.step, task.index), (0, 1)));
}

#[test]
fn ranges_are_walked_to_and_fro() {
    let order = |step| (0..3).map(|i| serpentine(4..7, step, i)).collect::<Vec<_>>();
    assert_eq!([order(0), order(1)], [[4, 5, 6], [6, 5, 4]]);
}
