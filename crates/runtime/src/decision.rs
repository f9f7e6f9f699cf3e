//! A plan's decision, for people to read: the algorithm, the blocks with their caches, and the predicted time.

use std::fmt;

/// A decision as `explain` prints it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Decision {
    /// The algorithm; empty where a row says nothing.
    pub algorithm: String,
    /// The blocks and where they stay, nearest to the core first.
    pub blocks: Vec<Blocked>,
    /// Seconds that an execution should take on the plan's processor, by its arithmetic and its memory.
    pub seconds: Option<f64>,
}

/// A block of an operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// Where it stays while others pass by.
    pub level: Level,
    /// What it is.
    pub what: String,
    /// Its bytes.
    pub bytes: usize,
}

/// A level of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Vector registers, or tile registers.
    Registers,
    /// The first data cache.
    L1,
    /// The second one.
    L2,
    /// The last one.
    L3,
    /// Main memory.
    Memory,
}

impl Blocked {
    /// A block of so many bytes.
    pub fn new(level: Level, what: impl Into<String>, bytes: usize) -> Blocked {
        Blocked { level, what: what.into(), bytes }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Level::Registers => "registers",
            Level::L1 => "L1",
            Level::L2 => "L2",
            Level::L3 => "L3",
            Level::Memory => "memory",
        })
    }
}
