use super::*;

#[test]
fn levels_are_read_as_the_specification_says() {
    let flags = |t: &str| parse(t).map(|c| c.flags);
    assert_eq!(flags(""), Ok(ERROR));
    assert_eq!(flags("0"), Ok(0));
    assert_eq!(flags("none"), Ok(0));
    assert_eq!(flags("1"), Ok(ERROR | WARN | PROFILE_EXEC));
    assert_eq!(flags("2"), Ok(ERROR | WARN | PROFILE_EXEC | PROFILE_CREATE));
    assert_eq!(flags("profile,dispatch"), Ok(ERROR | PROFILE_CREATE | PROFILE_EXEC | DISPATCH));
    assert_eq!(flags("all"), flags("-1"));
    assert_eq!(flags("check,debuginfo=3"), Ok(ERROR | CHECK));
    assert_eq!(flags("loud"), Err("loud".to_string()));
    assert_eq!(parse("profile_exec,filter=conv").map(|c| c.filter), Ok(Some(Pattern::new("conv"))));
}

#[test]
fn patterns_find_components() {
    let m = |p: &str, t: &str| Pattern::new(p).matches(t);
    assert!(m("conv", "convolution") && m("conv", "deconvolution") && !m("^conv", "deconvolution"));
    assert!(m("matmul|inner.*", "inner_product") && m("^rnn$", "rnn") && !m("^rn$", "rnn"));
    assert!(m("po*ling", "pooling") && !m("poling", "pooling") && m("", "lrn"));
}

#[test]
fn times_have_six_digits() {
    let t: Vec<String> = [0.0, 17.9, 0.0029, 0.028807, 123456.7, 1234567.0, 0.00001].into_iter().map(six_digits).collect();
    assert_eq!(t, ["0", "17.9", "0.0029", "0.028807", "123457", "1.23457e+06", "1e-05"]);
}

#[test]
fn fields_have_no_commas() {
    assert_eq!(field("a, b\n  c"), "a; b; c");
}
