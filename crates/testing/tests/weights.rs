//! Weights packed once serve everything: the layout that one batch, image or row makes a row of implementations choose is what every other
//! number of them chooses, too, and with weights in that layout the same implementation computes it, rightly.

use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_runtime::{Engine, Memory, PrimitiveDesc, Stream};
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_spec::{Arg, DataType, Layout};
use oxidnn_testing::harness::{Harness, Outcome, REFERENCE_ROW, upload};
use oxidnn_testing::{fill, targets};

/// Problems that leave the weights' layout open; the number of rows, images or pixels goes in for `{}`.
const PROBLEMS: &[(&str, &[usize])] = &[
    ("--matmul --dt=f32 --stag=ab --wtag=any --dtag=ab {}x70:70x130", ROWS),
    ("--matmul --dt=f32 --stag=ab --wtag=any --dtag=ab {}x300:300x17", ROWS),
    ("--matmul --dt=bf16:bf16:f32 --stag=ab --wtag=any --dtag=ab {}x71:71x130", ROWS),
    ("--matmul --dt=f16:f16:f16 --stag=ab --wtag=any --dtag=ab {}x64:64x96", ROWS),
    ("--matmul --dt=u8:s8:f32 --stag=ab --wtag=any --dtag=ab --attr-scales=wei:per_oc {}x70:70x130", ROWS),
    ("--matmul --dt=s8:s8:s32 --stag=ab --wtag=any --dtag=ab {}x65:65x64", ROWS),
    ("--matmul --dt=bf16:s4:bf16 --stag=ab --wtag=any --dtag=ab --attr-fpmath=bf16:true --attr-scales=wei:per_oc {}x128:128x96", ROWS),
    ("--matmul --dt=f32:s8:f32 --stag=ab --wtag=any --dtag=ab --attr-fpmath=strict:true --attr-scales=wei:per_oc {}x128:128x96", ROWS),
    ("--matmul --dt=f32 --stag=abc --wtag=any --dtag=abc 3x{}x40:3x40x50", &[1, 2, 9, 64]),
    ("--ip --dir=FWD_B --dt=f32 --stag=ab --wtag=any --dtag=ab mb{}ic100oc70", ROWS),
    ("--ip --dir=FWD_B --dt=bf16:bf16:bf16 --stag=ab --wtag=any --dtag=ab mb{}ic100oc70", ROWS),
    ("--ip --dir=BWD_D --dt=f32 --stag=ab --wtag=any --dtag=ab mb{}ic100oc70", ROWS),
    ("--conv --dir=FWD_B --dt=f32 --stag=axb --wtag=any --dtag=axb mb{}ic33ih7oc70kh3ph1", IMAGES),
    ("--conv --dir=FWD_B --dt=f32 --stag=axb --wtag=any --dtag=axb mb2ic64ih{}oc32kh1", PIXELS),
    ("--conv --dir=FWD_B --dt=bf16:bf16:bf16 --stag=axb --wtag=any --dtag=axb mb1ic32ih{}oc48kh3ph1", PIXELS),
    ("--conv --dir=FWD_B --dt=u8:s8:u8 --stag=axb --wtag=any --dtag=axb mb{}ic64ih7oc64kh3ph1", IMAGES),
    ("--conv --dir=FWD_B --dt=f32 --stag=abx --wtag=any --dtag=abx mb1ic64ih{}oc96kh1", PIXELS),
    ("--conv --dir=FWD_B --dt=f32 --stag=axb --wtag=any --dtag=axb g32mb{}ic32ih9oc32kh3ph1", IMAGES),
    ("--conv --dir=BWD_D --dt=f32 --stag=axb --wtag=any --dtag=axb mb{}ic32ih8oc64kh3ph1sh2", IMAGES),
    ("--conv --dir=FWD_B --dt=f32 --alg=wino --stag=axb --wtag=any --dtag=axb mb{}ic32ih8oc64kh3ph1", IMAGES),
    ("--deconv --dir=FWD_B --dt=f32 --stag=axb --wtag=any --dtag=axb mb{}ic32ih7oc16kh4sh2ph1", IMAGES),
];

/// Every number up to two heights of tiles, and some that are not small.
const ROWS: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 33, 64, 130];
const IMAGES: &[usize] = &[1, 2, 3, 64];
const PIXELS: &[usize] = &[3, 7, 8, 14, 29];

fn case(line: &str) -> Case {
    let mut cases = text::parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}"));
    cases.pop().unwrap_or_else(|| panic!("{line}: no problem"))
}

/// What the first implementation is, and the layout that it chooses for weights.
fn chosen(engine: &Engine, case: &Case) -> (String, Layout) {
    let desc = PrimitiveDesc::new(engine, case.problem.clone()).unwrap_or_else(|e| panic!("{}: {e}", case.problem));
    let weights = desc.problem().op.tensor(Arg::WEIGHTS).unwrap_or_else(|| panic!("{}: no weights", case.problem));
    (desc.impl_name().to_owned(), weights.layout.clone())
}

fn serves_all(target: CpuTarget, template: &str, numbers: &[usize]) {
    let engine = Engine::new(CpuDevice::new(target));
    let harness = Harness::new(engine.clone(), Stream::new(&engine).unwrap(), None);
    let lines = numbers.iter().map(|n| template.replacen("{}", &n.to_string(), 1));
    let mut first: Option<Layout> = None;
    for line in lines {
        let mut case = case(&line);
        let (row, layout) = chosen(&engine, &case);
        assert_ne!(row, REFERENCE_ROW, "{line}");
        let packed = first.get_or_insert_with(|| layout.clone());
        assert_eq!(*packed, layout, "{line}: {row} on {:?} wants its weights packed otherwise", target.jit);
        case.problem.op.tensor_mut(Arg::WEIGHTS).unwrap().layout = layout;
        assert_eq!(chosen(&engine, &case).0, row, "{line}: another implementation takes weights that are packed already");
        let results = harness.verify(&case).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert!(results.iter().all(|r| matches!(r.outcome, Outcome::Passed)), "{line}: {results:?}");
    }
}

#[test]
fn packed_for_one_serve_all() {
    for target in [targets::host()].into_iter().chain(targets::narrower()) {
        for (template, numbers) in PROBLEMS {
            serves_all(target, template, numbers);
        }
    }
}

/// Problems of bytes whose weights, in the layouts that are chosen for them, have no padding.
const BYTES: &[&str] = &[
    "--conv --dt=u8:s8:s32 --stag=axb --wtag=any --dtag=axb mb1ic64ih7oc64kh3ph1",
    "--conv --dt=s8:s8:s32 --stag=axb --wtag=any --dtag=axb mb1ic128ih7oc256kh1",
    "--matmul --dt=u8:s8:s32 --stag=ab --wtag=any --dtag=ab 40x128:128x256",
    "--ip --dt=u8:s8:s32 --stag=ab --wtag=any --dtag=ab mb40ic128oc256",
];

/// The result of `memories` with these bytes as weights, twice, from memory that lasts and from memory that does not.
fn results(engine: &Engine, desc: &PrimitiveDesc, memories: &[(Arg, Memory<'static>)], bytes: &[u8]) -> Vec<Vec<u8>> {
    let (stream, primitive) = (Stream::new(engine).unwrap(), desc.create().unwrap());
    let weights = || {
        let weights = Memory::new(engine, desc.problem().op.tensor(Arg::WEIGHTS).unwrap().clone()).unwrap();
        weights.write_raw(0, bytes).unwrap();
        weights
    };
    let run = |weights: &Memory<'static>| {
        let args: Vec<_> = memories.iter().map(|(arg, m)| (*arg, if *arg == Arg::WEIGHTS { weights } else { m })).collect();
        primitive.execute(&stream, &args).unwrap();
        memories.iter().find(|m| m.0 == Arg::DST).unwrap().1.read_raw::<u8>(0).unwrap()
    };
    let lasting = weights().lasting().unwrap();
    vec![run(&weights()), run(&lasting), run(&lasting)]
}

#[test]
fn weights_that_last_are_multiplied_as_others_are() {
    for target in [targets::host()].into_iter().chain(targets::narrower()) {
        let engine = Engine::new(CpuDevice::new(target));
        for line in BYTES {
            let case = case(line);
            let desc = PrimitiveDesc::new(&engine, case.problem.clone()).unwrap();
            let memories = upload(&engine, &fill::arguments(desc.problem(), &case.fill)).unwrap();
            // The largest numbers, whose products with weights of more than seven bits 16 bits cannot add.
            let (_, src) = memories.iter().find(|m| m.0 == Arg::SRC).unwrap();
            let largest = if src.tensor().dtype == DataType::U8 { u8::MAX } else { i8::MAX as u8 };
            src.map_mut(0).unwrap().fill(largest);
            let len = desc.problem().op.tensor(Arg::WEIGHTS).unwrap().bytes();
            // Seven bits everywhere; but for one number; nowhere.
            for (first, end) in [(0, 0), (len / 2 + 700, len / 2 + 701), (0, len)] {
                let byte = |i: usize| if (first..end).contains(&i) { 127 } else { ((i * 89 + i / 13 * 7) % 129) as u8 };
                let bytes: Vec<u8> = (0..len).map(|i| if byte(i) == 127 { 127 } else { byte(i).wrapping_sub(64) }).collect();
                let results = results(&engine, &desc, &memories, &bytes);
                assert!(results.windows(2).all(|r| r[0] == r[1]), "{line}: {} on {:?}", desc.impl_name(), desc.engine());
            }
        }
    }
}
