//! `CudaTarget`: the GPU to plan for. It is always passed explicitly, so plans for any GPU can be made on any host.

use crate::compile::Loader;
use crate::tuned::Tuned;
use std::sync::Arc;

/// A GPU to plan for: its properties, and the kernel loader if it is present.
#[derive(Clone, Debug)]
pub struct CudaTarget {
    /// Its properties.
    pub facts: Facts,
    /// The kernel loader; without it plans can be made but not built.
    pub loader: Option<Arc<Loader>>,
    /// Tile shapes that were measured on it.
    pub tuned: Option<Arc<Tuned>>,
    /// Only the scratch size of a program is wanted: generic products then skip generating their source.
    sketched: bool,
    /// The program becomes part of another one, which has the alternative for unaligned memory.
    enclosed: bool,
}

impl CudaTarget {
    /// A GPU that need not be present.
    pub fn described(facts: Facts) -> CudaTarget {
        CudaTarget::new(facts, None, None)
    }

    /// A GPU with its loader and measured tile shapes.
    pub(crate) fn new(facts: Facts, loader: Option<Arc<Loader>>, tuned: Option<Arc<Tuned>>) -> CudaTarget {
        CudaTarget { facts, loader, tuned, sketched: false, enclosed: false }
    }

    /// The same for planning only the scratch size.
    pub(crate) fn sketch(&self) -> CudaTarget {
        CudaTarget { sketched: true, ..self.clone() }
    }

    pub(crate) fn is_sketched(&self) -> bool {
        self.sketched
    }

    /// The same for programs that become part of another one.
    pub(crate) fn within(&self) -> CudaTarget {
        CudaTarget { enclosed: true, ..self.clone() }
    }

    pub(crate) fn is_enclosed(&self) -> bool {
        self.enclosed
    }
}

/// The properties of a GPU that planning uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Facts {
    /// Compute capability, major times 10 plus minor: 80, 90, 100.
    pub sm: u32,
    /// Multiprocessors (SMs).
    pub multiprocessors: u32,
    /// Maximum shared memory of a CTA, in bytes.
    pub shared_memory: u32,
    /// L2 cache, in bytes.
    pub l2: u32,
    /// SM clock, in kHz.
    pub clock: u32,
    /// Memory clock, in kHz.
    pub memory_clock: u32,
    /// Width of the memory bus, in bits.
    pub memory_bus: u32,
}

impl Facts {
    /// An H200.
    pub const H200: Facts = Facts {
        sm: 90,
        multiprocessors: 132,
        shared_memory: 227 * 1024,
        l2: 60 << 20,
        clock: 1_980_000,
        memory_clock: 3_201_000,
        memory_bus: 6144,
    };

    /// An H100 of the SXM form.
    pub const H100: Facts = Facts { l2: 50 << 20, memory_clock: 2_619_000, memory_bus: 5120, ..Facts::H200 };

    /// An A100.
    pub const A100: Facts = Facts {
        sm: 80,
        multiprocessors: 108,
        shared_memory: 163 * 1024,
        l2: 40 << 20,
        clock: 1_410_000,
        memory_clock: 1_215_000,
        memory_bus: 5120,
    };

    /// An A40.
    pub const A40: Facts = Facts {
        sm: 86,
        multiprocessors: 84,
        shared_memory: 99 * 1024,
        l2: 6 << 20,
        clock: 1_740_000,
        memory_clock: 7_251_000,
        memory_bus: 384,
    };

    /// An L40S.
    pub const L40S: Facts = Facts {
        sm: 89,
        multiprocessors: 142,
        shared_memory: 99 * 1024,
        l2: 96 << 20,
        clock: 2_520_000,
        memory_clock: 9_001_000,
        memory_bus: 384,
    };

    /// A B200.
    pub const B200: Facts = Facts {
        sm: 100,
        multiprocessors: 148,
        shared_memory: 227 * 1024,
        l2: 126 << 20,
        clock: 1_965_000,
        memory_clock: 3_996_000,
        memory_bus: 8192,
    };

    /// GPUs by architecture, for prebuilding kernels; the first one of an architecture represents it. The choice of kernels also depends on bandwidth, so two GPUs
    /// of one architecture may need different kernels.
    pub const NAMED: [(&'static str, Facts); 6] =
        [("80", Facts::A100), ("86", Facts::A40), ("89", Facts::L40S), ("90", Facts::H200), ("90", Facts::H100), ("100", Facts::B200)];

    /// The representative GPU of an architecture, such as `90`.
    pub fn named(name: &str) -> Option<Facts> {
        Facts::all(name).next()
    }

    /// All GPUs of an architecture.
    pub fn all(name: &str) -> impl Iterator<Item = Facts> {
        Facts::NAMED.iter().filter(move |n| n.0 == name).map(|n| n.1)
    }

    /// The architecture that kernels are compiled for, such as `sm_90a`: from Hopper on with the architecture-specific instructions.
    pub fn architecture(&self) -> String {
        let specific = if self.sm >= 90 && self.sm < 120 { "a" } else { "" };
        format!("sm_{}{specific}", self.sm)
    }
}
