//! Tables of `workload.toml`, read key by key with the place of each.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dyno_plan::Span;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Fault, File, Text};
use super::names::{NAME, is_name, meant, shown};
use super::options::Options;

/// A table, whose keys are asked for one after the other.
#[derive(Clone)]
pub(super) struct Table<'a> {
    file: &'a Arc<File>,
    /// Its name: `transaction.pay`; empty for the file.
    pub(super) name: String,
    at: usize,
    entries: &'a DeTable<'a>,
    options: &'a Options<'a>,
}

/// A value under its name.
#[derive(Clone)]
pub(super) struct Item<'a> {
    file: &'a Arc<File>,
    /// The full name: `transaction.pay.weight`.
    pub(super) name: String,
    key: &'a str,
    /// Where the key is written; in a list the value.
    key_at: usize,
    value: &'a Spanned<DeValue<'a>>,
    options: &'a Options<'a>,
}

/// A number as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Written {
    Whole(i64),
    Broken(f64),
}

impl Written {
    /// As a floating-point number.
    pub(super) fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Broken(broken) => broken,
        }
    }
}

/// Reads the table that `file` is, and gives it to `of`.
pub(super) fn read<T>(file: &Arc<File>, of: impl FnOnce(&Table<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
    read_with(file, &[], of)
}

/// The same with these options: `name=value`.
pub(super) fn read_with<T>(
    file: &Arc<File>,
    options: &[String],
    of: impl FnOnce(&Table<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let table = DeTable::parse(&file.text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        let problem = format!("not valid TOML: {message}");
        file.fault(at, problem, "write [SECTION] and KEY = VALUE lines, and texts in \"quotes\"")
    })?;
    let options = &Options::read(file, table.get_ref(), options)?;
    of(&Table { file, name: String::new(), at: 0, entries: table.get_ref(), options })
}

impl<'a> Table<'a> {
    /// What was chosen of each option of the file, and whether that is what is taken where nothing is said.
    pub(super) fn options(&self) -> Vec<(String, String, bool)> {
        self.options.chosen()
    }

    /// What is wrong with it as a whole.
    pub(super) fn fault(&self, problem: &str, hint: impl Into<String>) -> Fault {
        let colon = if self.name.is_empty() { "" } else { ": " };
        self.file.fault(self.at, format!("{}{colon}{problem}", self.name), hint)
    }

    fn full(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    /// Refuses every key but these.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Fault> {
        match self.items().into_iter().find(|item| !known.contains(&item.own_name())) {
            None => Ok(()),
            Some(item) => Err(item.unknown("there is no such key", known)),
        }
    }

    /// All values in the order in which they were written.
    pub(super) fn items(&self) -> Vec<Item<'a>> {
        let mut all: Vec<Item<'a>> = self
            .entries
            .iter()
            .map(|(key, value)| Item {
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

    /// The value of `key`, if it is written.
    pub(super) fn get(&self, key: &str) -> Option<Item<'a>> {
        self.items().into_iter().find(|item| item.own_name() == key)
    }

    /// What `key` is with any value of the options; nothing where it is not written.
    pub(super) fn with_any_option(&self, key: &str) -> Vec<Item<'a>> {
        let Some((known, value)) = self.entries.iter().find(|(known, _)| known.get_ref() == key) else {
            return Vec::new();
        };
        let (options, key_at) = (self.options, known.span().start);
        let item = |value| Item {
            file: self.file,
            name: self.full(key),
            key: known.get_ref(),
            key_at,
            value,
            options,
        };
        options.any(value).into_iter().map(item).collect()
    }

    /// The value of `key`, which has to be written.
    pub(super) fn need(&self, key: &str, example: &str) -> Result<Item<'a>, Fault> {
        self.get(key).ok_or_else(|| self.fault(&format!("{key} is missing"), format!("write {example}")))
    }
}

impl<'a> Item<'a> {
    /// Its key alone.
    pub(super) fn own_name(&self) -> &'a str {
        self.key
    }

    /// Where its key is written: file and line.
    pub(super) fn place(&self) -> String {
        let fault = self.file.fault(self.key_at, "", "");
        let line = fault.place.map_or_else(String::new, |(line, _)| format!(":{line}"));
        format!("{}{line}", fault.file)
    }

    /// What is wrong with the value.
    pub(super) fn fault(&self, problem: impl AsRef<str>, hint: impl Into<String>) -> Fault {
        self.file.fault(self.value.span().start, format!("{}: {}", self.name, problem.as_ref()), hint)
    }

    /// What is wrong with the key.
    pub(super) fn unknown(&self, problem: &str, known: &[&str]) -> Fault {
        let name = shown(&self.name);
        self.file.fault(
            self.key_at,
            format!("{name}: {problem}"),
            meant(self.own_name(), known.iter().copied()),
        )
    }

    pub(super) fn wanted(&self, what: &str, example: &str) -> Fault {
        self.fault(format!("not {what}"), format!("write {example}"))
    }

    /// What is written, on one line.
    pub(super) fn written(&self) -> String {
        let text = self.file.text.get(self.value.span()).unwrap_or_default();
        shown(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// What is written without what means nothing: spaces, comments, the way in which numbers and texts are written.
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
            let values: Vec<String> = list.iter().map(Item::meaning).collect();
            return format!("[{}]", values.join(", "));
        }
        match (self.as_number(), self.as_text()) {
            (Some(Written::Whole(number)), _) => number.to_string(),
            (Some(Written::Broken(number)), _) => format!("{number:?}"),
            (None, Some(text)) => format!("{:?}", text.letters),
            (None, None) => self.here().letters.to_string(),
        }
    }

    /// The text, if it is one.
    pub(super) fn as_text(&self) -> Option<Text> {
        let letters = self.value.get_ref().as_str()?;
        Some(Text::value(Arc::clone(self.file), self.value.span(), letters))
    }

    /// What is written, letter by letter.
    pub(super) fn here(&self) -> Text {
        let span = self.value.span();
        let letters = self.file.text.get(span.clone()).unwrap_or_default();
        Text::value(Arc::clone(self.file), span, letters)
    }

    pub(super) fn text(&self, example: &str) -> Result<Text, Fault> {
        self.as_text().ok_or_else(|| self.wanted("a text", example))
    }

    /// The name of a workload, or of a part of it.
    pub(super) fn name(&self) -> Result<String, Fault> {
        let text = self.text("a name")?;
        match is_name(&text.letters.replace('-', "_")) {
            true => Ok(text.letters.to_string()),
            false => Err(self.fault(format!("{:?} is no name", shown(&text.letters)), NAME)),
        }
    }

    pub(super) fn flag(&self) -> Result<bool, Fault> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wanted("true or false", "true"))
    }

    /// The number, if it is one.
    pub(super) fn as_number(&self) -> Option<Written> {
        match self.value.get_ref() {
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok().map(Written::Whole)
            }
            DeValue::Float(number) => {
                number.as_str().parse().ok().filter(|number: &f64| number.is_finite()).map(Written::Broken)
            }
            _ => None,
        }
    }

    pub(super) fn number(&self, example: &str) -> Result<Written, Fault> {
        self.as_number().ok_or_else(|| self.wanted("a number", example))
    }

    pub(super) fn real(&self, example: &str) -> Result<f64, Fault> {
        self.number(example).map(Written::real)
    }

    /// A whole number within these limits.
    pub(super) fn whole(&self, least: i64, most: i64) -> Result<i64, Fault> {
        let range = format!("a whole number from {least} to {most}");
        match self.as_number() {
            Some(Written::Whole(number)) if (least..=most).contains(&number) => Ok(number),
            _ => Err(self.fault(format!("{} is not {range}", self.written()), "")),
        }
    }

    /// The list, if it is one.
    pub(super) fn as_list(&self) -> Option<Vec<Item<'a>>> {
        let values = self.value.get_ref().as_array()?;
        let item = |value: &'a Spanned<DeValue<'a>>| Item {
            file: self.file,
            name: self.name.clone(),
            key: self.key,
            key_at: value.span().start,
            value: self.options.resolve(value),
            options: self.options,
        };
        Some(values.iter().map(item).collect())
    }

    /// What the list has in it with any value of the options; nothing where it is no list.
    pub(super) fn list_with_any_option(&self) -> Vec<Item<'a>> {
        let values = self.value.get_ref().as_array().map(|values| values.iter()).into_iter().flatten();
        let of = |value| Item { key_at: self.key_at, value, ..self.clone() };
        let flat = |item: Item<'a>| match item.value.get_ref().is_array() {
            true => item.list_with_any_option(),
            false => vec![item],
        };
        values.flat_map(|value| self.options.any(value)).map(of).flat_map(flat).collect()
    }

    /// The list, if it is one; what is a list within it is a part of it.
    pub(super) fn as_flat_list(&self) -> Option<Vec<Item<'a>>> {
        let flat = |item: Item<'a>| item.as_flat_list().unwrap_or_else(|| vec![item]);
        Some(self.as_list()?.into_iter().flat_map(flat).collect())
    }

    pub(super) fn list(&self, example: &str) -> Result<Vec<Item<'a>>, Fault> {
        self.as_list().ok_or_else(|| self.wanted("a list", example))
    }

    /// The two ends of a range, the lower first; one number is both.
    pub(super) fn range(&self, example: &str) -> Result<(Item<'a>, Item<'a>), Fault> {
        match self.as_list().as_deref() {
            Some([low, high]) => Ok((low.clone(), high.clone())),
            None if self.as_number().is_some() => Ok((self.clone(), self.clone())),
            _ => Err(self.wanted("a range", example)),
        }
    }

    /// A range of whole numbers within these limits.
    pub(super) fn whole_range(&self, least: i64, most: i64, example: &str) -> Result<(i64, i64), Fault> {
        let (low, high) = self.range(example)?;
        let (low, high) = (low.whole(least, most)?, high.whole(least, most)?);
        if low > high {
            return Err(self.fault(format!("{low} is above {high}"), "write the lower end first"));
        }
        Ok((low, high))
    }

    /// Texts under `run` anywhere within what is written, whatever was chosen of the options.
    pub(super) fn may_run(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        all_of(RUN, self.value.get_ref(), &mut found);
        found
    }

    /// The table, if it is one.
    pub(super) fn as_table(&self) -> Option<Table<'a>> {
        let entries = self.value.get_ref().as_table()?;
        let (name, options) = (self.name.clone(), self.options);
        Some(Table { file: self.file, name, at: self.key_at, entries, options })
    }

    pub(super) fn table(&self, example: &str) -> Result<Table<'a>, Fault> {
        self.as_table().ok_or_else(|| self.wanted("a table", example))
    }

    /// A span of time.
    pub(super) fn time(&self) -> Result<Duration, Fault> {
        let text = self.text("a time with its unit, as in \"100ms\"")?;
        let span: Result<Span, _> = text.letters.parse();
        span.map(|Span(time)| time).map_err(|error| self.fault(error.to_string(), ""))
    }
}

/// The key of statements that steps run.
const RUN: &str = "run";

/// All texts under `key` within `value`, those of each value of an option among them.
fn all_of(key: &str, value: &DeValue<'_>, found: &mut BTreeSet<String>) {
    match value {
        DeValue::Array(list) => list.iter().for_each(|value| all_of(key, value.get_ref(), found)),
        DeValue::Table(table) => {
            for (name, value) in table {
                match value.get_ref() {
                    DeValue::String(text) if name.get_ref() == key => {
                        found.insert(text.to_string());
                    }
                    DeValue::Table(by) if name.get_ref() == key => {
                        found.extend(by.values().filter_map(|one| one.get_ref().as_str()).map(str::to_owned));
                    }
                    other => all_of(key, other, found),
                }
            }
        }
        _ => {}
    }
}
