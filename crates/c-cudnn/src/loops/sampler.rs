//! Bilinear sampling at the points of a grid, zero outside of the image, and its gradients. The resampling primitive has no arbitrary points.

use super::view::{View, positions};
use crate::exec::{Blend, Located};
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_spec::Tensor;

/// The inputs of both passes.
pub(crate) struct Sampler<'a> {
    pub(crate) handle: &'a Handle,
    pub(crate) x: (&'a Tensor, Data),
    /// N x H x W x 2: x and y between -1 and 1, the outermost pixels' centres.
    pub(crate) grid: (&'a Tensor, Data),
}

/// A point between four pixels.
struct Point {
    /// Row and column of the first pixel, possibly outside.
    at: [i64; 2],
    /// How far it is from it, between 0 and 1.
    rest: [f64; 2],
    /// Half the number of pixels between -1 and 1: the derivative of the position by the grid's coordinate.
    half: [f64; 2],
}

impl Point {
    fn new(view: &View<'_>, n: i64, place: [i64; 2], [h, w]: [i64; 2]) -> Point {
        let [gx, gy] = [0, 1].map(|i| view.get(&[n, place[0], place[1], i]));
        let half = [(h - 1) as f64 / 2.0, (w - 1) as f64 / 2.0];
        let exact = [(gy + 1.0) * half[0], (gx + 1.0) * half[1]];
        // Far away and NaN count as outside.
        let exact = exact.map(|v| if v.abs() < 1e9 { v } else { -9.0 });
        Point { at: exact.map(|v| v.floor() as i64), rest: exact.map(|v| v - v.floor()), half }
    }

    /// Calls `f` with the row, the column and the weights along both of each pixel that is inside.
    fn pixels(&self, [h, w]: [i64; 2], mut f: impl FnMut([i64; 2], [f64; 2], [f64; 2])) {
        for (dy, dx) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let at = [self.at[0] + dy, self.at[1] + dx];
            if (0..h).contains(&at[0]) && (0..w).contains(&at[1]) {
                let weight = |d: i64, rest: f64| if d == 1 { rest } else { 1.0 - rest };
                let slope = |d: i64| if d == 1 { 1.0 } else { -1.0 };
                f(at, [weight(dy, self.rest[0]), weight(dx, self.rest[1])], [slope(dy), slope(dx)]);
            }
        }
    }
}

impl Sampler<'_> {
    fn sizes(&self, y: &Tensor) -> Result<([i64; 4], [i64; 2]), Failure> {
        let (x, g) = (self.x.0.dims(), self.grid.0.dims());
        match (x.len() == 4, y.dims()[..] == [g[0], x[1], g[1], g[2]][..] && x[0] == g[0]) {
            (true, true) => Ok(([g[0], x[1], g[1], g[2]], [x[2], x[3]])),
            _ => Err(Failure::shape(
                "xDesc and yDesc",
                format_args!("{x} and {}", y.dims()),
                format_args!("batch and sizes of the grid {g}"),
            )),
        }
    }

    /// The samples, blended with the old values.
    pub(crate) fn forward(&self, y: (&Tensor, Data), blend: Blend) -> Result<(), Failure> {
        let (dims, image) = self.sizes(y.0)?;
        let (x, grid) = (View::new(self.handle, self.x.0, self.x.1)?, View::new(self.handle, self.grid.0, self.grid.1)?);
        let y = View::new(self.handle, y.0, y.1)?;
        positions(&[dims[0], dims[2], dims[3]], |at| {
            let point = Point::new(&grid, at[0], [at[1], at[2]], image);
            for c in 0..dims[1] {
                let mut sum = 0.0;
                point.pixels(image, |p, weight, _| sum += weight[0] * weight[1] * x.get(&[at[0], c, p[0], p[1]]));
                put(&y, &[at[0], c, at[1], at[2]], sum, blend);
            }
        });
        Ok(())
    }

    /// The gradients of image and grid.
    pub(crate) fn backward(&self, dy: Located<'_>, dx: Located<'_>, dgrid: Data, blends: [Blend; 2]) -> Result<(), Failure> {
        let (dims, image) = self.sizes(dy.tensor)?;
        if dx.tensor.dims() != self.x.0.dims() {
            return Err(Failure::shape("dxDesc", dx.tensor.dims(), format_args!("{} as xDesc", self.x.0.dims())));
        }
        let (x, grid) = (View::new(self.handle, self.x.0, self.x.1)?, View::new(self.handle, self.grid.0, self.grid.1)?);
        let (dy, dx) = (View::new(self.handle, dy.tensor, dy.at)?, View::new(self.handle, dx.tensor, dx.at)?);
        let dgrid = View::new(self.handle, self.grid.0, dgrid)?;
        let mut sums = vec![0.0; (dims[0] * dims[1] * image[0] * image[1]) as usize];
        positions(&[dims[0], dims[2], dims[3]], |at| {
            let point = Point::new(&grid, at[0], [at[1], at[2]], image);
            let mut moves = [0.0; 2];
            for c in 0..dims[1] {
                let given = dy.get(&[at[0], c, at[1], at[2]]);
                point.pixels(image, |p, weight, slope| {
                    let index = ((at[0] * dims[1] + c) * image[0] + p[0]) * image[1] + p[1];
                    sums[index as usize] += weight[0] * weight[1] * given;
                    let value = x.get(&[at[0], c, p[0], p[1]]);
                    moves[0] += given * value * weight[0] * slope[1] * point.half[1];
                    moves[1] += given * value * weight[1] * slope[0] * point.half[0];
                });
            }
            for (i, value) in moves.into_iter().enumerate() {
                put(&dgrid, &[at[0], at[1], at[2], i as i64], value, blends[1]);
            }
        });
        let mut i = 0;
        positions(&[dims[0], dims[1], image[0], image[1]], |at| {
            put(&dx, at, sums[i], blends[0]);
            i += 1;
        });
        Ok(())
    }
}

/// Writes a number, blended with the old value.
fn put(view: &View<'_>, at: &[i64], value: f64, blend: Blend) {
    let before = if blend.beta == 0.0 { 0.0 } else { blend.beta * view.get(at) };
    view.set(at, blend.alpha * value + before);
}
