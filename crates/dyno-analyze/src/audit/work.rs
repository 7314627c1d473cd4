//! Checks the work itself: there was any, each operation did its whole work unit, and the mix is
//! the requested one.

use std::collections::BTreeSet;

use dyno_plan::Commit;
use dyno_record::{ALL, COMMIT, CheckStatus, Class, InvariantResult, OpStats, RowEffect};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use crate::number::{count, fixed, percent};

/// Standard deviations from a binomial share above which chance is no explanation: one in two
/// million.
const SIGMAS: f64 = 5.0;

/// Share of the operations by which a mix may differ besides chance: operations in progress at the ends of
/// the window.
const MIX_SLACK: f64 = 0.005;

/// Share of all operations by which a class may be off because the rows that it needs must be
/// created first. It applies to runs too short to have had that many operations.
const TURNED_SHARE: f64 = 0.25;

/// Expected operations of a class above which seeing none cannot be chance (e⁻³⁰).
const CERTAIN: f64 = 30.0;

/// Share of a class without a time of its own above which its percentiles are those of the others.
const UNTIMED_SHARE: f64 = 0.10;

/// Share by which the operations of the series may differ from the total before the series cannot
/// be of the same window.
const SERIES_SLIP: f64 = 0.001;

/// Whether any operation completed in the window.
pub(super) fn operations(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let operations = facts.op_count();
    if operations == 0 {
        let detail = format!(
            "none completed without error in {} s: {}",
            fixed(window.work_seconds(), 1),
            why_none_ended(facts)
        );
        return conclude(CheckStatus::Fail, "> 0", "0", detail);
    }
    let detail =
        format!("{} completed without error in {} s", count(operations), fixed(window.work_seconds(), 1));
    conclude(CheckStatus::Pass, "> 0", count(operations), detail)
}

/// Why no operation completed without error, and what to do: errors, or operations that are longer
/// than the window.
fn why_none_ended(facts: &AuditFacts<'_>) -> String {
    let failed = facts.error_count();
    if failed > 0 {
        let example = match facts.record.errors.iter().max_by_key(|tally| tally.count) {
            Some(tally) => format!(", most often with {} ({})", tally.code, tally.message),
            None => String::new(),
        };
        return format!("{} failed{example}: fix the cause of the errors", count(failed));
    }
    let customs: Vec<&str> = facts.record.workloads().map(|custom| custom.name.as_str()).collect();
    match customs.is_empty() {
        true => "lengthen run.time or shorten the operation (workload.work_unit, data.scan_scale)".to_owned(),
        false => format!("lengthen run.time or shorten the transactions of {}", customs.join(", ")),
    }
}

/// Whether every operation found all its rows: missing data would make operations look fast.
pub(super) fn work_unit(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.window()?;
    // A failure before the window counts too: the rows that it left in doubt are deleted in the
    // window.
    let failed = facts.record.whole.as_ref().map_or(0, |whole| whole.errors).max(facts.error_count());
    let (mut parts, mut wrong, mut expected_sum, mut observed_sum) = (Vec::new(), Vec::new(), 0u64, 0u64);
    for class in &facts.record.classes {
        let Some(ops) = facts.ops(&class.name).filter(|ops| ops.count > 0 || ops.rows > 0) else { continue };
        let Some((least, most)) = class.rows_per_op else { continue };
        let (least_sum, most_sum) = (ops.count.saturating_mul(least), ops.count.saturating_mul(most));
        // A delete finds no row if the insert of that row failed. Neither does a repeated delete
        // whose first outcome was unknown.
        let slack = match class.rows {
            // A failed slice may have deleted any number of rows.
            RowEffect::Deleted if failed > 0 && facts.server_drive() => u64::MAX,
            RowEffect::Deleted => failed,
            _ => 0,
        };
        if slack >= least_sum && ops.rows < least_sum {
            // Any number of rows would be explained.
            continue;
        }
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
        return skip("no operation with a known number of rows completed without error");
    }
    let (expected, observed) = (count(expected_sum), count(observed_sum));
    if wrong.is_empty() {
        return conclude(CheckStatus::Pass, expected, observed, format!("{}: all touched", parts.join(", ")));
    }
    let detail = format!("{}: rows are missing or doubled; reload the data", wrong.join(", "));
    conclude(CheckStatus::Fail, expected, observed, detail)
}

/// The outcome of an invariant.
enum InvariantOutcome {
    Held,
    /// It did not hold before the run either.
    BrokenBefore(String),
    BrokenByRun(String),
    /// It could not be evaluated after the run.
    Unknown(String),
}

impl InvariantOutcome {
    /// The outcome of one invariant; `None` where no value is required.
    fn of(invariant: &InvariantResult) -> Option<Self> {
        let InvariantResult { name, is, before, after } = invariant;
        let wanted = is.as_ref().or(before.as_ref())?;
        let was = match is {
            Some(is) => format!("must be {is}"),
            None => format!("was {wanted} before"),
        };
        Some(match after {
            Err(why) => Self::Unknown(format!("{name} {was}, and could not be queried: {why}")),
            Ok(after) if after == wanted => Self::Held,
            Ok(after) => match (is, before) {
                (Some(is), Some(before)) if before != is => {
                    Self::BrokenBefore(format!("{name} was {before} before and is {after}, and must be {is}"))
                }
                (Some(is), _) => Self::BrokenByRun(format!("{name} is {after} and must be {is}")),
                (None, _) => Self::BrokenByRun(format!("{name} was {wanted} before and is {after}")),
            },
        })
    }
}

/// Whether each invariant of the data holds after the run, and if not, since when.
pub(super) fn invariants(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let Some(own) = &facts.record.workload else {
        return skip("this check applies only to custom workloads");
    };
    let invariants: Vec<&InvariantResult> =
        facts.record.workloads().flat_map(|own| &own.invariants).collect();
    if invariants.is_empty() {
        return skip(format!("{} has no invariants", own.name));
    }
    let (mut by_run, mut before, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for outcome in invariants.iter().filter_map(|one| InvariantOutcome::of(one)) {
        match outcome {
            InvariantOutcome::Held => {}
            InvariantOutcome::BrokenByRun(words) => by_run.push(words),
            InvariantOutcome::BrokenBefore(words) => before.push(words),
            InvariantOutcome::Unknown(words) => unknown.push(words),
        }
    }
    let lacking = by_run.len() + before.len() + unknown.len();
    let (expected, observed) = (count(invariants.len() as u64), count((invariants.len() - lacking) as u64));
    let mut words = Vec::new();
    if !by_run.is_empty() {
        words.push(format!(
            "broken by the run: {}: transactions were lost, torn or repeated",
            by_run.join(", ")
        ));
    }
    if !before.is_empty() {
        words.push(format!(
            "broken before the run: {}: earlier work broke the data; load it again",
            before.join(", ")
        ));
    }
    if !unknown.is_empty() {
        words.push(format!("unknown: {}", unknown.join(", ")));
    }
    if lacking > 0 {
        let is_broken = !by_run.is_empty() || !before.is_empty();
        let status = if is_broken { CheckStatus::Fail } else { CheckStatus::Warn };
        return conclude(status, expected, observed, words.join("; "));
    }
    let certain: Vec<&str> =
        invariants.iter().filter(|one| one.is.is_some()).map(|one| one.name.as_str()).collect();
    let same = invariants
        .iter()
        .filter(|one| one.is.is_none())
        .filter_map(|one| one.before.as_ref().map(|before| format!("{} is {before} as before", one.name)));
    let hold = (!certain.is_empty()).then(|| format!("{} hold", certain.join(", ")));
    conclude(CheckStatus::Pass, expected, observed, same.chain(hold).collect::<Vec<_>>().join(", "))
}

/// Share of the writing statements that may change no row, %: above it, more of them change nothing
/// than something.
const EMPTY_WRITES_PCT: f64 = 50.0;

/// Fewest writing statements for a judgment.
const WRITES_MIN: u64 = 20;

/// Whether statements that write change rows. A workload whose keys are not in the tables measures
/// the search for them.
pub(super) fn empty_writes(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.window()?;
    if facts.record.workload.is_none() {
        return skip("this check applies only to custom workloads");
    }
    let ops = facts.record.ops.get(dyno_record::ALL);
    let (all, empty) = ops.map_or((0, 0), |ops| (ops.write_statements, ops.empty_writes));
    if all < WRITES_MIN {
        return skip(format!(
            "{} statements that report how many rows they changed are too few to tell",
            count(all)
        ));
    }
    let share_pct = 100.0 * empty as f64 / all as f64;
    let words = format!(
        "{} of {} statements that write changed no row ({} %)",
        count(empty),
        count(all),
        percent(share_pct)
    );
    let (expected, observed) =
        (format!("≤ {} %", percent(EMPTY_WRITES_PCT)), format!("{} %", percent(share_pct)));
    if share_pct <= EMPTY_WRITES_PCT {
        return conclude(CheckStatus::Pass, expected, observed, words);
    }
    let detail = format!(
        "{words}: the rows they search for are not in the tables; compare workload.scale with the scale of \
         the data"
    );
    conclude(CheckStatus::Warn, expected, observed, detail)
}

/// One share of the mix: all operations, those of the class, and the requested percentage.
struct MixShare<'a> {
    class: &'a Class,
    total_ops: u64,
    observed_ops: u64,
    requested_pct: u32,
    /// Operations more or less that chance does not cause.
    slack: f64,
}

impl MixShare<'_> {
    /// How far the count may be from the expected one.
    fn slack(&self, sessions: f64) -> f64 {
        let share = f64::from(self.requested_pct.min(100)) / 100.0;
        let expected = self.total_ops as f64 * share;
        SIGMAS * (expected * (1.0 - share)).sqrt() + sessions + self.total_ops as f64 * MIX_SLACK + self.slack
    }

    /// Whether any count would lie outside the tolerance: with few operations, chance explains
    /// every count.
    fn is_conclusive(&self, sessions: f64) -> bool {
        let share = f64::from(self.requested_pct.min(100)) / 100.0;
        let expected = self.total_ops as f64 * share;
        let most = expected.max(self.total_ops as f64 - expected);
        matches!(self.requested_pct, 0 | 100..) || self.slack(sessions) < most
    }

    fn status(&self, sessions: f64) -> CheckStatus {
        let (total, observed, share) =
            (self.total_ops as f64, self.observed_ops as f64, f64::from(self.requested_pct.min(100)) / 100.0);
        let expected = total * share;
        let impossible = (self.requested_pct == 0 && self.observed_ops > 0)
            || (self.requested_pct >= 100 && self.observed_ops < self.total_ops);
        let all_missing = (self.observed_ops == 0 && expected > CERTAIN)
            || (self.observed_ops == self.total_ops
                && total - expected > CERTAIN
                && self.requested_pct < 100);
        let slack = self.slack(sessions);
        match (impossible || all_missing, (observed - expected).abs() <= slack) {
            (true, _) => CheckStatus::Fail,
            (false, true) => CheckStatus::Pass,
            // Failed operations are drawn again, which changes the mix; so this is only a warning.
            (false, false) => CheckStatus::Warn,
        }
    }
}

/// Operations of the workload at `place`; `all` where there is only one.
fn of_workload(facts: &AuditFacts<'_>, place: usize, all: u64) -> u64 {
    let classes = || facts.record.classes.iter();
    if classes().all(|class| class.workload == place) {
        return all;
    }
    let workload_classes = classes().filter(|class| class.workload == place);
    workload_classes.map(|class| facts.ops(&class.name).map_or(0, chosen)).sum()
}

/// How often a class was chosen: successful operations, and polls that found nothing.
fn chosen(ops: &OpStats) -> u64 {
    ops.count.saturating_add(ops.empty_polls)
}

/// Whether the mix of operations is the one the plan requests.
pub(super) fn mix<'a>(facts: &AuditFacts<'a>) -> AuditCheckResult {
    let interval = facts.acknowledged_in_window()?;
    let operations = interval.operations().saturating_add(facts.empty_polls());
    if operations == 0 {
        return skip("no operation completed without error");
    }
    let sessions = f64::from(facts.sessions());
    let share = |class: &'a Class| {
        let Class { name, share, .. } = class;
        Some(MixShare {
            class,
            total_ops: if share.of_reads {
                interval.reads
            } else {
                of_workload(facts, class.workload, operations)
            },
            observed_ops: facts.ops(name).map_or(0, chosen),
            requested_pct: share.percent?,
            slack: (sessions * share.turned as f64).min(operations as f64 * TURNED_SHARE),
        })
    };
    if facts.record.classes.iter().all(|class| class.share.percent.is_none()) {
        return skip("the plan requests no shares");
    }
    let mut shown: Vec<MixShare<'a>> = facts.record.classes.iter().filter_map(share).collect();
    shown.retain(|p| {
        p.total_ops > 0 && (p.requested_pct > 0 || p.observed_ops > 0 || p.class.rows == RowEffect::Updated)
    });
    // Writing classes first: the reads share what they leave.
    shown.sort_by_key(|share| share.class.share.of_reads);
    let status = shown.iter().map(|share| share.status(sessions)).max().unwrap_or(CheckStatus::Pass);
    if status == CheckStatus::Pass && !shown.iter().any(|share| share.is_conclusive(sessions)) {
        return skip(format!("{} operations are too few to tell", count(operations)));
    }
    let seen_pct =
        |share: &MixShare<'_>| percent(share.observed_ops as f64 * 100.0 / share.total_ops.max(1) as f64);
    let list_shares = |text: fn(&MixShare<'_>, String) -> String| {
        shown.iter().map(|share| text(share, seen_pct(share))).collect::<Vec<_>>().join(", ")
    };
    let requested_mix = list_shares(|share, _| format!("{} % {}", share.requested_pct, share.class.plural));
    let observed_mix = list_shares(|share, seen| format!("{seen} % {}", share.class.plural));
    let detail = match status {
        CheckStatus::Pass => format!("requested {requested_mix}; executed {observed_mix}"),
        _ => format!(
            "requested {requested_mix}, executed {observed_mix}: the difference is larger than chance explains"
        ),
    };
    conclude(status, requested_mix, observed_mix, detail)
}

/// Whether the intervals of the series add up to the window.
pub(super) fn series_sum(facts: &AuditFacts<'_>) -> AuditCheckResult {
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
    // Each session may have an operation that ended between the last interval and the window
    // boundary.
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
    conclude(status, count(total), count(sum), detail)
}

/// Operations that have no time of their own.
pub(super) fn untimed(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.window()?;
    if facts.op_count() == 0 {
        return skip("no operation completed without error");
    }
    let missing = |ops: &OpStats| ops.count.saturating_sub(ops.service_us.count);
    let classes = facts.record.ops.iter().filter(|(name, ops)| name.as_str() != ALL && missing(ops) > 0);
    let (mut words, mut most, mut reasons) = (Vec::new(), 0.0f64, BTreeSet::new());
    // A change and its commit in one call have one answer, so the commit never has a time of its
    // own.
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
        return conclude(CheckStatus::Pass, "0", "0", "every operation has its own time");
    }
    let reasons: Vec<&str> = reasons.into_iter().collect();
    let detail = format!("{} have no time of their own: {}", words.join(", "), reasons.join("; "));
    // Inside the database, operations are not timed. The plan requests that, so it is reported but
    // does not count against the run.
    let status =
        if facts.server_drive() || most <= UNTIMED_SHARE { CheckStatus::Pass } else { CheckStatus::Warn };
    conclude(status, "0", words.join(", "), detail)
}
