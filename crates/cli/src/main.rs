//! The `oxidnn` program: runs a real net, verifies and times problems, explains which implementation takes a problem and why, lists the knobs.
#![forbid(unsafe_code)]

mod bench;
mod coverage;
mod explain;
mod explained;
mod graph;
mod judge;
mod kernels;
mod knobs;
mod numbers;
mod peer;
mod print;
mod problems;
mod progress;
mod run;
mod session;
mod sweep;
mod verify;

use clap::{Args, CommandFactory, Parser, Subcommand};
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
    /// Draws random problems that people could have: prints them, checks every row on them, or races them against another library.
    Sweep(Sweep),
    /// Says which implementation takes a problem, and why the others decline.
    Explain(Explain),
    /// Compiles the kernels that problems need on GPUs into the kernel store, without a GPU.
    Kernels(Kernels),
    /// Shows the partitions of graphs: files that ONEDNN_GRAPH_DUMP=graph wrote; verifies and times them.
    Graph(graph::Options),
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
    /// A file of problem lines, - for standard input (may be given many times).
    #[arg(long, value_name = "FILE")]
    batch: Vec<PathBuf>,
    /// Only implementations whose name contains this.
    #[arg(long = "impl", value_name = "NAME")]
    row: Option<String>,
    /// Print JSON, one object a line.
    #[arg(long)]
    json: bool,
    /// A problem line, quoted or not: options and descriptor, such as `--conv --dir=FWD_I mb1ic64ih56oc64kh3ph1`; or a pasted verbose line.
    #[arg(value_name = "PROBLEM", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

#[derive(Args)]
struct Explain {
    /// Time every implementation that takes the problem, beside the predicted time.
    #[arg(long)]
    measure: bool,
    #[command(flatten)]
    selection: Selection,
}

#[derive(Args)]
struct Run {
    /// Images that are classified at once.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = numbers::count)]
    batch: usize,
    /// Worker threads; all of the machine's by default.
    #[arg(long, value_name = "N", value_parser = numbers::threads)]
    threads: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Verify {
    /// Numbers of worker threads, such as 2 or 1,2,7, that plans are made for: outputs are to be the same bits with each; all of the machine's by default.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = numbers::threads)]
    threads: Vec<usize>,
    /// Problems checked at the same time, each on one thread, or on several only to compare with one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::count)]
    jobs: usize,
    /// Values among the data that problems are not usually filled with: nan, inf, subnormal or huge; where they are not defined, problems are skipped.
    #[arg(long, value_name = "VALUES", conflicts_with = "peer")]
    fill: Option<oxidnn_testing::fill::Special>,
    /// Execute on asynchronous streams, as the setting ASYNCHRONOUS_STREAMS has it.
    #[arg(long = "async", conflicts_with_all = ["peer", "judge", "coverage"])]
    asynchronous: bool,
    /// Let memory begin an element behind an aligned address, as that of a user may.
    #[arg(long, conflicts_with_all = ["peer", "judge", "coverage"])]
    unaligned: bool,
    /// Judge the judge instead: put faults into right results (of smoke lists, say), and fail where the comparison passes one.
    #[arg(long, conflicts_with = "peer")]
    judge: bool,
    /// Execute nothing: count by operation and type the problems that only the reference takes, with the reasons, for AVX-512 and for AVX2.
    #[arg(long, conflicts_with_all = ["peer", "judge", "fill"])]
    coverage: bool,
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
struct Kernels {
    /// The architectures: 80, 86, 89, 90, 100.
    #[arg(long, value_name = "ARCH", value_delimiter = ',', default_value = "90")]
    arch: Vec<String>,
    /// The store's folder; the one in the user's cache directory by default.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Kernels compiled at the same time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::count)]
    jobs: usize,
    /// Compile nothing: print the problems that need a kernel which none before them needs.
    #[arg(long)]
    needed: bool,
    #[command(flatten)]
    selection: Selection,
}

#[derive(Args)]
struct Bench {
    /// Seconds spent on each problem, by each library (0.3 by default); with --processes, seconds of the experiment (4).
    #[arg(long, value_name = "S", value_parser = numbers::seconds)]
    seconds: Option<f64>,
    /// Numbers of worker threads, such as 1,2; all of the machine's by default.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = numbers::threads)]
    threads: Vec<usize>,
    /// The suites of products and reorders of a folder too: its files conv-*.txt, ip-*.txt, matmul-*.txt and reorder-*.txt.
    #[arg(long, value_name = "FOLDER")]
    suites: Option<PathBuf>,
    /// Run every problem on another oneDNN library (a file, or a folder that holds libdnnl.so.3) too, in turns, and compare the times. On a GPU
    /// `cuda`: products on cuBLASLt.
    #[arg(long, value_name = "LIB", conflicts_with = "csv")]
    peer: Option<PathBuf>,
    /// On a GPU: measure the tiles that products may have first, and keep the fastest ones in the kernel store, for this process and those to come.
    #[arg(long, conflicts_with = "first")]
    tune: bool,
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
    /// Run so many processes at once, and print each one's share of the speed that one has alone.
    #[arg(long, value_name = "N", conflicts_with = "peer", value_parser = numbers::count)]
    processes: Option<usize>,
    /// Be one of the processes: compute for so many seconds.
    #[arg(long, value_name = "S", hide = true, value_parser = numbers::seconds)]
    sustain: Option<f64>,
    /// Print comma-separated values.
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    csv: bool,
    /// Print Markdown: the tables of BENCHMARKS.md.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print only the totals of each suite (each batch file).
    #[arg(long)]
    summary: bool,
    #[command(flatten)]
    selection: Selection,
}

/// Draws problem lines from tables of published nets' layers, their neighbours, and what may be combined with them: types, layouts, directions,
/// post-operations, scales, zero points, compressed weights, sizes and strides of the execution. Without --verify or --peer it prints them.
#[derive(Args, Clone)]
struct Sweep {
    /// Check every row of every problem against the reference. Panics, crashes and problems without an end are found, too.
    #[arg(long)]
    verify: bool,
    /// Run every problem on another oneDNN library (a file, or a folder that holds libdnnl.so.3) too, in turns, and compare the times.
    #[arg(long, value_name = "LIB", conflicts_with = "verify")]
    peer: Option<PathBuf>,
    /// Execute nothing: print the problems of f32, bf16, f16, s8 and u8 that only portable code or the reference takes, and why.
    #[arg(long, conflicts_with_all = ["verify", "peer"])]
    rows: bool,
    /// Another seed, other problems; the same seed, the same.
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = numbers::index)]
    seed: u64,
    /// How many problems.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = numbers::count)]
    count: usize,
    /// The first of them: problem N of a seed is always the same.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = numbers::index)]
    skip: u64,
    /// Only these drivers, such as conv,matmul.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    drivers: Vec<String>,
    /// Small and odd sizes instead of those of nets.
    #[arg(long)]
    small: bool,
    /// Operations that a problem may cost; larger ones are cut. 2e6 by default, 1e5 with --small, 2e9 with --peer.
    #[arg(long, value_name = "N", value_parser = numbers::operations)]
    budget: Option<f64>,
    /// Processes that check problems at the same time; with --verify as many as there are cores, each on one thread, by default.
    #[arg(long, value_name = "N", value_parser = numbers::count)]
    jobs: Option<usize>,
    /// Numbers of worker threads, such as 2 or 1,2,7, that plans are made for; with --verify, outputs are to be the same bits with each.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = numbers::threads)]
    threads: Vec<usize>,
    /// Use no instruction set beyond this one, such as avx2.
    #[arg(long, value_name = "ISA")]
    max_isa: Option<String>,
    /// Only implementations whose name contains this.
    #[arg(long = "impl", value_name = "NAME")]
    row: Option<String>,
    /// With --peer: seconds spent on each problem, by each library (0.05 by default).
    #[arg(long, value_name = "S", requires = "peer", value_parser = numbers::seconds)]
    seconds: Option<f64>,
    /// Seconds after which no more problems are begun: the findings until then are reported.
    #[arg(long, value_name = "S", value_parser = numbers::seconds)]
    within: Option<f64>,
    /// Seconds after which a problem counts as one without an end.
    #[arg(long, value_name = "S", default_value = "120", value_parser = numbers::seconds)]
    limit: f64,
    /// Print JSON: an object a problem, then one a family.
    #[arg(long)]
    json: bool,
    /// Be a process that checks the problems whose numbers it reads.
    #[arg(long, hide = true)]
    worker: bool,
    /// Leave the other library out, to see whose fault a crash is.
    #[arg(long, hide = true)]
    alone: bool,
}

/// Moves the options of the program in front of the words of problems, where clap looks for them, so that they may stand anywhere. `--batch` stays
/// where it is among words, as the options before it hold for its lines. `--alg` is the program's where suites are named, else an option of problems.
fn arrange(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let args: Vec<OsString> = args.collect();
    let name = |word: &OsString| word.to_string_lossy().split('=').next().unwrap_or_default().to_owned();
    let command = Cli::command();
    let options: Vec<(String, bool)> = match args.get(1).and_then(|command_name| command.find_subcommand(command_name)) {
        None => return args,
        Some(command) => {
            let long = command.get_arguments().filter_map(|a| Some((format!("--{}", a.get_long()?), a.get_action().takes_values())));
            long.chain([("--help".into(), false), ("--engine".into(), true)]).collect()
        }
    };
    let suites = args.iter().any(|w| matches!(name(w).as_str(), "--batch" | "--suites"));
    let ours = |option: &str| option != "--batch" && (suites || option != "--alg");
    let mut args = args.into_iter().peekable();
    let mut front: Vec<OsString> = args.by_ref().take(2).collect();
    let mut rest = Vec::new();
    while let Some(arg) = args.next() {
        let option = name(&arg);
        match options.iter().find(|(n, _)| *n == option && ours(&option)) {
            None => rest.push(arg),
            Some((_, takes_value)) => {
                let separate = *takes_value && !arg.to_string_lossy().contains('=');
                front.push(arg);
                front.extend(args.next_if(|_| separate));
            }
        }
    }
    front.extend(rest);
    front
}

fn main() -> ExitCode {
    let cli = Cli::parse_from(arrange(graph::routed(std::env::args_os().collect()).into_iter()));
    let done = session::choose(cli.engine).and_then(|()| match &cli.command {
        Command::Run(r) => run::run(r),
        Command::Verify(v) => match &v.peer {
            Some(library) => peer::verify(v, library),
            None if v.judge => judge::run(v),
            None if v.coverage => coverage::run(v),
            None => verify::run(v),
        },
        Command::Bench(b) => bench::run(b),
        Command::Sweep(s) => sweep::run(s),
        Command::Explain(e) => explain::run(e),
        Command::Kernels(k) => kernels::run(k),
        Command::Graph(g) => graph::run(g),
        Command::Knobs { json } => knobs::run(*json),
    });
    match done {
        Ok(code) => print::exit(code),
        Err(e) => {
            eprintln!("oxidnn: {e:#}");
            ExitCode::from(2)
        }
    }
}
