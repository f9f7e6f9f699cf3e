//! The compensation sums that a reorder stores behind int8 weights, for CPU kernels that multiply u8 by s8.

use super::rows::{Rows, Stage};
use crate::emit::{Real, View, literal};
use crate::program::{OVERFLOW, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Compensation, Dims, Layout, Tensor};

/// Appends launches that write the sums: `-128 sum(w)` for a source shifted from s8 to u8, then `-sum(w)` for one with a zero point, each over the
/// dimensions that its mask leaves out, row-major over the padded sizes of those it names; 0 for padding.
pub(crate) fn append(program: &mut Program, dst: &Tensor, c: Compensation) -> Result<(), Skip> {
    let Some(blocking) = dst.blocking() else { return Ok(()) };
    let mut at = dst.compensation_at().ok_or(OVERFLOW)? as i64;
    for (mask, factor) in [(c.s8s8_mask, -128.0), (c.zero_point_mask, -1.0)] {
        let Some(mask) = mask else { continue };
        let named = |d: usize| mask >> d & 1 == 1;
        let n = dst.dims().len();
        // Rows over the padded sizes of what the mask names, and the logical ones of all else.
        let sizes = Dims::from_fn(n, |d| if named(d) { blocking.padded_dims[d] } else { dst.dims()[d] });
        let plain = Layout::plain(sizes).map_err(|_| OVERFLOW)?;
        let mut rows = Rows::over(Real::Double, &plain, named);
        rows.emit.view(&View::of("dst", Arg::DST, dst))?;
        let limits: Vec<i64> = (0..n).map(|d| dst.dims()[d]).collect();
        rows.emit.numbers("full", &limits);
        rows.emit.number("behind", at);
        rows.emit.word("u8* sums", Word::Address { arg: Arg::DST, buffer: 0 });
        let inside: Vec<String> = (0..n).map(|d| format!("p[{d}] < a.full[{d}]")).collect();
        rows.stages = vec![Stage::sum(format!("({}) ? dst(a, p) : (real)0", inside.join(" && ")), format!("x * {}", literal(factor)))];
        rows.result =
            "    const int sum = nearest_int(s[0]);\n    for (int i = 0; i < 4; ++i) a.sums[a.behind + o * 4 + i] = (u8)(sum >> 8 * i);\n"
                .into();
        program.launches.push(rows.launch());
        let count: i64 = (0..n).filter(|&d| named(d)).map(|d| sizes[d]).product();
        at += 4 * count;
    }
    Ok(())
}
