//! Backend descriptors: a program sets their attributes, finalizes them, and uses them as attributes of others.
//!
//! The program's handle is not an address but an index into a registry of the process, so that destroyed and invalid handles are detected. Finalizing freezes the
//! values; parents share frozen values, so that a program may destroy descriptors in any order.

use super::engine::{Config, Engine};
use super::graph::Graph;
use super::pack::Pack;
use super::plan::{KernelCache, Plan};
use super::schema::{self, Descriptor, Type};
use super::tensor::TensorDesc;
use crate::enums::*;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime::fork::{self, Locked};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

/// The elements of an attribute.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Integers, enumerators, booleans.
    Ints(Vec<i64>),
    Reals(Vec<f64>),
    Fractions(Vec<[i64; 2]>),
    Bytes(Vec<u8>),
    Addresses(Vec<Data>),
    Objects(Vec<Arc<Frozen>>),
}

impl Value {
    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        match self {
            Value::Ints(v) => v.len(),
            Value::Reals(v) => v.len(),
            Value::Fractions(v) => v.len(),
            Value::Bytes(v) => v.len(),
            Value::Addresses(v) => v.len(),
            Value::Objects(v) => v.len(),
        }
    }
}

/// An attribute's elements with their type.
#[derive(Clone, Debug)]
pub(crate) struct Typed {
    pub(crate) kind: Type,
    pub(crate) value: Value,
}

/// Attributes by name (`cudnnBackendAttributeName_t`).
pub(crate) type Values = BTreeMap<i32, Typed>;

/// The object that finalizing created.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// Nothing but the values.
    Values,
    Tensor(Arc<TensorDesc>),
    Graph(Arc<Graph>),
    Engine(Engine),
    Config(Config),
    Heuristics(Vec<Arc<Frozen>>),
    Plan(Arc<Plan>),
    Pack(Arc<Pack>),
    Cache(Arc<KernelCache>),
}

/// A finalized descriptor.
#[derive(Debug)]
pub(crate) struct Frozen {
    pub(crate) descriptor: &'static Descriptor,
    pub(crate) values: Values,
    pub(crate) body: Body,
}

/// A program's handle of a descriptor.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) descriptor: &'static Descriptor,
    state: Mutex<State>,
}

/// A descriptor in the making, or made.
#[derive(Debug)]
pub(crate) enum State {
    Open(Values),
    Done(Arc<Frozen>),
}

impl Object {
    pub(crate) fn lock(&self) -> Locked<'_, State> {
        fork::lock(&self.state)
    }

    /// The finalized object.
    ///
    /// # Errors
    /// `BAD_PARAM_NOT_FINALIZED`.
    pub(crate) fn frozen(&self) -> Result<Arc<Frozen>, Failure> {
        match &*self.lock() {
            State::Done(frozen) => Ok(frozen.clone()),
            State::Open(_) => {
                let what = format_args!("a descriptor of type {} is not finalized, call cudnnBackendFinalize on it", self.descriptor.name);
                Err(Failure::new(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, what))
            }
        }
    }
}

/// Shards of the registry, each with a lock.
const PARTS: usize = 16;
/// Distance between handles, and the first one: they look like addresses but are not.
const STEP: usize = 64;

type Part = Mutex<HashMap<usize, Arc<Object>>>;

static LIVE: LazyLock<[Part; PARTS]> = LazyLock::new(Default::default);
static NEXT: AtomicUsize = AtomicUsize::new(STEP);

fn part(number: usize) -> Locked<'static, HashMap<usize, Arc<Object>>> {
    fork::lock(&LIVE[number / STEP % PARTS])
}

/// A new descriptor of the type `id`.
///
/// # Errors
/// `BAD_PARAM` for an unknown type.
pub(crate) fn create(id: i32) -> Result<Data, Failure> {
    let descriptor = schema::descriptor(id)
        .ok_or_else(|| Failure::invalid("descriptorType", id, format_args!("0 to {}", schema::TYPES_OF_DESCRIPTORS - 1)))?;
    let number = NEXT.fetch_add(STEP, Ordering::Relaxed);
    let object = Object { descriptor, state: Mutex::new(State::Open(Values::new())) };
    part(number).insert(number, Arc::new(object));
    Ok(Data::NULL.behind(number))
}

/// The descriptor of a handle.
///
/// # Errors
/// `BAD_PARAM_NULL_POINTER`, `BAD_PARAM` for handles that are not of a living descriptor.
pub(crate) fn find(name: &str, at: Data) -> Result<Arc<Object>, Failure> {
    let found = part(at.some(name)?.number()).get(&at.number()).cloned();
    found.ok_or_else(|| Failure::invalid(name, format_args!("{:#x}", at.number()), "a descriptor that was created and not destroyed"))
}

/// Drops the program's reference to a descriptor; null is legal.
///
/// # Errors
/// `BAD_PARAM` for handles that are not of a living descriptor.
pub(crate) fn destroy(at: Data) -> Result<(), Failure> {
    if at.is_null() {
        return Ok(());
    }
    let object = find("descriptor", at)?;
    let gone = part(at.number()).remove(&at.number());
    drop((object, gone));
    Ok(())
}

impl Frozen {
    /// The integer of an attribute with one element.
    pub(crate) fn int(&self, id: i32) -> Option<i64> {
        self.ints(id).first().copied()
    }

    /// The integers of an attribute; empty if it is not set.
    pub(crate) fn ints(&self, id: i32) -> &[i64] {
        ints(&self.values, id)
    }

    /// The floating-point value of an attribute with one element.
    pub(crate) fn real(&self, id: i32) -> Option<f64> {
        match &self.values.get(&id)?.value {
            Value::Reals(v) => v.first().copied(),
            Value::Ints(v) => v.first().map(|&v| v as f64),
            _ => None,
        }
    }

    /// Whether an attribute is set and true.
    pub(crate) fn flag(&self, id: i32) -> bool {
        self.int(id).is_some_and(|v| v != 0)
    }

    /// Whether an attribute is set.
    pub(crate) fn has(&self, id: i32) -> bool {
        self.values.get(&id).is_some_and(|t| t.value.len() > 0)
    }

    /// The descriptors of an attribute.
    pub(crate) fn objects(&self, id: i32) -> &[Arc<Frozen>] {
        match self.values.get(&id).map(|t| &t.value) {
            Some(Value::Objects(v)) => v,
            _ => &[],
        }
    }

    /// The descriptor of an attribute with one element.
    pub(crate) fn object(&self, id: i32) -> Option<&Arc<Frozen>> {
        self.objects(id).first()
    }

    /// The tensor of an attribute with one element.
    pub(crate) fn tensor(&self, id: i32) -> Option<&Arc<TensorDesc>> {
        self.object(id).and_then(|o| o.as_tensor())
    }

    pub(crate) fn as_tensor(&self) -> Option<&Arc<TensorDesc>> {
        if let Body::Tensor(t) = &self.body { Some(t) } else { None }
    }

    pub(crate) fn as_graph(&self) -> Option<&Arc<Graph>> {
        if let Body::Graph(g) = &self.body { Some(g) } else { None }
    }

    pub(crate) fn as_config(&self) -> Option<&Config> {
        if let Body::Config(c) = &self.body { Some(c) } else { None }
    }

    pub(crate) fn as_engine(&self) -> Option<&Engine> {
        if let Body::Engine(e) = &self.body { Some(e) } else { None }
    }
}

/// The integers of an attribute; empty if it is not set.
pub(crate) fn ints(values: &Values, id: i32) -> &[i64] {
    match values.get(&id).map(|t| &t.value) {
        Some(Value::Ints(v)) => v,
        _ => &[],
    }
}
