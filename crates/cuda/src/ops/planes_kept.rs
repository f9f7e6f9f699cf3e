//! Batch normalisation of NCHW in one launch (`kernels/planes_kept.cu`): part of a channel stays in shared memory between the two passes.

use crate::Facts;
use crate::emit::{Emitter, type_name};
use crate::ops::ceil;
use crate::program::{Launch, MapPlace, Word};
use oxidnn_spec::{Arg, DataType, Tensor};

/// Threads per CTA.
const THREADS: i64 = 256;
/// Bytes read, below which separate launches are as fast.
const LARGE: i64 = 8 << 20;
/// Percentage of L2 that the second pass finds again.
const FOUND: i64 = 40;

/// A tensor as (images, channels, contiguous pixels).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane<'a> {
    pub(crate) name: &'a str,
    arg: Arg,
    dtype: DataType,
    offset: i64,
    image: i64,
    channel: i64,
}

impl<'a> Plane<'a> {
    /// `None` if the tensor does not have that form.
    pub(crate) fn of(name: &'a str, arg: Arg, t: &Tensor) -> Option<Plane<'a>> {
        let b = t.blocking().filter(|b| b.is_plain() && b.padded_dims == *t.dims() && t.dims().len() == 3 && b.strides[2] == 1)?;
        (t.dtype.bits() >= 8).then(|| Plane { name, arg, dtype: t.dtype, offset: b.offset, image: b.strides[0], channel: b.strides[1] })
    }

    fn bytes(&self) -> i64 {
        self.dtype.bits() as i64 / 8
    }

    fn declare(&self, emit: &mut Emitter) {
        let Plane { name, arg, offset, image, channel, .. } = *self;
        emit.word(&format!("void* {name}_rows"), Word::Address { arg, buffer: 0 });
        for (field, value) in [("offset", offset), ("image", image), ("channel", channel)] {
            emit.number(&format!("{name}_{field}"), value);
        }
        emit.code(&format!("typedef {} {name}_number;", type_name(self.dtype)));
    }
}

/// The configuration of a launch.
pub(crate) struct Kept {
    vector: i64,
    cluster: i64,
    blocks: i64,
    stages: i64,
    slot: i64,
    /// Vectors of a plane and of a channel; channels.
    plane: i64,
    vectors: i64,
    channels: i64,
    beyond: bool,
}

/// The operation.
pub(crate) struct Body<'a> {
    /// Inputs, and the result, whose epilogue the emitter has.
    pub(crate) read: &'a [Plane<'a>],
    pub(crate) dst: Plane<'a>,
    /// Members of `struct Terms`; with `moments` there is one term.
    pub(crate) terms: &'a str,
    pub(crate) moments: bool,
    /// Coefficients of a channel, and the statements that compute them from its sums.
    pub(crate) numbers: &'a [&'a str],
    pub(crate) settle: &'a str,
    /// Statements that compute `v`, element `i`, from the inputs `x.name.number(i)`.
    pub(crate) value: &'a str,
}

impl Kept {
    /// The configuration; `None` if the tensors are small or cannot be read in vectors, or the channels do not divide evenly among the SMs.
    pub(crate) fn of([read, dst]: [&[Plane<'_>]; 2], [images, channels, pixels]: [i64; 3], facts: &Facts) -> Option<Kept> {
        let all = || read.iter().chain(dst);
        let least = all().map(Plane::bytes).min()?;
        let vector = (16 / least).clamp(4, 8);
        let whole = |p: &Plane<'_>| [p.offset, p.image, p.channel].iter().all(|n| n % vector == 0);
        let row = read.iter().map(Plane::bytes).sum::<i64>();
        let bytes = images.checked_mul(channels)?.checked_mul(pixels)?.checked_mul(row)?;
        if facts.sm < 90 || pixels % vector != 0 || !all().all(whole) || bytes < LARGE || bytes / row > i64::from(i32::MAX) {
            return None;
        }
        let (plane, slot) = (pixels / vector, THREADS * vector * row);
        let vectors = images * plane;
        let units = i64::from(facts.multiprocessors);
        // Two CTAs per SM, or more if channels are short.
        let (blocks, cluster) = [(2, 8), (2, 4), (2, 2), (2, 1), (4, 1)].into_iter().find(|&(blocks, cluster)| {
            let (at_once, stages) = (units * blocks, (i64::from(facts.shared_memory) / blocks - 2048) / slot);
            let waves = ceil(channels * cluster, at_once);
            let turns = ceil(vectors, cluster * THREADS);
            stages >= 3 && 10 * channels * cluster >= 8 * waves * at_once && (waves == 1 || cluster == 1) && (blocks > 2 || turns >= 16)
        })?;
        let stages = ((i64::from(facts.shared_memory) / blocks - 2048) / slot).min(48);
        let turns = ceil(vectors, cluster * THREADS);
        let found = i64::from(facts.l2) / 100 * FOUND / (units * blocks * slot);
        let beyond = bytes / row * dst.iter().map(Plane::bytes).sum::<i64>() > i64::from(facts.l2) / 2;
        // If more has to be read from memory again, separate launches are as fast.
        (turns <= stages + found).then_some(Kept { vector, cluster, blocks, stages, slot, plane, vectors, channels, beyond })
    }

    /// The launch.
    pub(crate) fn launch(&self, mut emit: Emitter, body: &Body<'_>) -> Launch {
        let Body { read, dst, terms, moments, numbers, settle, value } = *body;
        for (name, value) in [
            ("VECTOR", self.vector),
            ("THREADS", THREADS),
            ("CLUSTER", self.cluster),
            ("BLOCKS", self.blocks),
            ("STAGES", self.stages),
            ("SLOT", self.slot),
        ] {
            emit.option(name, value);
        }
        if moments {
            emit.option("MOMENTS", 1);
        }
        emit.sizes("plane_size", &[self.plane]);
        emit.define("plane", "plane_size[0]");
        emit.number("vectors", self.vectors);
        emit.define("RANK", 3);
        let (mut vectors, mut fetches, mut loads, mut room) = (String::new(), String::new(), String::new(), 0);
        for p in read {
            p.declare(&mut emit);
            let (name, piece) = (p.name, self.vector * p.bytes());
            let place = format!("{room} + threadIdx.x * {piece}");
            vectors += &format!("    Vector<{name}_number, VECTOR> {name};\n");
            fetches += &format!(
                "        ::fetch<{piece}>(to + {place}, (const {name}_number::word*)a.{name}_rows + a.{name}_offset + image * a.{name}_image + c * a.{name}_channel + pixel, policy);\n"
            );
            loads += &format!("        {name}.load(from + {place}, 0);\n");
            room += THREADS * piece;
        }
        dst.declare(&mut emit);
        let to = dst.name;
        let members: String = numbers.iter().map(|m| format!("    real {m};\n")).collect();
        let store = if self.beyond { "store_once" } else { "store" };
        emit.code(&format!(
            "struct Loaded {{\n{vectors}    static DEVICE void fetch(const Args& a, i64 image, i64 c, int pixel, u8* to, u64 policy) {{\n{fetches}    }}\n    \
             DEVICE void load(const u8* from) {{\n{loads}    }}\n}};\nstruct Terms {{\n{terms}}};\n\
             struct Channel {{\n{members}    DEVICE void begin(const Args& a, int c, const real (&s)[2], bool is_first) {{\n        const index p[] = {{0, (index)c}};\n{settle}    }}\n    \
             DEVICE void make(const Args& a, const Loaded& x, int image, int c, int pixel) const {{\n        index p[RANK] = {{(index)image, (index)c, (index)pixel}};\n        \
             const i64 at = a.{to}_offset + image * a.{to}_image + c * a.{to}_channel + pixel;\n        Vector<dst_type, VECTOR> out;\n#pragma unroll\n        \
             for (int i = 0; i < VECTOR; ++i) {{\n            p[2] = (index)(pixel + i);\n{value}            \
             out.words[i] = dst_type::encode(rounded(a, p, at + i, ::value(a, p, at + i, v)));\n        }}\n        out.{store}(a.{to}_rows, at);\n    }}\n}};\n"
        ));
        let mut launch = emit.launch_blocks("planes_kept", [(self.channels * self.cluster) as u32, 1, 1]);
        launch.block = THREADS as u32;
        launch.cluster = self.cluster as u32;
        launch.shared = (self.stages * self.slot) as u32;
        launch.aligned = read.iter().chain([&dst]).map(|p| MapPlace::Arg(p.arg, 0)).collect();
        launch
    }
}
