//! Reads and writes a [`RunRecord`] as JSON; all other code uses these functions.
//!
//! JSON may come from untrusted files. Reading therefore has limits (size, nesting, version) and names the problem. Writing
//! checks that the text can be read back, so that no stored record is unreadable.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::finite::is_finite;
use crate::kind::RecordKind;
use crate::metric::Metric;
use crate::record::{RunRecord, SCHEMA_VERSION};
use crate::series::Series;

/// The largest record that is read or written, in bytes of JSON: 256 MiB.
pub const RECORD_BYTES_MAX: u64 = 256 << 20;

/// Why a record cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The record exceeds the largest size.
    #[error("the record has {bytes} bytes; at most {RECORD_BYTES_MAX} are read")]
    TooLarge {
        /// The size of its JSON in bytes.
        bytes: u64,
    },
    /// The record has a kind that this program does not know.
    #[error("unknown record kind {found:?}: use a newer version of Dyno")]
    Kind {
        /// The kind in the text.
        found: String,
    },
    /// It is JSON, but has no version of a run record.
    #[error("schema_version is missing: this is not a run record")]
    NoVersion,
    /// The record has another version of the format.
    #[error(
        "unknown schema_version {found} (this program reads {SCHEMA_VERSION}): use the version of Dyno that \
         wrote it, or a newer one"
    )]
    Version {
        /// The version in the text.
        found: u64,
    },
    /// It is not JSON, or does not have the structure of a record.
    #[error("the run record cannot be read: {detail}")]
    Malformed {
        /// What is wrong, with line and column.
        detail: String,
    },
    /// A required figure is not a finite number, for example after a division by zero.
    #[error("the run record contains a figure that is not a finite number: {detail}")]
    NotFinite {
        /// The error of reading the text back.
        detail: String,
    },
}

/// The version and the kind alone, to distinguish a newer record from a broken one.
#[derive(Deserialize)]
struct Head<'a> {
    schema_version: Option<u64>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
}

impl RunRecord {
    /// The record as one line of JSON.
    ///
    /// A metric that is not finite becomes absent, and such a counter is left out, because JSON cannot represent either.
    ///
    /// # Errors
    /// The record is too large, or another figure is not finite.
    pub fn to_json(&self) -> Result<String, RecordError> {
        let text = self.to_text()?;
        // The text has this version; the question is whether all of it can be read back.
        if serde_json::from_str::<Self>(&text).is_ok() {
            return Ok(text);
        }
        let text = self.with_finite_figures().to_text()?;
        match Self::from_json(&text) {
            Ok(_) => Ok(text),
            Err(RecordError::Malformed { detail }) => Err(RecordError::NotFinite { detail }),
            Err(other) => Err(other),
        }
    }

    /// The same for a record whose plan was already read back as part of another record. Everything else is figures and texts;
    /// any text can be read back, so checking the figures is enough and takes a tenth of the time.
    ///
    /// # Errors
    /// As [`RunRecord::to_json`].
    pub(crate) fn to_json_of_known_plan(&self) -> Result<String, RecordError> {
        if !is_finite(self) {
            return self.to_json();
        }
        let text = self.to_text()?;
        debug_assert!(Self::from_json(&text).is_ok_and(|back| back == *self), "{text} is not read back");
        Ok(text)
    }

    /// Reads a record from JSON. Unknown keys are ignored, because later versions of the format may add keys.
    ///
    /// # Errors
    /// The text is too large, is not JSON or not a record, or has another version.
    pub fn from_json(text: &str) -> Result<Self, RecordError> {
        check_size(text.len())?;
        let malformed = |e: serde_json::Error| RecordError::Malformed { detail: e.to_string() };
        let head: Head<'_> = serde_json::from_str(text).map_err(malformed)?;
        let version = head.schema_version.ok_or(RecordError::NoVersion)?;
        if version != u64::from(SCHEMA_VERSION) {
            return Err(RecordError::Version { found: version });
        }
        if let Some(kind) = head.kind.filter(|kind| RecordKind::from_name(kind).is_none()) {
            return Err(RecordError::Kind { found: kind.into_owned() });
        }
        serde_json::from_str(text).map_err(malformed)
    }

    fn to_text(&self) -> Result<String, RecordError> {
        let text =
            serde_json::to_string(self).map_err(|e| RecordError::Malformed { detail: e.to_string() })?;
        check_size(text.len())?;
        Ok(text)
    }

    fn with_finite_figures(&self) -> Self {
        let mut record = self.clone();
        finite_metrics(&mut record.metrics);
        for host in &mut record.hosts {
            host.counters.retain(|_, value| value.is_finite());
        }
        record.counters.native.retain(|_, value| value.is_finite());
        if let Some(whole) = &mut record.whole {
            whole.counters.native.retain(|_, value| value.is_finite());
        }
        finite_points(&mut record.series);
        for own in record.targets.iter_mut().filter_map(|target| target.own.as_deref_mut()) {
            finite_metrics(&mut own.metrics);
            own.host_counters.retain(|_, value| value.is_finite());
            own.counters.native.retain(|_, value| value.is_finite());
            if let Some(whole) = &mut own.whole {
                whole.counters.native.retain(|_, value| value.is_finite());
            }
            finite_points(&mut own.series);
        }
        record
    }
}

fn finite_metrics(metrics: &mut BTreeMap<String, Metric>) {
    for metric in metrics.values_mut() {
        if metric.value().is_some_and(|value| !value.is_finite()) {
            *metric = Metric::Absent { absent: "it came out as no finite number".into() };
        }
    }
}

fn finite_points(series: &mut Series) {
    for point in &mut series.points {
        point.metrics.retain(|_, value| value.is_finite());
    }
}

fn check_size(bytes: usize) -> Result<(), RecordError> {
    let bytes = bytes as u64;
    if bytes > RECORD_BYTES_MAX { Err(RecordError::TooLarge { bytes }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    #[test]
    fn record_json_round_trip_is_lossless() {
        for record in [sample::full(), sample::minimal(), sample::imported(), sample::component()] {
            let text = record.to_json().unwrap();
            assert_eq!(RunRecord::from_json(&text).unwrap(), record);
            assert!(!text.contains('\n'));
        }
    }

    #[test]
    fn non_finite_values_become_absent_and_the_rest_is_kept() {
        let mut record = sample::full();
        let value = Metric::Value { value: f64::NAN, unit: crate::Unit::Percent };
        record.metrics.insert("buffer_hit_pct".into(), value);
        record.hosts[0].counters.insert("device.vda.read_latency_us".into(), f64::INFINITY);
        let back = RunRecord::from_json(&record.to_json().unwrap()).unwrap();
        assert!(
            matches!(&back.metrics["buffer_hit_pct"], Metric::Absent { absent } if absent.contains("finite"))
        );
        assert!(!back.hosts[0].counters.contains_key("device.vda.read_latency_us"));
        assert_eq!(back.ops, record.ops);
    }

    #[test]
    fn non_finite_required_figure_is_an_error() {
        let mut record = sample::full();
        record.window.as_mut().unwrap().seconds = f64::NAN;
        for written in [record.to_json(), record.to_json_of_known_plan()] {
            let error = written.unwrap_err();
            assert!(error.to_string().contains("not a finite number"), "{error}");
        }
    }

    #[test]
    fn record_of_known_plan_serializes_like_any_other() {
        let mut broken = sample::full();
        broken.hosts[0].counters.insert("x".into(), f64::NAN);
        for record in [sample::full(), sample::minimal(), broken] {
            assert_eq!(record.to_json_of_known_plan().unwrap(), record.to_json().unwrap());
        }
    }

    #[test]
    fn other_schema_version_differs_from_malformed_record_error() {
        let text = sample::minimal().to_json().unwrap();
        let newer = text.replace("\"schema_version\":2", "\"schema_version\":7");
        let error = RunRecord::from_json(&newer).unwrap_err();
        assert!(matches!(error, RecordError::Version { found: 7 }), "{error}");
        assert!(error.to_string().contains("schema_version 7"), "{error}");
        assert!(matches!(RunRecord::from_json("{}").unwrap_err(), RecordError::NoVersion));
        let broken = text.replace("\"reasons\":[]", "\"reasons\":7");
        assert!(matches!(RunRecord::from_json(&broken).unwrap_err(), RecordError::Malformed { .. }));
    }

    #[test]
    fn unknown_record_kind_is_refused() {
        let disk = r#"{"schema_version":2,"kind":"flame","metrics":{}}"#;
        let error = RunRecord::from_json(disk).unwrap_err();
        assert!(error.to_string().contains("unknown record kind \"flame\": use a newer"), "{error}");
        let text = sample::minimal().to_json().unwrap();
        let nameless = RunRecord::from_json(&text.replace("\"kind\":\"run\",", "")).unwrap_err();
        assert!(nameless.to_string().contains("missing field `kind`"), "{nameless}");
    }

    #[test]
    fn hostile_record_json_is_a_malformed_error() {
        let deep = format!("{{\"schema_version\":2,\"x\":{}", "[".repeat(1_000_000));
        assert!(matches!(RunRecord::from_json(&deep).unwrap_err(), RecordError::Malformed { .. }));
        let huge = sample::full().to_json().unwrap().replace("1000.5", "1e999");
        assert!(matches!(RunRecord::from_json(&huge).unwrap_err(), RecordError::Malformed { .. }));
    }

    proptest! {
        #[test]
        fn gate_parser_never_panics_on_any_text(text in "[\\x00-\\x7f]{0,200}") {
            let _ = RunRecord::from_json(&text);
        }

        #[test]
        fn truncated_record_is_never_read(share in 0.0f64..1.0) {
            let text = sample::full().to_json().unwrap();
            let cut = (text.len() as f64 * share) as usize;
            prop_assume!(text.is_char_boundary(cut));
            prop_assert!(RunRecord::from_json(&text[..cut]).is_err());
        }

        #[test]
        fn finite_numbers_round_trip_exactly_in_json(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let mut record = sample::full();
            record.hosts[0].counters.insert("x".into(), value);
            let back = RunRecord::from_json(&record.to_json().unwrap()).unwrap();
            prop_assert_eq!(back.hosts[0].counters["x"].to_bits(), value.to_bits());
        }
    }
}
