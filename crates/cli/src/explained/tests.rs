use super::*;
use crate::Selection;

const PAGE: &str = "# Page\n\n## One\n\n- text\n\n  ```rules\n  THEIRS|CRASHED --gnorm !*iw* off=0.5\n  ```\n\n## Two\n```rules\nINVALID --ip impl=gemm*\n```\n";

fn reason<'a>(page: &'a Explained, verdict: &str, problem: &str, implementation: &str) -> Option<&'a str> {
    page.reason(&Disagreement { verdict, problem, implementation, off: Some(0.25) })
}

#[test]
fn patterns_match_whole_words() {
    for (pattern, word, expected) in [
        ("--ip", "--ip", true),
        ("--ip", "--ip2", false),
        ("--dir=BWD_*", "--dir=BWD_D", true),
        ("*:s8*x", "--sdt=f32:s8:2x", true),
        ("a*a", "a", false),
        ("a|b*", "bc", true),
        ("*", "", true),
        ("*iw*", "mb1ic3", false),
        ("#*x#", "12x3", true),
        ("#*x#", "-2x3", false),
    ] {
        assert_eq!(matches(pattern, word), expected, "{pattern} {word}");
    }
}

#[test]
fn rules_belong_to_the_heading_above() {
    let page = Explained::parse(PAGE).unwrap();
    assert_eq!(reason(&page, "THEIRS", "--gnorm --dir=BWD_D g2mb1ic100", "ref:any"), Some("One"));
    assert_eq!(reason(&page, "CRASHED", "--gnorm g2mb1ic100", ""), Some("One"));
    assert_eq!(reason(&page, "THEIRS", "--gnorm g2mb1ic100iw4", "ref:any"), None);
    assert_eq!(reason(&page, "INVALID", "--ip mb1", "gemm:jit"), Some("Two"));
    assert_eq!(reason(&page, "INVALID", "--ip mb1", "ref:any"), None);
    assert_eq!(reason(&page, "OURS", "--gnorm g2mb1ic100", "ref:any"), None);
}

#[test]
fn rules_explain_what_is_as_near_as_they_say() {
    let page = Explained::parse(PAGE).unwrap();
    let found = |off| page.reason(&Disagreement { verdict: "THEIRS", problem: "--gnorm g2mb1ic100", implementation: "ref:any", off });
    assert_eq!([found(Some(0.5)), found(Some(0.51)), found(Some(f64::INFINITY)), found(None)], [Some("One"), None, None, Some("One")]);
}

#[test]
fn what_is_no_rule_is_refused_with_its_line() {
    for (line, said) in [
        ("OURS --ip", "`OURS` cannot be explained"),
        ("THEIRS", "verdicts, a space"),
        ("THEIRS !--ip", "name the driver"),
        ("THEIRS --ip", "how large one may be"),
        ("THEIRS --ip off=far", "neither off=any nor a number"),
        ("CRASHED --graph --pattern=a|b", "--name=a|--name=b"),
    ] {
        let e = Explained::parse(&format!("# A\n```rules\n{line}\n```\n")).err().unwrap();
        assert!(format!("{e:#}").contains(said) && format!("{e:#}").contains("line 3"), "{e:#}");
    }
}

/// Verdict and implementation come from a peer; what a rule says of problems can be checked without.
#[test]
fn every_rule_of_our_page_meets_a_problem() {
    let inputs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/inputs"));
    let page = Explained::load(None, &[inputs.join("ip/full.txt")]).unwrap();
    let files = std::fs::read_dir(inputs).unwrap().map(|entry| entry.unwrap().path().join("full.txt"));
    let batch = files.filter(|file| file.is_file()).collect();
    let all = crate::problems::collect(&Selection { batch, row: None, json: false, words: Vec::new() }).unwrap();
    let lines: Vec<String> = all.iter().map(|named| named.case.problem.to_string()).collect();
    let met = |rule: &Rule| {
        let mut found = lines.iter().map(|problem| Disagreement { verdict: rule.verdicts[0], problem, implementation: "", off: None });
        found.any(|d| rule.covers(&d))
    };
    assert!(!page.rules.is_empty());
    let idle: Vec<&str> = page.rules.iter().filter(|rule| !met(rule)).map(|rule| rule.heading.as_str()).collect();
    assert!(idle.is_empty(), "rules that meet no problem of tests/inputs: {idle:?}");
}
