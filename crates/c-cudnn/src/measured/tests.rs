use super::{Times, Way};
use std::time::Duration;

fn few(way: Way) -> bool {
    (0..3).contains(&way[0]) && way[1] == 0
}

#[test]
fn times_are_read_as_they_were_written() {
    let mut times = Times::default();
    times.set([2, 0], Duration::from_nanos(1500));
    times.set([0, 0], Duration::from_secs(3));
    times.set([2, 0], Duration::from_nanos(1400));
    let again = Times::read(times.written().as_bytes(), few).expect("our own text");
    assert_eq!(again, times);
    assert_eq!(again.of([2, 0]), Some(Duration::from_nanos(1400)));
    assert_eq!((again.of([1, 0]), again.order([1, 0])), (None, Duration::MAX));
}

#[test]
fn text_of_others_is_not_taken() {
    let longest = format!("0 0 {}0\n", u64::MAX);
    let texts = [
        "",
        "\n",
        "0 0",
        "0 0 \n",
        "0 0 -5\n",
        "0 0 0\n",
        "0 0 1.5\n",
        "0 0 1 1\n",
        "0 1 7\n",
        "3 0 7\n",
        "-1 0 7\n",
        "0 0 7\n0 0 8\n",
        "1 0 7\nrest",
        "0  0 7\n",
        "zero 0 7\n",
        &longest,
    ];
    for text in texts {
        assert_eq!(Times::read(text.as_bytes(), few), None, "{text:?}");
    }
    assert_eq!(Times::read(&[0xff, 0xfe], few), None);
    assert!(Times::read(b"0 0 7\n1 0 8\n", few).is_some());
}
