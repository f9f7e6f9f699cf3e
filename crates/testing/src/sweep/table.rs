//! Tables of weighted choices, and drawing text from them. How they are written: `tables/README.md`.

use crate::fill::Random;
use std::collections::BTreeMap;

/// Holes within holes at most.
const DEEPEST: usize = 40;

/// The name whose choices say at every how many halvings of a problem each kind of size is halved.
const CUTS: &str = "cuts";

/// A table's name for a size of each kind, and the choices that replace it in small problems.
const KINDS: [(&str, Kind, &str); 3] =
    [("b:", Kind::Batch, "small-batch"), ("s:", Kind::Space, "small-space"), ("c:", Kind::Channels, "small-channels")];

/// The kind of a size, which decides how early the size is cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Batch = 0,
    Space = 1,
    Channels = 2,
}

impl Kind {
    /// The size after so many halvings. Its remainder by multiples of 16 stays, as long as there are any.
    fn cut(self, size: i64, halvings: u32) -> i64 {
        match size >> halvings.min(62) {
            _ if halvings == 0 => size,
            whole if whole >= 16 && self != Kind::Batch => whole / 16 * 16 + size % 16,
            few => few.max(size.min(1)),
        }
    }
}

/// Names with their choices.
pub(super) struct Table {
    names: BTreeMap<String, Vec<Choice>>,
}

/// One choice of a name.
struct Choice {
    weight: u32,
    parts: Vec<Part>,
}

/// A piece of a choice.
enum Part {
    Text(String),
    Hole(Vec<Part>),
}

impl Table {
    /// Reads the texts of tables.
    ///
    /// # Errors
    /// The line that is not understood.
    pub(super) fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Table, String> {
        let mut names = BTreeMap::new();
        for text in texts {
            for entry in entries(text) {
                let (name, choices) = entry.split_once('=').ok_or_else(|| format!("`{entry}` is no `name = choice | ..`"))?;
                let choices = choices.split('|').map(choice).collect::<Result<Vec<_>, String>>()?;
                if names.insert(name.trim().to_owned(), choices).is_some() {
                    return Err(format!("`{}` is there twice", name.trim()));
                }
            }
        }
        Ok(Table { names })
    }

    /// The text of each choice of a name whose choices are single holes.
    pub(super) fn holes(&self, name: &str) -> Vec<&str> {
        let choices = self.names.get(name).into_iter().flatten();
        let texts = choices.filter_map(|c| match c.parts.as_slice() {
            [Part::Hole(inner)] => match inner.as_slice() {
                [Part::Text(text)] => Some(text.as_str()),
                _ => None,
            },
            _ => None,
        });
        texts.collect()
    }

    /// Every choice: its name and place.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = (String, usize)> {
        self.names.iter().flat_map(|(name, choices)| (0..choices.len()).map(move |i| (name.clone(), i)))
    }
}

/// The entries of a table: comments left out, continued lines joined.
fn entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        match entries.last_mut().filter(|_| line.starts_with(' ')) {
            Some(entry) => entry.push_str(line),
            None => entries.push(line.to_owned()),
        }
    }
    entries
}

fn choice(text: &str) -> Result<Choice, String> {
    let text = text.trim();
    let (weight, text) = match text.strip_prefix('[').and_then(|t| t.split_once(']')) {
        Some((weight, rest)) => (weight.parse().map_err(|_| format!("`{weight}` is no weight"))?, rest.trim_start()),
        None => (1, text),
    };
    let (parts, rest) = parts(text, false)?;
    if rest.is_empty() { Ok(Choice { weight, parts }) } else { Err(format!("`{text}` closes a hole that is not open")) }
}

/// The parts up to the end of the text or, `inside` a hole, up to its end; and the rest.
fn parts(text: &str, inside: bool) -> Result<(Vec<Part>, &str), String> {
    let (mut all, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        if at > 0 {
            all.push(Part::Text(rest[..at].to_owned()));
        }
        if rest[at..].starts_with('}') {
            return if inside { Ok((all, &rest[at + 1..])) } else { Err(format!("`{text}` closes a hole that is not open")) };
        }
        let (hole, behind) = parts(&rest[at + 1..], true)?;
        all.push(Part::Hole(hole));
        rest = behind;
    }
    if inside {
        return Err(format!("`{text}` does not close a hole"));
    }
    if !rest.is_empty() {
        all.push(Part::Text(rest.to_owned()));
    }
    Ok((all, ""))
}

/// One drawing from a table.
pub(super) struct Drawing<'a> {
    table: &'a Table,
    random: Random,
    /// Draw small sizes.
    small: bool,
    /// How often each kind of size is halved.
    halvings: [u32; 3],
    known: BTreeMap<String, String>,
    /// The choices that were taken.
    pub(super) taken: Vec<(String, usize)>,
}

impl<'a> Drawing<'a> {
    /// A drawing of sizes of nets or small ones, for a problem that is halved `cut` times.
    ///
    /// # Errors
    /// Choices of cuts that are not three numbers.
    pub(super) fn new(table: &'a Table, random: Random, small: bool, cut: u32) -> Result<Drawing<'a>, String> {
        let mut drawing = Drawing { table, random, small, halvings: [0; 3], known: BTreeMap::new(), taken: Vec::new() };
        let every = drawing.draw(CUTS)?;
        let numbers: Vec<u32> = every.split_whitespace().filter_map(|n| n.parse().ok()).filter(|&n| n > 0).collect();
        let [batch, space, channels] = numbers[..] else { return Err(format!("`{every}` are not three numbers")) };
        drawing.halvings = [batch, space, channels].map(|n| cut / n);
        Ok(drawing)
    }

    /// A choice of `name`, all holes filled.
    pub(super) fn draw(&mut self, name: &str) -> Result<String, String> {
        self.choose(name, 0)
    }

    /// The place of a choice of `name`.
    pub(super) fn pick(&mut self, name: &str) -> Result<usize, String> {
        let choices = self.table.names.get(name).ok_or_else(|| format!("a table has no `{name}`"))?;
        let all: u32 = choices.iter().map(|c| c.weight).sum();
        let mut left = self.random.int(0, i64::from(all.max(1)) - 1);
        let within = |c: &Choice| {
            left -= i64::from(c.weight);
            left < 0
        };
        choices.iter().position(within).ok_or_else(|| format!("`{name}` has no choice"))
    }

    fn choose(&mut self, name: &str, depth: usize) -> Result<String, String> {
        let at = self.pick(name)?;
        self.taken.push((name.to_owned(), at));
        let table = self.table;
        self.fill(&table.names[name][at].parts, depth)
    }

    fn fill(&mut self, parts: &[Part], depth: usize) -> Result<String, String> {
        if depth > DEEPEST {
            return Err("a table's holes never end".into());
        }
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(t) => text.push_str(t),
                Part::Hole(inner) => {
                    let inner = self.fill(inner, depth + 1)?;
                    text.push_str(&self.hole(&inner, depth + 1)?);
                }
            }
        }
        Ok(text)
    }

    /// The text for a hole, with the holes within it filled.
    fn hole(&mut self, hole: &str, depth: usize) -> Result<String, String> {
        if let Some(quiet) = hole.strip_suffix('!') {
            return self.hole(quiet, depth).map(|_| String::new());
        }
        if let Some(sum) = hole.strip_prefix('=') {
            return self.compute(sum, depth).map(|n| n.to_string());
        }
        let Some(name) = hole.strip_prefix('$') else { return self.value(hole, depth) };
        let (name, from) = match name.split_once('=') {
            Some((name, from)) => (name, from),
            None => match self.known.get(name) {
                Some(known) => return Ok(known.clone()),
                None => (name, name),
            },
        };
        let value = self.value(from, depth)?;
        self.known.insert(name.to_owned(), value.clone());
        Ok(value)
    }

    /// A size, or a choice of a name.
    fn value(&mut self, text: &str, depth: usize) -> Result<String, String> {
        match KINDS.iter().find_map(|(prefix, kind, small)| Some((text.strip_prefix(prefix)?, *kind, *small))) {
            None => self.choose(text, depth),
            Some((_, _, small)) if self.small => self.choose(small, depth),
            Some((sizes, kind, _)) => {
                let number = |t: &str| t.parse::<i64>().map_err(|_| format!("`{text}` is no size"));
                let size = match sizes.split_once('-') {
                    Some((low, high)) => self.between(number(low)?, number(high)?),
                    None if kind == Kind::Batch => number(sizes)?,
                    None => (number(sizes)? + number(&self.choose("near", depth)?)?).max(1),
                };
                Ok(kind.cut(size, self.halvings[kind as usize]).to_string())
            }
        }
    }

    /// A size in `low..=high`, of every order of magnitude as often.
    fn between(&mut self, low: i64, high: i64) -> i64 {
        let share = f64::from(self.random.bits()) / f64::from(u32::MAX);
        let (low, high) = (low.max(1), high.max(1));
        ((low as f64 * ((high + 1) as f64 / low as f64).powf(share)) as i64).clamp(low, high)
    }

    /// Computes `$x*2+1` from left to right.
    fn compute(&mut self, sum: &str, depth: usize) -> Result<i64, String> {
        let (mut value, mut operator, mut rest) = (0i64, '+', sum);
        loop {
            let end = rest.find(['+', '-', '*', '/']).unwrap_or(rest.len());
            let term = &rest[..end];
            let text = if term.starts_with('$') { self.hole(term, depth)? } else { term.to_owned() };
            let number: i64 = text.trim().parse().map_err(|_| format!("`{text}` in `{sum}` is no number"))?;
            let result = match operator {
                '+' => value.checked_add(number),
                '-' => value.checked_sub(number),
                '*' => value.checked_mul(number),
                _ => value.checked_div(number),
            };
            value = result.ok_or_else(|| format!("`{sum}` has no value"))?;
            let Some(next) = rest[end..].chars().next() else { return Ok(value) };
            operator = next;
            rest = &rest[end + 1..];
        }
    }
}
