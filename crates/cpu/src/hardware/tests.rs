use super::*;

/// A core with the caches of a system's description: index, level, type, size, cores.
fn described(caches: &[(&str, &str, &str, &str)]) -> Caches {
    Caches::of(&|file| {
        let (index, what) = file.strip_prefix("index")?.split_once('/')?;
        let (level, kind, size, cores) = caches.get(index.parse::<usize>().ok()?)?;
        let text = match what {
            "level" => level,
            "type" => kind,
            "size" => size,
            "shared_cpu_list" => cores,
            "coherency_line_size" => "64",
            _ => return None,
        };
        Some(format!("{text}\n"))
    })
}

#[test]
fn caches_are_what_the_system_says() {
    let zen4 =
        [("1", "Data", "32K", "0"), ("1", "Instruction", "64K", "0"), ("2", "Unified", "1024K", "0"), ("3", "Unified", "32M", "0-7")];
    assert_eq!(described(&zen4), Caches { sharing: [1, 8], ..Caches::USUAL });
    let rapids = [("1", "Data", "48K", "0,56"), ("1", "Instruction", "32K", "0,56"), ("2", "Unified", "2048K", "0,56")];
    let got = described(&rapids);
    assert_eq!(got, Caches { l1: 48 << 10, l2: 2 << 20, l3: 2 << 20, line: 64, sharing: [2, 1] }, "no L3: L2 is the last one");
    for bad in ["", "K", "x1K", "0K", "12", "99999999999999999999G"] {
        assert_eq!(described(&[("1", "Data", bad, "?")]), Caches::USUAL, "{bad}");
    }
    assert_eq!(described(&[]), Caches::USUAL);
}

/// The budgets of a core fit into its caches together.
#[test]
fn budgets_fit() {
    for caches in
        [Caches::USUAL, Caches { l1: 48 << 10, l2: 2 << 20, ..Caches::USUAL }, Caches { l2: 256 << 10, l3: 256 << 10, ..Caches::USUAL }]
    {
        let budget = caches.budget(false);
        assert!(budget.l1_panel <= caches.l1 && budget.panels + budget.sums + budget.strip <= caches.l2, "{caches:?}: {budget:?}");
        assert!(budget.plain + budget.panels + budget.sums <= caches.l2 && budget.rows <= caches.l3, "{caches:?}: {budget:?}");
    }
}

#[test]
fn blocks_stay_in_their_shares() {
    let budget = Caches::USUAL.budget(false);
    for (steps, panels, tiles) in [(1, 1, 1), (64, 4, 100), (1024, 64, 500), (1024, 3, 2), (4096, 1000, 10_000), (0, 0, 0)] {
        for carries in [false, true] {
            let k = KBlockBytes { panel: steps * 256, panels, width: 64, tall: 6, tiles, carries };
            let Blocks { mc, nc } = k.blocks([budget.panels, budget.sums]);
            assert!((1..=panels.max(1)).contains(&nc) && (1..=tiles.max(1)).contains(&mc), "{k:?}");
            assert!(nc == 1 || nc * k.panel <= budget.panels, "{k:?}: {nc}");
            assert!(!carries || mc == 1 || mc * k.tall * nc * k.width * 4 <= budget.sums, "{k:?}: {mc}");
            assert!(carries || mc == tiles.max(1), "{k:?}: {mc}");
        }
    }
}

/// Cores are recognised by the system's description; unknown ones are assumed to be slow.
#[test]
fn cores_are_known_by_vendor_family_and_model() {
    let name = |vendor: &str, family: u32, model: u32| {
        let text = format!("processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: any\n");
        Core::of(&text).name
    };
    assert_eq!(name("AuthenticAMD", 26, 2), "Zen 5");
    assert_eq!([name("AuthenticAMD", 25, 17), name("AuthenticAMD", 25, 1)], ["Zen 4", "Zen 3"]);
    assert_eq!(name("GenuineIntel", 6, 143), "Golden Cove server");
    for other in [name("GenuineIntel", 6, 1), name("Else", 26, 2), Core::of("").name] {
        assert_eq!(other, "unknown");
    }
}

/// The time of work is that of its arithmetic or that of its memory traffic, whichever is longer.
#[test]
fn work_takes_as_long_as_what_bounds_it() {
    let core = Core::of("");
    let seconds = |multiply_adds: f64, bytes: f64| {
        Work { multiply_adds, rate: core.rate(16, 1), bytes, cores: 1 }.seconds(&core, &Caches::USUAL, 1e9)
    };
    assert_eq!(seconds(16e9, 1e3), 1.0, "a vector in a cycle");
    assert!(seconds(16e3, 1e9) > seconds(16e3, 1e7) && seconds(16e3, 1e7) > 10.0 * seconds(16e3, 1e6), "L2, L3, memory");
    assert!(hertz() > 1e8);
}
