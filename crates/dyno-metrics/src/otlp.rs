//! Sends operation durations and a trace of each run to an OpenTelemetry collector (OTLP over HTTP, JSON).
//!
//! Names follow the semantic conventions for database clients: `db.client.operation.duration` in seconds, by
//! `db.operation.name`. A run is a span, and its phases are child spans. Both are sent when the run is
//! stored, because its status is known only then.

use std::time::{SystemTime, UNIX_EPOCH};

use dyno_campaign::CampaignEvent;
use dyno_record::{ALL, Histogram, OpStats, RunRecord, Status};
use serde_json::{Value, json};

use crate::post::{Post, PostError, Poster};

/// Upper bounds of the buckets in seconds, as the semantic conventions advise for this metric.
const ENDS_S: [f64; 10] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0];
/// Shorter bounds that precede them: a database answers from its cache within microseconds.
const SHORT_ENDS_S: [f64; 6] = [0.000_01, 0.000_02, 0.000_05, 0.000_1, 0.000_2, 0.000_5];

/// Protocol constants: `SPAN_KIND_CLIENT`, `AGGREGATION_TEMPORALITY_DELTA`, and the status codes of a span.
const KIND_CLIENT: u32 = 3;
const DELTA: u32 = 1;
const OK: u32 = 1;
const ERROR: u32 = 2;

/// Sends durations and traces to an OpenTelemetry collector.
pub struct Tracer {
    base: String,
    poster: Poster,
    /// Phases of the run in progress: name, and begin in nanoseconds of Unix time.
    phases: parking_lot::Mutex<Vec<(&'static str, u64)>>,
}

impl Tracer {
    /// Starts a sender for the collector at `url`, such as `http://127.0.0.1:4318`.
    ///
    /// # Errors
    /// `url` is not an HTTP address or contains a password, or the sending thread cannot be started.
    pub fn start(url: &str) -> Result<Self, PostError> {
        let what = "the collector's address".to_owned();
        let known = url.starts_with("http://") || url.starts_with("https://");
        if !known || url.contains('@') {
            let why = "it must begin with http:// or https:// and contain no password".to_owned();
            return Err(PostError { what, why });
        }
        let poster = Poster::start(None).map_err(|error| PostError { what, why: error.to_string() })?;
        Ok(Self { base: url.trim_end_matches('/').to_owned(), poster, phases: parking_lot::Mutex::default() })
    }

    /// Notes when phases begin; queues the trace and the durations of a run once it is stored.
    ///
    /// # Errors
    /// The queue of unsent requests is full.
    pub fn hear(&self, event: &CampaignEvent) -> Result<(), PostError> {
        let mut phases = self.phases.lock();
        let begins = |phases: &mut Vec<(&'static str, u64)>, name: &'static str| {
            if phases.last().is_none_or(|(last, _)| *last != name) {
                phases.push((name, now_ns()));
            }
        };
        match event {
            CampaignEvent::RunBegun { .. } => {
                phases.clear();
                begins(&mut phases, "connect");
            }
            CampaignEvent::Phase(dyno_drive::RunEvent::Warmup { .. }) => begins(&mut phases, "warmup"),
            CampaignEvent::Phase(dyno_drive::RunEvent::Window { .. }) => begins(&mut phases, "window"),
            CampaignEvent::Phase(dyno_drive::RunEvent::Closing { .. }) => begins(&mut phases, "close"),
            CampaignEvent::Phase(dyno_drive::RunEvent::Draining) => begins(&mut phases, "drain"),
            CampaignEvent::RunOver => begins(&mut phases, "store"),
            CampaignEvent::Stored(record) => {
                let phases = std::mem::take(&mut *phases);
                let end_ns = now_ns();
                let url = |signal: &str| format!("{}/v1/{signal}", self.base);
                self.poster.send(Post { url: url("traces"), body: trace(record, &phases, end_ns) })?;
                self.poster.send(Post { url: url("metrics"), body: metrics(record, &phases, end_ns) })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Waits a bounded time for queued requests, then returns the errors of those that failed.
    pub fn finish(&mut self) -> Vec<PostError> {
        self.poster.finish()
    }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// The first word of the product's name in lower case, which matches most names of the conventions.
fn system(record: &RunRecord) -> String {
    let product = record.targets.first().map_or("other_sql", |target| target.identity.product.as_str());
    product.split_whitespace().next().unwrap_or("other_sql").to_lowercase()
}

fn resource(record: &RunRecord) -> Value {
    let mut attributes = vec![
        attribute("service.name", "dyno"),
        attribute("service.version", &record.dyno_version),
        attribute("service.instance.id", &record.id),
        attribute("telemetry.sdk.language", "rust"),
    ];
    let os = if cfg!(target_os = "linux") { "linux" } else { std::env::consts::OS };
    attributes.push(attribute("os.type", os));
    json!({ "attributes": attributes })
}

fn scope(record: &RunRecord) -> Value {
    json!({ "name": "dyno", "version": record.dyno_version })
}

/// Returns the attributes of the run.
fn of_run(record: &RunRecord) -> Vec<Value> {
    let mut attributes = vec![
        attribute("dyno.run.id", &record.id),
        attribute("dyno.run.status", record.status.name()),
        attribute("db.system.name", &system(record)),
    ];
    attributes.extend(record.targets.iter().map(|target| attribute("dyno.target.url", &target.url)));
    attributes.extend(record.part_of.iter().map(|part| attribute("dyno.campaign.id", &part.id)));
    attributes.extend(record.variant.iter().map(|variant| attribute("dyno.variant", variant)));
    attributes
}

/// Returns a hexadecimal id of `digits` digits, unique to the run and to `part` of it.
fn id(record: &RunRecord, part: u64, digits: usize) -> String {
    // FNV-1a, twice. Run names are unique, and these ids serve no security purpose.
    let hash = |seed: u64| {
        let bytes = record.id.bytes().chain(part.to_le_bytes());
        bytes.fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)).max(1)
    };
    let both = format!("{:016x}{:016x}", hash(0xcbf2_9ce4_8422_2325), hash(0x9e37_79b9_7f4a_7c15));
    both[..digits].to_owned()
}

fn trace(record: &RunRecord, phases: &[(&'static str, u64)], end_ns: u64) -> Value {
    let (trace, root) = (id(record, 0, 32), id(record, 1, 16));
    let begin_ns = phases.first().map_or(end_ns, |phase| phase.1);
    let status = match record.status {
        Status::Valid | Status::Imported => json!({ "code": OK }),
        _ => json!({ "code": ERROR, "message": record.reasons.first().cloned().unwrap_or_default() }),
    };
    let mut spans = vec![json!({
        "traceId": trace, "spanId": root, "name": "dyno run", "kind": KIND_CLIENT,
        "startTimeUnixNano": begin_ns.to_string(), "endTimeUnixNano": end_ns.to_string(),
        "attributes": of_run(record), "status": status,
    })];
    for (at, (name, begins_ns)) in phases.iter().enumerate() {
        let ends_ns = phases.get(at + 1).map_or(end_ns, |next| next.1);
        spans.push(json!({
            "traceId": trace, "spanId": id(record, at as u64 + 2, 16), "parentSpanId": root,
            "name": name, "kind": KIND_CLIENT,
            "startTimeUnixNano": begins_ns.to_string(), "endTimeUnixNano": ends_ns.to_string(),
        }));
    }
    let scoped = json!({ "scope": scope(record), "spans": spans });
    json!({ "resourceSpans": [{ "resource": resource(record), "scopeSpans": [scoped] }] })
}

fn metrics(record: &RunRecord, phases: &[(&'static str, u64)], end_ns: u64) -> Value {
    let of = |name: &str| phases.iter().find(|phase| phase.0 == name).map(|phase| phase.1);
    let begin_ns = of("window").unwrap_or(end_ns);
    let until_ns = of("close").or_else(|| of("drain")).unwrap_or(end_ns);
    let points: Vec<Value> = record
        .ops
        .iter()
        .filter(|(class, _)| *class != ALL)
        .filter_map(|(class, ops)| point(record, class, ops, (begin_ns, until_ns)))
        .collect();
    let metric = json!({
        "name": "db.client.operation.duration", "unit": "s",
        "description": "Duration of database client operations.",
        "histogram": { "aggregationTemporality": DELTA, "dataPoints": points },
    });
    let scoped = json!({ "scope": scope(record), "metrics": [metric] });
    json!({ "resourceMetrics": [{ "resource": resource(record), "scopeMetrics": [scoped] }] })
}

/// Returns the histogram of one class of operations; absent if the class has no latencies of its own.
fn point(record: &RunRecord, class: &str, ops: &OpStats, (begin_ns, end_ns): (u64, u64)) -> Option<Value> {
    let histogram = Histogram::decode(ops.service_us.histogram.as_deref()?).ok()?;
    let ends: Vec<f64> = SHORT_ENDS_S.into_iter().chain(ENDS_S).collect();
    let mut counts = vec![0u64; ends.len() + 1];
    let mut sum_s = 0.0;
    for step in histogram.inner().iter_recorded() {
        let seconds = step.value_iterated_to() as f64 / 1e9;
        let count = step.count_since_last_iteration();
        let at = ends.iter().position(|end| seconds <= *end).unwrap_or(ends.len());
        counts[at] += count;
        sum_s += seconds * count as f64;
    }
    let count: u64 = counts.iter().sum();
    let sum_s = ops.service_us.mean.map_or(sum_s, |mean_us| mean_us * count as f64 / 1e6);
    let mut attributes =
        vec![attribute("db.system.name", &system(record)), attribute("db.operation.name", class)];
    attributes.push(attribute("dyno.run.id", &record.id));
    (count > 0).then(|| {
        json!({
            "attributes": attributes,
            "startTimeUnixNano": begin_ns.to_string(), "timeUnixNano": end_ns.to_string(),
            "count": count.to_string(), "sum": sum_s,
            "bucketCounts": counts.iter().map(u64::to_string).collect::<Vec<_>>(),
            "explicitBounds": ends,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = include_str!("../../dyno-record/tests/records/full.json");

    #[test]
    fn otlp_spans_of_phases_are_consecutive() {
        let record = RunRecord::from_json(RECORD).unwrap();
        let body = trace(&record, &[("connect", 10), ("window", 20), ("drain", 50)], 60);
        let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
        let times = |span: &Value| {
            let of = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
            (of("startTimeUnixNano"), of("endTimeUnixNano"))
        };
        assert_eq!(spans.iter().map(times).collect::<Vec<_>>(), [(10, 60), (10, 20), (20, 50), (50, 60)]);
        let ids: std::collections::BTreeSet<_> =
            spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
        assert!(ids.len() == 4, "{ids:?}");
        assert!(ids.iter().all(|id| id.len() == 16), "{ids:?}");
        assert!(spans[1..].iter().all(|span| span["parentSpanId"] == spans[0]["spanId"]));
        assert_eq!(spans[0]["traceId"].as_str().unwrap().len(), 32);
    }

    #[test]
    fn otlp_histogram_counts_each_timed_operation_once() {
        let mut record = RunRecord::from_json(RECORD).unwrap();
        let mut histogram = Histogram::new();
        histogram.record_n_ns(61_000, 90);
        histogram.record_n_ns(2_000_000, 9);
        histogram.record_n_ns(100_000_000_000, 1);
        let mut ops = record.ops.values().next().unwrap().clone();
        ops.service_us = histogram.summary();
        record.ops = [("select".to_owned(), ops)].into();
        let body = metrics(&record, &[("window", 20), ("close", 50)], 60);
        let metric = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
        assert_eq!(
            (metric["name"].as_str(), metric["unit"].as_str()),
            (Some("db.client.operation.duration"), Some("s"))
        );
        let point = &metric["histogram"]["dataPoints"][0];
        assert_eq!((point["count"].as_str(), point["timeUnixNano"].as_str()), (Some("100"), Some("50")));
        let counts: Vec<u64> = point["bucketCounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_str().unwrap().parse().unwrap())
            .collect();
        assert_eq!(counts.len(), point["explicitBounds"].as_array().unwrap().len() + 1);
        assert_eq!((counts[3], counts[7], counts[16]), (90, 9, 1), "{counts:?}");
    }
}
