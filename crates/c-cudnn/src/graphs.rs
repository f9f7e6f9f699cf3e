//! Aggregation over the neighbours of graph nodes (`cudnnGnnAggSimple*`): sums, means and extrema.

use crate::enums::*;
use crate::handle::Handle;
use crate::loops::neighbours::{Aggregate, Features, Results, Rows};
use crate::pointers::{Data, In};
use crate::status::{Failure, Status, guard};
use crate::values;
use oxidnn_spec::DataType;

/// `cudnnGnnCscGraph_t`: for each destination node a range of indices of its sources.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CscGraph {
    offsets: Data,
    indices: Data,
    edges: Data,
    reversed: Data,
    sources: i64,
    destinations: i64,
    count: i64,
    index_type: i32,
}

/// Channels of nodes, of edges, and of features that are copied.
fn features(sizes: [i32; 3], number: i32) -> Result<Features, Failure> {
    let [nodes, edges, passed] = sizes.map(i64::from);
    if let Some((name, size)) = [("nodeFeatDim", nodes), ("edgeFeatDim", edges), ("concatFeatDim", passed)].iter().find(|s| s.1 < 0) {
        return Err(Failure::invalid(name, size, "at least 0"));
    }
    if nodes + edges == 0 {
        return Err(Failure::invalid("nodeFeatDim and edgeFeatDim", 0, "more than 0 of one of them"));
    }
    let dtype = values::data_type("dataType", number)?;
    if !matches!(dtype, DataType::F32 | DataType::F16 | DataType::Bf16) {
        return Err(Failure::new(
            CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
            format_args!("dataType: {dtype}, expected float, half or bfloat16"),
        ));
    }
    Ok(Features { dtype, nodes, edges, passed })
}

/// The graph, read and checked.
fn rows(stream: Data, graph: In<'_, CscGraph>) -> Result<(Rows, DataType), Failure> {
    let graph = graph.get("graph")?;
    let index = values::data_type("graph.idxType", graph.index_type)?;
    if !matches!(index, DataType::S32 | DataType::S64) {
        return Err(Failure::invalid("graph.idxType", index, "CUDNN_DATA_INT32 or CUDNN_DATA_INT64"));
    }
    for (name, size) in [("graph.nSrcNodes", graph.sources), ("graph.nDstNodes", graph.destinations), ("graph.nIndices", graph.count)] {
        if !(0..1 << 40).contains(&size) {
            return Err(Failure::invalid(name, size, "0 to 2^40"));
        }
    }
    let sizes = [graph.destinations, graph.count, graph.sources];
    Ok((Rows::read(Handle::of_stream(stream)?, index, [graph.offsets, graph.indices, graph.edges], sizes)?, index))
}

fn aggregate(number: i32) -> Result<Aggregate, Failure> {
    Ok(match values::check("aggOp", "cudnnGnnAggOp_t", number)? {
        CUDNN_GNN_AGG_SUM => Aggregate::Sum,
        CUDNN_GNN_AGG_MEAN => Aggregate::Mean,
        CUDNN_GNN_AGG_MAX => Aggregate::Greatest,
        _ => Aggregate::Least,
    })
}

/// An address that must not be null if there are channels.
fn needed(name: &str, data: Data, channels: i64) -> Result<Data, Failure> {
    if channels == 0 { Ok(data) } else { data.some(name) }
}

/// `cudnnGnnAggSimpleForward`. Positions are indices of source nodes, and of rows of the edge table; nodes without neighbours get -1 and an
/// aggregate of 0.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGnnAggSimpleForward(
    stream: Data,
    graph: In<'_, CscGraph>,
    node_features: Data,
    edge_features: Data,
    concat_features: Data,
    output: Data,
    out_positions: Data,
    node_feat_dim: i32,
    edge_feat_dim: i32,
    concat_feat_dim: i32,
    data_type: i32,
    agg_op: i32,
) -> Status {
    guard("cudnnGnnAggSimpleForward", || {
        let features = features([node_feat_dim, edge_feat_dim, concat_feat_dim], data_type)?;
        let ((rows, index), op) = (rows(stream, graph)?, aggregate(agg_op)?);
        let positions = if op.is_extremum() { out_positions.some("outPositions")? } else { Data::NULL };
        let given = [
            needed("nodeFeatures", node_features, features.nodes)?,
            needed("edgeFeatures", edge_features, features.edges)?,
            needed("concatFeatures", concat_features, features.passed)?,
        ];
        features.gather(&rows, op, given, Results { table: output.some("output")?, positions, index })
    })
}

/// `cudnnGnnAggSimpleBackward`: gradients of nodes and edges accumulate, in a fixed order.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGnnAggSimpleBackward(
    stream: Data,
    graph: In<'_, CscGraph>,
    grad_output: Data,
    out_positions: Data,
    grad_node_features: Data,
    grad_edge_features: Data,
    grad_concat_features: Data,
    node_feat_dim: i32,
    edge_feat_dim: i32,
    concat_feat_dim: i32,
    data_type: i32,
    agg_op: i32,
) -> Status {
    guard("cudnnGnnAggSimpleBackward", || {
        let features = features([node_feat_dim, edge_feat_dim, concat_feat_dim], data_type)?;
        let ((rows, index), op) = (rows(stream, graph)?, aggregate(agg_op)?);
        let positions = if op.is_extremum() { out_positions.some("outPositions")? } else { Data::NULL };
        let wanted = [
            needed("gradNodeFeatures", grad_node_features, features.nodes)?,
            needed("gradEdgeFeatures", grad_edge_features, features.edges)?,
            needed("gradConcatFeatures", grad_concat_features, features.passed)?,
        ];
        features.scatter(&rows, op, Results { table: grad_output.some("gradOutput")?, positions, index }, wanted)
    })
}
