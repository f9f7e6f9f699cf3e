//! Forks: the door, and the others' view of it, who never meet a fork.

use crate::sync::{Mutex, MutexGuard};

#[path = "../../src/fork/door.rs"]
mod door;

pub type Locked<'a, T> = MutexGuard<'a, T>;

pub struct Inside;

pub fn enter() -> Inside {
    Inside
}

pub fn process() -> u64 {
    0
}

pub fn lock<T>(mutex: &Mutex<T>) -> Locked<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    mutex.try_lock().ok()
}

pub struct Own<T>(T);

impl<T> Own<T> {
    pub fn new(value: T) -> Own<T> {
        Own(value)
    }
    pub fn get(&self, _: impl Fn(&T) -> T) -> &T {
        &self.0
    }
}

#[test]
fn nobody_is_inside_while_one_forks() {
    use crate::sync::atomic::AtomicUsize;
    use crate::sync::thread;
    use std::sync::Arc;
    crate::check(3, || {
        let door = door::Door { inside: AtomicUsize::new(0), forking: AtomicUsize::new(0) };
        let shared = Arc::new((door, crate::Shared::default()));
        let other = shared.clone();
        let inside = move |(door, value): &(door::Door, crate::Shared)| {
            door.enter();
            let before = value.get();
            assert_eq!(before, value.get());
            door.leave();
        };
        let goes_inside = thread::spawn(move || inside(&other));
        let (door, value) = &*shared;
        door.close(false);
        value.set(1);
        door.open();
        inside(&shared);
        goes_inside.join().unwrap();
        // Who is inside forks at once, and finds itself alone in the child.
        door.enter();
        door.close(true);
        door.begin_anew(true);
        door.leave();
        door.close(false);
    });
}
