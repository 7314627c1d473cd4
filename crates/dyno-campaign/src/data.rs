//! From options to plan, target, password and repository.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use dyno_engine::data::mix;
use dyno_engine::{
    Cancel, Claim, DataState, Holder, Lock, OpenOptions, Secret, Target, TargetError, TargetErrorKind,
    patience,
};
use dyno_plan::{DataSpec, Plan, PlanFile, PlanSource, TargetUrl};
use dyno_record::{Identity, Repository};

use crate::cli::{Common, DEFAULT_PLAN};
use crate::engines::ENGINES;
use crate::exit::usage;
use crate::talk::Talk;

/// The plan that the options name: the file, then `--set`, then `--target`.
pub(crate) fn plan(common: &Common) -> anyhow::Result<Plan> {
    // With a target named, every other key has a default, so the file where nobody named one need not be there.
    let optional = !common.target.is_empty() && common.plan == Path::new(DEFAULT_PLAN);
    let file = match optional && !common.plan.exists() {
        true => None,
        false => Some(PlanFile::open(&common.plan)?),
    };
    let (target, further_targets) = targets(common);
    let source = PlanSource { file, sets: common.set.clone(), target, further_targets };
    Ok(dyno_plan::read(&source)?)
}

/// Tells wrong options to a command that needs no plan, and would else take no notice of them.
pub(crate) fn check_options(common: &Common) -> anyhow::Result<()> {
    let (target, further_targets) = targets(common);
    let source = PlanSource { file: None, sets: common.set.clone(), target, further_targets };
    Ok(dyno_plan::check_options(&source)?)
}

/// The URLs of the options: the first, and further ones.
pub(crate) fn targets(common: &Common) -> (Option<String>, Vec<String>) {
    let mut urls = common.target.iter().cloned();
    (urls.next(), urls.collect())
}

/// One target of `plan`, reached once: asks for a password at the terminal if one is needed and none was given.
pub(crate) fn reach(
    plan: &Plan,
    url: &TargetUrl,
    talk: &Talk,
) -> anyhow::Result<(Arc<dyn Target>, Identity)> {
    let target = open(plan, url, given_password(plan)?)?;
    match identify(&target, &Cancel::default()) {
        Err(error) if error.kind == TargetErrorKind::PasswordNeeded && may_ask() => {
            talk.detail("the server asks for a password");
            let password =
                rpassword::prompt_password(dyno_report::text::talk(&format!("password for {url}: ")))
                    .context("the password could not be read")?;
            let target = open(plan, url, Some(Secret::new(password)))?;
            let identity = identify(&target, &Cancel::default())?;
            Ok((target, identity))
        }
        outcome => Ok((Arc::clone(&target), outcome?)),
    }
}

fn may_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn open(plan: &Plan, url: &TargetUrl, password: Option<Secret>) -> Result<Arc<dyn Target>, TargetError> {
    let options = OpenOptions { password, connect_timeout: plan.target.connect_timeout.0 };
    Ok(Arc::from(match &plan.target.observe_url {
        Some(observe) => ENGINES.open_through(url, observe, &options)?,
        None => ENGINES.open(url, &options)?,
    }))
}

/// What `plan` claims of the servers of its targets.
pub(crate) fn claim(plan: &Plan) -> Claim {
    if plan.target.shared { Claim::Shared } else { Claim::Alone }
}

/// Keeps other Dynos off the target while this command works as `holder`, and off its server as `claim` says; says so where
/// that cannot be.
pub(crate) fn lock(
    target: &dyn Target,
    holder: &Holder,
    claim: Claim,
    talk: &Talk,
) -> Result<Lock, TargetError> {
    let lock = target.lock(holder, claim)?;
    match lock.caveat() {
        Some(caveat) => talk.say(&format!("warning: {caveat}")),
        None => talk.detail("the target is locked against other dynos"),
    }
    Ok(lock)
}

/// The password that the plan says where to find.
fn given_password(plan: &Plan) -> anyhow::Result<Option<Secret>> {
    if let Some(name) = &plan.target.password_env {
        let value = std::env::var(name).map_err(|_| {
            usage(
                format!("the environment variable {name} (target.password_env) is not set"),
                format!("export {name}, or take target.password_env out of the plan"),
            )
        })?;
        return Ok(Some(Secret::new(value)));
    }
    if let Some(path) = &plan.target.password_file {
        let text = std::fs::read_to_string(path).map_err(|error| {
            usage(format!("the password file {path} (target.password_file) cannot be read: {error}"), "")
        })?;
        let line = text.lines().next().unwrap_or_default();
        return Ok(Some(Secret::new(line.to_owned())));
    }
    Ok(None)
}

/// The data that the plan asks for on this target.
pub(crate) fn spec(plan: &Plan, target: &Arc<dyn Target>) -> anyhow::Result<DataSpec> {
    let block_size = target.block_size(plan.data.block_size)?;
    let mut spec = DataSpec::resolve(&plan.data, block_size);
    // Engines that do not look up by it yet load none.
    spec.secondary &= target.extras().secondary;
    spec.validate(&plan.data, &plan.workload)?;
    // Data of an older version is what it was; it is good for every plan that does not need what came later.
    match survey(target) {
        Ok(DataState::Loaded { spec: there, .. } | DataState::Partial { spec: there, .. })
            if there.serves(&spec, &plan.workload) =>
        {
            Ok(there)
        }
        // Whoever needs the data asks again, and gets the error.
        _ => Ok(spec),
    }
}

/// How long a database may take to say what it is; and to show its data, all keys of which are counted in the worst case.
const IDENTIFY_MAX: Duration = Duration::from_secs(60);
const LOOK_MAX: Duration = Duration::from_secs(1_800);

/// What the target is.
pub(crate) fn identify(target: &Arc<dyn Target>, cancel: &Cancel) -> Result<Identity, TargetError> {
    let target = Arc::clone(target);
    patience::within(IDENTIFY_MAX, cancel, "asking what it is", move || target.identify())
}

/// What the target holds, as [`Target::survey`] says.
pub(crate) fn survey(target: &Arc<dyn Target>) -> Result<DataState, TargetError> {
    let target = Arc::clone(target);
    patience::within(IDENTIFY_MAX, &Cancel::default(), "asking what data it holds", move || target.survey())
}

/// As [`holds`], within a bounded time, and until the user wants to stop.
pub(crate) fn require_data(
    target: &Arc<dyn Target>,
    spec: &DataSpec,
    cancel: &Cancel,
) -> Result<Option<String>, TargetError> {
    let (target, spec) = (Arc::clone(target), spec.clone());
    patience::within(LOOK_MAX, cancel, "looking at the data", move || holds(target.as_ref(), &spec))
}

/// Whether the target holds the data of `spec`, unchanged as far as a look at some of it tells; the error says what it
/// holds instead, and the way out. Returns what figures depend on besides, as [`Target::spot_check`] does.
fn holds(target: &dyn Target, spec: &DataSpec) -> Result<Option<String>, TargetError> {
    let wrong =
        |message: String, hint: &str| Err(TargetError::new(TargetErrorKind::Data, message).hint(hint));
    match target.survey()? {
        DataState::Loaded { spec: loaded, .. } if loaded == *spec => target.spot_check(spec, spot_seed()),
        DataState::Loaded { spec: loaded, at, .. } => wrong(
            format!(
                "the target holds other data than the plan describes ({}), loaded at {at}",
                difference(&loaded, spec)
            ),
            "change the plan to what is there, or load anew with `dyno load --replace`",
        ),
        DataState::Partial { since, rows, .. } => wrong(
            format!("a load that began at {since} did not end ({rows} rows are there)"),
            "`dyno load` resumes it, `dyno drop` removes it",
        ),
        DataState::Empty => wrong("the target holds no data of Dyno's".into(), "`dyno load` creates it"),
    }
}

/// The way out where updates have moved rows together.
pub(crate) const SPREAD_AGAIN: &str = "`dyno load --replace` spreads the rows again";

/// Another sample of rows at each look: what one misses, a later one may find.
pub(crate) fn spot_seed() -> u64 {
    mix(jiff::Timestamp::now().as_nanosecond() as u64)
}

/// What differs between two data specs, in the plan's words.
pub(crate) fn difference(there: &DataSpec, wanted: &DataSpec) -> String {
    let pairs = [
        ("schemas", u64::from(there.schemas), u64::from(wanted.schemas)),
        ("rows per schema", there.rows, wanted.rows),
        ("scan rows", there.scan_rows, wanted.scan_rows),
        ("block size", there.block_size, wanted.block_size),
        ("compressible %", u64::from(there.compressible), u64::from(wanted.compressible)),
        ("seed", there.seed, wanted.seed),
        ("secondary keys", there.secondary.into(), wanted.secondary.into()),
    ];
    let differing = pairs.iter().filter(|(_, a, b)| a != b);
    differing.map(|(name, a, b)| format!("{name} {a} instead of {b}")).collect::<Vec<_>>().join(", ")
}

/// The repository's file.
fn repository_path(common: &Common) -> anyhow::Result<PathBuf> {
    match &common.repository {
        Some(path) => Ok(path.clone()),
        None => dyno_record::repository::default_path().ok_or_else(|| {
            usage(
                "the user's data directory is not known (neither XDG_DATA_HOME nor HOME is set)",
                "give --repository FILE",
            )
        }),
    }
}

/// The repository, made if it is not there.
pub(crate) fn repository(common: &Common) -> anyhow::Result<Repository> {
    Ok(Repository::open(&repository_path(common)?)?)
}

/// The repository for reading.
pub(crate) fn repository_to_read(common: &Common) -> anyhow::Result<Repository> {
    Ok(Repository::open_read_only(&repository_path(common)?)?)
}

/// Places on this host whose devices matter to the target.
pub(crate) fn host_paths(identity: &Identity) -> Vec<(String, PathBuf)> {
    if !identity.same_host {
        return Vec::new();
    }
    let named = [("data", &identity.data_path), ("redo", &identity.redo_path)];
    named
        .into_iter()
        .filter_map(|(name, path)| Some((name.to_owned(), PathBuf::from(path.as_ref()?))))
        .collect()
}
