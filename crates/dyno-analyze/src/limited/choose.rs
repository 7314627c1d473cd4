//! The rules by which a limit is named, in the order in which they are asked.

use dyno_record::{CheckStatus, RunRecord};

use super::parts::{
    ALWAYS_THROTTLED, CLEARLY_PCT, CLIENT_FULL_PCT, CPU_FULL_PCT, LOG_FULL_PCT, MOSTLY_PCT, QUOTA_FULL_PCT,
    THROTTLED_PCT, strongest,
};
use super::seen::{Quota, Seen};
use super::words::{self, Named};
use super::{Component, Confidence, Limited};
use crate::limit::RATE_KEPT_MIN;
use crate::number::fixed;
use crate::overdue::Overdue;

/// Share of the processors, %, that others may have before it has to be said.
const OTHERS_PCT: f64 = 10.0;
/// Share of the sessions that are in an operation, below which the others wait for an arrival.
const WAITING_SHARE: f64 = 0.8;
/// Share of the sessions that are in an operation where none of them waits for anything between two.
const WITHOUT_PAUSE: f64 = 0.9;
/// Share of the processors, %, from which others may be why they are full.
const OTHERS_MUCH_PCT: f64 = 25.0;
/// Share of the time that sessions were told to think, %, above which that is what they do.
const THINK_PCT: f64 = 50.0;

/// Audit checks that speak of figures which name a limit.
const CHECKS: [&str; 4] = ["littles_law", "active_sessions", "server_restarted", "sessions"];

/// What limited the run of `record`.
pub fn limited(record: &RunRecord) -> Limited {
    let Some(seen) = Seen::of(record) else {
        return unknown(words::nothing_measured(), Vec::new());
    };
    let named = asked_for(&seen)
        .or_else(|| quota(&seen))
        .or_else(|| client(&seen))
        .or_else(|| processors(&seen))
        .or_else(|| time(&seen))
        .or_else(|| log(&seen))
        .or_else(|| one_writer(&seen))
        .or_else(|| round_trips(&seen))
        .or_else(|| few_sessions(&seen));
    let evidence = seen.evidence();
    let overdue = overdue(record);
    let Some(Named { by, what, used_pct, sure, own, sentence, mut spoiled }) = named else {
        let asked_per_s = record.asked_per_s().filter(|_| overdue.is_some());
        let spoiled = overdue.map(|overdue| overdue.words()).into_iter().collect();
        return Limited { asked_per_s, spoiled, ..unknown(words::unknown(&seen), evidence) };
    };
    spoiled.extend(spoilers(&seen, by, own));
    // What was asked for is known whatever others did.
    let doubted = !spoiled.is_empty() && !matches!(by, Component::Rate | Component::ThinkTime);
    // What a backlog adds to the rate is nothing that the platform was asked for.
    let asked_per_s = record.asked_per_s().filter(|_| by == Component::Rate || overdue.is_some());
    spoiled.extend(overdue.as_ref().map(|overdue| overdue.words()));
    spoiled.extend(outage_words(record));
    let is_sure = sure && !doubted && overdue.is_none() && record.outages.is_empty();
    let confidence = if is_sure { Confidence::Sure } else { Confidence::Likely };
    Limited { by, what, confidence, sentence, used_pct, evidence, asked_per_s, spoiled }
}

/// Operations that were overdue at the window's begin, where they matter; `None` without a rate.
fn overdue(record: &RunRecord) -> Option<Overdue> {
    let due = record.asked_per_s()? * record.window.as_ref()?.work_seconds();
    Overdue::of(record, due)
}

/// How long no session had an answer; `None` for a run without outages.
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

fn unknown(sentence: String, evidence: Vec<super::Evidence>) -> Limited {
    Limited {
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

/// What makes any answer less sure.
fn spoilers(seen: &Seen<'_>, by: Component, own: bool) -> Vec<String> {
    let mut all = Vec::new();
    let others = seen.others.filter(|_| seen.cpus > 0.0).map(|others| 100.0 * others / seen.cpus);
    // Who waits for a device or a lock does not wait for a processor that others have.
    let is_of_cpu = !own
        && matches!(
            by,
            Component::Cpu
                | Component::Client
                | Component::Sessions
                | Component::RoundTrips
                | Component::Latches
        );
    if let Some(pct) = others.filter(|pct| *pct > OTHERS_PCT && is_of_cpu) {
        all.push(words::others(pct));
    }
    if seen.record.targets.len() > 1 {
        all.push("several databases are told of together".to_owned());
    }
    let failed = |check: &&dyno_record::AuditCheck| {
        check.status == CheckStatus::Fail && CHECKS.contains(&check.check.as_str())
    };
    all.extend(
        seen.record
            .audit
            .iter()
            .find(failed)
            .map(|check| format!("audit warning: {}", check.check.replace('_', " "))),
    );
    all
}

/// A rate that was reached, or time to think.
fn asked_for(seen: &Seen<'_>) -> Option<Named> {
    let rate = seen.record.asked_per_s().filter(|rate| seen.record.beside.is_empty() && *rate > 0.0);
    if let Some(rate) = rate {
        let done = seen.record.leading_ops()?.rate_per_s;
        let waits = seen.busy < seen.sessions * WAITING_SHARE;
        // Sessions that work off a backlog of the warm-up without pause are not held up by the rate.
        let works_off = !waits && overdue(seen.record).is_some();
        // Arrivals come by chance, too: sessions that wait for them are held up by nothing else.
        if done >= rate * RATE_KEPT_MIN && !works_off || waits {
            return Some(words::rate(rate, done));
        }
    }
    let think_pct = seen.metric("think_pct").filter(|pct| *pct >= THINK_PCT)?;
    Some(words::think(think_pct))
}

/// A control group that gives no more processor time.
fn quota(seen: &Seen<'_>) -> Option<Named> {
    let full = |quota: &Quota| {
        let (always, least) = ALWAYS_THROTTLED;
        quota.throttled_pct >= THROTTLED_PCT && quota.used_pct >= QUOTA_FULL_PCT
            || quota.throttled_pct >= always && quota.used_pct >= least
    };
    if let Some(quota) = seen.server_quota.filter(full) {
        return Some(words::quota(Component::CpuQuota, "the database", quota));
    }
    let own = seen.own_quota.filter(full)?;
    let by = if seen.in_process { Component::CpuQuota } else { Component::Client };
    Some(words::quota(by, "this program", own))
}

/// This program, on its threads and its processors.
fn client(seen: &Seen<'_>) -> Option<Named> {
    let pct = seen.client_pct.filter(|pct| *pct >= CLIENT_FULL_PCT)?;
    // Sessions that are mostly at work in the database are not held up by their client.
    let inside = seen.shares.outside.is_some_and(|outside| outside < 100.0 - CLEARLY_PCT);
    (!inside).then(|| words::client(seen, pct))
}

/// The processors.
fn processors(seen: &Seen<'_>) -> Option<Named> {
    let confined = seen.confined.filter(|(_, pct)| *pct >= CPU_FULL_PCT);
    if let Some((cpus, pct)) = confined {
        return Some(words::confined(seen, cpus, pct));
    }
    let full = |pct: Option<f64>| pct.filter(|pct| *pct >= CPU_FULL_PCT);
    if seen.elsewhere.is_some() {
        let of_database = full(seen.busy_pct).map(|pct| words::processors(seen, pct));
        return of_database.or_else(|| full(seen.driver_busy_pct).map(|pct| words::client(seen, pct)));
    }
    let pct = full(seen.busy_pct)?;
    let platform = seen.platform_pct();
    let others = seen.others.filter(|_| seen.cpus > 0.0).map(|others| 100.0 * others / seen.cpus);
    let by_others = platform.is_some_and(|platform| platform < pct / 2.0)
        || others.is_some_and(|others| others >= OTHERS_MUCH_PCT);
    // Others may keep the processors while the sessions wait for something else.
    if by_others && strongest(seen).is_some_and(|part| part.pct >= CLEARLY_PCT) {
        return None;
    }
    if !seen.same_host && !seen.in_process {
        // The database is elsewhere, and nobody knows what its processors do.
        return (!by_others).then(|| words::client(seen, pct));
    }
    Some(words::processors(seen, pct))
}

/// What the sessions spend most of their time in.
fn time(seen: &Seen<'_>) -> Option<Named> {
    let part = strongest(seen).filter(|part| part.pct >= MOSTLY_PCT)?;
    let clear = part.pct >= CLEARLY_PCT;
    Some(match part.by {
        Component::Commits => words::commits(seen, &part, clear),
        Component::Device => words::device(seen, &part, clear),
        _ => words::held(seen, &part, clear),
    })
}

/// A log that is being synced all the time, while most sessions wait for their turn.
fn log(seen: &Seen<'_>) -> Option<Named> {
    let pct = seen.shares.syncing.filter(|pct| *pct >= LOG_FULL_PCT)?;
    Some(words::log(seen, pct))
}

/// Sessions that write inside this program, where processors are free: what they neither compute nor read nor sync they wait for
/// their turn, for one may write at a time.
fn one_writer(seen: &Seen<'_>) -> Option<Named> {
    if !seen.in_process || seen.sessions < 2.0 || !are_at_it(seen) || !has_processors(seen) {
        return None;
    }
    let of_writers = |class: &dyno_record::Class| {
        let ops = seen.record.ops.get(&class.name).filter(|_| class.commits > 0)?;
        Some(ops.count as f64 * ops.service_us.mean? / 1e6)
    };
    let window_s = seen.record.window.as_ref()?.work_seconds();
    let writers_s: f64 = seen.record.classes.iter().filter_map(of_writers).sum();
    let writing_pct = 100.0 * writers_s / (seen.busy * window_s);
    let syncing_pct = seen.shares.syncing.unwrap_or(0.0) / seen.sessions;
    let known_pct = seen.shares.cpu? + syncing_pct + seen.shares.device.unwrap_or(0.0);
    let turn_pct = 100.0 - known_pct;
    (writing_pct >= CLEARLY_PCT && turn_pct >= MOSTLY_PCT).then(|| words::one_writer(seen, turn_pct))
}

/// Whether the sessions were in operations nearly all the time.
fn are_at_it(seen: &Seen<'_>) -> bool {
    seen.busy >= seen.sessions * WITHOUT_PAUSE
}

/// Whether a quarter of the processors was free, so that nobody waited for one.
fn has_processors(seen: &Seen<'_>) -> bool {
    const FREE_PCT: f64 = 25.0;
    let free = |pct: f64| pct < 100.0 - FREE_PCT;
    seen.busy_pct.is_some_and(free) && seen.driver_busy_pct.is_none_or(free)
}

/// Sessions that are neither at work in the database nor held up there.
fn round_trips(seen: &Seen<'_>) -> Option<Named> {
    let outside = seen.shares.outside.filter(|pct| *pct >= MOSTLY_PCT)?;
    // To a database a session is idle until its process has a processor.
    let rested = has_processors(seen);
    // Where both are here, processor time and waits must leave as much unexplained.
    let idle = seen.shares.cpu.is_none_or(|cpu| cpu <= 100.0 - MOSTLY_PCT);
    // Nor while nobody lets it run.
    let throttled = seen.server_quota.is_some_and(|quota| quota.throttled_pct >= THROTTLED_PCT);
    (rested && !throttled && are_at_it(seen) && (idle || !seen.same_host))
        .then(|| words::round_trips(seen, outside))
}

/// Sessions that work without pause, while there are processors for more of them.
fn few_sessions(seen: &Seen<'_>) -> Option<Named> {
    const AT_WORK_PCT: f64 = 70.0;
    let cpu = seen.shares.cpu.filter(|pct| *pct >= AT_WORK_PCT)?;
    let free =
        are_at_it(seen) && seen.busy < seen.cpus && seen.busy_pct? < CPU_FULL_PCT && seen.confined.is_none();
    free.then(|| words::few_sessions(seen, cpu))
}
