//! Traversals: the positions of a tensor by a linear index, in the order of memory.

use super::Emitter;
use oxidnn_spec::{Format, Layout};
use std::fmt::Write;

/// The dimensions of a layout by decreasing stride; that of the innermost block, if there are blocks, is last.
pub(crate) fn memory_order(layout: &Layout) -> Vec<usize> {
    let mut order: Vec<usize> = (0..layout.ndims()).collect();
    if let Format::Blocked(b) = &layout.format {
        order.sort_by_key(|&d| std::cmp::Reverse(b.strides[d]));
        if let Some((last, _)) = b.inner.iter().next_back() {
            order.retain(|&d| d != last);
            order.push(last);
        }
    }
    order
}

impl Emitter {
    /// Declares `name(a, i, p)`: the position with index `i` among the positions of `dims`, where the last dimension in `order` is fastest. Dimensions that are not
    /// in `order` are not changed in `p`.
    pub(crate) fn traversal(&mut self, name: &str, dims: &[i64], order: &[usize]) {
        let sizes: Vec<i64> = order.iter().skip(1).map(|&d| dims[d]).collect();
        self.sizes(&format!("{name}_size"), &sizes);
        let mut text = format!("DEVICE void {name}(const Args& a, index i, index* p) {{\n");
        for (k, &d) in order.iter().enumerate().rev() {
            let _ = match k {
                0 => writeln!(text, "    p[{d}] = i;"),
                _ => writeln!(text, "    p[{d}] = split(a.{name}_size[{}], i);", k - 1),
            };
        }
        text.push_str("}\n");
        self.code(&text);
    }

    /// As [`Emitter::traversal`], over a tensor that is written, including its padding; with `inside(a, p)`: whether a position is not padding. Returns the number
    /// of positions.
    pub(crate) fn destination(&mut self, layout: &Layout) -> i64 {
        let order = memory_order(layout);
        let mut count: i64 = 1;
        let mut conditions = Vec::new();
        let mut padded = layout.dims;
        if let Format::Blocked(b) = &layout.format {
            for (d, size) in padded.iter_mut().enumerate() {
                let blocked = b.inner.iter().any(|x| x.0 == d);
                if blocked || b.padded_dims[d] != layout.dims[d] {
                    *size = b.padded_dims[d];
                    conditions.push((d, b.padded_offsets[d]));
                }
            }
        }
        for &size in padded.iter() {
            count = count.saturating_mul(size);
        }
        self.define("RANK", padded.len().max(1));
        self.traversal(if conditions.is_empty() { "unravel" } else { "unravel_padded" }, &padded, &order);
        if conditions.is_empty() {
            return count;
        }
        self.define("PADDED", 1);
        let limits: Vec<i64> = conditions.iter().map(|&(d, _)| layout.dims[d]).collect();
        self.numbers("limit", &limits);
        let mut shift = String::new();
        for (d, offset) in conditions.iter().filter(|c| c.1 != 0) {
            let _ = writeln!(shift, "    p[{d}] -= {offset};");
        }
        let inside: Vec<String> =
            conditions.iter().enumerate().map(|(i, (d, _))| format!("p[{d}] >= 0 && p[{d}] < a.limit[{i}]")).collect();
        self.code(&format!(
            "DEVICE void unravel(const Args& a, index i, index* p) {{\n    unravel_padded(a, i, p);\n{shift}}}\n\
             DEVICE bool inside(const Args& a, const index* p) {{ return {}; }}\n",
            inside.join(" && ")
        ));
        count
    }
}
