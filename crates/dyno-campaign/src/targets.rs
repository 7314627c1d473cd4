//! Connects to all targets of a plan, identifies and locks them, and names the target in errors if there are
//! several.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_drive::TargetContext;
use dyno_engine::{
    Cancel, Claim, CounterScope, EngineRegistry, Holder, Lock, LockPurpose, OpenOptions, Secret, Target,
    TargetError, TargetErrorKind, WorkloadNeeds,
};
use dyno_observe::RemoteHost;
use dyno_plan::{Connect, DataSharing, DataSpec, Plan, TargetUrl};
use dyno_record::private_file::open_secret_warning;
use dyno_record::{Identity, ServerProcesses};
use dyno_workload::custom::CustomWorkload;
use dyno_workload::needs;

use crate::campaign_context::CampaignContext;
use crate::data;
use crate::error::Error;
use crate::event::{CampaignEvent, Warning};
use crate::secrets;

/// Longest wait until data loaded through one target is visible on the others.
const SEEN_WITHIN: Duration = Duration::from_secs(60);
/// The pause between two checks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A target that Dyno is connected to.
pub(crate) struct ReachedTarget {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) identity: Identity,
    /// Why the target is read-only; absent if it accepts writes.
    pub(crate) reads_only: Option<String>,
    instance: Option<CounterScope>,
    /// What updates have changed about the target's data, if results depend on it.
    pub(crate) data_note: Option<String>,
    /// Prefix of error messages with several targets: `target 2 (postgres://…): `.
    label: String,
}

/// All targets of a plan, in its order.
pub(crate) struct ReachedTargets {
    pub(crate) all: Vec<ReachedTarget>,
    data_sharing: DataSharing,
    claim: Claim,
}

impl ReachedTarget {
    /// Adds the target's name to an error, if there are several targets.
    pub(crate) fn named<T, E: Into<Error>>(&self, outcome: Result<T, E>) -> Result<T, Error> {
        named(&self.label, outcome)
    }

    /// What sessions of `plan` need on this target, with the custom workloads `customs`.
    pub(crate) fn needs(&self, plan: &Plan, customs: &[Arc<CustomWorkload>]) -> WorkloadNeeds {
        needs(plan, customs, self.target.engine(), self.target.dialect())
    }

    /// The data that `plan` needs on this target.
    pub(crate) fn spec(&self, plan: &Plan) -> Result<DataSpec, Error> {
        self.named(data::spec(plan, &self.target))
    }

    /// The target's identity, corrected if its machine is observed through `far`.
    pub(crate) fn identity_through(&self, far: Option<&RemoteHost>) -> Identity {
        let mut identity = self.identity.clone();
        if far.is_some_and(|host| !host.is_driver) {
            // An explicitly named machine overrides the guess from the address: a tunnel to a remote server
            // ends on this host.
            (identity.same_host, identity.processes) = (false, ServerProcesses::default());
        }
        identity
    }

    /// The target as the drive needs it; `far` is its machine, if the plan names one.
    pub(crate) fn target_context(
        &self,
        plan: &Plan,
        spec: &DataSpec,
        far: Option<Arc<RemoteHost>>,
    ) -> TargetContext {
        let mut identity = self.identity_through(far.as_deref());
        if plan.workload.connect == Connect::Transaction {
            identity.counting = identity.counting.of_short_connections();
        }
        TargetContext {
            host_paths: data::host_paths(&identity),
            remote_host: far,
            reads_only: self.reads_only.clone(),
            instance: self.instance.clone(),
            ..TargetContext::new(Arc::clone(&self.target), identity, spec.clone())
        }
    }

    /// Locks the target for `holder`, and its server as `claim` says.
    pub(crate) fn lock(
        &self,
        holder: &Holder,
        claim: Claim,
        ctx: &CampaignContext<'_>,
    ) -> Result<Lock, TargetError> {
        let lock = self.target.lock(holder, claim)?;
        ctx.emit(CampaignEvent::Locked(lock.caveat().map(str::to_owned)));
        Ok(lock)
    }
}

fn named<T, E: Into<Error>>(label: &str, outcome: Result<T, E>) -> Result<T, Error> {
    outcome.map_err(|error| match error.into() {
        Error::Target(error) => TargetError { message: format!("{label}{}", error.message), ..error }.into(),
        Error::Usage { problem, hint } => Error::usage(format!("{label}{problem}"), hint),
        Error::Host(error) => Error::Host(dyno_host::remote::SourceError {
            message: format!("{label}{}", error.message),
            ..error
        }),
        error => error,
    })
}

/// Creates one target of `plan` with this password, without connecting.
pub(crate) fn open(
    engines: EngineRegistry,
    plan: &Plan,
    url: &TargetUrl,
    password: Option<Secret>,
) -> Result<Arc<dyn Target>, TargetError> {
    let options = OpenOptions { password, connect_timeout: plan.target.connect_timeout.0 };
    Ok(Arc::from(match &plan.target.observe_url {
        Some(observe) => engines.open_through(url, observe, &options)?,
        None => engines.open(url, &options)?,
    }))
}

/// Connects to one target of `plan`; asks for a password if the server requires one and the plan names none.
fn reach(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    url: &TargetUrl,
) -> Result<(Arc<dyn Target>, Identity), Error> {
    let open = |password| open(ctx.engines, plan, url, password);
    let mut target = open(given_password(plan)?)?;
    let mut identity = data::identify(&target, plan.observe.host, &Cancel::default());
    let wants = |error: &TargetError| error.kind == TargetErrorKind::PasswordNeeded;
    if identity.as_ref().is_err_and(wants)
        && let Some(password) = ctx.listener.password(url)?
    {
        target = open(Some(password))?;
        identity = data::identify(&target, plan.observe.host, &Cancel::default());
    }
    Ok((target, identity?))
}

/// Reads the password from the place that the plan names.
pub(crate) fn given_password(plan: &Plan) -> Result<Option<Secret>, Error> {
    let words = [&plan.target.password_env, &plan.target.password_file].map(Option::as_deref);
    secrets::named("target", words)
}

impl ReachedTargets {
    /// Connects to all targets of `plan`; refuses two targets that would count each other's work.
    pub(crate) fn reach(ctx: &CampaignContext<'_>, plan: &Plan) -> Result<Self, Error> {
        let several = plan.target.is_several();
        let file = plan.target.password_file.as_deref().map(std::path::Path::new);
        let open = file.and_then(|file| open_secret_warning("the password file", file));
        open.into_iter().for_each(|words| ctx.emit(CampaignEvent::Warning(Warning::OpenSecret(words))));
        let mut all: Vec<ReachedTarget> = Vec::new();
        for (at, url) in plan.target.all().iter().enumerate() {
            let label = if several { format!("target {} ({url}): ", at + 1) } else { String::new() };
            let (target, identity) = named(&label, reach(ctx, plan, url))?;
            let reads_only = named(&label, target.reads_only())?;
            let instance = if several { named(&label, target.instance())? } else { None };
            let reached = ReachedTarget { target, identity, reads_only, instance, data_note: None, label };
            refuse_overlap(&all, &reached)?;
            all.push(reached);
        }
        Ok(Self { all, data_sharing: plan.target.data, claim: claim(plan) })
    }

    pub(crate) fn is_several(&self) -> bool {
        self.all.len() > 1
    }

    /// The first target, or the only one.
    pub(crate) fn first(&self) -> &ReachedTarget {
        &self.all[0]
    }

    /// The URLs of all targets in one text.
    pub(crate) fn urls(&self) -> String {
        self.all.iter().map(|reached| reached.target.url()).collect::<Vec<_>>().join(" ")
    }

    /// The engines of all targets in one text.
    pub(crate) fn engines(&self) -> String {
        self.all.iter().map(|reached| reached.target.engine()).collect::<Vec<_>>().join(" ")
    }

    /// Products, versions and URLs of all targets, for people.
    pub(crate) fn words(&self) -> String {
        let describe_target = |reached: &ReachedTarget| {
            let Identity { product, version, .. } = &reached.identity;
            format!("{product} {version} ({})", reached.target.url())
        };
        self.all.iter().map(describe_target).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the targets through which data is loaded and dropped: all, or the first writable one if all
    /// reach the same data.
    ///
    /// # Errors
    /// A target that must accept writes is read-only.
    pub(crate) fn holders(&self) -> Result<Vec<&ReachedTarget>, Error> {
        if self.is_several() && self.data_sharing == DataSharing::Shared {
            let first = self.all.iter().find(|reached| reached.reads_only.is_none());
            return first.map(|first| vec![first]).ok_or_else(|| {
                Error::usage(
                    "no target accepts writes, so data cannot be loaded or dropped",
                    "name the primary among target.urls",
                )
            });
        }
        let replica = self.all.iter().find_map(|reached| Some((reached, reached.reads_only.as_ref()?)));
        match replica.filter(|_| self.is_several()) {
            Some((reached, why)) => reached.named(Err(Error::usage(
                format!("{why}, so it cannot have its own copy of the data"),
                "set target.data = \"shared\" if its data comes from another target",
            ))),
            None => Ok(self.all.iter().collect()),
        }
    }

    /// Whether all targets reach the same data, so that it is loaded only once.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_several() && self.data_sharing == DataSharing::Shared
    }

    /// Refuses a block workload that writes if no target accepts writes, and custom workloads that write if
    /// one target does not. For custom workloads it is unknown which transactions could still run.
    pub(crate) fn refuse_writes(&self, needs: &WorkloadNeeds) -> Result<(), Error> {
        let mut replicas = self.all.iter().filter_map(|one| Some((one, one.reads_only.as_ref()?)));
        let Some((reached, why)) = replicas.next().filter(|_| needs.writes()) else { return Ok(()) };
        let (what, hint) = match &needs.custom {
            None if replicas.count() + 1 < self.all.len() => return Ok(()),
            None => (
                "the plan writes (workload.update_pct and the like)".to_owned(),
                "name a server that accepts writes, or --set workload.update_pct=0",
            ),
            Some(custom) => (
                format!("{} writes", custom.writer.as_deref().unwrap_or("a workload")),
                "name servers that accept writes, or a workload with writes = false",
            ),
        };
        reached.named(Err(Error::usage(format!("{why}: it accepts only reads, and {what}"), hint)))
    }

    /// Locks all targets for this kind of work.
    pub(crate) fn lock(&self, work: LockPurpose, ctx: &CampaignContext<'_>) -> Result<Vec<Lock>, Error> {
        let holder = Holder::this_process(work);
        let lock_target = |reached: &ReachedTarget| match reached.lock(&holder, self.claim, ctx) {
            // Several targets may reach the same database, and the first has already locked it.
            Err(error)
                if self.is_shared()
                    && error.kind == TargetErrorKind::Busy
                    && error.message.contains(&holder.to_string()) =>
            {
                Ok(Lock::needless())
            }
            outcome => reached.named(outcome),
        };
        self.all.iter().map(lock_target).collect()
    }

    /// Waits until every target sees the data of `plan`, which was loaded through another target.
    pub(crate) fn wait_for_data(&self, plan: &Plan, cancel: &Cancel) -> Result<(), Error> {
        let until = Instant::now() + SEEN_WITHIN;
        for reached in &self.all {
            let spec = reached.spec(plan)?;
            while let Err(error) = data::require(&reached.target, &spec, cancel) {
                if Instant::now() >= until || cancel.is_cancelled() || error.kind != TargetErrorKind::Data {
                    return reached.named(Err(error));
                }
                // A replica applies changes with a delay, and no engine reports when it has caught up. So the
                // check is repeated for a limited time.
                std::thread::sleep(LOOK_EVERY);
            }
        }
        Ok(())
    }
}

/// Whether `plan` needs its servers exclusively, or may share them.
pub(crate) fn claim(plan: &Plan) -> Claim {
    if plan.target.shared { Claim::Shared } else { Claim::Alone }
}

/// Refuses a target with the same counters as another one: each would count the other's work.
fn refuse_overlap(reached_before: &[ReachedTarget], candidate: &ReachedTarget) -> Result<(), Error> {
    let Some(instance) = &candidate.instance else { return Ok(()) };
    let same = |other: &ReachedTarget| {
        other.instance.as_ref().is_some_and(|o| o.shares_server(instance) && o.scope == instance.scope)
    };
    match reached_before.iter().find(|other| same(other)) {
        None => Ok(()),
        Some(other) => candidate.named(Err(Error::usage(
            format!(
                "it is the same server and database as {}: each would count the other's work",
                other.target.url()
            ),
            "name it once; target.weights gives a target more sessions",
        ))),
    }
}
