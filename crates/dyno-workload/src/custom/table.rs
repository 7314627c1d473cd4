//! Access to the tables of `workload.toml`, key by key with places.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dyno_plan::{LocatedToml, TimeSpan};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{File, SourceText, WorkloadError};
use super::names::{NAME, is_name, meant, shown};
use super::options::WorkloadOptions;

/// A table whose keys are read one by one.
#[derive(Clone)]
pub(super) struct TomlTable<'a> {
    file: &'a Arc<File>,
    /// Its name, such as `transaction.pay`; empty for the file.
    pub(super) name: String,
    at: usize,
    entries: &'a DeTable<'a>,
    options: &'a WorkloadOptions<'a>,
}

/// A value with its name.
#[derive(Clone)]
pub(super) struct TomlItem<'a> {
    file: &'a Arc<File>,
    /// Its full name, such as `transaction.pay.weight`.
    pub(super) name: String,
    key: &'a str,
    /// Place of the key; in a list, of the value.
    key_at: usize,
    value: &'a Spanned<DeValue<'a>>,
    options: &'a WorkloadOptions<'a>,
}

/// A number as the user wrote it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum WrittenNumber {
    Whole(i64),
    Broken(f64),
}

impl WrittenNumber {
    pub(super) fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Broken(broken) => broken,
        }
    }
}

/// Reads the table in `file` and passes it to `of`.
pub(super) fn read<T>(
    file: &Arc<File>,
    read_table: impl FnOnce(&TomlTable<'_>) -> Result<T, WorkloadError>,
) -> Result<T, WorkloadError> {
    read_with(file, &[], read_table)
}

/// The same with these options: `name=value`.
pub(super) fn read_with<T>(
    file: &Arc<File>,
    options: &[String],
    of: impl FnOnce(&TomlTable<'_>) -> Result<T, WorkloadError>,
) -> Result<T, WorkloadError> {
    let hint = "write [SECTION] and KEY = VALUE lines, and texts in \"quotes\"";
    let toml = LocatedToml::parse(&file.name, &file.text, hint)?;
    let options = &WorkloadOptions::read(file, toml.table(), options)?;
    of(&TomlTable { file, name: String::new(), at: 0, entries: toml.table(), options })
}

impl<'a> TomlTable<'a> {
    /// The chosen value of each option of the file, and whether it is the default.
    pub(super) fn options(&self) -> Vec<(String, String, bool)> {
        self.options.selected_values()
    }

    /// An error of the table as a whole.
    pub(super) fn fault(&self, problem: &str, hint: impl Into<String>) -> WorkloadError {
        let colon = if self.name.is_empty() { "" } else { ": " };
        self.file.fault(self.at, format!("{}{colon}{problem}", self.name), hint)
    }

    fn full(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    /// Refuses all keys except these.
    pub(super) fn require_only(&self, allowed: &[&str]) -> Result<(), WorkloadError> {
        match self.items().into_iter().find(|item| !allowed.contains(&item.own_name())) {
            None => Ok(()),
            Some(item) => Err(item.unknown("unknown key", allowed)),
        }
    }

    /// All values in the order of the file.
    pub(super) fn items(&self) -> Vec<TomlItem<'a>> {
        let mut all: Vec<TomlItem<'a>> = self
            .entries
            .iter()
            .map(|(key, value)| TomlItem {
                file: self.file,
                name: self.full(key.get_ref()),
                key: key.get_ref(),
                key_at: key.span().start,
                value: self.options.resolve(value),
                options: self.options,
            })
            .collect();
        all.sort_by_key(|item| item.key_at);
        all
    }

    /// The value of `key`; `None` if it is missing.
    pub(super) fn get(&self, key: &str) -> Option<TomlItem<'a>> {
        self.items().into_iter().find(|item| item.own_name() == key)
    }

    /// The values of `key` for all values of the options; empty if it is missing.
    pub(super) fn with_any_option(&self, key: &str) -> Vec<TomlItem<'a>> {
        let Some((known, value)) = self.entries.iter().find(|(known, _)| known.get_ref() == key) else {
            return Vec::new();
        };
        let (options, key_at) = (self.options, known.span().start);
        let item = |value| TomlItem {
            file: self.file,
            name: self.full(key),
            key: known.get_ref(),
            key_at,
            value,
            options,
        };
        options.all_variants(value).into_iter().map(item).collect()
    }

    /// The value of the required key `key`.
    pub(super) fn need(&self, key: &str, example: &str) -> Result<TomlItem<'a>, WorkloadError> {
        self.get(key).ok_or_else(|| self.fault(&format!("{key} is missing"), format!("write {example}")))
    }
}

impl<'a> TomlItem<'a> {
    /// Its key, without the name of the table.
    pub(super) fn own_name(&self) -> &'a str {
        self.key
    }

    /// The file and line of its key.
    pub(super) fn place(&self) -> String {
        let fault = self.file.fault(self.key_at, "", "");
        let line = fault.place.map_or_else(String::new, |(line, _)| format!(":{line}"));
        format!("{}{line}", fault.file)
    }

    /// An error in the value.
    pub(super) fn fault(&self, problem: impl AsRef<str>, hint: impl Into<String>) -> WorkloadError {
        self.file.fault(self.value.span().start, format!("{}: {}", self.name, problem.as_ref()), hint)
    }

    /// An error in the key.
    pub(super) fn unknown(&self, problem: &str, candidates: &[&str]) -> WorkloadError {
        let name = shown(&self.name);
        self.file.fault(
            self.key_at,
            format!("{name}: {problem}"),
            meant(self.own_name(), candidates.iter().copied()),
        )
    }

    pub(super) fn wanted(&self, expected: &str, example: &str) -> WorkloadError {
        self.fault(format!("not {expected}"), format!("write {example}"))
    }

    /// The value as written, on one line.
    pub(super) fn written(&self) -> String {
        let text = self.file.text.get(self.value.span()).unwrap_or_default();
        shown(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The value in a normal form, without spaces, comments or differences in spelling of numbers and texts.
    pub(super) fn meaning(&self) -> String {
        if let Some(table) = self.as_table() {
            let entries: Vec<String> = table
                .items()
                .iter()
                .map(|item| format!("{} = {}", item.own_name(), item.meaning()))
                .collect();
            return format!("{{{}}}", entries.join(", "));
        }
        if let Some(list) = self.as_list() {
            let values: Vec<String> = list.iter().map(TomlItem::meaning).collect();
            return format!("[{}]", values.join(", "));
        }
        match (self.as_number(), self.as_text()) {
            (Some(WrittenNumber::Whole(number)), _) => number.to_string(),
            (Some(WrittenNumber::Broken(number)), _) => format!("{number:?}"),
            (None, Some(text)) => format!("{:?}", text.letters),
            (None, None) => self.source_text().letters.to_string(),
        }
    }

    /// The text; `None` if it is not one.
    pub(super) fn as_text(&self) -> Option<SourceText> {
        let letters = self.value.get_ref().as_str()?;
        Some(SourceText::value(Arc::clone(self.file), self.value.span(), letters))
    }

    /// The value as written, with its place.
    pub(super) fn source_text(&self) -> SourceText {
        let span = self.value.span();
        let letters = self.file.text.get(span.clone()).unwrap_or_default();
        SourceText::value(Arc::clone(self.file), span, letters)
    }

    pub(super) fn text(&self, example: &str) -> Result<SourceText, WorkloadError> {
        self.as_text().ok_or_else(|| self.wanted("a text", example))
    }

    /// The name of a workload, or of a part of it.
    pub(super) fn name(&self) -> Result<String, WorkloadError> {
        let text = self.text("a name")?;
        match is_name(&text.letters.replace('-', "_")) {
            true => Ok(text.letters.to_string()),
            false => Err(self.fault(format!("{:?} is not a valid name", shown(&text.letters)), NAME)),
        }
    }

    pub(super) fn flag(&self) -> Result<bool, WorkloadError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wanted("true or false", "true"))
    }

    /// The number; `None` if it is not one.
    pub(super) fn as_number(&self) -> Option<WrittenNumber> {
        match self.value.get_ref() {
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok().map(WrittenNumber::Whole)
            }
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .map(WrittenNumber::Broken),
            _ => None,
        }
    }

    pub(super) fn number(&self, example: &str) -> Result<WrittenNumber, WorkloadError> {
        self.as_number().ok_or_else(|| self.wanted("a number", example))
    }

    pub(super) fn real(&self, example: &str) -> Result<f64, WorkloadError> {
        self.number(example).map(WrittenNumber::real)
    }

    /// Reads a whole number within these limits.
    pub(super) fn whole(&self, least: i64, most: i64) -> Result<i64, WorkloadError> {
        let range = format!("a whole number from {least} to {most}");
        match self.as_number() {
            Some(WrittenNumber::Whole(number)) if (least..=most).contains(&number) => Ok(number),
            _ => Err(self.fault(format!("{} is not {range}", self.written()), "")),
        }
    }

    /// The list; `None` if it is not one.
    pub(super) fn as_list(&self) -> Option<Vec<TomlItem<'a>>> {
        let values = self.value.get_ref().as_array()?;
        let item = |value: &'a Spanned<DeValue<'a>>| TomlItem {
            file: self.file,
            name: self.name.clone(),
            key: self.key,
            key_at: value.span().start,
            value: self.options.resolve(value),
            options: self.options,
        };
        Some(values.iter().map(item).collect())
    }

    /// The items of the list for all values of the options; empty if it is not a list.
    pub(super) fn list_with_any_option(&self) -> Vec<TomlItem<'a>> {
        let values = self.value.get_ref().as_array().map(|values| values.iter()).into_iter().flatten();
        let to_item = |value| TomlItem { key_at: self.key_at, value, ..self.clone() };
        let flat = |item: TomlItem<'a>| match item.value.get_ref().is_array() {
            true => item.list_with_any_option(),
            false => vec![item],
        };
        values.flat_map(|value| self.options.all_variants(value)).map(to_item).flat_map(flat).collect()
    }

    /// The list with inner lists flattened; `None` if it is not a list.
    pub(super) fn as_flat_list(&self) -> Option<Vec<TomlItem<'a>>> {
        let flat = |item: TomlItem<'a>| item.as_flat_list().unwrap_or_else(|| vec![item]);
        Some(self.as_list()?.into_iter().flat_map(flat).collect())
    }

    pub(super) fn list(&self, example: &str) -> Result<Vec<TomlItem<'a>>, WorkloadError> {
        self.as_list().ok_or_else(|| self.wanted("a list", example))
    }

    /// Reads the two limits of a range, lower first; a single number stands for both.
    pub(super) fn range(&self, example: &str) -> Result<(TomlItem<'a>, TomlItem<'a>), WorkloadError> {
        match self.as_list().as_deref() {
            Some([low, high]) => Ok((low.clone(), high.clone())),
            None if self.as_number().is_some() => Ok((self.clone(), self.clone())),
            _ => Err(self.wanted("a range", example)),
        }
    }

    /// Reads a range of whole numbers within these limits.
    pub(super) fn whole_range(
        &self,
        least: i64,
        most: i64,
        example: &str,
    ) -> Result<(i64, i64), WorkloadError> {
        let (low, high) = self.range(example)?;
        let (low, high) = (low.whole(least, most)?, high.whole(least, most)?);
        if low > high {
            return Err(self.fault(format!("{low} is above {high}"), "write the lower end first"));
        }
        Ok((low, high))
    }

    /// All texts under `run` anywhere in the value, for all values of the options.
    pub(super) fn may_run(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        all_of(RUN, self.value.get_ref(), &mut names);
        names
    }

    /// The table; `None` if it is not one.
    pub(super) fn as_table(&self) -> Option<TomlTable<'a>> {
        let entries = self.value.get_ref().as_table()?;
        let (name, options) = (self.name.clone(), self.options);
        Some(TomlTable { file: self.file, name, at: self.key_at, entries, options })
    }

    pub(super) fn table(&self, example: &str) -> Result<TomlTable<'a>, WorkloadError> {
        self.as_table().ok_or_else(|| self.wanted("a table", example))
    }

    /// Reads a length of time.
    pub(super) fn time(&self) -> Result<Duration, WorkloadError> {
        let text = self.text("a time with its unit, as in \"100ms\"")?;
        let span: Result<TimeSpan, _> = text.letters.parse();
        span.map(|TimeSpan(time)| time).map_err(|error| self.fault(error.to_string(), ""))
    }
}

/// The key for statements that steps run.
const RUN: &str = "run";

/// Collects all texts under `key` within `value`, for all values of an option.
fn all_of(key: &str, value: &DeValue<'_>, texts: &mut BTreeSet<String>) {
    match value {
        DeValue::Array(list) => list.iter().for_each(|value| all_of(key, value.get_ref(), texts)),
        DeValue::Table(table) => {
            for (name, value) in table {
                match value.get_ref() {
                    DeValue::String(text) if name.get_ref() == key => {
                        texts.insert(text.to_string());
                    }
                    DeValue::Table(by) if name.get_ref() == key => {
                        texts.extend(by.values().filter_map(|one| one.get_ref().as_str()).map(str::to_owned));
                    }
                    other => all_of(key, other, texts),
                }
            }
        }
        _ => {}
    }
}
