//! Generic batched products `out(z, m, n) = sum over k of left(z, m, k) * right(z, k, n)` (`kernels/products.cu`, `dots.cu`), to which matmul, inner product,
//! convolution and attention are lowered by declaring `left`, `right` and `store`.

use crate::CudaTarget;
use crate::emit::{BLOCK, Emitter, Real};
use crate::ops::ceil;
use crate::program::{OVERFLOW, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::DataType;

/// Rows and columns of a tile.
const TILE: i64 = 64;

/// The sizes of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    pub(crate) batches: i64,
    pub(crate) m: i64,
    pub(crate) n: i64,
    pub(crate) k: i64,
}

impl Sizes {
    fn elements(&self) -> i64 {
        let Sizes { batches, m, n, k } = *self;
        [
            batches.saturating_mul(m).saturating_mul(n),
            batches.saturating_mul(m).saturating_mul(k),
            batches.saturating_mul(n).saturating_mul(k),
        ]
        .into_iter()
        .fold(k, i64::max)
    }
}

/// The types of operands and sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sum {
    /// f32.
    Single,
    /// f64.
    Double,
    /// Integers, exactly.
    Whole,
}

impl Sum {
    /// For operands of these types; `exact`: zero points and scales keep them integers.
    pub(crate) fn of([a, b]: [DataType; 2], exact: bool) -> Sum {
        match (a, b) {
            _ if exact && a.is_integral() && b.is_integral() => Sum::Whole,
            (DataType::F64, _) | (_, DataType::F64) => Sum::Double,
            _ => Sum::Single,
        }
    }

    /// The CUDA types of operands and of sums.
    fn names(self) -> [&'static str; 2] {
        match self {
            Sum::Single => ["float", "float"],
            Sum::Double => ["double", "double"],
            Sum::Whole => ["int", "i64"],
        }
    }

    fn bytes(self) -> usize {
        if self == Sum::Single { 4 } else { 8 }
    }
}

/// A product: `declare` is called once per kernel.
pub(crate) struct Products<'a> {
    pub(crate) real: Real,
    pub(crate) sum: Sum,
    pub(crate) sizes: Sizes,
    /// For coalesced loads: `left` is contiguous along k, `right` along n; all are contiguous along batches.
    pub(crate) left_k_first: bool,
    pub(crate) right_n_first: bool,
    pub(crate) z_first: bool,
    /// Declares `left`, `right` and `store`.
    pub(crate) declare: &'a dyn Fn(&mut Emitter) -> Result<(), Skip>,
}

impl Products<'_> {
    fn header(&self) -> Result<Emitter, Skip> {
        let mut emit = Emitter::new(self.real, self.sizes.elements());
        let [factor, total] = self.sum.names();
        emit.before(&format!("typedef {factor} factor;\ntypedef {total} total;\n"));
        for (name, value) in [("batches", self.sizes.batches), ("m", self.sizes.m), ("n", self.sizes.n), ("k", self.sizes.k)] {
            emit.number(name, value);
        }
        (self.declare)(&mut emit)?;
        Ok(emit)
    }

    /// Appends the launches.
    pub(crate) fn append(&self, program: &mut Program, target: &CudaTarget) -> Result<(), Skip> {
        let Sizes { batches, m, n, k } = self.sizes;
        let outputs = batches.saturating_mul(m).saturating_mul(n);
        if outputs == 0 {
            return Ok(());
        }
        if n <= 2 || (n <= 8 && k <= 64) {
            if target.is_sketched() {
                return Ok(());
            }
            let mut emit = self.header()?;
            if self.z_first {
                emit.define("Z_FIRST", 1);
            }
            program.launches.push(emit.launch("dots", outputs));
            return Ok(());
        }
        let (tiles_m, tiles_n) = (ceil(m, TILE), ceil(n, TILE));
        let tiles = batches.saturating_mul(tiles_m).saturating_mul(tiles_n);
        let parts = self.parts(tiles, i64::from(target.facts.multiprocessors));
        let k_part = ceil(k, parts);
        let partial = match parts {
            1 => None,
            _ => {
                let elements = usize::try_from(outputs.saturating_mul(parts)).ok();
                let bytes = elements.and_then(|e| e.checked_mul(self.sum.bytes()));
                Some(program.book(bytes.ok_or(OVERFLOW)?)?)
            }
        };
        if target.is_sketched() {
            return Ok(());
        }
        let mut emit = self.header()?;
        if self.left_k_first {
            emit.define("LEFT_K_FIRST", 1);
        }
        if self.right_n_first {
            emit.define("RIGHT_N_FIRST", 1);
        }
        for (name, value) in [("tiles", tiles * parts), ("tiles_m", tiles_m), ("tiles_n", tiles_n), ("k_part", k_part)] {
            emit.number(name, value);
        }
        if let Some(at) = partial {
            emit.define("PARTS", 1);
            emit.word("total* partial", Word::Scratch(at));
        }
        program.launches.push(emit.launch_blocks("products", [(tiles * parts).min(1 << 20) as u32, 1, 1]));
        if let Some(at) = partial {
            let mut emit = self.header()?;
            emit.number("parts", parts);
            emit.word("const total* partial", Word::Scratch(at));
            program.launches.push(emit.launch("parts", outputs));
        }
        Ok(())
    }

    /// Split-K: the number of parts, of at least 512 terms, if there are too few tiles for the GPU.
    fn parts(&self, tiles: i64, multiprocessors: i64) -> i64 {
        (2 * multiprocessors / tiles.max(1)).min(self.sizes.k / 512).max(1)
    }
}

const _: () = assert!(BLOCK == 256);
