//! The sentences for limits that follow from where the sessions' time goes.

use super::super::Component;
use super::super::evidence::BottleneckInputs;
use super::super::finding::BottleneckFinding;
use super::super::parts::{DEVICE_FULL_PCT, LOG_FULL_PCT, SessionTimePart, second_part};
use super::busy_words;
use crate::number::{figure, fixed, percent, sessions, time_us};

/// Factor by which the database's waits must exceed the device's own latency before something in
/// front of the device counts as the limit.
const HELD_BACK: f64 = 3.0;
/// Waits shorter than this are not caused by a device, µs.
const HELD_BACK_US: f64 = 500.0;

/// The utilization as an addition to a sentence: `; the processors are 18.0 % busy`.
fn idle_cpu_words(inputs: &BottleneckInputs<'_>) -> String {
    let subject = if inputs.remote_host.is_some() { "database's processors" } else { "processors" };
    inputs.host_cpu.map_or_else(String::new, |cpu| format!("; the {subject} are {}", busy_words(cpu)))
}

/// What else takes the sessions' time, and the processors: `; second: row locks 43.0 %; the …`.
fn rest_words(inputs: &BottleneckInputs<'_>, part: &SessionTimePart) -> String {
    let second_words = second_part(inputs, part.component)
        .map_or_else(String::new, |(label, pct)| format!("; second: {label} {} %", percent(pct)));
    format!("{second_words}{}", idle_cpu_words(inputs))
}

pub(in super::super) fn commits(
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
        "limited by commits: sessions spend {} % of their time in {}{}{figures}{}",
        percent(part.pct),
        part.label,
        if inputs.shares.commit_is_timed { ", by the client's clock" } else { "" },
        rest_words(inputs, part)
    );
    let named = BottleneckFinding::of(Component::Commits, &part.label, clear, sentence);
    match inputs.shares.syncing {
        Some(pct) => named.used(pct),
        None => named,
    }
}

pub(in super::super) fn log(inputs: &BottleneckInputs<'_>, pct: f64) -> BottleneckFinding {
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

pub(in super::super) fn device(
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
        rest_words(inputs, part)
    );
    let sure = clear && (is_busy || held_back || inputs.shares.device_is_timed);
    let named = BottleneckFinding::of(Component::Device, &part.label, sure, sentence);
    match inputs.device_pct {
        Some(pct) if !held_back => named.used(pct),
        _ => named,
    }
}

/// The sentence for waits on locks and latches.
pub(in super::super) fn locks(
    inputs: &BottleneckInputs<'_>,
    part: &SessionTimePart,
    clear: bool,
) -> BottleneckFinding {
    let sentence = format!(
        "limited by {}: sessions wait for them {} % of their time{}",
        part.label,
        percent(part.pct),
        rest_words(inputs, part)
    );
    BottleneckFinding::of(part.component, &part.label, clear, sentence)
}

/// The sentence for locks that take most of the time inside the database, though sessions are outside longer.
pub(in super::super) fn locks_inside(
    inputs: &BottleneckInputs<'_>,
    part: &SessionTimePart,
) -> BottleneckFinding {
    let outside = inputs.shares.outside.map_or_else(String::new, |pct| {
        format!("; {} % is outside the database, where a session keeps its locks", percent(pct))
    });
    let sentence = format!(
        "limited by {}: sessions wait for them {} % of their time, longer than for anything else in the database{}{outside}",
        part.label,
        percent(part.pct),
        rest_words(inputs, part)
    );
    BottleneckFinding::of(part.component, &part.label, false, sentence)
}

pub(in super::super) fn one_writer(inputs: &BottleneckInputs<'_>, turn_pct: f64) -> BottleneckFinding {
    let sentence = format!(
        "limited by one writer at a time: {} % of the sessions' time is neither work nor reads nor syncs, so \
         they wait for their turn to write{}",
        percent(turn_pct),
        idle_cpu_words(inputs)
    );
    BottleneckFinding::of(Component::Locks, "one writer at a time", false, sentence)
}

pub(in super::super) fn round_trips(inputs: &BottleneckInputs<'_>, outside: f64) -> BottleneckFinding {
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

pub(in super::super) fn few_sessions(inputs: &BottleneckInputs<'_>, cpu: f64) -> BottleneckFinding {
    let sentence = format!(
        "limited by {}: {} % of the time is work on a processor, and the {} processors are {}, so \
         more sessions would increase throughput",
        sessions(inputs.sessions),
        percent(cpu),
        fixed(inputs.cpus, 0),
        busy_words(inputs.host_cpu.unwrap_or_default())
    );
    BottleneckFinding::of(Component::Sessions, Component::Sessions.word(), true, sentence)
}

/// The sentence for waits that no rule knows.
pub(in super::super) fn waits(inputs: &BottleneckInputs<'_>, part: &SessionTimePart) -> BottleneckFinding {
    let sentence = format!(
        "limited by {}: sessions are in them {} % of their time{}",
        part.label,
        percent(part.pct),
        rest_words(inputs, part)
    );
    BottleneckFinding::of(part.component, &part.label, false, sentence)
}

/// The sentence for connections that sessions open for their operations.
pub(in super::super) fn connections(
    inputs: &BottleneckInputs<'_>,
    part: &SessionTimePart,
    clear: bool,
) -> BottleneckFinding {
    let sentence = format!(
        "limited by connections: sessions spend {} % of their time opening them{}",
        percent(part.pct),
        rest_words(inputs, part)
    );
    BottleneckFinding::of(part.component, &part.label, clear, sentence)
}
