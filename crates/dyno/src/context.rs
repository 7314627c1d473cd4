//! Converts options to plan and repository.

use std::path::Path;
use std::sync::Arc;

use dyno_campaign::{CampaignContext, Consent, Error, RunLabels, repository_path};
use dyno_drive::WorkerPoolFactory;
use dyno_plan::{Plan, PlanErrors, PlanFile, PlanSource};
use dyno_record::Repository;

use crate::cli::{AgentAccessArgs, CommonArgs, DEFAULT_PLAN, DriverHostArgs, MarkArgs};
use crate::console::Console;
use crate::engines::ENGINES;
use crate::events::LoggingListener;
use crate::fleet;
use crate::monitoring::TelemetrySinks;
use crate::terminal::Terminal;

/// The plan from the options: the file, then `--set`, then `--target`.
pub(crate) fn plan(common: &CommonArgs) -> Result<Plan, PlanErrors> {
    dyno_plan::read(&PlanSource { file: plan_file(common)?, ..options(common) })
}

/// Options with the embedded engine's default database as the target if they name neither a target nor an
/// existing plan.
pub(crate) fn on_embedded_by_default(common: &CommonArgs) -> CommonArgs {
    let mut common = common.clone();
    let has_plan = common.plan != Path::new(DEFAULT_PLAN) || common.plan.exists();
    let embedded = ENGINES.specs.0.first().filter(|engine| !engine.is_server());
    if let (false, true, Some(engine)) = (has_plan, common.target.is_empty(), embedded) {
        common.target.push(engine.template.to_owned());
    }
    common
}

/// The plan file, if it must exist: with a named target, every other key has a default.
pub(crate) fn plan_file(common: &CommonArgs) -> Result<Option<PlanFile>, PlanErrors> {
    let optional = !common.target.is_empty() && common.plan == Path::new(DEFAULT_PLAN);
    match optional && !common.plan.exists() {
        true => Ok(None),
        false => PlanFile::open(&common.plan).map(Some),
    }
}

/// The options as a source for any plan.
pub(crate) fn options(common: &CommonArgs) -> PlanSource {
    let (target, further_targets) = targets(common);
    PlanSource { sets: common.set.clone(), target, further_targets, ..PlanSource::of(ENGINES.specs) }
}

/// The labels of the runs, with the options that commands after them repeat.
pub(crate) fn labels(common: &CommonArgs, marks: &MarkArgs) -> RunLabels {
    RunLabels { options: repeated_options(common), ..marks.into() }
}

/// The plan, targets, settings and repository in the options, as words of a command line. What the environment
/// names needs no repetition.
pub(crate) fn repeated_options(common: &CommonArgs) -> Vec<String> {
    let is_named = |path: &Path, variable: &str| std::env::var_os(variable).is_none_or(|value| value != path);
    let plan = Some(&common.plan)
        .filter(|plan| plan.as_path() != Path::new(DEFAULT_PLAN) && is_named(plan, "DYNO_PLAN"));
    let repository = common.repository.as_ref().filter(|path| is_named(path, "DYNO_REPOSITORY"));
    let path = |path: &std::path::PathBuf| path.display().to_string();
    let mut pairs: Vec<(&str, String)> = plan.map(|plan| ("--plan", path(plan))).into_iter().collect();
    // A URL with a password is refused when the plan is read, before there is a record.
    pairs.extend(common.target.iter().map(|url| ("--target", url.clone())));
    let sets = common.set.iter().filter(|set| !set.starts_with("hooks."));
    pairs.extend(sets.map(|set| ("--set", set.clone())));
    pairs.extend(repository.map(|repository| ("--repository", path(repository))));
    pairs.into_iter().flat_map(|(option, value)| [option.to_owned(), value]).collect()
}

/// The target URLs in the options: the first, and further ones.
pub(crate) fn targets(common: &CommonArgs) -> (Option<String>, Vec<String>) {
    let mut urls = common.target.iter().cloned();
    (urls.next(), urls.collect())
}

/// The result of `work`, run with this terminal as its front end.
pub(crate) fn run_campaign<T>(
    common: &CommonArgs,
    marks: &MarkArgs,
    talk: &Console,
    work: impl FnOnce(&CampaignContext<'_>) -> Result<T, Error>,
) -> anyhow::Result<T> {
    run_campaign_at(
        &Terminal::new(talk, TelemetrySinks::start(common, talk)?),
        common,
        (marks, None),
        None,
        work,
    )
}

/// Like [`run_campaign`] for a command with options for agents that observe hosts.
pub(crate) fn run_campaign_with_agents<T>(
    common: &CommonArgs,
    (marks, met): (&MarkArgs, &AgentAccessArgs),
    talk: &Console,
    work: impl FnOnce(&CampaignContext<'_>) -> Result<T, Error>,
) -> anyhow::Result<T> {
    run_campaign_at(
        &Terminal::new(talk, TelemetrySinks::start(common, talk)?),
        common,
        (marks, Some(met)),
        None,
        work,
    )
}

/// Like [`run_campaign`] for a `command` with a full screen, if the terminal supports it; other `hosts` may drive its
/// sessions.
pub(crate) fn run_campaign_on_screen<T>(
    command: &'static str,
    common: &CommonArgs,
    (marks, hosts): (&MarkArgs, Option<&DriverHostArgs>),
    talk: &Console,
    work: impl FnOnce(&CampaignContext<'_>) -> Result<T, Error>,
) -> anyhow::Result<T> {
    let fleet = hosts.map(|hosts| fleet::gathered(hosts, command, talk)).transpose()?.flatten();
    let met = hosts.map(|hosts| &hosts.met);
    let terminal = Terminal::on_screen(talk, TelemetrySinks::start(common, talk)?, command);
    run_campaign_at(&terminal, common, (marks, met), fleet, work)
}

fn run_campaign_at<T>(
    terminal: &Terminal<'_>,
    common: &CommonArgs,
    (marks, met): (&MarkArgs, Option<&AgentAccessArgs>),
    fleet: Option<Arc<dyn WorkerPoolFactory>>,
    work: impl FnOnce(&CampaignContext<'_>) -> Result<T, Error>,
) -> anyhow::Result<T> {
    let cli_hooks =
        common.set.iter().filter_map(|set| Some(set.strip_prefix("hooks.")?.split_once('=')?.0.to_owned()));
    let ctx = CampaignContext {
        engines: ENGINES,
        repository: common.repository.clone(),
        marks: labels(common, marks),
        consent: Consent { own: cli_hooks.collect(), all: common.allow_hooks, writes: common.allow_writes },
        cancel: terminal.cancel.clone(),
        steer: terminal.steer.clone(),
        fleet,
        agents: fleet::agents(met),
        listener: terminal,
    };
    let Some(log) = terminal.events() else { return terminal.outcome(work(&ctx)) };
    log.set_steer(&terminal.steer);
    let listener = &LoggingListener { log, listener: terminal };
    terminal.outcome(work(&CampaignContext { listener, ..ctx }))
}

/// Opens the repository and creates it if missing.
pub(crate) fn repository(common: &CommonArgs) -> Result<Repository, Error> {
    Ok(Repository::open(&repository_path(common.repository.as_deref())?)?)
}

/// Opens the repository for reading only.
pub(crate) fn repository_to_read(common: &CommonArgs) -> Result<Repository, Error> {
    Ok(Repository::open_read_only(&repository_path(common.repository.as_deref())?)?)
}
