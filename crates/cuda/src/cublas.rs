//! cuBLASLt as a peer for benchmarks, loaded at run time: products by the first algorithm of its heuristics. One of the files with unsafe code.

use crate::device::CudaDevice;
use crate::driver::{Block, Current};
use crate::queue::CudaQueue;
use cudarc::cublaslt::sys::{
    self, cublasComputeType_t as Compute, cublasLtEpilogue_t as Epilogue, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t as Of,
    cublasLtMatmulHeuristicResult_t, cublasLtMatmulPreferenceAttributes_t as Prefer, cublasLtMatrixLayout_t,
    cublasLtMatrixLayoutAttribute_t as Layout, cublasStatus_t, cudaDataType_t as Kind,
};
use oxidnn_spec::{DataType, Error};
use std::ffi::c_void;
use std::ptr;

/// Bytes of workspace, as PyTorch has on Hopper.
const WORKSPACE: usize = 32 << 20;

/// The epilogue of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behind {
    /// Nothing.
    Nothing,
    /// A bias per column.
    Bias,
    /// A bias and ReLU.
    BiasRelu,
    /// A bias and GELU (tanh).
    BiasGelu,
}

/// A batched product of row-major or column-major matrices.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// M, N, K, batch.
    pub sizes: [i64; 4],
    /// Types of source, weights and destination.
    pub types: [DataType; 3],
    /// Source and weights are column-major.
    pub turned: [bool; 2],
    /// f32 operands may be rounded to tf32.
    pub rounded: bool,
    /// The epilogue.
    pub behind: Behind,
}

/// A product with its memory and algorithm, ready to run.
#[derive(Debug)]
pub struct Prepared {
    handle: sys::cublasLtHandle_t,
    operation: cublasLtMatmulDesc_t,
    layouts: [cublasLtMatrixLayout_t; 3],
    algorithm: cublasLtMatmulHeuristicResult_t,
    whole: bool,
    /// Weights, source, destination, bias, workspace.
    blocks: Vec<Block>,
    device: CudaDevice,
}

fn check(function: &'static str, status: cublasStatus_t) -> Result<(), Error> {
    match status {
        cublasStatus_t::CUBLAS_STATUS_SUCCESS => Ok(()),
        other => Err(Error::Runtime(format!("{function}: {other:?}"))),
    }
}

fn kind(dtype: DataType) -> Result<Kind, Error> {
    Ok(match dtype {
        DataType::F32 => Kind::CUDA_R_32F,
        DataType::F16 => Kind::CUDA_R_16F,
        DataType::Bf16 => Kind::CUDA_R_16BF,
        DataType::F8E4m3 => Kind::CUDA_R_8F_E4M3,
        DataType::F8E5m2 => Kind::CUDA_R_8F_E5M2,
        DataType::S8 => Kind::CUDA_R_8I,
        DataType::S32 => Kind::CUDA_R_32I,
        other => return Err(Error::Runtime(format!("cuBLASLt has no products of {other}"))),
    })
}

impl Prepared {
    /// Prepares the product with these bytes of source and weights.
    ///
    /// # Errors
    /// [`Error::Runtime`] if there is no library, or it does not support the product.
    pub fn new(queue: &CudaQueue, p: &Product, [source, weights]: [&[u8]; 2]) -> Result<Prepared, Error> {
        // SAFETY: asks the loader for a library; its initialisers are its own.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::Runtime("no libcublasLt.so was found: name its directory in LD_LIBRARY_PATH".into()));
        }
        let device = queue.device();
        let _current = Current::of(&device.context)?;
        let [m, n, _, batch] = p.sizes;
        let bytes = |dtype: DataType, elements: i64| elements as usize * dtype.bits() / 8;
        let mut blocks = Vec::new();
        for size in [weights.len(), source.len(), bytes(p.types[2], m * n * batch), bytes(p.types[2], n), WORKSPACE] {
            blocks.push(device.pool.allocate(size, None)?);
        }
        // SAFETY: the blocks were just made, as long as the bytes.
        unsafe {
            queue.stream().upload(weights, blocks[0].address())?;
            queue.stream().upload(source, blocks[1].address())?;
        }
        let whole = p.types[0] == DataType::S8;
        let (compute, scale) = match p.types[0] {
            DataType::S8 => (Compute::CUBLAS_COMPUTE_32I, Kind::CUDA_R_32I),
            DataType::F32 if p.rounded => (Compute::CUBLAS_COMPUTE_32F_FAST_TF32, Kind::CUDA_R_32F),
            _ => (Compute::CUBLAS_COMPUTE_32F, Kind::CUDA_R_32F),
        };
        let mut made = Prepared {
            handle: ptr::null_mut(),
            operation: ptr::null_mut(),
            layouts: [ptr::null_mut(); 3],
            // SAFETY: a plain C structure, which the heuristics fill.
            algorithm: unsafe { std::mem::zeroed() },
            whole,
            blocks,
            device: device.clone(),
        };
        // SAFETY: writes a handle.
        check("cublasLtCreate", unsafe { sys::cublasLtCreate(&raw mut made.handle) })?;
        // SAFETY: writes a handle.
        check("cublasLtMatmulDescCreate", unsafe { sys::cublasLtMatmulDescCreate(&raw mut made.operation, compute, scale) })?;
        made.describe(p)?;
        made.choose()?;
        Ok(made)
    }

    fn set<T>(&self, what: Of, value: &T) -> Result<(), Error> {
        // SAFETY: reads one value of its size; the description lives.
        check("cublasLtMatmulDescSetAttribute", unsafe {
            sys::cublasLtMatmulDescSetAttribute(self.operation, what, ptr::from_ref(value).cast(), size_of::<T>())
        })
    }

    /// cuBLASLt is column-major: it computes the transposed product, weights^T source^T.
    fn describe(&mut self, p: &Product) -> Result<(), Error> {
        let ([m, n, k, batch], [source, weights]) = (p.sizes, p.turned);
        for (what, turned) in [(Of::CUBLASLT_MATMUL_DESC_TRANSA, weights), (Of::CUBLASLT_MATMUL_DESC_TRANSB, source)] {
            self.set(what, &i32::from(turned))?;
        }
        let epilogue = match p.behind {
            Behind::Nothing => Epilogue::CUBLASLT_EPILOGUE_DEFAULT,
            Behind::Bias => Epilogue::CUBLASLT_EPILOGUE_BIAS,
            Behind::BiasRelu => Epilogue::CUBLASLT_EPILOGUE_RELU_BIAS,
            Behind::BiasGelu => Epilogue::CUBLASLT_EPILOGUE_GELU_BIAS,
        };
        if p.behind != Behind::Nothing {
            self.set(Of::CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue)?;
            self.set(Of::CUBLASLT_MATMUL_DESC_BIAS_POINTER, &self.blocks[3].address())?;
        }
        let shape = |rows: i64, columns: i64, turned: bool| if turned { [columns, rows] } else { [rows, columns] };
        let all = [(p.types[1], shape(n, k, weights)), (p.types[0], shape(k, m, source)), (p.types[2], [n, m])];
        for (i, (dtype, [rows, columns])) in all.into_iter().enumerate() {
            // SAFETY: writes a handle.
            check("cublasLtMatrixLayoutCreate", unsafe {
                sys::cublasLtMatrixLayoutCreate(&raw mut self.layouts[i], kind(dtype)?, rows as u64, columns as u64, rows)
            })?;
            if batch > 1 {
                let (count, step) = (batch as i32, rows * columns);
                // SAFETY: reads one number each; the layout lives.
                let status = unsafe {
                    let first = sys::cublasLtMatrixLayoutSetAttribute(
                        self.layouts[i],
                        Layout::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                        (&raw const count).cast(),
                        4,
                    );
                    let second = sys::cublasLtMatrixLayoutSetAttribute(
                        self.layouts[i],
                        Layout::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                        (&raw const step).cast(),
                        8,
                    );
                    [first, second]
                };
                status.into_iter().try_for_each(|s| check("cublasLtMatrixLayoutSetAttribute", s))?;
            }
        }
        Ok(())
    }

    fn choose(&mut self) -> Result<(), Error> {
        let (mut preference, mut count) = (ptr::null_mut(), 0);
        // SAFETY: writes a handle.
        check("cublasLtMatmulPreferenceCreate", unsafe { sys::cublasLtMatmulPreferenceCreate(&raw mut preference) })?;
        let [a, b, c] = self.layouts;
        let size = WORKSPACE;
        // SAFETY: reads one number; reads the descriptions and writes one result and their count; the preference is destroyed once.
        let status = unsafe {
            let what = Prefer::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
            sys::cublasLtMatmulPreferenceSetAttribute(preference, what, (&raw const size).cast(), size_of::<usize>());
            let found = &raw mut self.algorithm;
            let status = sys::cublasLtMatmulAlgoGetHeuristic(self.handle, self.operation, a, b, c, c, preference, 1, found, &raw mut count);
            sys::cublasLtMatmulPreferenceDestroy(preference);
            status
        };
        check("cublasLtMatmulAlgoGetHeuristic", status)?;
        if count == 0 { Err(Error::Runtime("cuBLASLt has no algorithm for it".into())) } else { Ok(()) }
    }

    /// Enqueues the product on the queue's stream.
    ///
    /// # Errors
    /// [`Error::Runtime`] if the library fails.
    pub fn run(&self, queue: &CudaQueue) -> Result<(), Error> {
        let _current = Current::of(&self.device.context)?;
        let ([one, zero], [whole_one, whole_zero]) = ([1f32, 0f32], [1i32, 0i32]);
        let scalar = |float: &f32, whole: &i32| -> *const c_void {
            if self.whole { ptr::from_ref(whole).cast() } else { ptr::from_ref(float).cast() }
        };
        let at = |i: usize| ptr::with_exposed_provenance_mut::<c_void>(self.blocks[i].address() as usize);
        let [a, b, c] = self.layouts;
        // SAFETY: the memory is this value's own, as large as the layouts say; the scalars have the operation's type.
        check("cublasLtMatmul", unsafe {
            sys::cublasLtMatmul(
                self.handle,
                self.operation,
                scalar(&one, &whole_one),
                at(0),
                a,
                at(1),
                b,
                scalar(&zero, &whole_zero),
                at(2),
                c,
                at(2),
                c,
                &raw const self.algorithm.algo,
                at(4),
                WORKSPACE,
                queue.stream().raw().cast(),
            )
        })
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: made by `new`, destroyed once; null where `new` failed before.
        unsafe {
            for layout in self.layouts.into_iter().filter(|l| !l.is_null()) {
                sys::cublasLtMatrixLayoutDestroy(layout);
            }
            if !self.operation.is_null() {
                sys::cublasLtMatmulDescDestroy(self.operation);
            }
            if !self.handle.is_null() {
                sys::cublasLtDestroy(self.handle);
            }
        }
    }
}
