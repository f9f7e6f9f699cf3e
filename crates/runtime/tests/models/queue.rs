//! The backlog of an asynchronous queue.

#[path = "../../src/queue/backlog.rs"]
#[allow(dead_code, reason = "models use a part of what the backlog can")]
mod backlog;

pub use oxidnn_runtime::queue::{Mark, Queue, Ticket};

use crate::sync::thread::{self, JoinHandle};
use crate::{Shared, check};
use backlog::Backlog;
use oxidnn_runtime::Submission;
use oxidnn_spec::Error;
use std::any::Any;
use std::sync::Arc;

/// What a queue of a model does.
pub enum Task {
    Write(Arc<Shared>, u32),
    Read(Arc<Shared>, u32),
    Wait(Arc<dyn Queue>, Ticket),
    Fail,
}

impl Task {
    fn perform(self) -> Result<(), Error> {
        match self {
            Task::Write(to, value) => to.set(value),
            Task::Read(from, value) => assert_eq!(from.get(), value, "what was written before is read"),
            Task::Wait(queue, ticket) => queue.wait_until(ticket)?,
            Task::Fail => return Err(Error::Runtime("as told".into())),
        }
        Ok(())
    }
}

/// A queue as `Asynchronous` is, of tasks of a model.
pub struct Line(Backlog<Task>);

impl Line {
    /// A queue and its thread.
    pub fn start() -> (Arc<Line>, JoinHandle<()>) {
        let line = Arc::new(Line(Backlog::after(Ticket(0), None)));
        let works = line.clone();
        (line, thread::spawn(move || works.0.work(Task::perform)))
    }
    pub fn push(&self, task: Task) -> Ticket {
        self.0.push(|ticket| (task, ticket))
    }
    pub fn end(&self) {
        self.0.end();
    }
}

impl Queue for Line {
    unsafe fn submit(&self, _: Submission<'_>) -> Result<Ticket, Error> {
        Err(Error::Runtime("models push tasks".into()))
    }
    fn is_done(&self, ticket: Ticket) -> Result<bool, Error> {
        Ok(self.0.is_done(ticket))
    }
    fn wait_until(&self, ticket: Ticket) -> Result<(), Error> {
        self.0.wait_until(ticket)
    }
    fn wait(&self) -> Result<(), Error> {
        self.0.wait()
    }
    fn wait_for(&self, other: &Arc<dyn Queue>, ticket: Ticket) -> Result<(), Error> {
        if !other.is_done(ticket)? {
            self.push(Task::Wait(other.clone(), ticket));
        }
        Ok(())
    }
    fn mark(&self) -> Result<Arc<dyn Mark>, Error> {
        Err(Error::Runtime("models record no events".into()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn jobs_are_done_in_order_and_waited_for() {
    check(3, || {
        let (line, thread) = Line::start();
        let place = Arc::new(Shared::default());
        let first = line.push(Task::Write(place.clone(), 1));
        let failed = line.push(Task::Fail);
        line.push(Task::Read(place.clone(), 1));
        let last = line.push(Task::Write(place.clone(), 2));
        assert!(first < failed && failed < last);
        line.0.throttle(2);
        assert!(line.wait_until(first).is_ok() && line.wait_until(failed).is_err());
        assert!(line.wait_until(last).is_err() && line.wait().is_err() && line.wait().is_ok());
        assert!(place.get() == 2 && line.0.is_idle());
        line.end();
        thread.join().unwrap();
    });
}

#[test]
fn two_threads_submit_to_one_queue() {
    check(2, || {
        let (line, works) = Line::start();
        let place = Arc::new(Shared::default());
        let submit = |line: &Line, place: &Arc<Shared>, value| {
            let ticket = line.push(Task::Write(place.clone(), value));
            line.wait_until(ticket).unwrap();
            assert!(line.is_done(ticket).unwrap());
        };
        let (other, its) = (line.clone(), place.clone());
        let submits = thread::spawn(move || submit(&other, &its, 1));
        submit(&line, &place, 2);
        submits.join().unwrap();
        assert!((1..=2).contains(&place.get()));
        line.end();
        works.join().unwrap();
    });
}
