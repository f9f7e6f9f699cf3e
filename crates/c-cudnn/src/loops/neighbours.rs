//! Aggregation over the neighbours of a graph's nodes.

use super::view::{host, load, store};
use crate::handle::Handle;
use crate::pointers::{Data, host_bytes, host_bytes_mut};
use crate::status::Failure;
use oxidnn_spec::DataType;

/// The aggregation of neighbours' features.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Aggregate {
    Sum,
    Mean,
    Greatest,
    Least,
}

impl Aggregate {
    /// Whether a single neighbour determines the result.
    pub(crate) fn is_extremum(self) -> bool {
        matches!(self, Aggregate::Greatest | Aggregate::Least)
    }
}

/// Neighbours of each destination node: their indices, and the rows of their edges.
pub(crate) struct Rows {
    offsets: Vec<i64>,
    /// Source node, and row in the table of edges.
    neighbours: Vec<(i64, i64)>,
}

/// Channels of nodes and edges, and of features that are copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    pub(crate) dtype: DataType,
    pub(crate) nodes: i64,
    pub(crate) edges: i64,
    pub(crate) passed: i64,
}

/// The rows of destination nodes, or their gradients, and the positions of extrema.
#[derive(Clone, Copy)]
pub(crate) struct Results {
    pub(crate) table: Data,
    pub(crate) positions: Data,
    /// The type of positions.
    pub(crate) index: DataType,
}

/// One element of a table.
fn number(dtype: DataType, data: Data, at: i64) -> f64 {
    let width = dtype.bits() / 8;
    load(dtype, host_bytes(data.behind(at as usize * width), width))
}

fn put(dtype: DataType, data: Data, at: i64, value: f64) {
    let width = dtype.bits() / 8;
    store(dtype, host_bytes_mut(data.behind(at as usize * width), width), value);
}

fn index(dtype: DataType, data: Data, at: i64) -> i64 {
    let bytes = host_bytes(data.behind(at as usize * (dtype.bits() / 8)), dtype.bits() / 8);
    match *bytes {
        [a, b, c, d] => i64::from(i32::from_ne_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

fn put_index(dtype: DataType, data: Data, at: i64, value: i64) -> Result<(), Failure> {
    match dtype {
        DataType::S32 => data.behind(at as usize * 4).write("outPositions", value as i32),
        _ => data.behind(at as usize * 8).write("outPositions", value),
    }
}

impl Rows {
    /// A graph of `[destinations, edges, sources]` from its offsets, its indices and the rows of its edges, if these are in another order.
    ///
    /// # Errors
    /// `BAD_PARAM` for decreasing offsets, and for invalid indices of nodes or edges.
    pub(crate) fn read(handle: &Handle, dtype: DataType, [offsets, indices, edges]: [Data; 3], sizes: [i64; 3]) -> Result<Rows, Failure> {
        host(handle)?;
        let [destinations, count, sources] = sizes;
        let offsets = offsets.some("graph.cscOffsets")?;
        let offsets: Vec<i64> = (0..=destinations).map(|n| index(dtype, offsets, n)).collect();
        let grows = offsets.windows(2).all(|w| w[0] <= w[1]);
        if !grows || offsets.first().is_some_and(|&o| o < 0) || offsets.last().is_some_and(|&o| o > count) {
            return Err(Failure::invalid(
                "graph.cscOffsets",
                "offsets that shrink or leave the list",
                format_args!("0 to {count}, growing"),
            ));
        }
        if count > 0 {
            indices.some("graph.cscIndices")?;
        }
        let neighbours: Vec<(i64, i64)> =
            (0..count).map(|e| (index(dtype, indices, e), if edges.is_null() { e } else { index(dtype, edges, e) })).collect();
        match neighbours.iter().find(|(s, e)| !(0..sources).contains(s) || !(0..count).contains(e)) {
            Some(wrong) => Err(Failure::invalid(
                "graph.cscIndices and mapCscToCoo",
                format_args!("{wrong:?}"),
                format_args!("less than {sources} and {count}"),
            )),
            None => Ok(Rows { offsets, neighbours }),
        }
    }

    /// The neighbours of each destination node.
    fn each(&self) -> impl Iterator<Item = &[(i64, i64)]> {
        self.offsets.windows(2).map(|w| &self.neighbours[w[0] as usize..w[1] as usize])
    }
}

impl Features {
    /// Tables to aggregate: whether of edges, offset of the results in a row, number of channels.
    fn tables(&self) -> [(bool, i64, i64); 2] {
        [(false, 0, self.nodes), (true, self.nodes, self.edges)]
    }

    fn row(&self) -> i64 {
        self.nodes + self.edges + self.passed
    }

    /// Aggregates nodes and edges, and copies features, one row per destination node; stores positions of extrema.
    ///
    /// # Errors
    /// Only for null addresses.
    pub(crate) fn gather(&self, rows: &Rows, op: Aggregate, given: [Data; 3], to: Results) -> Result<(), Failure> {
        let Results { table: output, positions, index: index_type } = to;
        for (n, neighbours) in rows.each().enumerate() {
            let n = n as i64;
            for (of_edges, first, channels) in self.tables() {
                let table = given[usize::from(of_edges)];
                for c in 0..channels {
                    let row = |&(source, edge): &(i64, i64)| if of_edges { edge } else { source };
                    let values = neighbours.iter().map(row).map(|r| (r, number(self.dtype, table, r * channels + c)));
                    let (position, value) = aggregated(op, values, neighbours.len());
                    put(self.dtype, output, n * self.row() + first + c, value);
                    if op.is_extremum() {
                        put_index(index_type, positions, n * (self.nodes + self.edges) + first + c, position)?;
                    }
                }
            }
            for c in 0..self.passed {
                put(self.dtype, output, n * self.row() + self.nodes + self.edges + c, number(self.dtype, given[2], n * self.passed + c));
            }
        }
        Ok(())
    }

    /// Gradients: accumulated for nodes and edges, written for the copied features.
    ///
    /// # Errors
    /// `BAD_PARAM` for invalid positions.
    pub(crate) fn scatter(&self, rows: &Rows, op: Aggregate, given: Results, wanted: [Data; 3]) -> Result<(), Failure> {
        let Results { table: gradient, positions, index: index_type } = given;
        for (n, neighbours) in rows.each().enumerate() {
            let n = n as i64;
            for (of_edges, first, channels) in self.tables() {
                let table = wanted[usize::from(of_edges)];
                let add = |row: i64, c: i64, value: f64| {
                    let at = row * channels + c;
                    put(self.dtype, table, at, number(self.dtype, table, at) + value);
                };
                let row = |&(source, edge): &(i64, i64)| if of_edges { edge } else { source };
                for c in 0..channels {
                    let value = number(self.dtype, gradient, n * self.row() + first + c);
                    if op.is_extremum() {
                        let position = index(index_type, positions, n * (self.nodes + self.edges) + first + c);
                        match neighbours.iter().map(row).find(|&r| r == position) {
                            Some(row) => add(row, c, value),
                            None if neighbours.is_empty() => {}
                            None => return Err(Failure::invalid("outPositions", position, "what the forward pass wrote")),
                        }
                        continue;
                    }
                    let share = if op == Aggregate::Mean { value / neighbours.len().max(1) as f64 } else { value };
                    neighbours.iter().map(row).for_each(|r| add(r, c, share));
                }
            }
            for c in 0..self.passed {
                put(self.dtype, wanted[2], n * self.passed + c, number(self.dtype, gradient, n * self.row() + self.nodes + self.edges + c));
            }
        }
        Ok(())
    }
}

/// The aggregate of values, and the position of the first extremum.
fn aggregated(op: Aggregate, values: impl Iterator<Item = (i64, f64)>, count: usize) -> (i64, f64) {
    let better = |a: f64, b: f64| if op == Aggregate::Greatest { a > b } else { a < b };
    let (mut position, mut result) = (-1, 0.0);
    for (at, value) in values {
        if !op.is_extremum() {
            result += value;
        } else if position < 0 || better(value, result) {
            (position, result) = (at, value);
        }
    }
    if op == Aggregate::Mean && count > 0 {
        result /= count as f64;
    }
    (position, result)
}
