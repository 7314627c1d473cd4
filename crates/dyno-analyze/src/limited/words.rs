//! The sentences of limits, with their figures.

use super::Component;
use super::parts::{DEVICE_FULL_PCT, LOG_FULL_PCT, Part, strongest};
use super::seen::{Quota, Seen};
use crate::number::{figure, fixed, percent, sessions, time_us};

/// A device is held back from outside where the database waits so many times longer than the device takes.
const HELD_BACK: f64 = 3.0;
/// Waits shorter than this are no device's, µs.
const HELD_BACK_US: f64 = 500.0;

/// A limit that was found.
pub(super) struct Named {
    pub(super) by: Component,
    pub(super) what: String,
    pub(super) used_pct: Option<f64>,
    /// Whether what is used up was measured.
    pub(super) sure: bool,
    /// Whether the platform itself has all of it, so that others cannot be the reason.
    pub(super) own: bool,
    pub(super) sentence: String,
    pub(super) spoiled: Vec<String>,
}

impl Named {
    fn of(by: Component, what: &str, sure: bool, sentence: String) -> Self {
        Self { by, what: what.to_owned(), used_pct: None, sure, own: false, sentence, spoiled: Vec::new() }
    }

    fn by_itself(self) -> Self {
        Self { own: true, ..self }
    }

    fn used(self, pct: f64) -> Self {
        Self { used_pct: Some(pct), ..self }
    }
}

pub(super) fn nothing_measured() -> String {
    "what limited it is unknown: no operations were timed in a window".to_owned()
}

/// What has been looked at where nothing tells.
pub(super) fn unknown(seen: &Seen<'_>) -> String {
    let mut told: Vec<String> = Vec::new();
    told.extend(seen.busy_pct.map(|pct| format!("the processors are {} % busy", percent(pct))));
    if let Some(part) = strongest(seen).filter(|part| part.pct >= 1.0) {
        told.push(format!("{} % of the sessions' time is {}", percent(part.pct), part.what));
    }
    told.extend(seen.shares.outside.map(|pct| format!("{} % is outside the database", percent(pct))));
    if let Some(why) = &seen.shares.unsampled {
        told.push(format!("waits are not known: {why}"));
    }
    if told.is_empty() {
        told.push("neither processors nor waits nor a device are known".to_owned());
    }
    format!("what limited it is unknown: {}", told.join("; "))
}

pub(super) fn others(pct: f64) -> String {
    format!("others had {} % of the processors", percent(pct))
}

pub(super) fn rate(rate: f64, done: f64) -> Named {
    let sentence =
        format!("limited by the rate asked for: {}/s, and {}/s were done", figure(rate), figure(done));
    let what = Component::Rate.word();
    Named::of(Component::Rate, what, true, sentence)
}

pub(super) fn think(pct: f64) -> Named {
    let sentence = format!("limited by think time: sessions sleep {} % of the time", percent(pct));
    Named::of(Component::ThinkTime, Component::ThinkTime.word(), true, sentence)
}

pub(super) fn quota(by: Component, whose: &str, quota: Quota) -> Named {
    let sentence = format!(
        "limited by the CPU quota of {whose}: {} of {} processors' worth is used, and {} % of the periods were throttled",
        fixed(quota.used_pct * quota.cpus / 100.0, 2),
        fixed(quota.cpus, 2),
        percent(quota.throttled_pct)
    );
    let what = if by == Component::Client { "the client (CPU quota)" } else { by.word() };
    Named::of(by, what, true, sentence).by_itself().used(quota.used_pct.min(100.0))
}

/// Who has the processors: `the database 61.2 %, this program 30.0 %, others 2.0 %`.
fn whose(seen: &Seen<'_>) -> String {
    let pct = |cpus: Option<f64>| cpus.filter(|_| seen.cpus > 0.0).map(|cpus| 100.0 * cpus / seen.cpus);
    let one = |name: &str, cpus| pct(cpus).map(|pct| format!("{name} {} %", percent(pct)));
    if seen.elsewhere.is_some() {
        return "whose work that was is not known".to_owned();
    }
    let parts = match seen.in_process {
        true => [one("this program with the database", seen.own), None, one("others", seen.others)],
        false => {
            [one("the database", seen.server), one("this program", seen.own), one("others", seen.others)]
        }
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn user_and_system(seen: &Seen<'_>) -> String {
    let of_metrics = || Some((seen.metric("cpu_user_pct")?, seen.metric("cpu_sys_pct")?, 0.0));
    match seen.kinds.or_else(of_metrics) {
        Some((user, system, steal)) => {
            let steal =
                if steal > 0.0 { format!(", {} % hypervisor", percent(steal)) } else { String::new() };
            format!(" ({} % user, {} % system{steal})", percent(user), percent(system))
        }
        None => String::new(),
    }
}

fn behind(whose: String) -> String {
    if whose.is_empty() { whose } else { format!(": {whose}") }
}

pub(super) fn processors(seen: &Seen<'_>, pct: f64) -> Named {
    let sentence = format!(
        "limited by the CPU: the {} processors{} are {} % busy{}{}",
        fixed(seen.cpus, 0),
        seen.elsewhere.map_or_else(String::new, |host| format!(" of {}", host.words())),
        percent(pct),
        user_and_system(seen),
        behind(whose(seen))
    );
    Named::of(Component::Cpu, Component::Cpu.word(), seen.elsewhere.is_none(), sentence).used(pct)
}

pub(super) fn confined(seen: &Seen<'_>, cpus: f64, pct: f64) -> Named {
    let sentence = format!(
        "limited by the CPU: the platform may use {} of {} processors, and they are {} % busy{}",
        fixed(cpus, 0),
        fixed(seen.cpus, 0),
        percent(pct),
        behind(whose(seen))
    );
    Named::of(Component::Cpu, Component::Cpu.word(), true, sentence).by_itself().used(pct)
}

pub(super) fn client(seen: &Seen<'_>, pct: f64) -> Named {
    let threads = match seen.record.gate.threads {
        0 => "this program".to_owned(),
        1 => "the one thread of this program".to_owned(),
        threads => format!("the {threads} threads of this program"),
    };
    let per_op = seen.metric("client_cpu_us_per_op");
    let per_op = per_op.map_or_else(String::new, |us| format!(", {} an operation", time_us(us)));
    let outside = seen.shares.outside;
    let outside = outside.map_or_else(String::new, |pct| {
        format!("; {} % of the sessions' time is outside the database", percent(pct))
    });
    let used = percent(pct);
    let sentence = format!(
        "limited by the client: {threads} use {used} % of what they may of the processors{per_op}{outside}"
    );
    Named::of(Component::Client, Component::Client.word(), true, sentence).used(pct)
}

/// `; the processors are 18.0 % busy`.
fn resting(seen: &Seen<'_>) -> String {
    let whose = if seen.elsewhere.is_some() { "database's processors" } else { "processors" };
    seen.busy_pct.map_or_else(String::new, |pct| format!("; the {whose} are {} % busy", percent(pct)))
}

pub(super) fn commits(seen: &Seen<'_>, part: &Part, clear: bool) -> Named {
    let each = seen.metric("redo_sync_latency_us").map(|us| format!("{} a sync of the log", time_us(us)));
    let rate = seen.metric("redo_syncs_per_s").map(|rate| format!("{} syncs/s", figure(rate)));
    let syncing =
        seen.shares.syncing.map(|pct| format!("a sync is under way {} % of the time", percent(pct)));
    let figures: Vec<String> = [each, rate, syncing].into_iter().flatten().collect();
    let figures = if figures.is_empty() { String::new() } else { format!(": {}", figures.join(", ")) };
    let sentence = format!(
        "limited by the commits: {} % of the sessions' time is {}{figures}{}",
        percent(part.pct),
        part.what,
        resting(seen)
    );
    let named = Named::of(Component::Commits, &part.what, clear, sentence);
    match seen.shares.syncing {
        Some(pct) => named.used(pct),
        None => named,
    }
}

pub(super) fn log(seen: &Seen<'_>, pct: f64) -> Named {
    let each = seen.metric("redo_sync_latency_us");
    let each = each.map_or_else(String::new, |us| format!(", each for {}", time_us(us)));
    let used = percent(pct);
    let sentence = format!(
        "limited by the commits: the log is being synced {used} % of the time{each}{}",
        resting(seen)
    );
    Named::of(Component::Commits, Component::Commits.word(), pct >= LOG_FULL_PCT, sentence).used(pct)
}

pub(super) fn device(seen: &Seen<'_>, part: &Part, clear: bool) -> Named {
    let waits = seen.metric("physical_read_latency_us");
    let takes = seen.metric("device_read_latency_us");
    let is_busy = seen.device_pct.is_some_and(|pct| pct >= DEVICE_FULL_PCT);
    let mut figures: Vec<String> = waits.map(|us| format!("{} a read", time_us(us))).into_iter().collect();
    let held_back = waits
        .zip(takes)
        .is_some_and(|(waits, takes)| waits >= HELD_BACK_US && waits >= takes * HELD_BACK && !is_busy);
    figures
        .extend(seen.device_pct.map(|pct| format!("the device has requests {} % of the time", percent(pct))));
    if let Some(takes) = takes.filter(|_| held_back) {
        figures.push(format!(
            "it takes {} for a read, so that reads are held back before it (a limit of a control group, or a queue)",
            time_us(takes)
        ));
    }
    let figures = if figures.is_empty() { String::new() } else { format!(": {}", figures.join(", ")) };
    let sentence = format!(
        "limited by the device: {} % of the sessions' time is reads and writes of data{figures}{}",
        percent(part.pct),
        resting(seen)
    );
    let sure = clear && (is_busy || held_back || seen.shares.device_is_timed);
    let named = Named::of(Component::Device, &part.what, sure, sentence);
    match seen.device_pct {
        Some(pct) if !held_back => named.used(pct),
        _ => named,
    }
}

/// Locks and latches.
pub(super) fn held(seen: &Seen<'_>, part: &Part, clear: bool) -> Named {
    let sentence = format!(
        "limited by {}: sessions wait for them {} % of their time{}",
        part.what,
        percent(part.pct),
        resting(seen)
    );
    Named::of(part.by, &part.what, clear, sentence)
}

pub(super) fn one_writer(seen: &Seen<'_>, turn_pct: f64) -> Named {
    let sentence = format!(
        "limited by one writer at a time: {} % of the sessions' time is neither work nor reads nor syncs, so that they wait for their turn to write{}",
        percent(turn_pct),
        resting(seen)
    );
    Named::of(Component::Locks, "one writer at a time", false, sentence)
}

pub(super) fn round_trips(seen: &Seen<'_>, outside: f64) -> Named {
    let switches =
        seen.metric("context_switches_per_s").zip(seen.metric("ops_per_s").filter(|ops| *ops > 0.0));
    let switches = switches.map_or_else(String::new, |(switches, ops)| {
        format!(", {} context switches an operation", figure(switches / ops))
    });
    let way = if seen.same_host {
        "on the way between client and database or in waking up"
    } else {
        "on the way to the database and back"
    };
    let sentence = format!(
        "limited by round trips: {} % of the sessions' time is {way}{}{switches}",
        percent(outside),
        resting(seen)
    );
    Named::of(Component::RoundTrips, Component::RoundTrips.word(), !seen.same_host, sentence)
}

pub(super) fn few_sessions(seen: &Seen<'_>, cpu: f64) -> Named {
    let sentence = format!(
        "limited by {}: {} % of the time is work on a processor, and the {} processors are {} % busy, so that more sessions would bring more",
        sessions(seen.sessions),
        percent(cpu),
        fixed(seen.cpus, 0),
        percent(seen.busy_pct.unwrap_or(0.0))
    );
    Named::of(Component::Sessions, Component::Sessions.word(), true, sentence)
}
