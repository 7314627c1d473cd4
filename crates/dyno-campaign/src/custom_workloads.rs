//! Reads custom workloads for the available engines, and checks their statements on targets without changing
//! data.

use std::path::Path;
use std::sync::Arc;

use dyno_engine::{
    MonotonicClock, SessionSetup, Statement, StatementId, Target, TargetError, TargetErrorKind,
};
use dyno_plan::{Commit, Engines, OwnRate, Plan, PlanErrors, WorkloadShare};
use dyno_record::Identity;
use dyno_workload::custom::{
    CustomWorkload, RatedTransaction, SentFolders, TransactionFilter, WorkloadChoice, WorkloadError,
    is_inside,
};

use crate::bulk;
use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::statement_plans;
pub use crate::statement_plans::StatementPlan;
use crate::targets::{ReachedTarget, ReachedTargets};

/// Whether a target accepts a workload's statements.
#[derive(Debug, Clone)]
pub struct StatementCheckReport {
    pub url: String,
    /// Product and version of the target.
    pub identity: Identity,
    /// Number of statements in the workload.
    pub statements: usize,
    /// The statements that the target refuses, with its messages.
    pub refused: Vec<WorkloadError>,
    /// The execution plan of each statement; empty unless requested and all statements are accepted.
    pub plans: Vec<StatementPlan>,
}

/// Maximum number of transaction classes in all workloads of a run.
const CLASSES_MAX: usize = 200;

/// Reads the workload in `folder`; `choice` overrides its own options and mix.
///
/// # Errors
/// The folder is not a workload, or has files for an engine that is not among `engines`.
pub fn read(folder: &Path, choice: WorkloadChoice<'_>, engines: Engines) -> Result<CustomWorkload, Error> {
    require_known_engines(CustomWorkload::read_as(folder, choice).map_err(PlanErrors::from)?, folder, engines)
}

/// Returns `workload`, read from `folder`, if its files are only for engines among `engines`.
fn require_known_engines(
    workload: CustomWorkload,
    folder: &Path,
    engines: Engines,
) -> Result<CustomWorkload, Error> {
    let is_known = |name: &str| engines.0.iter().any(|engine| engine.name == name);
    let stranger = workload.engines().find(|name| !is_known(name) && !is_inside(folder));
    let Some(stranger) = stranger.map(str::to_owned) else { return Ok(workload) };
    let engine_names: Vec<&str> = engines.0.iter().map(|engine| engine.name).collect();
    let hint = match dyno_plan::similar::closest(&stranger, engine_names.iter().copied()) {
        Some(near) => format!("did you mean {near}? The name of the engine precedes .sql"),
        None => format!("the name of an engine precedes .sql: {}", engine_names.join(", ")),
    };
    let folder = folder.display();
    Err(Error::usage(format!("{folder}: files for the unknown engine {stranger:?}"), hint))
}

/// Returns `plan` with the rates that transactions of `workloads` declare for themselves.
pub(crate) fn apply_workload_rates(mut plan: Plan, workloads: &[Arc<CustomWorkload>]) -> Plan {
    let named = plan.named_shares().count();
    let rates_of_workload = |(workload, custom_workload): (usize, &Arc<CustomWorkload>)| {
        let rate_of = move |rated: &RatedTransaction| {
            let RatedTransaction { name, rate, sessions } = rated.clone();
            OwnRate { workload, transaction: name, sessions, rate }
        };
        custom_workload.rated().iter().map(rate_of).collect::<Vec<_>>()
    };
    if bulk::has_bulk_load(workloads) {
        // A load is measured from its first row.
        plan.run.warmup = dyno_plan::TimeSpan(std::time::Duration::ZERO);
    }
    plan.workload.own_rates = workloads.iter().take(named).enumerate().flat_map(rates_of_workload).collect();
    plan
}

/// Reads the workloads that `plan` names, in the order of its sides. Transactions with rates of their own
/// follow, as [`apply_workload_rates`] adds them to the plan. Empty for the block workload.
pub(crate) fn read_workloads(plan: &Plan, engines: Engines) -> Result<Vec<Arc<CustomWorkload>>, Error> {
    read_plan_workloads(plan, &|folder, choice| read(folder, choice, engines))
}

/// Like [`read_workloads`], from the folders that another host has `sent`; folders of this host are not read.
pub(crate) fn read_sent_workloads(
    plan: &Plan,
    engines: Engines,
    sent: &SentFolders,
) -> Result<Vec<Arc<CustomWorkload>>, Error> {
    read_plan_workloads(plan, &|folder, choice| {
        require_known_engines(
            CustomWorkload::read_sent(folder, sent, choice).map_err(PlanErrors::from)?,
            folder,
            engines,
        )
    })
}

/// Reads a folder with the chosen options and mix.
type WorkloadReader<'a> = dyn Fn(&Path, WorkloadChoice<'_>) -> Result<CustomWorkload, Error> + 'a;

fn read_plan_workloads(plan: &Plan, read: &WorkloadReader<'_>) -> Result<Vec<Arc<CustomWorkload>>, Error> {
    let workload = &plan.workload;
    if workload.folder.is_none() {
        let workload_keys = [
            ("scale", workload.scale.is_some()),
            ("mix", workload.mix.is_some()),
            ("options", !workload.options.is_empty()),
            ("beside", !workload.beside.is_empty()),
        ];
        return match workload_keys.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(Vec::new()),
            Some((key, _)) => Err(Error::usage(
                format!("workload.{key} requires workload.folder, which is not set"),
                "set workload.folder; the block workload has data.scale and keys of its own",
            )),
        };
    }
    let mut all: Vec<Arc<CustomWorkload>> = Vec::new();
    for side in plan.named_shares() {
        let custom = read_part(plan, &side, TransactionFilter::Weighed, read)?;
        let mut alike = all.iter().filter(|other| other.name() == custom.name());
        if alike.any(|other| other.tables_digest() != custom.tables_digest()) {
            let problem = format!("two workloads are named {}, and their tables differ", custom.name());
            return Err(Error::usage(problem, "change name = \"…\" in one workload.toml"));
        }
        let label = label(&custom, side.mix, &all);
        all.push(Arc::new(if all.is_empty() { custom } else { custom.labelled(label) }));
    }
    for (place, side) in plan.named_shares().enumerate() {
        let (label, rated) = (all[place].label().map(str::to_owned), all[place].rated().to_vec());
        for rated_transaction in rated {
            let part_workload =
                read_part(plan, &side, TransactionFilter::Only(&rated_transaction.name), read)?;
            all.push(Arc::new(match &label {
                Some(label) => part_workload.labelled(label.clone()),
                None => part_workload,
            }));
        }
    }
    bulk::refuse_unfit(plan, &all)?;
    let classes: usize = all.iter().map(|custom_workload| custom_workload.weights().count()).sum();
    match classes > CLASSES_MAX {
        true => Err(Error::usage(
            format!("the workloads have {classes} transactions in total, more than {CLASSES_MAX}"),
            "move some of them to another run",
        )),
        false => Ok(all),
    }
}

fn read_part(
    plan: &Plan,
    side: &WorkloadShare<'_>,
    part: TransactionFilter<'_>,
    read: &WorkloadReader<'_>,
) -> Result<CustomWorkload, Error> {
    let workload = &plan.workload;
    let is_first = side.folder == workload.folder.as_deref();
    let options = if is_first { &workload.options[..] } else { &[] };
    let choice = WorkloadChoice { scale: workload.scale, mix: side.mix, options, part };
    read(Path::new(side.folder.unwrap_or_default()), choice)
}

/// The name of `workload` next to `existing`: its own name, followed by its mix or a number if another has
/// the same.
fn label(workload: &CustomWorkload, mix: Option<&str>, existing: &[Arc<CustomWorkload>]) -> String {
    let is_free = |name: &str| existing.iter().all(|other| other.label().unwrap_or(other.name()) != name);
    let name = workload.name();
    let of_mix = mix.map(|mix| format!("{name}_{mix}"));
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(of_mix).chain(numbered);
    names.find(|name| is_free(name)).unwrap_or_default()
}

/// Returns the workloads with data of their own: one for each name.
pub(crate) fn distinct_workloads(
    workloads: &[Arc<CustomWorkload>],
) -> impl DoubleEndedIterator<Item = &Arc<CustomWorkload>> {
    let is_first = |(at, workload): &(usize, &Arc<CustomWorkload>)| {
        workloads[..*at].iter().all(|other| other.name() != workload.name())
    };
    workloads.iter().enumerate().filter(is_first).map(|(_, custom_workload)| custom_workload)
}

/// Prepares every statement of `workload` on the targets of `plan`, and executes none. With the seed
/// `explain`, it also requests the execution plans.
///
/// # Errors
/// A target cannot be reached, or the workload has no SQL for it.
pub fn try_statements(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    workload: &Arc<CustomWorkload>,
    explain: Option<u64>,
) -> Result<Vec<StatementCheckReport>, Error> {
    let targets = ReachedTargets::reach(ctx, plan)?;
    let mut all = Vec::new();
    for reached in &targets.all {
        let mut tried = check_statements_on(reached, workload)?;
        if let Some(seed) = explain.filter(|_| tried.refused.is_empty()) {
            tried.plans = statement_plans::explain_statements(reached, workload, seed)?;
        }
        all.push(tried);
    }
    Ok(all)
}

/// Prepares every statement of `workload` on one target.
pub(crate) fn check_statements_on(
    reached: &ReachedTarget,
    workload: &CustomWorkload,
) -> Result<StatementCheckReport, Error> {
    let target = reached.target.as_ref();
    let statements = workload.statements(target.engine(), target.dialect()).map_err(PlanErrors::from)?;
    let product = &reached.identity.product;
    let refused = reached.named(refused_statements(target, product, workload, &statements))?;
    let (url, identity) = (target.url(), reached.identity.clone());
    Ok(StatementCheckReport { url, identity, statements: statements.len(), refused, plans: Vec::new() })
}

/// Returns the statements that `target` refuses. They are prepared one by one only if preparing all together
/// fails.
fn refused_statements(
    target: &dyn Target,
    product: &str,
    workload: &CustomWorkload,
    statements: &Arc<[Statement]>,
) -> Result<Vec<WorkloadError>, TargetError> {
    let Some(whole) = prepare(target, Arc::clone(statements))? else { return Ok(Vec::new()) };
    let mut refused = Vec::new();
    for (number, statement) in (0..).zip(statements.iter()) {
        if let Some(error) = prepare(target, [statement.clone()].into())? {
            // Only the server's message, without the description of the action.
            let words = error.source.as_ref().map_or_else(|| error.message.clone(), ToString::to_string);
            let problem = format!("{product} refuses {}: {words}", statement.name);
            let hint = refusal_hint(&error, workload, target.engine());
            refused.push(workload.fault(target.engine(), StatementId(number), problem, hint));
        }
    }
    match refused.is_empty() {
        // Each statement alone is accepted, but not all together.
        true => Err(whole),
        false => Ok(refused),
    }
}

/// The hint where the tables of a workload are missing.
pub(crate) const LOAD_FIRST: &str = "set up the workload on the target first: `dyno load`";

fn refusal_hint(error: &TargetError, custom_workload: &CustomWorkload, engine: &str) -> String {
    let makes_tables = !custom_workload.tables().is_empty()
        || custom_workload.setup(engine).is_ok_and(|setup| !setup.is_empty());
    match error.kind {
        TargetErrorKind::Data if makes_tables => [LOAD_FIRST, &error.hint]
            .into_iter()
            .filter(|hint| !hint.is_empty())
            .collect::<Vec<_>>()
            .join("; or "),
        TargetErrorKind::Data if error.hint.is_empty() => "create the tables on the target first".to_owned(),
        _ => error.hint.clone(),
    }
}

/// Opens a session with these statements and closes it; returns the database's error if it refuses them.
///
/// # Errors
/// The target cannot be reached, which says nothing about the statements.
fn prepare(target: &dyn Target, statements: Arc<[Statement]>) -> Result<Option<TargetError>, TargetError> {
    let setup = SessionSetup {
        number: 0,
        statements,
        rehearsal: None,
        commit: Commit::Wait,
        protocol: dyno_plan::StatementProtocol::Prepared,
        connect: dyno_plan::Connect::Session,
        blocks: None,
        bulk: None,
        read_only: false,
        slices: false,
        clock: Arc::new(MonotonicClock::default()),
    };
    match target.session(&setup) {
        Ok(session) => {
            session.close();
            Ok(None)
        }
        Err(error) => match error.kind {
            TargetErrorKind::Data
            | TargetErrorKind::Database
            | TargetErrorKind::Privilege
            | TargetErrorKind::Unsupported => Ok(Some(error)),
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use dyno_plan::EngineSpec;
    use dyno_plan::engine::UrlForm;

    use super::*;

    #[test]
    fn single_engine_build_reads_builtin_workloads() {
        const ONE: Engines = Engines(&[EngineSpec::plain("sqlite", UrlForm::Server, "sqlite:x")]);
        for folder in ["@suite/cpu", "@suite/server", "@tpcb"] {
            read(Path::new(folder), WorkloadChoice::default(), ONE).unwrap();
        }
        let workload_folder = tempfile::tempdir().unwrap();
        let texts = [
            ("workload.toml", "name = \"mine\"\n[transaction.ask]\nsql = \"ask.sql\"\n"),
            ("ask.sql", "SELECT 1"),
            ("ask.oracle.sql", "SELECT 1 FROM dual"),
        ];
        texts
            .iter()
            .for_each(|(name, text)| std::fs::write(workload_folder.path().join(name), text).unwrap());
        let refused = read(workload_folder.path(), WorkloadChoice::default(), ONE).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("unknown engine \"oracle\""), "{refused}");
    }
}
