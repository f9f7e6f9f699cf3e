//! Variant packs: the addresses and sizes of one execution.

use super::object::{Value, Values, ints};
use crate::enums::*;
use crate::pointers::{Data, host_bytes};
use crate::status::Failure;
use oxidnn_spec::Dims;
use std::collections::BTreeMap;

/// Sizes and strides that a tensor has in one execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    pub(crate) dims: Dims,
    pub(crate) strides: Dims,
}

/// Addresses by the unique ids of tensors.
#[derive(Clone, Debug)]
pub(crate) struct Pack {
    /// Sorted by id.
    addresses: Vec<(i64, Data)>,
    pub(crate) workspace: Data,
    /// Sizes that differ from those of the graph.
    pub(crate) overrides: BTreeMap<i64, Sizes>,
}

impl Pack {
    /// The pack that the attributes describe.
    ///
    /// # Errors
    /// `BAD_PARAM` for lists of different lengths, `BAD_PARAM_DUPLICATED_ENTRIES` for a number twice.
    pub(crate) fn new(values: &Values) -> Result<Pack, Failure> {
        let list = |id| match values.get(&id).map(|t| &t.value) {
            Some(Value::Addresses(v)) => &v[..],
            _ => &[],
        };
        let (uids, pointers) = (ints(values, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS), list(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS));
        let equal = |what: &str, got: usize, expected: usize| match got == expected {
            true => Ok(()),
            false => Err(Failure::invalid(what, format_args!("{got} of them"), format_args!("{expected}, one a unique id"))),
        };
        equal("VARIANT_PACK_DATA_POINTERS", pointers.len(), uids.len())?;
        let mut addresses: Vec<(i64, Data)> = uids.iter().copied().zip(pointers.iter().copied()).collect();
        addresses.sort_by_key(|a| a.0);
        if let Some(twice) = addresses.windows(2).find(|w| w[0].0 == w[1].0) {
            let what = format_args!("VARIANT_PACK_UNIQUE_IDS: {} twice", twice[0].0);
            return Err(Failure::new(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES, what));
        }
        let changed = ints(values, CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS);
        let (dims, strides) = (list(CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES), list(CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES));
        let (dims, strides) = (lists(dims, changed.len())?, lists(strides, changed.len())?);
        let overrides = changed.iter().zip(dims).zip(strides).map(|((&uid, d), s)| (uid, Sizes { dims: d, strides: s })).collect();
        let workspace = list(CUDNN_ATTR_VARIANT_PACK_WORKSPACE).first().copied().unwrap_or(Data::NULL);
        Ok(Pack { addresses, workspace, overrides })
    }

    /// The pack of these addresses, sorted by id.
    pub(crate) fn of(addresses: Vec<(i64, Data)>, workspace: Data) -> Pack {
        Pack { addresses, workspace, overrides: BTreeMap::new() }
    }

    /// The address of the tensor `uid`.
    pub(crate) fn address(&self, uid: i64) -> Option<Data> {
        self.addresses.binary_search_by_key(&uid, |a| a.0).ok().map(|i| self.addresses[i].1)
    }
}

/// Lists of integers as cudnn-frontend passes them: the elements of a C++ `std::vector<std::vector<int64_t>>`, each of which consists of the
/// addresses of its begin, its end and its end of storage.
fn lists(at: &[Data], count: usize) -> Result<Vec<Dims>, Failure> {
    const NAME: &str = "VARIANT_PACK_OVERRIDE_SHAPES";
    if count == 0 {
        return Ok(Vec::new());
    }
    let first = at.first().copied().unwrap_or(Data::NULL).some(NAME)?;
    let words: Vec<usize> = host_bytes(first, count * 24).as_chunks::<8>().0.iter().map(|w| usize::from_le_bytes(*w)).collect();
    let one = |vector: &[usize; 3]| {
        let bytes = vector[1].wrapping_sub(vector[0]);
        if bytes > 12 * 8 || !bytes.is_multiple_of(8) {
            return Err(Failure::invalid(NAME, format_args!("a list of {bytes} bytes"), "at most 12 numbers"));
        }
        numbers(Data::NULL.behind(vector[0]), bytes / 8)
    };
    words.as_chunks::<3>().0.iter().map(one).collect()
}

/// `rank` 64-bit integers.
fn numbers(at: Data, rank: usize) -> Result<Dims, Failure> {
    let bytes = host_bytes(at.some("VARIANT_PACK_OVERRIDE_SHAPES")?, rank * 8);
    let list: Vec<i64> = bytes.as_chunks::<8>().0.iter().map(|w| i64::from_le_bytes(*w)).collect();
    Dims::new(&list).ok_or_else(|| Failure::invalid("VARIANT_PACK_OVERRIDE_SHAPES", rank, "at most 12 sizes"))
}
