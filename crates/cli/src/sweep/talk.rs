//! A process that checks problems, as its supervisor sees it.

use super::jobs;
use crate::Sweep;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// The verdict on a problem: an object whose `verdict` is one word.
pub(super) struct Answer(pub(super) Value);

/// The first output of a process, before it answers.
pub(super) const READY: &str = "ready";

/// The peer's time over ours below which a problem is a cliff.
pub(super) const CLIFF: f64 = 0.8;

/// The verdicts that need no report.
pub(super) const HARMLESS: [&str; 4] = ["passed", "raced", "alone", "skipped"];

impl Answer {
    /// Whether something is wrong with ours.
    pub(super) fn is_harmful(&self) -> bool {
        !HARMLESS.contains(&self.0["verdict"].as_str().unwrap_or_default())
    }

    /// Whether the other library did not do the problem. It may be spoiled: where its generator failed once, oneDNN 3.6 hands out empty kernels from
    /// then on.
    pub(super) fn is_alone(&self) -> bool {
        self.0["verdict"] == "alone"
    }

    /// The peer's time over ours where it is below [`CLIFF`].
    pub(super) fn cliff(&self) -> Option<f64> {
        self.0["ratio"].as_f64().filter(|ratio| *ratio < CLIFF)
    }

    /// The same, of a problem on which ours was slower than this in another process.
    pub(super) fn after(mut self, ratio: f64) -> Answer {
        self.0["first_ratio"] = ratio.into();
        self
    }

    /// The report of a problem that ends the process only because of the other library.
    pub(super) fn of_the_peer(self) -> Answer {
        Answer(
            json!({ "verdict": "alone", "why": [format!("the other library ends the process: {}", self.0["why"][0].as_str().unwrap_or_default())] }),
        )
    }

    /// The same, of a problem that a fresh process does rightly.
    pub(super) fn in_company_only(mut self) -> Answer {
        self.0["note"] = "right in a fresh process: what was computed before spoils it".into();
        self
    }
}

/// A process and its output.
pub(super) struct Talk {
    child: Child,
    to: ChildStdin,
    from: Receiver<String>,
    ended: bool,
}

impl Talk {
    /// Starts this program with the same arguments as a worker, which leaves the other library out where it is to be `alone`.
    pub(super) fn begin(args: &Sweep, alone: bool) -> Result<Talk> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(std::env::args_os().skip(1)).arg("--worker").stdin(Stdio::piped()).stdout(Stdio::piped());
        if alone {
            command.arg("--alone");
        }
        if jobs(args) > 1 && args.threads.is_empty() {
            command.arg("--threads=1");
        }
        if let Some(isa) = &args.max_isa {
            command.env_remove("OXIDNN_MAX_CPU_ISA").env("ONEDNN_MAX_CPU_ISA", isa.to_uppercase());
        }
        let mut child = command.spawn().context("cannot start a process that checks problems")?;
        let to = child.stdin.take().context("no way to talk to a process")?;
        let output = child.stdout.take().context("a process has no output")?;
        let (sender, from) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        let mut talk = Talk { child, to, from, ended: false };
        let ready = talk.from.iter().any(|line| line == READY);
        ensure!(ready, "a process that checks problems ended before it was ready: {}", talk.child.wait()?);
        Ok(talk)
    }

    /// Whether the process has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The verdict on problem `index`, within `limit`.
    pub(super) fn ask(&mut self, index: u64, limit: Duration) -> Result<Answer> {
        // A process that has ended cannot read: its end is the answer.
        let _ = writeln!(self.to, "{index}");
        loop {
            let why = match self.from.recv_timeout(limit) {
                // Libraries write to standard output too.
                Ok(line) => match serde_json::from_str::<Value>(&line).ok().filter(|v| v["index"] == index) {
                    Some(answer) => return Ok(Answer(answer)),
                    None => continue,
                },
                Err(RecvTimeoutError::Timeout) => {
                    json!({ "verdict": "hangs", "why": [format!("no answer within {} s", limit.as_secs_f64())] })
                }
                Err(RecvTimeoutError::Disconnected) => Value::Null,
            };
            self.ended = true;
            let _ = self.child.kill();
            let status = self.child.wait()?;
            return Ok(Answer(if why.is_null() { json!({ "verdict": "crashed", "why": [status.to_string()] }) } else { why }));
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
