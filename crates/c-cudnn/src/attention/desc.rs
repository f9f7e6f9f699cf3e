//! Descriptors of multi-head attention, and the layout of its weights.

use super::sequences::MOST_NUMBERS;
use crate::dropout::DropoutDesc;
use crate::enums::*;
use crate::handle::Handle;
use crate::pointers::{self, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use crate::values;
use oxidnn_spec::{DataType, Dims, Tensor};

/// Bit of the mode: keys have beams too. The header defines both bits as macros.
const ONE_TO_ONE: u32 = 1;
/// Bit of the mode: projections add biases.
const BIASES: u32 = 2;

/// The object behind a `cudnnAttnDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct AttnDesc {
    set: Option<Attention>,
}

/// Attention as the caller described it. Lists are in the order queries, keys, values, output.
#[derive(Clone, Debug)]
pub(super) struct Attention {
    mode: u32,
    pub(super) heads: i64,
    pub(super) scaler: f64,
    number: i32,
    /// The type of data and weights.
    pub(super) dtype: DataType,
    precision: i32,
    math: i32,
    /// Dropout of the softmax, and of the output.
    pub(super) dropouts: [Option<DropoutDesc>; 2],
    dropouts_at: [Data; 2],
    /// Channels of the vectors.
    pub(super) sizes: [i64; 3],
    /// Channels of a head in queries, keys and values, and of the output; 0 if there is no projection.
    pub(super) projections: [i64; 4],
    /// Time-steps of queries, and of keys.
    pub(super) longest: [i64; 2],
    pub(super) batch: i64,
    pub(super) beam: i64,
}

/// A weight or bias in the weight buffer: offset in elements, sizes and strides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weight {
    pub(super) at: i64,
    dims: [i64; 3],
    strides: [i64; 3],
}

impl Owned for AttnDesc {}

impl AttnDesc {
    /// The attention.
    ///
    /// # Errors
    /// `BAD_PARAM` if it was never set.
    pub(super) fn attention(&self) -> Result<&Attention, Failure> {
        self.set.as_ref().ok_or_else(|| Failure::invalid("attnDesc", "a descriptor that was never set", "one that describes attention"))
    }
}

impl Attention {
    /// The compute type.
    pub(super) fn real(&self) -> DataType {
        if self.dtype == DataType::F64 { DataType::F64 } else { DataType::F32 }
    }

    /// Whether each beam has its own keys and values.
    pub(super) fn one_to_one(&self) -> bool {
        self.mode & ONE_TO_ONE != 0
    }

    /// Whether queries, keys, values or the output are projected.
    pub(super) fn projects(&self, side: usize) -> bool {
        self.projections[side] > 0
    }

    /// Whether a projection adds a bias.
    pub(super) fn biased(&self, side: usize) -> bool {
        self.mode & BIASES != 0 && self.projects(side)
    }

    /// Channels of a head of queries, keys or values.
    pub(super) fn width(&self, side: usize) -> i64 {
        if self.projects(side) { self.projections[side] } else { self.sizes[side] }
    }

    /// Channels of all heads' results.
    pub(super) fn joined(&self) -> i64 {
        self.heads * self.width(2)
    }

    /// Output channels.
    pub(super) fn outputs(&self) -> i64 {
        if self.projects(3) { self.projections[3] } else { self.joined() }
    }

    /// Rows and columns of a projection's matrix: its input and output channels.
    pub(super) fn matrix(&self, side: usize) -> [i64; 2] {
        if side == 3 { [self.joined(), self.outputs()] } else { [self.sizes[side], self.heads * self.width(side)] }
    }

    /// Weights by `cudnnMultiHeadAttnWeightKind_t`: row-major matrices ([`Attention::matrix`]), followed by the biases.
    pub(super) fn weights(&self) -> ([Option<Weight>; 8], i64) {
        let (mut all, mut end) = ([None; 8], 0);
        for side in (0..4).filter(|s| self.projects(*s)) {
            let [rows, columns] = self.matrix(side);
            let (width, inner) = (self.width(2), self.projections[side]);
            let (dims, strides) = match side {
                3 => ([self.heads, columns, width], [width * columns, 1, columns]),
                _ => ([self.heads, inner, rows], [inner, 1, columns]),
            };
            all[side] = Some(Weight { at: end, dims, strides });
            end += rows * columns;
        }
        for side in (0..4).filter(|s| self.biased(*s)) {
            let (heads, inner) = if side == 3 { (1, self.outputs()) } else { (self.heads, self.projections[side]) };
            all[side + 4] = Some(Weight { at: end, dims: [heads, inner, 1], strides: [inner, 1, 1] });
            end += heads * inner;
        }
        (all, end)
    }

    /// Bytes of the weight buffer.
    pub(super) fn weight_bytes(&self) -> usize {
        self.dtype.bytes(self.weights().1 as usize).unwrap_or(usize::MAX)
    }

    fn check(&self) -> Result<(), Failure> {
        if self.width(0) != self.width(1) {
            let got = format_args!("queries of {} and keys of {} channels a head", self.width(0), self.width(1));
            return Err(Failure::shape("qProjSize and kProjSize", got, "as many of both"));
        }
        let wide = |n: i64| i128::from(n);
        let rows = wide(self.batch) * wide(self.beam) * self.longest.iter().map(|&t| wide(t)).max().unwrap_or(1);
        let channels = (0..3).map(|s| wide(self.sizes[s]) + wide(self.heads) * wide(self.width(s))).sum::<i128>() + wide(self.outputs());
        let scores = wide(self.heads) * wide(self.longest[0].max(self.longest[1]));
        let matrices = channels * channels;
        match rows * (channels + scores) <= MOST_NUMBERS && matrices <= MOST_NUMBERS {
            true => Ok(()),
            false => Err(Failure::unsupported("attention over more than 2^48 numbers")),
        }
    }
}

/// `cudnnCreateAttnDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateAttnDescriptor(attn_desc: New<'_, AttnDesc>) -> Status {
    guard("cudnnCreateAttnDescriptor", || attn_desc.own("attnDesc", || Ok(AttnDesc::default())))
}

/// `cudnnDestroyAttnDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyAttnDescriptor(attn_desc: pointers::Handle<AttnDesc>) -> Status {
    guard("cudnnDestroyAttnDescriptor", || {
        attn_desc.destroy();
        Ok(())
    })
}

/// Sizes of at least `least`, with their names.
fn sizes<const N: usize>(given: [(&str, i32); N], least: i32) -> Result<[i64; N], Failure> {
    match given.iter().find(|g| g.1 < least) {
        Some((name, size)) => Err(Failure::invalid(name, size, format_args!("at least {least}"))),
        None => Ok(given.map(|g| i64::from(g.1))),
    }
}

/// `cudnnSetAttnDescriptor`. A projection size of 0 means no projection.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetAttnDescriptor(
    attn_desc: InOut<'_, AttnDesc>,
    attn_mode: u32,
    n_heads: i32,
    sm_scaler: f64,
    data_type: i32,
    compute_prec: i32,
    math_type: i32,
    attn_dropout_desc: In<'_, DropoutDesc>,
    post_dropout_desc: In<'_, DropoutDesc>,
    q_size: i32,
    k_size: i32,
    v_size: i32,
    q_proj_size: i32,
    k_proj_size: i32,
    v_proj_size: i32,
    o_proj_size: i32,
    qo_max_seq_length: i32,
    kv_max_seq_length: i32,
    max_batch_size: i32,
    max_beam_size: i32,
) -> Status {
    guard("cudnnSetAttnDescriptor", || {
        values::check("computePrec", "cudnnDataType_t", compute_prec)?;
        values::check("mathType", "cudnnMathType_t", math_type)?;
        let dtype = values::data_type("dataType", data_type)?;
        if !matches!(dtype, DataType::F32 | DataType::F64 | DataType::F16 | DataType::Bf16) {
            return Err(Failure::new(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, format_args!("dataType: {dtype}, expected a real type")));
        }
        if attn_mode & !(ONE_TO_ONE | BIASES) != 0 {
            return Err(Failure::invalid("attnMode", format_args!("{attn_mode:#x}"), "CUDNN_ATTN_QUERYMAP_* and CUDNN_ATTN_*_PROJ_BIASES"));
        }
        if sm_scaler.is_nan() || sm_scaler < 0.0 {
            return Err(Failure::invalid("smScaler", sm_scaler, "at least 0"));
        }
        let [heads, queries, keys, batch, beam] = sizes(
            [
                ("nHeads", n_heads),
                ("qoMaxSeqLength", qo_max_seq_length),
                ("kvMaxSeqLength", kv_max_seq_length),
                ("maxBatchSize", max_batch_size),
                ("maxBeamSize", max_beam_size),
            ],
            1,
        )?;
        let projections = [("qProjSize", q_proj_size), ("kProjSize", k_proj_size), ("vProjSize", v_proj_size), ("oProjSize", o_proj_size)];
        let attention = Attention {
            mode: attn_mode,
            heads,
            scaler: sm_scaler,
            number: data_type,
            dtype,
            precision: compute_prec,
            math: math_type,
            dropouts: [attn_dropout_desc, post_dropout_desc].map(|d| d.optional().copied()),
            dropouts_at: [attn_dropout_desc, post_dropout_desc].map(|d| d.address()),
            sizes: sizes([("qSize", q_size), ("kSize", k_size), ("vSize", v_size)], 1)?,
            projections: sizes(projections, 0)?,
            longest: [queries, keys],
            batch,
            beam,
        };
        attention.check()?;
        attn_desc.get("attnDesc")?.set = Some(attention);
        Ok(())
    })
}

/// `cudnnGetAttnDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetAttnDescriptor(
    attn_desc: In<'_, AttnDesc>,
    attn_mode: Out<'_, u32>,
    n_heads: Out<'_, i32>,
    sm_scaler: Out<'_, f64>,
    data_type: Out<'_, i32>,
    compute_prec: Out<'_, i32>,
    math_type: Out<'_, i32>,
    attn_dropout_desc: Out<'_, Data>,
    post_dropout_desc: Out<'_, Data>,
    q_size: Out<'_, i32>,
    k_size: Out<'_, i32>,
    v_size: Out<'_, i32>,
    q_proj_size: Out<'_, i32>,
    k_proj_size: Out<'_, i32>,
    v_proj_size: Out<'_, i32>,
    o_proj_size: Out<'_, i32>,
    qo_max_seq_length: Out<'_, i32>,
    kv_max_seq_length: Out<'_, i32>,
    max_batch_size: Out<'_, i32>,
    max_beam_size: Out<'_, i32>,
) -> Status {
    guard("cudnnGetAttnDescriptor", || {
        let a = attn_desc.get("attnDesc")?.attention()?;
        attn_mode.set_optional(a.mode);
        sm_scaler.set_optional(a.scaler);
        attn_dropout_desc.set_optional(a.dropouts_at[0]);
        post_dropout_desc.set_optional(a.dropouts_at[1]);
        let numbers = [(data_type, a.number), (compute_prec, a.precision), (math_type, a.math), (n_heads, a.heads as i32)];
        let sizes = [q_size, k_size, v_size].into_iter().zip(a.sizes);
        let projections = [q_proj_size, k_proj_size, v_proj_size, o_proj_size].into_iter().zip(a.projections);
        let most =
            [(qo_max_seq_length, a.longest[0]), (kv_max_seq_length, a.longest[1]), (max_batch_size, a.batch), (max_beam_size, a.beam)];
        let extents = sizes.chain(projections).chain(most).map(|(place, size)| (place, size as i32));
        numbers.into_iter().chain(extents).for_each(|(place, number)| place.set_optional(number));
        Ok(())
    })
}

/// `cudnnGetMultiHeadAttnWeights`: heads x projected channels x channels, with strides; null for absent weights.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetMultiHeadAttnWeights(
    handle: In<'_, Handle>,
    attn_desc: In<'_, AttnDesc>,
    w_kind: i32,
    weight_size_in_bytes: usize,
    weights: Data,
    w_desc: InOut<'_, TensorDesc>,
    w_addr: Out<'_, Data>,
) -> Status {
    guard("cudnnGetMultiHeadAttnWeights", || {
        handle.get("handle")?;
        let attention = attn_desc.get("attnDesc")?.attention()?;
        let kind = values::check("wKind", "cudnnMultiHeadAttnWeightKind_t", w_kind)?;
        if weight_size_in_bytes < attention.weight_bytes() {
            return Err(Failure::small("weightSizeInBytes", weight_size_in_bytes, attention.weight_bytes()));
        }
        let desc = w_desc.get("wDesc")?;
        let Some(weight) = attention.weights().0[kind as usize] else { return w_addr.set("wAddr", Data::NULL) };
        desc.set(attention.number, Dims::from(weight.dims), Dims::from(weight.strides))?;
        w_addr.set("wAddr", weights.some("weights")?.behind(attention.dtype.bytes(weight.at as usize).unwrap_or(0)))
    })
}

/// A dense row of numbers.
pub(super) fn row(count: i64, dtype: DataType) -> Result<Tensor, Failure> {
    Ok(Tensor::plain([count], dtype)?)
}
