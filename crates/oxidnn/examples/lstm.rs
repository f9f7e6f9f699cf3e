//! A two-layer LSTM over a sequence: last states come out, and go in again with the next sequence.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (steps, batch, hidden) = (6, 2, 32);

    let net = Recurrent::lstm(Prop::ForwardInference, [steps, batch, hidden], hidden, F32).layers(2).bias().first_states().last_states();
    let desc = net.describe(&engine)?;
    println!("{desc}");

    let some = |arg: Arg| -> Result<Memory<'static>, Error> {
        let n = desc.tensor(arg).and_then(|t| t.layout.elements()).unwrap_or(0);
        engine.filled(&desc, arg, &(0..n).map(|i| ((i * 29 % 64) as f32 - 32.0) / 256.0).collect::<Vec<_>>())
    };
    let (x, w, u, b) = (some(Arg::SRC)?, some(Arg::WEIGHTS)?, some(Arg::WEIGHTS_1)?, some(Arg::BIAS)?);
    let (h, c) = (engine.zeros(&desc, Arg::SRC_1)?, engine.zeros(&desc, Arg::SRC_2)?);
    let (y, h_last, c_last) = (engine.zeros(&desc, Arg::DST)?, engine.zeros(&desc, Arg::DST_1)?, engine.zeros(&desc, Arg::DST_2)?);
    let lstm = desc.create()?;
    let run = |h: &Memory<'_>, c: &Memory<'_>| {
        let weights = [(Arg::WEIGHTS, &w), (Arg::WEIGHTS_1, &u), (Arg::BIAS, &b)];
        let states = [(Arg::SRC, &x), (Arg::SRC_1, h), (Arg::SRC_2, c), (Arg::DST, &y), (Arg::DST_1, &h_last), (Arg::DST_2, &c_last)];
        lstm.execute(&stream, &[&weights[..], &states[..]].concat())
    };
    run(&h, &c)?;
    let first = y.read_f32()?;
    // The output of the last layer at the last step is its last state.
    let last_step = &first[((steps - 1) * batch * hidden) as usize..];
    assert_eq!(last_step, &h_last.read_f32()?[(batch * hidden) as usize..]);
    // The sequence goes on from there, so the same inputs give other results.
    h.write_f32(&h_last.read_f32()?)?;
    c.write_f32(&c_last.read_f32()?)?;
    run(&h, &c)?;
    assert_ne!(first, y.read_f32()?);
    Ok(())
}
