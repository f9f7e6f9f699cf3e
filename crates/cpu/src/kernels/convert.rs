//! Bulk conversion between stored elements and `f32`.

pub(super) use oxidnn_expr::convert::{from_f32, to_f32};
