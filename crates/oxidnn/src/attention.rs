//! Builder of attention.

use crate::describe::{Describe, defaults};
use oxidnn_spec::op::{Prop, Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Attr, DataType, Error, Op, Tensor};

/// Builds scaled dot-product attention, `softmax(scale * q k^T + mask) v`. The backward pass follows from its descriptor:
/// [`crate::Backward::backward`].
///
/// | argument | shape | what it is |
/// |---|---|---|
/// | `SRC` | B x H x Sq x D | queries |
/// | `SRC_1` | B x Hkv x D x Sk | keys; in memory Sk rows of D, as they come out of a projection |
/// | `SRC_2` | B x Hkv x Sk x Dv | values |
/// | `SRC_3` | each dim 1 or that of B x H x Sq x Sk | what is added to the scores, with [`Attention::mask`] |
/// | `SCALE` | 1 | the scale, with [`Attention::scaled`] |
/// | `DST` | B x H x Sq x Dv | |
/// | `WORKSPACE` | what training keeps for the backward pass | |
///
/// ```
/// use oxidnn::prelude::*;
///
/// # fn main() -> Result<(), oxidnn::Error> {
/// let (engine, [batch, heads, tokens, size]) = (Engine::cpu(), [1, 8, 128, 64]);
/// let stream = Stream::new(&engine)?;
/// let desc = Attention::new(Prop::ForwardInference, [batch, heads, tokens, size], F32).causal().scaled().describe(&engine)?;
/// let rows = vec![0.1f32; (batch * heads * tokens * size) as usize];
/// let of = |arg| Memory::from_slice(&engine, desc.tensor(arg).unwrap().clone(), &rows);
/// let (q, k, v) = (of(Arg::SRC)?, of(Arg::SRC_1)?, of(Arg::SRC_2)?);
/// let scale = Memory::from_vec(&engine, [1], vec![1.0 / (size as f32).sqrt()])?;
/// let y = engine.zeros(&desc, Arg::DST)?;
/// desc.create()?.execute(&stream, &[(Arg::SRC, &q), (Arg::SRC_1, &k), (Arg::SRC_2, &v), (Arg::SCALE, &scale), (Arg::DST, &y)])?;
/// assert!(y.read_f32()?.iter().all(|v| (v - 0.1).abs() < 1e-5)); // means of equal values
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Attention {
    prop: Prop,
    /// B, H, Sq, D.
    sizes: [i64; 4],
    /// Hkv, Sk, Dv.
    keys: [i64; 3],
    dtype: DataType,
    keys_type: DataType,
    mask: Option<Tensor>,
    mask_kind: SdpaMask,
    is_scaled: bool,
    attr: Attr,
}

impl Attention {
    /// Attention of B x H x Sq x D queries to as many keys and values.
    #[must_use]
    pub fn new(prop: Prop, sizes: [i64; 4], dtype: DataType) -> Attention {
        let [_, heads, queries, size] = sizes;
        let keys = [heads, queries, size];
        Attention { prop, sizes, keys, dtype, keys_type: dtype, mask: None, mask_kind: SdpaMask::None, is_scaled: false, attr: defaults() }
    }

    /// Number of heads of keys and values, a divisor of the number of query heads (grouped-query attention), and number of keys.
    #[must_use]
    pub fn keys(mut self, heads: i64, keys: i64) -> Attention {
        (self.keys[0], self.keys[1]) = (heads, keys);
        self
    }

    /// Channels of values and result, if they differ from those of queries and keys.
    #[must_use]
    pub fn value_size(mut self, size: i64) -> Attention {
        self.keys[2] = size;
        self
    }

    /// The type of keys and values, if it differs from the queries'; integers take scales by [`Describe::scales_with`] of
    /// [`SRC_1`](oxidnn_spec::Arg::SRC_1) and [`SRC_2`](oxidnn_spec::Arg::SRC_2).
    #[must_use]
    pub fn keys_type(self, dtype: DataType) -> Attention {
        Attention { keys_type: dtype, ..self }
    }

    /// Causal mask aligned to the top left: query i sees the keys up to i. See [`Attention::causal_from_last`].
    #[must_use]
    pub fn causal(self) -> Attention {
        Attention { mask_kind: SdpaMask::CausalTopLeft, mask: None, ..self }
    }

    /// Causal mask aligned to the bottom right: the last query sees all keys, for queries that continue a sequence.
    #[must_use]
    pub fn causal_from_last(self) -> Attention {
        Attention { mask_kind: SdpaMask::CausalBottomRight, mask: None, ..self }
    }

    /// Adds a tensor to the scores.
    #[must_use]
    pub fn mask(self, tensor: Tensor) -> Attention {
        Attention { mask_kind: SdpaMask::Buffer, mask: Some(tensor), ..self }
    }

    /// Multiplies the scores by the scalar in [`SCALE`](oxidnn_spec::Arg::SCALE).
    #[must_use]
    pub fn scaled(self) -> Attention {
        Attention { is_scaled: true, ..self }
    }
}

impl Describe for Attention {
    fn op(&self) -> Result<Op, Error> {
        let ([batch, heads, queries, size], [kv_heads, keys, values]) = (self.sizes, self.keys);
        Ok(Sdpa {
            prop: self.prop,
            q: Tensor::plain([batch, heads, queries, size], self.dtype)?,
            k: Tensor::with_tag([batch, kv_heads, size, keys], self.keys_type, "abdc")?,
            v: Tensor::plain([batch, kv_heads, keys, values], self.keys_type)?,
            mask: self.mask.clone(),
            scale: self.is_scaled.then(|| Tensor::plain([1], DataType::F32)).transpose()?,
            dst: Tensor::plain([batch, heads, queries, values], self.dtype)?,
            diff: None,
            workspace: None,
            mask_kind: self.mask_kind,
            scale_kind: if self.is_scaled { SdpaScale::Multiply } else { SdpaScale::None },
        }
        .into())
    }
    fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }
}
