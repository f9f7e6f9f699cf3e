use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn loops_reach_their_last_position() {
    assert_eq!(reach(&[], 4), Some(4));
    assert_eq!(reach(&[(1, 100)], 4), Some(4));
    assert_eq!(reach(&[(3, 100), (2, 10)], 4), Some(214));
    assert_eq!(reach(&[(3, 0)], 4), Some(4));
    assert_eq!(reach(&[(0, 100)], 4), None, "a loop without a position");
    for (count, step) in [(3, usize::MAX), (usize::MAX, 2), (2, usize::MAX)] {
        assert_eq!(reach(&[(count, step)], 4), None, "{count} times {step} bytes");
    }
}

#[test]
fn addresses_lie_in_the_memory() {
    let mut numbers = [0.0_f32; 4];
    let start = numbers.as_ptr().addr();
    let cases = [
        (0, Some(16), true),
        (12, Some(4), true),
        (16, Some(0), true),
        (0, Some(17), false),
        (12, Some(5), false),
        (17, Some(0), false),
        (usize::MAX, Some(2), false),
        (1, Some(usize::MAX), false),
        (0, None, false),
    ];
    for (first, reach, inside) in cases {
        let read = catch_unwind(|| Read::from(&numbers[..]).at("source", first, reach).addr());
        assert_eq!(read.ok(), inside.then(|| start + first), "{reach:?} from {first}");
        let written = catch_unwind(AssertUnwindSafe(|| Written::from(&mut numbers[..]).at("result", first, reach).addr()));
        assert_eq!(written.ok(), inside.then(|| start + first), "{reach:?} from {first}");
    }
}
