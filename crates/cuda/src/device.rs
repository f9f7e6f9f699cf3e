//! `CudaDevice`: a GPU as a device of the runtime. Creates plans, memory and queues.

use crate::compile::Loader;
use crate::driver::{Block, Context, CudaError, Pool, count};
use crate::queue::CudaQueue;
use crate::row::resolved;
use crate::tuned::Tuned;
use crate::{CudaTarget, ops};
use oxidnn_runtime::{Allocation, Device, DeviceId, Engine, EngineKind, Planned, Properties, Queue, QueueSpec, Refused, Region};
use oxidnn_spec::{Error, Problem};
use std::sync::Arc;

/// A GPU with its context, memory pool and loaded kernels.
#[derive(Clone, Debug)]
pub struct CudaDevice {
    ordinal: usize,
    name: String,
    uuid: [u8; 16],
    memory: usize,
    pub(crate) context: Arc<Context>,
    pub(crate) pool: Arc<Pool>,
    target: CudaTarget,
    id: DeviceId,
}

impl CudaDevice {
    /// GPU `ordinal` with its primary context.
    ///
    /// # Errors
    /// [`CudaError`] without driver, GPU or memory.
    pub fn new(ordinal: usize) -> Result<CudaDevice, CudaError> {
        CudaDevice::over(Context::primary(ordinal)?, ordinal)
    }

    /// The GPU of an existing context.
    ///
    /// # Errors
    /// [`CudaError`].
    pub fn over(context: Arc<Context>, ordinal: usize) -> Result<CudaDevice, CudaError> {
        let (facts, name, uuid, memory) = (context.facts()?, context.name()?, context.uuid()?, context.memory()?);
        let loader = Arc::new(Loader::new(&context, &facts));
        let pool = Pool::new(&context, 0)?;
        let tuned = Arc::new(Tuned::of(&format!("{name} {facts:?}")));
        let mut device = CudaDevice {
            ordinal,
            name,
            uuid,
            memory,
            context,
            pool,
            target: CudaTarget::new(facts, Some(loader), Some(tuned)),
            id: DeviceId::of(""),
        };
        device.id = DeviceId::of(&device.fingerprint());
        Ok(device)
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// What plans are made from.
    pub fn target(&self) -> &CudaTarget {
        &self.target
    }

    /// An allocation as a region of this device's memory.
    pub(crate) fn region(&self, block: &Block) -> Region<'static> {
        Region::device(self.id, block.address(), block.bytes())
    }
}

impl Device for CudaDevice {
    fn kind(&self) -> EngineKind {
        EngineKind::Gpu
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn fingerprint(&self) -> String {
        let uuid: String = self.uuid.iter().map(|b| format!("{b:02x}")).collect();
        format!("cuda {} {} {:?} {:p}", self.name, uuid, self.target.facts, self.context.raw())
    }

    fn plan(&self, problem: &Problem, from_row: usize) -> Result<Planned, Refused> {
        let rows = ops::rows(&problem.op);
        let resolved =
            resolved(problem).map_err(|why| rows.iter().skip(from_row).map(|imp| (imp.name, why.clone())).collect::<Vec<_>>())?;
        let mut skipped = Vec::new();
        for (row, imp) in rows.iter().enumerate().skip(from_row) {
            match imp.plan_resolved(&resolved, &self.target) {
                Ok(plan) => return Ok(Planned { row, name: imp.name, plan: Box::new(plan), skipped }),
                Err(why) => skipped.push((imp.name, why)),
            }
        }
        Err(skipped)
    }

    fn verbose_info(&self) -> Vec<String> {
        let f = &self.target.facts;
        let (mib, l2) = (self.memory >> 20, f.l2 >> 20);
        vec![format!(
            "gpu,engine:{},name:{},{},multiprocessors:{},memory:{mib} MiB,l2:{l2} MiB",
            self.ordinal,
            self.name,
            f.architecture(),
            f.multiprocessors
        )]
    }

    fn properties(&self) -> Properties {
        Properties {
            ordinal: self.ordinal,
            host_visible: false,
            memory_bytes: Some(self.memory as u64),
            units: self.target.facts.multiprocessors as usize,
        }
    }

    fn allocate(&self, bytes: usize) -> Result<Allocation, Error> {
        let block = self.pool.allocate(bytes, None)?;
        let region = self.region(&block);
        // SAFETY: the block is this value's own, and frees its memory when it is dropped.
        Ok(unsafe { Allocation::device(region, Box::new(block)) })
    }

    fn queue(&self, _: &QueueSpec) -> Result<Arc<dyn Queue>, Error> {
        Ok(Arc::new(CudaQueue::new(self)?))
    }
}

/// A new engine of GPU `ordinal`.
///
/// # Errors
/// [`CudaError`] without driver or GPU.
pub fn engine(ordinal: usize) -> Result<Engine, CudaError> {
    Ok(Engine::new(CudaDevice::new(ordinal)?))
}

/// Number of GPUs; 0 without a driver.
pub fn engines() -> usize {
    count().unwrap_or(0)
}
