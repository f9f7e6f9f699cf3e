//! The `oxidnn` program: runs a real net, verifies and times problems, explains which implementation takes a problem and why, lists the knobs.
#![forbid(unsafe_code)]

mod bench;
mod explain;
mod explained;
mod judge;
mod knobs;
mod peer;
mod print;
mod problems;
mod progress;
mod run;
mod session;
mod verify;

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Deep-learning primitives: verify, time and explain them, or run a net.
#[derive(Parser)]
#[command(name = "oxidnn", version)]
struct Cli {
    /// The engine: cpu, gpu, or gpu:N for the GPU with number N.
    #[arg(long, value_name = "ENGINE", default_value = "cpu", global = true)]
    engine: session::Choice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a real net: reads the handwritten digits that come with the program, and times every primitive.
    Run(Run),
    /// Checks every implementation row of every problem against the plain reference.
    Verify(Verify),
    /// Times problems: operations a second, share of this machine's peak, creation time.
    Bench(Bench),
    /// Says which implementation takes a problem, and why the others decline.
    Explain(Selection),
    /// Lists the settings that environment variables control.
    Knobs {
        /// Print one JSON object a line.
        #[arg(long)]
        json: bool,
    },
}

/// Which problems.
#[derive(Args, Clone)]
struct Selection {
    /// A file of problem lines (may be given many times).
    #[arg(long, value_name = "FILE")]
    batch: Vec<PathBuf>,
    /// Only implementations whose name contains this.
    #[arg(long = "impl", value_name = "NAME")]
    row: Option<String>,
    /// Print JSON, one object a line.
    #[arg(long)]
    json: bool,
    /// A problem line: options and descriptor, such as `--conv --dir=FWD_I mb1ic64ih56oc64kh3ph1`; or a pasted verbose line.
    #[arg(value_name = "PROBLEM", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

#[derive(Args)]
struct Run {
    /// Images that are classified at once.
    #[arg(long, value_name = "N", default_value_t = 60)]
    batch: usize,
    /// Worker threads; all of the machine's by default.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Verify {
    /// Numbers of worker threads, such as 2 or 1,2,7: outputs are to be the same bits with each; all of the machine's by default.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<usize>,
    /// Problems checked at the same time, each on one thread, or on several only to compare with one.
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Values among the data that problems are not usually filled with: nan, inf, subnormal or huge; where they are not defined, problems are skipped.
    #[arg(long, value_name = "VALUES", conflicts_with = "peer")]
    fill: Option<oxidnn_testing::fill::Special>,
    /// Judge the judge instead: put faults into right results (of smoke lists, say), and fail where the comparison passes one.
    #[arg(long, conflicts_with = "peer")]
    judge: bool,
    /// Check our library behind its C interface against another oneDNN library (a file, or a folder that holds libdnnl.so.3) instead.
    #[arg(long, value_name = "LIB")]
    peer: Option<PathBuf>,
    /// With --peer: our library, by default the libdnnl.so beside this program.
    #[arg(long, value_name = "LIB", requires = "peer")]
    ours: Option<PathBuf>,
    /// With --peer: a page that explains disagreements, by default the peer-differences.md in a folder above the first batch file.
    #[arg(long, value_name = "FILE", requires = "peer")]
    explained: Option<PathBuf>,
    /// Be the process that talks to the libraries, from this problem on.
    #[arg(long, value_name = "N", hide = true)]
    peer_from: Option<usize>,
    /// Do not call the other library.
    #[arg(long, hide = true)]
    peer_idle: bool,
    /// Only count, do not name, the problems that no implementation but the reference took.
    #[arg(long)]
    brief: bool,
    #[command(flatten)]
    selection: Selection,
}

#[derive(Args)]
struct Bench {
    /// Seconds spent on each problem, by each library (0.3 by default); with --processes, seconds of the experiment (4).
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Numbers of worker threads, such as 1,2; all of the machine's by default.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<usize>,
    /// The suites of products and reorders of a folder too: its files conv-*.txt, ip-*.txt, matmul-*.txt and reorder-*.txt.
    #[arg(long, value_name = "FOLDER")]
    suites: Option<PathBuf>,
    /// Run every problem on another oneDNN library (a file, or a folder that holds libdnnl.so.3) too, in turns, and compare the times.
    #[arg(long, value_name = "LIB", conflicts_with = "csv")]
    peer: Option<PathBuf>,
    /// Take every problem once, and time it from the description to the first result.
    #[arg(long)]
    first: bool,
    /// Algorithm of every convolution: direct, auto, wino.
    #[arg(long, value_name = "ALG")]
    alg: Option<String>,
    /// Use no instruction set beyond this one, such as avx2, in either library.
    #[arg(long, value_name = "ISA")]
    max_isa: Option<String>,
    /// Bytes that are multiplied by bytes take all their values, not just small ones: processors without an exact product of all bytes take longer then.
    #[arg(long)]
    all_bytes: bool,
    /// Run so many processes at once, and say what each gets of what one has alone.
    #[arg(long, value_name = "N", conflicts_with = "peer")]
    processes: Option<usize>,
    /// Be one of the processes: compute for so many seconds.
    #[arg(long, value_name = "S", hide = true)]
    sustain: Option<f64>,
    /// Print comma-separated values.
    #[arg(long)]
    csv: bool,
    /// Print Markdown: the tables of BENCHMARKS.md.
    #[arg(long)]
    markdown: bool,
    /// Print only the totals of each suite (each batch file).
    #[arg(long)]
    summary: bool,
    #[command(flatten)]
    selection: Selection,
}

/// Options of the program that may stand anywhere, also behind the options of a problem; those with `true` take a value.
const ANYWHERE: [(&str, bool); 23] = [
    ("--engine", true),
    ("--fill", true),
    ("--judge", false),
    ("--summary", false),
    ("--markdown", false),
    ("--first", false),
    ("--suites", true),
    ("--max-isa", true),
    ("--processes", true),
    ("--sustain", true),
    ("--peer", true),
    ("--ours", true),
    ("--explained", true),
    ("--alg", true),
    ("--impl", true),
    ("--threads", true),
    ("--seconds", true),
    ("--jobs", true),
    ("--all-bytes", false),
    ("--json", false),
    ("--csv", false),
    ("--brief", false),
    ("--help", false),
];

/// Moves the program's own options in front of the words of problems, where clap looks for them. `--alg` is the program's where suites are
/// named, else an option of problems.
fn arrange(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let args: Vec<OsString> = args.collect();
    let is = |word: &OsString, option: &str| word.to_string_lossy().split('=').next() == Some(option);
    let suites = args.iter().any(|w| is(w, "--batch") || is(w, "--suites"));
    let mut args = args.into_iter().peekable();
    let mut front: Vec<OsString> = args.by_ref().take(2).collect();
    let mut rest = Vec::new();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        match ANYWHERE.iter().find(|(n, _)| *n == name && (suites || name != "--alg")) {
            None => rest.push(arg),
            Some((_, takes_value)) => {
                let separate = *takes_value && !text.contains('=');
                front.push(arg);
                front.extend(args.next_if(|_| separate));
            }
        }
    }
    front.extend(rest);
    front
}

fn main() -> ExitCode {
    let cli = Cli::parse_from(arrange(std::env::args_os()));
    let done = session::choose(cli.engine).and_then(|()| match &cli.command {
        Command::Run(r) => run::run(r),
        Command::Verify(v) => match &v.peer {
            Some(library) => peer::verify(v, library),
            None if v.judge => judge::run(v),
            None => verify::run(v),
        },
        Command::Bench(b) => bench::run(b),
        Command::Explain(s) => explain::run(s),
        Command::Knobs { json } => knobs::run(*json),
    });
    match done {
        Ok(code) => code,
        Err(e) => {
            eprintln!("oxidnn: {e:#}");
            ExitCode::from(2)
        }
    }
}
