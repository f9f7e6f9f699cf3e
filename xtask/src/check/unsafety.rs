//! Where unsafe code may be. That every block says why it is safe is clippy's `undocumented_unsafe_blocks`.

use crate::code;
use crate::tree::Tree;
use anyhow::Result;

#[cfg(test)]
mod tests;

/// Crates that may have unsafe code, in the files below; every other one forbids it in its root.
const CRATES: &[&str] = &["runtime", "cpu", "cuda", "jit", "peer", "c-dnnl", "c-cudnn", "c-cudart"];

/// The files with unsafe code, tests and examples included, and what for.
const FILES: &[(&str, &str)] = &[
    ("crates/runtime/src/buf.rs", "typed slices over the untyped memory of arguments"),
    ("crates/runtime/src/stack.rs", "asks for the bounds of a stack, and lends values to a thread that is waited for"),
    ("crates/runtime/src/region.rs", "regions that a queue keeps beyond the call"),
    ("crates/runtime/src/execute.rs", "submits work whose memory it has borrowed or holds"),
    ("crates/runtime/src/queue/mod.rs", "submissions are a promise about memory"),
    ("crates/runtime/src/queue/immediate.rs", "submissions are a promise about memory"),
    ("crates/runtime/src/queue/asynchronous.rs", "keeps submitted regions until the work is done"),
    ("crates/runtime/src/threads/mod.rs", "an executor is a promise about tasks and workers"),
    ("crates/runtime/src/threads/caller.rs", "an executor is a promise about tasks and workers"),
    ("crates/runtime/src/exec.rs", "arguments as slices where nothing written overlaps them, and copies of what an execution has"),
    ("crates/runtime/tests/remote/mod.rs", "a test's device that lends copies of its bytes to kernels"),
    ("crates/runtime/tests/models/main.rs", "what the threads of a model share, which its checker watches"),
    ("crates/runtime/tests/models/queue.rs", "submissions are a promise about memory"),
    ("crates/runtime/src/fork.rs", "asks the C library to call back around forks"),
    ("crates/runtime/src/threads/float.rs", "reads and writes the processor's floating-point settings"),
    ("crates/runtime/src/memory/alloc.rs", "aligned allocations"),
    ("crates/runtime/src/memory/map.rs", "mapped memory as slices"),
    ("crates/runtime/src/memory/raw.rs", "memory over pointers of the caller's"),
    ("crates/runtime/src/threads/pool.rs", "closures that borrow run on other threads and end before the call returns"),
    ("crates/c-dnnl/src/handle/tests.rs", "takes back what was given out"),
    ("crates/c-dnnl/src/interop.rs", "contexts and streams of the caller's"),
    ("crates/c-dnnl/src/omp.rs", "asks the process's OpenMP library how many threads it allows, and runs on them"),
    ("crates/c-dnnl/src/omp/tests.rs", "loads an OpenMP library"),
    ("crates/c-dnnl/src/reserve.rs", "an allocator with a reserve"),
    ("crates/c-dnnl/src/reserve/tests.rs", "allocates and frees"),
    ("crates/c-dnnl/src/threadpool/iface.rs", "calls virtual functions of the caller's thread pool"),
    ("crates/c-dnnl/src/handle.rs", "what C passes: pointers to objects, results, arrays, text and data"),
    ("crates/c-cudnn/src/pointers.rs", "what C passes: pointers to objects, results, arrays, text and data"),
    ("crates/c-cudnn/src/host_runtime.rs", "asks the process for the CUDA runtime on the host, and calls it"),
    ("crates/c-cudart/src/memory.rs", "memory of the host's in the place of a device's"),
    ("crates/cpu/src/kernels/amx/epilogue.rs", "runs kernels for tiles of AMX within bounds that were checked"),
    ("crates/cpu/src/kernels/amx/block.rs", "runs kernels for tiles of AMX within bounds that were checked"),
    ("crates/cpu/src/kernels/extent.rs", "lends slices to generated code"),
    ("crates/cpu/src/kernels/code.rs", "says what type of function generated code is"),
    ("crates/cpu/src/kernels/microkernel/mod.rs", "runs generated tiles within bounds that were checked"),
    ("crates/cpu/src/kernels/microkernel/interleave.rs", "vector loads and stores of rows and panels that lie in slices"),
    ("crates/cpu/src/kernels/microkernel/tests.rs", "lends memory of a test to a kernel"),
    ("crates/cpu/src/kernels/microkernel/upconvert/tests.rs", "lends memory of a test to a kernel"),
    ("crates/cpu/src/kernels/microkernel/epilogue/tests.rs", "lends memory of a test to a kernel"),
    ("crates/cpu/src/ops/rnn/postgemm/mod.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/ops/rnn/postgemm/tests.rs", "lends memory of a test to a kernel"),
    ("crates/cpu/src/kernels/macrokernel/tests.rs", "lends memory of a test to a kernel"),
    ("crates/cpu/src/kernels/gemv/call.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/pointwise/generated.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/pointwise/generated/apart.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/online.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/strip.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/columns.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/blend.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/responses.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/bytes.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/lookup.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/permute.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/transpose.rs", "calls generated code with addresses that it has checked"),
    ("crates/cpu/src/kernels/pointwise/generated/tests.rs", "lends memory of a test to a kernel"),
    ("crates/jit/src/arena/fork.rs", "asks the C library to call back before forks"),
    ("crates/jit/src/arena/map.rs", "maps executable memory"),
    ("crates/jit/src/arena/entry.rs", "calls code in executable memory"),
    ("crates/jit/examples/dot.rs", "runs generated code"),
    ("crates/jit/src/arena/tests.rs", "runs generated code"),
    ("crates/jit/src/emulator/memory.rs", "loads and stores of emulated code"),
    ("crates/jit/src/emulator/mod.rs", "is called in place of generated code"),
    ("crates/jit/src/emulator/tests.rs", "runs generated code"),
    ("crates/jit/src/isa/amx.rs", "asks processor and system whether tiles may be used"),
    ("crates/jit/src/testing.rs", "runs generated code in tests"),
    ("crates/jit/tests/fork.rs", "forks, and runs generated code"),
    ("crates/cpu/src/kernels/multiversion.rs", "entry to code compiled for wider instruction sets"),
    ("crates/cpu/src/kernels/scratch.rs", "disjoint parts of scratch for workers"),
    ("crates/cpu/src/peak.rs", "runs generated loops"),
    ("crates/cpu/src/kernels/winograd.rs", "calls generated kernels whose operands it has checked"),
    ("crates/cpu/src/row.rs", "takes the scratch of an execution"),
    ("crates/cpu/tests/common/mod.rs", "buffers made without an engine, and an executor"),
    ("crates/cpu/tests/matrices.rs", "an executor is a promise about tasks and workers"),
    ("crates/cpu/tests/rows.rs", "an executor is a promise about tasks and workers"),
    ("crates/cpu/tests/light/mod.rs", "buffers made without an engine"),
    ("crates/cuda/src/compile/nvrtc.rs", "calls NVIDIA's compiler, loaded at run time"),
    ("crates/cuda/src/cublas.rs", "calls cuBLASLt, loaded at run time, to race against"),
    ("crates/cuda/src/driver/mod.rs", "starts the CUDA driver, loaded at run time"),
    ("crates/cuda/src/driver/context.rs", "contexts of the CUDA driver"),
    ("crates/cuda/src/driver/graph.rs", "graphs of the CUDA driver"),
    ("crates/cuda/src/driver/memory.rs", "memory of GPUs"),
    ("crates/cuda/src/driver/module.rs", "code of GPUs and its launches"),
    ("crates/cuda/src/driver/stream.rs", "streams and events of the CUDA driver"),
    ("crates/cuda/src/driver/tensor_map.rs", "asks the driver to describe tensors"),
    ("crates/cuda/src/device.rs", "hands out memory of a GPU"),
    ("crates/cuda/src/exec.rs", "launches kernels with arguments that were checked"),
    ("crates/cuda/src/queue.rs", "copies between regions that the runtime lends"),
    ("crates/cuda/tests/common/mod.rs", "loads NVIDIA's compiler"),
    ("crates/peer/src/call.rs", "calls functions of a library loaded at run time"),
    ("crates/peer/src/graph/handle.rs", "what graphs of another library pass and give out"),
    ("crates/peer/src/handle.rs", "owns what such a library gives out"),
    ("crates/runtime/src/memory/tests.rs", "tests memory over pointers"),
    ("crates/runtime/tests/allocations.rs", "an allocator that counts"),
    ("crates/runtime/tests/primitives.rs", "tests memory over pointers"),
    ("crates/testing/tests/allocations.rs", "an allocator that counts"),
    ("crates/cli/tests/hostile/main.rs", "an allocator that counts"),
    ("crates/graph/tests/partitions/allocations.rs", "an allocator that counts"),
];

/// Attributes that give a symbol its name, which a face's functions have: the name is what may clash, not the function's code.
const EXPORT: [&str; 2] = ["no_mangle", "export_name"];
/// Where these attributes may be: the sources of the C interfaces.
const FACES: [&str; 3] = ["crates/c-dnnl/src/", "crates/c-cudnn/src/", "crates/c-cudart/src/"];

/// Unsafe code is in the files named and in no other, and the crates without any forbid it.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (file, text) in tree.rust()? {
        wrong.extend(file_rule(&file, &text));
    }
    for root in tree.crate_roots()? {
        wrong.extend(root_rule(&root, &tree.read(&root)?));
    }
    Ok(wrong)
}

fn file_rule(file: &str, text: &str) -> Option<String> {
    let code = code::blanked(text);
    let words = code::words(&code);
    let exports = FACES.iter().any(|face| file.starts_with(face));
    let is_export = |i: usize| exports && i > 0 && words[i - 1].text == "[" && words.get(i + 2).is_some_and(|w| EXPORT.contains(&w.text));
    let has = words.iter().enumerate().any(|(i, w)| w.text == "unsafe" && !is_export(i));
    let named = FILES.iter().any(|(name, _)| *name == file);
    match (has, named) {
        (true, false) => Some(format!("{file}: unsafe code outside the files that xtask/src/check/unsafety.rs names")),
        (false, true) => Some(format!("{file}: no unsafe code; take it off the list in xtask/src/check/unsafety.rs")),
        _ => None,
    }
}

fn root_rule(root: &str, text: &str) -> Option<String> {
    let name = root.split('/').nth(1).unwrap_or_default();
    let must = !CRATES.contains(&name);
    (must && !text.contains("#![forbid(unsafe_code)]")).then(|| format!("{root}: must say #![forbid(unsafe_code)]"))
}
