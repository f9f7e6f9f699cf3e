//! The means and variances of channels: from the moments of parts, or in two passes.

use super::{Norm, OWN_TERMS};
use crate::emit::{Emitter, View, literal};
use crate::ops::columns::{self, Matrix, Shape};
use crate::ops::rows::{Rows, Stage};
use crate::ops::rows_vector::Input;
use crate::program::{OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Layout, Tensor};

impl Norm<'_> {
    /// A reduction over the planes of channels, if there are enough of them for the GPU, with place and layout of two results per image and channel.
    pub(super) fn planes(&self, program: &mut Program) -> Result<Option<(Rows, usize, Layout)>, Skip> {
        let dims = self.src.dims();
        let few = self.vectors.is_none_or(|t| dims[0] * dims[1] < 2 * i64::from(t.facts.multiprocessors));
        if few || !self.by_planes() {
            return Ok(None);
        }
        let partial = Layout::plain([dims[0], dims[1]].into()).map_err(|_| OVERFLOW)?;
        let both = Tensor::plain([2, dims[0], dims[1]], self.real.dtype()).map_err(|_| OVERFLOW)?;
        let at = program.book(both.bytes())?;
        let mut rows = Rows::over(self.real, &self.src.layout, |d| d < 2);
        for (i, name) in ["part_0", "part_1"].into_iter().enumerate() {
            rows.emit.view(&columns::part_view(name, at, i as i64, &partial, self.real))?;
        }
        Ok(Some((rows, at, partial)))
    }

    /// Statements that store mean `s[0]` and variance `s[1]` of a channel as outputs if requested, and mean and reciprocal standard deviation for the elements.
    pub(super) fn keep_moments(&self, emit: &mut Emitter, places: [usize; 2], channels: &Tensor) -> Result<String, Skip> {
        emit.view(&View::scratch("kept_mean", places[0], channels))?;
        emit.view(&View::scratch("kept_inverse", places[1], channels))?;
        let mut text = format!(
            "    kept_mean_store(a, kept_mean_at(a, p + 1), s[0]);\n    \
             kept_inverse_store(a, kept_inverse_at(a, p + 1), inverse_root(s[1] + {}));\n",
            literal(self.epsilon)
        );
        for (i, (name, arg)) in [("mean", Arg::MEAN), ("variance", Arg::VARIANCE)].into_iter().enumerate() {
            if self.input(emit, name, arg)? {
                text += &format!("    {name}_store(a, {name}_at(a, p + 1), s[{i}]);\n");
            }
        }
        Ok(text)
    }

    /// Moments (mean and sum of squared differences) of parts of contiguous channels in one pass; `None` for other layouts.
    fn column_moments(&self, program: &mut Program) -> Result<Option<(usize, Layout, Option<Shape>)>, Skip> {
        let count = self.src.dims()[1];
        let n = self.src.dims().volume().unwrap_or(0) / count.max(1);
        let Some(target) = self.vectors else { return Ok(None) };
        let Some(matrix) = Matrix::of("src", Arg::SRC, self.src, 1) else { return Ok(None) };
        let Some(shape) = Shape::on(columns::blocks_of(1), &[matrix], [n, count], self.real, target).map(Shape::in_turns) else {
            return Ok(None);
        };
        let at = columns::book(program, &shape, 2, self.real)?;
        program.launches.push(shape.launch(Emitter::new(self.real, n), &[matrix], OWN_TERMS, None, at));
        let partial = Layout::plain([shape.parts, count].into()).map_err(|_| OVERFLOW)?;
        Ok(Some((at, partial, Some(shape))))
    }

    /// The same with the planes of each channel as parts.
    pub(super) fn plane_moments(&self, program: &mut Program) -> Result<Option<(usize, Layout, Option<Shape>)>, Skip> {
        let (Some((mut rows, at, partial)), Some(target)) = (self.planes(program)?, self.vectors) else { return Ok(None) };
        rows.emit.view(&View::of("src", Arg::SRC, self.src))?;
        rows.stages = vec![Stage::sum("src(a, p)", "ratio(x, (real)a.terms)"), Stage::sum("(src(a, p) - s[0]) * (src(a, p) - s[0])", "x")];
        rows.result = "    part_0_store(a, part_0_at(a, p), s[0]);\n    part_1_store(a, part_1_at(a, p), s[1]);\n".into();
        rows.vectorised(vec![Input::of(&View::of("src", Arg::SRC, self.src), 0, true)], None, &target.facts);
        program.launches.push(rows.launch());
        Ok(Some((at, partial, None)))
    }

    /// Means and variances of channels from the moments of parts (Chan, Golub and LeVeque, 1983); false if it does not apply.
    pub(super) fn moments(&self, program: &mut Program, places: [usize; 2], channels: &Tensor) -> Result<bool, Skip> {
        let parts = match self.column_moments(program)? {
            None => self.plane_moments(program)?,
            some => some,
        };
        let Some((at, partial, shape)) = parts else { return Ok(false) };
        let n = self.src.dims().volume().unwrap_or(0) / channels.dims()[0].max(1);
        let mut rows = Rows::over(self.real, &partial, |d| d == 1);
        for (i, name) in ["part_mean", "part_square"].into_iter().enumerate() {
            rows.emit.view(&columns::part_view(name, at, i as i64, &partial, self.real))?;
        }
        let own = match shape {
            Some(shape) => {
                shape.count(&mut rows.emit);
                "rows_of(a, p[0])"
            }
            None => {
                rows.emit.number("pixels", self.src.dims()[2..].iter().product());
                "(real)a.pixels"
            }
        };
        rows.emit.real_number("count_of_terms", n as f64);
        let close = "ratio(x, (real)a.count_of_terms)";
        let apart = "(part_mean(a, p) - s[0])";
        rows.stages = vec![
            Stage::sum(format!("{own} * part_mean(a, p)"), close),
            Stage::sum(format!("part_square(a, p) + {own} * {apart} * {apart}"), close),
        ];
        rows.result = self.keep_moments(&mut rows.emit, places, channels)?;
        program.launches.push(rows.launch());
        Ok(true)
    }

    /// The same in two passes: means, then sums of squared differences.
    pub(super) fn two_sums(&self, program: &mut Program, places: [usize; 2], channels: &Tensor) -> Result<(), Skip> {
        let n = self.src.dims().volume().unwrap_or(0) / self.src.dims()[1].max(1);
        for i in 0..2 {
            let declare = |emit: &mut Emitter| -> Result<(), Skip> {
                emit.view(&View::of("src", Arg::SRC, self.src))?;
                if i == 1 { emit.view(&View::scratch("computed_mean", places[0], channels)) } else { Ok(()) }
            };
            let term = if i == 0 { "src(a, p)" } else { "(src(a, p) - computed_mean(a, p + 1)) * (src(a, p) - computed_mean(a, p + 1))" };
            self.channel_sum(program, 1, term, declare, |emit| {
                emit.real_number("count_of_terms", n as f64);
                let value = "    const real v = s[0] / (real)a.count_of_terms;\n";
                emit.view(&View::scratch("kept", places[i], channels))?;
                let (name, arg) = if i == 0 { ("mean", Arg::MEAN) } else { ("variance", Arg::VARIANCE) };
                let also =
                    if self.input(emit, name, arg)? { format!("    {name}_store(a, {name}_at(a, p + 1), v);\n") } else { String::new() };
                let kept = if i == 0 { "v".to_owned() } else { format!("inverse_root(v + {})", literal(self.epsilon)) };
                Ok(format!("{value}    kept_store(a, kept_at(a, p + 1), {kept});\n{also}"))
            })?;
        }
        Ok(())
    }
}
