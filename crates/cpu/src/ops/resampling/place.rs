//! The strides of a tensor's lines.

use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Tensor};

/// Bytes of a word.
const WORD: usize = 4;

/// The strides of a tensor's lines: plain, with channels last, or in blocks of channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) start: usize,
    /// Strides of images, of blocks of channels, of depths and of heights.
    pub(super) strides: [usize; 4],
    /// Images, and blocks of channels.
    pub(super) counts: [usize; 2],
    /// Contiguous elements of a position of a line.
    pub(super) run: usize,
}

impl Place {
    pub(super) fn of(arg: Arg, tensor: &Tensor) -> Result<Place, Skip> {
        let apart = || Skip::Layout(format!("of {arg}: lines that are not one run"));
        let (b, dims) = (tensor.blocking().ok_or_else(apart)?, tensor.dims());
        let (n, channels) = (dims.len(), dims[1]);
        let mut inner = b.inner.iter();
        let stride = |i: usize| (n + i).checked_sub(5).filter(|d| *d >= 2).map_or(0, |d| b.strides[d] as usize);
        let (run, blocks, block) = match (inner.next(), inner.next()) {
            (None, _) if b.strides[n - 1] == 1 => (1, channels, b.strides[1]),
            (None, _) if b.strides[1] == 1 && b.strides[n - 1] == channels => (channels, 1, 0),
            (Some((1, block)), None) if b.strides[n - 1] == block => (block, b.padded_dims[1] / block, b.strides[1]),
            _ => return Err(apart()),
        };
        if b.padded_dims.iter().enumerate().any(|(d, size)| d != 1 && *size != dims[d]) || tensor.layout.has_runtime() {
            return Err(apart());
        }
        let strides = [b.strides[0] as usize, block as usize, stride(2), stride(3)];
        Ok(Place { start: b.offset as usize, strides, counts: [dims[0] as usize, blocks as usize], run: run as usize })
    }

    /// The same in words of four bytes, for elements of `size` bytes.
    pub(super) fn in_words(&self, size: usize) -> Option<Place> {
        let word = |elements: usize| (elements * size).is_multiple_of(WORD).then_some(elements * size / WORD);
        let [a, b, c, d] = self.strides;
        let strides = [word(a)?, word(b)?, word(c)?, word(d)?];
        Some(Place { start: word(self.start)?, strides, counts: self.counts, run: word(self.run)? })
    }

    /// Elements from an image's first line to the one at some depth and height.
    pub(super) fn row(&self, depth: usize, height: usize) -> usize {
        depth * self.strides[2] + height * self.strides[3]
    }

    /// The first element of a line, by image, block, depth and height.
    pub(super) fn line(&self, at: [usize; 4]) -> usize {
        self.start + at.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum::<usize>()
    }
}
