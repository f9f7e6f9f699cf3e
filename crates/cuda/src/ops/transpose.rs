//! `transpose:generic`: reorders that only permute dimensions and convert elements, as batched transpositions in tiles (`kernels/transpose.cu`).

use super::align;
use super::map::collapsed;
use crate::CudaTarget;
use crate::emit::{Emitter, Real, type_name};
use crate::ops::ceil;
use crate::program::{MapPlace, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Blocking, DataType, Op, Problem, Tensor};

/// Rows and columns of a tile, and the least of both for which it is used.
const TILE: [i64; 2] = [64, 64];
const LEAST: i64 = 4;
/// Up to so many columns or rows a tile is as narrow as the matrix.
const FEW: i64 = 16;

/// Reorders between strided layouts, without scales and post-ops.
pub(crate) fn reorder(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let Op::Reorder(whole) = &problem.op else { return Err(Skip::Op("anything but reorders")) };
    let compensated = whole.dst.blocking().is_some_and(|b| b.compensation.is_some());
    if problem.attr != (Attr { scratchpad: problem.attr.scratchpad, ..Attr::default() }) || compensated {
        return Err(Skip::Attr("that change numbers".into()));
    }
    transposed(&whole.src, &whole.dst, Real::of(problem))
}

/// The word type of an element.
pub(super) fn unit(dtype: DataType) -> Result<&'static str, Skip> {
    match dtype.bits() {
        8 => Ok("u8"),
        16 => Ok("u16"),
        32 => Ok("u32"),
        64 => Ok("u64"),
        _ => Err(Skip::DataType(dtype.to_string())),
    }
}

/// The launch that copies `src` to `dst`.
fn transposed(src: &Tensor, dst: &Tensor, real: Real) -> Result<Program, Skip> {
    let types = [src.dtype, dst.dtype];
    let [from, to] = [unit(types[0])?, unit(types[1])?];
    let flat = collapsed(&dst.layout, &[&src.layout, &dst.layout]).ok_or_else(|| Skip::Layout("without common loops".into()))?;
    let [Some(src), Some(dst)] = [0, 1].map(|i| flat[i].blocking()) else { return Err(Skip::Layout("without strides".into())) };
    let (dims, n) = (&flat[1].dims, flat[1].dims.len());
    let (Some(row), Some(column)) = (n.checked_sub(1), (0..n).find(|&d| src.strides[d] == 1 && dims[d] > 1)) else {
        return Err(Skip::Layout("that is contiguous nowhere".into()));
    };
    if row == column || dst.strides[row] != 1 || dims[row] < LEAST || dims[column] < LEAST {
        return Err(Skip::Layout("that stays contiguous along its loop, or has short ones".into()));
    }
    let others: Vec<usize> = (0..n).filter(|&d| d != row && d != column).collect();
    // The widest vector that divides the rows of a side.
    let word = |size: i64, stride: i64, (b, dtype): (&Blocking, DataType)| {
        let fits = |w: &i64| [size, stride, b.offset].into_iter().chain(others.iter().map(|&d| b.strides[d])).all(|v| v % w == 0);
        let most = 128 / dtype.bits() as i64;
        [most, most / 2].into_iter().filter(|&w| w > 1).find(fits).unwrap_or(1)
    };
    let [tile_r, tile_c] = tile([dims[row], dims[column]]);
    let dense = tile_c == FEW && src.strides[row] == dims[column];
    let [one, other] = [(src, types[0]), (dst, types[1])];
    let before = if dense { word(dims[row].saturating_mul(dims[column]), 0, one) } else { word(dims[column], src.strides[row], one) };
    let after = word(dims[row], dst.strides[column], other);
    let mut emit = Emitter::new(real, dims.volume().unwrap_or(i64::MAX));
    emit.define("UNIT", from);
    emit.define("UNIT_TO", to);
    let value =
        if types[0] == types[1] { "x".to_owned() } else { format!("{}::encode({}::decode(x))", type_name(types[1]), type_name(types[0])) };
    emit.code(&format!("DEVICE UNIT_TO converted(UNIT x) {{ return {value}; }}\n"));
    emit.define("ROWS", tile_r);
    emit.define("COLUMNS", tile_c);
    emit.define("DENSE", i32::from(dense));
    emit.define("FROM", before);
    emit.define("TO", after);
    emit.word("void* src_data", Word::Address { arg: Arg::SRC, buffer: 0 });
    emit.word("void* dst_data", Word::Address { arg: Arg::DST, buffer: 0 });
    let tiles = [ceil(dims[row], tile_r), ceil(dims[column], tile_c)];
    let batches: i64 = others.iter().map(|&d| dims[d]).product();
    for (name, value) in [
        ("rows", dims[row]),
        ("columns", dims[column]),
        ("src_row", src.strides[row]),
        ("dst_row", dst.strides[column]),
        ("src_origin", src.offset),
        ("dst_origin", dst.offset),
        ("tiles_r", tiles[0]),
        ("tiles_c", tiles[1]),
        ("batches", batches),
    ] {
        emit.number(name, value);
    }
    let pick = |f: &dyn Fn(usize) -> i64| others.iter().map(|&d| f(d)).collect::<Vec<_>>();
    bases(&mut emit, &pick(&|d| dims[d]), [&pick(&|d| src.strides[d]), &pick(&|d| dst.strides[d])]);
    let blocks = (tiles[0] * tiles[1] * batches).clamp(1, 1 << 20) as u32;
    Ok(Program { launches: vec![emit.launch_blocks("transpose", [blocks, 1, 1])], ..Program::default() })
}

/// Declares `bases(a, b, from, to)`, which adds the offsets of number `b` in loops of these sizes and strides of source and destination.
pub(super) fn bases(emit: &mut Emitter, sizes: &[i64], [from, to]: [&[i64]; 2]) {
    emit.sizes("loop", sizes);
    emit.numbers("src_loop", from);
    emit.numbers("dst_loop", to);
    emit.code("DEVICE void bases(const Args& a, index b, i64& from, i64& to) {\n    index r;\n");
    for i in (0..sizes.len()).rev() {
        emit.code(&format!("    r = split(a.loop[{i}], b), from += (i64)r * a.src_loop[{i}], to += (i64)r * a.dst_loop[{i}];\n"));
    }
    emit.code("}\n");
}

/// Rows and columns of a tile.
fn tile([rows, columns]: [i64; 2]) -> [i64; 2] {
    let long = TILE[0] * TILE[1] / FEW;
    if columns <= FEW {
        [long, FEW]
    } else if rows <= FEW {
        [FEW, long]
    } else {
        TILE
    }
}

/// A copy of an argument in another layout in scratch.
pub(crate) struct Kept {
    pub(crate) arg: Arg,
    pub(crate) tensor: Tensor,
    pub(crate) at: usize,
}

/// The launches that copy an argument to its copy in scratch, or back.
pub(crate) fn copied(tensor: &Tensor, kept: &Kept, to_scratch: bool, target: &CudaTarget) -> Result<Program, Skip> {
    let Kept { arg, tensor: other, at } = kept;
    let (src, dst) = if to_scratch { (tensor, other) } else { (other, tensor) };
    let whole = || if to_scratch { align::rows(src, dst, false) } else { Err(Skip::Layout("of the caller".into())) };
    let program = transposed(src, dst, Real::Single).or_else(|_| whole()).or_else(|_| {
        let op = Reorder { src: src.clone(), dst: dst.clone() };
        let problem = Problem::new(op, Attr::default()).map_err(|_| Skip::Layout("that is not reordered".into()))?;
        super::pointwise::reorder(&problem, target)
    })?;
    let (own, inside) = if to_scratch { (Arg::SRC, Arg::DST) } else { (Arg::DST, Arg::SRC) };
    Ok(program.moved(inside, MapPlace::Scratch(*at)).moved(own, MapPlace::Arg(*arg, 0)))
}
