use super::*;

#[test]
fn a_panic_is_a_runtime_error() {
    assert_eq!(guard("f", || panic!("a bug")), Status::RuntimeError);
    assert_eq!(guard_value("f", 7, || panic!("a bug")), 7);
}

#[test]
fn errors_have_their_statuses() {
    let status = |e: Error| guard("f", || Err(e.into()));
    assert_eq!(status(Error::invalid("x", 1, 2)), Status::InvalidArguments);
    assert_eq!(status(Error::unimplemented("row", "x")), Status::Unimplemented);
    assert_eq!(status(Error::OutOfMemory { bytes: 1, what: "x".into() }), Status::OutOfMemory);
    assert_eq!(status(Error::LastImplReached), Status::LastImplReached);
    assert_eq!(guard("f", || Err(Failure::answer(Status::NotRequired))), Status::NotRequired);
    assert_eq!(guard("f", || Ok(())), Status::Success);
}

#[test]
fn messages_say_what_was_wrong() {
    assert_eq!(Failure::invalid("ndims", 13, "1 to 12").message, "invalid ndims: got 13, expected 1 to 12");
    assert!(Failure::answer(Status::NotRequired).message.is_empty());
}
