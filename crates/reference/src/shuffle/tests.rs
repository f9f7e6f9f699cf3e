use crate::lines::Line;
use oxidnn_spec::Arg;

/// The orders that oneDNN 3.13.2 gives.
#[test]
fn six_channels() {
    for (group, forward, backward) in [
        (2, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0], [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
        (3, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0], [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]),
    ] {
        let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let mut f = Line::new(&format!("--shuffle --dir=FWD_D --dt=f32 --axis=1 --group={group} 1x6"));
        assert_eq!(f.set(Arg::SRC, &x).run().values(Arg::DST), forward);
        let mut b = Line::new(&format!("--shuffle --dir=BWD_D --dt=bf16 --axis=1 --group={group} 1x6"));
        assert_eq!(b.set(Arg::DIFF_DST, &x).run().values(Arg::DIFF_SRC), backward);
    }
}
