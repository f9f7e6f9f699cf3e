//! Zeroing: the padding of results that their kernel does not visit.

use super::map::Map;
use crate::emit::{Real, View};
use crate::program::Program;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Tensor};

/// Whether the tensor has padding.
pub(crate) fn has_padding(tensor: &Tensor) -> bool {
    tensor.blocking().is_some_and(|b| b.padded_dims != *tensor.dims())
}

/// Appends a launch that zeroes the padding of `tensor`, if it has any.
pub(crate) fn padding(program: &mut Program, arg: Arg, tensor: &Tensor) -> Result<(), Skip> {
    if has_padding(tensor) {
        let mut map = Map::over(Real::Single, &tensor.layout);
        map.written(&View::of("dst", arg, tensor))?;
        program.launches.push(map.launch());
    }
    Ok(())
}

/// Appends a launch that zeroes `tensor`, including its padding.
pub(crate) fn all(program: &mut Program, arg: Arg, tensor: &Tensor) -> Result<(), Skip> {
    let mut map = Map::over(Real::Single, &tensor.layout);
    map.written(&View::of("dst", arg, tensor))?;
    map.element.push_str("    clear(a, p);\n");
    program.launches.push(map.launch());
    Ok(())
}
