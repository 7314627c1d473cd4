//! Checks the client: its errors, the arrivals of an open loop, and whether it was itself the
//! limit.

use dyno_plan::{Arrivals, Rate};
use dyno_record::{CheckStatus, OpStats, Window};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, Finding, conclude, skip};
use super::fleet;
use crate::number::{count, figure, fixed, percent, time_us};
use crate::overdue::Overdue;

/// Share of failed operations, %, above which the check warns. Deadlocks and serialization failures
/// of a contended load stay below it.
const ERRORS_WARN_PCT: f64 = 1.0;

/// Share of failed operations, %, above which rate and latency describe failures rather than work.
const ERRORS_FAIL_PCT: f64 = 10.0;

/// Share of the requested rate below which the rate was not reached.
const RATE_SHARE_MIN: f64 = 0.95;

/// Standard deviations by which a Poisson count may differ from its mean by chance.
const POISSON_SIGMAS: f64 = 4.0;

/// Delay of a start behind its due time above which the check warns, µs. Above it, response time is
/// mostly waiting.
const LATE_US: f64 = 100_000.0;

/// Standard deviations allowed for the phase furthest from its mean, with up to a thousand phases.
const PHASE_SIGMAS: f64 = 5.0;

/// Most phases that a finding names.
const PHASES_NAMED: usize = 3;

/// Share of a shared host's processors, %, above which the client competes with the database that
/// it measures.
const SHARED_CPU_PCT: f64 = 50.0;

/// Share of the client host's processors, %, above which the client is the limit.
const OWN_CPU_PCT: f64 = 80.0;

/// Checks failed operations and lost connections.
pub(super) fn errors(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let (done, failed) = (facts.op_count(), facts.error_count());
    if facts.record.ops.is_empty() && facts.record.errors.is_empty() {
        return skip("no operation was started");
    }
    let tallies = &facts.record.errors;
    let sum =
        |part: fn(&dyno_record::ErrorTally) -> u64| tallies.iter().map(part).fold(0u64, u64::saturating_add);
    let (all, reconnects) = (sum(|tally| tally.count), sum(|tally| tally.reconnects));
    let hard = tallies.iter().find(|tally| tally.class != "retryable" && tally.count > 0);
    if failed == 0 && all == 0 && reconnects == 0 {
        return conclude(CheckStatus::Pass, "0", "0", format!("none{}", retries_words(facts)));
    }
    let attempts = done.saturating_add(failed);
    let share_pct = if attempts == 0 { 0.0 } else { failed as f64 * 100.0 / attempts as f64 };
    let most = tallies.iter().max_by_key(|tally| tally.count);
    let example =
        most.map_or(String::new(), |tally| format!("; most often {} ({})", tally.code, tally.message));
    let words = format!(
        "{} of {} operations in the window failed ({} %), {} with warm-up and drain{example}",
        count(failed),
        count(attempts),
        percent(share_pct),
        count(all)
    );
    let in_doubt = sum(|tally| tally.in_doubt);
    let doubt = match in_doubt {
        0 => String::new(),
        in_doubt => {
            format!("; {} lost their connection during a commit, whose outcome is unknown", count(in_doubt))
        }
    };
    let words = format!("{words}{}{doubt}", retries_words(facts));
    let met = facts.replicated && tallies.iter().any(|tally| tally.class == "retryable" && tally.count > 0);
    let words = match met {
        true => format!(
            "{words}; sessions on other targets write the same rows, and such conflicts appear only when \
             changes are replicated"
        ),
        false => words,
    };
    let observed = count(failed);
    if share_pct > ERRORS_FAIL_PCT {
        let detail = format!("{words}: the figures describe failed operations, not work");
        return conclude(CheckStatus::Fail, "0", observed, detail);
    }
    if reconnects > 0 || hard.is_some() {
        let detail = format!("{words}; reconnects: {}", count(reconnects));
        return conclude(CheckStatus::Warn, "0", observed, detail);
    }
    let status = if share_pct > ERRORS_WARN_PCT { CheckStatus::Warn } else { CheckStatus::Pass };
    conclude(status, "0", observed, format!("{words}; all were repeated"))
}

/// Retries in the window:
/// `; the database rolled back 304 attempts in the window, which were retried (pay 301, stock 3)`.
fn retries_words(facts: &AuditFacts<'_>) -> String {
    let retries = |name: &str| facts.record.ops.get(name).map_or(0, |ops| ops.retries);
    let all = retries(dyno_record::ALL);
    if all == 0 {
        return String::new();
    }
    let classes = facts.record.by_class().filter(|(name, ops)| *name != dyno_record::ALL && ops.retries > 0);
    let retries_by_class: Vec<String> =
        classes.map(|(name, ops)| format!("{name} {}", count(ops.retries))).collect();
    format!(
        "; the database rolled back {} attempts in the window, which were retried ({})",
        count(all),
        retries_by_class.join(", ")
    )
}

/// One requested rate and what was done towards it.
struct RequestedRate {
    /// The workload's name with a colon, where there are several: `writes: `.
    workload_prefix: String,
    rate: f64,
    /// Operations that ended, failed ones included, and polls that found nothing: those were due,
    /// too.
    ended_ops: u64,
    sessions: u32,
}

impl RequestedRate {
    /// The fewest operations to expect in `work_s`, with chance allowed for.
    fn minimum_ops(&self, arrivals: Arrivals, work_s: f64) -> f64 {
        let due = self.rate * work_s;
        let chance = match arrivals {
            Arrivals::Constant => 0.0,
            Arrivals::Poisson => POISSON_SIGMAS * due.max(0.0).sqrt(),
        };
        (due - chance - f64::from(self.sessions)).min(due * RATE_SHARE_MIN)
    }
}

/// Operations that ended, failed ones included, and empty polls.
fn count_attempts(ops: &OpStats) -> u64 {
    ops.count.saturating_add(ops.errors).saturating_add(ops.empty_polls)
}

/// All requested rates except those of a schedule of phases.
fn requested_rates(facts: &AuditFacts<'_>) -> Vec<RequestedRate> {
    let by_phases = usize::from(!facts.record.phases.is_empty());
    let several = facts.record.workloads().skip(by_phases).filter_map(|own| {
        let share = own.share.as_ref()?;
        let completed_ops = share.ops.as_deref().map_or(0, count_attempts);
        Some(RequestedRate {
            workload_prefix: format!("{}: ", own.name),
            rate: share.rate_per_s?,
            ended_ops: completed_ops,
            sessions: share.sessions,
        })
    });
    if !facts.record.beside.is_empty() {
        return several.collect();
    }
    let only = |rate: Rate| RequestedRate {
        workload_prefix: String::new(),
        rate: rate.0,
        ended_ops: facts.op_count().saturating_add(facts.error_count()).saturating_add(facts.empty_polls()),
        sessions: facts.sessions(),
    };
    facts.record.plan.workload.rate.map(only).into_iter().collect()
}

/// Whether an open loop reached its rate.
pub(super) fn open_loop(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let all = requested_rates(facts);
    let by_phases = !facts.record.phases.is_empty();
    match (by_phases, all.is_empty()) {
        (true, true) => phases(facts),
        (true, false) => merge_findings(phases(facts)?, rates(facts, window, &all, None)?),
        (false, false) => rates(facts, window, &all, window.late_us_max.filter(|late| late.is_finite())),
        (false, true) => skip(match facts.record.plan.workload.phases.is_empty() {
            true => "closed loop: each operation starts when the one before has ended",
            false => "the phases of its schedule are reported for all targets together",
        }),
    }
}

/// Joins two findings: that of the main workload and that of the background workloads.
fn merge_findings(first: Finding, additional: Finding) -> AuditCheckResult {
    let joined = |a: String, b: String, separator: &str| format!("{a}{separator}{b}");
    conclude(
        first.status.max(additional.status),
        joined(first.expected, additional.expected, ", "),
        joined(first.observed, additional.observed, ", "),
        joined(first.detail, additional.detail, "; "),
    )
}

/// Whether these rates were reached; `late` is the latest start, µs.
fn rates(
    facts: &AuditFacts<'_>,
    window: &Window,
    all: &[RequestedRate],
    late: Option<f64>,
) -> AuditCheckResult {
    let work_s = window.work_seconds();
    let lateness =
        late.map_or(String::new(), |late| format!(", the latest start {} after it was due", time_us(late)));
    let per_s = |of: &dyn Fn(&RequestedRate) -> f64| {
        all.iter().map(|one| format!("{}/s", figure(of(one)))).collect::<Vec<_>>().join(", ")
    };
    let (expected, observed) = (per_s(&|one| one.rate), per_s(&|one| one.ended_ops as f64 / work_s));
    let words = all.iter().map(|RequestedRate { workload_prefix: of, rate, ended_ops: done, .. }| {
        format!("{of}{}/s requested, {}/s done", figure(*rate), figure(*done as f64 / work_s))
    });
    let words = format!("{}{lateness}", words.collect::<Vec<_>>().join("; "));
    let arrivals = facts.record.plan.workload.arrivals;
    if all.iter().any(|one| (one.ended_ops as f64) < one.minimum_ops(arrivals, work_s)) {
        let detail = format!("{words}: the platform or the client is saturated below the rate");
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    let is_too_wide = |one: &&RequestedRate| {
        one.minimum_ops(arrivals, work_s) <= 0.0
            && (one.ended_ops as f64) < one.rate * work_s * RATE_SHARE_MIN
    };
    if let Some(one) = all.iter().find(is_too_wide) {
        return skip(format!(
            "{words}: of {} due operations as many may be missing",
            figure(one.rate * work_s)
        ));
    }
    let due = all.iter().map(|one| one.rate).sum::<f64>() * work_s;
    if let Some(overdue) = Overdue::of(facts.record, due) {
        let detail = format!("{words}; {}", overdue.words());
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    if late.is_some_and(|late| late > LATE_US) {
        let detail = format!("{words}: response times include this wait, as users would experience it");
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    conclude(CheckStatus::Pass, expected, observed, words)
}

/// Whether each phase of a schedule had the arrivals that it requests, and kept up with them.
fn phases(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let record = facts.record;
    let poisson = record.plan.workload.arrivals == Arrivals::Poisson;
    let (asked, due) = record
        .phases
        .iter()
        .fold((0.0, 0u64), |(asked, due), phase| (asked + phase.asked, due.saturating_add(phase.due)));
    let rounded = |asked: f64| figure(asked.round());
    let (expected, observed) = (rounded(asked), count(due));
    let off = record.phases.iter().find(|phase| {
        // Among many phases, the furthest differs more by chance than a single one does.
        let chance = if poisson { PHASE_SIGMAS * (phase.asked.max(1.0).sqrt() + 1.0) } else { 1.5 };
        (phase.due as f64 - phase.asked).abs() > chance
    });
    if let Some(phase) = off {
        let words = format!(
            "{}: {} operations were due, but the schedule requests {}",
            phase.name,
            count(phase.due),
            rounded(phase.asked)
        );
        return conclude(CheckStatus::Fail, expected, observed, words);
    }
    let behind: Vec<String> = record
        .phases
        .iter()
        .filter(|phase| phase.behind as f64 > 1.0 + phase.asked_per_s() * LATE_US / 1e6)
        .map(|phase| format!("{} was behind by {} operations at its end", phase.name, count(phase.behind)))
        .collect();
    let scheduled_workload = facts.record.workload.as_ref().filter(|_| !facts.record.beside.is_empty());
    let words = format!(
        "{}{} arrivals requested in {} phases, {} due",
        scheduled_workload.map_or_else(String::new, |own| format!("{}: ", own.name)),
        rounded(asked),
        record.phases.len(),
        count(due)
    );
    match behind.len() {
        0 => conclude(CheckStatus::Pass, expected, observed, format!("{words}; each phase kept up")),
        late => {
            let more = if late > PHASES_NAMED {
                format!(" and {} more", late - PHASES_NAMED)
            } else {
                String::new()
            };
            let named = behind.into_iter().take(PHASES_NAMED).collect::<Vec<_>>().join(", ");
            let detail = format!(
                "{words}; {named}{more}: response times include this wait, as users would experience it"
            );
            conclude(CheckStatus::Warn, expected, observed, detail)
        }
    }
}

/// Whether the client was itself the limit.
pub(super) fn cost(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    if let Some(fleet) = &facts.record.fleet {
        return fleet::cost(fleet);
    }
    if facts.counting.in_process {
        return skip(
            "the database runs inside this process, so the process's processor time includes the database's",
        );
    }
    let host = facts.record.driver();
    let Some(cpu_s) = host.counters.get("process.cpu_s").copied().filter(|s| s.is_finite()) else {
        return skip("the client's own processor time is not known");
    };
    let same_host = facts.target().is_some_and(|target| target.identity.same_host);
    let (cpus, limit_pct, whose) = if same_host {
        (host.cpus, SHARED_CPU_PCT, "the processors that it shares with the database")
    } else {
        (host.cpus_allowed, OWN_CPU_PCT, "its own processors")
    };
    if cpus == 0 {
        return skip("the number of processors is not known");
    }
    let share_pct = cpu_s * 100.0 / (f64::from(cpus) * window.seconds);
    let per_op = match facts.op_count() as f64 / window.work_seconds() {
        ops_per_s if ops_per_s > 0.0 => {
            let per_op_us = cpu_s * 1e6 / window.seconds / ops_per_s;
            format!("{} of processor time per operation, ", time_us(per_op_us))
        }
        _ => String::new(),
    };
    let words = format!("the client took {per_op}{} % of {whose}", percent(share_pct));
    let (expected, observed) = (format!("≤ {} %", fixed(limit_pct, 0)), format!("{} %", percent(share_pct)));
    if share_pct <= limit_pct {
        return conclude(CheckStatus::Pass, expected, observed, words);
    }
    // Only the block workload has loops inside the database.
    let has_loops = facts.record.workload.is_none();
    let detail = match (same_host, has_loops) {
        (true, true) => format!("{words}: drive from another host, or with workload.drive = \"server\""),
        (true, false) => format!("{words}: drive from another host"),
        (false, true) => format!(
            "{words}: the client is the limit; give it more processors or use workload.drive = \"server\""
        ),
        (false, false) => {
            format!("{words}: the client is the limit; give it more processors, or drive from several hosts")
        }
    };
    conclude(CheckStatus::Warn, expected, observed, detail)
}
