//! Reorders piece by piece: every way that a piece goes, with padding on every side of it, is right on every row that takes it.

use oxidnn_cpu::{CpuDevice, CpuTarget, Limit};
use oxidnn_runtime::{Engine, Stream, Threads};
use oxidnn_spec::text::{self, Settings};
use oxidnn_testing::harness::{self, Harness, Outcome};
use oxidnn_testing::targets;

/// Problems, by what is special about them.
const PROBLEMS: &[(&str, &str)] = &[
    ("pieces that end within a run and within lines", "--reorder --ddt=bf16 --stag=abcd --dtag=acdb 2x259x17x19"),
    ("bits that no arithmetic may change", "--reorder --sdt=f16 --ddt=f16 --stag=abcd --dtag=acdb 1x37x9x11"),
    (
        "scales that differ from line to line, on both sides",
        "--reorder --ddt=s8 --stag=abcd --dtag=acdb --attr-scales=src:common:2+dst:2 1x37x9x11",
    ),
    ("lines with padding", "--reorder --stag=abcd --dtag=aBcd16b 2x5x13x17"),
    ("lines that are mostly padding", "--reorder --stag=abcd --dtag=aBcd16b 2x3x13x17"),
    ("lines with padding in a block of their own", "--reorder --sdt=u8 --ddt=f32 --stag=abcd --dtag=aBcd8b 2x19x5x7"),
    ("a run with padding that the destination has too", "--reorder --ddt=bf16 --stag=abcd --dtag=ABcd16b16a 20x19x3x3"),
    ("a run with padding that only the source has", "--reorder --sdt=bf16 --ddt=f32 --stag=aBcd16b --dtag=abcd 1x29x17x19"),
    ("blocks of different sizes, of which one tensor has more", "--reorder --sdt=s8 --ddt=f32 --stag=aBcd16b --dtag=abcd 2x35x15x15"),
    ("a run that is short", "--reorder --sdt=u8 --ddt=f32 --stag=acdb --dtag=abcd 1x3x23x29"),
    ("lines that are few", "--reorder --ddt=u8 --stag=abcd --dtag=acdb --attr-scales=dst:common:0.5 1x3x23x29"),
    ("rows among a run", "--reorder --ddt=bf16 --stag=abcd --dtag=ABcd8b16a2b 48x32x3x3"),
    ("rows among a run, with padding", "--reorder --ddt=bf16 --stag=abcd --dtag=AcdB64a2b 70x13x3x3"),
    ("rows that are the run's neighbours", "--reorder --ddt=s8 --stag=ab --dtag=AB64a4b --attr-scales=dst:1 100x70"),
    ("rows beside a run", "--reorder --ddt=bf16 --stag=abcd --dtag=AcdB64a2b 66x5x70x71"),
    ("rows of lines, padded on all sides", "--reorder --ddt=s8 --stag=ab --dtag=BA16a64b4a --attr-scales=dst:2 77x130"),
    ("rows of lines, as they are", "--reorder --sdt=bf16 --ddt=bf16 --stag=ab --dtag=BA64b2a 37x130"),
    ("groups that end within a call", "--reorder --ddt=s8 --stag=ab --dtag=BA64b4a 1000x64"),
    (
        "sums of what is interleaved from lines",
        "--reorder --sdt=s8 --ddt=s8 --stag=ab --dtag=BA16a64b4a --oflag=s8s8_comp:2+zp_comp:2 770x130",
    ),
    ("sums of what is transposed", "--reorder --ddt=s8 --stag=abcd --dtag=ABcd4b16a4b --oflag=s8s8_comp:1 --attr-scales=dst:1 50x40x3x3"),
    ("scales of bytes that stay bytes, interleaved", "--reorder --sdt=s8 --ddt=s8 --stag=ba --dtag=ab --attr-scales=src:common:2 4x4"),
    (
        "scales of 16 bits that stay what they are, interleaved",
        "--reorder --sdt=bf16 --ddt=bf16 --stag=ab --dtag=BA16b2a --attr-scales=dst:2 34x5",
    ),
    ("scales of bytes with sums", "--reorder --sdt=s8 --ddt=s8 --stag=ab --dtag=BA16b4a/c2 --attr-scales=dst:2 12x34"),
    ("scales of lines with padding", "--reorder --stag=bacd --dtag=ABcd8b8a --attr-scales=dst:2 6x20x19x16"),
    ("scales of words with padding", "--reorder --sdt=f16 --ddt=f16 --stag=abc --dtag=AcB16a4b --attr-scales=src:1 15x20x16"),
    ("scales of padding outside of pieces", "--reorder --ddt=bf16 --stag=abcd --dtag=ABcd2b16a2b --attr-scales=src:1+dst:2 33x5x7x3"),
    ("sums by groups too", "--reorder --ddt=s8 --stag=abcde --dtag=aBCde4c16b4c --oflag=s8s8_comp:3 3x20x24x3x3"),
];

/// How many of these pieces take with AVX-512, for which problems can be planned anywhere: rows of reorders are chosen by predicted times.
const TAKEN: usize = 5;

#[test]
fn every_way_of_a_piece() {
    let engine = oxidnn_cpu::engine();
    let harness = Harness::new(engine.clone(), Stream::new(&engine).unwrap(), None).and_narrower(&Threads::global()).unwrap();
    let jit = Limit::named("avx512_core").and_then(|limit| limit.jit).filter(|_| targets::host().jit.is_some());
    let described = Engine::new(CpuDevice::new(CpuTarget { jit, ..targets::host() }));
    let (mut settings, mut taken) = (Settings::default(), 0);
    for (what, line) in PROBLEMS {
        for case in text::parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}")) {
            let rows = harness.verify(&case).unwrap_or_else(|e| panic!("{what}: {line}: {e}"));
            for r in &rows {
                assert!(matches!(r.outcome, Outcome::Passed), "{what}: {line}: {}: {:?}", r.row, r.outcome);
            }
            if jit.is_some() {
                let planned = harness::rows(&described, &case.problem).unwrap_or_else(|e| panic!("{what}: {line}: {e}"));
                taken += usize::from(planned.iter().any(|row| row.impl_name() == "pieces:jit"));
            }
        }
    }
    assert!(jit.is_none() || taken >= TAKEN, "pieces take {taken} of {}", PROBLEMS.len());
}
