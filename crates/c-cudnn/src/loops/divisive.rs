//! Divisive normalisation: `y = (x - mean) / (k + alpha / n * sum of (x - mean)^2 around it)^beta`, where `n` is the number of elements of
//! the neighbourhood and the means are given. The primitive, local response normalisation within channels, lacks the subtracted means and
//! their gradients, and cuDNN's treatment of the border.

use super::view::{View, positions};
use crate::exec::Blend;
use crate::handle::Handle;
use crate::lrn::LrnDesc;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_spec::Tensor;

/// The inputs of both passes.
pub(crate) struct Given<'a> {
    pub(crate) handle: &'a Handle,
    pub(crate) desc: &'a LrnDesc,
    pub(crate) x: (&'a Tensor, Data),
    /// As `x`, or null.
    pub(crate) means: Data,
}

/// Row-major copies of the inputs, so that results may overwrite them.
struct Numbers {
    dims: Vec<i64>,
    /// `x - mean`.
    centred: Vec<f64>,
    /// `k + alpha / n * sum`.
    base: Vec<f64>,
}

impl Given<'_> {
    fn numbers(&self) -> Result<Numbers, Failure> {
        let x = View::new(self.handle, self.x.0, self.x.1)?;
        let means = View::new(self.handle, self.x.0, self.means)?;
        let dims = self.x.0.dims().to_vec();
        if dims.len() < 3 {
            return Err(Failure::shape("xDesc", self.x.0.dims(), "spatial dimensions"));
        }
        let mut centred = Vec::new();
        positions(&dims, |at| centred.push(x.get(at) - if self.means.is_null() { 0.0 } else { means.get(at) }));
        let mut numbers = Numbers { base: Vec::with_capacity(centred.len()), dims, centred };
        let squares: Vec<f64> = numbers.centred.iter().map(|v| v * v).collect();
        let sums = numbers.around(&squares, self.desc.n, false);
        let n = f64::from(self.desc.n).powi(numbers.dims.len() as i32 - 2);
        numbers.base = sums.into_iter().map(|s| self.desc.k + self.desc.alpha / n * s).collect();
        Ok(numbers)
    }

    /// The results, blended with the old values.
    pub(crate) fn forward(&self, y: (&Tensor, Data), blend: Blend) -> Result<(), Failure> {
        let numbers = self.numbers()?;
        let values = numbers.centred.iter().zip(&numbers.base).map(|(v, b)| v * b.powf(-self.desc.beta)).collect();
        put(self.handle, values, y, blend)
    }

    /// The gradients of `x` and, if requested, of the means.
    pub(crate) fn backward(&self, dy: Data, wanted: (&Tensor, [Data; 2]), blend: Blend) -> Result<(), Failure> {
        let numbers = self.numbers()?;
        let dy = View::new(self.handle, self.x.0, dy)?;
        let mut given = Vec::with_capacity(numbers.centred.len());
        positions(&numbers.dims, |at| given.push(dy.get(at)));
        let beta = self.desc.beta;
        let n = f64::from(self.desc.n).powi(numbers.dims.len() as i32 - 2);
        let shares: Vec<f64> = (0..given.len()).map(|i| given[i] * numbers.centred[i] * numbers.base[i].powf(-beta - 1.0)).collect();
        let sums = numbers.around(&shares, self.desc.n, true);
        let gradient = |i: usize| given[i] * numbers.base[i].powf(-beta) - 2.0 * beta * self.desc.alpha / n * numbers.centred[i] * sums[i];
        let values: Vec<f64> = (0..given.len()).map(gradient).collect();
        if !wanted.1[1].is_null() {
            put(self.handle, values.iter().map(|v| -v).collect(), (wanted.0, wanted.1[1]), blend)?;
        }
        put(self.handle, values, (wanted.0, wanted.1[0]), blend)
    }
}

impl Numbers {
    /// Sums of `of` over the neighbourhood of each element; with `turned` over the elements whose neighbourhoods contain it.
    fn around(&self, of: &[f64], size: u32, turned: bool) -> Vec<f64> {
        let (before, after) = (i64::from(size - 1) / 2, i64::from(size - 1) - i64::from(size - 1) / 2);
        let (before, after) = if turned { (after, before) } else { (before, after) };
        let mut sums = Vec::with_capacity(of.len());
        let dims = &self.dims;
        let window = vec![i64::from(size); dims.len() - 2];
        positions(dims, |at| {
            let mut sum = 0.0;
            positions(&window, |offset| {
                let mut index = at[0] * dims[1] + at[1];
                for (d, o) in offset.iter().enumerate() {
                    let place = at[d + 2] + o - before;
                    if place < 0 || place >= dims[d + 2] || *o > before + after {
                        return;
                    }
                    index = index * dims[d + 2] + place;
                }
                sum += of[index as usize];
            });
            sums.push(sum);
        });
        sums
    }
}

/// Writes values, row-major, blended with the old ones.
fn put(handle: &Handle, values: Vec<f64>, to: (&Tensor, Data), blend: Blend) -> Result<(), Failure> {
    if to.0.layout.elements() != i64::try_from(values.len()).ok() {
        return Err(Failure::shape("the result's descriptor", to.0.dims(), format_args!("{} elements", values.len())));
    }
    let view = View::new(handle, to.0, to.1)?;
    let mut i = 0;
    positions(to.0.dims(), |at| {
        let before = if blend.beta == 0.0 { 0.0 } else { blend.beta * view.get(at) };
        view.set(at, blend.alpha * values[i] + before);
        i += 1;
    });
    Ok(())
}
