//! Collects the problems that a command line names.

use crate::Selection;
use anyhow::{Context, Result, bail};
use oxidnn_spec::text::{self, Case, Settings};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The name of standard input where a file is expected.
const STDIN: &str = "-";

/// The byte order mark with which some editors begin a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A problem and where it came from.
pub(crate) struct Named {
    /// Name of the file without its ending, or `line` for the command line.
    pub(crate) suite: String,
    /// The problem with its fill hints.
    pub(crate) case: Case,
}

/// Every problem of the selection, batch files first.
pub(crate) fn collect(selection: &Selection) -> Result<Vec<Named>> {
    let mut all = Vec::new();
    let mut settings = Settings::default();
    for file in &selection.batch {
        batch(file, &mut Settings::default(), &mut all)?;
    }
    let mut words: Vec<String> = Vec::new();
    let mut rest = selection.words.iter().flat_map(|word| quoted(word));
    while let Some(word) = rest.next() {
        let file = match word {
            "--batch" => Some(rest.next().context("--batch needs a file")?),
            _ => word.strip_prefix("--batch="),
        };
        if let Some(file) = file {
            text::parse_line(&mut settings, &words.join(" "))?;
            words.clear();
            batch(Path::new(file), &mut settings.clone(), &mut all)?;
            continue;
        }
        let is_name = words.is_empty() && is_driver(word);
        words.push(if is_name { format!("--{word}") } else { word.to_owned() });
        if !is_name && !word.starts_with("--") {
            add(&words.join(" "), &mut settings, "line", &mut all)?;
            words.clear();
        }
    }
    if !words.is_empty() {
        bail!("`{}` is not followed by a problem descriptor, such as mb1ic64ih56oc64kh3ph1 or 128x768:768x768", words.join(" "));
    }
    if all.is_empty() {
        bail!("no problems: give --batch FILE or a problem line such as `--matmul --dt=f32 128x768:768x768`");
    }
    Ok(all)
}

/// The words of an argument: a line in quotes has many. A verbose line stays one.
fn quoted(argument: &str) -> Vec<&str> {
    let argument = argument.trim();
    if is_verbose(argument) { vec![argument] } else { argument.split_whitespace().collect() }
}

/// Whether a word is a driver whose dashes were left out: with them it is a whole setting.
fn is_driver(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase())
        && text::parse_line(&mut Settings::default(), &format!("--{word}")).is_ok_and(|cases| cases.is_empty())
}

/// Whether the line was pasted from a log.
fn is_verbose(line: &str) -> bool {
    line.starts_with("onednn_verbose")
}

/// Refuses standard input as a batch: `why` the problems are read more than once.
///
/// # Errors
/// Where some batch is standard input.
pub(crate) fn read_again(selection: &Selection, why: &str) -> Result<()> {
    let inputs = selection.batch.iter().any(|f| f == Path::new(STDIN)) || selection.words.iter().any(|w| w == STDIN || w == "--batch=-");
    if inputs { bail!("--batch - is read once, but {why}; give a file") } else { Ok(()) }
}

/// The files of a folder that are suites of products and reorders, by name.
pub(crate) fn suites_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut files = entries.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".txt") && ["conv-", "ip-", "matmul-", "reorder-"].iter().any(|kind| name.starts_with(kind))
    });
    if files.is_empty() {
        bail!("no files conv-*.txt, ip-*.txt, matmul-*.txt or reorder-*.txt in {}", folder.display());
    }
    files.sort();
    Ok(files)
}

fn batch(file: &Path, settings: &mut Settings, all: &mut Vec<Named>) -> Result<()> {
    let (mut content, mut suite) = (String::new(), file.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    if file == Path::new(STDIN) {
        suite = "stdin".into();
        std::io::stdin().read_to_string(&mut content).context("cannot read problem lines from standard input")?;
    } else {
        content = std::fs::read_to_string(file).with_context(|| format!("cannot read the batch file {}", file.display()))?;
    }
    for (number, line) in text::lines(content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&content)) {
        add(&line, settings, &suite, all).with_context(|| format!("{}, line {number}", file.display()))?;
    }
    Ok(())
}

fn add(line: &str, settings: &mut Settings, suite: &str, all: &mut Vec<Named>) -> Result<()> {
    let cases = if is_verbose(line) { vec![text::verbose::parse(line)?] } else { text::parse_line(settings, line)? };
    all.extend(cases.into_iter().map(|case| Named { suite: suite.into(), case }));
    Ok(())
}
