//! Attention of a language model: a prompt at once, and then one token after the other over the keys and values so far. Then a training step's
//! gradients of queries, keys and values.

use oxidnn::prelude::*;

/// Some numbers between -1 and 1.
fn some(n: i64, seed: i64) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f32 / 1001.5 - 1.0).collect()
}

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (heads, kv_heads, tokens, size) = (8, 2, 20, 32);
    let (q, k, v) = (some(heads * tokens * size, 1), some(kv_heads * tokens * size, 2), some(kv_heads * tokens * size, 3));
    let scale = Memory::from_vec(&engine, [1], vec![1.0 / (size as f32).sqrt()])?;

    let prompt = Attention::new(Prop::ForwardTraining, [1, heads, tokens, size], F32).keys(kv_heads, tokens).causal().scaled();
    let prompt = prompt.describe(&engine)?;
    println!("{prompt}");
    let of = |desc: &PrimitiveDesc, arg: Arg| desc.tensor(arg).expect("an argument of attention").clone();
    let queries = Memory::from_slice(&engine, of(&prompt, Arg::SRC), &q)?;
    let keys = Memory::from_slice(&engine, of(&prompt, Arg::SRC_1), &k)?;
    let values = Memory::from_slice(&engine, of(&prompt, Arg::SRC_2), &v)?;
    let (y, workspace) = (engine.zeros(&prompt, Arg::DST)?, engine.zeros(&prompt, Arg::WORKSPACE)?);
    let inputs = [(Arg::SRC, &queries), (Arg::SRC_1, &keys), (Arg::SRC_2, &values), (Arg::SCALE, &scale)];
    prompt.create()?.execute(&stream, &[&inputs[..], &[(Arg::DST, &y), (Arg::WORKSPACE, &workspace)]].concat())?;

    // The last token alone, over the same keys and values.
    let decode = Attention::new(Prop::ForwardInference, [1, heads, 1, size], F32).keys(kv_heads, tokens).causal_from_last().scaled();
    let decode = decode.describe(&engine)?;
    let last_of_each_head =
        |all: &[f32]| all.chunks((tokens * size) as usize).flat_map(|h| h[h.len() - size as usize..].to_vec()).collect();
    let q_last: Vec<f32> = last_of_each_head(&q);
    let query = Memory::from_slice(&engine, of(&decode, Arg::SRC), &q_last)?;
    let one = engine.zeros(&decode, Arg::DST)?;
    decode
        .create()?
        .execute(&stream, &[(Arg::SRC, &query), (Arg::SRC_1, &keys), (Arg::SRC_2, &values), (Arg::SCALE, &scale), (Arg::DST, &one)])?;
    let expected: Vec<f32> = last_of_each_head(&y.read_f32()?);
    for (got, want) in one.read_f32()?.iter().zip(&expected) {
        assert!((got - want).abs() < 1e-5, "{got} is not {want}");
    }

    // Gradients: a shift of all values by one moves every result by one, so their sums agree.
    let backward = prompt.backward(&engine)?;
    let diff_y = engine.filled(&backward, Arg::DIFF_DST, &vec![1.0; (heads * tokens * size) as usize])?;
    let made = [Arg::DIFF_SRC, Arg::DIFF_SRC_1, Arg::DIFF_SRC_2].map(|arg| Ok::<_, Error>((arg, engine.zeros(&backward, arg)?)));
    let made = made.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut arguments = inputs.to_vec();
    arguments.extend([(Arg::DST, &y), (Arg::WORKSPACE, &workspace), (Arg::DIFF_DST, &diff_y)]);
    arguments.extend(made.iter().map(|(arg, memory)| (*arg, memory)));
    backward.create()?.execute(&stream, &arguments)?;
    let sum: f32 = made[2].1.read_f32()?.iter().sum();
    assert!((sum / (heads * tokens * size) as f32 - 1.0).abs() < 1e-4, "{sum}");
    Ok(())
}
