//! Axes: the settings in which runs differ, and their values.

use dyno_plan::keys::Key;
use dyno_plan::{Blocks, Bytes, Rate, Size, Span, keys};
use dyno_record::RunRecord;

/// The axis of sessions over all schemas: what a ramp goes along.
pub const SESSIONS: &str = "sessions";

/// The axis of the rate of an open loop.
pub const RATE: &str = "workload.rate";

/// Keys that make no difference to what a run measures, and those that [`SESSIONS`] stands for.
///
/// The seed of the draws is one: a repeat with other draws of the same load is still a repeat.
const NO_AXES: [&str; 7] = [
    "version",
    "target.password_env",
    "target.password_file",
    "target.connect_timeout",
    "data.load_parallel",
    "workload.seed",
    "run.sessions_per_schema",
];

/// A setting in which runs differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The plan's key (`workload.update_pct`), [`SESSIONS`], or a fact of the platform (`target.version`).
    pub path: String,
    /// The unit of bare numbers: `%`, `blocks`; empty where there is none.
    pub unit: &'static str,
}

impl Axis {
    /// The name in charts and tables: the last part of the path, `update_pct`.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('.').map_or(&self.path, |(_, name)| name)
    }
}

/// The value of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisValue {
    /// As a plan has it: `20`, `8K`, `5000/s`, `off`.
    pub text: String,
    /// The quantity, where it is one: bytes, blocks, seconds, per second, or a bare number.
    pub number: Option<f64>,
}

impl AxisValue {
    /// Reads a value from the text of a plan.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { number: number(&text), text }
    }

    /// The order on an axis: words first, then quantities by size.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        match (self.number, other.number) {
            (Some(a), Some(b)) => a.total_cmp(&b).then_with(|| self.text.cmp(&other.text)),
            (a, b) => a.is_some().cmp(&b.is_some()).then_with(|| self.text.cmp(&other.text)),
        }
    }
}

/// The quantity that a plan's text means.
fn number(text: &str) -> Option<f64> {
    // A bare number first: as a size it would be blocks, as bytes it would be bytes, and it is the same number.
    text.parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .or_else(|| text.parse::<Rate>().ok().map(|rate| rate.0))
        // `5m` is five minutes and `5M` five megabytes: the reader of bytes ignores case, so spans come first, and
        // only in the small letters in which plans write them.
        .or_else(|| {
            let small = text.bytes().all(|b| !b.is_ascii_uppercase());
            text.parse::<Span>().ok().filter(|_| small).map(|span| span.0.as_secs_f64())
        })
        .or_else(|| match text.parse::<Size>().ok()? {
            Size::Blocks(Blocks(blocks)) => Some(blocks as f64),
            Size::Bytes(Bytes(bytes)) => Some(bytes as f64),
        })
}

/// One possible axis: how to tell a record's value on it.
pub(crate) struct Candidate {
    pub(crate) axis: Axis,
    pub(crate) value: Box<dyn Fn(&RunRecord) -> String>,
}

fn of_key(key: &'static Key) -> Candidate {
    let value: Box<dyn Fn(&RunRecord) -> String> = match key.path {
        // The engine's own block size, where the plan leaves it to the engine.
        "data.block_size" => Box::new(block_size),
        _ => Box::new(|record| (key.get)(&record.plan).unwrap_or_default()),
    };
    Candidate { axis: Axis { path: key.path.into(), unit: key.unit }, value }
}

fn block_size(record: &RunRecord) -> String {
    let loaded = record.targets.first().and_then(|target| target.data.as_ref()).map(|data| data.block_size);
    record
        .plan
        .data
        .block_size
        .map(|bytes| bytes.0)
        .or(loaded)
        .map_or_else(String::new, |b| Bytes(b).to_string())
}

fn product(record: &RunRecord) -> String {
    let products: Vec<_> = record
        .targets
        .iter()
        .map(|target| format!("{} {}", target.identity.product, target.identity.version))
        .collect();
    products.join(", ")
}

/// Every possible axis, [`SESSIONS`] last. Facts of the platform are among them, so that runs on two platforms are
/// never taken for repeats.
pub(crate) fn candidates() -> Vec<Candidate> {
    let fact = |path: &str, value: fn(&RunRecord) -> String| Candidate {
        axis: Axis { path: path.into(), unit: "" },
        value: Box::new(value),
    };
    let mut all = vec![
        fact("target.version", product),
        fact("host.name", |record| record.host.name.clone()),
        fact("host.kernel", |record| record.host.kernel.clone()),
    ];
    all.extend(keys::all().filter(|key| !NO_AXES.contains(&key.path)).map(of_key));
    all.push(fact(SESSIONS, |record| record.plan.sessions().to_string()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_is_no_axis_exists() {
        for path in NO_AXES {
            assert!(keys::find(path).is_some(), "{path}");
        }
    }

    #[test]
    fn texts_of_plans_are_quantities() {
        let cases = [
            ("20", Some(20.0)),
            ("8K", Some(8_192.0)),
            ("80M", Some(83_886_080.0)),
            ("5000/s", Some(5_000.0)),
            ("5m", Some(300.0)),
            ("500ms", Some(0.5)),
            ("10000 blocks", Some(10_000.0)),
            ("off", None),
            ("heavy", None),
            ("", None),
            ("nan", None),
        ];
        for (text, expected) in cases {
            assert_eq!(AxisValue::new(text).number, expected, "{text}");
        }
    }

    #[test]
    fn values_go_in_order_of_their_quantity() {
        let mut values: Vec<_> = ["16K", "off", "4K", "100/s", "9"].map(AxisValue::new).into();
        values.sort_by(AxisValue::order);
        let texts: Vec<_> = values.iter().map(|value| value.text.as_str()).collect();
        assert_eq!(texts, ["off", "9", "100/s", "4K", "16K"]);
    }
}
