//! Rows that are ordered by the times they predict: the fastest comes first, every row that takes the problem is reached, and every
//! row that does not gives its reason once.

use oxidnn_runtime::{Decision, Device, EngineKind, Exec, Impl, Plan, Planned, Refused, Skip, plan_rows};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Attr, DataType, Error, Problem, Tensor};
use std::sync::Arc;

struct Rows;

#[derive(Debug)]
struct Predicted(Problem, Option<f64>);

impl Plan for Predicted {
    fn problem(&self) -> &Problem {
        &self.0
    }
    fn decision(&self) -> Decision {
        Decision { seconds: self.1, ..Decision::default() }
    }
    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        Err(Error::Runtime("plans only".into()))
    }
}

fn predicted(problem: &Problem, seconds: impl Into<Option<f64>>) -> Result<Box<dyn Plan>, Skip> {
    Ok(Box::new(Predicted(problem.clone(), seconds.into())))
}

const TABLE: &[Impl<Rows>] = &[
    Impl::new("first", |_, _| Err(Skip::Op("anything"))),
    Impl::new("slow", |p, _| predicted(p, 3e-6)).by_time(),
    Impl::new("never", |_, _| Err(Skip::Shape("none"))).by_time(),
    Impl::new("unpredicted", |p, _| predicted(p, None)).by_time(),
    Impl::new("fast", |p, _| predicted(p, 1e-6)).by_time(),
    Impl::new("as fast", |p, _| predicted(p, 1e-6)).by_time(),
    Impl::new("last", |p, _| predicted(p, 1e-9)),
];

impl Device for Rows {
    fn kind(&self) -> EngineKind {
        EngineKind::Cpu
    }
    fn name(&self) -> String {
        "rows".into()
    }
    fn fingerprint(&self) -> String {
        "rows".into()
    }
    fn plan(&self, problem: &Problem, from_row: usize) -> Result<Planned, Refused> {
        plan_rows(TABLE, problem, self, from_row)
    }
}

#[test]
fn rows_come_by_predicted_time_and_none_is_passed_over() {
    let tensor = Tensor::plain([4], DataType::F32).unwrap();
    let problem = Problem::new(Reorder { src: tensor.clone(), dst: tensor }, Attr::default()).unwrap();
    let (mut names, mut declined, mut row) = (Vec::new(), Vec::new(), 0);
    let refused = loop {
        match Rows.plan(&problem, row) {
            Ok(planned) => {
                assert!(planned.row >= row && planned.row < TABLE.len());
                row = planned.row + 1;
                names.push(planned.name);
                declined.extend(planned.skipped.iter().map(|(name, _)| *name));
            }
            Err(refused) => break refused,
        }
    };
    assert_eq!(names, ["fast", "as fast", "slow", "unpredicted", "last"]);
    assert_eq!(declined, ["first", "never"]);
    assert!(refused.is_empty() && row == TABLE.len());
}
