//! Sums as OpenMetrics: base units, one prefix, few labels.

use std::collections::BTreeMap;
use std::fmt::{Error, Write as _};

use dyno_drive::{Cumulative, Latencies};
use dyno_record::{Counter, Unit, Waits};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, EncodeLabel, EncodeLabelSet, LabelSetEncoder,
    MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;

use crate::book::{Book, Phase, Shared};
use crate::names::{Exported, exported};
use crate::watched::Watched;

/// Upper ends of the histogram's buckets in powers of two of nanoseconds: from a microsecond to a minute. Times are counted with
/// two digits; these ends lie between the counted ones, so that no operation is in the wrong bucket.
const ENDS_LOG2: std::ops::RangeInclusive<u32> = 10..=36;

/// Waits that are told at most: the number of names is a server's matter, that of series a monitoring system's.
const WAITS_MAX: usize = 25;

#[derive(Debug)]
pub(crate) struct Exposed(pub(crate) Shared);

type Labels<'a> = Vec<(&'a str, &'a str)>;

/// One series of a family: its name, its target's URL, and its value.
type Member<'a> = (Exported, &'a str, f64);

/// Labels of a metric.
struct Set<'a>(&'a [(&'a str, &'a str)]);

impl EncodeLabelSet for Set<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), Error> {
        for (name, value) in self.0 {
            // Line breaks and quotes are escaped; what would drive a terminal has no place in a label.
            let value: String =
                value.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
            (*name, value.as_str()).encode(encoder.encode_label())?;
        }
        Ok(())
    }
}

impl Collector for Exposed {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let book = self.0.book();
        about(&book, &mut encoder)?;
        work(&book, &mut encoder)?;
        audit(&book, &mut encoder)?;
        if let Some(complete) = &book.complete {
            waits(&complete.waits, &mut encoder)?;
            portable(&complete.counters, &mut encoder)?;
            native(&complete.counters, &mut encoder)?;
        }
        if let Some(watched) = &book.watched {
            of_watch(watched, &mut encoder)?;
        }
        Ok(())
    }
}

/// One family of this kind, each of its series written by `write`; nothing where there are none.
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

/// Which run it is, and where it is.
fn about(book: &Book, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let version = env!("CARGO_PKG_VERSION");
    gauge(
        encoder,
        ("dyno_build_info", "The program that measures."),
        &[(vec![("version", version)], 1_i64)],
    )?;
    if let Some((run, targets)) = &book.run {
        let alone = if book.watched.is_some() { "watch" } else { "run" };
        let (campaign, kind) =
            book.campaign.as_ref().map_or(("", alone), |(campaign, kind)| (campaign.as_str(), *kind));
        let labels =
            vec![("run", run.as_str()), ("campaign", campaign), ("kind", kind), ("targets", targets)];
        gauge(encoder, ("dyno_run_info", "The run under way, or the last one."), &[(labels, 1_i64)])?;
    }
    let phases = Phase::ALL.map(|(phase, name)| (vec![("phase", name)], i64::from(phase == book.phase)));
    gauge(encoder, ("dyno_phase", "1 for the phase of the run under way."), &phases)?;
    if let Some(sessions) = book.sessions {
        let help = "Sessions of the run under way.";
        gauge(encoder, ("dyno_sessions", help), &[(vec![], sessions)])?;
    }
    if let Some(live) = book.live {
        let help = "Time since the window of the run began.";
        gauge(encoder, ("dyno_window_elapsed_seconds", help), &[(vec![], live.elapsed_s)])?;
        let help = "Length of the window of the run.";
        let length: Vec<_> = live.total_s.into_iter().map(|total_s| (vec![], total_s)).collect();
        gauge(encoder, ("dyno_window_length_seconds", help), &length)?;
    }
    Ok(())
}

/// What sessions did in windows.
fn work(book: &Book, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let sums = book.sums();
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
    let (rows, bytes) = sums.loaded;
    counter(encoder, ("dyno_loaded_rows", "Rows that were loaded."), &[(vec![], rows)])?;
    counter(encoder, ("dyno_loaded_bytes", "Content of the rows that were loaded."), &[(vec![], bytes)])
}

/// Each bucket's upper end in seconds and its own count.
fn buckets(latency: &Latencies) -> Vec<(f64, u64)> {
    let mut counts = vec![0; ENDS_LOG2.count() + 1];
    for (ns, count) in latency.buckets() {
        let at = ENDS_LOG2.clone().position(|log2| ns < 1 << log2).unwrap_or(counts.len() - 1);
        counts[at] += count;
    }
    let ends = ENDS_LOG2.map(|log2| (1_u64 << log2) as f64 / 1e9).chain([f64::INFINITY]);
    ends.zip(counts).collect()
}

/// What was found so far, and what became of the runs.
fn audit(book: &Book, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    if let Some(complete) = &book.complete {
        let help = "Settings, tables, servers and counters that were found changed in the window so far.";
        let changed = (complete.changes.len() + complete.falls.len()) as u64;
        gauge(encoder, ("dyno_audit_changes", help), &[(vec![], changed)])?;
    }
    let labelled = |counts: &BTreeMap<&'static str, u64>| -> Vec<(Labels<'static>, u64)> {
        counts.iter().map(|(status, count)| (vec![("status", *status)], *count)).collect()
    };
    gauge(encoder, ("dyno_audit_checks", "Checks of the last run's audit."), &labelled(&book.checks))?;
    counter(encoder, ("dyno_runs", "Runs that were stored."), &labelled(&book.runs))
}

fn waits(waits: &Waits, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let Waits::Sampled { events, average_active_sessions, .. } = waits else { return Ok(()) };
    let help = "Sessions at work, on average since the window began.";
    gauge(encoder, ("dyno_active_sessions", help), &[(vec![], *average_active_sessions)])?;
    let of =
        |wait: &'_ dyno_record::WaitTime| (wait.class.clone(), wait.event.clone(), wait.average_sessions);
    let told: Vec<_> = events.iter().take(WAITS_MAX).map(of).collect();
    let values: Vec<_> = told
        .iter()
        .map(|(class, event, sessions)| {
            (vec![("class", class.as_str()), ("event", event.as_str())], *sessions)
        })
        .collect();
    let help = "Sessions in each wait event, on average since the window began.";
    gauge(encoder, ("dyno_waiting_sessions", help), &values)
}

/// The last interval of a database that is only looked at, and its counters.
fn of_watch(watched: &Watched, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let help = "Whether the database that is watched answers.";
    gauge(encoder, ("dyno_watch_up", help), &[(vec![], i64::from(watched.answers()))])?;
    let Some(moment) = &watched.moment else { return Ok(()) };
    let help = "Time since the watch began.";
    gauge(encoder, ("dyno_watch_elapsed_seconds", help), &[(vec![], moment.elapsed_s)])?;
    let help = "How long the watch will be.";
    gauge(encoder, ("dyno_watch_length_seconds", help), &[(vec![], moment.total_s)])?;
    for (name, of_results, value) in watched.figures() {
        let help = format!("{of_results} of the last complete interval.");
        gauge(encoder, (&format!("dyno_watch_{name}"), &help), &[(vec![], value)])?;
    }
    let waits = moment.waits.iter().map(|(wait, sessions)| (vec![("wait", wait.as_str())], *sessions));
    let help = "Sessions in each of the most frequent waits of the last complete interval, on average.";
    gauge(encoder, ("dyno_watch_waiting_sessions", help), &waits.collect::<Vec<_>>())?;
    // As the server has them: a server that was started anew begins low again, which is a reset to who scrapes.
    let counters = moment.counters.as_slice();
    portable(counters, encoder)?;
    native(counters, encoder)
}

/// The portable counters as the servers have them, in base units.
fn portable(targets: &[Cumulative], encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
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

/// The engines' own counters under the names that exporters use.
fn native(targets: &[Cumulative], encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
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
                let own = exported.label.as_ref().map(|(name, value)| (*name, value.as_str()));
                (own.into_iter().chain([("target", *url)]).collect(), *value)
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
