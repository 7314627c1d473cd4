//! Platforms that a user names: the suites that were run on one, or what a document prints of one.

use dyno_analyze::conclusion::suite::Suite;
use dyno_analyze::reference::{REFERENCES, reference};
use dyno_analyze::scorecard::Platform;
use dyno_analyze::{Conclusion, conclusion::Figures};
use dyno_plan::{Engines, TargetUrl};
use dyno_record::{Repository, RunRecord, RunState, SweepId, SweepKind};
use serde_json::Value;

use crate::error::Error;

/// The platform of `selector`: `last`, suites by name with commas between them, `variant:NAME`, `tag:NAME`, or a platform out of a
/// document; `NAME=SELECTOR` calls it so.
///
/// # Errors
/// There is no such suite, it has no result, or the repository cannot be read.
pub fn platform(repository: &Repository, selector: &str, engines: Engines) -> Result<Platform, Error> {
    let (name, selector) = selector.split_once('=').unwrap_or((selector, selector));
    if let Some(known) = reference(selector) {
        let note = format!("not measured here, and with other data: {}", known.about);
        let licence =
            engines.0.iter().find(|engine| selector.ends_with(engine.name)).map(|engine| engine.publishing);
        return Ok(Platform {
            name: name.to_owned(),
            suites: vec![known.suite()],
            printed: true,
            asked: Vec::new(),
            notes: std::iter::once(note).chain(publishing(licence)).collect(),
        });
    }
    let ids = suites(repository, selector)?;
    let mut found = Platform {
        name: name.strip_prefix("variant:").or(name.strip_prefix("tag:")).unwrap_or(name).to_owned(),
        suites: Vec::new(),
        printed: false,
        asked: Vec::new(),
        notes: Vec::new(),
    };
    for id in &ids {
        let (_, suite) = concluded(repository, id)?;
        found.suites.push(suite);
        let asked = asked(&repository.sweep_definition(id)?);
        if found.asked.is_empty() {
            found.notes = notes(repository, id, engines)?;
            found.asked = asked;
        } else if found.asked != asked {
            found.notes.push(format!("{id} was not asked the same as {}", ids[0]));
        }
    }
    Ok(found)
}

/// The suite of this name, the beginning of it, or `last`, and what it came to.
///
/// # Errors
/// There is no such suite, it has no result, or the repository cannot be read.
pub fn concluded(repository: &Repository, selector: &str) -> Result<(Conclusion, Suite), Error> {
    let id = match selector {
        "last" => {
            let last = repository.sweeps(Some(SweepKind::Suite), 1)?.into_iter().next().map(|suite| suite.id);
            last.ok_or_else(|| Error::usage("there is no suite", "`dyno suite` runs one"))?
        }
        name => repository.resolve_sweep(name)?,
    };
    let value = repository.conclusion(&id)?;
    let value =
        value.ok_or_else(|| Error::usage(format!("{id} has no result"), "`dyno suite --resume` ends it"))?;
    let conclusion: Conclusion = serde_json::from_value(value).map_err(|error| {
        Error::usage(format!("the result of {id} cannot be read: {error}"), "run it again")
    })?;
    match &conclusion.figures {
        Figures::Suite(suite) => {
            let suite = (**suite).clone();
            Ok((conclusion, suite))
        }
        _ => Err(Error::usage(format!("{id} is no suite"), "`dyno list --sweeps` shows which are")),
    }
}

/// The suites that are meant, oldest first.
fn suites(repository: &Repository, selector: &str) -> Result<Vec<SweepId>, Error> {
    let marked = |mark: &dyn Fn(&Value) -> bool| -> Result<Vec<SweepId>, Error> {
        let mut found = Vec::new();
        for suite in repository.sweeps(Some(SweepKind::Suite), usize::MAX)?.into_iter().rev() {
            if mark(&repository.sweep_definition(&suite.id)?["marks"])
                && repository.conclusion(&suite.id)?.is_some()
            {
                found.push(suite.id);
            }
        }
        Ok(found)
    };
    let found = match selector.split_once(':') {
        Some(("variant", variant)) => marked(&|marks| marks["variant"] == variant)?,
        Some(("tag", tag)) => marked(&|marks| {
            marks["tag"].as_array().is_some_and(|tags| tags.iter().any(|known| known == tag))
        })?,
        _ => {
            let names = selector.split(',').map(str::trim).filter(|name| !name.is_empty());
            names.map(|name| Ok(concluded(repository, name)?.0.of)).collect::<Result<_, Error>>()?
        }
    };
    if found.is_empty() {
        let documents: Vec<&str> = REFERENCES.iter().map(|reference| reference.name).collect();
        return Err(Error::usage(
            format!("{selector:?} names no suite that has a result"),
            format!(
                "name a suite (last, its name), variant:NAME, or {}; `dyno list --sweeps` shows suites",
                dyno_plan::engine::or(&documents)
            ),
        ));
    }
    Ok(found)
}

/// What a suite was asked for: how deep, how long, and how much data.
fn asked(definition: &Value) -> Vec<(String, String)> {
    let mut asked = Vec::new();
    if let Some(depth) = definition["choice"]["depth"].as_str() {
        asked.push(("depth".to_owned(), depth.to_owned()));
    }
    for section in ["data", "run"] {
        let keys = definition["plan"][section].as_object().into_iter().flatten();
        let plain = keys.filter(|(_, value)| !value.is_object() && !value.is_array() && !value.is_null());
        asked.extend(plain.map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (format!("{section}.{key}"), text)
        }));
    }
    asked
}

/// What stands for the platform: its database, its processors and its memory; and what its maker allows.
fn notes(repository: &Repository, id: &str, engines: Engines) -> Result<Vec<String>, Error> {
    let runs = repository.runs_of_sweep(id)?;
    let Some(run) = runs.iter().find(|run| run.status == RunState::Valid) else { return Ok(Vec::new()) };
    let record = repository.load(&run.id)?;
    let target = repository.sweep_summary(id)?.target;
    let engine = target.parse::<TargetUrl>().ok().and_then(|url| engines.of(&url));
    Ok(facts(&record).into_iter().chain(publishing(engine.map(|engine| engine.publishing))).collect())
}

fn facts(record: &RunRecord) -> Option<String> {
    let target = record.targets.first()?;
    let host = record.host();
    let database = format!("{} {}", target.identity.product, target.identity.version);
    let here = format!(
        "{} x {}, {} of memory, {}",
        host.cpus,
        host.cpu_model,
        dyno_analyze::number::bytes(host.memory_bytes),
        host.os
    );
    Some(match target.identity.same_host {
        true => format!("{database} on {} ({here})", host.name),
        false => format!("{database} on another host, driven from {} ({here})", host.name),
    })
}

fn publishing(words: Option<&'static str>) -> Option<String> {
    words.filter(|words| !words.is_empty()).map(str::to_owned)
}
