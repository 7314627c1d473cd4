//! Writes the totals in the OpenMetrics format: base units, the prefix `dyno_`, few labels.

use std::collections::BTreeMap;
use std::fmt::{Error, Write as _};

use dyno_campaign::RunProgress;
use dyno_drive::CoarseLatencies;
use dyno_observe::CumulativeCounters;
use dyno_record::{Counter, Unit, Waits};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, EncodeLabel, EncodeLabelSet, LabelSetEncoder,
    MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;

use crate::names::{Exported, exported};
use crate::totals::{PHASES, SharedProgress, checks_by_status, phase_label};
use crate::watched;

/// Upper bounds of the histogram's buckets, as powers of two of nanoseconds: from one microsecond to one
/// minute. Latencies are recorded with two digits. These bounds lie between two recorded values, so no
/// operation is counted in the wrong bucket.
const ENDS_LOG2: std::ops::RangeInclusive<u32> = 10..=36;

/// Maximum number of wait events exported. A server may have any number of events, but each one adds a series
/// to the monitoring system.
const WAITS_MAX: usize = 25;

#[derive(Debug)]
pub(crate) struct Exposed(pub(crate) SharedProgress);

type Labels<'a> = Vec<(&'a str, &'a str)>;

/// One series of a metric family: its name, its target's URL, and its value.
type Member<'a> = (Exported, &'a str, f64);

struct Set<'a>(&'a [(&'a str, &'a str)]);

impl EncodeLabelSet for Set<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), Error> {
        for (name, value) in self.0 {
            // The encoder escapes line breaks and quotes. Other control characters could control a terminal,
            // so a space replaces each.
            let value: String =
                value.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
            (*name, value.as_str()).encode(encoder.encode_label())?;
        }
        Ok(())
    }
}

impl Collector for Exposed {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let progress = self.0.lock();
        encode_run_info(&progress, &mut encoder)?;
        encode_operations(&progress, &mut encoder)?;
        audit(&progress, &mut encoder)?;
        if let Some(complete) = &progress.complete {
            waits(&complete.waits, &mut encoder)?;
            portable(&complete.counters, &mut encoder)?;
            native(&complete.counters, &mut encoder)?;
        }
        if watched::is_watch(&progress) {
            encode_watch(&progress, &mut encoder)?;
        }
        Ok(())
    }
}

/// Writes one metric family; `write` encodes each of its series. Writes nothing if there are no series.
fn family<V>(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help, kind): (&str, &str, MetricType),
    values: &[(Labels<'_>, V)],
    write: impl Fn(&mut MetricEncoder<'_>, &V) -> Result<(), Error>,
) -> Result<(), Error> {
    if values.is_empty() {
        return Ok(());
    }
    let mut metric = encoder.encode_descriptor(name, help, None, kind)?;
    values.iter().try_for_each(|(labels, value)| write(&mut metric.encode_family(&Set(labels))?, value))
}

fn gauge<V: EncodeGaugeValue>(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help): (&str, &str),
    values: &[(Labels<'_>, V)],
) -> Result<(), Error> {
    family(encoder, (name, help, MetricType::Gauge), values, |series, value| series.encode_gauge(value))
}

fn counter<V: EncodeCounterValue>(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help): (&str, &str),
    values: &[(Labels<'_>, V)],
) -> Result<(), Error> {
    family(encoder, (name, help, MetricType::Counter), values, |series, value| {
        series.encode_counter::<NoLabelSet, _, f64>(value, None)
    })
}

/// Writes which run is in progress, its phase, and its sessions.
fn encode_run_info(progress: &RunProgress, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let version = env!("CARGO_PKG_VERSION");
    gauge(
        encoder,
        ("dyno_build_info", "Version of the measuring program."),
        &[(vec![("version", version)], 1_i64)],
    )?;
    if let Some(run) = &progress.run {
        let alone = if watched::is_watch(progress) { "watch" } else { "run" };
        let campaign = progress.sweep.as_deref().unwrap_or_default();
        let kind = progress.sweep_kind.as_deref().unwrap_or(alone);
        let labels = vec![
            ("run", run.as_str()),
            ("campaign", campaign),
            ("kind", kind),
            ("targets", &progress.targets),
        ];
        gauge(encoder, ("dyno_run_info", "The current run, or the last one."), &[(labels, 1_i64)])?;
    }
    let current = phase_label(&progress.phase);
    let phases = PHASES.map(|name| (vec![("phase", name)], i64::from(name == current)));
    gauge(encoder, ("dyno_phase", "1 for the phase of the current run."), &phases)?;
    if let Some(sessions) = progress.sessions {
        let help = "Sessions of the current run.";
        gauge(encoder, ("dyno_sessions", help), &[(vec![], sessions)])?;
    }
    if let Some((live, _)) = progress.live {
        let help = "Time since the window of the run began.";
        gauge(encoder, ("dyno_window_elapsed_seconds", help), &[(vec![], live.elapsed_s)])?;
        let help = "Length of the window of the run.";
        let length: Vec<_> = live.total_s.into_iter().map(|total_s| (vec![], total_s)).collect();
        gauge(encoder, ("dyno_window_length_seconds", help), &length)?;
    }
    Ok(())
}

/// Writes operations, errors, response times and loaded rows of all windows.
fn encode_operations(progress: &RunProgress, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let sums = progress.totals();
    let of_class = |(class, ops): (&'_ String, &u64)| (class.clone(), *ops);
    let classes: Vec<(String, u64)> = sums.classes.iter().map(of_class).collect();
    let values: Vec<_> = classes.iter().map(|(class, ops)| (vec![("class", class.as_str())], *ops)).collect();
    let help =
        "Operations completed without error in windows of this process, up to the last complete interval.";
    counter(encoder, ("dyno_operations", help), &values)?;
    let help = "Operations that failed in windows of this process, up to the last complete interval.";
    counter(encoder, ("dyno_operation_errors", help), &[(vec![], sums.errors)])?;
    let help = "Response times of operations in windows of this process, counted with two digits.";
    let name = "dyno_operation_duration_seconds";
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
    metric.encode_histogram::<NoLabelSet>(
        sums.latency.sum_s(),
        sums.latency.count(),
        &buckets(&sums.latency),
        None,
    )?;
    counter(encoder, ("dyno_loaded_rows", "Loaded rows."), &[(vec![], sums.loaded_rows)])?;
    let help = "Content of the loaded rows.";
    counter(encoder, ("dyno_loaded_bytes", help), &[(vec![], sums.loaded_bytes)])
}

/// Returns each bucket's upper bound in seconds and its own, not cumulative, count.
fn buckets(latency: &CoarseLatencies) -> Vec<(f64, u64)> {
    let mut counts = vec![0; ENDS_LOG2.count() + 1];
    for (ns, count) in latency.buckets() {
        let at = ENDS_LOG2.clone().position(|log2| ns < 1 << log2).unwrap_or(counts.len() - 1);
        counts[at] += count;
    }
    let ends = ENDS_LOG2.map(|log2| (1_u64 << log2) as f64 / 1e9).chain([f64::INFINITY]);
    ends.zip(counts).collect()
}

/// Writes the changes detected in the window so far, the last audit's checks, and the number of stored runs.
fn audit(progress: &RunProgress, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    if let Some(complete) = &progress.complete {
        let help = "Settings, tables, servers and counters that changed in the window so far.";
        let changed = (complete.changes.len() + complete.resets.len()) as u64;
        gauge(encoder, ("dyno_audit_changes", help), &[(vec![], changed)])?;
    }
    let checks = progress.stored.last().map(checks_by_status).unwrap_or_default();
    let labelled = |counts: &BTreeMap<&'static str, u64>| -> Vec<(Labels<'static>, u64)> {
        counts.iter().map(|(status, count)| (vec![("status", *status)], *count)).collect()
    };
    gauge(encoder, ("dyno_audit_checks", "Checks of the last run's audit."), &labelled(&checks))?;
    counter(encoder, ("dyno_runs", "Stored runs."), &labelled(&progress.runs_by_status))
}

fn waits(waits: &Waits, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let Waits::Sampled { events, average_active_sessions, .. } = waits else { return Ok(()) };
    let help = "Sessions at work, on average since the window began.";
    gauge(encoder, ("dyno_active_sessions", help), &[(vec![], *average_active_sessions)])?;
    let wait_row =
        |wait: &'_ dyno_record::WaitTime| (wait.class.clone(), wait.event.clone(), wait.average_sessions);
    let rows: Vec<_> = events.iter().take(WAITS_MAX).map(wait_row).collect();
    let values: Vec<_> = rows
        .iter()
        .map(|(class, event, sessions)| {
            (vec![("class", class.as_str()), ("event", event.as_str())], *sessions)
        })
        .collect();
    let help = "Sessions in each wait event, on average since the window began.";
    gauge(encoder, ("dyno_waiting_sessions", help), &values)
}

/// Writes the last interval of a watched database and its cumulative counters.
fn encode_watch(progress: &RunProgress, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let help = "Whether the watched database answers.";
    gauge(encoder, ("dyno_watch_up", help), &[(vec![], i64::from(watched::answers(progress)))])?;
    let Some(moment) = &progress.observed else { return Ok(()) };
    let help = "Time since the watch began.";
    gauge(encoder, ("dyno_watch_elapsed_seconds", help), &[(vec![], moment.elapsed_s)])?;
    let help = "Length of the watch.";
    gauge(encoder, ("dyno_watch_length_seconds", help), &[(vec![], moment.total_s)])?;
    for (name, of_results, value) in watched::figures(moment) {
        let help = format!("{of_results} of the last complete interval.");
        gauge(encoder, (&format!("dyno_watch_{name}"), &help), &[(vec![], value)])?;
    }
    let waits = moment.waits.iter().map(|(wait, sessions)| (vec![("wait", wait.as_str())], *sessions));
    let help = "Sessions in each of the most frequent waits of the last complete interval, on average.";
    gauge(encoder, ("dyno_watch_waiting_sessions", help), &waits.collect::<Vec<_>>())?;
    // Exported with the server's own values. After a server restart they begin at a low value, which the
    // scraper handles as a counter reset.
    let counters = moment.counters.as_slice();
    portable(counters, encoder)?;
    native(counters, encoder)
}

/// Writes the portable counters with the servers' values, in base units.
fn portable(targets: &[CumulativeCounters], encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    for of in Counter::ALL {
        let in_seconds = of.unit() == Unit::Microseconds;
        let name = format!("dyno_database_{}{}", of.name(), if in_seconds { "_seconds" } else { "" });
        let mut values = Vec::new();
        for target in targets {
            let Some(value) = target.portable.get(&of) else { continue };
            let value = if in_seconds { *value as f64 / 1e6 } else { *value as f64 };
            values.push((vec![("target", target.url.as_str())], value));
        }
        let mut help = String::new();
        let _ =
            write!(help, "The database's cumulative {}, of the whole server.", of.name().replace('_', " "));
        counter(encoder, (&name, &help), &values)?;
    }
    Ok(())
}

/// Writes the engines' own counters under the names that exporters use.
fn native(targets: &[CumulativeCounters], encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let mut families: BTreeMap<(String, bool), Vec<Member<'_>>> = BTreeMap::new();
    for target in targets {
        for (name, value) in &target.native {
            let Some(exported) = exported(name) else { continue };
            let family = (exported.family.clone(), exported.is_counter);
            families.entry(family).or_default().push((exported, &target.url, *value));
        }
    }
    for ((family, is_counter), members) in &families {
        let values: Vec<(Labels<'_>, f64)> = members
            .iter()
            .map(|(exported, url, value)| {
                let engine_label = exported.label.as_ref().map(|(name, value)| (*name, value.as_str()));
                (engine_label.into_iter().chain([("target", *url)]).collect(), *value)
            })
            .collect();
        let help = "The server's own counter, as exporters name it.";
        if *is_counter {
            counter(encoder, (family, help), &values)?;
        } else {
            let named = (family.as_str(), help, MetricType::Unknown);
            self::family(encoder, named, &values, |series, value| series.encode_gauge(value))?;
        }
    }
    Ok(())
}
