//! `[option]`: what a workload leaves to whoever runs it, and `{ by = … }` values that go by what was chosen.
//!
//! An option is a list of values of which the first is taken where nothing is said. Anywhere else in `workload.toml` a value may be
//! `{ by = "option", value = …, other = … }`: what stands under the value that was chosen; or `{ by = "option" }`, that value itself.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Fault, File};
use super::names::{NAME, is_name, meant, shown};

/// The section of options, that of sets of them, and the key of what goes by one.
const OPTION: &str = "option";
const LIKE: &str = "like";
const BY: &str = "by";

/// Options of a workload, and values of one, at most.
const OPTIONS_MAX: usize = 50;
const VALUES_MAX: usize = 50;

/// What was chosen of each option.
#[derive(Debug, Clone, Default)]
pub(super) struct Options<'a> {
    all: BTreeMap<&'a str, Chosen<'a>>,
}

#[derive(Debug, Clone)]
struct Chosen<'a> {
    /// All values with their words.
    values: Vec<(String, &'a Spanned<DeValue<'a>>)>,
    place: usize,
}

/// The words of a value, if it may be one of an option.
fn words(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}

impl<'a> Options<'a> {
    /// The options of the file, with what was `asked` for: `name=value`, and `like=NAME` for a whole set.
    ///
    /// # Errors
    /// An option is wrong, or there is none of a name or a value that was asked for.
    pub(super) fn read(file: &File, top: &'a DeTable<'a>, asked: &[String]) -> Result<Self, Fault> {
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
                    return Err(fault("no name for an option", NAME));
                }
                let list = value.get_ref().as_array().filter(|list| (1..=VALUES_MAX).contains(&list.len()));
                let list = list.ok_or_else(|| fault("not a list of values", EXAMPLE))?;
                let one = |value: &'a Spanned<DeValue<'a>>| Some((words(value.get_ref())?, value));
                let values: Option<Vec<_>> = list.iter().map(one).collect();
                let values =
                    values.ok_or_else(|| fault("a value that is no text, number or flag", EXAMPLE))?;
                options.all.insert(name, Chosen { values, place: 0 });
            }
            if options.all.len() > OPTIONS_MAX {
                return Err(file.fault(at, format!("more than {OPTIONS_MAX} options"), "leave some out"));
            }
        }
        let sets = options.sets(file, section(LIKE))?;
        options.choose(file, &sets, asked)?;
        options.check(file, top)?;
        Ok(options)
    }

    /// The sets of `[like]`: the options of each with their values.
    fn sets(&self, file: &File, section: Option<(usize, &'a DeValue<'a>)>) -> Result<Sets, Fault> {
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

    /// Where `value` is among those of the option `name`.
    fn place(&self, name: &str, value: &str) -> Result<usize, (String, String)> {
        let Some(option) = self.all.get(name) else {
            let hint = meant(name, self.all.keys().copied());
            return Err((format!("there is no option {}", shown(name)), hint));
        };
        option.values.iter().position(|(known, _)| known == value).ok_or_else(|| {
            let known: Vec<&str> = option.values.iter().map(|(known, _)| known.as_str()).collect();
            let problem = format!("{} is no value of the option {}", shown(value), shown(name));
            (problem, format!("write one of {}", known.join(", ")))
        })
    }

    /// Takes what was asked for; a set is taken first, so that single options go before it wherever they stand.
    fn choose(&mut self, file: &File, sets: &Sets, asked: &[String]) -> Result<(), Fault> {
        let fault = |problem: String, hint: String| Fault::whole(file.name.clone(), problem, hint);
        let mut single = Vec::new();
        for one in asked {
            let Some((name, value)) = one.split_once('=').map(|(name, value)| (name.trim(), value.trim()))
            else {
                return Err(fault(
                    format!("{} is no option with its value", shown(one)),
                    "write NAME=VALUE".into(),
                ));
            };
            if name != LIKE {
                single.push((name.to_owned(), value.to_owned()));
                continue;
            }
            let Some(set) = sets.get(value) else {
                let hint = meant(value, sets.keys().map(String::as_str));
                return Err(fault(format!("there is no set of options {}", shown(value)), hint));
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

    /// Refuses what goes by an option that is not there, or says nothing of a value that could be chosen.
    fn check(&self, file: &File, table: &DeTable<'_>) -> Result<(), Fault> {
        table.values().try_for_each(|value| self.check_value(file, value))
    }

    fn check_value(&self, file: &File, value: &Spanned<DeValue<'_>>) -> Result<(), Fault> {
        let at = value.span().start;
        match value.get_ref() {
            DeValue::Array(list) => list.iter().try_for_each(|value| self.check_value(file, value)),
            DeValue::Table(table) => {
                if let Some(name) = table.get(BY).and_then(|by| by.get_ref().as_str()) {
                    let Some(option) = self.all.get(name) else {
                        let hint = meant(name, self.all.keys().copied());
                        return Err(file.fault(at, format!("by: there is no option {}", shown(name)), hint));
                    };
                    let is_known = |key: &str| option.values.iter().any(|(known, _)| known == key);
                    let mut keys = table.keys().map(|key| key.get_ref().as_ref()).filter(|key| *key != BY);
                    if let Some(stranger) = keys.find(|key| !is_known(key)) {
                        let hint = meant(stranger, option.values.iter().map(|(known, _)| known.as_str()));
                        let problem = format!("{} is no value of the option {name}", shown(stranger));
                        return Err(file.fault(at, problem, hint));
                    }
                    let missing = option.values.iter().find(|(value, _)| table.get(value.as_str()).is_none());
                    if let Some((missing, _)) = missing.filter(|_| table.len() > 1) {
                        let problem = format!("it says nothing for {name} = {}", shown(missing));
                        return Err(file.fault(at, problem, "write what it is then"));
                    }
                }
                self.check(file, table)
            }
            _ => Ok(()),
        }
    }

    /// What `value` is with what was chosen.
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

    /// What `value` is with any value of the options.
    pub(super) fn any(&self, value: &'a Spanned<DeValue<'a>>) -> Vec<&'a Spanned<DeValue<'a>>> {
        let by =
            value.get_ref().as_table().filter(|table| table.get(BY).is_some_and(|by| by.get_ref().is_str()));
        match by.filter(|table| table.len() > 1) {
            None => vec![self.resolve(value)],
            Some(table) => {
                let others = table.iter().filter(|(key, _)| key.get_ref() != BY);
                others.flat_map(|(_, value)| self.any(value)).collect()
            }
        }
    }

    /// What was chosen of each, and whether that is what is taken where nothing is said.
    pub(super) fn chosen(&self) -> Vec<(String, String, bool)> {
        let one = |(name, option): (&&str, &Chosen<'_>)| {
            ((*name).to_owned(), option.values[option.place].0.clone(), option.place == 0)
        };
        self.all.iter().map(one).collect()
    }
}

/// Sets of options by their names.
type Sets = BTreeMap<String, Vec<(String, String)>>;

/// How an option is written.
const EXAMPLE: &str = "write a list whose first value is taken where nothing is said: lock = [true, false]";
