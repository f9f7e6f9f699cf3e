//! Names of execution arguments, with oneDNN's numbers.

use std::fmt;

/// The name of an execution argument: `Arg::SRC`, `Arg::WEIGHTS`, `Arg::scale(Arg::SRC)`...
///
/// The number is oneDNN's, so the C face passes it through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arg(pub i32);

macro_rules! args {
    ($($name:ident = $value:expr, $text:literal, $doc:literal;)*) => {
        impl Arg {
            $(#[doc = $doc] pub const $name: Arg = Arg($value);)*
            /// The plain arguments with their names.
            const NAMES: &'static [(i32, &'static str)] = &[$(($value, $text)),*];
        }
    };
}

args! {
    SRC = 1, "src", "The (first) source; `src_layer` of an RNN; queries of attention.";
    SRC_1 = 2, "src1", "The second source; `src_iter` of an RNN; keys of attention.";
    SRC_2 = 3, "src2", "The third source; `src_iter_c` of an RNN; values of attention; the condition of a select.";
    SRC_3 = 4, "src3", "The fourth source; `augru_attention` of an RNN; the mask of attention.";
    DST = 17, "dst", "The (first) destination; `dst_layer` of an RNN.";
    DST_1 = 18, "dst1", "`dst_iter` of an RNN.";
    DST_2 = 19, "dst2", "`dst_iter_c` of an RNN.";
    WEIGHTS = 33, "wei", "Weights; `weights_layer` of an RNN.";
    WEIGHTS_1 = 34, "wei1", "`weights_iter` of an RNN.";
    WEIGHTS_2 = 35, "wei2", "`weights_peephole` of an LSTM.";
    WEIGHTS_3 = 36, "wei3", "`weights_projection` of an LSTM.";
    BIAS = 41, "bia", "Bias.";
    REDUCE = 42, "reduce", "Reduction of a source.";
    MEAN = 49, "mean", "Mean.";
    VARIANCE = 50, "var", "Variance.";
    SCALE = 51, "scale", "Scale of a normalisation.";
    SHIFT = 52, "shift", "Shift of a normalisation.";
    WORKSPACE = 64, "ws", "What forward training keeps for backward.";
    SCRATCHPAD = 80, "scratchpad", "The caller's scratch buffer.";
    DIFF_SRC = 129, "diff_src", "Gradient of `SRC`.";
    DIFF_SRC_1 = 130, "diff_src1", "Gradient of `SRC_1`.";
    DIFF_SRC_2 = 131, "diff_src2", "Gradient of `SRC_2`.";
    DIFF_SRC_3 = 132, "diff_src3", "Gradient of `SRC_3`.";
    DIFF_DST = 145, "diff_dst", "Gradient of `DST`.";
    DIFF_DST_1 = 146, "diff_dst1", "Gradient of `DST_1`.";
    DIFF_DST_2 = 147, "diff_dst2", "Gradient of `DST_2`.";
    DIFF_WEIGHTS = 161, "diff_wei", "Gradient of `WEIGHTS`.";
    DIFF_WEIGHTS_1 = 162, "diff_wei1", "Gradient of `WEIGHTS_1`.";
    DIFF_WEIGHTS_2 = 163, "diff_wei2", "Gradient of `WEIGHTS_2`.";
    DIFF_WEIGHTS_3 = 164, "diff_wei3", "Gradient of `WEIGHTS_3`.";
    DIFF_BIAS = 169, "diff_bia", "Gradient of `BIAS`.";
    DIFF_SCALE = 255, "diff_scale", "Gradient of `SCALE`.";
    DIFF_SHIFT = 256, "diff_shift", "Gradient of `SHIFT`.";
    DROPOUT_OFFSET = 507, "dropout_offset", "Offset into the dropout generator's stream, s64.";
    ROUNDING_SEED = 508, "rounding_seed", "Seed of stochastic rounding, s32.";
    DROPOUT_MASK = 509, "dropout_mask", "The elements that dropout kept, u8.";
    DROPOUT_PROBABILITY = 510, "dropout_p", "Probability of dropping an element, f32.";
    DROPOUT_SEED = 511, "dropout_seed", "Seed of dropout, s32 or s64.";
}

const PRECOMPUTED: i32 = 512;
const MULTIPLE_SRC: i32 = 1024;
const MULTIPLE_DST: i32 = 2048;
const SCALES: i32 = 4096;
const ZERO_POINTS: i32 = 8192;
const POST_OP_DW: i32 = 16384;
const POST_OP: i32 = 32768;

impl Arg {
    /// The `i`-th source of a concat or sum.
    pub const fn multiple_src(i: usize) -> Arg {
        Arg(MULTIPLE_SRC + i as i32)
    }
    /// The `i`-th of many destinations.
    pub const fn multiple_dst(i: usize) -> Arg {
        Arg(MULTIPLE_DST + i as i32)
    }
    /// The scales that belong to `of`.
    pub const fn scale(of: Arg) -> Arg {
        Arg(SCALES | of.0)
    }
    /// The zero points that belong to `of`.
    pub const fn zero_point(of: Arg) -> Arg {
        Arg(ZERO_POINTS | of.0)
    }
    /// The precomputed reductions of `of`.
    pub const fn precomputed(of: Arg) -> Arg {
        Arg(PRECOMPUTED | of.0)
    }
    /// Operand `of` of the `i`-th post-op: `SRC_1` or `SRC_2` of a binary, `WEIGHTS` of a prelu.
    pub const fn post_op(i: usize, of: Arg) -> Arg {
        Arg((POST_OP * (i as i32 + 1)) | of.0)
    }
    /// Operand `of` (weights, bias, or their scales) of a fused depthwise convolution.
    pub const fn depthwise(of: Arg) -> Arg {
        Arg(POST_OP_DW | of.0)
    }
    /// True for sources, destinations and their gradients.
    pub const fn is_data(self) -> bool {
        matches!(self.0, 1..=4 | 17..=19 | 129..=132 | 145..=147 | MULTIPLE_SRC..SCALES)
    }
    /// True for the numbers of a quantisation: scales and zero points of another argument.
    pub const fn is_quantisation(self) -> bool {
        self.0 & (SCALES | ZERO_POINTS) != 0
    }
    /// The index `i` when this is the `i`-th source of a concat or sum.
    pub const fn multiple_src_index(self) -> Option<usize> {
        if self.0 >= MULTIPLE_SRC && self.0 < MULTIPLE_DST { Some((self.0 - MULTIPLE_SRC) as usize) } else { None }
    }
    /// `(i, operand)` when this belongs to the `i`-th post-op.
    pub const fn post_op_index(self) -> Option<(usize, Arg)> {
        if self.0 >= POST_OP { Some(((self.0 / POST_OP - 1) as usize, Arg(self.0 % POST_OP))) } else { None }
    }
}

/// The name in the grammar of problems: `src`, `scales:wei`, `zp:src`, `po0:src1`, `msrc3`.
impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name)) = Arg::NAMES.iter().find(|(v, _)| *v == self.0) {
            return f.write_str(name);
        }
        let a = self.0;
        if let Some((i, of)) = self.post_op_index() {
            write!(f, "po{i}:{of}")
        } else if a & POST_OP_DW != 0 {
            write!(f, "dw:{}", Arg(a & !POST_OP_DW))
        } else if a & ZERO_POINTS != 0 {
            write!(f, "zp:{}", Arg(a & !ZERO_POINTS))
        } else if a & SCALES != 0 {
            write!(f, "scales:{}", Arg(a & !SCALES))
        } else if a & MULTIPLE_DST != 0 {
            write!(f, "mdst{}", a & !MULTIPLE_DST)
        } else if a & MULTIPLE_SRC != 0 {
            write!(f, "msrc{}", a & !MULTIPLE_SRC)
        } else if a & PRECOMPUTED != 0 {
            write!(f, "precomputed:{}", Arg(a & !PRECOMPUTED))
        } else {
            write!(f, "arg{a}")
        }
    }
}

impl fmt::Debug for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
