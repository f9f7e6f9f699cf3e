//! Steps down where code cannot be made for want of memory: the problem is described, with layouts that its caller has been told, so another row of the table
//! computes the same with the same.

use crate::code::Code;
use crate::{Bound, Ctx, Exec, PrimitiveDesc, Region, scratch, verbose};
use oxidnn_spec::Error;
use std::sync::Arc;

/// The code of `desc` by a later row than its own, where that one's cannot be made for want of memory; another reason stays. A row that was asked
/// for by name is not replaced.
pub(super) fn down(desc: &PrimitiveDesc, why: Error) -> Result<Code, Error> {
    if !matches!(why, Error::OutOfMemory { .. }) || !desc.may_step_down() {
        return Err(why);
    }
    let (device, problem, mut row) = (desc.engine().device(), desc.problem(), desc.row() + 1);
    while let Ok(planned) = device.plan(problem, row) {
        row = planned.row + 1;
        let booked = desc.engine().host_visible() || planned.plan.scratch_bytes() <= desc.plan().scratch_bytes();
        if planned.plan.problem() != problem || !booked {
            continue;
        }
        match planned.plan.build() {
            Ok(exec) => {
                verbose::stepped_down(desc, planned.name, &why);
                return Ok(Code { exec: Arc::new(Other { exec, scratch_bytes: planned.plan.scratch_bytes() }), is_fallback: true });
            }
            Err(Error::OutOfMemory { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    Err(why)
}

/// Code of another row than the one that booked the scratch.
struct Other {
    exec: Arc<dyn Exec>,
    scratch_bytes: usize,
}

impl Exec for Other {
    fn run(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        if self.scratch_bytes <= ctx.scratch.len() {
            return self.exec.run(ctx);
        }
        let lease = scratch::arena().lease(self.scratch_bytes)?;
        self.exec.run(&Ctx { scratch: Region::host(lease.buf()), ..*ctx })
    }

    fn scratch_bytes(&self, args: &[Bound<'_>]) -> usize {
        self.exec.scratch_bytes(args).max(self.scratch_bytes)
    }

    fn footprint(&self) -> usize {
        self.exec.footprint()
    }
}
