//! The functions that size, run and differentiate multi-head attention.

use super::call::Call;
use super::desc::AttnDesc;
use super::layout::{Extent, Kept, Work, buffer};
use super::sequences::SeqDataDesc;
use crate::enums::*;
use crate::handle::Handle;
use crate::pointers::{Array, Data, In, Out};
use crate::status::{Failure, Status, guard};
use crate::values;

/// `cudnnGetMultiHeadAttnBuffers`: sizes for the largest sequences of the descriptor. If `reserveSpaceSizeInBytes` is null, the workspace is
/// that of inference, which includes what training keeps in the reserve space.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetMultiHeadAttnBuffers(
    handle: In<'_, Handle>,
    attn_desc: In<'_, AttnDesc>,
    weight_size_in_bytes: Out<'_, usize>,
    work_space_size_in_bytes: Out<'_, usize>,
    reserve_space_size_in_bytes: Out<'_, usize>,
) -> Status {
    guard("cudnnGetMultiHeadAttnBuffers", || {
        handle.get("handle")?;
        let attention = attn_desc.get("attnDesc")?.attention()?;
        let most = Extent::most(attention);
        let (kept, work) = (Kept::new(attention, &most).bytes, Work::new(attention, &most).bytes);
        weight_size_in_bytes.set_optional(attention.weight_bytes());
        work_space_size_in_bytes.set_optional(if reserve_space_size_in_bytes.is_null() { work + kept } else { work });
        reserve_space_size_in_bytes.set_optional(kept);
        Ok(())
    })
}

/// A window for each time-step of the queries.
fn windows<'a>(given: [Array<'a, i32>; 2], steps: i64) -> Result<[&'a [i32]; 2], Failure> {
    Ok([given[0].slice("loWinIdx", steps as usize)?, given[1].slice("hiWinIdx", steps as usize)?])
}

/// The weight buffer, if it is large enough; null if there are no weights.
fn weight_buffer(attention: &super::desc::Attention, data: Data, bytes: usize, name: &str) -> Result<Data, Failure> {
    match attention.weight_bytes() {
        0 => Ok(data),
        need if bytes < need => Err(Failure::small("weightSizeInBytes", bytes, need)),
        _ => data.some(name),
    }
}

/// `cudnnMultiHeadAttnForward`. Without a reserve space it is inference; a `curr_idx` of at least 0 selects a single time-step of the queries.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnMultiHeadAttnForward(
    handle: In<'_, Handle>,
    attn_desc: In<'_, AttnDesc>,
    curr_idx: i32,
    lo_win_idx: Array<'_, i32>,
    hi_win_idx: Array<'_, i32>,
    dev_seq_lengths_qo: Data,
    dev_seq_lengths_kv: Data,
    q_desc: In<'_, SeqDataDesc>,
    queries: Data,
    residuals: Data,
    k_desc: In<'_, SeqDataDesc>,
    keys: Data,
    v_desc: In<'_, SeqDataDesc>,
    values: Data,
    o_desc: In<'_, SeqDataDesc>,
    out: Data,
    weight_size_in_bytes: usize,
    weights: Data,
    work_space_size_in_bytes: usize,
    work_space: Data,
    reserve_space_size_in_bytes: usize,
    reserve_space: Data,
) -> Status {
    guard("cudnnMultiHeadAttnForward", || {
        let (handle, attention) = (handle.get("handle")?, attn_desc.get("attnDesc")?.attention()?);
        let training = !reserve_space.is_null();
        if training && curr_idx >= 0 {
            return Err(Failure::invalid("currIdx", curr_idx, "a negative number with a reserve space: training takes all time-steps"));
        }
        let containers = [q_desc.container("qDesc")?, k_desc.container("kDesc")?, v_desc.container("vDesc")?, o_desc.container("oDesc")?];
        if !residuals.is_null() && attention.outputs() != attention.sizes[0] {
            let got = format_args!("residuals like queries, of {} channels", attention.sizes[0]);
            return Err(Failure::shape("residuals", got, format_args!("{} as the result", attention.outputs())));
        }
        let step = (curr_idx >= 0).then_some(i64::from(curr_idx));
        let call = Call::new(handle, attention, containers, [dev_seq_lengths_qo, dev_seq_lengths_kv], step)?;
        let (kept, work) = (Kept::new(attention, &call.extent).bytes, Work::new(attention, &call.extent).bytes);
        let room = (work_space, work_space_size_in_bytes);
        let base = buffer("workSpace", room, if training { work } else { work + kept })?;
        let reserve = match training {
            true => buffer("reserveSpace", (reserve_space, reserve_space_size_in_bytes), kept)?,
            false => buffer("workSpace", (work_space.behind(work), work_space_size_in_bytes - work), kept)?,
        };
        let mut window = windows([lo_win_idx, hi_win_idx], containers[0].steps())?;
        let skipped = |side: usize| containers[side].step_bytes() * step.unwrap_or(0) as usize;
        if let Some(step) = step {
            window = window.map(|w| &w[step as usize..=step as usize]);
        }
        let residual = if residuals.is_null() { residuals } else { residuals.behind(skipped(0)) };
        let given = [queries.some("queries")?.behind(skipped(0)), keys.some("keys")?, values.some("values")?];
        let weights = weight_buffer(attention, weights, weight_size_in_bytes, "weights")?;
        let to = out.some("out")?.behind(skipped(3));
        let call = call.within(reserve, base);
        let rows = call.forward(given, residual, window, weights)?;
        call.scatter(3, rows, to)?;
        call.finish()
    })
}

/// `cudnnMultiHeadAttnBackwardData`: only checks the windows, since the softmax in the reserve space is already masked.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnMultiHeadAttnBackwardData(
    handle: In<'_, Handle>,
    attn_desc: In<'_, AttnDesc>,
    lo_win_idx: Array<'_, i32>,
    hi_win_idx: Array<'_, i32>,
    dev_seq_lengths_dqdo: Data,
    dev_seq_lengths_dkdv: Data,
    do_desc: In<'_, SeqDataDesc>,
    dout: Data,
    dq_desc: In<'_, SeqDataDesc>,
    dqueries: Data,
    queries: Data,
    dk_desc: In<'_, SeqDataDesc>,
    dkeys: Data,
    keys: Data,
    dv_desc: In<'_, SeqDataDesc>,
    dvalues: Data,
    values: Data,
    weight_size_in_bytes: usize,
    weights: Data,
    work_space_size_in_bytes: usize,
    work_space: Data,
    reserve_space_size_in_bytes: usize,
    reserve_space: Data,
) -> Status {
    guard("cudnnMultiHeadAttnBackwardData", || {
        let (handle, attention) = (handle.get("handle")?, attn_desc.get("attnDesc")?.attention()?);
        let containers =
            [dq_desc.container("dqDesc")?, dk_desc.container("dkDesc")?, dv_desc.container("dvDesc")?, do_desc.container("doDesc")?];
        for (name, data) in [("queries", queries), ("keys", keys), ("values", values)] {
            data.some(name)?;
        }
        windows([lo_win_idx, hi_win_idx], containers[0].steps())?;
        let call = Call::new(handle, attention, containers, [dev_seq_lengths_dqdo, dev_seq_lengths_dkdv], None)?;
        let base = buffer("workSpace", (work_space, work_space_size_in_bytes), Work::new(attention, &call.extent).bytes)?;
        let kept = Kept::new(attention, &call.extent).bytes;
        let reserve = buffer("reserveSpace", (reserve_space, reserve_space_size_in_bytes), kept)?;
        let weights = weight_buffer(attention, weights, weight_size_in_bytes, "weights")?;
        let wanted = [dqueries.some("dqueries")?, dkeys.some("dkeys")?, dvalues.some("dvalues")?];
        let call = call.within(reserve, base);
        call.backward(dout.some("dout")?, wanted, weights)?;
        call.finish()
    })
}

/// `cudnnMultiHeadAttnBackwardWeights`: to be called after `cudnnMultiHeadAttnBackwardData`, which leaves the gradients it needs in the reserve
/// space.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnMultiHeadAttnBackwardWeights(
    handle: In<'_, Handle>,
    attn_desc: In<'_, AttnDesc>,
    add_grad: i32,
    q_desc: In<'_, SeqDataDesc>,
    queries: Data,
    k_desc: In<'_, SeqDataDesc>,
    keys: Data,
    v_desc: In<'_, SeqDataDesc>,
    values: Data,
    do_desc: In<'_, SeqDataDesc>,
    dout: Data,
    weight_size_in_bytes: usize,
    weights: Data,
    dweights: Data,
    work_space_size_in_bytes: usize,
    work_space: Data,
    reserve_space_size_in_bytes: usize,
    reserve_space: Data,
) -> Status {
    guard("cudnnMultiHeadAttnBackwardWeights", || {
        let (handle, attention) = (handle.get("handle")?, attn_desc.get("attnDesc")?.attention()?);
        let add = values::check("addGrad", "cudnnWgradMode_t", add_grad)? == CUDNN_WGRAD_MODE_ADD;
        let containers = [q_desc.container("qDesc")?, k_desc.container("kDesc")?, v_desc.container("vDesc")?, do_desc.container("doDesc")?];
        dout.some("dout")?;
        let call = Call::new(handle, attention, containers, [Data::NULL; 2], None)?;
        let base = buffer("workSpace", (work_space, work_space_size_in_bytes), Work::new(attention, &call.extent).bytes)?;
        let kept = Kept::new(attention, &call.extent).bytes;
        let reserve = buffer("reserveSpace", (reserve_space, reserve_space_size_in_bytes), kept)?;
        weight_buffer(attention, weights, weight_size_in_bytes, "weights")?;
        let to = weight_buffer(attention, dweights, weight_size_in_bytes, "dweights")?;
        let call = call.within(reserve, base);
        let given = [queries.some("queries")?, keys.some("keys")?, values.some("values")?];
        call.by_weights(given, to, if add { 1.0 } else { 0.0 })?;
        call.finish()
    })
}
