use super::*;
use crate::CpuTarget;

#[test]
fn every_name_of_the_knob_is_a_limit() {
    let names: Vec<&str> = LIMITS.iter().map(|(n, _)| *n).collect();
    assert_eq!(names, knobs::CPU_ISAS);
    assert_eq!(Limit::named("AVX2"), Some(Limit { isa: Isa::Avx2, jit: Some(Jit::AVX2) }));
    assert_eq!(Limit::named("avx3"), None);
}

#[test]
fn limits_grow_and_bind_portable_and_generated_kernels() {
    let widths = LIMITS.iter().map(|(_, l)| (l.isa, l.jit.map_or(0, |j| 1 + j.avx512 as u8)));
    assert!(widths.clone().is_sorted());
    for (name, limit) in LIMITS {
        let target = CpuTarget::limited(limit, 2);
        assert!(target.isa <= limit.isa, "{name}");
        let (Some(got), Some(most)) = (target.jit, limit.jit) else {
            assert!(target.jit.is_none(), "{name}");
            continue;
        };
        assert!(
            got.avx512 <= most.avx512 && got.vnni <= most.vnni && got.bf16 <= most.bf16 && got.fp16 <= most.fp16 && got.amx <= most.amx,
            "{name}"
        );
    }
}
