//! Primitives: ready code for a problem. `Send + Sync`, cheap to clone, executed from any number of threads at once.

use crate::code::Code;
use crate::execute::{Matching, Request, execute};
use crate::{Exec, Memory, PrimitiveDesc, Stream, cache, verbose};
use oxidnn_spec::{Arg, Error};
use std::fmt;
use std::sync::Arc;

/// Ready code of one implementation of one problem.
#[derive(Clone)]
pub struct Primitive {
    desc: PrimitiveDesc,
    code: Arc<Code>,
}

impl PrimitiveDesc {
    /// The primitive: its code is made, or comes from the process-wide cache.
    ///
    /// # Errors
    /// [`Error::Runtime`] or [`Error::OutOfMemory`] when code cannot be made.
    pub fn create(&self) -> Result<Primitive, Error> {
        let begin = verbose::clock(verbose::PROFILE_CREATE);
        let (code, hit) = cache::code(self).inspect_err(|e| verbose::failed("create", self.problem().op.kind(), e))?;
        verbose::created(self, hit, begin);
        if !hit {
            prepare(self);
        }
        Ok(Primitive { desc: self.clone(), code })
    }
}

impl Primitive {
    /// What it does.
    pub fn desc(&self) -> &PrimitiveDesc {
        &self.desc
    }

    /// The code that executions run.
    pub fn exec(&self) -> &Arc<dyn Exec> {
        &self.code.exec
    }

    /// Computes once. Everything is checked before a byte is written; a checked, repeated execution allocates nothing.
    ///
    /// `args` are all of [`PrimitiveDesc::operands`], in any order (the same order is fastest). For an in-place execution, source and
    /// destination are the same memory. On an asynchronous stream the work may still be running on return.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`], with the problem line, for an argument that is unknown, missing, passed twice, of another type, shape,
    /// layout or engine, null, read-only though written, or in use elsewhere; for a scratchpad that is too small; for a stream of
    /// another engine; for runtime sizes that do not fit each other. Whatever else the implementation reports.
    pub fn execute(&self, stream: &Stream, args: &[(Arg, &Memory<'_>)]) -> Result<(), Error> {
        execute(&Request {
            desc: &self.desc,
            code: &self.code,
            stream,
            args,
            matching: Matching::Descriptions,
            member: None,
            aliased: false,
        })
    }

    /// As [`Primitive::execute`], for faces whose callers say little about their arguments: arguments that the primitive does not have are
    /// ignored, and memory is bytes, read and written as the primitive describes them (except for sizes that only the execution gives),
    /// whichever engine the memory was made on.
    ///
    /// # Errors
    /// As [`Primitive::execute`]; instead of descriptions that differ, too few bytes are refused.
    pub fn execute_bytes(&self, stream: &Stream, args: &[(Arg, &Memory<'_>)]) -> Result<(), Error> {
        execute(&Request { desc: &self.desc, code: &self.code, stream, args, matching: Matching::Bytes, member: None, aliased: false })
    }
}

/// Makes the code of the example sizes that the problem's attributes name, so that later primitives find it in the cache. Failures are
/// reported only when a primitive asks for the code.
fn prepare(desc: &PrimitiveDesc) {
    for example in desc.given().examples() {
        let _ = PrimitiveDesc::new(desc.engine(), example).and_then(|desc| cache::code(&desc));
    }
}

impl fmt::Debug for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Primitive({:?})", self.desc)
    }
}
