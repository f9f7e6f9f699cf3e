//! Selection of graphs: files, and benchdnn's words that change their contents. Alternatives, separated by commas, are graphs of their own;
//! those of several options are combined.

use super::load;
use super::rewrite::{self, Change};
use super::run::Net;
use anyhow::{Context, Result, anyhow, bail};
use std::path::{Path, PathBuf};

/// A graph with its name.
pub(super) struct Case {
    /// The file and the changes.
    pub(super) name: String,
    pub(super) net: Net,
    /// How many partitions there should be.
    pub(super) partitions: Option<usize>,
    /// How many times as fast as the other library it should be.
    pub(super) least: Option<f64>,
}

/// The options that have alternatives, in the order they are applied.
const CHANGES: [&str; 8] = ["--op-kind", "--op-attrs", "--dt", "--tensor-property", "--in-shapes", "--mb", "--attr-fpmath", "--layouts"];

/// The effect of the words so far on the graphs behind them.
#[derive(Clone, Default)]
struct Settings {
    /// The alternatives of each option.
    alternatives: [Vec<String>; CHANGES.len()],
    partitions: Option<usize>,
    least: Option<f64>,
}

/// Batch files in batch files in batch files.
const DEEPEST: usize = 16;

/// The words of a file: comments and ends of lines are none, and a backslash at the end of a line joins it with the next word.
fn words(content: &str) -> Vec<String> {
    let lines = content.lines().filter(|l| !l.trim_start().starts_with('#'));
    let mut text = String::new();
    for line in lines {
        match line.trim_end().strip_suffix('\\') {
            Some(begun) => text.push_str(begun.trim()),
            None => text.extend([if text.is_empty() || text.ends_with(['\n', ' ']) { line } else { line.trim_start() }, "\n"]),
        }
    }
    text.split_whitespace().map(str::to_string).collect()
}

/// The file with this name: here, or in the folder of the batch file that names it or one of the folders above.
fn found(name: &str, batch_file: Option<&Path>) -> Result<PathBuf> {
    let above = batch_file.into_iter().flat_map(Path::ancestors).take(4).map(|folder| folder.join(name));
    std::iter::once(PathBuf::from(name)).chain(above).find(|f| f.is_file()).ok_or_else(|| anyhow!("there is no file {name}"))
}

/// The graphs that words name.
///
/// # Errors
/// Missing files or files that are not graphs, unknown words, changes that do not fit.
pub(super) fn collect(batches: &[PathBuf], given: &[String]) -> Result<Vec<Case>> {
    let mut all = Vec::new();
    for batch in batches {
        read(&batch.to_string_lossy(), None, &mut Settings { partitions: Some(1), ..Settings::default() }, (&mut all, 0))?;
    }
    let given: Vec<String> = given.iter().flat_map(|w| w.split_whitespace()).map(str::to_string).collect();
    take(&given, None, &mut Settings { partitions: Some(1), ..Settings::default() }, (&mut all, 0))?;
    if all.is_empty() {
        bail!("no graphs: name a file, --case=FILE or --batch=FILE");
    }
    Ok(all)
}

fn read(name: &str, batch_file: Option<&Path>, settings: &mut Settings, (all, depth): (&mut Vec<Case>, usize)) -> Result<()> {
    if depth == DEEPEST {
        bail!("{name}: batch files name each other");
    }
    let file = found(name, batch_file)?;
    let content = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    take(&words(&content), file.parent(), settings, (all, depth + 1)).with_context(|| format!("{}", file.display()))
}

fn take(words: &[String], batch_file: Option<&Path>, settings: &mut Settings, (all, depth): (&mut Vec<Case>, usize)) -> Result<()> {
    for word in words {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        if let Some(i) = CHANGES.iter().position(|c| *c == option) {
            settings.alternatives[i] = value.split(',').map(str::to_string).collect();
            continue;
        }
        match option {
            "--graph" | "--mode" | "--verbose" | "-v1" => {}
            "--reset" => *settings = Settings { partitions: Some(1), ..Settings::default() },
            "--expected-n-partitions" => {
                let count: usize = value.parse().map_err(|_| anyhow!("{word}: expected a number from 0 on"))?;
                settings.partitions = Some(count).filter(|&n| n > 0);
            }
            "--least" => {
                let least: f64 = value.parse().map_err(|_| anyhow!("{word}: expected how many times as fast as the other library"))?;
                settings.least = Some(least).filter(|&n| n > 0.0);
            }
            "--batch" => read(value, batch_file, &mut settings.clone(), (&mut *all, depth))?,
            "--case" => cases(value, batch_file, settings, all)?,
            _ if word.starts_with("--") => {
                bail!(
                    "{word}: no option of graphs; known are {}, --expected-n-partitions, --least, --reset, --case and --batch",
                    CHANGES.join(", ")
                )
            }
            _ => cases(word, batch_file, &Settings { partitions: None, ..settings.clone() }, all)?,
        }
    }
    Ok(())
}

/// The graph in a file in all its alternatives.
fn cases(name: &str, batch_file: Option<&Path>, settings: &Settings, all: &mut Vec<Case>) -> Result<()> {
    let file = found(name, batch_file)?;
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let net = load::graph(&text).with_context(|| format!("{}", file.display()))?;
    let mut made = vec![Case { name: name.to_string(), net, partitions: settings.partitions, least: settings.least }];
    for (option, alternatives) in CHANGES.iter().zip(&settings.alternatives) {
        if alternatives.is_empty() {
            continue;
        }
        let mut next = Vec::with_capacity(made.len() * alternatives.len());
        for case in &made {
            for alternative in alternatives {
                let mut net = case.net.clone();
                let shown = format!("{option}={alternative}");
                let change = Change { option, value: alternative };
                rewrite::apply(&mut net, change).with_context(|| format!("{shown} of {}", file.display()))?;
                let name = if alternative.is_empty() { case.name.clone() } else { format!("{shown} {}", case.name) };
                next.push(Case { name, net, ..*case });
            }
        }
        made = next;
    }
    all.extend(made);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn lines_are_joined_and_comments_left_out() {
        let text = "# a comment\n--reset --dt=f32,bf16\n--in-shapes=0:1x2,\\\n            0:3x4\n  # another\n--case=a.json\n";
        assert_eq!(words(text), ["--reset", "--dt=f32,bf16", "--in-shapes=0:1x2,0:3x4", "--case=a.json"]);
    }
}
