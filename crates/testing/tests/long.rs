//! Describing and making a primitive costs neither memory nor time that grows with its tensors: problems of tensors that no machine has. Where a
//! table grew with a dimension, the process would end, or not come back.

use oxidnn_spec::text::{self, Settings};
use oxidnn_spec::{Op, Problem};
use oxidnn_testing::harness::rows;

const LINES: &str = "
--resampling --alg=nearest mb1ic1iw1ow8589934592
--resampling --alg=linear mb1ic16iw8589934592ow8
--resampling --alg=linear --dir=BWD_D mb1ic16iw8ow8589934592
--resampling --alg=linear --tag=axb mb1ic16ih8iw3oh8ow2147483647
--pool --dir=FWD_I mb1ic1iw1000000000000ow500000000000kw2sw2
--pool --dir=FWD_D --tag=axb mb1ic16iw1000000000000ow500000000000kw2sw2
--pool --dir=BWD_D --tag=axb mb1ic16iw1000000000000ow500000000000kw2sw2
--pool --dir=BWD_D --alg=avg_p mb1ic16iw68719476736ow68719476736kw3pw1
--pool --dir=FWD_I --alg=avg_np --tag=axb mb1ic16iw68719476736ow68719476736kw3pw1
--pool --dir=FWD_I --alg=avg_np --tag=axb mb1ic16ih68719476736iw1oh68719476736ow1kh3ph1
--pool --dir=BWD_D --alg=avg_np mb1ic16ih68719476736iw1oh68719476736ow1kh3ph1
--pool --dir=FWD_I --alg=avg_p mb1ic16iw68719476736ow1kw68719476736
--pool --dir=FWD_I --tag=axb mb1ic16ih2iw32oh1ow32kh2sh281474976710656
--pool --dir=FWD_I --tag=axb mb1ic16ih2iw32oh3ow32kh281474976710656kw1ph281474976710655pw0
--shuffle --axis=1 --group=4 1x68719476736x8
--shuffle --dir=BWD_D --axis=2 --group=4 1x8x68719476736
--softmax --axis=1 2x68719476736
--softmax --axis=0 68719476736x3
--lnorm 2x68719476736
--lnorm --dir=BWD_DW --flags=CH 68719476736x2
--bnorm --dir=FWD_D --tag=axb mb1ic68719476736iw8
--bnorm --dir=BWD_DW --flags=CH mb1ic8iw68719476736
--gnorm --dir=FWD_D g2mb1ic8iw68719476736
--gnorm --dir=BWD_DW --flags=CH g34359738368mb1ic68719476736iw1
--lrn --dir=FWD_D mb1ic68719476736iw8
--lrn --dir=BWD_D --alg=WITHIN mb1ic8iw68719476736
--reduction --alg=sum 4x68719476736:4x1
--reduction --alg=max 68719476736x4:1x4
--binary --alg=max 4x68719476736x3:4x1x3
--concat --axis=1 3x68719476736:3x4
--sum --sdt=f32:f32 3x68719476736
--eltwise --alg=exp 3x68719476736
--prelu --dir=BWD_DW 68719476736x3:68719476736x1
--rnn --alg=VANILLA_LSTM l1t1mb1sic3slc3dhc68719476
--rnn --alg=VANILLA_LSTM l1t68719476736mb1sic3slc3dhc3
--rnn --alg=VANILLA_GRU l1t2mb68719476736sic3slc3dhc3
--rnn --alg=VANILLA_AUGRU --prop=BWD_DW l1t2mb68719476736sic3slc3dhc3
--rnn --alg=LBR_GRU --prop=BWD_DW l1t68719476736mb2sic3slc3dhc3
--conv --dir=FWD_I mb1ic68719476736ih3oc16oh3kh1
--conv --dir=FWD_I --stag=axb --dtag=axb mb1ic68719476736ih3oc16oh3kh1
--conv --dir=FWD_I --dt=u8:s8:f32 --stag=axb --dtag=axb mb1ic68719476736ih3oc16oh3kh1
--conv --dir=FWD_I --alg=wino mb1ic68719476736ih8oc16oh8kh3ph1
--conv --dir=BWD_D mb1ic16ih3oc68719476736oh3kh3ph1
--conv --dir=BWD_WB mb1ic68719476736ih3oc16oh3kh1
--deconv --dir=FWD_I mb1ic68719476736ih3oc16oh3kh1
--deconv --dir=BWD_D mb1ic16ih3oc68719476736oh3kh3ph1
--ip --dir=FWD_I mb4ic68719476736oc16
--ip --dir=BWD_D mb4ic16oc68719476736
--matmul 4x68719476736:68719476736x4
--matmul --dt=u8:s8:f32 --stag=ab --wtag=ab --dtag=ab 4x68719476736:68719476736x4
--sdpa 1x1x4x68719476736:1x1x68719476736x4:1x1x4x4
--reorder --stag=abcd --dtag=aBcd16b 1x68719476736x3x3
";

#[test]
fn primitives_over_long_tensors_cost_what_others_cost() {
    let engine = oxidnn_cpu::engine();
    let mut settings = Settings::default();
    for line in LINES.lines().filter(|l| !l.is_empty()) {
        let cases = text::parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}"));
        for case in cases {
            let rows = rows(&engine, &case.problem).unwrap_or_else(|e| panic!("{line}: {e}"));
            for row in rows {
                row.create().unwrap_or_else(|e| panic!("{line}: {}: {e}", row.impl_name()));
            }
        }
    }
}

/// Steps that no problem line has room for.
#[test]
fn a_window_that_is_moved_once_may_be_moved_far() {
    let engine = oxidnn_cpu::engine();
    for dir in ["FWD_I", "FWD_D", "BWD_D"] {
        let line = format!("--pool --dir={dir} --tag=axb mb1ic16ih2iw32oh1ow32kh2sh2");
        let mut problem = text::parse_line(&mut Settings::default(), &line).expect("a problem").remove(0).problem;
        let Op::Pool(op) = &mut problem.op else { panic!("{line}") };
        op.window.strides[0] = 1 << 61;
        let problem = Problem::new(problem.op, problem.attr).expect("a request");
        for row in rows(&engine, &problem).expect("rows") {
            row.create().unwrap_or_else(|e| panic!("{line}: {}: {e}", row.impl_name()));
        }
    }
}
