//! `Crowd`: whether other programs want the cores too.
//!
//! A thread that spins looks at the clock all the time, so it notices when the system took its core away. From then on, for a while, the pool
//! takes the machine for crowded: idle workers sleep at once instead of spinning, and a job begins on the calling thread alone and is opened to
//! others only when it turns out to be long. Waking threads for short jobs, which then wait for each other to be run at all, would cost
//! more than the jobs. The while grows as long as the suspicion is confirmed each time it has run out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Between two looks of a spinning thread passes a microsecond or two; a thread that loses its core waits for others' time slices.
const GAP: Duration = Duration::from_micros(300);

/// The first while, and the longest.
const FIRST: u64 = 10_000_000;
const LONGEST: u64 = 320_000_000;

/// What the threads of a pool noticed. Times are nanoseconds since it was made.
pub(super) struct Crowd {
    start: Instant,
    /// When it will be over; 0 when there is none.
    until: AtomicU64,
    /// The end of the last one.
    ended: AtomicU64,
    /// How long the last one was meant to last.
    length: AtomicU64,
}

impl Crowd {
    pub(super) fn new() -> Crowd {
        let never = || AtomicU64::new(0);
        Crowd { start: Instant::now(), until: never(), ended: never(), length: never() }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// True while the machine counts as crowded. Looks at the clock only then.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        until != 0 && self.is_still_on(until)
    }

    #[cold]
    fn is_still_on(&self, until: u64) -> bool {
        if self.now() < until {
            return true;
        }
        self.ended.store(until, Ordering::Relaxed);
        self.until.store(0, Ordering::Relaxed);
        false
    }

    /// Takes note of the time between two looks at the clock by a spinning thread.
    pub(super) fn note(&self, between: Duration) {
        if between > GAP {
            self.suspect();
        }
    }

    /// The machine counts as crowded from now on.
    pub(super) fn suspect(&self) {
        if self.is_on() {
            return;
        }
        let (now, length) = (self.now(), self.length.load(Ordering::Relaxed));
        let again = now < self.ended.load(Ordering::Relaxed) + length;
        let length = if again { (2 * length).clamp(FIRST, LONGEST) } else { FIRST };
        self.length.store(length, Ordering::Relaxed);
        self.until.store(now + length, Ordering::Relaxed);
    }
}
