//! Finds the platforms that a user names: measured suites, or published values of a document.

use dyno_analyze::conclusion::suite::SuiteResult;
use dyno_analyze::reference::{REFERENCES, reference};
use dyno_analyze::scorecard::ScorecardPlatform;
use dyno_analyze::{Conclusion, SuiteRerun, conclusion::ConclusionFigures};
use dyno_plan::{Engines, TargetUrl};
use dyno_record::{Repository, RunRecord, RunState, SweepId, SweepKind};
use serde_json::Value;

use crate::error::Error;

/// Most suites that are searched for an earlier one.
const EARLIER_MAX: usize = 100;

/// Returns the platform of `selector`: `last`, suite names separated by commas, `variant:NAME`, `tag:NAME`,
/// or a platform from a document. `NAME=SELECTOR` gives it another name.
///
/// # Errors
/// There is no such suite, it has no result, or the repository cannot be read.
pub fn platform(
    repository: &Repository,
    selector: &str,
    engines: Engines,
) -> Result<ScorecardPlatform, Error> {
    let (name, selector) = selector.split_once('=').unwrap_or((selector, selector));
    if let Some(known) = reference(selector) {
        let note = format!("measured elsewhere, with other data: {}", known.about);
        let licence =
            engines.0.iter().find(|engine| selector.ends_with(engine.name)).map(|engine| engine.publishing);
        return Ok(ScorecardPlatform {
            name: name.to_owned(),
            suites: vec![known.suite()],
            printed: true,
            plan_settings: Vec::new(),
            notes: std::iter::once(note).chain(licence_note(licence)).collect(),
            again: SuiteRerun::default(),
        });
    }
    let ids = suites(repository, selector)?;
    let mut measured_platform = ScorecardPlatform {
        name: name.strip_prefix("variant:").or(name.strip_prefix("tag:")).unwrap_or(name).to_owned(),
        suites: Vec::new(),
        printed: false,
        plan_settings: Vec::new(),
        notes: Vec::new(),
        again: SuiteRerun::default(),
    };
    for id in &ids {
        let (_, suite) = concluded(repository, id)?;
        measured_platform.again = suite_rerun(repository, id, &suite)?;
        measured_platform.suites.push(suite);
        let request = requested_settings(&repository.sweep_definition(id)?);
        if measured_platform.plan_settings.is_empty() {
            measured_platform.notes = notes(repository, id, engines)?;
            measured_platform.plan_settings = request;
        } else if measured_platform.plan_settings != request {
            measured_platform.notes.push(format!("{id} has other plan settings than {}", ids[0]));
        }
    }
    Ok(measured_platform)
}

/// Returns the suite with this name, or prefix of a name, or `last`, with its conclusion.
///
/// # Errors
/// There is no such suite, it has no result, or the repository cannot be read.
pub fn concluded(repository: &Repository, selector: &str) -> Result<(Conclusion, SuiteResult), Error> {
    let id = match selector {
        "last" => {
            let last = repository.sweeps(Some(SweepKind::Suite), 1)?.into_iter().next().map(|suite| suite.id);
            last.ok_or_else(|| Error::usage("the repository contains no suite", "`dyno suite` runs one"))?
        }
        name => repository.resolve_sweep(name)?,
    };
    let value = repository.conclusion(&id)?;
    let value = value
        .ok_or_else(|| Error::usage(format!("{id} has no result"), "`dyno suite --resume` completes it"))?;
    let conclusion: Conclusion = serde_json::from_value(value).map_err(|error| {
        Error::usage(format!("the result of {id} cannot be read: {error}"), "run it again")
    })?;
    match &conclusion.figures {
        ConclusionFigures::Suite(suite) => {
            let suite = (**suite).clone();
            Ok((conclusion, suite))
        }
        _ => Err(Error::usage(format!("{id} is not a suite"), "`dyno list --sweeps` shows suites")),
    }
}

/// Returns how the suite `id` is run again: its depth, and the variant and options of its runs.
///
/// # Errors
/// The repository cannot be read.
pub fn suite_rerun(repository: &Repository, id: &str, suite: &SuiteResult) -> Result<SuiteRerun, Error> {
    let depth = suite.depth.clone();
    let runs = repository.runs_of_sweep(id)?;
    let Some(run) = runs.iter().find(|run| matches!(run.status, RunState::Valid | RunState::Invalid)) else {
        return Ok(SuiteRerun { depth, ..SuiteRerun::default() });
    };
    Ok(SuiteRerun { depth, variant: run.variant.clone(), options: repository.load(&run.id)?.options })
}

/// Returns the suites with a result that are older than `id` and have its target, the latest first.
///
/// # Errors
/// The repository cannot be read.
pub fn earlier(repository: &Repository, id: &str) -> Result<Vec<(SweepId, SuiteResult)>, Error> {
    let this = repository.sweep_summary(id)?;
    let mut suites = Vec::new();
    for known in repository.sweeps(Some(SweepKind::Suite), EARLIER_MAX)? {
        let is_earlier = known.target == this.target && known.started_at < this.started_at;
        // A result of another version may be unreadable here.
        if is_earlier && let Ok((_, suite)) = concluded(repository, &known.id) {
            suites.push((known.id, suite));
        }
    }
    Ok(suites)
}

/// Product and version of the databases of a suite: `PostgreSQL 16.2`; absent if no run has a record.
///
/// # Errors
/// The repository cannot be read.
pub fn database(repository: &Repository, suite: &str) -> Result<Option<String>, Error> {
    Ok(repository.runs_of_sweep(suite)?.into_iter().find_map(|run| run.database))
}

/// Returns the selected suites, oldest first.
fn suites(repository: &Repository, selector: &str) -> Result<Vec<SweepId>, Error> {
    let marked = |mark: &dyn Fn(&Value) -> bool| -> Result<Vec<SweepId>, Error> {
        let mut ids = Vec::new();
        for suite in repository.sweeps(Some(SweepKind::Suite), usize::MAX)?.into_iter().rev() {
            if mark(&repository.sweep_definition(&suite.id)?["marks"])
                && repository.conclusion(&suite.id)?.is_some()
            {
                ids.push(suite.id);
            }
        }
        Ok(ids)
    };
    let suite_ids = match selector.split_once(':') {
        Some(("variant", variant)) => marked(&|marks| marks["variant"] == variant)?,
        Some(("tag", tag)) => marked(&|marks| {
            marks["tag"].as_array().is_some_and(|tags| tags.iter().any(|known| known == tag))
        })?,
        _ => {
            let names = selector.split(',').map(str::trim).filter(|name| !name.is_empty());
            names.map(|name| Ok(concluded(repository, name)?.0.of)).collect::<Result<_, Error>>()?
        }
    };
    if suite_ids.is_empty() {
        let documents: Vec<&str> = REFERENCES.iter().map(|reference| reference.name).collect();
        return Err(Error::usage(
            format!("{selector:?} does not name a suite with a result"),
            format!(
                "name a suite (last, its name), variant:NAME, or {}; `dyno list --sweeps` shows suites",
                dyno_plan::engine::or(&documents)
            ),
        ));
    }
    Ok(suite_ids)
}

/// The options of a suite: its depth, its times, and its amount of data.
fn requested_settings(definition: &Value) -> Vec<(String, String)> {
    let mut request = Vec::new();
    if let Some(depth) = definition["choice"]["depth"].as_str() {
        request.push(("depth".to_owned(), depth.to_owned()));
    }
    for section in ["data", "run"] {
        let keys = definition["plan"][section].as_object().into_iter().flatten();
        let plain = keys.filter(|(_, value)| !value.is_object() && !value.is_array() && !value.is_null());
        request.extend(plain.map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (format!("{section}.{key}"), text)
        }));
    }
    request
}

/// Notes about the platform: its database, processors and memory, and the publishing rules of its vendor.
fn notes(repository: &Repository, id: &str, engines: Engines) -> Result<Vec<String>, Error> {
    let runs = repository.runs_of_sweep(id)?;
    let Some(run) = runs.iter().find(|run| run.status == RunState::Valid) else { return Ok(Vec::new()) };
    let record = repository.load(&run.id)?;
    let target = repository.sweep_summary(id)?.target;
    let engine = target.parse::<TargetUrl>().ok().and_then(|url| engines.spec_of(&url));
    Ok(facts(&record).into_iter().chain(licence_note(engine.map(|engine| engine.publishing))).collect())
}

fn facts(record: &RunRecord) -> Option<String> {
    let target = record.targets.first()?;
    let host = record.host();
    let database = format!("{} {}", target.identity.product, target.identity.version);
    let machine = format!(
        "{} x {}, {} of memory, {}",
        host.cpus,
        host.cpu_model,
        dyno_analyze::number::bytes(host.memory_bytes),
        host.os
    );
    Some(match target.identity.same_host {
        true => format!("{database} on {} ({machine})", host.name),
        false => format!("{database} on another host, driven from {} ({machine})", host.name),
    })
}

fn licence_note(words: Option<&'static str>) -> Option<String> {
    words.filter(|words| !words.is_empty()).map(str::to_owned)
}
