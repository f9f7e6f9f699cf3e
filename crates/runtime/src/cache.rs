//! The primitive cache.

use crate::PrimitiveDesc;
use crate::code::Code;
use oxidnn_spec::Error;
use std::sync::Arc;

pub(crate) fn code(desc: &PrimitiveDesc) -> Result<Arc<Code>, Error> {
    Ok(Arc::new(Code::new(desc.plan().build()?)))
}
