//! Problem lines.

use oxidnn_spec::Problem;

/// The line that reproduces `problem`.
pub(crate) fn line(problem: &Problem) -> String {
    format!("{:?}", problem.op)
}
