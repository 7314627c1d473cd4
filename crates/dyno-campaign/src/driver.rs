//! What a driver host reaches that leads a part of a run for somebody else: targets and workloads, held against what the leader knows.

use std::sync::Arc;

use dyno_drive::Aim;
use dyno_engine::{Cancel, DataState, Registry, TargetErrorKind};
use dyno_plan::{DataSpec, Plan};
use dyno_record::Identity;
use dyno_workload::own::{Own, SentFolders};

use crate::error::Error;
use crate::{data, own, targets};

/// What the leader of a run knows of one of its targets.
#[derive(Debug, Clone)]
pub struct KnownTarget {
    /// What it is, with the rules of its counters.
    pub identity: Identity,
    /// The data that it holds.
    pub spec: DataSpec,
    /// Why its sessions only read, if they do.
    pub reads_only: Option<String>,
}

/// The targets of `plan` and its workloads, which were `sent` with it, as far as they are needed to describe a run that is over: nothing
/// is connected.
///
/// # Errors
/// There is no such engine, or a workload cannot be read.
pub fn describe(
    engines: Registry,
    plan: &Plan,
    known: &[KnownTarget],
    sent: &SentFolders,
) -> Result<(Vec<Aim>, Vec<Arc<Own>>), Error> {
    let mut aims = Vec::new();
    for (url, known) in plan.target.all().iter().zip(known) {
        let target = targets::open(engines, plan, url, None)?;
        aims.push(Aim::new(target, known.identity.clone(), known.spec.clone()));
    }
    Ok((aims, own::of_sent(plan, engines.specs, sent)?))
}

/// The targets of `plan` as this host reaches them, and its workloads, which were `sent` with it and have to be those of these `versions`.
///
/// # Errors
/// A target cannot be reached from here, is another one than the leader's, or holds other data; or a workload is not the same as it arrived.
pub fn reach_to_drive(
    engines: Registry,
    plan: &Plan,
    known: &[KnownTarget],
    (versions, sent): (&[String], &SentFolders),
) -> Result<(Vec<Aim>, Vec<Arc<Own>>), Error> {
    let owns = own::of_sent(plan, engines.specs, sent)?;
    let here: Vec<String> = owns.iter().map(|own| own.facts().version()).collect();
    if here != versions {
        return Err(Error::usage(
            format!(
                "the workload as it arrived here is {}, and the leader's is {}: operations would not be the same",
                here.join(" + "),
                versions.join(" + ")
            ),
            "leave the files of its folder alone while it is led",
        ));
    }
    let mut aims = Vec::new();
    for (url, known) in plan.target.all().iter().zip(known) {
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
                    "{url} is {product} {version} from here, and {} {} from the leader",
                    known.identity.product, known.identity.version
                ),
                "name the database in target.url as every driver host finds it",
            ));
        }
        if !known.spec.is_none() {
            match data::survey(&target)? {
                DataState::Loaded { spec, .. } if spec == known.spec => {}
                _ => {
                    return Err(Error::usage(
                        format!("{url} does not hold from here the data that it holds from the leader"),
                        "name the database in target.url as every driver host finds it",
                    ));
                }
            }
        }
        aims.push(Aim {
            reads_only: known.reads_only.clone(),
            ..Aim::new(target, known.identity.clone(), known.spec.clone())
        });
    }
    Ok((aims, owns))
}
