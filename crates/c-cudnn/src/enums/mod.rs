//! cuDNN's enumerators, with the headers' names and values: a constant each, and tables of their names. `cargo xtask abi` compares them
//! with a compiler's view.

mod adv;
mod attributes;
mod cnn;
mod graph;
mod ops;

pub use adv::*;
pub use attributes::*;
pub use cnn::*;
pub use graph::*;
pub use ops::*;

/// Writes a constant for every enumerator, and the table of them all.
macro_rules! enumerators {
    ($($kind:ident { $($name:ident = $value:expr,)* })*) => {
        $($(#[doc = concat!("`", stringify!($name), "` of `", stringify!($kind), "`.")]
        #[allow(non_upper_case_globals)]
        pub const $name: i32 = $value;)*)*

        /// Type, name and value of each.
        pub(super) const TABLE: &[(&str, &str, i32)] = &[$($((stringify!($kind), stringify!($name), $value)),*),*];
    };
}
use enumerators;

/// Type, name and value of every enumerator.
pub fn all() -> impl Iterator<Item = &'static (&'static str, &'static str, i32)> {
    [graph::TABLE, attributes::TABLE, ops::TABLE, cnn::TABLE, adv::TABLE].into_iter().flatten()
}

/// The name of `value` in the enumeration `kind`; its number where it has none.
pub fn name(kind: &str, value: i32) -> String {
    all().find(|e| e.0 == kind && e.2 == value).map_or_else(|| value.to_string(), |e| e.1.to_owned())
}
