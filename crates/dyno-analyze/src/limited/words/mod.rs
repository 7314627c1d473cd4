//! The sentences that report a limit, with their figures.

mod time;

use super::Component;
use super::evidence::{BottleneckInputs, Quota};
use super::finding::BottleneckFinding;
use super::parts::time_parts;
use crate::host_cpu::HostCpu;
use crate::number::{figure, fixed, percent, time_us};

pub(super) use time::{
    commits, connections, device, few_sessions, locks, locks_inside, log, one_writer, round_trips, waits,
};

/// Share of the processors, %, from which what the hypervisor took is in a sentence.
const STEAL_MIN_PCT: f64 = 0.05;

pub(super) fn nothing_measured() -> String {
    "the bottleneck is unknown: no operations were timed in a window".to_owned()
}

/// What was examined, where nothing decides.
pub(super) fn unknown(inputs: &BottleneckInputs<'_>) -> String {
    let mut observations: Vec<String> = Vec::new();
    observations.extend(inputs.host_cpu.map(|cpu| format!("the processors are {}", busy_words(cpu))));
    if let Some(part) = time_parts(inputs).first().filter(|part| part.pct >= 1.0) {
        observations.push(format!("{} % of the sessions' time is {}", percent(part.pct), part.label));
    }
    observations.extend(
        inputs.shares.outside.map(|pct| format!("{} % is outside the database by the samples", percent(pct))),
    );
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

/// The caveat of waits on a host whose processors others fill.
pub(super) fn others_delay_waits(pct: f64) -> String {
    format!("{}, so what sessions wait for may wait for a processor", others(pct))
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

/// How busy the processors are, as everywhere else: the hypervisor's part is beside it.
fn busy_words(cpu: HostCpu) -> String {
    let steal = match cpu.steal_pct {
        pct if pct >= STEAL_MIN_PCT => format!(", and the hypervisor took {} %", percent(pct)),
        _ => String::new(),
    };
    format!("{} % busy{steal}", percent(cpu.busy_pct))
}

/// The same with the parts of `busy`.
fn busy_words_by_kind(cpu: HostCpu) -> String {
    let words = busy_words(cpu);
    let Some((user, system)) = cpu.kinds_pct else { return words };
    words.replacen(" % busy", &format!(" % busy ({} % user, {} % system)", percent(user), percent(system)), 1)
}

fn prefix_colon(breakdown: String) -> String {
    if breakdown.is_empty() { breakdown } else { format!(": {breakdown}") }
}

/// The sentence for full processors; `shared` if other programs took a part of them.
pub(super) fn processors(inputs: &BottleneckInputs<'_>, pct: f64, shared: bool) -> BottleneckFinding {
    let sentence = format!(
        "limited by the CPU{}: the {} processors{} are {}{}",
        if shared { ", shared with other programs" } else { "" },
        fixed(inputs.cpus, 0),
        inputs.remote_host.map_or_else(String::new, |host| format!(" of {}", host.words())),
        busy_words_by_kind(inputs.host_cpu.unwrap_or_default()),
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
