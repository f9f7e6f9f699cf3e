//! Pooling and resampling of NCHW through shared memory (`kernels/planes.cu`).

use super::map::{FINISH_LANES, Tile, tile_of};
use crate::emit::{Emitter, type_name};
use crate::ops::ceil;
use crate::program::Launch;
use oxidnn_spec::{Layout, Tensor};

/// Bytes of input rows that a CTA stages: usually for a band of a plane, for a group of planes, and at most.
pub(crate) const BAND: i64 = 16 * 1024;
const GROUP: i64 = 8 * 1024;
const MOST: i64 = 48 * 1024 - 64;

/// What CTAs stage in shared memory, and how results are computed from it.
pub(crate) struct Planes {
    /// The view of the input, which the tiles' statements read by `name_data` and `name_at`.
    pub(crate) name: &'static str,
    pub(crate) tensor: Tensor,
    /// Statements that return the input rows of the result rows [`first`, `last`).
    pub(crate) rows: String,
    /// `n` result rows need at most `(n - 1) * ratio.0 / ratio.1 + more` input rows.
    pub(crate) ratio: (i64, i64),
    pub(crate) more: i64,
    /// Bytes of the input rows of a band.
    pub(crate) band: i64,
    /// The function of `resample_planes.cuh` that replaces the statements of tiles, and how many results along a row a thread computes.
    pub(crate) runs: Option<(i64, &'static str)>,
    /// Values that depend on the column or the row only, computed once per CTA.
    pub(crate) table: Option<Table>,
}

/// Tables in shared memory of values per column and per row.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    /// The function that computes an entry; type, number and size of its elements.
    pub(crate) function: &'static str,
    pub(crate) element: &'static str,
    pub(crate) count: i64,
    pub(crate) bytes: i64,
}

/// How planes are divided among CTAs.
pub(crate) struct Shape {
    tile: Tile,
    /// Result rows of a CTA, and its planes.
    band: i64,
    group: i64,
    shared: i64,
    /// Entries of the tables of columns and rows; their bytes.
    tables: [i64; 3],
}

impl Planes {
    fn row_bytes(&self) -> i64 {
        self.tensor.dims()[3].saturating_mul(self.tensor.dtype.bits() as i64) / 8
    }

    /// Bytes of the input rows of `band` result rows.
    fn bytes(&self, band: i64) -> i64 {
        ((band - 1).saturating_mul(self.ratio.0) / self.ratio.1 + self.more).min(self.tensor.dims()[2]).saturating_mul(self.row_bytes())
    }

    /// The division for a destination; `None` if input rows are not contiguous, or too long.
    pub(crate) fn shape(&self, dst: &Layout, tile: Tile) -> Option<Shape> {
        let (t, dims) = (&self.tensor, self.tensor.dims());
        let b = t.blocking().filter(|b| dims.len() == 4 && t.dtype.bits() >= 8 && b.is_plain() && b.padded_dims == *dims)?;
        let dense = b.strides[3] == 1 && b.strides[2] == dims[3];
        if !dense || dims.iter().any(|&n| n < 1) || dst.dims[2] < 1 || self.row_bytes() > MOST {
            return None;
        }
        let (rows, pairs, plane) = (dst.dims[2], dims[0].checked_mul(dims[1])?, dims[2].checked_mul(dims[3])?);
        let whole = plane.saturating_mul(t.dtype.bits() as i64 / 8);
        // The most result rows that need no more input rows than fit.
        let input = (self.band / self.row_bytes() - self.more + 1).max(0).saturating_mul(self.ratio.1);
        let fit = (input - 1).div_euclid(self.ratio.0.max(1)) + 1;
        let band = if whole <= self.band { rows } else { (fit.min(rows) / tile.tall).max(1) * tile.tall };
        // Bands of like sizes.
        let band = ceil(ceil(rows, ceil(rows, band)), tile.tall) * tile.tall;
        let behind = (dims[1] == 1 || b.strides[1] == plane) && (dims[0] == 1 || b.strides[0] == dims[1] * plane);
        let group = if band >= rows && behind { (GROUP / whole).clamp(1, pairs) } else { 1 };
        // A group consists of whole planes.
        let shared = if group > 1 { group * whole } else { self.bytes(band + tile.tall - 1) };
        // Includes the rows and columns of tiles beyond the plane.
        let upper = |n: i64, d: i64| ceil(n, d) * d;
        let (tables, entry) = match (self.runs, self.table) {
            (Some((wide, _)), Some(table)) => ([upper(dst.dims[3], wide), upper(band, tile.tall)], table.count.saturating_mul(table.bytes)),
            _ => ([0; 2], 0),
        };
        let room = upper((tables[0] + tables[1]).saturating_mul(entry), 16);
        let few = tables[0] == 0 || dims[2].max(dims[3]) <= i64::from(u16::MAX);
        (few && shared + room <= MOST).then_some(Shape {
            tile,
            band,
            group,
            shared: shared + room + 32,
            tables: [tables[0], tables[1], room],
        })
    }

    /// The launch; `code` computes a tile.
    pub(crate) fn launch(&self, mut emit: Emitter, dst: &Layout, code: &str, shape: &Shape) -> Launch {
        let (dims, name, word) = (self.tensor.dims(), self.name, type_name(self.tensor.dtype));
        let Shape { tile, band, group, shared, tables } = *shape;
        let wide = self.runs.map_or(1, |r| r.0);
        let (pairs, bands, down) = (dims[0] * dims[1], ceil(dst.dims[2], band), ceil(dst.dims[2], tile.tall));
        emit.define("RANK", dst.ndims());
        emit.option("TALL_TILE", tile.tall);
        emit.option("WIDE_TILE", wide);
        emit.define("STAGED_TYPE", word);
        emit.define("staged_data", format!("{name}_data"));
        emit.define("staged_at", format!("{name}_at"));
        for (name, value) in [("bands", bands), ("band", band), ("group", group), ("pairs", pairs), ("width", dims[3])] {
            emit.number(name, value);
        }
        let table = self.table.filter(|_| tables[2] > 0);
        if let Some(Table { function, element, count, .. }) = table {
            emit.define("TABLE(a, is_column, at, to)", format!("{function}(a, is_column ? 1 : 0, at, to)"));
            emit.code(&format!("typedef {element} Entry;"));
            for (name, value) in [("table_columns", tables[0]), ("table_rows", tables[1]), ("entry", count)] {
                emit.number(name, value);
            }
        }
        emit.number("tables", tables[2]);
        emit.sizes("steps", &[ceil(dst.dims[3], wide), down, dims[1]]);
        emit.numbers("length", &dst.dims);
        emit.code(FINISH_LANES);
        if wide > 1 {
            emit.number("runs", i64::from(is_in_runs(dst, wide)));
            emit.code(FINISH_RUN);
        }
        let rows = if group > 1 { format!("    return {{0, {}}};\n", "(int)a.height") } else { self.rows.clone() };
        if group > 1 {
            emit.number("height", dims[2]);
        }
        emit.code(&format!(
            "DEVICE Rows rows_of(const Args& a, index first, index last) {{\n{rows}}}\n\
             struct Plane {{\n    const {word}::word* words;\n    int first, width;\n{}    \
             DEVICE i64 at(const index* q) const {{ return ((int)q[2] - first) * width + (int)q[3]; }}\n}};\n",
            if table.is_some() { "    const Entry *columns, *rows;\n    int top;\n" } else { "" }
        ));
        let code = match self.runs {
            Some((_, function)) => {
                emit.code("#include \"resample_planes.cuh\"\n");
                format!("    {function}<TALL, WIDE>(a, p, plane);\n")
            }
            None => code.replace(&format!("a.{name}_data, {name}_at(a, q)"), "plane.words, plane.at(q)"),
        };
        emit.code(&tile_of(&code, tile.along, dst.ndims(), ", const Plane& plane"));
        let blocks = (ceil(pairs, group) * bands).min(i64::from(i32::MAX)) as u32;
        let mut launch = emit.launch_blocks("planes", [blocks, 1, 1]);
        launch.shared = shared as u32;
        launch
    }
}

/// Whether the rows of a destination without padding can be written in vectors of `n`.
pub(super) fn is_in_runs(dst: &Layout, n: i64) -> bool {
    let whole = |b: &oxidnn_spec::Blocking| b.offset % n == 0 && (0..3).all(|d| dst.dims[d] == 1 || b.strides[d] % n == 0);
    dst.dims[3] % n == 0 && dst.blocking().is_some_and(|b| b.strides[3] == 1 && whole(b))
}

/// `finish_run`: writes neighbours along a row, as a vector if possible.
pub(super) const FINISH_RUN: &str = "template <int WIDE>\nDEVICE void finish_run(const Args& a, const index* p, const real (&v)[WIDE]) {\n    index q[RANK] = {p[0], p[1], p[2], p[3]};\n    \
    if (a.runs && ((u64)a.dst_data & 15) == 0) {\n        const i64 at = dst_at(a, p);\n        Vector<dst_type, WIDE> out;\n#pragma unroll\n        \
    for (int i = 0; i < WIDE; ++i) {\n            q[3] = p[3] + i;\n            out.words[i] = dst_type::encode(rounded(a, q, at + i, value(a, q, at + i, v[i])));\n        }\n        \
    return out.store(a.dst_data, at);\n    }\n#pragma unroll\n    for (int i = 0; i < WIDE; ++i) {\n        q[3] = p[3] + i;\n        \
    if (q[3] < (index)a.length[3]) finish(a, q, v[i]);\n    }\n}\n";
