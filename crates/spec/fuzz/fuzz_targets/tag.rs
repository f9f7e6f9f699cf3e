//! Any sizes and any tag: a layout or an error, and a layout's own tag gives it back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oxidnn_spec::{Dims, Layout};

fuzz_target!(|input: (Vec<i32>, &str)| {
    let (sizes, tag) = input;
    let sizes: Vec<i64> = sizes.iter().take(12).map(|s| i64::from(*s)).collect();
    let Some(dims) = Dims::new(&sizes) else { return };
    let Ok(layout) = Layout::with_tag(dims, tag) else { return };
    let own = layout.tag().expect("a layout made by a tag has one");
    assert_eq!(Layout::with_tag(dims, &own).ok(), Some(layout), "`{tag}` of {dims} says it is `{own}`");
});
