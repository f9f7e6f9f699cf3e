//! The implementations of every operation: one table of rows per operation, in the order of preference. The first row that can lower a problem is used.

mod align;
mod attention;
mod backward;
mod between;
mod columns;
mod columns_kept;
mod columns_vector;
mod compensation;
mod conv;
mod depthwise;
mod dynamic;
mod gemm;
mod lrn;
mod map;
mod matmul;
mod norm;
mod planes;
mod planes_kept;
mod pointwise;
mod products;
mod reductions;
mod rnn;
mod rows;
mod rows_vector;
mod sdpa;
mod sparse;
mod spread_planes;
mod strips;
mod transpose;
mod windows;
mod zero;

pub(crate) use gemm::{Choice, Request, Shape, candidates};

use crate::row::Row;
use oxidnn_spec::Op;

const POINTWISE: &[Row] = &[Row { name: "map:generic", lower: pointwise::lower }];
const PRELU: &[Row] = &[Row { name: "map:generic", lower: pointwise::lower }, Row { name: "rows:generic", lower: reductions::prelu }];
const SHUFFLE: &[Row] = &[Row { name: "map:generic", lower: pointwise::shuffle }];
const CONCAT: &[Row] = &[Row { name: "map:generic", lower: pointwise::concat }];
const REORDER: &[Row] = &[
    Row { name: "transpose:generic", lower: transpose::reorder },
    Row { name: "align:generic", lower: align::reorder },
    Row { name: "map:generic", lower: pointwise::reorder },
    Row { name: "rows:generic", lower: dynamic::reorder },
];
const REDUCTION: &[Row] = &[Row { name: "rows:generic", lower: reductions::reduction }];
const SOFTMAX: &[Row] = &[Row { name: "rows:generic", lower: reductions::softmax }];
const NORM: &[Row] = &[Row { name: "rows:generic", lower: norm::lower }];
const POOL: &[Row] = &[Row { name: "windows:generic", lower: windows::pool }];
const RESAMPLING: &[Row] = &[Row { name: "windows:generic", lower: windows::resampling }];
const LRN: &[Row] = &[Row { name: "windows:generic", lower: lrn::lrn }];
const GEMV: Row = Row { name: "gemv:sm80", lower: gemm::matmul_rows };
const FOUR_BITS: Row = Row { name: "w4:sm90", lower: gemm::four_bits };
const GEMM: Row = Row { name: "gemm:sm90", lower: gemm::matmul };
const MMA: Row = Row { name: "gemm:sm80", lower: gemm::matmul_mma };
const FMA: Row = Row { name: "gemm:f32", lower: gemm::simt::matmul };
const TILES: Row = Row { name: "tiles:generic", lower: matmul::matmul };
const MATMUL: &[Row] = &[
    GEMV,
    FOUR_BITS,
    GEMM,
    MMA,
    FMA,
    TILES,
    Row { name: "rows:generic", lower: dynamic::matmul },
    Row { name: "sparse:generic", lower: sparse::matmul },
];
/// The rows for two dense operands; the last one takes any alignment.
const DENSE_MATMUL: &[Row] = &[GEMV, FOUR_BITS, GEMM, MMA, FMA, TILES];
const INNER_PRODUCT: &[Row] = &[
    Row { name: "gemv:sm80", lower: gemm::inner_rows },
    Row { name: "gemm:sm90", lower: gemm::inner_product },
    Row { name: "gemm:sm80", lower: gemm::inner_mma },
    Row { name: "gemm:f32", lower: gemm::simt::inner_product },
    Row { name: "tiles:generic", lower: matmul::inner_product },
];
const CONV: &[Row] = &[
    Row { name: "gemm:sm90", lower: gemm::pointwise_conv },
    Row { name: "stem:sm90", lower: gemm::stem::conv },
    Row { name: "first:sm90", lower: gemm::first::conv },
    Row { name: "window:sm90", lower: gemm::window },
    Row { name: "weights:sm90", lower: gemm::weights::weights },
    Row { name: "slices:sm90", lower: gemm::slices::conv },
    Row { name: "groups:sm80", lower: gemm::groups::conv },
    Row { name: "planar:sm90", lower: gemm::planar::conv },
    Row { name: "gemm:sm80", lower: gemm::pointwise_last_mma },
    Row { name: "between:sm90", lower: between::lower },
    Row { name: "gemm:sm80", lower: gemm::pointwise_conv_mma },
    Row { name: "gemm:f32", lower: gemm::simt::pointwise_conv },
    Row { name: "conv:f32", lower: gemm::conv_f32::lower },
    Row { name: "depthwise:sm90", lower: gemm::depthwise::conv },
    Row { name: "depthwise:generic", lower: depthwise::conv },
    Row { name: "few:generic", lower: depthwise::few_channels },
    Row { name: "slices:sm90", lower: gemm::slices::any },
    Row { name: "between:sm90", lower: between::depthwise },
    Row { name: "tiles:generic", lower: conv::conv },
];
const DECONV: &[Row] = &[
    Row { name: "window:sm90", lower: gemm::window },
    Row { name: "weights:sm90", lower: gemm::weights::weights },
    Row { name: "slices:sm90", lower: gemm::slices::any },
    Row { name: "between:sm90", lower: between::lower },
    Row { name: "conv:f32", lower: gemm::conv_f32::lower },
    Row { name: "tiles:generic", lower: conv::deconv },
];
const RNN: &[Row] = &[Row { name: "steps:generic", lower: rnn::lower }];
const SDPA: &[Row] = &[
    Row { name: "attention:sm90", lower: attention::lower },
    Row { name: "backward:sm80", lower: backward::lower },
    Row { name: "tiles:generic", lower: sdpa::lower },
];

/// The quotient, rounded up.
const fn ceil(n: i64, d: i64) -> i64 {
    n / d + (n % d != 0) as i64
}

/// The rows of an operation, in the order of preference.
pub fn rows(op: &Op) -> &'static [Row] {
    match op {
        Op::Eltwise(_) | Op::Binary(_) | Op::Sum(_) => POINTWISE,
        Op::Prelu(_) => PRELU,
        Op::Shuffle(_) => SHUFFLE,
        Op::Concat(_) => CONCAT,
        Op::Reorder(_) => REORDER,
        Op::Reduction(_) => REDUCTION,
        Op::Softmax(_) => SOFTMAX,
        Op::BatchNorm(_) | Op::LayerNorm(_) | Op::GroupNorm(_) => NORM,
        Op::Pool(_) => POOL,
        Op::Resampling(_) => RESAMPLING,
        Op::Lrn(_) => LRN,
        Op::Matmul(_) => MATMUL,
        Op::InnerProduct(_) => INNER_PRODUCT,
        Op::Conv(_) => CONV,
        Op::Deconv(_) => DECONV,
        Op::Sdpa(_) => SDPA,
        Op::Rnn(_) => RNN,
    }
}
