//! Uses of memory: who works on it now, and the work on queues that will.

#[path = "../../src/memory/uses.rs"]
#[allow(dead_code, reason = "models use a part of what memory remembers")]
mod uses;

use crate::queue::{Line, Queue, Task};
use crate::sync::{Fault, fault, thread};
use crate::{Shared, check};
use std::sync::Arc;
use uses::{Access, Uses};

/// The library's, with its bytes as the arena sees them.
#[derive(Debug)]
pub struct Allocation(oxidnn_runtime::Allocation);

impl Allocation {
    pub fn host(bytes: usize) -> Result<Allocation, oxidnn_spec::Error> {
        oxidnn_runtime::Allocation::host(bytes).map(Allocation)
    }
    pub fn buf(&self) -> crate::Buf<'_> {
        self.0.region().bytes().expect("memory of the host")
    }
}

/// A region, as far as its uses go.
#[derive(Debug)]
struct Storage {
    uses: Uses,
}

/// Submits a task as an execution does that has one argument.
fn submit(uses: &Uses, access: Access, line: &Arc<Line>, task: Task) {
    let queue: Arc<dyn Queue> = line.clone();
    uses.order(access, &queue).unwrap();
    let ticket = line.push(task);
    if fault() != Fault::Forgets {
        uses.submitted(access, &queue, ticket);
    }
}

#[test]
fn work_on_two_queues_is_ordered_by_its_memory() {
    check(2, || {
        let ((one, one_works), (other, other_works)) = (Line::start(), Line::start());
        let (uses, place) = (Uses::default(), Arc::new(Shared::default()));
        submit(&uses, Access::Write, &one, Task::Write(place.clone(), 1));
        submit(&uses, Access::Read, &other, Task::Read(place.clone(), 1));
        submit(&uses, Access::Write, &one, Task::Write(place.clone(), 2));
        uses.settle(Access::Read).unwrap();
        assert_eq!(place.get(), 2);
        uses.settle(Access::Write).unwrap();
        place.set(3);
        one.end();
        other.end();
        one_works.join().unwrap();
        other_works.join().unwrap();
    });
}

#[test]
fn borrows_of_two_threads_exclude_each_other() {
    check(3, || {
        let shared = Arc::new((Uses::default(), Shared::default()));
        let write = |(uses, place): &(Uses, Shared)| {
            let taken = uses.try_take(Access::Write);
            if taken {
                place.set(place.get() + 1);
                uses.release(Access::Write);
            }
            u32::from(taken)
        };
        let read = |(uses, place): &(Uses, Shared)| {
            if uses.try_take(Access::Read) {
                place.get();
                uses.release(Access::Read);
            }
        };
        let other = shared.clone();
        let writes = thread::spawn(move || {
            read(&other);
            write(&other)
        });
        let mut written = write(&shared);
        read(&shared);
        written += writes.join().unwrap();
        assert_eq!((shared.0.state(), shared.1.get()), ("not in use", written));
    });
}
