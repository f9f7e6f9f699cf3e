//! Results as tables for people, and as JSON and CSV for programs.

use super::row::{Row, Summary, number};
use super::{Setup, legend};
use crate::print;
use comfy_table::CellAlignment;
use serde_json::json;

/// One object a suite, if there is something to compare; the objects of its problems are printed as they are measured.
pub(super) fn json_totals(suite: &[Row], bench: &Setup) {
    if bench.peer.is_none() {
        return;
    }
    for (threads, _) in &bench.streams {
        let summary = Summary::of(suite, *threads);
        let worst = summary.worst.map(|w| w.0);
        let mut line = json!({ "suite": summary.suite, "geomean": summary.geomean, "worst": worst });
        if bench.streams.len() > 1 {
            line["threads"] = (*threads).into();
        }
        print::line(line);
    }
}

/// A problem as one object.
pub(super) fn object(r: &Row, bench: &Setup) -> serde_json::Value {
    let mut line = json!({
        "suite": r.suite, "problem": r.problem, "impl": r.implementation, "ms": r.ours.ms, "gops": r.gops(), "peak_percent": r.peak_percent(),
        "copy_percent": r.copy_percent(), "create_us": r.ours.create_us, "kernels": r.kernels
    });
    if bench.streams.len() > 1 {
        line["threads"] = r.threads.into();
    }
    let Some(peer) = &r.peer else {
        line["gbytes"] = r.gbytes().into();
        line["avg_ms"] = r.ours.average_ms.into();
        return line;
    };
    let theirs = r.theirs();
    line["peer_impl"] = theirs.map(|t| t.implementation.as_str()).into();
    line["peer_ms"] = theirs.map(|t| t.figures.ms).into();
    line["ratio"] = r.ratio().into();
    line["peer_create_us"] = theirs.map(|t| t.figures.create_us).into();
    if let Err(why) = peer {
        line["refused"] = why.as_str().into();
    }
    line
}

/// The names of the values of [`csv`].
pub(super) const CSV: &str = "suite,problem,threads,impl,gops,gbytes,min_ms,avg_ms,create_us,peak_percent,copy_percent";

/// A problem as one line, without the other library.
pub(super) fn csv(r: &Row) -> String {
    let peak = r.peak_percent().map_or(String::new(), |p| format!("{p:.1}"));
    let copy = r.copy_percent().map_or(String::new(), |p| format!("{p:.1}"));
    let (Row { suite, problem, threads, implementation, .. }, t) = (r, &r.ours);
    let (gops, gbytes) = (r.gops(), r.gbytes());
    format!(
        "{suite},{problem},{threads},{implementation},{gops:.3},{gbytes:.3},{:.6},{:.6},{:.1},{peak},{copy}",
        t.ms, t.average_ms, t.create_us
    )
}

/// A table of the problems, unless only totals are asked for, and one of the suites.
pub(super) fn tables(rows: &[Row], bench: &Setup) {
    if !bench.options.summary {
        if bench.peer.is_some() { print_races(rows) } else { print_times(rows) }
    }
    let summaries = bench.summaries(rows);
    if bench.peer.is_some() {
        print_suite_races(&summaries);
    } else if rows.len() > 1 {
        print_suites(&summaries);
    }
    legend(rows, bench);
}

fn aligned<const N: usize>(header: [&str; N], text_columns: usize, rows: impl Iterator<Item = [String; N]>) {
    let mut table = print::table(header);
    rows.for_each(|r| _ = table.add_row(r));
    for column in table.column_iter_mut().skip(text_columns) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    print::line(&table);
}

/// Prints problems, each with its line above its figures: so they fit 80 columns.
fn figures<const N: usize>(header: [&str; N], rows: &[Row], cells: impl Fn(&Row) -> [String; N]) {
    let all: Vec<[String; N]> = rows.iter().map(cells).collect();
    let wide: [usize; N] = std::array::from_fn(|i| all.iter().map(|c| c[i].chars().count()).chain([header[i].len()]).max().unwrap_or(0));
    let line = |cells: &[String; N]| {
        let cell = |i: usize| if i == 0 { format!("  {:<1$}", cells[0], wide[0]) } else { format!("  {:>1$}", cells[i], wide[i]) };
        (0..N).map(cell).collect::<String>().trim_end().to_owned()
    };
    print::line(line(&header.map(String::from)));
    for (row, cells) in rows.iter().zip(&all) {
        print::line(&row.problem);
        print::line(line(cells));
    }
}

fn print_times(rows: &[Row]) {
    figures(["implementation", "threads", "Gop/s", "% peak", "GB/s", "min ms", "avg ms", "create us"], rows, |r| {
        [
            r.implementation.clone(),
            r.threads.to_string(),
            format!("{:.1}", r.gops()),
            number(r.bound_percent(), 0),
            format!("{:.1}", r.gbytes()),
            format!("{:.4}", r.ours.ms),
            format!("{:.4}", r.ours.average_ms),
            format!("{:.0}", r.ours.create_us),
        ]
    });
}

fn print_races(rows: &[Row]) {
    let header = ["ours, the peer's", "threads", "ratio", "ms", "peer ms", "Gop/s", "% peak"];
    figures(header, rows, |r| {
        let theirs = r.theirs();
        let name = match &r.peer {
            Some(Err(why)) => why.lines().next().unwrap_or_default(),
            _ => theirs.map_or("", |t| t.implementation.as_str()),
        };
        [
            format!("{}, {name}", r.implementation),
            r.threads.to_string(),
            number(r.ratio(), 2),
            format!("{:.4}", r.ours.ms),
            number(theirs.map(|t| t.figures.ms), 4),
            format!("{:.1}", r.gops()),
            number(r.bound_percent(), 0),
        ]
    });
}

/// Totals of each suite: rates over the sum of the fastest times.
fn print_suites(summaries: &[Summary]) {
    let header = ["suite", "threads", "problems", "ms", "Gop/s", "% of peak", "GB/s", "create us"];
    aligned(header, 1, summaries.iter().map(Summary::cells));
}

fn print_suite_races(summaries: &[Summary]) {
    let header = ["suite", "threads", "ratio", "worst", "ms", "peer ms", "Gop/s", "% of peak", "create us", "peer's", "refused"];
    let row = |s: &Summary| {
        [
            s.suite.clone(),
            s.threads.to_string(),
            number(s.geomean, 3),
            number(s.worst.as_ref().map(|w| w.0), 2),
            format!("{:.3}", s.ms),
            number(s.peer_ms, 3),
            format!("{:.1}", s.gops),
            number(s.peak_percent, 0),
            format!("{:.0}", s.create_us),
            number(s.peer_create_us, 0),
            s.refused.to_string(),
        ]
    };
    aligned(header, 1, summaries.iter().map(row));
}
