//! `backward:sm80`: fused attention backward for 16-bit types and head sizes of up to 128 (`kernels/attention_backward_sm80.cu`): a launch that computes the row
//! sums of dO * O, then one for the gradients of keys and values, and one for those of queries. Scores are not stored.

use super::gemm::{pairs, plain};
use super::pointwise::tensor;
use crate::CudaTarget;
use crate::emit::{Tail, View, bare};
use crate::ops::ceil;
use crate::program::{Launch, MapPlace, OVERFLOW, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, DataType, Format, Op, Problem, Tensor};

/// Rows that a CTA owns, and rows of the tiles that it loops over.
const OWN: i64 = 128;
const OTHER: i64 = 64;

struct Backward<'a> {
    op: &'a Sdpa,
    problem: &'a Problem,
    /// `HEAD` of the kernel.
    head: i64,
    causal: Option<i64>,
    /// Offset in scratch of the row sums of dO * O.
    own: usize,
}

/// Attention backward.
pub(crate) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Sdpa(op) = &problem.op else { return Err(Skip::Op("anything but attention")) };
    if op.prop.is_forward() {
        return Err(Skip::Op("forward passes"));
    }
    let head = if op.q.dims()[3].max(op.v.dims()[3]) > 64 { 128 } else { 64 };
    if target.facts.sm < 80 || i64::from(target.facts.shared_memory) < shared(head) + 2048 {
        return Err(Skip::Isa("sm_80 with shared memory for two tiles"));
    }
    let causal = match op.mask_kind {
        SdpaMask::Buffer => return Err(Skip::Attr("a mask in memory".into())),
        SdpaMask::None => None,
        SdpaMask::CausalTopLeft => Some(0),
        SdpaMask::CausalBottomRight => Some(op.k.dims()[3] - op.q.dims()[2]),
    };
    let given = [&op.q, &op.k, &op.v, tensor(problem, Arg::DIFF_DST)?];
    if given.iter().any(|t| t.dtype != op.q.dtype) || !matches!(op.q.dtype, DataType::Bf16 | DataType::F16) {
        return Err(Skip::DataType(format!("{}:{}:{}", op.q.dtype, op.k.dtype, op.v.dtype)));
    }
    let made = [Arg::DIFF_SRC, Arg::DIFF_SRC_1, Arg::DIFF_SRC_2];
    for arg in made {
        let t = tensor(problem, arg)?;
        plain(t)?;
        if t.dtype != tensor(problem, made[0])?.dtype || !Tail::of(problem, arg, t).is_plain() {
            return Err(Skip::DataType("gradients of different types".into()));
        }
    }
    let sizes = [op.q.dims(), op.k.dims(), op.v.dims()];
    let positive = given.iter().all(|t| !t.is_empty());
    if op.q.dims()[3].max(op.v.dims()[3]) > 128
        || !positive
        || sizes.iter().any(|d| d.iter().any(|&n| n > 1 << 24) || d[0] > 65_535 || d[1] > 65_535)
    {
        return Err(Skip::Shape("heads of more than 128, or no elements"));
    }
    let mut program = Program::or_unaligned(super::sdpa::lower, problem, target)?;
    let own = Tensor::plain([op.q.dims()[0], op.q.dims()[1], op.q.dims()[2]], DataType::F32).map_err(|_| OVERFLOW)?;
    let at = program.book(own.bytes())?;
    let view = View::scratch("own", at, &own);
    program.launches.push(super::sdpa::shares(op, problem, &view)?);
    let pass = Backward { op, problem, head, causal, own: at };
    program.launches.push(pass.launch(true)?);
    program.launches.push(pass.launch(false)?);
    Ok(program)
}

/// Shared memory in bytes: the owned rows of two tensors, and two stages of the others.
fn shared(head: i64) -> i64 {
    2 * head * 2 * (OWN + 2 * OTHER)
}

/// The words of a `Tensor4` of the kernel; `turned`: the last two dimensions are exchanged.
fn words_of(arg: Arg, t: &Tensor, turned: bool) -> Result<[Word; 5], Skip> {
    let b = plain(t)?;
    let (row, column) = if turned { (b.strides[3], b.strides[2]) } else { (b.strides[2], b.strides[3]) };
    let data = Word::Offset { arg, bytes: (b.offset * (t.dtype.bits() / 8) as i64) as u64 };
    Ok([data, Word::Value(b.strides[0] as u64), Word::Value(b.strides[1] as u64), Word::Value(row as u64), Word::Value(column as u64)])
}

/// Whether a tensor is contiguous along dimension `inner`, and its rows are aligned.
fn is_aligned(t: &Tensor, inner: usize) -> Result<bool, Skip> {
    let b = plain(t)?;
    let others = (0..4).filter(|&d| d != inner && t.dims()[d] != 1);
    Ok((b.strides[inner] == 1 || t.dims()[inner] == 1)
        && b.offset % 8 == 0
        && others.into_iter().all(|d| b.strides[d] % 8 == 0 && b.strides[d] > 0))
}

impl Backward<'_> {
    fn launch(&self, of_keys: bool) -> Result<Launch, Skip> {
        let (op, problem) = (self.op, self.problem);
        let [batch, heads, queries, depth] = [0, 1, 2, 3].map(|d| op.q.dims()[d]);
        let (kv_heads, keys, values) = (op.k.dims()[1], op.k.dims()[3], op.v.dims()[3]);
        let diff_dst = tensor(problem, Arg::DIFF_DST)?;
        let k_mn = match (is_aligned(&op.k, 2)?, is_aligned(&op.k, 3)?) {
            (true, _) => false,
            (_, true) => true,
            _ => return Err(Skip::Layout("keys that are not 16-byte aligned".into())),
        };
        if !is_aligned(&op.q, 3)? || !is_aligned(&op.v, 3)? || !is_aligned(diff_dst, 3)? {
            return Err(Skip::Layout("rows that are not 16-byte aligned and contiguous".into()));
        }
        let scale = op.scale.as_ref().filter(|_| op.scale_kind != SdpaScale::None);
        let name = |t: DataType| match t {
            DataType::F16 => Ok("T_F16"),
            DataType::Bf16 => Ok("T_BF16"),
            DataType::F32 => Ok("T_F32"),
            _ => Err(Skip::DataType(t.to_string())),
        };
        let numbers = [
            ("HEAD", self.head),
            ("K_MN", i64::from(k_mn)),
            ("OF_KEYS", i64::from(of_keys)),
            ("CAUSAL", i64::from(self.causal.is_some())),
            ("DIVIDE", i64::from(op.scale_kind == SdpaScale::Divide)),
        ];
        let numbers = numbers.map(|(n, v)| (n, v.to_string()));
        let mut options: Vec<(&str, &str)> = numbers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let diff = |arg| tensor(problem, arg);
        options.extend([("A_TYPE", name(op.q.dtype)?), ("C_TYPE", name(diff(Arg::DIFF_SRC)?.dtype)?)]);
        options.push(("SCALE_TYPE", name(scale.map_or(DataType::F32, |t| t.dtype))?));
        let share = heads / kv_heads;
        let mut words = pairs(&[queries, keys, heads, share, depth, values, self.causal.unwrap_or(0), 0]);
        let given = [(Arg::SRC, &op.q, false), (Arg::SRC_1, &op.k, true), (Arg::SRC_2, &op.v, false), (Arg::DIFF_DST, diff_dst, false)];
        for (arg, t, turned) in given {
            words.extend(words_of(arg, t, turned)?);
        }
        let made = if of_keys { [(Arg::DIFF_SRC_1, true), (Arg::DIFF_SRC_2, false)] } else { [(Arg::DIFF_SRC, false); 2] };
        for (arg, turned) in made {
            words.extend(words_of(arg, diff(arg)?, turned)?);
        }
        words.extend([Word::Address { arg: Arg::WORKSPACE, buffer: 0 }, Word::Scratch(self.own)]);
        match scale {
            None => words.extend([Word::Value(u64::from(1f32.to_bits())), Word::Value(0)]),
            Some(t) => {
                let offset = t.blocking().map_or(0, |b| b.offset) * (t.dtype.bits() / 8) as i64;
                match t.layout.format {
                    Format::HostScalar => words.extend([Word::HostScalar(Arg::SCALE), Word::Value(0)]),
                    _ => words.extend([Word::Value(0), Word::Offset { arg: Arg::SCALE, bytes: offset as u64 }]),
                }
            }
        }
        let mut launch = bare("attention_backward_sm80", &options, words, 1);
        let (rows, heads) = if of_keys { (keys, kv_heads) } else { (queries, heads) };
        launch.grid = [(ceil(rows, OWN)) as u32, heads as u32, batch as u32];
        launch.shared = shared(self.head) as u32;
        launch.aligned = [Arg::SRC, Arg::SRC_1, Arg::SRC_2, Arg::DIFF_DST].map(|arg| MapPlace::Arg(arg, 0)).into();
        Ok(launch)
    }
}
