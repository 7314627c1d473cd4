//! Checks what the plan requests besides the mix: hot spots and think times.

use dyno_record::CheckStatus;

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use crate::number::{count, fixed, time_us};

/// Standard deviations from the requested share above which chance is no explanation.
const SIGMAS: f64 = 5.0;

/// Share by which sleeps may exceed the plan; above it, the client was too busy to wake in time.
const OVERSLEPT: f64 = 0.05;

/// Delay of one wake-up that is allowed, s: the scheduler's granularity.
const WAKE_S: f64 = 0.005;

/// Whether every n-th operation went to the hot spot or schema that the plan names.
pub(super) fn hot(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let plan = &facts.record.plan.workload;
    let Some(hot) = window.hot else { return skip("the plan has no hot spot and no hot schema") };
    let parts = [
        ("in the hot spot", u64::from(plan.hot_spot_every), hot.spot, hot.keyed),
        (
            "to schema 1",
            if facts.record.plan.data.schemas > 1 { u64::from(plan.hot_schema_every) } else { 0 },
            hot.schema,
            hot.movable,
        ),
    ];
    // Each session is between two turns at both ends of the window, and failed operations took
    // their turns too.
    let slack = 2 * u64::from(facts.sessions()) + facts.error_count();
    let (mut words, mut expected, mut observed, mut wrong) = (Vec::new(), Vec::new(), Vec::new(), false);
    let mut is_conclusive = false;
    for (what, every, seen, of) in parts.into_iter().filter(|(_, every, ..)| *every > 0) {
        let due = of / every;
        wrong |= seen.abs_diff(due) > slack;
        is_conclusive |= slack < due.max(of.saturating_sub(due));
        words.push(format!("{} of {} {what}, one in {} due", count(seen), count(of), count(every)));
        expected.push(count(due));
        observed.push(count(seen));
    }
    if words.is_empty() {
        return skip("there is only one schema");
    }
    if !wrong && !is_conclusive {
        return skip(format!("{}: too few to tell", words.join("; ")));
    }
    let (expected, observed) = (expected.join(", "), observed.join(", "));
    match wrong {
        false => conclude(CheckStatus::Pass, expected, observed, words.join("; ")),
        true => {
            let detail = format!("{}: not as often as requested", words.join("; "));
            conclude(CheckStatus::Fail, expected, observed, detail)
        }
    }
}

/// Whether sessions slept as often and as long as the plan says.
pub(super) fn think_time(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let plan = &facts.record.plan.workload;
    let Some(think) = window.think else { return skip("the plan has no think time") };
    if plan.think_every == 0 {
        return skip("the workload sets the think time of each transaction");
    }
    let operations = facts.op_count();
    if operations == 0 || !think.seconds.is_finite() {
        return skip("no operation completed without error");
    }
    let sessions = f64::from(facts.sessions());
    let share = 1.0 / f64::from(plan.think_every.max(1));
    let due = operations as f64 * share;
    let slack = SIGMAS * (due * (1.0 - share)).sqrt() + sessions + 1.0;
    let often = (think.sleeps as f64 - due).abs() <= slack;
    if often && slack >= due.max(operations as f64 - due) {
        return skip(format!("{} operations are too few to tell", count(operations)));
    }
    let (least_s, most_s) = (plan.think_min.0.as_secs_f64(), plan.think_max.0.as_secs_f64());
    let mean_s = (least_s + most_s) / 2.0;
    let asked_s = think.sleeps as f64 * mean_s;
    // The variance of a sum of independent uniform lengths; sleeps at both ends of the window count
    // in part.
    let spread_s =
        SIGMAS * (most_s - least_s) / 12f64.sqrt() * (think.sleeps as f64).sqrt() + 2.0 * sessions * most_s;
    let late_s = OVERSLEPT * asked_s + WAKE_S * think.sleeps as f64;
    let too_short = !plan.think_compensated && think.seconds < asked_s - spread_s;
    let too_long = think.seconds > asked_s + spread_s + late_s;
    let words = format!(
        "{} sleeps after {} operations (1 in {} requested), {} s in all, {} each ({} requested{})",
        count(think.sleeps),
        count(operations),
        count(u64::from(plan.think_every)),
        fixed(think.seconds, 2),
        time_us(think.seconds * 1e6 / think.sleeps.max(1) as f64),
        time_us(mean_s * 1e6),
        if plan.think_compensated { ", the operation's own time included" } else { "" }
    );
    let (expected, observed) = (format!("{} s", fixed(asked_s, 2)), format!("{} s", fixed(think.seconds, 2)));
    match (often && !too_short, too_long) {
        (false, _) => {
            let detail = format!("{words}: more than chance explains");
            conclude(CheckStatus::Fail, expected, observed, detail)
        }
        (true, true) => {
            let detail = format!("{words}: the client woke late because it has too little processor time");
            conclude(CheckStatus::Warn, expected, observed, detail)
        }
        (true, false) => conclude(CheckStatus::Pass, expected, observed, words),
    }
}
