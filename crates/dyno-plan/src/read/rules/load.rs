//! Rules about shares of operations, think times, rates and phases.

use crate::keys::seconds;
use crate::phases;
use crate::plan::{OnLost, Plan};

pub(super) fn shares_of_reads(plan: &Plan) -> Option<(String, &'static str)> {
    let work = &plan.workload;
    let sum = work.lookup_pct + work.scan_pct + work.secondary_pct;
    let problem =
        format!("lookup_pct, scan_pct and secondary_pct are shares of the reads, and add up to {sum} %");
    (sum > 100).then_some((problem, "lower one of them, so that they add up to 100 or less"))
}

pub(super) fn growing(plan: &Plan) -> Option<(String, &'static str)> {
    let (insert, delete) = (plan.workload.insert_pct?, plan.workload.delete_pct?);
    (insert != delete).then(|| {
        let problem =
            format!("{insert} % inserts and {delete} % deletes would change the size of the tables");
        (problem, "write the same value for both, or omit one")
    })
}

pub(super) fn shares_of_writes(plan: &Plan) -> Option<(String, &'static str)> {
    let sum = plan.workload.update_pct + 2 * plan.workload.churn_pct();
    let problem =
        || format!("update_pct, insert_pct and delete_pct are shares of operations, and add up to {sum} %");
    (sum > 100).then(|| (problem(), "lower one of them, so that they add up to 100 or less"))
}

pub(super) fn think_backwards(plan: &Plan) -> Option<(String, &'static str)> {
    let (least, most) = (plan.workload.think_min, plan.workload.think_max);
    (least > most).then(|| {
        (
            format!("the shortest think time, {least}, is longer than the longest, {most}"),
            "swap the two \
                                                                                           values",
        )
    })
}

pub(super) fn think_in_open_loop(plan: &Plan) -> Option<(String, &'static str)> {
    let rate = plan.workload.rate.filter(|_| plan.workload.think_every > 0)?;
    let problem = format!("operations are due at {rate}, so think times do not apply");
    Some((problem, "remove workload.rate, or set workload.think_every to 0"))
}

pub(super) fn rate_and_phases(plan: &Plan) -> Option<(String, &'static str)> {
    let rate = plan.workload.rate.filter(|_| !plan.workload.phases.is_empty())?;
    let problem = format!("workload.phases sets the rate, and workload.rate is also set, to {rate}");
    Some((problem, "remove workload.rate or workload.phases"))
}

pub(super) fn ops_and_phases(plan: &Plan) -> Option<(String, &'static str)> {
    plan.run.ops_per_session.filter(|_| !plan.workload.phases.is_empty())?;
    let problem = "workload.phases sets the length of the window, and run.ops_per_session is also set";
    Some((problem.into(), "remove run.ops_per_session or workload.phases"))
}

/// Rule: a run whose sessions wait for a lost database needs an end.
pub(super) fn reconnect_without_end(plan: &Plan) -> Option<(String, &'static str)> {
    plan.run.ops_per_session.filter(|_| plan.run.on_lost == OnLost::Reconnect)?;
    let problem = "with run.ops_per_session a run that waits for a lost database would never end";
    Some((problem.into(), "set run.time instead of run.ops_per_session"))
}

/// Rule: files of phases are read with the plan, not at a point of a sweep.
pub(super) fn phases_unread(plan: &Plan) -> Option<(String, &'static str)> {
    let unread = plan.workload.phases.iter().find(|phase| phase.time().is_none())?;
    let problem = format!("{unread} cannot be a value of a sweep");
    Some((problem, "write ramp, hold, steps or sine there, or a sweep for each file"))
}

pub(super) fn time_of_phases(plan: &Plan) -> Option<(String, &'static str)> {
    let phases = &plan.workload.phases;
    let (total, time) = (phases::total(phases)?, plan.run.time?);
    (!phases.is_empty() && total != time).then(|| {
        let problem = format!("the phases are {total} long, and run.time is {time}");
        (problem, "omit run.time: the window is as long as all phases together")
    })
}

pub(super) fn phases_out_of_range(plan: &Plan) -> Option<(String, &'static str)> {
    let total = phases::total(&plan.workload.phases)?;
    let curve = plan.workload.curve(0.0)?;
    if !(seconds(1)..=seconds(30 * 86_400)).contains(&total) {
        let problem = format!("the phases together are {total} long");
        return Some((problem, "make them 1s to 720h long"));
    }
    let has_no_arrivals = curve.arrivals(total.0.as_secs_f64()) <= 0.0;
    has_no_arrivals.then(|| ("all rates are 0/s, so no operation is ever due".into(), "raise one of them"))
}

pub(super) fn think_in_phases(plan: &Plan) -> Option<(String, &'static str)> {
    let think = plan.workload.think_every > 0 && !plan.workload.phases.is_empty();
    let problem = "operations are due by the schedule of phases, so think times do not apply";
    think.then(|| (problem.into(), "remove workload.phases, or set workload.think_every to 0"))
}
