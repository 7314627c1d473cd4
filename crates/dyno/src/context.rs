//! From options to plan and repository.

use std::path::Path;
use std::sync::Arc;

use dyno_campaign::{Consent, Error, Lead, repository_path};
use dyno_drive::Muster;
use dyno_plan::{Plan, PlanErrors, PlanFile, PlanSource};
use dyno_record::Repository;

use crate::beside::Beside;
use crate::cli::{Common, DEFAULT_PLAN, Hosts, Marks, Met};
use crate::engines::ENGINES;
use crate::events::Logged;
use crate::fleet;
use crate::talk::Talk;
use crate::terminal::Terminal;

/// The plan that the options name: the file, then `--set`, then `--target`.
pub(crate) fn plan(common: &Common) -> Result<Plan, PlanErrors> {
    dyno_plan::read(&PlanSource { file: plan_file(common)?, ..options(common) })
}

/// The options, with the embedded engine's default database as the target where they name neither a target nor a plan that
/// exists.
pub(crate) fn on_embedded_by_default(common: &Common) -> Common {
    let mut common = common.clone();
    let has_plan = common.plan != Path::new(DEFAULT_PLAN) || common.plan.exists();
    let embedded = ENGINES.specs.0.first().filter(|engine| !engine.is_server());
    if let (false, true, Some(engine)) = (has_plan, common.target.is_empty(), embedded) {
        common.target.push(engine.template.to_owned());
    }
    common
}

/// The plan file, if there has to be one: with a target named, every other key has a default.
pub(crate) fn plan_file(common: &Common) -> Result<Option<PlanFile>, PlanErrors> {
    let optional = !common.target.is_empty() && common.plan == Path::new(DEFAULT_PLAN);
    match optional && !common.plan.exists() {
        true => Ok(None),
        false => PlanFile::open(&common.plan).map(Some),
    }
}

/// What the options say of any plan.
pub(crate) fn options(common: &Common) -> PlanSource {
    let (target, further_targets) = targets(common);
    PlanSource { sets: common.set.clone(), target, further_targets, ..PlanSource::of(ENGINES.specs) }
}

/// The URLs of the options: the first, and further ones.
pub(crate) fn targets(common: &Common) -> (Option<String>, Vec<String>) {
    let mut urls = common.target.iter().cloned();
    (urls.next(), urls.collect())
}

/// What comes of `work`, which this terminal leads.
pub(crate) fn led<T>(
    common: &Common,
    marks: &Marks,
    talk: &Talk,
    work: impl FnOnce(&Lead<'_>) -> Result<T, Error>,
) -> anyhow::Result<T> {
    led_by(&Terminal::new(talk, Beside::start(common, talk)?), common, (marks, None), None, work)
}

/// The same of a command with options for where agents are met that look at machines.
pub(crate) fn led_looking<T>(
    common: &Common,
    (marks, met): (&Marks, &Met),
    talk: &Talk,
    work: impl FnOnce(&Lead<'_>) -> Result<T, Error>,
) -> anyhow::Result<T> {
    led_by(&Terminal::new(talk, Beside::start(common, talk)?), common, (marks, Some(met)), None, work)
}

/// The same of a `command` that has a full screen, where there is a terminal for it; its sessions may be done on other `hosts`.
pub(crate) fn led_on_screen<T>(
    command: &'static str,
    common: &Common,
    (marks, hosts): (&Marks, Option<&Hosts>),
    talk: &Talk,
    work: impl FnOnce(&Lead<'_>) -> Result<T, Error>,
) -> anyhow::Result<T> {
    let fleet = hosts.map(|hosts| fleet::gathered(hosts, command, talk)).transpose()?.flatten();
    let met = hosts.map(|hosts| &hosts.met);
    let terminal = Terminal::on_screen(talk, Beside::start(common, talk)?, command);
    led_by(&terminal, common, (marks, met), fleet, work)
}

fn led_by<T>(
    terminal: &Terminal<'_>,
    common: &Common,
    (marks, met): (&Marks, Option<&Met>),
    fleet: Option<Arc<dyn Muster>>,
    work: impl FnOnce(&Lead<'_>) -> Result<T, Error>,
) -> anyhow::Result<T> {
    let own =
        common.set.iter().filter_map(|set| Some(set.strip_prefix("hooks.")?.split_once('=')?.0.to_owned()));
    let lead = Lead {
        engines: ENGINES,
        repository: common.repository.clone(),
        marks: marks.into(),
        consent: Consent { own: own.collect(), all: common.allow_hooks, writes: common.allow_writes },
        cancel: terminal.cancel.clone(),
        steer: terminal.steer.clone(),
        fleet,
        agents: fleet::agents(met),
        listener: terminal,
    };
    let Some(log) = terminal.events() else { return terminal.outcome(work(&lead)) };
    log.obey(&terminal.steer);
    let listener = &Logged { log, listener: terminal };
    terminal.outcome(work(&Lead { listener, ..lead }))
}

/// The repository, made if it is not there.
pub(crate) fn repository(common: &Common) -> Result<Repository, Error> {
    Ok(Repository::open(&repository_path(common.repository.as_deref())?)?)
}

/// The repository for reading.
pub(crate) fn repository_to_read(common: &Common) -> Result<Repository, Error> {
    Ok(Repository::open_read_only(&repository_path(common.repository.as_deref())?)?)
}
