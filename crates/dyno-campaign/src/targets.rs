//! All targets of a plan: reached, told apart, locked, and named in whatever goes wrong with one of several.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_drive::{Aim, FarHost};
use dyno_engine::{
    Cancel, Claim, Holder, Instance, Lock, OpenOptions, Registry, Secret, Target, TargetError,
    TargetErrorKind, Work, WorkloadNeeds,
};
use dyno_plan::{Connect, DataSpec, Holding, Plan, TargetUrl};
use dyno_record::private_file::open_secret_warning;
use dyno_record::{Identity, ServerProcesses};
use dyno_workload::needs;
use dyno_workload::own::Own;

use crate::data;
use crate::error::Error;
use crate::event::{Event, Warning};
use crate::lead::Lead;
use crate::secrets;

/// The longest wait for what was loaded through one target to be seen on the others.
const SEEN_WITHIN: Duration = Duration::from_secs(60);
/// The pause between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// One target that has been reached.
pub(crate) struct Reached {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) identity: Identity,
    /// Why it takes reads only, if it does.
    pub(crate) reads_only: Option<String>,
    instance: Option<Instance>,
    /// What updates have made of its data, where figures depend on it.
    pub(crate) data_note: Option<String>,
    /// What stands before an error of one of several: `target 2 (postgres://…): `.
    label: String,
}

/// All targets of a plan, in its order.
pub(crate) struct Targets {
    pub(crate) all: Vec<Reached>,
    holding: Holding,
    claim: Claim,
}

impl Reached {
    /// An outcome on this target, with its name in the error where it is one of several.
    pub(crate) fn named<T, E: Into<Error>>(&self, outcome: Result<T, E>) -> Result<T, Error> {
        named(&self.label, outcome)
    }

    /// What sessions of `plan` do and need on it, where `customs` are its custom workloads.
    pub(crate) fn needs(&self, plan: &Plan, customs: &[Arc<Own>]) -> WorkloadNeeds {
        needs(plan, customs, self.target.engine(), self.target.dialect())
    }

    /// The data that `plan` asks for on it.
    pub(crate) fn spec(&self, plan: &Plan) -> Result<DataSpec, Error> {
        self.named(data::spec(plan, &self.target))
    }

    /// What it is, where its machine is looked at through `far`.
    pub(crate) fn identity_through(&self, far: Option<&FarHost>) -> Identity {
        let mut identity = self.identity.clone();
        if far.is_some_and(|host| !host.is_driver) {
            // Whoever names its machine knows better than what an address looks like: a tunnel ends on this one.
            (identity.same_host, identity.processes) = (false, ServerProcesses::default());
        }
        identity
    }

    /// As the drive of `plan` takes it; `far` is its machine, where the plan names one.
    pub(crate) fn aim(&self, plan: &Plan, spec: &DataSpec, far: Option<Arc<FarHost>>) -> Aim {
        let mut identity = self.identity_through(far.as_deref());
        if plan.workload.connect == Connect::Transaction {
            identity.counting = identity.counting.of_short_connections();
        }
        Aim {
            host_paths: data::host_paths(&identity),
            far,
            reads_only: self.reads_only.clone(),
            instance: self.instance.clone(),
            ..Aim::new(Arc::clone(&self.target), identity, spec.clone())
        }
    }

    /// Keeps others off the target while this process works as `holder`, and off its server as `claim` says.
    pub(crate) fn lock(&self, holder: &Holder, claim: Claim, lead: &Lead<'_>) -> Result<Lock, TargetError> {
        let lock = self.target.lock(holder, claim)?;
        lead.tell(Event::Locked(lock.caveat().map(str::to_owned)));
        Ok(lock)
    }
}

fn named<T, E: Into<Error>>(label: &str, outcome: Result<T, E>) -> Result<T, Error> {
    outcome.map_err(|error| match error.into() {
        Error::Target(error) => TargetError { message: format!("{label}{}", error.message), ..error }.into(),
        Error::Usage { problem, hint } => Error::usage(format!("{label}{problem}"), hint),
        Error::Host(error) => {
            Error::Host(dyno_host::far::SourceError { message: format!("{label}{}", error.message), ..error })
        }
        error => error,
    })
}

/// One target of `plan`, opened with this password; nothing is asked of it.
pub(crate) fn open(
    engines: Registry,
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

/// One target of `plan`; asks for a password if the server wants one and the plan says none.
fn reach(lead: &Lead<'_>, plan: &Plan, url: &TargetUrl) -> Result<(Arc<dyn Target>, Identity), Error> {
    let open = |password| open(lead.engines, plan, url, password);
    let mut target = open(given_password(plan)?)?;
    let mut identity = data::identify(&target, plan.observe.host, &Cancel::default());
    let wants = |error: &TargetError| error.kind == TargetErrorKind::PasswordNeeded;
    if identity.as_ref().is_err_and(wants)
        && let Some(password) = lead.listener.password(url)?
    {
        target = open(Some(password))?;
        identity = data::identify(&target, plan.observe.host, &Cancel::default());
    }
    Ok((target, identity?))
}

/// The password that the plan says where to find.
pub(crate) fn given_password(plan: &Plan) -> Result<Option<Secret>, Error> {
    let words = [&plan.target.password_env, &plan.target.password_file].map(Option::as_deref);
    secrets::named("target", words)
}

impl Targets {
    /// Reaches all targets of `plan`; two that would count each other's work are refused.
    pub(crate) fn reach(lead: &Lead<'_>, plan: &Plan) -> Result<Self, Error> {
        let several = plan.target.is_several();
        let file = plan.target.password_file.as_deref().map(std::path::Path::new);
        let open = file.and_then(|file| open_secret_warning("the password file", file));
        open.into_iter().for_each(|words| lead.tell(Event::Warning(Warning::OpenSecret(words))));
        let mut all: Vec<Reached> = Vec::new();
        for (at, url) in plan.target.all().iter().enumerate() {
            let label = if several { format!("target {} ({url}): ", at + 1) } else { String::new() };
            let (target, identity) = named(&label, reach(lead, plan, url))?;
            let reads_only = named(&label, target.reads_only())?;
            let instance = if several { named(&label, target.instance())? } else { None };
            let reached = Reached { target, identity, reads_only, instance, data_note: None, label };
            refuse_overlap(&all, &reached)?;
            all.push(reached);
        }
        Ok(Self { all, holding: plan.target.data, claim: claim(plan) })
    }

    /// Whether there are several.
    pub(crate) fn is_several(&self) -> bool {
        self.all.len() > 1
    }

    /// The first, which is the only one where there are not several.
    pub(crate) fn first(&self) -> &Reached {
        &self.all[0]
    }

    /// Their URLs in one text.
    pub(crate) fn urls(&self) -> String {
        self.all.iter().map(|reached| reached.target.url()).collect::<Vec<_>>().join(" ")
    }

    /// Their engines in one text.
    pub(crate) fn engines(&self) -> String {
        self.all.iter().map(|reached| reached.target.engine()).collect::<Vec<_>>().join(" ")
    }

    /// Products, versions and URLs for people.
    pub(crate) fn words(&self) -> String {
        let one = |reached: &Reached| {
            let Identity { product, version, .. } = &reached.identity;
            format!("{product} {version} ({})", reached.target.url())
        };
        self.all.iter().map(one).collect::<Vec<_>>().join(" and ")
    }

    /// Those through which data is loaded and dropped: each, or the first that takes writes where all reach the same data.
    ///
    /// # Errors
    /// One that has to take writes takes reads only.
    pub(crate) fn holders(&self) -> Result<Vec<&Reached>, Error> {
        if self.is_several() && self.holding == Holding::Shared {
            let first = self.all.iter().find(|reached| reached.reads_only.is_none());
            return first.map(|first| vec![first]).ok_or_else(|| {
                Error::usage(
                    "no target takes writes, so none can load or drop",
                    "name the primary among target.urls",
                )
            });
        }
        let replica = self.all.iter().find_map(|reached| Some((reached, reached.reads_only.as_ref()?)));
        match replica.filter(|_| self.is_several()) {
            Some((reached, why)) => reached.named(Err(Error::usage(
                format!("{why}, so it cannot have a copy of its own"),
                "target.data = \"shared\", if its data comes from another target",
            ))),
            None => Ok(self.all.iter().collect()),
        }
    }

    /// Whether data is loaded through one for all.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_several() && self.holding == Holding::Shared
    }

    /// Refuses a block workload that writes where no target takes writes, and custom workloads that write where one does not:
    /// nobody can tell which of their transactions would be left.
    pub(crate) fn refuse_writes(&self, needs: &WorkloadNeeds) -> Result<(), Error> {
        let mut replicas = self.all.iter().filter_map(|one| Some((one, one.reads_only.as_ref()?)));
        let Some((reached, why)) = replicas.next().filter(|_| needs.writes()) else { return Ok(()) };
        let (what, hint) = match &needs.custom {
            None if replicas.count() + 1 < self.all.len() => return Ok(()),
            None => (
                "the plan writes (workload.update_pct and the like)".to_owned(),
                "name a server that takes writes, or --set workload.update_pct=0",
            ),
            Some(custom) => (
                format!("{} writes", custom.writer.as_deref().unwrap_or("a workload")),
                "name servers that take writes, or a workload with writes = false",
            ),
        };
        reached.named(Err(Error::usage(format!("{why}: it takes reads only, and {what}"), hint)))
    }

    /// Locks all of them.
    pub(crate) fn lock(&self, work: Work, lead: &Lead<'_>) -> Result<Vec<Lock>, Error> {
        let holder = Holder::this_process(work);
        let one = |reached: &Reached| match reached.lock(&holder, self.claim, lead) {
            // Several ways to one database: the first has locked it for all.
            Err(error)
                if self.is_shared()
                    && error.kind == TargetErrorKind::Busy
                    && error.message.contains(&holder.to_string()) =>
            {
                Ok(Lock::needless())
            }
            outcome => reached.named(outcome),
        };
        self.all.iter().map(one).collect()
    }

    /// Waits until every target sees the data of `plan`, which was loaded through another one.
    pub(crate) fn wait_seen(&self, plan: &Plan, cancel: &Cancel) -> Result<(), Error> {
        let until = Instant::now() + SEEN_WITHIN;
        for reached in &self.all {
            let spec = reached.spec(plan)?;
            while let Err(error) = data::require(&reached.target, &spec, cancel) {
                if Instant::now() >= until || cancel.is_cancelled() || error.kind != TargetErrorKind::Data {
                    return reached.named(Err(error));
                }
                // A replica applies what it is sent in its own time, and no engine tells from outside when it has: so it is
                // asked again, for a bounded time.
                std::thread::sleep(LOOK_EVERY);
            }
        }
        Ok(())
    }
}

/// What `plan` claims of the servers of its targets.
pub(crate) fn claim(plan: &Plan) -> Claim {
    if plan.target.shared { Claim::Shared } else { Claim::Alone }
}

/// Refuses a target whose counters are those of another one: each would count the other's work.
fn refuse_overlap(known: &[Reached], own: &Reached) -> Result<(), Error> {
    let Some(instance) = &own.instance else { return Ok(()) };
    let same = |other: &Reached| {
        other.instance.as_ref().is_some_and(|o| o.shares_server(instance) && o.scope == instance.scope)
    };
    match known.iter().find(|other| same(other)) {
        None => Ok(()),
        Some(other) => own.named(Err(Error::usage(
            format!(
                "it is the same server and database as {}: each would count the other's work",
                other.target.url()
            ),
            "name it once; target.weights gives a target more sessions",
        ))),
    }
}
