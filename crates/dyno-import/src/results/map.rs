//! Parses the meaning of a foreign table's columns: `COLUMN=FIELD[:UNIT][@TARGET]`.

use dyno_analyze::points::Measure;
use dyno_plan::keys::{self, PlanKeyKind};
use dyno_record::Unit;

use crate::Error;

/// A unit as tables print it, Dyno's unit, and the conversion factor.
type Spelling = (&'static str, Unit, f64);

/// Every unit that a mapping can name.
const UNITS: [Spelling; 24] = [
    ("us", Unit::Microseconds, 1.0),
    ("µs", Unit::Microseconds, 1.0),
    ("ms", Unit::Microseconds, 1e3),
    ("s", Unit::Seconds, 1.0),
    ("min", Unit::Seconds, 60.0),
    ("1/s", Unit::PerSecond, 1.0),
    ("/s", Unit::PerSecond, 1.0),
    ("1/min", Unit::PerSecond, 1.0 / 60.0),
    ("blocks/s", Unit::BlocksPerSecond, 1.0),
    ("rows/s", Unit::RowsPerSecond, 1.0),
    ("bytes/s", Unit::BytesPerSecond, 1.0),
    ("KB/s", Unit::MegabytesPerSecond, 1e-3),
    ("KiB/s", Unit::MegabytesPerSecond, 1.024e-3),
    ("MB/s", Unit::MegabytesPerSecond, 1.0),
    ("MiB/s", Unit::MegabytesPerSecond, 1.048_576),
    ("GB/s", Unit::MegabytesPerSecond, 1e3),
    ("GiB/s", Unit::MegabytesPerSecond, 1_073.741_824),
    ("%", Unit::Percent, 1.0),
    ("count", Unit::Count, 1.0),
    ("blocks", Unit::Blocks, 1.0),
    ("bytes", Unit::Bytes, 1.0),
    ("MiB", Unit::Bytes, 1_048_576.0),
    ("rows", Unit::Rows, 1.0),
    ("sessions", Unit::Sessions, 1.0),
];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum MappedField {
    /// Number of sessions over all schemas.
    Sessions,
    /// Operations over the whole run.
    Ops,
    /// Length of the run; the factor converts it to seconds.
    Seconds(f64),
    Variant,
    Tag,
    StartedAt,
    /// A plan key, and whether its value may be a number with a fraction or digit groups.
    Key {
        path: &'static str,
        is_number: bool,
    },
    /// A text that distinguishes lines, stored under its own name.
    Label,
    /// A figure; the factor converts the table's unit to `unit`.
    Metric {
        name: String,
        unit: Unit,
        factor: f64,
    },
}

impl MappedField {
    /// Whether its cells are numbers.
    pub(super) fn is_number(&self) -> bool {
        match self {
            Self::Sessions | Self::Ops | Self::Seconds(_) | Self::Metric { .. } => true,
            Self::Key { is_number, .. } => *is_number,
            Self::Variant | Self::Tag | Self::StartedAt | Self::Label => false,
        }
    }
}

/// Whether a key of this kind takes a plain number.
fn is_number(kind: &PlanKeyKind) -> bool {
    matches!(
        kind,
        PlanKeyKind::Count(..)
            | PlanKeyKind::Number(..)
            | PlanKeyKind::Decimal(..)
            | PlanKeyKind::Size(..)
            | PlanKeyKind::BlockSize(..)
            | PlanKeyKind::Span(..)
            | PlanKeyKind::Rate(..)
    )
}

#[derive(Debug, Clone, PartialEq)]
/// The meaning of one column: `COLUMN=FIELD[:UNIT][@TARGET]`.
pub struct ColumnMapping {
    pub(super) column: String,
    pub(super) field: MappedField,
    /// The database to which the figure belongs, if there are several.
    pub(super) target: Option<String>,
}

impl std::str::FromStr for ColumnMapping {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |problem: &str, hint: &str| Error::input(format!("--map {text:?}: {problem}"), hint);
        let example = "write COLUMN=FIELD, such as lio_per_s=logical_reads_per_s or time=service_mean_us:ms";
        let (column, meaning) = text.rsplit_once('=').ok_or_else(|| wrong("there is no = in it", example))?;
        let (meaning, target) = match meaning.split_once('@') {
            Some((meaning, target)) if !target.trim().is_empty() => (meaning, Some(target.trim().to_owned())),
            Some(_) => return Err(wrong("no target follows the @", example)),
            None => (meaning, None),
        };
        let (name, unit) = match meaning.split_once(':') {
            Some((name, unit)) => (name.trim(), Some(unit.trim())),
            None => (meaning.trim(), None),
        };
        if column.trim().is_empty() || name.is_empty() {
            return Err(wrong("the column or the field has no name", example));
        }
        let spelling = unit.map(|unit| {
            UNITS.iter().find(|known| known.0 == unit).ok_or_else(|| {
                let unit_names: Vec<&str> = UNITS.iter().map(|known| known.0).collect();
                wrong(&format!("unknown unit {unit:?}"), &format!("use one of {}", unit_names.join(", ")))
            })
        });
        let field = field(name, spelling.transpose()?).map_err(|(problem, hint)| wrong(&problem, &hint))?;
        if target.is_some() && !matches!(field, MappedField::Metric { .. } | MappedField::Ops) {
            return Err(wrong("only figures can belong to one target", "remove the @"));
        }
        Ok(Self { column: column.trim().to_owned(), field, target })
    }
}

/// The field `name`, or the problem and its hint.
fn field(name: &str, unit: Option<&Spelling>) -> Result<MappedField, (String, String)> {
    let plain = match name {
        "sessions" => Some(MappedField::Sessions),
        "ops" => Some(MappedField::Ops),
        "variant" => Some(MappedField::Variant),
        "tag" => Some(MappedField::Tag),
        "started_at" => Some(MappedField::StartedAt),
        "label" => Some(MappedField::Label),
        _ => keys::find(name).map(|key| MappedField::Key { path: key.path, is_number: is_number(&key.kind) }),
    };
    match (plain, unit) {
        (Some(field), None) => return Ok(field),
        (Some(_), Some(_)) => return Err((format!("{name} takes no unit"), "remove it".to_owned())),
        (None, _) => {}
    }
    if name == "seconds" {
        return match unit {
            None => Ok(MappedField::Seconds(1.0)),
            Some(&(_, Unit::Seconds, factor)) => Ok(MappedField::Seconds(factor)),
            Some(&(_, Unit::Microseconds, factor)) => Ok(MappedField::Seconds(factor / 1e6)),
            Some(_) => {
                Err(("seconds are a time".into(), "write seconds:ms, seconds:s or seconds:min".into()))
            }
        };
    }
    if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        let hint = "a metric has small letters, digits and _; a key of the plan is SECTION.KEY".to_owned();
        return Err((format!("unknown field {name:?}"), hint));
    }
    let (unit, factor) = unit_of(name, unit)?;
    Ok(MappedField::Metric { name: name.to_owned(), unit, factor })
}

/// The unit in which a metric is stored, and the factor from the table's unit.
fn unit_of(name: &str, unit: Option<&Spelling>) -> Result<(Unit, f64), (String, String)> {
    let metric_unit = Measure::find(name).map(|measure| measure.unit).or_else(|| by_suffix(name));
    match (metric_unit, unit) {
        (Some(own), None) => Ok((own, 1.0)),
        (None, Some(&(_, unit, factor))) => Ok((unit, factor)),
        (None, None) => {
            let hint = format!("write {name}:UNIT, such as {name}:1/s, {name}:ms or {name}:%");
            Err((format!("{name} has no unit"), hint))
        }
        (Some(own), Some(&(spelt, unit, factor))) => match (own, unit) {
            _ if own == unit => Ok((own, factor)),
            (Unit::Microseconds, Unit::Seconds) => Ok((own, factor * 1e6)),
            (Unit::Seconds, Unit::Microseconds) => Ok((own, factor / 1e6)),
            (Unit::BytesPerSecond, Unit::MegabytesPerSecond) => Ok((own, factor * 1e6)),
            (Unit::MegabytesPerSecond, Unit::BytesPerSecond) => Ok((own, factor / 1e6)),
            _ => {
                let hint = format!("write {name}, or {name}:UNIT with a unit of {}", own.name());
                Err((format!("{name} is in {} and cannot be in {spelt}", own.name()), hint))
            }
        },
    }
}

/// The unit implied by the suffix of a name.
fn by_suffix(name: &str) -> Option<Unit> {
    let suffixes = [
        ("_pct", Unit::Percent),
        ("_us", Unit::Microseconds),
        ("_mb_per_s", Unit::MegabytesPerSecond),
        ("_per_s", Unit::PerSecond),
        ("_s", Unit::Seconds),
    ];
    suffixes.into_iter().find(|(suffix, _)| name.ends_with(suffix)).map(|(_, unit)| unit)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    fn metric(name: &str, unit: Unit, factor: f64) -> MappedField {
        MappedField::Metric { name: name.into(), unit, factor }
    }

    #[test]
    fn column_mapping_is_parsed() {
        for (text, column, field, target) in [
            ("jobs=sessions", "jobs", MappedField::Sessions, None),
            ("ops=ops@pdb1", "ops", MappedField::Ops, Some("pdb1")),
            (
                "pct=workload.update_pct",
                "pct",
                MappedField::Key { path: "workload.update_pct", is_number: true },
                None,
            ),
            ("t=service_mean_us:ms", "t", metric("service_mean_us", Unit::Microseconds, 1e3), None),
            ("t=service_mean_us:s", "t", metric("service_mean_us", Unit::Microseconds, 1e6), None),
            ("load=load_s", "load", metric("load_s", Unit::Seconds, 1.0), None),
            ("load=load_s:min", "load", metric("load_s", Unit::Seconds, 60.0), None),
            ("x=tpcc:1/s", "x", metric("tpcc", Unit::PerSecond, 1.0), None),
            ("a=b=cpu_idle_pct", "a=b", metric("cpu_idle_pct", Unit::Percent, 1.0), None),
            ("e=seconds:min", "e", MappedField::Seconds(60.0), None),
        ] {
            let read: ColumnMapping = text.parse().unwrap();
            assert_eq!(
                (read.column.as_str(), read.field, read.target.as_deref()),
                (column, field, target),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_column_mapping_error_states_the_reason() {
        for (text, part) in [
            ("x", "no = in it"),
            ("x=tpcc", "has no unit"),
            ("x=tpcc:furlongs", "unknown unit"),
            ("x=ops_per_s:ms", "cannot be in ms"),
            ("x=sessions:1/s", "takes no unit"),
            ("x=variant@pdb1", "only figures"),
            ("x=workload.nonsense", "unknown field"),
            ("=ops", "no name"),
            ("x=ops@", "no target"),
        ] {
            let error = text.parse::<ColumnMapping>().unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
            assert!(!error.hint().is_empty(), "{text}: {error}");
        }
    }

    #[test]
    fn gate_parser_never_panics_on_any_text() {
        let parts = ["", "=", ":", "@", "a", "ops", "µs", "sessions", "."];
        for code in 0..parts.len().pow(5) {
            let text: String =
                (0..5u32).map(|place| parts[code / parts.len().pow(place) % parts.len()]).collect();
            let _ = text.parse::<ColumnMapping>();
        }
    }
}
