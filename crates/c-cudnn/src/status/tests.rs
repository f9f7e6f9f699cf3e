use super::*;

#[test]
fn panics_become_internal_errors_with_their_text() {
    let status = guard("cudnnTest", || panic!("the reason"));
    assert_eq!(status, Status(CUDNN_STATUS_INTERNAL_ERROR));
    let text = take_last_error();
    assert!(text.contains("cudnnTest") && text.contains("the reason"), "{text}");
    assert_eq!(take_last_error(), "", "it is told once");
}

#[test]
fn every_status_has_its_name() {
    for &(_, name, value) in all().filter(|e| e.0 == "cudnnStatus_t") {
        let told = Status(value).name();
        assert!(told == name || all().any(|e| e.1 == told && e.2 == value), "{name}");
    }
    assert_eq!(Status(-1).name(), "CUDNN_STATUS_UNRECOGNIZED");
}
