//! Users' own workloads: read for the engines that there are, and tried on targets without changing anything there.

use std::path::Path;
use std::sync::Arc;

use dyno_engine::{
    MonotonicClock, SessionSetup, Statement, StatementId, Target, TargetError, TargetErrorKind,
};
use dyno_plan::{Commit, Engines, OwnRate, Plan, PlanErrors, Side};
use dyno_record::Identity;
use dyno_workload::own::{Choice, Fault, Own, Part, Rated, SentFolders, is_inside};

use crate::bulk;
use crate::error::Error;
use crate::lead::Lead;
use crate::own_plans;
pub use crate::own_plans::Planned;
use crate::targets::{Reached, Targets};

/// What a target says of a workload's statements.
#[derive(Debug, Clone)]
pub struct Tried {
    /// The target.
    pub url: String,
    /// What it is.
    pub identity: Identity,
    /// How many statements there are.
    pub statements: usize,
    /// Those that it refuses, with its words.
    pub refused: Vec<Fault>,
    /// How it would do each, where that was asked for and it takes all of them.
    pub plans: Vec<Planned>,
}

/// Transactions of all workloads of a run at most.
const CLASSES_MAX: usize = 200;

/// Reads the workload in `folder`, with what is chosen where that is not to be as it says itself.
///
/// # Errors
/// It is none, or has files for an engine that is not among `engines`.
pub fn read(folder: &Path, choice: Choice<'_>, engines: Engines) -> Result<Own, Error> {
    known(Own::read_as(folder, choice).map_err(PlanErrors::from)?, folder, engines)
}

/// `own` as it was read from `folder`, whose files are all for engines that are among `engines`.
fn known(own: Own, folder: &Path, engines: Engines) -> Result<Own, Error> {
    let is_known = |name: &str| engines.0.iter().any(|engine| engine.name == name);
    let stranger = own.engines().find(|name| !is_known(name) && !is_inside(folder));
    let Some(stranger) = stranger.map(str::to_owned) else { return Ok(own) };
    let known: Vec<&str> = engines.0.iter().map(|engine| engine.name).collect();
    let hint = match dyno_plan::similar::closest(&stranger, known.iter().copied()) {
        Some(near) => format!("did you mean {near}? It stands before .sql"),
        None => format!("before .sql stands the name of an engine: {}", known.join(", ")),
    };
    let folder = folder.display();
    Err(Error::usage(format!("{folder}: files are for an engine {stranger:?}, which is not known"), hint))
}

/// `plan` with the rates that transactions of its workloads have of their own, where those are `owns`.
pub(crate) fn settled(mut plan: Plan, owns: &[Arc<Own>]) -> Plan {
    let named = plan.named_sides().count();
    let of = |(workload, own): (usize, &Arc<Own>)| {
        let one = move |rated: &Rated| {
            let Rated { name, rate, sessions } = rated.clone();
            OwnRate { workload, transaction: name, sessions, rate }
        };
        own.rated().iter().map(one).collect::<Vec<_>>()
    };
    if bulk::loads(owns) {
        // A load begins with its first row.
        plan.run.warmup = dyno_plan::Span(std::time::Duration::ZERO);
    }
    plan.workload.own_rates = owns.iter().take(named).enumerate().flat_map(of).collect();
    plan
}

/// The workloads that `plan` names, in the order of its sides, and behind them their transactions with rates of their own, as [`settled`] notes them
/// in the plan; none for the classic method.
pub(crate) fn of(plan: &Plan, engines: Engines) -> Result<Vec<Arc<Own>>, Error> {
    of_plan(plan, &|folder, choice| read(folder, choice, engines))
}

/// The same from the folders that another host has `sent`; none of this host is looked at.
pub(crate) fn of_sent(plan: &Plan, engines: Engines, sent: &SentFolders) -> Result<Vec<Arc<Own>>, Error> {
    of_plan(plan, &|folder, choice| {
        known(Own::read_sent(folder, sent, choice).map_err(PlanErrors::from)?, folder, engines)
    })
}

/// Reads a folder, with what is chosen of it.
type Read<'a> = dyn Fn(&Path, Choice<'_>) -> Result<Own, Error> + 'a;

fn of_plan(plan: &Plan, read: &Read<'_>) -> Result<Vec<Arc<Own>>, Error> {
    let workload = &plan.workload;
    if workload.folder.is_none() {
        let given = [
            ("scale", workload.scale.is_some()),
            ("mix", workload.mix.is_some()),
            ("options", !workload.options.is_empty()),
            ("beside", !workload.beside.is_empty()),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(Vec::new()),
            Some((key, _)) => Err(Error::usage(
                format!("workload.{key} goes with the workload in workload.folder, and there is none"),
                "name the folder too; the classic method has data.scale and its own keys",
            )),
        };
    }
    let mut all: Vec<Arc<Own>> = Vec::new();
    for side in plan.named_sides() {
        let own = read_part(plan, &side, Part::Weighed, read)?;
        let mut alike = all.iter().filter(|other| other.name() == own.name());
        if alike.any(|other| other.tables_digest() != own.tables_digest()) {
            let problem = format!("two workloads are called {}, and their tables differ", own.name());
            return Err(Error::usage(problem, "write another name = \"…\" into the workload.toml of one"));
        }
        let label = label(&own, side.mix, &all);
        all.push(Arc::new(if all.is_empty() { own } else { own.labelled(label) }));
    }
    for (place, side) in plan.named_sides().enumerate() {
        let (label, rated) = (all[place].label().map(str::to_owned), all[place].rated().to_vec());
        for one in rated {
            let own = read_part(plan, &side, Part::Only(&one.name), read)?;
            all.push(Arc::new(match &label {
                Some(label) => own.labelled(label.clone()),
                None => own,
            }));
        }
    }
    bulk::refuse_unfit(plan, &all)?;
    let classes: usize = all.iter().map(|own| own.weights().count()).sum();
    match classes > CLASSES_MAX {
        true => Err(Error::usage(
            format!("the workloads have {classes} transactions together, more than {CLASSES_MAX}"),
            "leave some of them to another run",
        )),
        false => Ok(all),
    }
}

fn read_part(plan: &Plan, side: &Side<'_>, part: Part<'_>, read: &Read<'_>) -> Result<Own, Error> {
    let workload = &plan.workload;
    let is_first = side.folder == workload.folder.as_deref();
    let options = if is_first { &workload.options[..] } else { &[] };
    let choice = Choice { scale: workload.scale, mix: side.mix, options, part };
    read(Path::new(side.folder.unwrap_or_default()), choice)
}

/// What `own` is called beside `others`: its name, with that of its mix or a number where another has it.
fn label(own: &Own, mix: Option<&str>, others: &[Arc<Own>]) -> String {
    let is_free = |name: &str| others.iter().all(|other| other.label().unwrap_or(other.name()) != name);
    let name = own.name();
    let of_mix = mix.map(|mix| format!("{name}_{mix}"));
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(of_mix).chain(numbered);
    names.find(|name| is_free(name)).unwrap_or_default()
}

/// Those of `owns` that have data of their own: one of each name.
pub(crate) fn of_data(owns: &[Arc<Own>]) -> impl DoubleEndedIterator<Item = &Arc<Own>> {
    let is_first =
        |(at, own): &(usize, &Arc<Own>)| owns[..*at].iter().all(|other| other.name() != own.name());
    owns.iter().enumerate().filter(is_first).map(|(_, own)| own)
}

/// Prepares every statement of `own` on the targets of `plan`, and executes none; with `explain`, a seed, asks how each would be done.
///
/// # Errors
/// A target cannot be reached; or the workload has no SQL for it.
pub fn try_statements(
    lead: &Lead<'_>,
    plan: &Plan,
    own: &Arc<Own>,
    explain: Option<u64>,
) -> Result<Vec<Tried>, Error> {
    let targets = Targets::reach(lead, plan)?;
    let mut all = Vec::new();
    for reached in &targets.all {
        let mut tried = tried(reached, own)?;
        if let Some(seed) = explain.filter(|_| tried.refused.is_empty()) {
            tried.plans = own_plans::plans(reached, own, seed)?;
        }
        all.push(tried);
    }
    Ok(all)
}

/// Prepares every statement of `own` on one target.
pub(crate) fn tried(reached: &Reached, own: &Own) -> Result<Tried, Error> {
    let target = reached.target.as_ref();
    let statements = own.statements(target.engine(), target.dialect()).map_err(PlanErrors::from)?;
    let product = &reached.identity.product;
    let refused = reached.named(refused(target, product, own, &statements))?;
    let (url, identity) = (target.url(), reached.identity.clone());
    Ok(Tried { url, identity, statements: statements.len(), refused, plans: Vec::new() })
}

/// Statements that `target` refuses: asked for one by one only where it does not take all of them.
fn refused(
    target: &dyn Target,
    product: &str,
    own: &Own,
    statements: &Arc<[Statement]>,
) -> Result<Vec<Fault>, TargetError> {
    let Some(whole) = prepare(target, Arc::clone(statements))? else { return Ok(Vec::new()) };
    let mut refused = Vec::new();
    for (number, statement) in (0..).zip(statements.iter()) {
        if let Some(error) = prepare(target, [statement.clone()].into())? {
            // What the server says, without what was being done.
            let words = error.source.as_ref().map_or_else(|| error.message.clone(), ToString::to_string);
            let problem = format!("{product} refuses {}: {words}", statement.name);
            let hint = way_out(&error, own, target.engine());
            refused.push(own.fault(target.engine(), StatementId(number), problem, hint));
        }
    }
    match refused.is_empty() {
        // Each alone is taken, and all together are not.
        true => Err(whole),
        false => Ok(refused),
    }
}

fn way_out(error: &TargetError, own: &Own, engine: &str) -> String {
    let makes_tables = !own.tables().is_empty() || own.setup(engine).is_ok_and(|setup| !setup.is_empty());
    match error.kind {
        TargetErrorKind::Data if makes_tables => {
            let load = "set it up there first: dyno load with workload.folder in its plan";
            [load, &error.hint].into_iter().filter(|hint| !hint.is_empty()).collect::<Vec<_>>().join("; or ")
        }
        TargetErrorKind::Data if error.hint.is_empty() => "make the tables there first".to_owned(),
        _ => error.hint.clone(),
    }
}

/// Opens a session with these statements, and closes it; what the database has against them.
///
/// # Errors
/// The target cannot be reached, which is nothing against a statement.
fn prepare(target: &dyn Target, statements: Arc<[Statement]>) -> Result<Option<TargetError>, TargetError> {
    let setup = SessionSetup {
        number: 0,
        statements,
        rehearsal: None,
        commit: Commit::Wait,
        protocol: dyno_plan::Protocol::Prepared,
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
    use dyno_plan::engine::Form;

    use super::*;

    #[test]
    fn a_build_with_one_engine_reads_the_workloads_inside_the_program() {
        const ONE: Engines = Engines(&[EngineSpec::plain("sqlite", Form::Server, "sqlite:x")]);
        for folder in ["@suite/cpu", "@suite/server", "@tpcb"] {
            read(Path::new(folder), Choice::default(), ONE).unwrap();
        }
        let own = tempfile::tempdir().unwrap();
        let texts = [
            ("workload.toml", "name = \"mine\"\n[transaction.ask]\nsql = \"ask.sql\"\n"),
            ("ask.sql", "SELECT 1"),
            ("ask.oracle.sql", "SELECT 1 FROM dual"),
        ];
        texts.iter().for_each(|(name, text)| std::fs::write(own.path().join(name), text).unwrap());
        let refused = read(own.path(), Choice::default(), ONE).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("\"oracle\", which is not known"), "{refused}");
    }
}
