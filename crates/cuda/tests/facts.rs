//! The tensor-core kernels, without a GPU: every line of `tests/gpu/tensor-cores.txt` is lowered to one of them for an H200, and their code has no spills and the
//! intended instructions.

mod common;

use oxidnn_cuda::program::{Program, Source};
use oxidnn_cuda::{CudaTarget, Facts, compile, ops};
use oxidnn_spec::text::{self, Settings};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Instructions that the code of a file must have: one of each list.
const MEANT: &[(&str, &[&str])] = &[
    ("gemm_sm90", &["HGMMA QGMMA IGMMA", "UTMALDG"]),
    ("conv_sm90", &["HGMMA QGMMA IGMMA", "UTMALDG"]),
    ("conv_planar_sm90", &["HGMMA", "UTMALDG"]),
    ("conv_weights_sm90", &["HGMMA", "UTMALDG"]),
    ("conv_window_sm90", &["HGMMA", "UTMALDG", "UTMASTG"]),
    ("attention_sm90", &["HGMMA", "UTMALDG", "UTMASTG"]),
    ("gemm_w4_sm90", &["HGMMA", "UTMALDG"]),
    ("gemm_w4", &["HMMA"]),
    ("depthwise_sm90", &["UTMALDG"]),
    ("depthwise_weights_sm90", &["UTMALDG"]),
    ("rnn_step", &["FFMA"]),
    ("rnn_step_mma", &["HMMA"]),
    ("gemm_sm80", &["HMMA IMMA QMMA"]),
    ("gemm_f32", &["FFMA"]),
    ("conv_f32", &["FFMA"]),
    ("conv_weights_f32", &["FFMA"]),
    ("align", &["LDG"]),
    ("conv_groups_sm80", &["HMMA"]),
    ("attention_backward_sm80", &["HMMA"]),
    ("gemv", &["LDG"]),
    ("reduce_parts", &["LDG"]),
];

/// The section of global variables of a cubin.
const NAMED: &[u8] = b".nv.global";

/// Each line with the first plan for its problem.
fn plans(facts: Facts) -> Vec<(String, &'static str, Program)> {
    plans_of("tensor-cores.txt", facts)
}

fn plans_of(list: &str, facts: Facts) -> Vec<(String, &'static str, Program)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/gpu").join(list);
    let lines = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let (target, mut settings, mut all) = (CudaTarget::described(facts), Settings::default(), Vec::new());
    for line in lines.lines() {
        for case in text::parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}")) {
            let mut refused = String::new();
            for row in ops::rows(&case.problem.op) {
                match row.plan(&case.problem, &target) {
                    Ok(plan) => {
                        all.push((format!("{line}{refused}"), row.name, plan.program().clone()));
                        break;
                    }
                    Err(why) => {
                        let _ = write!(refused, "\n  {}: {why:?}", row.name);
                    }
                }
            }
        }
    }
    all
}

#[test]
fn lines_of_tensor_cores_are_theirs() {
    let (mut wrong, mut rows) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for (line, row, _) in plans(Facts::H200) {
        *rows.entry(row).or_default() += 1;
        if row.ends_with(":generic") {
            wrong.push(format!("{row}: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for row in [
        "gemm:sm90",
        "gemm:sm80",
        "gemv:sm80",
        "w4:sm90",
        "window:sm90",
        "weights:sm90",
        "stem:sm90",
        "first:sm90",
        "groups:sm80",
        "slices:sm90",
        "planar:sm90",
        "attention:sm90",
        "backward:sm80",
        "conv:f32",
    ] {
        assert!(rows.get(row).is_some_and(|&n| n >= 3), "{row}: {rows:?}");
    }
}

#[test]
fn depthwise_convolutions_and_steps_of_networks_have_kernels_of_their_own() {
    let plans = plans_of("vectors.txt", Facts::H200);
    let of = |is_meant: &dyn Fn(&str) -> bool, is_own: &dyn Fn(&str, &Program) -> bool| {
        let all: Vec<_> = plans.iter().filter(|(line, ..)| is_meant(line)).collect();
        (all.iter().filter(|(_, row, program)| is_own(row, program)).count(), all.len())
    };
    // As many groups as channels.
    let is_depthwise = |line: &str| {
        let sizes = line.split_whitespace().find_map(|word| word.strip_prefix('g')).unwrap_or_default();
        let groups: String = sizes.chars().take_while(char::is_ascii_digit).collect();
        line.contains("--conv") && sizes.contains(&format!("ic{groups}i"))
    };
    let (own, all) = of(&is_depthwise, &|row, _| row == "depthwise:sm90");
    assert!(own >= 18 && own + 6 >= all, "{own} of {all} convolutions");
    for (file, least) in [("rnn_step", 9), ("rnn_step_mma", 9)] {
        let (own, all) = of(&|line| line.contains("--rnn"), &|_, program| program.launches.iter().any(|l| l.source.file == file));
        assert!(own >= least, "{file}: {own} of {all} networks");
    }
}

#[test]
fn products_of_tf32_go_to_wgmma_and_large_ones_of_two_turned_operands_over_a_copy() {
    let all = plans(Facts::H200);
    let files = |sizes: &str| {
        let found = all.iter().find(|p| p.0.contains("tf32") && p.0.contains(sizes)).unwrap_or_else(|| panic!("{sizes}"));
        found.2.launches.iter().map(|l| l.source.file).collect::<Vec<_>>()
    };
    for sizes in ["2000x2048:2048x2056", "1500x512:512x2048", "17x1024:1024x1000", "136x136:136x72"] {
        assert_eq!(files(sizes), ["gemm_sm90"], "{sizes}");
    }
    assert_eq!(files("2000x1500:1500x2056"), ["transpose", "gemm_sm90"]);
}

/// The faster as measured on an H200, us: 9.9 and 30.5 (100 channels), 9.4 and 18.0, 81.8 and 111, 19.8 and 27.2, 3.9 and 5.5, 6.3 and 9.4, 6.6 and 10.7; 150 and 315,
/// 12.3 and 33.8, 9.2 and 28.7, 10.8 and 13.7.
#[test]
fn unaligned_products_take_the_faster_of_copies_and_mma() {
    let target = CudaTarget::described(Facts::H200);
    let first = |line: &str| {
        let case = text::parse_line(&mut Settings::default(), line).unwrap().remove(0);
        let plan = ops::rows(&case.problem.op).iter().find_map(|row| row.plan(&case.problem, &target).ok()).unwrap();
        Arc::clone(&plan.program().launches[0].source)
    };
    let conv = "--stag=axb --dtag=axb mb8ic100ih56oc100oh56kh1";
    for (tile, line) in [
        ("TILE 128", format!("--conv --dir=FWD_I --dt=bf16 {conv}")),
        ("TILE 128", format!("--conv --dir=BWD_D --dt=bf16 {conv}")),
        ("TILE 128", "--matmul --dt=f16 192x77x64:192x64x77".into()),
        ("TILE 128", "--matmul --dt=bf16 32x2048x577:32x577x100".into()),
        ("TILE", "--matmul --dt=bf16 96x197x64:96x64x197".into()),
        ("TILE 64", "--matmul --dt=bf16 512x200:200x300".into()),
        ("TILE 64", "--matmul --dt=f16 384x49x32:384x32x49".into()),
        ("TILE 64", "--matmul --attr-fpmath=tf32 --stag=ab --wtag=ba 1024x102:102x1000".into()),
    ] {
        let source = first(&line);
        assert!(source.file == "gemm_sm80" && source.options.contains(tile), "{line}: {} {}", source.file, source.options);
    }
    for sizes in ["4097x1001:1001x4097", "768x577:577x3072", "333x777:777x555", "2048x250:250x2048"] {
        assert_eq!(first(&format!("--matmul --dt=bf16 {sizes}")).file, "align", "{sizes}");
    }
}

#[test]
fn older_gpus_get_products_on_their_tensor_cores() {
    let plans = plans(Facts::A100);
    let mma = plans.iter().filter(|p| p.1 == "gemm:sm80").count();
    assert!(mma >= 25, "{mma}");
    assert!(plans.iter().all(|p| !p.1.ends_with(":sm90")));
}

/// Registers, bytes of local memory and stack, and instruction mnemonics.
fn facts(tools: &Path, cubin: &[u8], name: &str) -> ([u64; 3], HashSet<String>) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.cubin"));
    std::fs::write(&file, cubin).unwrap();
    let run = |flag: &str| {
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = tools.join("bin");
        let out =
            Command::new(bin.join("cuobjdump")).env("PATH", format!("{}:{path}", bin.display())).arg(flag).arg(&file).output().unwrap();
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let usage = run("--dump-resource-usage");
    let number = |word: &str| {
        let all = usage.split(word).skip(1).filter_map(|t| t.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok());
        all.max().unwrap_or_else(|| panic!("{name}: no {word} in {usage}"))
    };
    let numbers = ["REG:", "LOCAL:", "STACK:"].map(number);
    let words = run("--dump-sass").split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect();
    let _ = std::fs::remove_file(&file);
    (numbers, words)
}

/// Kernels by file, each variant once, in the order of lines.
fn kernels() -> Vec<(String, Arc<Source>)> {
    let mut known = HashSet::new();
    let lines = plans(Facts::H200).into_iter().chain(plans_of("vectors.txt", Facts::H200));
    let all = lines.flat_map(|(line, _, p)| p.launches.into_iter().map(move |l| (line.clone(), l.source)));
    all.filter(|(_, s)| MEANT.iter().any(|m| m.0 == s.file) && known.insert(Arc::clone(s))).collect()
}

#[test]
fn the_compiler_keeps_sums_in_registers_and_uses_the_instructions_that_are_meant() {
    let Some(tools) = common::nvrtc() else { return };
    let only = std::env::var("OXIDNN_KERNELS").ok();
    // A few variants of each file; all variants of the files that the environment variable names.
    let (mut seen, mut wrong) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for (i, (line, source)) in kernels().iter().enumerate() {
        let count = seen.entry(source.file).or_default();
        *count += 1;
        match &only {
            Some(files) if !files.split(',').any(|f| f == source.file || f == "all") => continue,
            None if *count > 3 => continue,
            _ => {}
        }
        match compile::compile(source, &Facts::H200.architecture()) {
            Err(e) => wrong.push(format!("{line}\n{e}")),
            Ok(cubin) => {
                let ([registers, local, stack], words) = facts(tools, &cubin, &format!("{}-{i}", source.file));
                eprintln!("{} {registers} registers, {local} + {stack} bytes: {line}", source.file);
                let lists = MEANT.iter().find(|m| m.0 == source.file).map_or(&[][..], |m| m.1);
                // wgmma cannot read an N-major TF32 B.
                let turned = source.options.contains("A_TYPE T_TF32") && source.options.contains("B_MN 1");
                let meant = |list: &&&'static str| if turned && list.contains("HGMMA") { "HMMA" } else { **list };
                let missing = lists.iter().map(|list| meant(&list)).filter(|list| !list.split(' ').any(|word| words.contains(word)));
                wrong.extend(missing.map(|list| format!("{line}\n  {}: no {list}", source.file)));
                // Global variables would be loaded and relocated with every module.
                if cubin.windows(NAMED.len()).any(|w| w == NAMED) {
                    wrong.push(format!("{line}\n  {}: variables, where enumerators do", source.file));
                }
                if local + stack > 0 {
                    wrong.push(format!("{line}\n  {}: {local} + {stack} bytes of local memory, {registers} registers", source.file));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
