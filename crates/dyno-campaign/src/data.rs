//! What a target is, and which data it holds.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dyno_engine::data::mix;
use dyno_engine::{Cancel, DataState, Target, TargetError, TargetErrorKind, patience};
use dyno_plan::{DataSpec, ObservedHost, Plan};
use dyno_record::{Identity, ServerProcesses};

use crate::error::Error;

/// The data that the plan asks for on this target.
pub(crate) fn spec(plan: &Plan, target: &Arc<dyn Target>) -> Result<DataSpec, Error> {
    // A custom workload has no test data, whose block size the plan could choose.
    if plan.workload.folder.is_some() {
        return Ok(DataSpec::none(target.native_block_size()?));
    }
    let spec = DataSpec::of(plan, target.block_size(plan.data.block_size)?);
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

/// What the target is. Where this machine is the `host` of the load alone, it is taken as one elsewhere, wherever it runs.
pub(crate) fn identify(
    target: &Arc<dyn Target>,
    host: ObservedHost,
    cancel: &Cancel,
) -> Result<Identity, TargetError> {
    let target = Arc::clone(target);
    let mut identity =
        patience::within(IDENTIFY_MAX, cancel, "asking what it is", move || target.identify())?;
    if host == ObservedHost::Driver {
        (identity.same_host, identity.processes) = (false, ServerProcesses::default());
    }
    Ok(identity)
}

/// What the target holds, as [`Target::survey`] says.
pub(crate) fn survey(target: &Arc<dyn Target>) -> Result<DataState, TargetError> {
    let target = Arc::clone(target);
    patience::within(IDENTIFY_MAX, &Cancel::default(), "asking what data it holds", move || target.survey())
}

/// As [`holds`], within a bounded time, and until the user wants to stop.
pub(crate) fn require(
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
