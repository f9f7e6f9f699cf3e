use super::*;
use oxidnn_spec::text::{Settings, parse_line};

/// Whether the row takes a problem on any processor that generated code runs on.
fn takes(line: &str) -> bool {
    let target = CpuTarget::host();
    let cases = parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}"));
    let Some(_) = target.jit else { return false };
    cases.iter().all(|case| plan(&case.problem, &target).is_ok())
}

#[test]
fn takes_windows_of_one_pixel_whose_pixels_lie_closest() {
    if CpuTarget::host().jit.is_none() {
        return;
    }
    for line in [
        "--conv --stag=abx --dtag=abx mb2ic64ih56oc64oh56",
        "--conv --dir=FWD_B --stag=abx --dtag=abx --attr-post-ops=sum+relu mb1ic130ih28oc70oh28",
        "--conv --dir=BWD_D --stag=abx --dtag=abx mb1ic33ih28oc70oh28",
        "--conv --stag=abx --dtag=abx g2mb1ic32ih28oc32oh28",
    ] {
        assert!(takes(line), "{line}");
    }
}

/// Problems that are faster channels-last, or have operands that differ by row.
#[test]
fn leaves_the_rest() {
    for line in [
        "--conv mb2ic64ih56oc64oh56",
        "--conv --stag=axb --dtag=axb mb2ic64ih56oc64oh56",
        "--conv --stag=abx --dtag=abx mb2ic64ih32oc64oh32",
        "--conv --stag=abx --dtag=abx mb2ic64ih56oc64oh28sh2",
        "--conv --stag=abx --dtag=abx mb2ic64ih56oc64oh56kh3ph1",
        "--conv --stag=abx --dtag=abx --attr-post-ops=mul:f32:per_oc mb2ic64ih56oc64oh56",
    ] {
        assert!(!takes(line), "{line}");
    }
}
