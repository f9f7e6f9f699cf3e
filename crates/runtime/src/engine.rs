//! Engines: devices in use.
//!
//! Two engines over the same device are equal and share everything: code, caches, memory.

use crate::device::{Device, DeviceId, EngineKind, Properties, QueueSpec};
use crate::queue::Queue;
use crate::{Space, Threads, fork};
use oxidnn_spec::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A device in use; a cheap handle. Engines are equal where their devices are.
#[derive(Clone)]
pub struct Engine(Arc<EngineState>);

struct EngineState {
    id: DeviceId,
    properties: Properties,
    device: Box<dyn Device>,
    /// For copies that no stream asked for.
    service: OnceLock<Arc<dyn Queue>>,
}

impl Engine {
    /// An engine over `device`.
    pub fn new(device: impl Device) -> Engine {
        let (id, properties) = (DeviceId::of(&device.fingerprint()), device.properties());
        Engine(Arc::new(EngineState { id, properties, device: Box::new(device), service: OnceLock::new() }))
    }

    /// Which device it is.
    pub fn id(&self) -> DeviceId {
        self.0.id
    }

    /// CPU or GPU.
    pub fn kind(&self) -> EngineKind {
        self.0.device.kind()
    }

    /// Facts about the device.
    pub fn properties(&self) -> &Properties {
        &self.0.properties
    }

    /// True when the host reads and writes the device's memory at the same addresses.
    pub fn host_visible(&self) -> bool {
        self.0.properties.host_visible
    }

    /// The address space of its memory.
    pub fn space(&self) -> Space {
        if self.host_visible() { Space::Host } else { Space::Device(self.0.id) }
    }

    /// The device behind it.
    pub fn device(&self) -> &dyn Device {
        &*self.0.device
    }

    /// A queue for copies that belong to no stream, such as those of mappings.
    pub(crate) fn service(&self) -> Result<&Arc<dyn Queue>, Error> {
        if let Some(queue) = self.0.service.get() {
            return Ok(queue);
        }
        let queue = self.device().queue(&QueueSpec { threads: Threads::inline(), asynchronous: false })?;
        Ok(fork::once(&self.0.service, || queue))
    }
}

impl PartialEq for Engine {
    fn eq(&self, o: &Engine) -> bool {
        self.0.id == o.0.id
    }
}
impl Eq for Engine {}

/// `cpu#1(avx2)`: kind, number of the device, name.
impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}({})", self.kind(), self.id(), self.device().name())
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({self})")
    }
}
