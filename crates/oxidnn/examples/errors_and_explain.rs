//! Errors of wrong requests, and explanations of the choice of an implementation.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let wrong = Matmul::new().src([8, 32], F32).weights([64, 16], F32).describe(&engine).unwrap_err();
    println!("{wrong}\n");
    let Error::InvalidArguments(why) = &wrong else { return Err(wrong) };
    assert_eq!(why.argument, "wei");
    assert!(why.problem.as_deref().is_some_and(|line| line.contains("--matmul"))); // `oxidnn verify` takes that line

    let desc =
        Conv::forward(Prop::ForwardInference).src([1, 32, 14, 14], F32).weights([32, 32, 3, 3], F32).padding([1, 1]).describe(&engine)?;
    println!("{desc}");
    for (row, verdict) in desc.explain() {
        println!("  {row:18} {verdict}");
    }
    assert!(desc.explain().iter().any(|(row, _)| *row == desc.impl_name()));
    Ok(())
}
