//! The names of enumerators, as the functions `dnnl_*2str` return them. The table is `data/names.txt`: a section per function, a line per enumerator.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::LazyLock;

#[cfg(test)]
mod tests;

/// The names of one enum.
#[derive(Debug, Default)]
pub struct Names {
    unknown: CString,
    texts: HashMap<i32, CString>,
}

static TABLE: LazyLock<HashMap<&'static str, Names>> = LazyLock::new(|| read(include_str!("../data/names.txt")));

/// The name of values that are no enumerators, unless the enum has another one.
const UNKNOWN: &CStr = c"unknown";

fn read(text: &'static str) -> HashMap<&'static str, Names> {
    let mut table = HashMap::<&str, Names>::new();
    let mut section = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = name;
            let unknown = if name == "runtime" { "unknown".to_string() } else { format!("unknown {name}") };
            table.insert(name, Names { unknown: CString::new(unknown).unwrap_or_default(), texts: HashMap::new() });
        } else if let Some((number, name)) = line.split_once(' ')
            && let (Ok(number), Ok(name), Some(names)) = (number.parse(), CString::new(name), table.get_mut(section))
        {
            names.texts.insert(number, name);
        }
    }
    table
}

/// Reads the table; otherwise the first use does.
pub fn load() {
    LazyLock::force(&TABLE);
}

/// The name of `number` in the enum whose function is `dnnl_<kind>2str`.
pub fn name(kind: &str, number: i32) -> &'static CStr {
    TABLE.get(kind).map_or(UNKNOWN, |names| names.texts.get(&number).unwrap_or(&names.unknown))
}

/// The text of a format tag, such as `aBcd16b`; `None` for `undef` and for values that are no tag.
pub fn tag(number: i32) -> Option<&'static str> {
    if number == crate::numbers::TAG_UNDEF {
        return None;
    }
    TABLE.get("fmt_tag")?.texts.get(&number)?.to_str().ok()
}
