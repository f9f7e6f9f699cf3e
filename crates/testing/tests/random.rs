//! Random convolutions, deconvolutions, matmuls and inner products of the sizes of ordinary nets and their odd tails: every row against the
//! reference, also as narrower processors run it, with the same bits on one thread and on three.
//!
//! The gate runs the same problems every time. `OXIDNN_TEST_SEED` begins elsewhere and `OXIDNN_TEST_COUNT` runs more of them.

use oxidnn_runtime::{Stream, Threads};
use oxidnn_spec::text::{self, Settings};
use oxidnn_testing::harness::Harness;

/// Problems of each driver in the gate, and multiply-adds that they have at most.
const COUNT: u64 = 24;
const WORK: u64 = 6_000_000;

/// Numbers from a seed: `splitmix64` of Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// Channels, rows or columns: round numbers, odd ones, seldom none.
    fn size(&mut self) -> u64 {
        match self.below(40) {
            0 => 0,
            1..16 => 1 + self.below(40),
            _ => self.of(&[1, 2, 3, 4, 8, 12, 16, 17, 24, 32, 40, 48, 64, 96, 100, 112, 128, 160, 192, 256, 300, 384, 512]),
        }
    }

    fn tag(&mut self) -> &'static str {
        self.of(&["any", "any", "abx", "axb"])
    }

    fn post_ops(&mut self) -> &'static str {
        self.of(&["", "", "", "relu", "sum", "sum:0.5+relu", "add:f32:2", "gelu_erf", "linear:2:1", "mul:f32:0", "prelu:2"])
    }

    fn attributes(&mut self) -> String {
        let post_ops = self.post_ops();
        if post_ops.is_empty() { String::new() } else { format!(" --attr-post-ops={post_ops}") }
    }
}

/// A window along one dimension: source, result, kernel, stride, dilation, padding.
fn window(r: &mut Random, kernel: u64, most: u64) -> [u64; 6] {
    let (stride, dilation) = (r.of(&[1, 1, 1, 2, 3]), if r.one_in(8) { 1 } else { 0 });
    let reach = (kernel - 1) * (dilation + 1) + 1;
    let padding = if r.one_in(3) { r.below(reach) } else { (reach - 1) / 2 };
    let size = reach.saturating_sub(2 * padding).max(1) + r.below(most);
    let rest = size + 2 * padding - reach;
    [size, rest / stride + 1, kernel, stride, dilation, padding]
}

fn window_line(r: &mut Random, driver: &str) -> String {
    loop {
        let rank = r.of(&[1, 2, 2, 2, 3]);
        let kernel = r.of(&[1, 1, 2, 3, 3, 3, 5, 7]);
        let most = [40, 20, 9][rank - 1];
        let dims: Vec<[u64; 6]> = (0..rank)
            .map(|_| {
                let kernel = if r.one_in(6) { 1 + r.below(5) } else { kernel };
                window(r, kernel, most)
            })
            .collect();
        let groups = if r.one_in(4) { r.of(&[2, 3, 8, 16, 20, 32]) } else { 1 };
        let each = |r: &mut Random| if groups > 1 { r.of(&[1, 1, 2, 4, 5, 8, 16, 24]) } else { r.size() };
        let (mb, ic, oc) = (r.of(&[1, 1, 1, 2, 3, 4, 8]), each(r), each(r));
        let oc = if groups > 1 && r.one_in(2) { ic } else { oc };
        let places: u64 = dims.iter().map(|d| if driver == "conv" { d[1] } else { d[0] }).product();
        let work = mb * groups * ic * oc * places * dims.iter().map(|d| d[2]).product::<u64>();
        if work > WORK || mb * groups * ic.max(oc) * dims.iter().map(|d| d[0].max(d[1])).product::<u64>() > WORK {
            continue;
        }
        let dir = r.of(&["FWD_B", "FWD_D", "FWD_I", "BWD_D", "BWD_D", "BWD_W", "BWD_WB"]);
        let types: &[&str] = match dir {
            "FWD_B" | "FWD_D" | "FWD_I" => &["f32", "f32", "f32", "bf16", "f16", "u8:s8:f32", "s8:s8:s32", "s8:s8:u8", "bf16:bf16:f32"],
            "BWD_D" => &["f32", "f32", "bf16", "f32:bf16:bf16"],
            _ => &["f32", "f32", "bf16", "bf16:f32:bf16"],
        };
        let (dt, attributes) = (r.of(types), if dir.starts_with('F') { r.attributes() } else { String::new() });
        let mut line = format!("--{driver} --dir={dir} --dt={dt} --stag={} --dtag={}{attributes} ", r.tag(), r.tag());
        line += &format!("g{groups}mb{mb}ic{}oc{}", groups * ic, groups * oc);
        for (d, [i, o, k, s, dilation, p]) in "dhw".chars().skip(3 - rank).zip(dims) {
            // A deconvolution is the gradient of a convolution: its source is the result there.
            let [i, o] = if driver == "conv" { [i, o] } else { [o, i] };
            line += &format!("i{d}{i}o{d}{o}k{d}{k}s{d}{s}d{d}{dilation}p{d}{p}");
        }
        return line;
    }
}

fn matmul_line(r: &mut Random) -> String {
    loop {
        let (m, k, n) = (if r.one_in(2) { r.of(&[1, 1, 2, 3, 5, 8]) } else { r.size() }, r.size() * r.of(&[1, 1, 1, 3]), r.size());
        let batch: Vec<u64> = (0..r.of(&[0, 0, 0, 1, 2])).map(|_| 1 + r.below(4)).collect();
        if batch.iter().product::<u64>() * m * k * n > WORK {
            continue;
        }
        let shared = r.one_in(2);
        let sizes = |tail: [u64; 2], one: bool| {
            let all = batch.iter().map(|b| if one { 1 } else { *b }).chain(tail);
            all.map(|n| n.to_string()).collect::<Vec<_>>().join("x")
        };
        let dims = batch.len() + 2;
        let letters = |turned: bool| {
            let mut all: Vec<char> = ('a'..).take(dims).collect();
            if turned {
                all.swap(dims - 1, dims - 2);
            }
            all.into_iter().collect::<String>()
        };
        let given = r.below(8);
        // Strides that executions give: all but the innermost.
        let strided = |r: &mut Random, tail: [u64; 2], one: bool| {
            let all: Vec<String> = (0..dims).map(|d| if d + 1 == dims { "1".into() } else { "*".into() }).collect();
            let whole = tail.contains(&0) || one;
            if given == 0 && !whole && r.one_in(2) { format!("{}/s{}", letters(false), all.join("x")) } else { String::new() }
        };
        let tag = |r: &mut Random, tail: [u64; 2], one: bool| match strided(r, tail, one) {
            s if s.is_empty() => {
                let turned = r.one_in(3);
                if r.one_in(3) && given != 0 { "any".into() } else { letters(turned) }
            }
            s => s,
        };
        let dt = r.of(&["f32", "f32", "f32", "bf16", "f16", "u8:s8:f32", "s8:s8:s32", "bf16:bf16:f32", "s8:s8:s8", "f32:bf16:f32"]);
        let (stag, wtag) = (tag(r, [m, k], false), tag(r, [k, n], shared));
        let dtag = match strided(r, [m, n], false) {
            s if s.is_empty() => letters(false),
            s => s,
        };
        let masks = if given == 1 { format!(" --runtime-dims-masks={}:{}", 1 << (dims - 2), 0) } else { String::new() };
        let scale = r.of(&["", "", "wei:common", "src:common", "dst:common"]);
        let scale = match r.below(4) {
            0 => format!(" --attr-scales=wei:{}", 1 << (dims - 1)),
            1 => format!(" --attr-scales=src:{}", 1 << (dims - 1)),
            _ if scale.is_empty() => String::new(),
            _ => format!(" --attr-scales={scale}"),
        };
        let bias = if r.one_in(3) { format!(" --bia-dt=f32 --bia-mask={}", 1 << (dims - 1)) } else { String::new() };
        // Operands of post-ops have no sizes that executions give.
        let attributes = if masks.is_empty() { r.attributes() } else { String::new() };
        let line = format!("--matmul --dt={dt} --stag={stag} --wtag={wtag} --dtag={dtag}{masks}{scale}{bias}{attributes}");
        return format!("{line} {}:{}", sizes([m, k], false), sizes([k, n], shared));
    }
}

fn ip_line(r: &mut Random) -> String {
    loop {
        let (mb, ic, oc) = (if r.one_in(2) { r.of(&[1, 2, 5, 17]) } else { r.size() }, r.size(), r.size());
        let rank = r.of(&[0, 0, 1, 2, 3]);
        let pixels: Vec<u64> = (0..rank)
            .map(|_| {
                let most = r.of(&[3, 7]);
                1 + r.below(most)
            })
            .collect();
        if mb * ic * oc * pixels.iter().product::<u64>() > WORK {
            continue;
        }
        let dir = r.of(&["FWD_B", "FWD_D", "FWD_I", "BWD_D", "BWD_W", "BWD_WB"]);
        let types: &[&str] = match dir {
            "FWD_B" | "FWD_D" | "FWD_I" => &["f32", "bf16", "f16", "u8:s8:f32", "s8", "u8:s8:s32"],
            _ => &["f32", "bf16"],
        };
        let (dt, attributes) = (r.of(types), if dir.starts_with('F') { r.attributes() } else { String::new() });
        let mut line =
            format!("--ip --dir={dir} --dt={dt} --stag={} --wtag={}{attributes} mb{mb}ic{ic}oc{oc}", r.tag(), r.of(&["any", "any", "abx"]));
        for (d, n) in "dhw".chars().skip(3 - rank).zip(&pixels) {
            line += &format!("i{d}{n}");
        }
        return line;
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: not a whole number")))
}

fn check(driver: &str, line: impl Fn(&mut Random) -> String) {
    let engine = oxidnn_cpu::engine();
    let harness = Harness::new(engine.clone(), Stream::new(&engine).unwrap(), None).and_narrower(&Threads::global()).unwrap();
    let harness = harness.and_threads(&[1, 3]).unwrap();
    let (seed, count) = (number("OXIDNN_TEST_SEED", 0), number("OXIDNN_TEST_COUNT", COUNT));
    let mut wrong = Vec::new();
    for i in 0..count {
        let line = line(&mut Random(seed.wrapping_add(i).wrapping_mul(0x0123_4567_89ab_cdef) ^ driver.len() as u64));
        let cases = text::parse_line(&mut Settings::default(), &line).unwrap_or_else(|e| panic!("{line}: {e}"));
        for case in cases {
            match harness.verify(&case) {
                Err(e) => wrong.push(format!("{line}\n    {e}")),
                Ok(rows) => wrong.extend(rows.iter().filter_map(|r| Some(format!("{line}\n    {}", r.failures().first()?)))),
            }
        }
    }
    assert!(wrong.is_empty(), "{} failures in {count} problems from seed {seed}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn conv() {
    check("conv", |r| window_line(r, "conv"));
}

#[test]
fn deconv() {
    check("deconv", |r| window_line(r, "deconv"));
}

#[test]
fn matmul() {
    check("matmul", matmul_line);
}

#[test]
fn ip() {
    check("ip", ip_line);
}
