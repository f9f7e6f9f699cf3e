//! Verbose lines, in oneDNN's own format: creations, executions with their times, refusals with their reasons.
//!
//! ```text
//! onednn_verbose,v1,primitive,create:cache_miss,cpu,matmul,packed:avx2,undef,<tensors>,<attributes>,<parameters>,<sizes>,0.12
//! onednn_verbose,v1,primitive,exec,cpu,matmul,packed:avx2,undef,<tensors>,<attributes>,<parameters>,<sizes>,0.031
//! onednn_verbose,v1,primitive,create:dispatch,matmul,needs the instruction set avx512,packed:jit
//! onednn_verbose,v1,primitive,exec:check,matmul,invalid src: got ..., expected ...
//! ```
//! Times are milliseconds. The knob `VERBOSE` or [`set`] and [`set_level`] choose the lines; [`set_sink`] where they go.

mod filter;
#[cfg(test)]
mod tests;

use crate::fork::{self, Locked};
use crate::threads::default_threads;
use crate::{Engine, EngineKind, PrimitiveDesc, Skip, knobs};
use filter::Pattern;
use oxidnn_spec::text::verbose::fields;
use oxidnn_spec::{Error, Problem};
use std::fmt::Display;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Failures of implementations.
pub const ERROR: u32 = 1;
/// Possible mistakes.
pub const WARN: u32 = 2;
/// Requests that are wrong.
pub const CHECK: u32 = 4;
/// Rows that declined.
pub const DISPATCH: u32 = 8;
/// Primitives made.
pub const PROFILE_CREATE: u32 = 16;
/// Primitives executed.
pub const PROFILE_EXEC: u32 = 32;
/// Everything.
pub const ALL: u32 = 63;

/// Not yet read from the environment.
const UNREAD: u32 = 1 << 31;

/// Which lines are printed.
static FLAGS: AtomicU32 = AtomicU32::new(UNREAD);

/// Where lines go.
pub type Sink = Arc<dyn Fn(&str) + Send + Sync>;

struct Output {
    sink: Option<Sink>,
    filter: Option<Pattern>,
    timestamp: Option<bool>,
    /// The headers already printed: bit 0 the library, bit 1 + kind an engine.
    headers_printed: u8,
}

static OUTPUT: Mutex<Output> = Mutex::new(Output { sink: None, filter: None, timestamp: None, headers_printed: 0 });

fn output() -> Locked<'static, Output> {
    fork::lock(&OUTPUT)
}

/// Whether lines of kind `what` are printed.
#[inline]
pub fn on(what: u32) -> bool {
    let flags = FLAGS.load(Ordering::Relaxed);
    (if flags == UNREAD { read() } else { flags }) & what != 0
}

#[cold]
fn read() -> u32 {
    static READ: Once = Once::new();
    let _inside = fork::enter();
    READ.call_once(|| {
        let warnings = match parse(&knobs::get().verbose) {
            Ok(s) => {
                output().filter = s.filter;
                let _ = FLAGS.compare_exchange(UNREAD, s.flags, Ordering::Relaxed, Ordering::Relaxed);
                Vec::new()
            }
            Err(word) => {
                let _ = FLAGS.compare_exchange(UNREAD, ERROR, Ordering::Relaxed, Ordering::Relaxed);
                vec![format!("VERBOSE: `{word}` is not understood")]
            }
        };
        for warning in knobs::warnings().iter().chain(&warnings) {
            if FLAGS.load(Ordering::Relaxed) & (WARN | ERROR) != 0 {
                print(None, None, &format!("common,warn,knobs,{}", field(warning)));
            }
        }
    });
    FLAGS.load(Ordering::Relaxed)
}

/// The values of the knob `VERBOSE`.
#[derive(Debug, PartialEq, Eq)]
struct Choice {
    flags: u32,
    filter: Option<Pattern>,
}

/// Reads a value of the knob; the word that is not understood, otherwise.
fn parse(text: &str) -> Result<Choice, String> {
    let mut choice = Choice { flags: ERROR, filter: None };
    for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        choice.flags |= match word {
            "none" | "0" => {
                choice.flags = 0;
                0
            }
            "error" => ERROR,
            "warn" => WARN,
            "check" => CHECK,
            "dispatch" => DISPATCH,
            "profile" => PROFILE_CREATE | PROFILE_EXEC,
            "profile_create" => PROFILE_CREATE,
            "profile_exec" => PROFILE_EXEC,
            "profile_externals" => 0,
            "all" | "-1" => ALL,
            "1" => ERROR | WARN | PROFILE_EXEC,
            "2" => ERROR | WARN | PROFILE_EXEC | PROFILE_CREATE,
            _ => match word.split_once('=') {
                Some(("filter", pattern)) => {
                    choice.filter = Some(Pattern::new(pattern));
                    0
                }
                Some(("debuginfo", _)) => 0,
                _ => return Err(word.to_string()),
            },
        };
    }
    Ok(choice)
}

/// Prints the lines that `flags` say, whatever the environment says.
pub fn set(flags: u32) {
    on(0);
    FLAGS.store(flags & ALL, Ordering::Relaxed);
}

/// The specification's levels: 0 nothing, 1 errors, warnings and executions, 2 creations too.
///
/// # Errors
/// [`Error::InvalidArguments`] for another level.
pub fn set_level(level: i32) -> Result<(), Error> {
    match level {
        0 => set(0),
        1 => set(ERROR | WARN | PROFILE_EXEC),
        2 => set(ERROR | WARN | PROFILE_EXEC | PROFILE_CREATE),
        _ => return Err(Error::invalid("verbose level", level, "0, 1 or 2")),
    }
    Ok(())
}

/// Prints only lines about components (primitive kinds) in which `pattern` matches somewhere; `None`: about all. Understood are
/// characters, `.`, `*`, `|`, `^` and `$`.
pub fn set_filter(pattern: Option<&str>) {
    output().filter = pattern.map(Pattern::new);
}

/// Puts the time in milliseconds after `v1`, or not.
pub fn set_timestamp(on: bool) {
    output().timestamp = Some(on);
}

/// Sends lines to `sink` (without line ends) instead of the standard output; `None`: to the standard output again.
pub fn set_sink(sink: Option<Sink>) {
    output().sink = sink;
}

/// Prints one line about `component`, after the header lines of the library and the engine if these were not printed yet.
fn print(engine: Option<&Engine>, component: Option<&str>, text: &str) {
    let (lines, sink) = {
        let mut out = output();
        if out.filter.as_ref().zip(component).is_some_and(|(f, c)| !f.matches(c)) {
            return;
        }
        let mut lines = header_lines(&mut out.headers_printed, engine);
        lines.push(text.to_string());
        let stamp = *out.timestamp.get_or_insert_with(|| knobs::get().verbose_timestamp);
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64() * 1e3);
        let head = if stamp { format!("onednn_verbose,v1,{:.3},", now()) } else { "onednn_verbose,v1,".to_string() };
        lines.iter_mut().for_each(|l| l.insert_str(0, &head));
        (lines, out.sink.clone())
    };
    for line in lines {
        match &sink {
            Some(sink) => sink(&line),
            None => write_line(line),
        }
    }
}

/// Writes a line as one piece, without the lock of Rust's standard output: a forked child would wait for a thread of its parent's that has it.
#[cfg(target_os = "linux")]
fn write_line(mut line: String) {
    use rustix::io::{Errno, write};
    line.push('\n');
    let (out, mut rest) = (std::io::stdout(), line.as_bytes());
    while !rest.is_empty() {
        match write(&out, rest) {
            Ok(written) if written > 0 => rest = &rest[written..],
            Err(Errno::INTR) => {}
            // Nobody reads them.
            _ => return,
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn write_line(line: String) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// The interface version that the lines follow.
pub const SPECIFICATION: &str = "3.13.2";

fn header_lines(headers_printed: &mut u8, engine: Option<&Engine>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut first = |bit: u8| {
        let first = *headers_printed & bit == 0;
        *headers_printed |= bit;
        first
    };
    if first(1) {
        lines.push(format!("info,oneDNN v{SPECIFICATION} (commit oxidnn-{})", env!("CARGO_PKG_VERSION")));
        lines.push(format!("info,cpu,runtime:oxidnn,nthr:{}", default_threads()));
        lines.push(
            "primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,auxiliary,\
             problem_desc,exec_time"
                .to_string(),
        );
    }
    if let Some(e) = engine
        && first(if e.kind() == EngineKind::Cpu { 2 } else { 4 })
    {
        lines.extend(e.device().verbose_info().iter().map(|l| format!("info,{l}")));
    }
    lines
}

/// The time, when lines of kind `what` are printed.
#[inline]
pub fn clock(what: u32) -> Option<Instant> {
    on(what).then(Instant::now)
}

/// A primitive was made, or found in the cache, since `begin`.
pub(crate) fn created(desc: &PrimitiveDesc, hit: bool, begin: Option<Instant>) {
    if let Some(begin) = begin {
        profile(desc, if hit { "create:cache_hit" } else { "create:cache_miss" }, desc, begin.elapsed());
    }
}

/// A primitive was executed in `time`, as the device measures it; `member` is the problem with the sizes that came with the execution, if
/// any did.
pub(crate) fn executed(desc: &PrimitiveDesc, member: &PrimitiveDesc, time: Duration) {
    profile(desc, "exec", member, time);
}

fn profile(desc: &PrimitiveDesc, operation: &str, member: &PrimitiveDesc, time: Duration) {
    let ms = time.as_secs_f64() * 1e3;
    let (engine, kind) = (desc.engine(), desc.problem().op.kind());
    let fields = fields(desc.given(), member.problem());
    let text = format!("primitive,{operation},{},{kind},{},{fields},{}", engine.kind(), member.impl_name(), six_digits(ms));
    print(Some(engine), Some(kind), &text);
}

/// A partition of a graph was compiled or executed (`operation`) since `begin`; `fields` are those between the engine and the time.
pub fn graph(operation: &str, engine: &Engine, begin: Option<Instant>, fields: impl FnOnce() -> String) {
    if let Some(begin) = begin {
        let ms = begin.elapsed().as_secs_f64() * 1e3;
        print(Some(engine), Some("graph"), &format!("graph,{operation},{},{},{}", engine.kind(), fields(), six_digits(ms)));
    }
}

/// Information about a component, printed if anything about the work is printed.
pub fn info(component: &str, text: &str) {
    if on(PROFILE_EXEC | PROFILE_CREATE) {
        print(None, Some(component), &format!("{component},info,{}", field(text)));
    }
}

/// A row whose code could not be made left the primitive to another one: a warning, since that one is slower.
pub(crate) fn stepped_down(desc: &PrimitiveDesc, row: &str, why: &Error) {
    if on(WARN | ERROR) {
        let kind = desc.problem().op.kind();
        print(
            Some(desc.engine()),
            Some(kind),
            &format!("primitive,create:warn,{kind},{} left it to {row}: {}", desc.impl_name(), field(why)),
        );
    }
}

/// Rows that declined.
pub(crate) fn skipped(engine: &Engine, problem: &Problem, rows: &[(&'static str, Skip)]) {
    if on(DISPATCH) {
        let kind = problem.op.kind();
        for (row, why) in rows {
            print(Some(engine), Some(kind), &format!("primitive,create:dispatch,{kind},{},{row}", field(why)));
        }
    }
}

/// `operation` (`create` or `exec`) of a primitive of this kind failed. For faces too, which validate before there is a descriptor.
pub fn failed(operation: &str, kind: &str, error: &Error) {
    let (flag, state) = match error {
        Error::InvalidArguments(_) => (CHECK, "check"),
        Error::Unimplemented(_) | Error::LastImplReached => (DISPATCH, "dispatch"),
        _ => (ERROR, "error"),
    };
    if on(flag) {
        print(None, Some(kind), &format!("primitive,{operation}:{state},{kind},{}", field(error)));
    }
}

/// A function of a face was called wrongly or failed: a line of kind `what`, which is a `state` (`check`, `dispatch`, `error`).
pub fn face(what: u32, state: &str, function: &str, message: &str) {
    if on(what) {
        print(None, Some("api"), &format!("api,{state},{function},{}", field(message)));
    }
}

/// Text as one field: no commas, no line ends.
fn field(text: impl Display) -> String {
    let lines: Vec<String> = text.to_string().split('\n').map(|l| l.trim().replace(',', ";")).collect();
    lines.join("; ")
}

/// A number with six significant digits and no zeros at the end, as C's `%g` prints it.
fn six_digits(v: f64) -> String {
    if v == 0.0 || !v.is_finite() {
        return format!("{v}");
    }
    let trim = |s: String| if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_string() } else { s };
    let scientific = format!("{v:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>().unwrap_or(0) {
        e @ -4..=5 => trim(format!("{v:.*}", (5 - e) as usize)),
        e => format!("{}e{}{:02}", trim(digits.to_string()), if e < 0 { '-' } else { '+' }, e.abs()),
    }
}
