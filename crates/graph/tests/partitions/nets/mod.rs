//! Graphs for tests: a builder, the graphs of every pattern in its variants, and their execution partition by partition.

pub(crate) mod attention;
pub(crate) mod builder;
pub(crate) mod chains;
pub(crate) mod dice;
pub(crate) mod products;
pub(crate) mod random;
pub(crate) mod run;
pub(crate) mod variants;

pub(crate) use builder::Net;

/// A graph with its name: `PATTERN/VARIANT`.
pub(crate) type Named = (String, Net);

/// Every graph.
pub(crate) fn all() -> Vec<Named> {
    let mut all = chains::all();
    all.extend(products::all());
    all.extend(attention::all());
    variants::completed(all)
}
