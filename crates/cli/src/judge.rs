//! `oxidnn verify --judge`: faults put into right results, each of which the comparison must catch.

use crate::progress::Progress;
use crate::{Verify, print, problems};
use anyhow::{Result, ensure};
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::judge::{self, FAULTS};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Where a fault was caught: how often, and the first report.
#[derive(Default)]
struct Caught {
    times: usize,
    report: String,
}

/// Runs the command; the exit code is 1 when a fault escaped.
pub(crate) fn run(args: &Verify) -> Result<ExitCode> {
    let cases = problems::collect(&args.selection)?;
    ensure!(!cases.is_empty(), "no problems: name some, such as --batch tests/inputs/eltwise/smoke.txt");
    let progress = Progress::new(cases.len());
    let mut caught: BTreeMap<&str, BTreeMap<String, Caught>> = BTreeMap::new();
    let mut escaped = Vec::new();
    for named in &cases {
        let mut problem = named.case.problem.clone();
        problem.resolve();
        let problem = concrete(&problem, &named.case.fill)?;
        for f in judge::faults(&problem, &named.case.fill)? {
            match f.caught {
                None => escaped.push(format!("{} in {} of {}", f.fault, f.arg, named.case.problem)),
                Some(report) => {
                    let place = caught.entry(f.fault).or_default().entry(format!("{} {}", f.op, f.dtype)).or_default();
                    place.times += 1;
                    if place.report.is_empty() {
                        place.report = report;
                    }
                }
            }
        }
        progress.inc();
    }
    progress.end();
    for (fault, places) in &caught {
        print::line(format_args!("{fault}: caught {} times", places.values().map(|c| c.times).sum::<usize>()));
        for (place, c) in places.iter().filter(|_| !args.brief) {
            print::line(format_args!("    {place} ({} times): {}", c.times, c.report));
        }
    }
    let never: Vec<&str> = FAULTS.iter().map(|f| f.name).filter(|name| !caught.contains_key(name)).collect();
    never.iter().for_each(|name| print::line(format_args!("NOT TRIED {name}: it applies to none of these problems")));
    escaped.iter().for_each(|e| print::line(format_args!("ESCAPED {e}")));
    print::line(format_args!("{} kinds of faults caught, {} not tried, {} faults escaped", caught.len(), never.len(), escaped.len()));
    Ok(if escaped.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
