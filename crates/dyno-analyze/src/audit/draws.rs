//! What sessions were told to do besides the mix: where load is concentrated, and how long they sleep.

use dyno_record::CheckStatus;

use super::facts::Facts;
use super::finding::{Verdict, found, skip};
use crate::number::{count, fixed, time_us};

/// Distance from what was asked for, in standard deviations, that is no chance any more.
const SIGMAS: f64 = 5.0;

/// Share by which sleeps may be longer than asked for before the client was too busy to wake in time.
const OVERSLEPT: f64 = 0.05;

/// Time by which one wake-up may be late without a word, s: the scheduler's own grain.
const WAKE_S: f64 = 0.005;

/// Whether every n-th operation went where it should.
pub(super) fn hot(facts: &Facts<'_>) -> Verdict {
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
    // Each session is somewhere between two turns at both ends, and what failed had its turn too.
    let slack = 2 * u64::from(facts.sessions()) + facts.error_count();
    let (mut words, mut expected, mut observed, mut wrong) = (Vec::new(), Vec::new(), Vec::new(), false);
    let mut can_tell = false;
    for (what, every, seen, of) in parts.into_iter().filter(|(_, every, ..)| *every > 0) {
        let due = of / every;
        wrong |= seen.abs_diff(due) > slack;
        can_tell |= slack < due.max(of.saturating_sub(due));
        words.push(format!("{} of {} {what}, every {} due", count(seen), count(of), count(every)));
        expected.push(count(due));
        observed.push(count(seen));
    }
    if words.is_empty() {
        return skip("one schema is all there is");
    }
    if !wrong && !can_tell {
        return skip(format!("{}: too few to tell", words.join("; ")));
    }
    let (expected, observed) = (expected.join(", "), observed.join(", "));
    match wrong {
        false => found(CheckStatus::Pass, expected, observed, words.join("; ")),
        true => {
            let detail = format!("{}: not as often as asked for", words.join("; "));
            found(CheckStatus::Fail, expected, observed, detail)
        }
    }
}

/// Whether sessions slept as often and as long as the plan says.
pub(super) fn think_time(facts: &Facts<'_>) -> Verdict {
    let window = facts.window()?;
    let plan = &facts.record.plan.workload;
    let Some(think) = window.think else { return skip("the plan has no think time") };
    if plan.think_every == 0 {
        return skip("how long sessions sleep is said by the workload, transaction by transaction");
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
    // A sum of independent uniform lengths; sleeps at both ends of the window are there in part.
    let spread_s =
        SIGMAS * (most_s - least_s) / 12f64.sqrt() * (think.sleeps as f64).sqrt() + 2.0 * sessions * most_s;
    let late_s = OVERSLEPT * asked_s + WAKE_S * think.sleeps as f64;
    let too_short = !plan.think_compensated && think.seconds < asked_s - spread_s;
    let too_long = think.seconds > asked_s + spread_s + late_s;
    let words = format!(
        "{} sleeps after {} operations (1 in {} asked for), {} s in all, {} each ({} asked for{})",
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
            found(CheckStatus::Fail, expected, observed, detail)
        }
        (true, true) => {
            let detail = format!("{words}: the client woke late, it has too little processor time");
            found(CheckStatus::Warn, expected, observed, detail)
        }
        (true, false) => found(CheckStatus::Pass, expected, observed, words),
    }
}
