//! Finds out what a target is, and which data it holds.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dyno_engine::data::mix;
use dyno_engine::{Cancel, DataState, Target, TargetError, TargetErrorKind, bounded_query};
use dyno_plan::{DataSpec, ObservedHost, Plan};
use dyno_record::{Identity, ServerProcesses};

use crate::error::Error;

/// Returns the data that the plan needs on this target.
pub(crate) fn spec(plan: &Plan, target: &Arc<dyn Target>) -> Result<DataSpec, Error> {
    // A custom workload does not use the test tables, so the plan does not choose their block size.
    if plan.workload.folder.is_some() {
        return Ok(DataSpec::none(target.native_block_size()?));
    }
    let spec = DataSpec::of(plan, target.block_data()?.block_size(plan.data.block_size)?);
    spec.validate(&plan.data, &plan.workload)?;
    // Data of an older version stays usable for every plan that needs no later feature.
    match survey(target) {
        Ok(DataState::Loaded { spec: there, .. } | DataState::Partial { spec: there, .. })
            if there.serves(&spec, &plan.workload) =>
        {
            Ok(there)
        }
        // The caller that needs the data reads it again, and gets the error.
        _ => Ok(spec),
    }
}

/// How long a database may take to identify itself, and to check its data; in the worst case that counts all
/// keys.
const IDENTIFY_MAX: Duration = Duration::from_secs(60);
const LOOK_MAX: Duration = Duration::from_secs(1_800);

/// Identifies the target. If this machine is named as `host` of the load only, the target counts as remote,
/// wherever it runs.
pub(crate) fn identify(
    target: &Arc<dyn Target>,
    host: ObservedHost,
    cancel: &Cancel,
) -> Result<Identity, TargetError> {
    let target = Arc::clone(target);
    let mut identity =
        bounded_query::within(IDENTIFY_MAX, cancel, "identifying the server", move || target.identify())?;
    if host == ObservedHost::Driver {
        (identity.same_host, identity.processes) = (false, ServerProcesses::default());
    }
    Ok(identity)
}

/// Returns what data the target holds, as [`Target::survey`] reports.
pub(crate) fn survey(target: &Arc<dyn Target>) -> Result<DataState, TargetError> {
    let target = Arc::clone(target);
    bounded_query::within(IDENTIFY_MAX, &Cancel::default(), "checking which data it contains", move || {
        target.block_data()?.survey()
    })
}

/// Like [`holds`], with a time limit and until the user cancels.
pub(crate) fn require(
    target: &Arc<dyn Target>,
    spec: &DataSpec,
    cancel: &Cancel,
) -> Result<Option<String>, TargetError> {
    let (target, spec) = (Arc::clone(target), spec.clone());
    bounded_query::within(LOOK_MAX, cancel, "checking the data", move || holds(target.as_ref(), &spec))
}

/// Checks by a sample whether the target holds the data of `spec` unchanged. The error names the data that it
/// holds instead, with a hint. Returns what updates have changed about the data, as [`Target::spot_check`]
/// does.
fn holds(target: &dyn Target, spec: &DataSpec) -> Result<Option<String>, TargetError> {
    let wrong =
        |message: String, hint: &str| Err(TargetError::new(TargetErrorKind::Data, message).hint(hint));
    let data = target.block_data()?;
    match data.survey()? {
        DataState::Loaded { spec: loaded, .. } if loaded == *spec => data.spot_check(spec, spot_seed()),
        DataState::Loaded { spec: loaded, at, .. } => wrong(
            format!(
                "the target contains other data than the plan describes ({}), loaded at {at}",
                difference(&loaded, spec)
            ),
            "change the plan to match this data, or load again with `dyno load --replace`",
        ),
        DataState::Partial { since, rows, .. } => wrong(
            format!("a load that began at {since} did not finish ({rows} rows exist)"),
            "`dyno load` resumes it, `dyno drop` removes it",
        ),
        DataState::Empty => wrong("the target contains no Dyno data".into(), "`dyno load` creates it"),
    }
}

/// The hint for data whose rows updates have moved together.
pub(crate) const SPREAD_AGAIN: &str = "`dyno load --replace` spreads the rows again";

/// A new seed for each sample of rows: a later sample may find what an earlier one missed.
pub(crate) fn spot_seed() -> u64 {
    mix(jiff::Timestamp::now().as_nanosecond() as u64)
}

/// Describes the difference between two data specs in terms of plan keys.
pub(crate) fn difference(existing: &DataSpec, wanted: &DataSpec) -> String {
    let pairs = [
        ("schemas", u64::from(existing.schemas), u64::from(wanted.schemas)),
        ("rows per schema", existing.rows, wanted.rows),
        ("scan rows", existing.scan_rows, wanted.scan_rows),
        ("block size", existing.block_size, wanted.block_size),
        ("compressible %", u64::from(existing.compressible), u64::from(wanted.compressible)),
        ("seed", existing.seed, wanted.seed),
        ("secondary keys", existing.secondary.into(), wanted.secondary.into()),
        ("copied schemas", existing.copied.into(), wanted.copied.into()),
    ];
    let differing = pairs.iter().filter(|(_, a, b)| a != b);
    differing.map(|(name, a, b)| format!("{name} {a} instead of {b}")).collect::<Vec<_>>().join(", ")
}

/// Paths on this host whose devices matter to the target.
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
