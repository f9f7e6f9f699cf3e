//! `CpuDevice`: the processor as the runtime sees it.

use crate::kernels::code;
use crate::{CpuTarget, Limit, ops};
use oxidnn_runtime::{Device, Engine, EngineKind, Planned, Properties, Refused, Skip, plan_rows, threads};
use oxidnn_spec::Problem;

/// The processor, with the facts that plans depend on.
#[derive(Clone, Copy, Debug)]
pub struct CpuDevice {
    target: CpuTarget,
}

impl CpuDevice {
    /// A device that plans for `target`. Executing its plans needs a processor with the target's instruction set.
    pub fn new(target: CpuTarget) -> CpuDevice {
        CpuDevice { target }
    }

    /// The processor that runs this, within the knob `MAX_CPU_ISA`, with as many workers as the process-wide pool has.
    pub fn host() -> CpuDevice {
        CpuDevice::new(CpuTarget::limited(Limit::of_environment(), threads::default_threads()))
    }

    /// The facts that plans depend on.
    pub fn target(&self) -> &CpuTarget {
        &self.target
    }
}

impl Device for CpuDevice {
    fn kind(&self) -> EngineKind {
        EngineKind::Cpu
    }

    fn name(&self) -> String {
        self.target.isa.name().to_owned()
    }

    fn fingerprint(&self) -> String {
        format!("cpu {:?}", self.target)
    }

    fn properties(&self) -> Properties {
        Properties { ordinal: 0, host_visible: true, memory_bytes: None, units: self.target.threads }
    }

    fn is_short_of_code(&self) -> bool {
        code::is_full()
    }

    fn verbose_info(&self) -> Vec<String> {
        let generated = match (self.target.jit, code::refusal()) {
            (Some(jit), _) => jit.name(),
            (None, Some(why)) => why,
            (None, None) => "none for this instruction set",
        };
        vec![format!("cpu,isa:{}", self.name()), format!("cpu,generated code: {generated}")]
    }

    fn plan(&self, problem: &Problem, from_row: usize) -> Result<Planned, Refused> {
        let Some(why) = code::refusal() else { return plan_rows(ops::rows_for(problem), problem, &self.target, from_row) };
        let portable = CpuTarget { jit: None, ..self.target };
        let mut planned = plan_rows(ops::rows_for(problem), problem, &portable, from_row);
        let skipped = planned.as_mut().map_or_else(|refused| refused, |planned| &mut planned.skipped);
        for (_, skip) in skipped.iter_mut().filter(|(_, skip)| matches!(skip, Skip::Isa(needs) if needs.ends_with(CODE))) {
            *skip = Skip::Code(why);
        }
        planned
    }
}

/// How a skip's reason ends when the target has no generated code.
const CODE: &str = "or executable memory";

/// The engine of the processor that runs this.
pub fn engine() -> Engine {
    Engine::new(CpuDevice::host())
}
