//! Connects a driver host to the targets and workloads of a distributed run, and checks that they match the
//! controller's.

use std::sync::Arc;

use dyno_drive::TargetContext;
use dyno_engine::{Cancel, DataState, EngineRegistry, TargetErrorKind};
use dyno_plan::{DataSpec, Plan};
use dyno_record::Identity;
use dyno_workload::custom::{CustomWorkload, SentFolders};

use crate::error::Error;
use crate::{custom_workloads, data, targets};

/// What the controller knows about a target.
#[derive(Debug, Clone)]
pub struct KnownTarget {
    /// Identity of the target, including how its counters are to be read.
    pub identity: Identity,
    /// The data that the target holds.
    pub spec: DataSpec,
    /// Why sessions only read on this target; absent if they may write.
    pub reads_only: Option<String>,
}

/// Creates the targets and workloads of `plan` without connecting, as needed to describe a run that has
/// ended. The workloads come from `sent`.
///
/// # Errors
/// The engine is unknown, or a workload cannot be read.
pub fn describe(
    engines: EngineRegistry,
    plan: &Plan,
    known_targets: &[KnownTarget],
    sent: &SentFolders,
) -> Result<(Vec<TargetContext>, Vec<Arc<CustomWorkload>>), Error> {
    let mut target_contexts = Vec::new();
    for (url, known) in plan.target.all().iter().zip(known_targets) {
        let target = targets::open(engines, plan, url, None)?;
        target_contexts.push(TargetContext::new(target, known.identity.clone(), known.spec.clone()));
    }
    Ok((target_contexts, custom_workloads::read_sent_workloads(plan, engines.specs, sent)?))
}

/// Connects this host to the targets of `plan`. The workloads come from `sent` and must have these
/// `versions`.
///
/// # Errors
/// A target cannot be reached from here, differs from the controller's, or holds other data; or a workload
/// differs.
pub fn reach_to_drive(
    engines: EngineRegistry,
    plan: &Plan,
    known_targets: &[KnownTarget],
    (versions, sent): (&[String], &SentFolders),
) -> Result<(Vec<TargetContext>, Vec<Arc<CustomWorkload>>), Error> {
    let workloads = custom_workloads::read_sent_workloads(plan, engines.specs, sent)?;
    let local_versions: Vec<String> =
        workloads.iter().map(|custom_workload| custom_workload.facts().version()).collect();
    if local_versions != versions {
        return Err(Error::usage(
            format!(
                "the workload received here is {}, but the controller's is {}: operations would differ",
                local_versions.join(" + "),
                versions.join(" + ")
            ),
            "do not change the files of its folder while a run is active",
        ));
    }
    let mut target_contexts = Vec::new();
    for (url, known) in plan.target.all().iter().zip(known_targets) {
        let target = targets::open(engines, plan, url, targets::given_password(plan)?)?;
        let identity = data::identify(&target, plan.observe.host, &Cancel::default()).map_err(|error| {
            match error.kind {
                TargetErrorKind::PasswordNeeded => {
                    error.hint("a password is not sent to driver hosts: name its variable or file in target.password_env or target.password_file, and set it where the agent starts")
                }
                _ => error,
            }
        })?;
        let (product, version) = (&identity.product, &identity.version);
        if (product, version) != (&known.identity.product, &known.identity.version) {
            return Err(Error::usage(
                format!(
                    "{url} is {product} {version} from this host, but {} {} from the controller",
                    known.identity.product, known.identity.version
                ),
                "set target.url to a URL that leads every driver host to the same database",
            ));
        }
        if !known.spec.is_none() {
            match data::survey(&target)? {
                DataState::Loaded { spec, .. } if spec == known.spec => {}
                _ => {
                    return Err(Error::usage(
                        format!("{url} does not contain the same data from this host as from the controller"),
                        "set target.url to a URL that leads every driver host to the same database",
                    ));
                }
            }
        }
        target_contexts.push(TargetContext {
            reads_only: known.reads_only.clone(),
            ..TargetContext::new(target, known.identity.clone(), known.spec.clone())
        });
    }
    Ok((target_contexts, workloads))
}
