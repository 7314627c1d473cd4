//! Rules about what a sweep needs.

use crate::plan::{Plan, SweepPointOrder, Until};
use crate::sweep::is_sessions;

pub(super) fn nothing_saturates(plan: &Plan) -> Option<(String, &'static str)> {
    let axes = &plan.sweep.axes;
    let is_wrong = plan.sweep.until == Until::Saturation
        && !axes.is_empty()
        && !axes.iter().any(|axis| is_sessions(&axis.key));
    is_wrong.then(|| ("no axis of sessions to saturate".into(), "add sessions = [1, 2, 4, 8, 16, 32]"))
}

pub(super) fn never_down(plan: &Plan) -> Option<(String, &'static str)> {
    let is_wrong =
        plan.sweep.order == SweepPointOrder::UpDown && plan.sweep.repeats < 2 && !plan.sweep.axes.is_empty();
    is_wrong.then(|| {
        (
            "with one repeat the order up-down only goes up".into(),
            "write sweep.repeats = 2 or \
                                                                                more, or order = \"up\"",
        )
    })
}
