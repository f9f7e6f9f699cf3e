use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn choices(seed: u64) -> Choices {
    Choices { seed, small: false, drivers: Vec::new(), budget: 4e6 }
}

fn lines(choices: Choices, count: u64) -> Vec<String> {
    let sweep = Sweep::new(choices).unwrap();
    (0..count).map(|i| sweep.problem(i).unwrap().line).collect()
}

#[test]
fn the_same_seed_gives_the_same_lines_and_another_one_others() {
    assert_eq!(lines(choices(7), 40), lines(choices(7), 40));
    let (a, b) = (lines(choices(7), 40), lines(choices(8), 40));
    assert!(a.iter().zip(&b).all(|(a, b)| a != b), "{a:?}");
    // A problem does not depend on those before it.
    assert_eq!(Sweep::new(choices(7)).unwrap().problem(39).unwrap().line, a[39]);
}

#[test]
fn the_tables_know_every_driver_and_the_lines_have_them_all() {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs");
    let folders = std::fs::read_dir(inputs).unwrap().map(|e| e.unwrap()).filter(|e| e.path().join("smoke.txt").is_file());
    let drivers: BTreeSet<String> = folders.map(|e| e.file_name().into_string().unwrap()).collect();
    let driver = |line: &String| line.split(' ').next().unwrap().trim_start_matches('-').to_owned();
    assert_eq!(lines(choices(1), 600).iter().map(driver).collect::<BTreeSet<_>>(), drivers);
    for small in [false, true] {
        let only = Choices { small, drivers: vec!["pool".into(), "rnn".into()], ..choices(1) };
        let found: BTreeSet<_> = lines(only, 60).iter().map(driver).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["pool", "rnn"]);
    }
    assert!(Sweep::new(Choices { drivers: vec!["gemm".into()], ..choices(1) }).is_err_and(|e| e.contains("matmul")));
}

#[test]
fn every_line_is_read_back_as_its_problem_and_keeps_the_budget() {
    for small in [false, true] {
        let sweep = Sweep::new(Choices { small, ..choices(3) }).unwrap();
        for drawn in (0..400).map(|i| sweep.problem(i).unwrap()) {
            let written = drawn.case.to_string();
            assert_eq!(written.parse::<Case>().unwrap_or_else(|e| panic!("{written}: {e}")), drawn.case, "{}", drawn.line);
            assert!(cost(&drawn.case) <= 4e6, "{}", drawn.line);
        }
    }
}

#[test]
fn every_choice_of_the_tables_occurs_in_a_legal_problem() {
    let mut left: BTreeSet<(String, usize)> = Table::parse(TABLES).unwrap().all().filter(|(name, _)| name != DRIVERS).collect();
    let mut refusals: BTreeMap<String, u32> = BTreeMap::new();
    let drivers: Vec<String> = Table::parse(TABLES).unwrap().holes(DRIVERS).into_iter().map(String::from).collect();
    for (small, driver) in [true, false].into_iter().flat_map(|small| drivers.iter().map(move |d| (small, d))) {
        let sweep = Sweep::new(Choices { small, drivers: vec![driver.clone()], ..choices(5) }).unwrap();
        for drawn in (0..2500).map(|i| sweep.problem(i).unwrap()) {
            *refusals.entry(driver.clone()).or_default() += drawn.refused;
            drawn.taken.iter().for_each(|t| _ = left.remove(t));
        }
    }
    assert!(left.is_empty(), "{} choices never occur: {left:?}\nrefused: {refusals:?}", left.len());
    assert!(refusals.values().all(|&n| n < 5000), "too many draws are refused: {refusals:?}");
}
