//! The CTC loss and its gradient by the forward-backward algorithm over all alignments of labels with time (Graves et al., 2006). No primitive has this
//! recurrence over labels.

use super::view::View;
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_spec::Tensor;

/// The inputs.
pub(crate) struct Loss<'a> {
    pub(crate) handle: &'a Handle,
    /// T x N x A.
    pub(crate) inputs: (&'a Tensor, Data),
    /// The inputs are activations before a softmax.
    pub(crate) is_activation: bool,
    /// Gradients of steps beyond a sample's end become zero; otherwise they are not written.
    pub(crate) zero_behind: bool,
}

/// The blank label.
const BLANK: usize = 0;

/// `ln(exp(a) + exp(b))`.
fn add(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

impl Loss<'_> {
    /// Costs of all samples in single precision, and gradients if requested, always with respect to the activations before a softmax.
    pub(crate) fn run(
        &self,
        labels: &[i32],
        [label_lengths, input_lengths]: [&[i32]; 2],
        costs: Data,
        gradients: Option<(&Tensor, Data)>,
    ) -> Result<(), Failure> {
        let dims = *self.inputs.0.dims();
        let (steps, letters) = (dims[0] as usize, dims[2] as usize);
        let inputs = View::new(self.handle, self.inputs.0, self.inputs.1)?;
        let gradients = match gradients {
            Some((tensor, _)) if *tensor.dims() != dims => return Err(Failure::shape("gradientsDesc", tensor.dims(), dims)),
            Some((tensor, data)) => Some(View::new(self.handle, tensor, data)?),
            None => None,
        };
        let mut rest = labels;
        for (n, (&length, &time)) in label_lengths.iter().zip(input_lengths).enumerate() {
            let (mine, others) = rest.split_at(length as usize);
            rest = others;
            let time = usize::try_from(time).ok().filter(|t| *t <= steps);
            let time = time.ok_or_else(|| Failure::invalid("inputLengths", input_lengths[n], format_args!("0 to {steps}")))?;
            let known = |l: &i32| usize::try_from(*l).ok().filter(|l| *l != BLANK && *l < letters);
            let mine: Option<Vec<usize>> = mine.iter().map(known).collect();
            let mine = mine.ok_or_else(|| Failure::invalid("labels", "a label that is none", format_args!("1 to {}", letters - 1)))?;
            let logs = self.logs(&inputs, n, time, letters);
            let sample = Sample::new(&logs, &mine);
            costs.behind(n * size_of::<f32>()).write("costs", -sample.total as f32)?;
            if let Some(view) = &gradients {
                self.write(view, n, &sample, &logs);
            }
        }
        Ok(())
    }

    /// Logarithms of the probabilities of a sample.
    fn logs(&self, inputs: &View<'_>, n: usize, time: usize, letters: usize) -> Vec<Vec<f64>> {
        let step = |t: usize| {
            let row: Vec<f64> = (0..letters).map(|a| inputs.get(&[t as i64, n as i64, a as i64])).collect();
            if !self.is_activation {
                return row.into_iter().map(f64::ln).collect();
            }
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum = row.iter().map(|v| (v - most).exp()).sum::<f64>().ln() + most;
            row.into_iter().map(|v| v - sum).collect()
        };
        (0..time).map(step).collect()
    }

    /// Gradients of a sample; zero where no alignment is possible.
    fn write(&self, view: &View<'_>, n: usize, sample: &Sample, logs: &[Vec<f64>]) {
        let dims = *view.tensor.dims();
        let possible = sample.total > f64::NEG_INFINITY;
        for t in 0..dims[0] {
            let Some(row) = logs.get(t as usize) else {
                if self.zero_behind {
                    (0..dims[2]).for_each(|a| view.set(&[t, n as i64, a], 0.0));
                }
                continue;
            };
            let mut shares = vec![f64::NEG_INFINITY; row.len()];
            for (s, &letter) in sample.path.iter().enumerate() {
                shares[letter] = add(shares[letter], sample.before[t as usize][s] + sample.after[t as usize][s]);
            }
            for (a, (log, share)) in row.iter().zip(shares).enumerate() {
                // Both sums include the emission of this step: subtract it once.
                let value = if possible { log.exp() - (share - log - sample.total).exp() } else { 0.0 };
                view.set(&[t, n as i64, a as i64], if value.is_nan() { 0.0 } else { value });
            }
        }
    }
}

/// The forward-backward algorithm over the alignments of one sample.
struct Sample {
    /// The labels with a blank before, between and after them.
    path: Vec<usize>,
    /// Logarithms of the forward and backward variables, by step and position in the label sequence with blanks, both including the emission.
    before: Vec<Vec<f64>>,
    after: Vec<Vec<f64>>,
    /// Logarithm of the probability of the labels.
    total: f64,
}

impl Sample {
    fn new(logs: &[Vec<f64>], labels: &[usize]) -> Sample {
        let path: Vec<usize> = labels.iter().flat_map(|&l| [BLANK, l]).chain([BLANK]).collect();
        let forward = sums(logs.iter(), &path);
        let turned: Vec<usize> = path.iter().rev().copied().collect();
        let mut after = sums(logs.iter().rev(), &turned);
        after.reverse();
        after.iter_mut().for_each(|row| row.reverse());
        let total = match forward.last() {
            Some(last) => last.iter().rev().take(2).copied().fold(f64::NEG_INFINITY, add),
            None if labels.is_empty() => 0.0,
            None => f64::NEG_INFINITY,
        };
        Sample { path, before: forward, after, total }
    }
}

/// The forward variables, by step and position: a position is reached from itself, from the previous one, and from the one before that if that is
/// another label.
fn sums<'a>(logs: impl Iterator<Item = &'a Vec<f64>>, path: &[usize]) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    for row in logs {
        let place = |s: usize| {
            let from = match all.last() {
                None => return if s < 2 { row[path[s]] } else { f64::NEG_INFINITY },
                Some(last) => {
                    let near = add(last[s], if s > 0 { last[s - 1] } else { f64::NEG_INFINITY });
                    let skips = s > 1 && path[s] != BLANK && path[s] != path[s - 2];
                    if skips { add(near, last[s - 2]) } else { near }
                }
            };
            from + row[path[s]]
        };
        let next = (0..path.len()).map(place).collect();
        all.push(next);
    }
    all
}
