//! `sparse:generic`: matmul with a sparse operand, which is expanded to dense in scratch and then multiplied by the best row for dense operands.
//!
//! Indices are the caller's data: entries outside of the matrix are ignored.

use super::map::Map;
use super::reductions::aligned;
use crate::CudaTarget;
use crate::emit::{Emitter, Place, Real, View};
use crate::program::{MapPlace, OVERFLOW, Program, Word};
use crate::row::Row;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Blocking, DataType, Format, Layout, Op, Problem, Sparse, Tensor};
use std::sync::Arc;

/// Matmul with a sparse source or sparse weights.
pub(crate) fn matmul(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    let encoded = [(Arg::SRC, &op.src), (Arg::WEIGHTS, &op.weights)].into_iter().find_map(|(arg, t)| match &t.layout.format {
        Format::Sparse(encoding) => Some((arg, t, encoding)),
        _ => None,
    });
    let (arg, t, encoding) = encoded.ok_or_else(|| Skip::Layout("two dense operands".into()))?;
    let dense = Tensor::plain(*t.dims(), t.dtype).map_err(|_| OVERFLOW)?;
    let mut inner = problem.clone();
    let Op::Matmul(own) = &mut inner.op else { return Err(Skip::Op("anything but matmul")) };
    *(if arg == Arg::SRC { &mut own.src } else { &mut own.weights }) = dense.clone();
    aligned(|vectors| {
        let mut program = Program::default();
        let at = program.book(dense.bytes())?;
        let view = View::scratch("dense", at, &dense);
        match encoding {
            Sparse::Csr { nnz } => scatter(&mut program, (arg, *nnz), &view, true)?,
            Sparse::Coo { nnz } => scatter(&mut program, (arg, *nnz), &view, false)?,
            Sparse::Packed { blocking, nnz } => {
                let blocking = blocking.as_ref().ok_or_else(|| Skip::Layout("a packed operand that nothing has chosen".into()))?;
                unpack(&mut program, (arg, *nnz), &view, blocking)?;
            }
        }
        let product = best(&inner, target, vectors)?.shifted(program.scratch).moved(arg, MapPlace::Scratch(at));
        program.scratch = product.scratch;
        program.launches.extend(product.launches);
        Ok(program)
    })
}

/// The program of the first row for dense operands that applies, or of the one that takes any alignment.
fn best(problem: &Problem, target: &CudaTarget, vectors: bool) -> Result<Program, Skip> {
    let rows = super::DENSE_MATMUL;
    let mut last = OVERFLOW;
    for Row { lower, .. } in if vectors { rows } else { &rows[rows.len() - 1..] } {
        match lower(problem, target) {
            Ok(program) => return Ok(program),
            Err(why) => last = why,
        }
    }
    Err(last)
}

/// Expands CSR (row pointers) or COO (row indices): zeros, then the entries.
fn scatter(program: &mut Program, (arg, nnz): (Arg, i64), dense: &View<'_>, pointers: bool) -> Result<(), Skip> {
    let mut clear = Map::over(Real::Single, dense.layout);
    clear.emit.view(dense)?;
    clear.element.push_str("    store_code<dense_type>(a.dense_data, dense_at(a, p), 0);\n");
    program.launches.push(clear.launch());
    let values = Tensor::plain([nnz], dense.dtype).map_err(|_| OVERFLOW)?;
    let mut map = Map::over(Real::Single, &values.layout);
    let (columns, rows) = if pointers { (1, 2) } else { (2, 1) };
    map.emit.view(dense)?;
    map.emit.view(&View::of("values", arg, &values))?;
    map.emit.word("const int* columns", Word::Address { arg, buffer: columns });
    map.emit.word("const int* rows", Word::Address { arg, buffer: rows });
    for (name, d) in [("height", 0), ("breadth", 1)] {
        map.emit.number(name, dense.layout.dims[d]);
    }
    let row = if pointers {
        // Binary search: the last row that begins at or before the entry.
        "    i64 row = 0;\n    for (i64 end = a.height; row + 1 < end;) {\n        const i64 middle = (row + end) / 2;\n        \
         if (a.rows[middle] <= p[0]) row = middle; else end = middle;\n    }\n"
    } else {
        "    const i64 row = a.rows[p[0]];\n"
    };
    map.element = format!(
        "{row}    const i64 column = a.columns[p[0]];\n    if (row < 0 || row >= a.height || column < 0 || column >= a.breadth) return;\n    \
         const index q[] = {{(index)row, (index)column}};\n    store_code<dense_type>(a.dense_data, dense_at(a, q), values_code(a, p[0]));\n"
    );
    program.launches.push(map.launch());
    Ok(())
}

/// Expands a packed operand: a bit per offset tells whether there is a value, and for every 64 offsets there is the number of values before.
fn unpack(program: &mut Program, (arg, nnz): (Arg, i64), dense: &View<'_>, blocking: &Arc<Blocking>) -> Result<(), Skip> {
    let values = Tensor::plain([nnz], dense.dtype).map_err(|_| OVERFLOW)?;
    let layout = Layout { dims: dense.layout.dims, format: Format::Blocked(Arc::clone(blocking)) };
    let mut map = Map::over(Real::Single, dense.layout);
    map.emit.view(dense)?;
    map.emit.view(&View::of("values", arg, &values))?;
    declare_offset(&mut map.emit, &layout, arg)?;
    map.emit.word("const i64* starts", Word::Address { arg, buffer: 2 });
    map.emit.number("count_of_values", nnz);
    map.element = "    const i64 offset = packed_at(a, p), byte = offset / 8, bit = offset % 8;\n    const u8* bits = (const u8*)a.packed_data;\n    \
         i64 rank = a.starts[offset / 64];\n    for (i64 b = offset / 64 * 8; b < byte; ++b) rank += __popc(bits[b]);\n    \
         rank += __popc(bits[byte] & ((1 << bit) - 1));\n    const bool is_there = (bits[byte] >> bit & 1) && rank >= 0 && rank < a.count_of_values;\n    \
         store_code<dense_type>(a.dense_data, dense_at(a, p), is_there ? values_code(a, rank) : (dense_type::word)0);\n"
        .into();
    program.launches.push(map.launch());
    Ok(())
}

/// Declares `packed_at(a, p)`, the offset of a position, and the bit mask as `packed_data`.
fn declare_offset(emit: &mut Emitter, layout: &Layout, arg: Arg) -> Result<(), Skip> {
    // The mask has one byte for eight offsets; only the address of the view is used.
    let mask = View { name: "packed", place: Place::Arg(arg), dtype: DataType::U8, layout, padded: false };
    emit.view_of_buffer(&mask, 1)
}
