use super::*;
use oxidnn_spec::op::RnnActivation;

/// A region of elements that only this test uses.
fn buf<T>(x: &mut [T]) -> Buf<'_> {
    // SAFETY: the tests run their kernels while the slice lives, and read it only afterwards.
    unsafe { Buf::new(x.as_mut_ptr().cast(), size_of_val(x)) }
}

fn isas() -> Vec<Isa> {
    [Isa::AVX2, Isa::AVX512, Isa::AVX512_BF16].into_iter().filter(|isa| isa.is_present()).collect()
}

const PASSES: [Pass; 8] = [
    Pass::Vanilla(RnnActivation::Tanh, Real::new(0.0)),
    Pass::Lstm { peephole: false, projected: false },
    Pass::Lstm { peephole: true, projected: false },
    Pass::Lstm { peephole: false, projected: true },
    Pass::Projection,
    Pass::GruPart1,
    Pass::GruPart2,
    Pass::LbrGru,
];

const WIDTH: usize = 32;

fn spec(pass: Pass, channels: usize) -> Spec {
    Spec {
        pass,
        columns: WIDTH as u16,
        width: WIDTH as u16,
        state: Elem::F32,
        cell: Elem::F32,
        whole: false,
        training: false,
        attention: false,
        masked: !channels.is_multiple_of(WIDTH),
        linear: false,
    }
}

const NUMBERS: Scalars = Scalars { scale: 100.0, shift: 3.0, linear: [0.5, 0.25, 2.0, -1.0, 3.0] };

/// The memory of a call of a few rows, by field.
struct Memory {
    rows: usize,
    channels: usize,
    fields: Vec<Vec<f32>>,
    kept_gate: usize,
}

/// Elements of a row of a field: enough for all gates.
const ROW: usize = 4 * WIDTH;

impl Memory {
    fn new(rows: usize, channels: usize) -> Memory {
        let number = |field: usize, i: usize| ((field * 131 + i * 37) % 101) as f32 / 40.0 - 1.25;
        let fields = (0..Field::ALL.len()).map(|field| (0..rows * ROW).map(|i| number(field, i)).collect()).collect();
        Memory { rows, channels, fields, kept_gate: WIDTH * 4 }
    }

    fn run(&mut self, cell: &Postgemm) {
        let mut call = Call::new(self.rows, (self.channels, WIDTH), &NUMBERS);
        call.kept_gate = self.kept_gate;
        for (field, memory) in Field::ALL.into_iter().zip(&mut self.fields) {
            let line = matches!(field, Field::Bias | Field::Shifts | Field::Factors | Field::Peephole);
            call.set(field, FieldMemory::new(buf(memory), 0, [if line { 0 } else { ROW * 4 }, 0]));
        }
        cell.run(&call);
    }

    fn at(&self, field: Field, row: usize, gate: usize, c: usize) -> f64 {
        f64::from(self.fields[field as usize][row * ROW + gate * WIDTH + c])
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The state of a channel after a pass, and the other elements that it writes, with their field and gate.
fn expected(m: &Memory, pass: Pass, n: usize, c: usize) -> (f64, Vec<(Field, usize, f64)>) {
    let line = |field, gate| m.at(field, 0, gate, c);
    let sums = |gate| m.at(Field::IterGemm, n, gate, c);
    let gate = |of: usize, gate: usize| sums(of) + m.at(Field::LayerGemm, n, gate, c) + line(Field::Bias, gate);
    let before = m.at(Field::StateBefore, n, 0, c);
    match pass {
        Pass::Vanilla(..) => (gate(0, 0).tanh(), vec![]),
        Pass::Lstm { peephole, .. } => {
            let looks = |i, cell: f64| if peephole { line(Field::Peephole, i) * cell } else { 0.0 };
            let cell = m.at(Field::Cell, n, 0, c);
            let new = logistic(gate(1, 1) + looks(1, cell)) * cell + logistic(gate(0, 0) + looks(0, cell)) * gate(2, 2).tanh();
            (logistic(gate(3, 3) + looks(2, new)) * new.tanh(), vec![(Field::Cell, 0, new)])
        }
        Pass::Projection => (sums(0), vec![]),
        Pass::GruPart1 => (logistic(gate(1, 1)) * before, vec![(Field::LayerGemm, 0, logistic(gate(0, 0)))]),
        Pass::GruPart2 => {
            let update = m.at(Field::LayerGemm, n, 0, c);
            (update * before + (1.0 - update) * gate(0, 2).tanh(), vec![])
        }
        Pass::LbrGru => {
            let recurrent = sums(2) + line(Field::Bias, 3);
            let (update, reset) = (logistic(gate(0, 0)), logistic(gate(1, 1)));
            let candidate = (m.at(Field::LayerGemm, n, 2, c) + line(Field::Bias, 2) + reset * recurrent).tanh();
            (update * before + (1.0 - update) * candidate, vec![])
        }
    }
}

#[test]
fn passes_compute_their_formulas() {
    for isa in isas() {
        for pass in PASSES {
            for channels in [WIDTH, WIDTH - 3, 1] {
                let cell = Postgemm::get(isa, &spec(pass, channels)).unwrap();
                let (before, mut after) = (Memory::new(3, channels), Memory::new(3, channels));
                after.run(&cell);
                for (n, c) in (0..3).flat_map(|n| (0..channels).map(move |c| (n, c))) {
                    let (state, others) = expected(&before, pass, n, c);
                    for (field, gate, want) in others.into_iter().chain([(Field::State, 0, state)]) {
                        let got = after.at(field, n, gate, c);
                        assert!((got - want).abs() < 2e-6, "{pass:?} {isa:?}: {field:?} of {n}, {c}: {got} for {want}");
                    }
                }
                // Elements behind the channels of a state are not written.
                let (old, new) = (&before.fields[Field::State as usize], &after.fields[Field::State as usize]);
                assert_eq!(old[channels..WIDTH], new[channels..WIDTH], "{pass:?}");
            }
        }
    }
}

#[test]
fn training_keeps_gates_cells_and_states() {
    for isa in isas() {
        let pass = Pass::Lstm { peephole: false, projected: false };
        let cell = Postgemm::get(isa, &Spec { training: true, ..spec(pass, WIDTH) }).unwrap();
        let (before, mut m) = (Memory::new(2, WIDTH), Memory::new(2, WIDTH));
        m.run(&cell);
        for (n, c) in (0..2).flat_map(|n| (0..WIDTH).map(move |c| (n, c))) {
            assert_eq!(m.at(Field::WsState, n, 0, c), m.at(Field::State, n, 0, c));
            assert_eq!(m.at(Field::WsCell, n, 0, c), m.at(Field::Cell, n, 0, c));
            let output =
                [Field::IterGemm, Field::LayerGemm].iter().map(|f| before.at(*f, n, 3, c)).sum::<f64>() + before.at(Field::Bias, 0, 3, c);
            assert!((m.at(Field::WsGates, n, 3, c) - logistic(output)).abs() < 1e-6);
        }
    }
}

#[test]
fn attention_and_linear_activations() {
    for isa in isas() {
        let attentive = Postgemm::get(isa, &Spec { attention: true, ..spec(Pass::GruPart2, WIDTH) }).unwrap();
        let (before, mut m) = (Memory::new(2, WIDTH), Memory::new(2, WIDTH));
        m.run(&attentive);
        let linear = Postgemm::get(isa, &Spec { linear: true, ..spec(Pass::Vanilla(RnnActivation::Relu, Real::new(0.0)), WIDTH) }).unwrap();
        let mut l = Memory::new(2, WIDTH);
        l.run(&linear);
        for (n, c) in (0..2).flat_map(|n| (0..WIDTH).map(move |c| (n, c))) {
            let sum = |gate: usize| {
                before.at(Field::IterGemm, n, 0, c) + before.at(Field::LayerGemm, n, gate, c) + before.at(Field::Bias, 0, gate, c)
            };
            let update = before.at(Field::LayerGemm, n, 0, c) * before.at(Field::Attention, n, 0, 0);
            let want = update * before.at(Field::StateBefore, n, 0, c) + (1.0 - update) * sum(2).tanh();
            assert!((m.at(Field::State, n, 0, c) - want).abs() < 2e-6);
            assert!((l.at(Field::State, n, 0, c) - 0.5 * sum(0)).abs() < 2e-6);
        }
    }
}

#[test]
fn whole_numbers_are_scaled_and_saturated() {
    for isa in isas() {
        let spec = Spec { whole: true, state: Elem::U8, ..spec(Pass::Vanilla(RnnActivation::Tanh, Real::new(0.0)), WIDTH) };
        let cell = Postgemm::get(isa, &Spec { linear: true, ..spec }).unwrap();
        let mut sums: Vec<i32> = (0..WIDTH as i32).map(|i| i * 40 - 300).collect();
        let (mut inputs, mut states) = (vec![100.0f32; WIDTH], vec![7u8; WIDTH + 1]);
        let lines = [(Field::Bias, vec![0.5f32; WIDTH]), (Field::Shifts, vec![20.0; WIDTH]), (Field::Factors, vec![0.01; WIDTH])];
        let mut call = Call::new(1, (WIDTH, WIDTH), &NUMBERS);
        call.set(Field::IterGemm, FieldMemory::new(buf(&mut sums), 0, [0; 2]));
        call.set(Field::LayerGemm, FieldMemory::new(buf(&mut inputs), 0, [0; 2]));
        call.set(Field::State, FieldMemory::new(buf(&mut states), 0, [0; 2]));
        lines.iter().for_each(|(field, line)| call.set(*field, FieldMemory::rows(line, 0, [0; 2])));
        cell.run(&call);
        for (i, code) in states[..WIDTH].iter().enumerate() {
            let real = 0.5 * (f64::from(sums[i] + 100 - 20) * 0.01 + 0.5);
            assert_eq!(*code, (real * 100.0 + 3.0).round_ties_even().clamp(0.0, 255.0) as u8, "{i}");
        }
        assert_eq!(states[WIDTH], 7);
    }
}

#[test]
fn what_lies_outside_is_refused() {
    let Some(isa) = isas().pop() else { return };
    for pass in PASSES {
        let kernel = Postgemm::get(isa, &Spec { training: pass != Pass::GruPart1, ..spec(pass, WIDTH) }).unwrap();
        for field in Field::ALL {
            let Some(Reach { before, channel, .. }) = kernel.spec.reach(field) else { continue };
            let mut m = Memory::new(2, WIDTH);
            let kept = if field == Field::WsGates { (kernel.spec.kept_gates() - 1) * m.kept_gate } else { 0 };
            let line = matches!(field, Field::Bias | Field::Peephole);
            let bytes = before + channel * WIDTH + kept + if line { 0 } else { ROW * 4 };
            m.fields[field as usize].truncate(bytes / 4);
            m.run(&kernel);
            m.fields[field as usize].pop();
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| m.run(&kernel))).is_err();
            assert!(refused, "{pass:?}: {field:?}");
        }
    }
}

#[test]
fn inner_loops_stay_in_registers() {
    for pass in PASSES {
        let made = spec(pass, WIDTH).function(Isa::AVX512).finish().unwrap();
        assert_eq!(made.inner_spills, 0, "{pass:?}");
    }
}
