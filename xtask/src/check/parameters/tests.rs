use super::*;

fn counts(text: &str) -> Vec<(String, usize)> {
    let blanked = code::blanked(text);
    let words = code::words(&blanked);
    // Not the types of functions, which have no names.
    let starts = (0..words.len()).filter(|&i| words[i].text == "fn" && words[i + 1].text != "(");
    starts.filter_map(|at| Some((words[at + 1].text.to_owned(), count(&words[at + 2 + parameters_at(&words[at + 2..])?..])))).collect()
}

#[test]
fn tuples_count_by_their_parts() {
    let text = "fn a(&self, x: u8, (y, z): (u8, [u8; 2])) {}\nfn b<F: Fn(u8, u8) -> u8>(f: F, p: &(u8, (u8, u8))) {}\nfn c() {}\n\
                fn d(&mut self, x: Map<u8, (u8, u8)>, f: fn(u8, u8) -> u8, y: (u8)) -> (u8, u8) {}\nfn e(a: super::A, b: &'a [(u8, u8)], c: &'a mut (u8, u8)) {}\nfn f(&'a mut self, x: u8) {}";
    let expected = [("a", 3), ("b", 4), ("c", 0), ("d", 3), ("e", 4), ("f", 1)];
    assert_eq!(counts(text), expected.map(|(name, n)| (name.to_owned(), n)));
}

const SIX: &str = "fn six(a: u8, (b, c, d): (u8, u8, u8), e: u8, f: u8) {}";

#[test]
fn wide_functions_are_found_but_for_those_that_c_calls() {
    let found = wide("a.rs", SIX);
    assert_eq!(found, [Wide { file: "a.rs".into(), line: 1, name: "six".into(), parameters: 6 }]);
    assert!(wide("a.rs", "fn five(self, a: u8, (b, c): (u8, u8), d: u8, e: u8) {}").is_empty());
    assert!(wide("a.rs", &SIX.replace("fn", "pub unsafe extern \"C\" fn")).is_empty());
}

#[test]
fn the_list_only_shrinks() {
    let found = wide("a.rs", SIX);
    assert!(judge(&found, "# comment\na.rs six 6\n").is_empty());
    assert_eq!(judge(&found, "").len(), 1, "a new one");
    assert_eq!(judge(&found, "a.rs six 7\n").len(), 2, "one that changed");
    assert_eq!(judge(&[], "a.rs six 6\n").len(), 1, "one that is gone");
    assert_eq!(judge(&found, "a.rs six 6\na.rs six 6\n").len(), 1, "listed twice");
    assert_eq!(judge(&[], "a.rs six\n").len(), 1, "not an entry");
}
