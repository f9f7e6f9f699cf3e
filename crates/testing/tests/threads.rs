//! Results do not depend on threads: not on their number, not on which one made the primitive, not on how many execute it at once.
//!
//! With `OXIDNN_ROWS` only rows whose name contains what it says are run: instrumented, all rows of a problem take too long for one process.

use oxidnn_runtime::{Memory, PrimitiveDesc, Stream, Threads};
use oxidnn_spec::text::{self, Case, FillHints, Settings};
use oxidnn_spec::{Arg, Use};
use oxidnn_testing::harness::{Harness, Outcome};
use oxidnn_testing::host::HostArgs;
use oxidnn_testing::{fill, harness};

/// One problem for each family of kernels, large enough to be split over threads.
const PROBLEMS: &[&str] = &[
    "--conv --dir=FWD_B --dt=f32 --stag=axb --dtag=axb mb2ic33ih28oc48kh3ph1",
    "--conv --dir=FWD_B --dt=u8:s8:u8 --attr-scales=src:common:0.5+wei:per_oc mb1ic32ih14oc64kh3ph1",
    "--conv --dir=FWD_I --dt=f32 --stag=axb --dtag=axb g32mb1ic32ih28oc32kh3ph1",
    "--conv --dir=BWD_D --dt=f32 mb2ic32ih28oc64kh3ph1sh2",
    "--conv --dir=FWD_B --dt=f32 mb2ic288ih14oc80kh3ph1",
    "--conv --dir=BWD_WB --dt=f32 mb4ic32ih28oc64kh3ph1",
    "--conv --dir=BWD_W --dt=f32 mb4ic128ih14oc64kh1sh2",
    "--conv --dir=FWD_I --dt=f32 --stag=abx --dtag=abx mb2ic64ih28oc80kh1",
    "--conv --dir=FWD_I --dt=f32 --stag=abx --dtag=abx mb1ic64ih56oc64kh1sh2",
    "--conv --dir=FWD_B --dt=f32 --alg=wino mb2ic32ih28oc64kh3ph1",
    "--conv --dir=BWD_D --dt=f32 --alg=wino mb1ic64ih14oc64kh3ph1",
    "--deconv --dir=FWD_B --dt=f32 mb2ic32ih14oc16kh4sh2ph1",
    "--matmul --dt=f32 --stag=ab --wtag=ab --dtag=ab --bia-dt=f32 --bia-mask=2 130x257:257x143",
    "--matmul --dt=bf16:s4:bf16 --attr-fpmath=bf16:true --attr-scales=wei:per_oc 7x256:256x320",
    "--matmul --dt=f32 1x1024:1024x1000",
    "--ip --dir=FWD_B --dt=f32 mb16ic512oc100",
    "--ip --dir=BWD_WB --dt=f32 mb64ic256oc100",
    "--bnorm --dir=FWD_D --dt=f32 --tag=axb --flags=CH mb4ic48ih14",
    "--bnorm --dir=BWD_DW --dt=f32 --tag=axb --flags=CH mb4ic48ih14",
    "--lnorm --dir=BWD_DW --dt=f32 --tag=ab --flags=CH 128x768",
    "--softmax --dir=FWD_I --sdt=f32 --ddt=f32 --stag=ab --dtag=ab --axis=1 256x1000",
    "--eltwise --dir=FWD_I --dt=f32 --tag=abx --alg=gelu_erf 64x1000",
    "--binary --alg=add --sdt=f32:f32 --ddt=f32 --stag=ab:ab 256x1000:256x1",
    "--reduction --sdt=f32 --ddt=f32 --stag=ab --dtag=ab --alg=sum 512x1000:1x1",
    "--reorder --sdt=f32 --ddt=bf16 --stag=abcd --dtag=aBcd16b 4x33x28x28",
    "--reorder --sdt=f32 --ddt=s8 --stag=abcd --dtag=AcdB64a4b --oflag=s8s8_comp:1 128x72x3x3",
    "--reorder --sdt=bf16 --ddt=bf16 --stag=ab --dtag=BA16a64b2a 256x320",
    "--pool --dir=FWD_D --dt=f32 --tag=axb --alg=max mb4ic32ih28oh14kh3sh2ph1",
    "--rnn --prop=FWD_I --alg=VANILLA_LSTM --cfg=f32 l1t4mb4sic32slc32dhc32dic32",
    "--rnn --prop=FWD_I --alg=VANILLA_LSTM --cfg=f32 l1t5mb1slc256",
    "--rnn --prop=FWD_I --alg=VANILLA_LSTM --cfg=u8u8u8f32 --with-projection=true l1t3mb9slc200",
    "--rnn --prop=FWD_D --alg=VANILLA_GRU --direction=concat --cfg=f32 l2t3mb15slc128",
    "--rnn --prop=FWD_I --alg=VANILLA_LSTM --direction=sum --cfg=bf16 --with-projection=true l1t3mb15slc96sic96dhc200dic96",
    "--rnn --prop=BWD_DW --alg=VANILLA_LSTM --direction=concat --cfg=f32 --with-peephole=true l2t3mb15slc128",
    "--rnn --prop=BWD_DW --alg=VANILLA_GRU --cfg=f32 --flags=O l1t3mb7slc96sic200",
    "--sdpa --mask=causal_br --scale=mul 1x4x100x32:1x2x32x300:1x2x300x32",
    "--sdpa --dt=bf16 --tag=abcd:abdc:abcd:abcd 1x8x1x64:1x2x64x2100:1x2x2100x64",
    "--sdpa --dir=BWD_DW --tag=abcd:abdc:abcd:abcd 1x2x130x32:1x2x32x1100:1x2x1100x32",
];

fn case(line: &str) -> Case {
    let mut cases = text::parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}"));
    cases.pop().unwrap_or_else(|| panic!("{line}: no problem"))
}

fn outputs(desc: &PrimitiveDesc, args: &HostArgs) -> Vec<Vec<u8>> {
    let written = desc.problem().operands().into_iter().filter(|o| o.usage == Use::Out);
    written.map(|o| args.get(o.arg).unwrap().bytes(0)).collect()
}

/// What the names of rows contain that are run.
fn asked() -> Option<String> {
    std::env::var("OXIDNN_ROWS").ok()
}

#[test]
fn bitwise_equal_for_1_2_and_7_threads() {
    let engine = oxidnn_cpu::engine();
    let harness = Harness::new(engine.clone(), Stream::new(&engine).unwrap(), asked());
    let harness = harness.and_narrower(&Threads::global()).and_then(|h| h.and_threads(&[1, 2, 7])).unwrap();
    for line in PROBLEMS {
        for row in harness.verify(&case(line)).unwrap_or_else(|e| panic!("{line}: {e}")) {
            assert!(matches!(row.outcome, Outcome::Passed), "{line}: {}: {:?}", row.row, row.outcome);
        }
    }
}

#[test]
fn one_primitive_from_eight_threads_and_created_elsewhere() {
    let (engine, asked) = (oxidnn_cpu::engine(), asked().unwrap_or_default());
    for line in PROBLEMS {
        let problem = case(line).problem;
        for desc in harness::rows(&engine, &problem).unwrap().into_iter().filter(|desc| desc.impl_name().contains(&asked)) {
            let args = fill::arguments(desc.problem(), &FillHints::default());
            let stream = Stream::new(&engine).unwrap();
            let want = outputs(&desc, &harness::execute(&desc, &engine, &stream, &args).unwrap());
            let primitive = std::thread::scope(|s| s.spawn(|| desc.create().unwrap()).join().unwrap());
            std::thread::scope(|s| {
                for args in vec![args.clone(); 8] {
                    let (engine, primitive, desc, want) = (&engine, &primitive, &desc, &want);
                    s.spawn(move || {
                        let stream = Stream::new(engine).unwrap();
                        for _ in 0..3 {
                            let memories = harness::upload(engine, &args).unwrap();
                            let bound: Vec<(Arg, &Memory<'_>)> = memories.iter().map(|(a, m)| (*a, m)).collect();
                            primitive.execute(&stream, &bound).unwrap();
                            stream.wait().unwrap();
                            let got = harness::download(&args, &memories).unwrap();
                            assert!(outputs(desc, &got) == *want, "{line}: {} differs when 8 threads execute it", desc.impl_name());
                        }
                    });
                }
            });
        }
    }
}
