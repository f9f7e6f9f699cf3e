use super::*;
use crate::handle::Text;

#[test]
fn enumerators_have_names() {
    for (text, expected) in [
        (dnnl_status2str(2), "invalid_arguments"),
        (dnnl_dt2str(3), "f32"),
        (dnnl_fmt_tag2str(5), "abcd"),
        (dnnl_prop_kind2str(96), "forward_inference"),
        (dnnl_runtime2str(2), "OpenMP"),
        (dnnl_fmt_kind2str(99), "unknown fmt_kind"),
    ] {
        assert_eq!(Text::at(text).get("name"), Ok(expected));
    }
}
