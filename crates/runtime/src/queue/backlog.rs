//! The protocol of a queue with a thread of its own: tickets, jobs in order, and waiting for them.

use super::Ticket;
use crate::sync::{Condvar, Mutex, MutexGuard};
use oxidnn_spec::Error;
use std::collections::VecDeque;

/// Jobs in order, for one thread that does them and any number that submit and wait.
pub(super) struct Backlog<J> {
    state: Mutex<State<J>>,
    /// A job came, or the queue ends.
    arrived: Condvar,
    /// A job was done.
    done: Condvar,
}

struct State<J> {
    jobs: VecDeque<J>,
    submitted: u64,
    done: u64,
    /// Of the first job since the last [`Backlog::wait`] that failed.
    failure: Option<(Ticket, Error)>,
    ends: bool,
}

/// The state when `condition` no longer holds; `signal` announces each change that the condition depends on.
fn when_not<'a, J>(
    signal: &Condvar,
    mut state: MutexGuard<'a, State<J>>,
    condition: impl Fn(&State<J>) -> bool,
) -> MutexGuard<'a, State<J>> {
    while condition(&state) {
        state = signal.wait(state).unwrap_or_else(|e| e.into_inner());
    }
    state
}

impl<J> Backlog<J> {
    /// Nothing to do, all tickets up to `last` done, and the error for the next wait.
    pub(super) fn after(last: Ticket, failure: Option<Error>) -> Backlog<J> {
        let failure = failure.map(|e| (last, e));
        let state = State { jobs: VecDeque::new(), submitted: last.0, done: last.0, failure, ends: false };
        Backlog { state: Mutex::new(state), arrived: Condvar::new(), done: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn when_done(&self, ticket: Ticket) -> MutexGuard<'_, State<J>> {
        when_not(&self.done, self.lock(), |s| s.done < ticket.0)
    }

    /// Appends the job that `make` makes from its ticket; passes on the other result of `make`. Tickets are given in the order of the jobs.
    pub(super) fn push<T>(&self, make: impl FnOnce(Ticket) -> (J, T)) -> T {
        let mut state = self.lock();
        state.submitted += 1;
        let (job, made) = make(Ticket(state.submitted));
        state.jobs.push_back(job);
        drop(state);
        self.arrived.notify_one();
        made
    }

    /// Does jobs until the queue ends and is empty.
    pub(super) fn work(&self, perform: impl FnMut(J) -> Result<(), Error>) {
        self.work_off(|s| s.ends, perform);
    }

    /// Does the jobs in the queue.
    pub(super) fn catch_up(&self, perform: impl FnMut(J) -> Result<(), Error>) {
        self.work_off(|_| true, perform);
    }

    /// Takes jobs, does them, and waits for more, until `ends`. A job is done when `perform` returns, after releasing the job's resources.
    fn work_off(&self, ends: impl Fn(&State<J>) -> bool, mut perform: impl FnMut(J) -> Result<(), Error>) {
        loop {
            let mut state = when_not(&self.arrived, self.lock(), |s| s.jobs.is_empty() && !ends(s));
            let Some(job) = state.jobs.pop_front() else { return };
            drop(state);
            let result = perform(job);
            let mut state = self.lock();
            state.done += 1;
            if let Err(e) = result {
                let ticket = Ticket(state.done);
                state.failure.get_or_insert((ticket, e));
            }
            drop(state);
            self.done.notify_all();
        }
    }

    /// Lets the working thread end when it has done all jobs.
    pub(super) fn end(&self) {
        self.lock().ends = true;
        self.arrived.notify_all();
    }

    /// Whether the queue is idle; false if the lock is held, possibly for ever, as in a child.
    pub(super) fn is_idle(&self) -> bool {
        self.state.try_lock().is_ok_and(|s| s.done == s.submitted)
    }

    /// Whether the job of `ticket` and all before it are done.
    pub(super) fn is_done(&self, ticket: Ticket) -> bool {
        self.lock().done >= ticket.0
    }

    /// Returns when they are.
    ///
    /// # Errors
    /// A failure up to `ticket`, which stays for [`Backlog::wait`].
    pub(super) fn wait_until(&self, ticket: Ticket) -> Result<(), Error> {
        match &self.when_done(ticket).failure {
            Some((at, e)) if *at <= ticket => Err(e.clone()),
            _ => Ok(()),
        }
    }

    /// Returns when all is done that is submitted now.
    ///
    /// # Errors
    /// The first failure since the last time.
    pub(super) fn wait(&self) -> Result<(), Error> {
        let last = Ticket(self.lock().submitted);
        match self.when_done(last).failure.take() {
            Some((_, e)) => Err(e),
            None => Ok(()),
        }
    }

    /// Returns when at most `most` jobs wait to be begun.
    pub(super) fn throttle(&self, most: usize) {
        drop(when_not(&self.done, self.lock(), |s| s.jobs.len() > most));
    }
}
