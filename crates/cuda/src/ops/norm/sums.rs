//! Sums over the elements of a channel: the gradients of scale and shift.

use super::Norm;
use crate::emit::{Emitter, View};
use crate::ops::columns;
use crate::ops::rows::{Rows, Stage};
use crate::program::{OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Layout, Tensor};

impl Norm<'_> {
    /// Appends launches that sum `term` per index along `channel`: in parts, then the parts. `result` returns the statements that use the sum `s[0]` of channel
    /// `p[1]`.
    pub(super) fn channel_sum(
        &self,
        program: &mut Program,
        channel: usize,
        term: &str,
        declare: impl FnOnce(&mut Emitter) -> Result<(), Skip>,
        result: impl FnOnce(&mut Emitter) -> Result<String, Skip>,
    ) -> Result<(), Skip> {
        let dims = self.src.dims();
        let channels = dims[channel];
        let terms = dims.volume().ok_or(OVERFLOW)? / channels.max(1);
        // Parts of at least 1,024 terms, enough to fill a large GPU.
        let parts = (terms / 1024).clamp(1, (65_536 / channels.max(1)).max(1)).min(1024);
        let partial = Tensor::plain([parts, channels], self.real.dtype()).map_err(|_| OVERFLOW)?;
        let at = program.book(partial.bytes())?;
        let mut rows = Rows::channels(self.real, &self.src.layout, channel, parts);
        declare(&mut rows.emit)?;
        rows.emit.view(&View::scratch("partial", at, &partial))?;
        rows.stages = vec![Stage::sum(term, "x")];
        rows.result = "    partial_store(a, o, s[0]);\n".into();
        program.launches.push(rows.launch());
        let mut rows = Rows::over(self.real, &partial.layout, |d| d == 1);
        rows.emit.view(&View::scratch("partial", at, &partial))?;
        rows.stages = vec![Stage::sum("partial(a, p)", "x")];
        rows.result = result(&mut rows.emit)?;
        program.launches.push(rows.launch());
        Ok(())
    }

    /// Statements that store a channel's coefficients of the source gradient, from its sums of `g` and `g x^`: with the destination gradient `d` an element is
    /// `d own + (src - mean) apart + fixed`.
    fn keep_coefficients(
        &self,
        emit: &mut Emitter,
        places: [usize; 3],
        channels: &Tensor,
        [sum_gx, sum_g]: [&str; 2],
    ) -> Result<String, Skip> {
        for (name, at) in ["own", "apart", "fixed"].into_iter().zip(places) {
            emit.view(&View::scratch(name, at, channels))?;
        }
        let (_, inverse) = self.given(emit)?;
        let scale = self.scale(emit)?;
        let n = self.src.dims().volume().unwrap_or(0) / self.src.dims()[1].max(1);
        emit.real_number("count_of_terms", n as f64);
        Ok(format!(
            "    const index q[] = {{p[1]}};\n    const real inverse = {inverse}, factor = inverse{scale};\n    own_store(a, own_at(a, q), factor);\n    \
             apart_store(a, apart_at(a, q), -factor * inverse * {sum_gx} / (real)a.count_of_terms);\n    \
             fixed_store(a, fixed_at(a, q), -factor * {sum_g} / (real)a.count_of_terms);\n"
        ))
    }

    /// Statements that store `sum` of channel `p[1]` as the gradient of scale (0) or shift (1), if requested.
    fn keep_sum(&self, emit: &mut Emitter, i: usize, sum: &str) -> Result<String, Skip> {
        let (name, arg) = [("diff_scale", Arg::DIFF_SCALE), ("diff_shift", Arg::DIFF_SHIFT)][i];
        let Some(t) = self.wanted(arg) else { return Ok(String::new()) };
        emit.view(&View::of(name, arg, t))?;
        Ok(format!("    {name}_store(a, {name}_at(a, p + 1), {sum});\n"))
    }

    /// One launch that adds the parts of both sums of each channel.
    pub(super) fn add_gradients(
        &self,
        program: &mut Program,
        (at, layout): (usize, &Layout),
        made: Option<([usize; 3], &Tensor)>,
    ) -> Result<(), Skip> {
        let mut rows = Rows::over(self.real, layout, |d| d == 1).ahead();
        for (i, name) in ["part_0", "part_1"].into_iter().enumerate() {
            rows.emit.view(&columns::part_view(name, at, i as i64, layout, self.real))?;
            rows.stages.push(Stage::sum(format!("{name}(a, p)"), "x"));
            rows.result += &self.keep_sum(&mut rows.emit, i, &format!("s[{i}]"))?;
        }
        if let Some((places, channels)) = made {
            rows.result += &self.keep_coefficients(&mut rows.emit, places, channels, ["s[0]", "s[1]"])?;
        }
        program.launches.push(rows.launch());
        Ok(())
    }

    /// Both sums of each channel from the elements, each in launches of its own, as far as they are needed.
    pub(super) fn sum_gradients(&self, program: &mut Program, sums: &Tensor, made: Option<[usize; 3]>) -> Result<(), Skip> {
        let kept = program.book(sums.bytes())?;
        for (i, arg) in [Arg::DIFF_SCALE, Arg::DIFF_SHIFT].into_iter().enumerate() {
            if self.wanted(arg).is_none() && made.is_none() {
                continue;
            }
            let declare = |emit: &mut Emitter| -> Result<(), Skip> {
                let (mean, inverse) = self.gradient(emit)?;
                let value = if i == 0 { format!("gradient(a, p) * (src(a, p) - {mean}) * ({inverse})") } else { "gradient(a, p)".into() };
                emit.code(&format!("DEVICE real summand(const Args& a, const index* p) {{\n{}    return {value};\n}}\n", self.stat()));
                Ok(())
            };
            let result = |emit: &mut Emitter| {
                let text = self.keep_sum(emit, i, "s[0]")?;
                let Some(places) = made else { return Ok(text) };
                emit.view(&View::scratch("kept", kept, sums))?;
                let more = match i {
                    0 => "    kept_store(a, kept_at(a, p + 1), s[0]);\n".to_owned(),
                    _ => self.keep_coefficients(emit, places, sums, ["kept(a, q)", "s[0]"])?,
                };
                Ok(text + &more)
            };
            self.channel_sum(program, self.channel(), "summand(a, p)", declare, result)?;
        }
        Ok(())
    }
}
