//! Labelled images in IDX files, the format that MNIST is published in (<http://yann.lecun.com/exdb/mnist/>): two zero bytes, a type byte
//! (8: unsigned bytes), the number of dimensions, each size as a big-endian u32, then the elements row-major.

use oxidnn_spec::Error;

/// Type byte of unsigned bytes.
const UNSIGNED_BYTE: u8 = 8;

/// A file of unsigned bytes, borrowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Idx<'a> {
    /// Sizes, outermost first; their product is the length of `data`.
    pub dims: Vec<usize>,
    /// Elements, row-major.
    pub data: &'a [u8],
}

/// Reads a file of unsigned bytes.
///
/// # Errors
/// [`Error::InvalidArguments`] for another magic number or element type, and where the file is shorter or longer than its sizes say.
pub fn parse(file: &[u8]) -> Result<Idx<'_>, Error> {
    let header =
        |got: String| Error::invalid("IDX header", got, "two zero bytes, type 8 (unsigned byte), the number of dimensions, their sizes");
    let [0, 0, UNSIGNED_BYTE, rank, rest @ ..] = file else {
        return Err(header(format!("a file of {} bytes that begins with {:?}", file.len(), &file[..file.len().min(4)])));
    };
    let (sizes, data) =
        rest.split_at_checked(4 * usize::from(*rank)).ok_or_else(|| header(format!("{} sizes in {} bytes", rank, file.len())))?;
    let (sizes, _) = sizes.as_chunks::<4>();
    let dims: Vec<usize> = sizes.iter().map(|&b| u32::from_be_bytes(b) as usize).collect();
    let total = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    if total != Some(data.len()) {
        return Err(Error::invalid(
            "IDX file",
            format!("{} bytes of data", data.len()),
            format!("as many as sizes {dims:?} have elements"),
        ));
    }
    Ok(Idx { dims, data })
}

/// Grey images with the class of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Labelled {
    height: usize,
    width: usize,
    pixels: Vec<u8>,
    labels: Vec<u8>,
}

impl Labelled {
    /// The images of one file, `N x height x width`, with the labels of another, `N`; every label is below `classes`.
    ///
    /// # Errors
    /// As [`parse`], and where the files do not fit each other, have no images, or a label is too large.
    pub fn parse(images: &[u8], labels: &[u8], classes: u8) -> Result<Labelled, Error> {
        let (images, labels) = (parse(images)?, parse(labels)?);
        let &[count, height, width] = images.dims.as_slice() else {
            return Err(Error::invalid("IDX images", format!("sizes {:?}", images.dims), "three: images, rows, columns"));
        };
        if images.data.is_empty() {
            return Err(Error::invalid("IDX images", format!("sizes {:?}", images.dims), "at least one image of at least one pixel"));
        }
        if labels.dims != [count] {
            return Err(Error::invalid("IDX labels", format!("sizes {:?}", labels.dims), format!("[{count}], one for each image")));
        }
        if let Some(label) = labels.data.iter().find(|&&l| l >= classes) {
            return Err(Error::invalid("IDX labels", label, format!("less than {classes}")));
        }
        Ok(Labelled { height, width, pixels: images.data.to_vec(), labels: labels.data.to_vec() })
    }

    /// Number of images, at least 1.
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// Height and width of every image, pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.height, self.width)
    }

    /// Pixels of image `i`, row-major.
    ///
    /// # Panics
    /// If there is no image `i`.
    pub fn image(&self, i: usize) -> &[u8] {
        let n = self.height * self.width;
        &self.pixels[i * n..][..n]
    }

    /// Class of image `i`.
    ///
    /// # Panics
    /// If there is no image `i`.
    pub fn label(&self, i: usize) -> usize {
        usize::from(self.labels[i])
    }
}

#[cfg(test)]
mod tests;
