//! The rules that determine what limits a run, in the order in which they apply.

use dyno_record::{CheckStatus, RunRecord};

use super::evidence::{BottleneckInputs, Quota};
use super::parts::{
    ALWAYS_THROTTLED, CLEARLY_PCT, CLIENT_FULL_PCT, CPU_FULL_PCT, LOG_FULL_PCT, MOSTLY_PCT, QUOTA_FULL_PCT,
    THROTTLED_PCT, largest_time_part,
};
use super::words::{self, BottleneckFinding};
use super::{Bottleneck, Component, Confidence};
use crate::limit::RATE_KEPT_MIN;
use crate::number::fixed;
use crate::overdue::Overdue;

/// Share of the processors, %, that others may use before the result mentions it.
const OTHERS_PCT: f64 = 10.0;
/// Share of the sessions in an operation, below which the others wait for an arrival.
const WAITING_SHARE: f64 = 0.8;
/// Share of the sessions in an operation, above which sessions work without a pause.
const WITHOUT_PAUSE: f64 = 0.9;
/// Share of the processors, %, above which others may be why they are full.
const OTHERS_MUCH_PCT: f64 = 25.0;
/// Share of the time spent in think time, %, above which think time is the limit.
const THINK_PCT: f64 = 50.0;

/// Audit checks of figures from which a limit is derived.
const CHECKS: [&str; 4] = ["littles_law", "active_sessions", "server_restarted", "sessions"];

/// What limited the run of `record`.
pub fn limited(record: &RunRecord) -> Bottleneck {
    let Some(inputs) = BottleneckInputs::of(record) else {
        return unknown(words::nothing_measured(), Vec::new());
    };
    let named = pacing(&inputs)
        .or_else(|| quota(&inputs))
        .or_else(|| client(&inputs))
        .or_else(|| processors(&inputs))
        .or_else(|| time(&inputs))
        .or_else(|| log(&inputs))
        .or_else(|| one_writer(&inputs))
        .or_else(|| round_trips(&inputs))
        .or_else(|| few_sessions(&inputs));
    let evidence = inputs.evidence();
    let overdue = overdue(record);
    let Some(BottleneckFinding {
        component: by,
        label: what,
        used_pct,
        sure,
        is_exclusive,
        sentence,
        mut spoiled,
    }) = named
    else {
        let asked_per_s = record.asked_per_s().filter(|_| overdue.is_some());
        let spoiled = overdue.map(|overdue| overdue.words()).into_iter().collect();
        return Bottleneck { asked_per_s, spoiled, ..unknown(words::unknown(&inputs), evidence) };
    };
    spoiled.extend(collect_caveats(&inputs, by, is_exclusive));
    // The requested rate is known regardless of background activity.
    let doubted = !spoiled.is_empty() && !matches!(by, Component::Rate | Component::ThinkTime);
    // Work from a backlog is not part of the requested rate.
    let asked_per_s = record.asked_per_s().filter(|_| by == Component::Rate || overdue.is_some());
    spoiled.extend(overdue.as_ref().map(|overdue| overdue.words()));
    spoiled.extend(outage_words(record));
    let is_sure = sure && !doubted && overdue.is_none() && record.outages.is_empty();
    let confidence = if is_sure { Confidence::Sure } else { Confidence::Likely };
    Bottleneck { by, what, confidence, sentence, used_pct, evidence, asked_per_s, spoiled }
}

/// Operations overdue at the window's begin, where they matter; `None` without a rate.
fn overdue(record: &RunRecord) -> Option<Overdue> {
    let due = record.asked_per_s()? * record.window.as_ref()?.work_seconds();
    Overdue::of(record, due)
}

/// How long no session got an answer; `None` for a run without outages.
fn outage_words(record: &RunRecord) -> Option<String> {
    let silences = record.outages.iter().flat_map(|outage| &outage.silences);
    let silent_s: f64 = silences.map(|silence| silence.length_s).sum();
    let outages = match record.outages.len() {
        0 => return None,
        1 => "an outage".to_owned(),
        count => format!("{count} outages"),
    };
    Some(format!("the run has {outages}: no session had an answer for {} s", fixed(silent_s, 1)))
}

fn unknown(sentence: String, evidence: Vec<super::BottleneckEvidence>) -> Bottleneck {
    Bottleneck {
        by: Component::Unknown,
        what: Component::Unknown.word().to_owned(),
        confidence: Confidence::Unknown,
        sentence,
        used_pct: None,
        evidence,
        asked_per_s: None,
        spoiled: Vec::new(),
    }
}

/// What lowers the confidence of any result.
fn collect_caveats(inputs: &BottleneckInputs<'_>, component: Component, is_exclusive: bool) -> Vec<String> {
    let mut all = Vec::new();
    let others_cpu_pct =
        inputs.others_cpus.filter(|_| inputs.cpus > 0.0).map(|others| 100.0 * others / inputs.cpus);
    // Sessions that wait for a device or a lock do not wait for a processor that others use.
    let is_of_cpu = !is_exclusive
        && matches!(
            component,
            Component::Cpu
                | Component::Client
                | Component::Sessions
                | Component::RoundTrips
                | Component::Latches
        );
    if let Some(pct) = others_cpu_pct.filter(|pct| *pct > OTHERS_PCT && is_of_cpu) {
        all.push(words::others(pct));
    }
    if inputs.record.targets.len() > 1 {
        all.push("several databases are reported together".to_owned());
    }
    let failed = |check: &&dyno_record::AuditCheck| {
        check.status == CheckStatus::Fail && CHECKS.contains(&check.check.as_str())
    };
    all.extend(
        inputs
            .record
            .audit
            .iter()
            .find(failed)
            .map(|check| format!("audit warning: {}", crate::check_label(&check.check))),
    );
    all
}

/// The limit is the plan: a rate that was reached, or think time.
fn pacing(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let rate = inputs.record.asked_per_s().filter(|rate| inputs.record.beside.is_empty() && *rate > 0.0);
    if let Some(rate) = rate {
        let achieved_per_s = inputs.record.leading_ops()?.rate_per_s;
        let waits = inputs.busy_sessions < inputs.sessions * WAITING_SHARE;
        // Sessions that work off a backlog of the warm-up without a pause are not limited by the
        // rate.
        let works_off = !waits && overdue(inputs.record).is_some();
        // Arrivals vary by chance, too: sessions that wait for them have no other limit.
        if achieved_per_s >= rate * RATE_KEPT_MIN && !works_off || waits {
            return Some(words::rate(rate, achieved_per_s));
        }
    }
    let think_pct = inputs.metric("think_pct").filter(|pct| *pct >= THINK_PCT)?;
    Some(words::think(think_pct))
}

/// The limit is a control group's CPU quota.
fn quota(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let full = |quota: &Quota| {
        let (always, least) = ALWAYS_THROTTLED;
        quota.throttled_pct >= THROTTLED_PCT && quota.used_pct >= QUOTA_FULL_PCT
            || quota.throttled_pct >= always && quota.used_pct >= least
    };
    if let Some(quota) = inputs.server_quota.filter(full) {
        return Some(words::quota(Component::CpuQuota, "the database", quota));
    }
    let client_quota = inputs.own_quota.filter(full)?;
    let component = if inputs.in_process { Component::CpuQuota } else { Component::Client };
    Some(words::quota(component, "this program", client_quota))
}

/// The limit is the client: its threads and processors.
fn client(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let pct = inputs.client_pct.filter(|pct| *pct >= CLIENT_FULL_PCT)?;
    // Sessions that mostly work in the database are not limited by the client.
    let inside = inputs.shares.outside.is_some_and(|outside| outside < 100.0 - CLEARLY_PCT);
    (!inside).then(|| words::client(inputs, pct))
}

/// The limit is the processors of a host.
fn processors(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let confined = inputs.confined.filter(|(_, pct)| *pct >= CPU_FULL_PCT);
    if let Some((cpus, pct)) = confined {
        return Some(words::confined(inputs, cpus, pct));
    }
    let full = |pct: Option<f64>| pct.filter(|pct| *pct >= CPU_FULL_PCT);
    if inputs.remote_host.is_some() {
        let of_database = full(inputs.busy_pct).map(|pct| words::processors(inputs, pct));
        return of_database.or_else(|| full(inputs.driver_busy_pct).map(|pct| words::client(inputs, pct)));
    }
    let pct = full(inputs.busy_pct)?;
    let platform = inputs.platform_pct();
    let others_cpu_pct =
        inputs.others_cpus.filter(|_| inputs.cpus > 0.0).map(|others| 100.0 * others / inputs.cpus);
    let by_others = platform.is_some_and(|platform| platform < pct / 2.0)
        || others_cpu_pct.is_some_and(|others| others >= OTHERS_MUCH_PCT);
    // Others may use the processors while the sessions wait for something else.
    if by_others && largest_time_part(inputs).is_some_and(|part| part.pct >= CLEARLY_PCT) {
        return None;
    }
    if !inputs.same_host && !inputs.in_process {
        // The database is on another host, and the load of its processors is unknown.
        return (!by_others).then(|| words::client(inputs, pct));
    }
    Some(words::processors(inputs, pct))
}

/// The limit is what the sessions spend most of their time in.
fn time(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let part = largest_time_part(inputs).filter(|part| part.pct >= MOSTLY_PCT)?;
    let clear = part.pct >= CLEARLY_PCT;
    Some(match part.component {
        Component::Commits => words::commits(inputs, &part, clear),
        Component::Device => words::device(inputs, &part, clear),
        _ => words::locks(inputs, &part, clear),
    })
}

/// The limit is a log that is synced continuously, while most sessions wait for their turn.
fn log(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let pct = inputs.shares.syncing.filter(|pct| *pct >= LOG_FULL_PCT)?;
    Some(words::log(inputs, pct))
}

/// The limit is a single writer: sessions that write inside this process while processors are free.
/// The time in which they neither compute nor read nor sync is waiting, because only one may write
/// at a time.
fn one_writer(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    if !inputs.in_process || inputs.sessions < 2.0 || !are_sessions_busy(inputs) || !has_processors(inputs) {
        return None;
    }
    let of_writers = |class: &dyno_record::Class| {
        let ops = inputs.record.ops.get(&class.name).filter(|_| class.commits > 0)?;
        Some(ops.count as f64 * ops.service_us.mean? / 1e6)
    };
    let window_s = inputs.record.window.as_ref()?.work_seconds();
    let writers_s: f64 = inputs.record.classes.iter().filter_map(of_writers).sum();
    let writing_pct = 100.0 * writers_s / (inputs.busy_sessions * window_s);
    let syncing_pct = inputs.shares.syncing.unwrap_or(0.0) / inputs.sessions;
    let known_pct = inputs.shares.cpu? + syncing_pct + inputs.shares.device.unwrap_or(0.0);
    let turn_pct = 100.0 - known_pct;
    (writing_pct >= CLEARLY_PCT && turn_pct >= MOSTLY_PCT).then(|| words::one_writer(inputs, turn_pct))
}

/// Whether the sessions were in operations nearly all the time.
fn are_sessions_busy(inputs: &BottleneckInputs<'_>) -> bool {
    inputs.busy_sessions >= inputs.sessions * WITHOUT_PAUSE
}

/// Whether a quarter of the processors was free, so no thread waited for one.
fn has_processors(inputs: &BottleneckInputs<'_>) -> bool {
    const FREE_PCT: f64 = 25.0;
    let free = |pct: f64| pct < 100.0 - FREE_PCT;
    inputs.busy_pct.is_some_and(free) && inputs.driver_busy_pct.is_none_or(free)
}

/// The limit is the round trip: sessions neither work in the database nor wait there.
fn round_trips(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let outside = inputs.shares.outside.filter(|pct| *pct >= MOSTLY_PCT)?;
    // The database regards a session as idle until its process has a processor.
    let rested = has_processors(inputs);
    // Where both are on this host, processor time and waits must leave as much unexplained.
    let idle = inputs.shares.cpu.is_none_or(|cpu| cpu <= 100.0 - MOSTLY_PCT);
    // The same holds while a quota throttles it.
    let throttled = inputs.server_quota.is_some_and(|quota| quota.throttled_pct >= THROTTLED_PCT);
    (rested && !throttled && are_sessions_busy(inputs) && (idle || !inputs.same_host))
        .then(|| words::round_trips(inputs, outside))
}

/// The limit is the number of sessions: they work without a pause, and processors are free.
fn few_sessions(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    const AT_WORK_PCT: f64 = 70.0;
    let cpu = inputs.shares.cpu.filter(|pct| *pct >= AT_WORK_PCT)?;
    let free = are_sessions_busy(inputs)
        && inputs.busy_sessions < inputs.cpus
        && inputs.busy_pct? < CPU_FULL_PCT
        && inputs.confined.is_none();
    free.then(|| words::few_sessions(inputs, cpu))
}
