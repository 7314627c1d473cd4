//! The work itself: that there was any, that each operation did its whole work unit, in the mix that was asked for.

use std::collections::BTreeSet;

use dyno_plan::Commit;
use dyno_record::{ALL, COMMIT, CheckStatus, Class, Invariant, OpStats, Touch};

use super::facts::Facts;
use super::finding::{Verdict, found, skip};
use crate::number::{count, fixed, percent};

/// Distance from a binomial share, in standard deviations, that is no chance any more: one in two million.
const SIGMAS: f64 = 5.0;

/// Share of the operations by which a mix may differ besides chance: operations under way at the ends of the window.
const MIX_SLACK: f64 = 0.005;

/// Share of all operations by which a class may be off for want of rows that must be there first, in runs too short to have
/// had as many operations as that takes.
const TURNED_SHARE: f64 = 0.25;

/// Expected operations of a class above which seeing none cannot be chance (e⁻³⁰).
const CERTAIN: f64 = 30.0;

/// Share of a class without a time of its own above which its percentiles are those of the others.
const UNTIMED_SHARE: f64 = 0.10;

/// Share of operations by which series and totals may differ before the series cannot be the same window's.
const SERIES_SLIP: f64 = 0.001;

/// Whether anything was done.
pub(super) fn operations(facts: &Facts<'_>) -> Verdict {
    let window = facts.window()?;
    let (done, failed) = (facts.op_count(), facts.error_count());
    if done == 0 {
        let detail = format!(
            "none ended well in {} s ({} failed): lengthen run.time or shorten the operation (workload.work_unit, data.scan_scale)",
            fixed(window.work_seconds(), 1),
            count(failed)
        );
        return found(CheckStatus::Fail, "> 0", "0", detail);
    }
    let detail = format!("{} ended well in {} s", count(done), fixed(window.work_seconds(), 1));
    found(CheckStatus::Pass, "> 0", count(done), detail)
}

/// Whether every operation found all its rows: data that is missing would make operations look fast.
pub(super) fn work_unit(facts: &Facts<'_>) -> Verdict {
    facts.window()?;
    // What failed before the window counts too: the rows that it left in doubt are deleted in it.
    let failed = facts.record.whole.as_ref().map_or(0, |whole| whole.errors).max(facts.error_count());
    let (mut parts, mut wrong, mut expected_sum, mut observed_sum) = (Vec::new(), Vec::new(), 0u64, 0u64);
    for class in &facts.record.classes {
        let Some(ops) = facts.ops(&class.name).filter(|ops| ops.count > 0 || ops.rows > 0) else { continue };
        let Some((least, most)) = class.rows_per_op else { continue };
        let (least_sum, most_sum) = (ops.count.saturating_mul(least), ops.count.saturating_mul(most));
        // A delete of a row whose insert failed finds none, nor does one that is done again for its end was unknown.
        let slack = match class.rows {
            // A slice that failed may have held any number of them.
            Touch::Deleted if failed > 0 && facts.server_drive() => u64::MAX,
            Touch::Deleted => failed,
            _ => 0,
        };
        let expected = ops.rows.clamp(least_sum.saturating_sub(slack), most_sum);
        let per_op = if least == most { count(most) } else { format!("{} to {}", count(least), count(most)) };
        expected_sum = expected_sum.saturating_add(expected);
        observed_sum = observed_sum.saturating_add(ops.rows);
        let name = &class.plural;
        let part = format!("{} {name} × {per_op} = {} rows", count(ops.count), count(expected));
        if ops.rows == expected {
            parts.push(part);
        } else {
            wrong.push(format!("{part}, but {} were touched", count(ops.rows)));
        }
    }
    if parts.is_empty() && wrong.is_empty() {
        return skip("no operation with a known number of rows ended well");
    }
    let (expected, observed) = (count(expected_sum), count(observed_sum));
    if wrong.is_empty() {
        return found(CheckStatus::Pass, expected, observed, format!("{}: all touched", parts.join(", ")));
    }
    let detail = format!("{}: rows are missing or doubled; load the data anew", wrong.join(", "));
    found(CheckStatus::Fail, expected, observed, detail)
}

/// Whether what must stay the same is the same after the run.
pub(super) fn invariants(facts: &Facts<'_>) -> Verdict {
    let Some(own) = &facts.record.workload else { return skip("it is of workloads of the user's own") };
    let invariants: Vec<&Invariant> = facts.record.workloads().flat_map(|own| &own.invariants).collect();
    if invariants.is_empty() {
        return skip(format!("{} has none", own.name));
    }
    let broken = invariants.iter().filter_map(|one| {
        let Invariant { name, is, before, after } = one;
        let wanted = is.as_ref().or(before.as_ref())?;
        match (after, is) {
            (Ok(after), _) if after == wanted => None,
            (Ok(after), None) => Some(format!("{name} was {wanted} before and is {after}")),
            (Ok(after), Some(_)) => Some(format!("{name} is {after} and has to be {wanted}")),
            (Err(why), None) => {
                Some(format!("{name} was {wanted} before, and nobody knows what it is: {why}"))
            }
            (Err(why), Some(_)) => {
                Some(format!("{name} has to be {wanted}, and nobody knows what it is: {why}"))
            }
        }
    });
    let broken: Vec<String> = broken.collect();
    let (all, held) = (invariants.len() as u64, (invariants.len() - broken.len()) as u64);
    let (expected, observed) = (count(all), count(held));
    if broken.is_empty() {
        let certain = invariants.iter().filter(|one| one.is.is_some()).count();
        let words = invariants.iter().filter_map(|one| {
            one.before.as_ref().map(|before| format!("{} is {before} as before", one.name))
        });
        let hold = (certain > 0).then(|| {
            let names = invariants.iter().filter(|one| one.is.is_some()).map(|one| one.name.as_str());
            format!("{} hold", names.collect::<Vec<_>>().join(", "))
        });
        let words: Vec<String> = words.chain(hold).collect();
        return found(CheckStatus::Pass, expected, observed, words.join(", "));
    }
    found(
        CheckStatus::Fail,
        expected,
        observed,
        format!("{}: transactions were lost, torn or done twice", broken.join(", ")),
    )
}

/// One share of the mix: of how many operations, how many there were, percent asked for.
struct MixShare<'a> {
    class: &'a Class,
    of: u64,
    seen: u64,
    asked_pct: u32,
    /// Operations more or less that are no matter of chance.
    slack: f64,
}

impl MixShare<'_> {
    fn status(&self, sessions: f64) -> CheckStatus {
        let (of, seen, share) =
            (self.of as f64, self.seen as f64, f64::from(self.asked_pct.min(100)) / 100.0);
        let expected = of * share;
        let impossible =
            (self.asked_pct == 0 && self.seen > 0) || (self.asked_pct >= 100 && self.seen < self.of);
        let all_missing = (self.seen == 0 && expected > CERTAIN)
            || (self.seen == self.of && of - expected > CERTAIN && self.asked_pct < 100);
        let slack = SIGMAS * (expected * (1.0 - share)).sqrt() + sessions + of * MIX_SLACK + self.slack;
        match (impossible || all_missing, (seen - expected).abs() <= slack) {
            (true, _) => CheckStatus::Fail,
            (false, true) => CheckStatus::Pass,
            // Failed operations are drawn anew, which moves the mix; so it is a reservation only.
            (false, false) => CheckStatus::Warn,
        }
    }
}

/// Operations of the workload at `place`, of `all` where there is only one.
fn of_workload(facts: &Facts<'_>, place: usize, all: u64) -> u64 {
    let classes = || facts.record.classes.iter();
    if classes().all(|class| class.workload == place) {
        return all;
    }
    let own = classes().filter(|class| class.workload == place);
    own.map(|class| facts.ops(&class.name).map_or(0, |ops| ops.count)).sum()
}

/// Whether the mix of operations is the one the plan asks for.
pub(super) fn mix<'a>(facts: &Facts<'a>) -> Verdict {
    let interval = facts.done_in_window()?;
    let operations = interval.operations();
    if operations == 0 {
        return skip("no operation ended well");
    }
    let sessions = f64::from(facts.sessions());
    let share = |class: &'a Class| {
        let Class { name, share, .. } = class;
        Some(MixShare {
            class,
            of: if share.of_reads { interval.reads } else { of_workload(facts, class.workload, operations) },
            seen: facts.ops(name).map_or(0, |ops| ops.count),
            asked_pct: share.percent?,
            slack: (sessions * share.turned as f64).min(operations as f64 * TURNED_SHARE),
        })
    };
    if facts.record.classes.iter().all(|class| class.share.percent.is_none()) {
        return skip("nobody asked for shares");
    }
    let mut shown: Vec<MixShare<'a>> = facts.record.classes.iter().filter_map(share).collect();
    shown.retain(|p| p.of > 0 && (p.asked_pct > 0 || p.seen > 0 || p.class.rows == Touch::Updated));
    // What writes first: reads have what that leaves.
    shown.sort_by_key(|share| share.class.share.of_reads);
    let status = shown.iter().map(|share| share.status(sessions)).max().unwrap_or(CheckStatus::Pass);
    let seen_pct = |share: &MixShare<'_>| percent(share.seen as f64 * 100.0 / share.of.max(1) as f64);
    let each = |text: fn(&MixShare<'_>, String) -> String| {
        shown.iter().map(|share| text(share, seen_pct(share))).collect::<Vec<_>>().join(", ")
    };
    let asked = each(|share, _| format!("{} % {}", share.asked_pct, share.class.plural));
    let seen = each(|share, seen| format!("{seen} % {}", share.class.plural));
    let detail = match status {
        CheckStatus::Pass => format!("asked for {asked}; done {seen}"),
        _ => format!("asked for {asked}, but done {seen}: more than chance explains"),
    };
    found(status, asked, seen, detail)
}

/// Whether the series is a partition of the window.
pub(super) fn series_sum(facts: &Facts<'_>) -> Verdict {
    let window = facts.window()?;
    let series = &facts.record.series;
    if series.points.is_empty() {
        return skip("the record has no series");
    }
    let total = facts.op_count();
    let sum = series.points.iter().fold(0u64, |sum, point| sum.saturating_add(point.ops));
    let seconds: f64 = series.points.iter().map(|point| point.seconds).sum();
    let words = format!(
        "{} operations in {} intervals, {} in the window",
        count(sum),
        count(series.intervals()),
        count(total)
    );
    let gap = sum.abs_diff(total);
    // Each session may have an operation that ended between the last interval and the edge.
    let slip = u64::from(facts.sessions()).saturating_add((total as f64 * SERIES_SLIP) as u64);
    let length_gap_s = (seconds - window.seconds).abs();
    let status = match gap {
        0 if length_gap_s <= series.measured_interval_s().max(0.0) + 0.01 * window.seconds => {
            CheckStatus::Pass
        }
        gap if gap <= slip => CheckStatus::Warn,
        _ => CheckStatus::Fail,
    };
    let detail = match status {
        CheckStatus::Pass => words,
        _ => format!(
            "{words}; intervals cover {} s of {} s: an interval is missing or counted twice",
            fixed(seconds, 2),
            fixed(window.seconds, 2)
        ),
    };
    found(status, count(total), count(sum), detail)
}

/// Operations that have no time of their own.
pub(super) fn untimed(facts: &Facts<'_>) -> Verdict {
    facts.window()?;
    let missing = |ops: &OpStats| ops.count.saturating_sub(ops.service_us.count);
    let classes = facts.record.ops.iter().filter(|(name, ops)| name.as_str() != ALL && missing(ops) > 0);
    let (mut words, mut most, mut reasons) = (Vec::new(), 0.0f64, BTreeSet::new());
    // A change and its commit in one call have one answer, so the commit has a time of its own in no run.
    let loads = facts.record.workload.as_ref().is_some_and(|own| own.loaded.is_some());
    let one_answer =
        facts.counting.commit_in_change || facts.record.plan.workload.commit == Commit::Plsql || loads;
    let by_design = |name: &str| one_answer && name == COMMIT;
    for (name, ops) in classes.filter(|(name, _)| !by_design(name)) {
        words.push(format!("{} of {} {name}s", count(missing(ops)), count(ops.count)));
        most = most.max(missing(ops) as f64 / ops.count as f64);
        reasons.extend(ops.untimed.as_deref());
    }
    if words.is_empty() {
        return found(CheckStatus::Pass, "0", "0", "every operation has its own time");
    }
    let reasons: Vec<&str> = reasons.into_iter().collect();
    let detail = format!("{} have no time of their own: {}", words.join(", "), reasons.join("; "));
    // Inside the database nobody times an operation: that is what was asked for, and it is said, not held against the run.
    let status =
        if facts.server_drive() || most <= UNTIMED_SHARE { CheckStatus::Pass } else { CheckStatus::Warn };
    found(status, "0", words.join(", "), detail)
}
