//! Reads and writes the metadata of test data, in the form that all engines share.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::str::FromStr;

use dyno_plan::DataSpec;

use crate::data::{TableKind, mix};
use crate::error::TargetError;
use crate::load::{DataState, SchemaFacts};
use crate::row::TextRow;

/// The first words of every load's mark.
pub const MARK: &str = "dyno load ";

/// The name of the value that is set where rows have a secondary key.
const SECONDARY: &str = "secondary";

/// The name of the value that is set where the database copied schemas 2 and above.
const COPIED: &str = "copied";

/// A comment that no other load has, made from the time and the process number.
pub fn fresh_mark() -> String {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // The low bits of the nanoseconds differ most.
    let number = mix(since_epoch.as_nanos() as u64 ^ mix(u64::from(std::process::id())));
    format!("{MARK}{number:016x}")
}

/// The metadata of `spec`, as names and values.
pub fn pairs(spec: &DataSpec, format: &str, dyno_version: &str) -> Vec<(&'static str, String)> {
    vec![
        ("format", format.to_owned()),
        ("schemas", spec.schemas.to_string()),
        ("rows", spec.rows.to_string()),
        ("scan_rows", spec.scan_rows.to_string()),
        ("block_size", spec.block_size.to_string()),
        ("compressible", spec.compressible.to_string()),
        ("seed", spec.seed.to_string()),
        (SECONDARY, spec.secondary.to_string()),
        (COPIED, spec.copied.to_string()),
        ("dyno_version", dyno_version.to_owned()),
    ]
}

/// Where an engine keeps its metadata.
#[derive(Debug, Clone, Copy)]
pub struct MetadataLocation {
    /// The place in words: `in schema dyno`.
    pub place: &'static str,
    /// The table that holds names and values.
    pub meta: &'static str,
    /// The table that holds the measured figures.
    pub tables: &'static str,
    /// The version of the layout that this program makes.
    pub format: &'static str,
}

impl MetadataLocation {
    /// The error of metadata that cannot be used.
    pub fn broken(&self, problem: impl Display) -> TargetError {
        let message = format!("Dyno's metadata {} cannot be used: {problem}", self.place);
        TargetError::data(message).hint(
            "`dyno load --replace` drops the objects that Dyno created and \
            loads again",
        )
    }

    /// The measured figures of each table, from rows of kind, schema, name, rows, blocks and bytes.
    ///
    /// # Errors
    /// A row cannot be read.
    pub fn facts(&self, rows: &[TextRow]) -> Result<Vec<SchemaFacts>, TargetError> {
        facts(rows).ok_or_else(|| self.broken(format!("a row of {} cannot be read", self.tables)))
    }
}

/// The metadata of a target, by name.
#[derive(Debug)]
pub struct LayoutMetadata<'a> {
    location: &'static MetadataLocation,
    values: HashMap<&'a str, &'a str>,
}

impl<'a> LayoutMetadata<'a> {
    /// Reads names and values from `rows`.
    pub fn new(home: &'static MetadataLocation, rows: &'a [TextRow]) -> Self {
        let pair = |row: &'a TextRow| Some((row.get(0)?, row.get(1)?));
        Self { location: home, values: rows.iter().filter_map(pair).collect() }
    }

    /// Whether the target has no metadata.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value of `name`; empty where there is none.
    pub fn text(&self, name: &str) -> String {
        self.values.get(name).copied().unwrap_or_default().to_owned()
    }

    /// The value of `name` as a number.
    ///
    /// # Errors
    /// There is no such name, or its value is not a number.
    pub fn number<T: FromStr>(&self, name: &str) -> Result<T, TargetError> {
        let text = self.values.get(name).ok_or_else(|| self.location.broken(format!("{name} is missing")))?;
        text.parse().map_err(|_| self.location.broken(format!("{name} is {text:?}")))
    }

    /// The spec that was loaded, or is being loaded.
    ///
    /// # Errors
    /// Another version of the layout made the data, or a value is missing.
    pub fn spec(&self) -> Result<DataSpec, TargetError> {
        let MetadataLocation { meta, format, .. } = self.location;
        match self.values.get("format") {
            Some(stored_format) if stored_format == format => {}
            Some(other) => {
                let problem = format!("its format is {other:?}, but this version of Dyno supports {format}");
                return Err(self.location.broken(problem));
            }
            None => return Err(self.location.broken(format!("{meta} has no format entry"))),
        }
        Ok(DataSpec {
            schemas: self.number("schemas")?,
            rows: self.number("rows")?,
            scan_rows: self.number("scan_rows")?,
            block_size: self.number("block_size")?,
            compressible: self.number("compressible")?,
            seed: self.number("seed")?,
            // Older versions stored no such values.
            secondary: self.values.contains_key(SECONDARY) && self.number(SECONDARY)?,
            copied: self.values.contains_key(COPIED) && self.number(COPIED)?,
        })
    }

    /// The state of data of `spec`: loaded with `facts`, or partially loaded with `rows` rows.
    ///
    /// # Errors
    /// Those of `facts`, which is called only for a finished load.
    pub fn state(
        &self,
        spec: DataSpec,
        rows: u64,
        facts: impl FnOnce(&DataSpec) -> Result<Vec<SchemaFacts>, TargetError>,
    ) -> Result<DataState, TargetError> {
        match self.values.get("finished_at") {
            Some(at) => Ok(DataState::Loaded { tables: facts(&spec)?, spec, at: (*at).to_owned() }),
            None => Ok(DataState::Partial { spec, since: self.text("started_at"), rows }),
        }
    }
}

/// Committed chunks (kind, schema, first position) and the number of their rows, from rows of kind, schema,
/// first position and count.
pub fn chunks(rows: &[TextRow]) -> (HashSet<(String, u32, u64)>, u64) {
    let chunk = |row: &TextRow| Some((row.get(0)?.to_owned(), row.parse(1)?, row.parse(2)?));
    (rows.iter().filter_map(chunk).collect(), rows.iter().filter_map(|row| row.parse::<u64>(3)).sum())
}

fn facts(rows: &[TextRow]) -> Option<Vec<SchemaFacts>> {
    let fact = |row: &TextRow| {
        let kinds = [TableKind::Rows, TableKind::Scan];
        let kind = kinds.into_iter().find(|kind| Some(kind.name()) == row.get(0))?;
        Some(SchemaFacts {
            schema: row.parse(1)?,
            kind: kind.name(),
            table: row.get(2)?.to_owned(),
            rows: row.parse(3)?,
            blocks: row.parse(4)?,
            bytes: row.parse(5)?,
        })
    };
    rows.iter().map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::spec;
    use super::*;

    const HOME: MetadataLocation =
        MetadataLocation { place: "at home", meta: "meta", tables: "tables", format: "3" };

    fn rows(pairs: &[(&'static str, String)]) -> Vec<TextRow> {
        let row =
            |(name, value): &(&str, String)| TextRow(vec![Some((*name).to_owned()), Some(value.clone())]);
        pairs.iter().map(row).collect()
    }

    #[test]
    fn layout_spec_round_trip_is_lossless() {
        let spec = DataSpec { copied: true, ..spec(7, true) };
        let mut all = pairs(&spec, "3", "1.2.3");
        assert_eq!(LayoutMetadata::new(&HOME, &rows(&all)).spec().unwrap(), spec);
        all.retain(|(name, _)| !["secondary", "copied"].contains(name));
        let older = DataSpec { secondary: false, copied: false, ..spec };
        assert_eq!(LayoutMetadata::new(&HOME, &rows(&all)).spec().unwrap(), older, "loads of older versions");
        all.retain(|(name, _)| *name != "seed");
        assert!(
            LayoutMetadata::new(&HOME, &rows(&all)).spec().unwrap_err().message.ends_with("seed is missing")
        );
    }

    #[test]
    fn foreign_layout_format_is_refused_unfinished_load_is_partial() {
        let spec = spec(0, false);
        let mut all = rows(&pairs(&spec, "4", "1.2.3"));
        let error = LayoutMetadata::new(&HOME, &all).spec().unwrap_err();
        assert!(error.message.contains("at home cannot be used: its format is \"4\""), "{error}");
        let state = |rows: &[TextRow]| {
            LayoutMetadata::new(&HOME, rows).state(spec.clone(), 5, |_| Ok(Vec::new())).unwrap()
        };
        assert!(matches!(state(&all), DataState::Partial { rows: 5, .. }));
        all.push(TextRow(["finished_at", "now"].map(|text| Some(text.to_owned())).to_vec()));
        assert!(matches!(state(&all), DataState::Loaded { at, .. } if at == "now"));
    }

    #[test]
    fn fresh_layout_marks_differ_and_share_prefix() {
        assert_ne!(fresh_mark(), fresh_mark());
        assert!(fresh_mark().starts_with(MARK));
    }
}
