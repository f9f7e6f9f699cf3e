//! Autotuning results (`oxidnn bench --tune`): tile shapes that were measured on this GPU override the choice of the time model (`ops::gemm::shape`).

use crate::CudaTarget;
use crate::compile;
use crate::driver::CudaError;
use crate::ops::{Choice, Request, Shape, candidates};
use oxidnn_runtime::fork;
use oxidnn_runtime::store::Store;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Mutex;

/// The measured tile shapes of one GPU model, kept in the kernel store.
#[derive(Default, Debug)]
pub struct Tuned {
    /// The key in the store: GPU model and version of this crate.
    key: Vec<u8>,
    state: Mutex<State>,
}

#[derive(Default, Debug)]
struct State {
    chosen: HashMap<Request, Shape>,
    /// Requests of plans, while they are recorded.
    asked: Option<Vec<Request>>,
}

/// A product to tune and its candidate tiles, in the order of the time model.
#[derive(Debug)]
pub struct Product {
    request: Request,
    tiles: Vec<Choice>,
}

impl Product {
    /// Number of candidates.
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }
}

impl Tuned {
    /// The shapes that the store has for a GPU model; none without a store.
    pub(crate) fn of(gpu: &str) -> Tuned {
        let key = format!("tuned\0{}\0{gpu}", env!("CARGO_PKG_VERSION")).into_bytes();
        let chosen = compile::store().map(|store| kept(&store, &key)).unwrap_or_default();
        Tuned { key, state: Mutex::new(State { chosen, asked: None }) }
    }

    /// The measured tile shape of a product.
    pub(crate) fn shape(&self, request: &Request) -> Option<Shape> {
        let mut state = fork::lock(&self.state);
        if let Some(asked) = state.asked.as_mut().filter(|all| !all.contains(request)) {
            asked.push(*request);
        }
        state.chosen.get(request).copied()
    }

    /// Runs `work` and returns the products that its plans asked for.
    pub fn watch<T>(&self, target: &CudaTarget, work: impl FnOnce() -> T) -> (T, Vec<Product>) {
        fork::lock(&self.state).asked = Some(Vec::new());
        let done = work();
        let asked = fork::lock(&self.state).asked.take().unwrap_or_default();
        let product = |request: Request| Product { request, tiles: candidates(&request, &target.facts) };
        (done, asked.into_iter().map(product).collect())
    }

    /// Makes plans from now on use candidate `i` for this product.
    pub fn choose(&self, product: &Product, i: usize) {
        if let Some(tile) = product.tiles.get(i) {
            fork::lock(&self.state).chosen.insert(product.request, tile.shape);
        }
    }

    /// Saves all choices to the store, beside those that other processes have saved since.
    ///
    /// # Errors
    /// [`CudaError::Store`] if there is none, or it cannot be written.
    pub fn save(&self) -> Result<(), CudaError> {
        let put = |store: Store| {
            let mut all = kept(&store, &self.key);
            all.extend(&fork::lock(&self.state).chosen);
            let mut lines: Vec<String> = all.iter().map(|(request, shape)| written(request, shape)).collect();
            lines.sort_unstable();
            store.put(&self.key, lines.concat().as_bytes()).map_err(|e| e.to_string())
        };
        let none = || Err("there is no kernel store: no cache directory, or the knob KERNEL_STORE is 0".into());
        compile::store().map_or_else(none, put).map_err(|why| CudaError::Store { why })
    }
}

/// The choices that the store has.
fn kept(store: &Store, key: &[u8]) -> HashMap<Request, Shape> {
    let kept = store.get(key).unwrap_or_default();
    String::from_utf8_lossy(&kept).lines().filter_map(read).collect()
}

/// Serialises a choice as a line of numbers.
fn written(r: &Request, s: &Shape) -> String {
    let flags = [r.a_mn, r.b_mn, r.swapped, r.promote, r.aligned, r.window, r.undivided, r.scattered, r.planes, r.computed, r.shared]
        .map(i64::from);
    let numbers = [r.m, r.n, r.k, r.batch, r.bytes, r.result_bytes, r.taps, r.period, r.unit].into_iter().chain(flags);
    let mut line = String::new();
    for n in numbers.chain([s.m, s.n, s.consumers, s.cluster[0], s.cluster[1], s.split, i64::from(s.alternate), i64::from(s.transposed)]) {
        let _ = write!(line, "{n} ");
    }
    line.push('\n');
    line
}

/// Parses a line; `None` if it is not a choice.
fn read(line: &str) -> Option<(Request, Shape)> {
    let all: Vec<i64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let &[
        m,
        n,
        k,
        batch,
        bytes,
        result_bytes,
        taps,
        period,
        unit,
        a_mn,
        b_mn,
        swapped,
        promote,
        aligned,
        window,
        undivided,
        scattered,
        planes,
        computed,
        shared,
        tm,
        tn,
        consumers,
        down,
        across,
        split,
        alternate,
        transposed,
    ] = all.as_slice()
    else {
        return None;
    };
    let [a_mn, b_mn, swapped, promote] = [a_mn, b_mn, swapped, promote].map(|v| v != 0);
    let [aligned, window, undivided, scattered, planes, computed, shared] =
        [aligned, window, undivided, scattered, planes, computed, shared].map(|v| v != 0);
    let request = Request {
        m,
        n,
        k,
        batch,
        bytes,
        result_bytes,
        a_mn,
        b_mn,
        swapped,
        promote,
        aligned,
        window,
        undivided,
        scattered,
        planes,
        computed,
        taps,
        shared,
        period,
        unit,
    };
    let [alternate, transposed] = [alternate, transposed].map(|v| v != 0);
    Some((request, Shape { m: tm, n: tn, consumers, cluster: [down, across], split, alternate, transposed }))
}

#[cfg(test)]
mod tests;
