//! Reads `[option]`: choices that a workload leaves to the user, and `{ by = … }` values that depend on them.
//!
//! An option is a list of values; the first is the default. Any other value in `workload.toml` may depend on
//! an option: `{ by = "option", value = …, other = … }` selects the entry for the chosen value, and
//! `{ by = "option" }` is the chosen value itself.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{File, WorkloadError};
use super::names::{NAME, is_name, meant, shown};

/// The sections of options and of sets of options, and the key of values that depend on one.
const OPTION: &str = "option";
const LIKE: &str = "like";
const BY: &str = "by";

/// The largest number of options, and of values of one option.
const OPTIONS_MAX: usize = 50;
const VALUES_MAX: usize = 50;

/// The chosen value of each option.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkloadOptions<'a> {
    all: BTreeMap<&'a str, ChosenOption<'a>>,
}

#[derive(Debug, Clone)]
struct ChosenOption<'a> {
    /// All values, each with its text.
    values: Vec<(String, &'a Spanned<DeValue<'a>>)>,
    place: usize,
}

/// The text of a value; `None` if it cannot be a value of an option.
fn words(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}

impl<'a> WorkloadOptions<'a> {
    /// Reads the options of the file, with the choices in `requested`: `name=value`, or `like=NAME` for a set
    /// of options.
    ///
    /// # Errors
    /// An option is invalid, or a requested name or value does not exist.
    pub(super) fn read(
        file: &File,
        top: &'a DeTable<'a>,
        requested: &[String],
    ) -> Result<Self, WorkloadError> {
        let mut options = Self::default();
        let section = |name: &str| top.get(name).map(|value| (value.span().start, value.get_ref()));
        if let Some((at, value)) = section(OPTION) {
            let table = value.as_table().ok_or_else(|| file.fault(at, "option: not a table", EXAMPLE))?;
            for (key, value) in table {
                let name: &'a str = key.get_ref();
                let fault = |problem: &str, hint: &str| {
                    file.fault(key.span().start, format!("option.{}: {problem}", shown(name)), hint)
                };
                if !is_name(name) || name == LIKE {
                    return Err(fault("not a valid name for an option", NAME));
                }
                let list = value.get_ref().as_array().filter(|list| (1..=VALUES_MAX).contains(&list.len()));
                let list = list.ok_or_else(|| fault("not a list of values", EXAMPLE))?;
                let to_value = |value: &'a Spanned<DeValue<'a>>| Some((words(value.get_ref())?, value));
                let values: Option<Vec<_>> = list.iter().map(to_value).collect();
                let values =
                    values.ok_or_else(|| fault("a value that is not a text, number or flag", EXAMPLE))?;
                options.all.insert(name, ChosenOption { values, place: 0 });
            }
            if options.all.len() > OPTIONS_MAX {
                return Err(file.fault(at, format!("more than {OPTIONS_MAX} options"), "remove some"));
            }
        }
        let sets = options.sets(file, section(LIKE))?;
        options.choose(file, &sets, requested)?;
        options.check(file, top)?;
        Ok(options)
    }

    /// The sets in `[like]`: options with their values.
    fn sets(&self, file: &File, section: Option<(usize, &'a DeValue<'a>)>) -> Result<Sets, WorkloadError> {
        let mut sets = BTreeMap::new();
        let Some((at, value)) = section else { return Ok(sets) };
        let example = "write [like.NAME] with OPTION = VALUE lines";
        let table = value.as_table().ok_or_else(|| file.fault(at, "like: not a table", example))?;
        for (key, value) in table {
            let at = key.span().start;
            let set = value.get_ref().as_table().ok_or_else(|| file.fault(at, "not a table", example))?;
            let mut all = Vec::new();
            for (option, value) in set {
                let (at, name) = (option.span().start, option.get_ref().to_string());
                let value = words(value.get_ref()).unwrap_or_default();
                self.place(&name, &value).map_err(|(problem, hint)| file.fault(at, problem, hint))?;
                all.push((name, value));
            }
            sets.insert(key.get_ref().to_string(), all);
        }
        Ok(sets)
    }

    /// Index of `value` among the values of the option `name`.
    fn place(&self, name: &str, value: &str) -> Result<usize, (String, String)> {
        let Some(option) = self.all.get(name) else {
            let hint = meant(name, self.all.keys().copied());
            return Err((format!("unknown option {}", shown(name)), hint));
        };
        option.values.iter().position(|(known, _)| known == value).ok_or_else(|| {
            let allowed: Vec<&str> = option.values.iter().map(|(known, _)| known.as_str()).collect();
            let problem = format!("{} is not a value of the option {}", shown(value), shown(name));
            (problem, format!("write one of {}", allowed.join(", ")))
        })
    }

    /// Applies the requested choices; sets first, so that single options override them in any order.
    fn choose(&mut self, file: &File, sets: &Sets, requested: &[String]) -> Result<(), WorkloadError> {
        let fault = |problem: String, hint: String| WorkloadError::whole(file.name.clone(), problem, hint);
        let mut single = Vec::new();
        for one in requested {
            let Some((name, value)) = one.split_once('=').map(|(name, value)| (name.trim(), value.trim()))
            else {
                return Err(fault(
                    format!("{} is not an option with its value", shown(one)),
                    "write NAME=VALUE".into(),
                ));
            };
            if name != LIKE {
                single.push((name.to_owned(), value.to_owned()));
                continue;
            }
            let Some(set) = sets.get(value) else {
                let hint = meant(value, sets.keys().map(String::as_str));
                return Err(fault(format!("unknown set of options {}", shown(value)), hint));
            };
            self.take(set).map_err(|(problem, hint)| fault(problem, hint))?;
        }
        self.take(&single).map_err(|(problem, hint)| fault(problem, hint))
    }

    fn take(&mut self, values: &[(String, String)]) -> Result<(), (String, String)> {
        for (name, value) in values {
            let place = self.place(name, value)?;
            if let Some(option) = self.all.get_mut(name.as_str()) {
                option.place = place;
            }
        }
        Ok(())
    }

    /// Refuses a value that depends on an unknown option, or lacks an entry for a possible value.
    fn check(&self, file: &File, table: &DeTable<'_>) -> Result<(), WorkloadError> {
        table.values().try_for_each(|value| self.check_value(file, value))
    }

    fn check_value(&self, file: &File, value: &Spanned<DeValue<'_>>) -> Result<(), WorkloadError> {
        let at = value.span().start;
        match value.get_ref() {
            DeValue::Array(list) => list.iter().try_for_each(|value| self.check_value(file, value)),
            DeValue::Table(table) => {
                if let Some(name) = table.get(BY).and_then(|by| by.get_ref().as_str()) {
                    let Some(option) = self.all.get(name) else {
                        let hint = meant(name, self.all.keys().copied());
                        return Err(file.fault(at, format!("by: unknown option {}", shown(name)), hint));
                    };
                    let is_known = |key: &str| option.values.iter().any(|(known, _)| known == key);
                    let mut keys = table.keys().map(|key| key.get_ref().as_ref()).filter(|key| *key != BY);
                    if let Some(stranger) = keys.find(|key| !is_known(key)) {
                        let hint = meant(stranger, option.values.iter().map(|(known, _)| known.as_str()));
                        let problem = format!("{} is not a value of the option {name}", shown(stranger));
                        return Err(file.fault(at, problem, hint));
                    }
                    let missing = option.values.iter().find(|(value, _)| table.get(value.as_str()).is_none());
                    if let Some((missing, _)) = missing.filter(|_| table.len() > 1) {
                        let problem = format!("it has no entry for {name} = {}", shown(missing));
                        return Err(file.fault(at, problem, "write a value for it"));
                    }
                }
                self.check(file, table)
            }
            _ => Ok(()),
        }
    }

    /// Resolves `value` with the chosen options.
    pub(super) fn resolve(&self, value: &'a Spanned<DeValue<'a>>) -> &'a Spanned<DeValue<'a>> {
        let mut value = value;
        while let Some(table) = value.get_ref().as_table()
            && let Some(by) = table.get(BY)
            && let Some(option) = by.get_ref().as_str().and_then(|name| self.all.get(name))
        {
            let (words, own) = &option.values[option.place];
            value = table.get(words.as_str()).unwrap_or(own);
        }
        value
    }

    /// All variants of `value` over the values of the options.
    pub(super) fn all_variants(&self, value: &'a Spanned<DeValue<'a>>) -> Vec<&'a Spanned<DeValue<'a>>> {
        let by_table =
            value.get_ref().as_table().filter(|table| table.get(BY).is_some_and(|by| by.get_ref().is_str()));
        match by_table.filter(|table| table.len() > 1) {
            None => vec![self.resolve(value)],
            Some(table) => {
                let branches = table.iter().filter(|(key, _)| key.get_ref() != BY);
                branches.flat_map(|(_, value)| self.all_variants(value)).collect()
            }
        }
    }

    /// The chosen value of each option, and whether it is the default.
    pub(super) fn selected_values(&self) -> Vec<(String, String, bool)> {
        let describe = |(name, option): (&&str, &ChosenOption<'_>)| {
            ((*name).to_owned(), option.values[option.place].0.clone(), option.place == 0)
        };
        self.all.iter().map(describe).collect()
    }
}

/// Sets of options by name.
type Sets = BTreeMap<String, Vec<(String, String)>>;

/// How an option is written.
const EXAMPLE: &str = "write a list whose first value is the default: lock = [true, false]";
