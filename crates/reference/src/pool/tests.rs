use crate::lines::{Line, check_gradients, check_same};
use oxidnn_spec::Arg;

#[test]
fn gradients() {
    for alg in ["max", "avg_np", "avg_p"] {
        for shape in ["mb1ic2ih5iw4oh3ow4kh3kw2sh2sw1ph1pw1", "mb1ic2iw7kw3sw2pw1dw1", "mb1ic1id3ih3iw4kd2kh3kw2sd1sh1sw2pd1ph1pw0"] {
            let line = |dir: &str| format!("--pool --dir={dir} --dt=f64 --alg={alg} {shape}");
            check_gradients(&line("FWD_D"), &line("BWD_D"), &[(Arg::SRC, Arg::DIFF_SRC)]);
        }
    }
}

#[test]
fn positions_of_maxima_by_hand() {
    let mut l = Line::new("--pool --dir=FWD_D --dt=f32 --alg=max mb1ic1ih2iw4kh2kw3sh2sw2ph0pw1");
    l.set(Arg::SRC, &[1.0, 5.0, 2.0, 8.0, 7.0, 7.0, 9.0, 0.0]).run();
    assert_eq!((l.values(Arg::DST), l.values(Arg::WORKSPACE)), (vec![7.0, 9.0], vec![4.0, 4.0]));
}

/// As oneDNN 3.13.2: NaN loses against numbers, and a window in the padding gives the lowest number.
#[test]
fn maxima_of_odd_windows() {
    let mut l = Line::new("--pool --dir=FWD_I --dt=f32 --alg=max mb1ic1iw4kw2sw2pw0");
    assert_eq!(l.set(Arg::SRC, &[f64::NAN, 2.0, 1.0, f64::NAN]).run().values(Arg::DST), [2.0, 1.0]);
    let mut l = Line::new("--pool --dir=FWD_I --dt=s8 --alg=max mb1ic1iw2ow2kw2sw3pw0");
    assert_eq!(l.set(Arg::SRC, &[1.0, 2.0]).run().values(Arg::DST), [2.0, -128.0]);
}

#[test]
fn averages_by_hand() {
    for (alg, want) in [("avg_p", [1.0, 10.0 / 3.0]), ("avg_np", [1.5, 5.0])] {
        let mut l = Line::new(&format!("--pool --dir=FWD_I --dt=f32 --alg={alg} mb1ic1iw3kw3sw2pw1"));
        let got = l.set(Arg::SRC, &[1.0, 2.0, 8.0]).run().values(Arg::DST);
        assert_eq!(got, want.map(|v: f64| f64::from(v as f32)), "{alg}");
    }
}

#[test]
fn layouts() {
    let line = "--pool --dir=FWD_D --dt=bf16 --tag=abcd --alg=max mb2ic17ih5iw5kh3kw3sh2sw2ph1pw1";
    check_same(line, &line.replace("abcd", "aBcd16b"), Arg::DST);
    check_same(line, &line.replace("abcd", "acdb"), Arg::WORKSPACE);
}
