//! Any text: reading a problem line or a verbose line never panics or hangs, and what is read is written as a line that means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oxidnn_spec::text::{Case, Settings, lines, parse_line, verbose};

fuzz_target!(|text: &str| {
    let mut settings = Settings::default();
    for (_, line) in lines(text) {
        for case in parse_line(&mut settings, &line).into_iter().flatten().take(4) {
            let written = case.to_string();
            let again = written.parse::<Case>().unwrap_or_else(|e| panic!("`{line}` is written as `{written}`, which is refused: {e}"));
            assert_eq!(again, case, "`{line}` is written as `{written}`");
            let mut resolved = case.problem.clone();
            resolved.resolve();
            let _ = verbose::fields(&case.problem, &resolved).to_string();
        }
        let _ = verbose::parse(&line);
    }
});
