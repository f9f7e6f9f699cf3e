use super::*;

#[test]
fn panels_are_as_wide_as_tiles_and_little_is_padding() {
    let of = |isa, channels| {
        let Panels { width, count } = Panels::of(isa, channels);
        (width, count)
    };
    for (channels, want) in [(256, (64, 4)), (80, (48, 2)), (96, (48, 2)), (100, (64, 2)), (64, (64, 1)), (17, (32, 1)), (1, (16, 1))] {
        assert_eq!(of(Isa::AVX512, channels), want, "{channels}");
    }
    for (channels, want) in [(256, (16, 16)), (17, (16, 2)), (1, (16, 1))] {
        assert_eq!(of(Isa::AVX2, channels), want, "{channels}");
    }
    for channels in 1..200 {
        for isa in [Isa::AVX2, Isa::AVX512] {
            let panels = Panels::of(isa, channels);
            assert!(panels.padded() >= channels && panels.width <= LINE && panels.width.is_multiple_of(BLOCK));
            assert_eq!((0..panels.count).map(|p| panels.channels(p, channels).1).sum::<usize>(), channels);
        }
    }
}
