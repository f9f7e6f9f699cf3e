//! Hostile text: lines made of the lines of `tests/inputs` by changes, and tags of letters at random. Reading never panics or hangs, and what is read
//! is written as a line that means the same. `OXIDNN_FUZZ=SEED:COUNT` makes more than the gate does.

use oxidnn_spec::text::{Settings, parse_line, verbose};
use oxidnn_spec::{Dims, Layout, RUNTIME};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Numbers that follow from each other (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// The seed, and how many inputs there are to be.
fn plan(by_default: u64) -> (u64, u64) {
    let given = std::env::var("OXIDNN_FUZZ").unwrap_or_default();
    let (seed, count) = given.split_once(':').unwrap_or(("1", &given));
    (seed.parse().unwrap_or(1), count.parse().unwrap_or(by_default))
}

/// Lines of which others are made: all, but under Miri, which is some thousand times slower.
const LINES: usize = if cfg!(miri) { 100 } else { usize::MAX };

fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs");
    let folders = fs::read_dir(root).unwrap().flatten().map(|e| e.path()).filter(|p| p.is_dir());
    let files = folders.flat_map(|d| ["smoke.txt", "regress.txt"].map(|f| d.join(f)));
    let text: String = files.filter_map(|f| fs::read_to_string(f).ok()).collect();
    let mut lines: Vec<String> = text.lines().filter(|l| l.starts_with("--")).take(LINES).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// What sizes, masks and numbers are replaced by.
const NUMBERS: [&str; 21] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "16",
    "*",
    "-1",
    "",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "281474976710656",
    "9223372036854775807",
    "18446744073709551616",
    "0.5",
    "1e38",
    "1e39",
    "nan",
    "inf",
];

const WORDS: [&str; 24] = [
    "x",
    ":",
    "+",
    ",",
    "=",
    "--",
    "_",
    "any",
    "abx",
    "axb",
    "aBx16b",
    "f32",
    "s8",
    "undef",
    "src",
    "wei",
    "dst",
    "per_oc",
    "common",
    "relu",
    "sum",
    "n\"x\"",
    "--mb=3",
    "--runtime-sizes=2x3x4",
];

/// The line with one change, which keeps it text.
fn changed(line: &str, other: &str, random: &mut Random) -> String {
    let cut = |text: &str, random: &mut Random| {
        let at = random.below(text.len() + 1);
        (at..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len())
    };
    let (a, b) = (cut(line, random), cut(line, random));
    let (a, b) = (a.min(b), a.max(b).min(a.min(b) + 12));
    let b = (b..=line.len()).find(|&i| line.is_char_boundary(i)).unwrap_or(line.len());
    let digit = line[a..].find(|c: char| c.is_ascii_digit()).map(|i| a + i);
    match (random.below(7), digit) {
        (0..=2, Some(from)) => {
            let to = line[from..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |i| from + i);
            format!("{}{}{}", &line[..from], random.of(&NUMBERS), &line[to..])
        }
        (3, _) => format!("{}{}", &line[..a], &line[b..]),
        (4, _) => format!("{}{}{}", &line[..b], &line[a..b], &line[b..]),
        (5, _) => {
            let words: Vec<&str> = other.split(' ').collect();
            format!("{}{}{}", &line[..a], random.of(&words), &line[a..])
        }
        _ => format!("{}{}{}", &line[..a], random.of(&WORDS), &line[b..]),
    }
}

/// What is wrong with how a line is read, if anything.
fn complaint(line: &str) -> Option<String> {
    let check = || {
        let cases = parse_line(&mut Settings::default(), line).unwrap_or_default();
        let _ = verbose::parse(line);
        cases.iter().take(4).find_map(|case| {
            let written = case.to_string();
            let mut resolved = case.problem.clone();
            resolved.resolve();
            let _ = verbose::fields(&case.problem, &resolved).to_string();
            if case.problem.op.has_runtime() {
                let _ = case.problem.example();
            }
            match written.parse() {
                Ok(again) if *case == again => None,
                Ok(again) => Some(format!("is written as `{written}`, which means `{again}`")),
                Err(e) => Some(format!("is written as `{written}`, which is refused: {e}")),
            }
        })
    };
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| Some("panics".into()))
}

#[test]
fn hostile_lines_are_read_or_refused() {
    let (seed, count) = plan(if cfg!(miri) { 15 } else { 20_000 });
    let (mut random, corpus) = (Random(seed), corpus());
    let mut wrong = Vec::new();
    for _ in 0..count {
        let mut line = corpus[random.below(corpus.len())].clone();
        for _ in 0..1 + random.below(4) {
            let other = random.below(corpus.len());
            line = changed(&line, &corpus[other], &mut random);
        }
        let Some(why) = complaint(&line) else { continue };
        wrong.push(format!("{line}\n    {why}"));
        if wrong.len() > 20 {
            break;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn hostile_tags_are_layouts_or_refused() {
    const LETTERS: &[u8] = b"abcdefABCDEFxXlL0123456789 64*:";
    let (seed, count) = plan(if cfg!(miri) { 300 } else { 100_000 });
    let mut random = Random(seed);
    for _ in 0..count {
        let n = random.below(14);
        let sizes: Vec<i64> = (0..n)
            .map(|_| match random.below(12) {
                0 => RUNTIME,
                1 => 0,
                2 => i64::MAX,
                3 => -1,
                4 => 1 << random.below(62),
                _ => random.below(40) as i64,
            })
            .collect();
        let tag: String = (0..random.below(16)).map(|_| LETTERS[random.below(LETTERS.len())] as char).collect();
        let Some(dims) = Dims::new(&sizes) else { continue };
        let Ok(layout) = Layout::with_tag(dims, &tag) else { continue };
        let own = layout.tag().unwrap_or_else(|| panic!("`{tag}` of {dims} has no tag of its own"));
        assert_eq!(Layout::with_tag(dims, &own).ok(), Some(layout), "`{tag}` of {dims} says it is `{own}`");
    }
}
