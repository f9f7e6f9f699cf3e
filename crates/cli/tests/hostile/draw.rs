//! Hostile problems: the lines of `tests/inputs` and `tests/gpu` with sizes, strides, masks and attributes that no net has.

use oxidnn_spec::Problem;
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_testing::fill::Random;
use std::fmt::Write;
use std::path::Path;

/// What sizes, strides, dilations, paddings, groups, axes and masks are replaced by.
const NUMBERS: [i64; 26] = [
    0,
    1,
    2,
    3,
    7,
    64,
    255,
    4096,
    65_535,
    1 << 20,
    1 << 30,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 33,
    (1 << 40) + 1,
    1 << 40,
    1 << 48,
    1 << 56,
    1 << 60,
    1 << 62,
    i64::MAX - 63,
    i64::MAX,
    -1,
    -(1 << 48),
];

/// Attributes behind which a line gets more of the same, or its first.
const ATTRIBUTES: [&str; 22] = [
    "--attr-scales=wei:common:0.5",
    "--attr-scales=src:per_oc:f32:#x1",
    "--attr-scales=wei:per_ocic:f16:#x1",
    "--attr-scales=wei:3:f32:1x#",
    "--attr-scales=src:#+dst:#",
    "--attr-zero-points=src:per_dim_1:s8+dst:common:#",
    "--attr-zero-points=wei:3:s8:#x#",
    "--attr-dropout=0.5:12345",
    "--attr-rounding-mode=dst:stochastic",
    "--attr-scratchpad=user",
    "--attr-fpmath=bf16:true",
    "--attr-deterministic=true",
    "--bia-dt=f32 --bia-mask=#",
    "--runtime-dims-masks=#:#",
    "--runtime-dims-masks=1:2",
    "--axis=#",
    "--group=#",
    "--dir=BWD_D",
    "--dir=BWD_WB",
    "--dir=FWD_D",
    "--mb=#",
    "--flags=GCH",
];

const POST_OPS: [&str; 10] = [
    "relu",
    "sum:0.5",
    "add:f32:per_oc",
    "mul:s8:#",
    "prelu:per_tensor",
    "dw:k3s1p1",
    "dw:k#s#p#",
    "gelu_erf",
    "select:f32:per_tensor",
    "clip:-1:1",
];

/// Tags of blocks, whose padded sizes exceed sizes near the largest number.
const TAGS: [&str; 10] = ["any", "abx", "axb", "aBx16b", "ABx32a16b", "aBx8b", "ABcd8b16a2b", "BA16a64b4a", "xba", "Abx64a"];

/// Post-ops of a line with thousands of them.
const MANY: i64 = 3000;

/// A source of hostile problems.
pub(crate) struct Draw {
    random: Random,
    corpus: Vec<String>,
    /// The numbers of the line that is being drawn: few, so that sizes agree.
    numbers: [i64; 2],
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
        let mut files = vec![root.join("gpu/tensor-cores.txt"), root.join("gpu/vectors.txt")];
        for driver in std::fs::read_dir(root.join("inputs")).expect("inputs").flatten() {
            files.extend(["smoke.txt", "regress.txt"].map(|list| driver.path().join(list)));
        }
        let text: String = files.iter().filter_map(|f| std::fs::read_to_string(f).ok()).collect();
        let mut corpus: Vec<String> = text.lines().filter(|l| l.starts_with("--")).map(str::to_owned).collect();
        corpus.sort();
        Draw { random: Random::new(seed), corpus, numbers: [0; 2] }
    }

    /// A line, and its problems where the specification accepts it.
    pub(crate) fn line(&mut self) -> (String, Vec<Case>) {
        self.numbers = [(); 2].map(|()| NUMBERS[self.below(NUMBERS.len())]);
        let base = self.below(self.corpus.len());
        let mut line = self.corpus[base].clone();
        for _ in 0..1 + self.below(3) {
            line = match self.below(10) {
                0..6 => self.sized(&line),
                6 => self.with_attribute(&line),
                7 => self.with_post_ops(&line),
                8 => self.with_tag(&line),
                _ => self.with_strides(&line),
            };
        }
        let cases = text::parse_line(&mut Settings::default(), &line).unwrap_or_default();
        (line, cases)
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.int(0, n.max(1) as i64 - 1) as usize
    }

    fn number(&mut self) -> i64 {
        match self.below(5) {
            0 => NUMBERS[self.below(NUMBERS.len())],
            i => self.numbers[i % 2],
        }
    }

    /// The text with numbers in the places of `#`.
    fn numbered(&mut self, text: &str) -> String {
        let parts: Vec<&str> = text.split('#').collect();
        let mut all = parts[0].to_owned();
        for part in &parts[1..] {
            let _ = write!(all, "{}{part}", self.number());
        }
        all
    }

    /// A size of the problem replaced, everywhere or once; results of windows follow.
    fn sized(&mut self, line: &str) -> String {
        let (head, sizes) = line.rsplit_once(' ').unwrap_or(("", line));
        let runs = runs(sizes);
        let Some(&(from, to)) = runs.get(self.below(runs.len())) else { return line.to_owned() };
        let (number, old, everywhere) = (self.number().to_string(), &sizes[from..to], self.below(2) == 0);
        let (mut changed, mut at) = (String::new(), 0);
        for (a, b) in runs {
            let replaced = a == from || everywhere && sizes[a..b] == *old;
            changed += &sizes[at..a];
            changed += if replaced { &number } else { &sizes[a..b] };
            at = b;
        }
        changed += &sizes[at..];
        let windows = ["--conv", "--deconv", "--pool"].iter().any(|driver| head.split(' ').any(|word| word == *driver));
        if windows && self.below(4) > 0 {
            changed = without_results(&changed);
        }
        format!("{head} {changed}").trim_start().to_owned()
    }

    fn with_attribute(&mut self, line: &str) -> String {
        let attribute = ATTRIBUTES[self.below(ATTRIBUTES.len())];
        let attribute = self.numbered(attribute);
        inserted(line, &attribute)
    }

    fn with_post_ops(&mut self, line: &str) -> String {
        let many = self.below(3) == 0;
        let count = if many { self.random.int(1, MANY) } else { self.random.int(1, 40) };
        let (one, alternate) = (self.below(POST_OPS.len()), self.below(2));
        let all: Vec<String> = (0..count as usize).map(|i| self.numbered(POST_OPS[(one + i * alternate) % POST_OPS.len()])).collect();
        inserted(line, &format!("--attr-post-ops={}", all.join("+")))
    }

    fn with_tag(&mut self, line: &str) -> String {
        let name = ["--stag", "--wtag", "--dtag", "--tag"][self.below(4)];
        let tag = TAGS[self.below(TAGS.len())];
        inserted(line, &format!("{name}={tag}"))
    }

    /// Strides, padded sizes or an offset of the first tensor, given as numbers.
    fn with_strides(&mut self, line: &str) -> String {
        let cases = text::parse_line(&mut Settings::default(), line).unwrap_or_default();
        let Some(rank) = cases.first().map(|case| rank(&case.problem)) else { return line.to_owned() };
        let name = ["--stag", "--dtag", "--wtag", "--tag"][self.below(4)];
        let all: Vec<String> = (0..rank)
            .map(|_| match self.below(4) {
                0 => "*".to_owned(),
                1 => "1".to_owned(),
                _ => self.number().to_string(),
            })
            .collect();
        let kind = ["s", "s", "p", "o"][self.below(4)];
        let numbers = if kind == "o" { self.number().to_string() } else { all.join("x") };
        inserted(line, &format!("{name}=abx/{kind}{numbers}"))
    }
}

fn rank(problem: &Problem) -> usize {
    problem.op.operands().first().map_or(0, |o| o.tensor.dims().len())
}

/// The line with a word before its sizes.
fn inserted(line: &str, word: &str) -> String {
    let (head, sizes) = line.rsplit_once(' ').unwrap_or((line, ""));
    format!("{head} {word} {sizes}")
}

/// Where numbers are in a text.
fn runs(text: &str) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (i, _) in text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        match all.last_mut() {
            Some((_, end)) if *end == i => *end = i + 1,
            _ => all.push((i, i + 1)),
        }
    }
    all
}

/// Sizes of windows without those of results (`oh3`), which follow from the others.
fn without_results(sizes: &str) -> String {
    let mut rest = sizes.to_owned();
    for name in ["od", "oh", "ow"] {
        let found = rest.find(name).filter(|at| rest[at + 2..].starts_with(|c: char| c.is_ascii_digit()));
        let Some(at) = found else { continue };
        let end = rest[at + 2..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| at + 2 + n);
        rest.replace_range(at..end, "");
    }
    rest
}
