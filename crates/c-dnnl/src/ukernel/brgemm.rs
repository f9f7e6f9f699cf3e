//! Batch-reduce products: `C (+)= sum of A * B` over lists of pairs of matrices, and the epilogue of `C`.

use super::attr_params::AttrParams;
use super::data_type;
use super::finish::{Finish, Request};
use crate::handle::{Array, ArrayMut, Data, Handle, In, InOut, New, Out, Owned, region};
use crate::isa;
use crate::post_ops::PostOps;
use crate::status::{Failure, Status, guard};
use oxidnn_cpu::CpuTarget;
use oxidnn_cpu::kernels::brgemm::{self as kernel, Shape};
use oxidnn_cpu::kernels::microkernel::DotType;
use oxidnn_spec::DataType;

/// The object behind a `dnnl_brgemm_t`.
#[derive(Debug)]
pub struct Brgemm {
    shape: Shape,
    sums: DataType,
    batch: usize,
    request: Request,
    /// The epilogue, if there is one; created by `finalize`.
    finish: Option<Finish>,
    is_final: bool,
    code: Option<Code>,
}

impl Owned for Brgemm {}

/// Created by `generate`.
#[derive(Debug)]
struct Code {
    /// Accumulates in the caller's `C`.
    to_c: kernel::Brgemm,
    /// Accumulates in the scratchpad, densely.
    to_scratchpad: kernel::Brgemm,
}

/// Values of `dnnl_pack_type_t`.
pub(super) mod pack_type {
    pub(in crate::ukernel) const UNDEF: i32 = 0;
    pub(in crate::ukernel) const NO_TRANS: i32 = 1;
    pub(in crate::ukernel) const TRANS: i32 = 2;
    pub(in crate::ukernel) const PACK32: i32 = 3;
}

/// Supported types of `A`, `B` and the accumulators.
const PRODUCTS: [([DataType; 3], DotType); 5] = [
    ([DataType::F32, DataType::F32, DataType::F32], DotType::F32),
    ([DataType::Bf16, DataType::Bf16, DataType::F32], DotType::Bf16),
    ([DataType::F16, DataType::F16, DataType::F32], DotType::F16),
    ([DataType::U8, DataType::S8, DataType::S32], DotType::U8S8),
    ([DataType::S8, DataType::S8, DataType::S32], DotType::S8S8),
];

/// The required layout of `B`.
fn wanted_packing(product: DotType) -> i32 {
    if product.vnni() == 1 { pack_type::NO_TRANS } else { pack_type::PACK32 }
}

/// The instruction sets that generated code may use here.
fn code_isa() -> Result<kernel::Isa, Failure> {
    CpuTarget::limited(isa::limit(), 1).jit.ok_or_else(|| Failure::unimplemented("kernels of one block where no code is generated"))
}

impl Brgemm {
    /// For sizes `m`, `n`, `k` and the batch size, leading dimensions of `A`, `B` and `C`, and their types.
    pub(super) fn new(sizes: [i64; 4], lds: [i64; 3], types: [i32; 3]) -> Result<Brgemm, Failure> {
        let [a, b, c] = [("a_dt", types[0]), ("b_dt", types[1]), ("c_dt", types[2])].map(|(name, number)| data_type(name, number));
        let types = [a?, b?, c?];
        let size = |name: &str, size: i64, least: i64| -> Result<usize, Failure> {
            let fits = usize::try_from(size).ok().filter(|_| size >= least);
            fits.ok_or_else(|| Failure::invalid(name, size, format_args!("at least {least}")))
        };
        let ([m, n, k, batch], [lda, ldb, ldc]) = (sizes, lds);
        let (sizes, batch) = ((size("M", m, 1)?, size("N", n, 1)?, size("K", k, 1)?), size("batch_size", batch, 1)?);
        let (lda, ldb, ldc) = (size("lda", lda, k)?, size("ldb", ldb, n)?, size("ldc", ldc, n)?);
        let found = PRODUCTS.iter().find(|(of, _)| *of == types).map(|(_, product)| *product);
        let product =
            found.ok_or_else(|| Failure::unimplemented(format_args!("products of {} by {} to {}", types[0], types[1], types[2])))?;
        code_isa()?;
        let (m, n, k) = sizes;
        let shape = Shape { product, m, n, k, lda, ldb, ldc, add: false };
        Ok(Brgemm { shape, sums: types[2], batch, request: Request::default(), finish: None, is_final: false, code: None })
    }

    fn is_finished(&self) -> bool {
        self.request.is_wanted(self.sums)
    }

    fn finalize(&mut self) -> Result<(), Failure> {
        let size = [self.shape.m as i64, self.shape.n as i64];
        self.finish = if self.is_finished() { Some(Finish::new(&self.request, size, self.sums)?) } else { None };
        self.is_final = true;
        self.code = None;
        Ok(())
    }

    /// A setter invalidates the finalised kernel.
    fn change(&mut self) -> &mut Request {
        (self.is_final, self.code) = (false, None);
        &mut self.request
    }

    fn generate(&mut self) -> Result<(), Failure> {
        if !self.is_final {
            return Err(Failure::invalid("brgemm", "one that may change", "one after dnnl_brgemm_finalize"));
        }
        let (isa, shape) = (code_isa()?, self.shape);
        let to_c = kernel::Brgemm::new(isa, shape)?;
        let to_scratchpad = kernel::Brgemm::new(isa, Shape { ldc: shape.n, ..shape })?;
        if let Some(finish) = &mut self.finish {
            finish.generate()?;
        }
        self.code = Some(Code { to_c, to_scratchpad });
        Ok(())
    }

    fn code(&self) -> Result<&Code, Failure> {
        self.code.as_ref().ok_or_else(|| Failure::invalid("brgemm", "one without code", "one after dnnl_brgemm_generate"))
    }

    /// Size in bytes of the accumulators in the scratchpad.
    fn scratchpad_bytes(&self) -> usize {
        if self.is_finished() { self.shape.m.saturating_mul(self.shape.n).saturating_mul(4) } else { 0 }
    }

    /// Accumulates at `sums`.
    fn add_up(&self, code: &kernel::Brgemm, [a, b]: [Data; 2], offsets: Array<'_, i64>, sums: &mut [f32]) -> Result<(), Failure> {
        let offsets = offsets.slice("A_B_offsets", 2 * self.batch)?;
        let mut stack = [[0; 2]; 16];
        let mut heap = if self.batch > stack.len() { vec![[0; 2]; self.batch] } else { Vec::new() };
        let pairs = if self.batch > stack.len() { &mut heap[..] } else { &mut stack[..self.batch] };
        let mut regions = [None; 2];
        let extents = [("A", a, self.shape.a_extent()), ("B", b, self.shape.b_extent())];
        for (side, (name, data, extent)) in extents.into_iter().enumerate() {
            if data.is_null() {
                return Err(Failure::null(name));
            }
            let of_side = || offsets.iter().skip(side).step_by(2);
            let (first, last) = of_side().fold((i64::MAX, i64::MIN), |(low, high), &at| (low.min(at), high.max(at)));
            of_side().zip(&mut *pairs).for_each(|(at, pair)| pair[side] = at.wrapping_sub(first) as usize);
            let bytes = last.checked_sub(first).and_then(|span| (span as usize).checked_add(extent?));
            let bytes = bytes
                .ok_or_else(|| Failure::invalid("A_B_offsets", format_args!("{first} to {last}"), "offsets within the address space"))?;
            regions[side] = Some(region(data.behind(first), bytes));
        }
        let [Some(a), Some(b)] = regions else { return Err(Failure::null("A")) };
        code.run(a, b, pairs, sums);
        Ok(())
    }

    fn execute(&self, operands: [Data; 2], offsets: Array<'_, i64>, c: ArrayMut<'_, f32>) -> Result<(), Failure> {
        let code = &self.code()?.to_c;
        let c = c.slice("C", code.shape().c_extent().unwrap_or(0))?;
        self.add_up(code, operands, offsets, c)
    }

    fn execute_to(
        &self,
        operands: [Data; 2],
        offsets: Array<'_, i64>,
        c: Array<'_, f32>,
        destination: Destination<'_>,
    ) -> Result<(), Failure> {
        let code = &self.code()?.to_scratchpad;
        let Some(finish) = &self.finish else {
            return Err(Failure::invalid("brgemm", "one without post-ops, scales or another type of D", "dnnl_brgemm_execute"));
        };
        if destination.d.is_null() {
            return Err(Failure::null("D"));
        }
        let Shape { m, n, ldc, add, .. } = self.shape;
        let sums = destination.scratchpad.slice("scratchpad", m * n)?;
        if add {
            let c = c.slice("C", (m - 1) * ldc + n)?;
            sums.chunks_mut(n).zip(c.chunks(ldc)).for_each(|(sums, c)| sums.copy_from_slice(&c[..n]));
        }
        self.add_up(code, operands, offsets, sums)?;
        finish.run(Data::from(sums), destination.d, destination.params)
    }
}

/// Inputs and outputs of the epilogue.
struct Destination<'a> {
    d: Data,
    scratchpad: ArrayMut<'a, f32>,
    params: &'a AttrParams,
}

/// The mask of scales, one of the supported ones.
fn mask(mask: i32, known: &[i32]) -> Result<Option<i32>, Failure> {
    let is_known = known.contains(&mask);
    if is_known { Ok(Some(mask)) } else { Err(Failure::invalid("mask", mask, format_args!("one of {known:?}"))) }
}

/// `dnnl_brgemm_create`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the parameters are the interface's")]
pub extern "C" fn dnnl_brgemm_create(
    brgemm: New<'_, Brgemm>,
    m: i64,
    n: i64,
    k: i64,
    batch_size: i64,
    lda: i64,
    ldb: i64,
    ldc: i64,
    a_dt: i32,
    b_dt: i32,
    c_dt: i32,
) -> Status {
    guard("dnnl_brgemm_create", || {
        brgemm.check("brgemm")?;
        brgemm.own("brgemm", Brgemm::new([m, n, k, batch_size], [lda, ldb, ldc], [a_dt, b_dt, c_dt])?)
    })
}

/// `dnnl_brgemm_set_add_C`.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is the interface's")]
pub extern "C" fn dnnl_brgemm_set_add_C(brgemm: InOut<'_, Brgemm>, add: i32) -> Status {
    guard("dnnl_brgemm_set_add_C", || {
        let brgemm = brgemm.get("brgemm")?;
        if !(0..=1).contains(&add) {
            return Err(Failure::invalid("add_C", add, "0 or 1"));
        }
        brgemm.change();
        brgemm.shape.add = add == 1;
        Ok(())
    })
}

/// `dnnl_brgemm_set_post_ops`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_brgemm_set_post_ops(brgemm: InOut<'_, Brgemm>, ldd: i64, d_dt: i32, post_ops: In<'_, PostOps>) -> Status {
    guard("dnnl_brgemm_set_post_ops", || {
        let brgemm = brgemm.get("brgemm")?;
        let n = brgemm.shape.n as i64;
        if ldd < n {
            return Err(Failure::invalid("ldd", ldd, format_args!("at least {n}")));
        }
        let d = Some((ldd, data_type("d_dt", d_dt)?));
        let post_ops = post_ops.optional().map(PostOps::spec).unwrap_or_default();
        let request = brgemm.change();
        (request.d, request.post_ops) = (d, post_ops);
        Ok(())
    })
}

/// `dnnl_brgemm_set_A_scales`.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is the interface's")]
pub extern "C" fn dnnl_brgemm_set_A_scales(brgemm: InOut<'_, Brgemm>, a_scale_mask: i32) -> Status {
    guard("dnnl_brgemm_set_A_scales", || {
        brgemm.get("brgemm")?.change().a_scales = mask(a_scale_mask, &[0])?;
        Ok(())
    })
}

/// `dnnl_brgemm_set_B_scales`.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is the interface's")]
pub extern "C" fn dnnl_brgemm_set_B_scales(brgemm: InOut<'_, Brgemm>, b_scale_mask: i32) -> Status {
    guard("dnnl_brgemm_set_B_scales", || {
        brgemm.get("brgemm")?.change().b_scales = mask(b_scale_mask, &[0, 2])?;
        Ok(())
    })
}

/// `dnnl_brgemm_set_D_scales`.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is the interface's")]
pub extern "C" fn dnnl_brgemm_set_D_scales(brgemm: InOut<'_, Brgemm>, d_scale_mask: i32) -> Status {
    guard("dnnl_brgemm_set_D_scales", || {
        brgemm.get("brgemm")?.change().d_scales = mask(d_scale_mask, &[0])?;
        Ok(())
    })
}

/// `dnnl_brgemm_finalize`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_brgemm_finalize(brgemm: InOut<'_, Brgemm>) -> Status {
    guard("dnnl_brgemm_finalize", || brgemm.get("brgemm")?.finalize())
}

/// `dnnl_brgemm_get_B_pack_type`: undefined if there are no kernels for the types, or none on this processor.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is the interface's")]
pub extern "C" fn dnnl_brgemm_get_B_pack_type(pack_type: Out<'_, i32>, a_dt: i32, b_dt: i32) -> Status {
    guard("dnnl_brgemm_get_B_pack_type", || {
        let (a, b) = (data_type("a_dt", a_dt)?, data_type("b_dt", b_dt)?);
        let found = PRODUCTS.iter().find(|(types, _)| types[..2] == [a, b]).filter(|_| code_isa().is_ok());
        pack_type.set("pack_type", found.map_or(self::pack_type::UNDEF, |(_, product)| wanted_packing(*product)))
    })
}

/// `dnnl_brgemm_get_scratchpad_size`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_brgemm_get_scratchpad_size(brgemm: In<'_, Brgemm>, size: Out<'_, usize>) -> Status {
    guard("dnnl_brgemm_get_scratchpad_size", || size.set("size", brgemm.get("brgemm")?.scratchpad_bytes()))
}

/// `dnnl_brgemm_is_execute_postops_valid`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_brgemm_is_execute_postops_valid(brgemm: In<'_, Brgemm>, valid: Out<'_, i32>) -> Status {
    guard("dnnl_brgemm_is_execute_postops_valid", || valid.set("valid", i32::from(brgemm.get("brgemm")?.is_finished())))
}

/// `dnnl_brgemm_set_hw_context`: no effect.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_brgemm_set_hw_context(brgemm: In<'_, Brgemm>) -> Status {
    guard("dnnl_brgemm_set_hw_context", || brgemm.get("brgemm").map(drop))
}

/// `dnnl_brgemm_release_hw_context`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_brgemm_release_hw_context() -> Status {
    Status::Success
}

/// `dnnl_brgemm_generate`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_brgemm_generate(brgemm: InOut<'_, Brgemm>) -> Status {
    guard("dnnl_brgemm_generate", || brgemm.get("brgemm")?.generate())
}

/// `dnnl_brgemm_execute`: `C (+)= sum of A * B`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_brgemm_execute(
    brgemm: In<'_, Brgemm>,
    a: Data,
    b: Data,
    a_b_offsets: Array<'_, i64>,
    c: ArrayMut<'_, f32>,
    _scratchpad: Data,
) -> Status {
    guard("dnnl_brgemm_execute", || brgemm.get("brgemm")?.execute([a, b], a_b_offsets, c))
}

/// `dnnl_brgemm_execute_postops`: `D` is the epilogue of `C + sum of A * B`, or of the sum alone; `C` is only read.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the parameters are the interface's")]
pub extern "C" fn dnnl_brgemm_execute_postops(
    brgemm: In<'_, Brgemm>,
    a: Data,
    b: Data,
    a_b_offsets: Array<'_, i64>,
    c: Array<'_, f32>,
    d: Data,
    scratchpad: ArrayMut<'_, f32>,
    attr_params: In<'_, AttrParams>,
) -> Status {
    guard("dnnl_brgemm_execute_postops", || {
        let none = AttrParams::default();
        let params = attr_params.optional().unwrap_or(&none);
        brgemm.get("brgemm")?.execute_to([a, b], a_b_offsets, c, Destination { d, scratchpad, params })
    })
}

/// `dnnl_brgemm_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_brgemm_destroy(brgemm: Handle<Brgemm>) -> Status {
    guard("dnnl_brgemm_destroy", || {
        brgemm.destroy();
        Ok(())
    })
}
