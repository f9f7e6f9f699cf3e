//! Runs every row of problem lines on GPU 0 and compares with the reference: `verify FILE..`.

use oxidnn_cuda::{CudaDevice, ops};
use oxidnn_runtime::{Engine, Stream};
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_testing::harness::{Harness, Outcome};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What came of the lines so far.
#[derive(Default)]
struct Tally {
    passed: AtomicUsize,
    failed: AtomicUsize,
    refused: AtomicUsize,
    notes: Mutex<Vec<String>>,
}

impl Tally {
    fn count(&self, counter: &AtomicUsize, note: Option<String>) {
        counter.fetch_add(1, Ordering::Relaxed);
        self.notes.lock().unwrap().extend(note);
    }

    fn verify(&self, harness: &Harness, line: &str, case: &Case) {
        let results = match harness.verify(case) {
            Ok(results) => results,
            Err(e) => return self.count(&self.refused, Some(format!("REFUSED {line}\n    {e}"))),
        };
        for r in results {
            match r.outcome {
                Outcome::Passed => self.count(&self.passed, None),
                Outcome::Wrong(all) => {
                    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                    self.count(&self.failed, Some(format!("WRONG {line}\n    {}: {}", r.row, all.join("; "))));
                }
                Outcome::Failed(e) => {
                    let text: String = e.to_string().chars().take(1500).collect();
                    self.count(&self.failed, Some(format!("FAILED {line}\n    {}: {text}", r.row)));
                }
            }
        }
    }
}

fn main() {
    let device = CudaDevice::new(0).expect("a GPU");
    let loader = device.target().loader.clone().expect("a loader");
    println!("{:?}", device.target().facts);
    let engine = Engine::new(device);
    for file in std::env::args().skip(1) {
        let start = std::time::Instant::now();
        let mut settings = Settings::default();
        let text = std::fs::read_to_string(&file).expect("a file");
        let cases: Vec<(&str, Case)> = text
            .lines()
            .flat_map(|line| text::parse_line(&mut settings, line).expect("a problem").into_iter().map(move |c| (line, c)))
            .filter(|c| !ops::rows(&c.1.problem.op).is_empty())
            .collect();
        let (next, tally) = (AtomicUsize::new(0), Tally::default());
        std::thread::scope(|scope| {
            for _ in 0..14 {
                scope.spawn(|| {
                    let harness = Harness::new(engine.clone(), Stream::new(&engine).expect("a stream"), None);
                    while let Some((line, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        tally.verify(&harness, line, case);
                    }
                });
            }
        });
        tally.notes.lock().unwrap().iter().for_each(|note| println!("{note}"));
        let [passed, failed, refused] = [&tally.passed, &tally.failed, &tally.refused].map(|n| n.load(Ordering::Relaxed));
        let compiled = loader.compiled();
        println!("== {file}: {passed} passed, {failed} failed, {refused} refused; {compiled} kernels so far; {:.1?}", start.elapsed());
    }
}
