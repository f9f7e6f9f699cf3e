use super::*;

#[test]
fn the_outermost_level_counts() {
    assert_eq!(["4", " 4 , 2", "0", "", "many", "-1"].map(first), [Some(4), Some(4), None, None, None, None]);
}

#[test]
fn streams_use_at_most_the_pool() {
    let threads = of_process();
    let most = oxidnn_runtime::threads::default_threads();
    assert!((1..=most).contains(&threads.executor().threads()));
}
