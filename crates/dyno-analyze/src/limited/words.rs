//! The sentences that report a limit, with their figures.

use super::Component;
use super::evidence::{BottleneckInputs, Quota};
use super::parts::{DEVICE_FULL_PCT, LOG_FULL_PCT, SessionTimePart, largest_time_part};
use crate::number::{figure, fixed, percent, sessions, time_us};

/// Factor by which the database's waits must exceed the device's own latency before something in
/// front of the device counts as the limit.
const HELD_BACK: f64 = 3.0;
/// Waits shorter than this are not caused by a device, µs.
const HELD_BACK_US: f64 = 500.0;

/// A limit that was determined.
pub(super) struct BottleneckFinding {
    pub(super) component: Component,
    pub(super) label: String,
    pub(super) used_pct: Option<f64>,
    /// Whether the exhausted component was measured.
    pub(super) sure: bool,
    /// Whether the platform itself uses all of it, so others cannot be the reason.
    pub(super) is_exclusive: bool,
    pub(super) sentence: String,
    pub(super) spoiled: Vec<String>,
}

impl BottleneckFinding {
    fn of(component: Component, label: &str, sure: bool, sentence: String) -> Self {
        Self {
            component,
            label: label.to_owned(),
            used_pct: None,
            sure,
            is_exclusive: false,
            sentence,
            spoiled: Vec::new(),
        }
    }

    fn exclusive(self) -> Self {
        Self { is_exclusive: true, ..self }
    }

    fn used(self, pct: f64) -> Self {
        Self { used_pct: Some(pct), ..self }
    }
}

pub(super) fn nothing_measured() -> String {
    "the bottleneck is unknown: no operations were timed in a window".to_owned()
}

/// What was examined, where nothing decides.
pub(super) fn unknown(inputs: &BottleneckInputs<'_>) -> String {
    let mut observations: Vec<String> = Vec::new();
    observations.extend(inputs.busy_pct.map(|pct| format!("the processors are {} % busy", percent(pct))));
    if let Some(part) = largest_time_part(inputs).filter(|part| part.pct >= 1.0) {
        observations.push(format!("{} % of the sessions' time is {}", percent(part.pct), part.label));
    }
    observations
        .extend(inputs.shares.outside.map(|pct| format!("{} % is outside the database", percent(pct))));
    if let Some(why) = &inputs.shares.unsampled {
        observations.push(format!("waits are unknown: {why}"));
    }
    if observations.is_empty() {
        observations.push("processors, waits and devices are unknown".to_owned());
    }
    format!("the bottleneck is unknown: {}", observations.join("; "))
}

pub(super) fn others(pct: f64) -> String {
    format!("other programs used {} % of the processors", percent(pct))
}

pub(super) fn rate(rate: f64, achieved: f64) -> BottleneckFinding {
    let (requested, achieved) = (figure(rate), figure(achieved));
    let sentence = format!("limited by the requested rate: {requested}/s requested, {achieved}/s achieved");
    let label = Component::Rate.word();
    BottleneckFinding::of(Component::Rate, label, true, sentence)
}

pub(super) fn think(pct: f64) -> BottleneckFinding {
    let sentence = format!("limited by think time: sessions sleep {} % of the time", percent(pct));
    BottleneckFinding::of(Component::ThinkTime, Component::ThinkTime.word(), true, sentence)
}

pub(super) fn quota(component: Component, owner: &str, quota: Quota) -> BottleneckFinding {
    let sentence = format!(
        "limited by the CPU quota of {owner}: {} of {} processors' worth is used, and {} % of the periods were throttled",
        fixed(quota.used_pct * quota.cpus / 100.0, 2),
        fixed(quota.cpus, 2),
        percent(quota.throttled_pct)
    );
    let label = if component == Component::Client { "the client (CPU quota)" } else { component.word() };
    BottleneckFinding::of(component, label, true, sentence).exclusive().used(quota.used_pct.min(100.0))
}

/// Who uses the processors: `the database 61.2 %, Dyno 30.0 %, other processes 2.0 %`.
fn cpu_breakdown(inputs: &BottleneckInputs<'_>) -> String {
    let pct = |cpus: Option<f64>| cpus.filter(|_| inputs.cpus > 0.0).map(|cpus| 100.0 * cpus / inputs.cpus);
    let describe_share = |name: &str, cpus| pct(cpus).map(|pct| format!("{name} {} %", percent(pct)));
    if inputs.remote_host.is_some() {
        return "who used them is unknown".to_owned();
    }
    let parts = match inputs.in_process {
        true => [
            describe_share("Dyno and the database", inputs.client_cpus),
            None,
            describe_share("other processes", inputs.others_cpus),
        ],
        false => [
            describe_share("the database", inputs.server_cpus),
            describe_share("Dyno", inputs.client_cpus),
            describe_share("other processes", inputs.others_cpus),
        ],
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn user_and_system(inputs: &BottleneckInputs<'_>) -> String {
    let of_metrics = || Some((inputs.metric("cpu_user_pct")?, inputs.metric("cpu_sys_pct")?, 0.0));
    match inputs.cpu_kinds_pct.or_else(of_metrics) {
        Some((user, system, steal)) => {
            let steal =
                if steal > 0.0 { format!(", {} % hypervisor", percent(steal)) } else { String::new() };
            format!(" ({} % user, {} % system{steal})", percent(user), percent(system))
        }
        None => String::new(),
    }
}

fn prefix_colon(breakdown: String) -> String {
    if breakdown.is_empty() { breakdown } else { format!(": {breakdown}") }
}

pub(super) fn processors(inputs: &BottleneckInputs<'_>, pct: f64) -> BottleneckFinding {
    let sentence = format!(
        "limited by the CPU: the {} processors{} are {} % busy{}{}",
        fixed(inputs.cpus, 0),
        inputs.remote_host.map_or_else(String::new, |host| format!(" of {}", host.words())),
        percent(pct),
        user_and_system(inputs),
        prefix_colon(cpu_breakdown(inputs))
    );
    BottleneckFinding::of(Component::Cpu, Component::Cpu.word(), inputs.remote_host.is_none(), sentence)
        .used(pct)
}

pub(super) fn confined(inputs: &BottleneckInputs<'_>, cpus: f64, pct: f64) -> BottleneckFinding {
    let sentence = format!(
        "limited by the CPU: the platform may use {} of {} processors, and they are {} % busy{}",
        fixed(cpus, 0),
        fixed(inputs.cpus, 0),
        percent(pct),
        prefix_colon(cpu_breakdown(inputs))
    );
    BottleneckFinding::of(Component::Cpu, Component::Cpu.word(), true, sentence).exclusive().used(pct)
}

pub(super) fn client(inputs: &BottleneckInputs<'_>, pct: f64) -> BottleneckFinding {
    let threads = match inputs.record.gate.threads {
        0 => "this program".to_owned(),
        1 => "the one thread of this program".to_owned(),
        threads => format!("the {threads} threads of this program"),
    };
    let per_op = inputs.metric("client_cpu_us_per_op");
    let per_op = per_op.map_or_else(String::new, |us| format!(", {} an operation", time_us(us)));
    let outside = inputs.shares.outside;
    let outside = outside.map_or_else(String::new, |pct| {
        format!("; {} % of the sessions' time is outside the database", percent(pct))
    });
    let used = percent(pct);
    let sentence = format!(
        "limited by the client: {threads} use {used} % of the processor time available to \
         them{per_op}{outside}"
    );
    BottleneckFinding::of(Component::Client, Component::Client.word(), true, sentence).used(pct)
}

/// The utilization as an addition to a sentence: `; the processors are 18.0 % busy`.
fn idle_cpu_words(inputs: &BottleneckInputs<'_>) -> String {
    let subject = if inputs.remote_host.is_some() { "database's processors" } else { "processors" };
    inputs.busy_pct.map_or_else(String::new, |pct| format!("; the {subject} are {} % busy", percent(pct)))
}

pub(super) fn commits(
    inputs: &BottleneckInputs<'_>,
    part: &SessionTimePart,
    clear: bool,
) -> BottleneckFinding {
    let sync_latency =
        inputs.metric("redo_sync_latency_us").map(|us| format!("{} per log sync", time_us(us)));
    let rate = inputs.metric("redo_syncs_per_s").map(|rate| format!("{} syncs/s", figure(rate)));
    let syncing =
        inputs.shares.syncing.map(|pct| format!("the log is syncing {} % of the time", percent(pct)));
    let figures: Vec<String> = [sync_latency, rate, syncing].into_iter().flatten().collect();
    let figures = if figures.is_empty() { String::new() } else { format!(": {}", figures.join(", ")) };
    let sentence = format!(
        "limited by commits: sessions spend {} % of their time in {}{figures}{}",
        percent(part.pct),
        part.label,
        idle_cpu_words(inputs)
    );
    let named = BottleneckFinding::of(Component::Commits, &part.label, clear, sentence);
    match inputs.shares.syncing {
        Some(pct) => named.used(pct),
        None => named,
    }
}

pub(super) fn log(inputs: &BottleneckInputs<'_>, pct: f64) -> BottleneckFinding {
    let sync_latency_us = inputs.metric("redo_sync_latency_us");
    let sync_latency = sync_latency_us.map_or_else(String::new, |us| format!(", each for {}", time_us(us)));
    let used = percent(pct);
    let sentence = format!(
        "limited by commits: the log is syncing {used} % of the time{sync_latency}{}",
        idle_cpu_words(inputs)
    );
    BottleneckFinding::of(Component::Commits, Component::Commits.word(), pct >= LOG_FULL_PCT, sentence)
        .used(pct)
}

pub(super) fn device(
    inputs: &BottleneckInputs<'_>,
    part: &SessionTimePart,
    clear: bool,
) -> BottleneckFinding {
    let waits = inputs.metric("physical_read_latency_us");
    let takes = inputs.metric("device_read_latency_us");
    let is_busy = inputs.device_pct.is_some_and(|pct| pct >= DEVICE_FULL_PCT);
    let mut figures: Vec<String> = waits.map(|us| format!("{} a read", time_us(us))).into_iter().collect();
    let held_back = waits
        .zip(takes)
        .is_some_and(|(waits, takes)| waits >= HELD_BACK_US && waits >= takes * HELD_BACK && !is_busy);
    figures.extend(
        inputs.device_pct.map(|pct| format!("the device has requests {} % of the time", percent(pct))),
    );
    if let Some(takes) = takes.filter(|_| held_back) {
        figures.push(format!(
            "it takes {} for a read, so reads wait before they reach it (a limit of a control group, or a \
             queue)",
            time_us(takes)
        ));
    }
    let figures = if figures.is_empty() { String::new() } else { format!(": {}", figures.join(", ")) };
    let sentence = format!(
        "limited by the device: {} % of the sessions' time is reads and writes of data{figures}{}",
        percent(part.pct),
        idle_cpu_words(inputs)
    );
    let sure = clear && (is_busy || held_back || inputs.shares.device_is_timed);
    let named = BottleneckFinding::of(Component::Device, &part.label, sure, sentence);
    match inputs.device_pct {
        Some(pct) if !held_back => named.used(pct),
        _ => named,
    }
}

/// The sentence for waits on locks and latches.
pub(super) fn locks(inputs: &BottleneckInputs<'_>, part: &SessionTimePart, clear: bool) -> BottleneckFinding {
    let sentence = format!(
        "limited by {}: sessions wait for them {} % of their time{}",
        part.label,
        percent(part.pct),
        idle_cpu_words(inputs)
    );
    BottleneckFinding::of(part.component, &part.label, clear, sentence)
}

pub(super) fn one_writer(inputs: &BottleneckInputs<'_>, turn_pct: f64) -> BottleneckFinding {
    let sentence = format!(
        "limited by one writer at a time: {} % of the sessions' time is neither work nor reads nor syncs, so \
         they wait for their turn to write{}",
        percent(turn_pct),
        idle_cpu_words(inputs)
    );
    BottleneckFinding::of(Component::Locks, "one writer at a time", false, sentence)
}

pub(super) fn round_trips(inputs: &BottleneckInputs<'_>, outside: f64) -> BottleneckFinding {
    let switches =
        inputs.metric("context_switches_per_s").zip(inputs.metric("ops_per_s").filter(|ops| *ops > 0.0));
    let switches = switches.map_or_else(String::new, |(switches, ops)| {
        format!(", {} context switches an operation", figure(switches / ops))
    });
    let way = if inputs.same_host {
        "on the way between client and database or in waking up"
    } else {
        "on the way to the database and back"
    };
    let sentence = format!(
        "limited by round trips: {} % of the sessions' time is {way}{}{switches}",
        percent(outside),
        idle_cpu_words(inputs)
    );
    BottleneckFinding::of(Component::RoundTrips, Component::RoundTrips.word(), !inputs.same_host, sentence)
}

pub(super) fn few_sessions(inputs: &BottleneckInputs<'_>, cpu: f64) -> BottleneckFinding {
    let sentence = format!(
        "limited by {}: {} % of the time is work on a processor, and the {} processors are {} % busy, so \
         more sessions would increase throughput",
        sessions(inputs.sessions),
        percent(cpu),
        fixed(inputs.cpus, 0),
        percent(inputs.busy_pct.unwrap_or(0.0))
    );
    BottleneckFinding::of(Component::Sessions, Component::Sessions.word(), true, sentence)
}
