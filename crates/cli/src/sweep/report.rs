//! The output of a sweep: problems as lines, families as a table.

use super::Done;
use super::talk::{CLIFF, HARMLESS};
use crate::bench::number;
use crate::progress::Progress;
use crate::{Sweep, print};
use comfy_table::CellAlignment;
use oxidnn_testing::sweep::family;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

/// Lines of one family and one verdict that are printed in full when they are many: the others are counted.
const NAMED: usize = 20;

/// The findings about a family.
#[derive(Default)]
struct Family {
    problems: usize,
    /// By verdict.
    verdicts: BTreeMap<String, usize>,
    /// The peer's times over ours, with their lines.
    ratios: Vec<(f64, String)>,
}

/// A problem on which ours is slower than the peer.
struct Cliff {
    lost_ms: f64,
    text: String,
    line: String,
}

/// The findings so far.
pub(super) struct Report<'a> {
    args: &'a Sweep,
    progress: Progress,
    begin: Instant,
    families: BTreeMap<String, Family>,
    cliffs: Vec<Cliff>,
    redrawn: u64,
}

impl<'a> Report<'a> {
    pub(super) fn new(args: &'a Sweep, progress: Progress) -> Report<'a> {
        Report { args, progress, begin: Instant::now(), families: BTreeMap::new(), cliffs: Vec::new(), redrawn: 0 }
    }

    /// Counts a problem, and prints it where something is wrong.
    pub(super) fn tell(&mut self, done: &Done) {
        let Done { index, drawn, answer } = done;
        let (name, verdict) = (family(&drawn.case.problem), answer["verdict"].as_str().unwrap_or("crashed"));
        self.redrawn += u64::from(drawn.refused);
        let family = self.families.entry(name.clone()).or_default();
        family.problems += 1;
        let same = family.verdicts.entry(verdict.to_owned()).or_default();
        *same += 1;
        let seen = *same;
        if let Some(ratio) = answer["ratio"].as_f64() {
            family.ratios.push((ratio, drawn.line.clone()));
        }
        if self.args.json {
            let mut line = answer.clone();
            line["index"] = (*index).into();
            line["family"] = name.into();
            line["problem"] = drawn.line.as_str().into();
            self.progress.print(line);
        } else if !HARMLESS.contains(&verdict) {
            self.print_harm(verdict, &drawn.line, answer, seen);
        }
        self.note_cliff(&drawn.line, answer);
        self.progress.inc();
    }

    fn print_harm(&self, verdict: &str, line: &str, answer: &Value, seen: usize) {
        self.progress.print(format_args!("{} {line}", verdict.to_uppercase()));
        if seen <= NAMED {
            let why = answer["why"].as_array().into_iter().flatten().filter_map(Value::as_str);
            why.chain(answer["note"].as_str()).for_each(|w| self.progress.print(format_args!("    {w}")));
        }
    }

    fn note_cliff(&mut self, line: &str, answer: &Value) {
        let figure = |key: &str| answer[key].as_f64().unwrap_or_default();
        let (ratio, ms, peer_ms) = (figure("ratio"), figure("ms"), figure("peer_ms"));
        if answer["ratio"].is_null() || ratio >= CLIFF {
            return;
        }
        let name = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        let text = format!("{ratio:.2}: {ms:.4} ms against {peer_ms:.4} ({} against {})", name("impl"), name("peer_impl"));
        self.cliffs.push(Cliff { lost_ms: ms - peer_ms, text, line: line.to_owned() });
    }

    /// The last lines. The exit code is 1 where something is wrong.
    pub(super) fn end(mut self) -> ExitCode {
        self.progress.end();
        self.cliffs.sort_by(|a, b| b.lost_ms.total_cmp(&a.lost_ms));
        let harmful = |f: &Family| f.verdicts.iter().filter(|(v, _)| !HARMLESS.contains(&v.as_str())).map(|(_, n)| n).sum::<usize>();
        let harm: usize = self.families.values().map(harmful).sum();
        if self.args.json {
            self.families.iter().for_each(|(name, family)| print::line(family.object(name)));
        } else {
            for cliff in &self.cliffs {
                print::line(format_args!("SLOW {}\n    {}, {:.4} ms lost", cliff.line, cliff.text, cliff.lost_ms));
            }
            if self.args.peer.is_some() { self.print_ratios() } else { self.print_verdicts() }
        }
        let (problems, seconds) = (self.families.values().map(|f| f.problems).sum::<usize>(), self.begin.elapsed().as_secs_f64());
        let rate = problems as f64 / seconds.max(1e-9);
        eprintln!(
            "oxidnn: {problems} problems in {seconds:.0} s, {rate:.1} a second; {harm} harmful, {} below {CLIFF}; {} drawn again",
            self.cliffs.len(),
            self.redrawn
        );
        if harm == 0 && self.cliffs.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn print_verdicts(&self) {
        let mut table = print::table(["family", "problems", "passed", "not passed"]);
        for (name, family) in &self.families {
            let passed = family.verdicts.get("passed").copied().unwrap_or(0);
            let others = family.verdicts.iter().filter(|(v, _)| *v != "passed").map(|(v, n)| format!("{n} {v}"));
            table.add_row([name.clone(), family.problems.to_string(), passed.to_string(), others.collect::<Vec<_>>().join(", ")]);
        }
        table.column_iter_mut().skip(1).take(2).for_each(|c| c.set_cell_alignment(CellAlignment::Right));
        print::line(&table);
    }

    fn print_ratios(&self) {
        let mut table = print::table(["family", "problems", "raced", "ratio", "tenth percentile", "worst"]);
        for (name, family) in &self.families {
            let [mean, tenth, worst] = family.figures().map(|f| number(f, 2));
            table.add_row([name.clone(), family.problems.to_string(), family.ratios.len().to_string(), mean, tenth, worst]);
        }
        table.column_iter_mut().skip(1).for_each(|c| c.set_cell_alignment(CellAlignment::Right));
        print::line(&table);
        print::line("ratio: geometric mean of the peer's time over ours");
    }
}

impl Family {
    /// Geometric mean, tenth percentile and worst of the ratios.
    fn figures(&self) -> [Option<f64>; 3] {
        let mut ratios: Vec<f64> = self.ratios.iter().map(|r| r.0).collect();
        ratios.sort_by(f64::total_cmp);
        let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
        [(!ratios.is_empty()).then_some(mean), ratios.get(ratios.len() / 10).copied(), ratios.first().copied()]
    }

    fn object(&self, name: &str) -> Value {
        let [mean, tenth, worst] = self.figures();
        let line = self.ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|r| r.1.as_str());
        json!({
            "family": name, "problems": self.problems, "verdicts": self.verdicts, "geomean": mean, "p10": tenth, "worst": worst, "worst_problem": line
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_mean_tenth_percentile_and_worst() {
        let ratios = (1..=20).map(|i| (f64::from(i) / 10.0, format!("line {i}"))).collect();
        let family = Family { problems: 21, ratios, ..Family::default() };
        let [mean, tenth, worst] = family.figures();
        assert_eq!((tenth, worst), (Some(0.3), Some(0.1)));
        assert!(mean.is_some_and(|m| (m - 0.8304).abs() < 1e-3), "{mean:?}");
        assert_eq!(family.object("conv")["worst_problem"], "line 1");
        assert_eq!(Family::default().figures(), [None; 3]);
    }
}
