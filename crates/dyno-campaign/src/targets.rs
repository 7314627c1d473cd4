//! All targets of a plan: reached, told apart, locked, and named in whatever goes wrong with one of several.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_drive::Aim;
use dyno_engine::{Cancel, Claim, Holder, Instance, Lock, Target, TargetError, TargetErrorKind, Work};
use dyno_plan::{DataSpec, Holding, Plan};
use dyno_record::Identity;

use crate::context;
use crate::exit::usage;
use crate::talk::Talk;

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
    pub(crate) fn named<T>(&self, outcome: anyhow::Result<T>) -> anyhow::Result<T> {
        named(&self.label, outcome)
    }

    /// The data that `plan` asks for on it.
    pub(crate) fn spec(&self, plan: &Plan) -> anyhow::Result<DataSpec> {
        self.named(context::spec(plan, &self.target))
    }

    /// As the drive takes it.
    pub(crate) fn aim(&self, spec: &DataSpec) -> Aim {
        Aim {
            target: Arc::clone(&self.target),
            identity: self.identity.clone(),
            spec: spec.clone(),
            host_paths: context::host_paths(&self.identity),
            reads_only: self.reads_only.clone(),
            instance: self.instance.clone(),
        }
    }
}

fn named<T>(label: &str, outcome: anyhow::Result<T>) -> anyhow::Result<T> {
    let Err(error) = outcome else { return outcome };
    if label.is_empty() {
        return Err(error);
    }
    Err(match error.downcast::<TargetError>() {
        Ok(error) => TargetError { message: format!("{label}{}", error.message), ..error }.into(),
        Err(error) => match error.downcast::<crate::exit::UsageError>() {
            Ok(error) => usage(format!("{label}{}", error.problem), error.hint),
            Err(error) => error.context(label.trim_end_matches(": ").to_owned()),
        },
    })
}

impl Targets {
    /// Reaches all targets of `plan`; two that would count each other's work are refused.
    pub(crate) fn reach(plan: &Plan, talk: &Talk) -> anyhow::Result<Self> {
        let several = plan.target.is_several();
        let mut all: Vec<Reached> = Vec::new();
        for (at, url) in plan.target.all().iter().enumerate() {
            let label = if several { format!("target {} ({url}): ", at + 1) } else { String::new() };
            let (target, identity) = named(&label, context::reach(plan, url, talk))?;
            let reads_only = named(&label, target.reads_only().map_err(Into::into))?;
            let instance = if several { named(&label, target.instance().map_err(Into::into))? } else { None };
            let reached = Reached { target, identity, reads_only, instance, data_note: None, label };
            refuse_overlap(&all, &reached)?;
            all.push(reached);
        }
        Ok(Self { all, holding: plan.target.data, claim: context::claim(plan) })
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
    pub(crate) fn holders(&self) -> anyhow::Result<Vec<&Reached>> {
        if self.is_several() && self.holding == Holding::Shared {
            let first = self.all.iter().find(|reached| reached.reads_only.is_none());
            return first.map(|first| vec![first]).ok_or_else(|| {
                usage(
                    "no target takes writes, so none can load or drop",
                    "name the primary among target.urls",
                )
            });
        }
        let replica = self.all.iter().find_map(|reached| Some((reached, reached.reads_only.as_ref()?)));
        match replica.filter(|_| self.is_several()) {
            Some((reached, why)) => reached.named(Err(usage(
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

    /// Refuses a plan that writes where no target takes writes.
    pub(crate) fn refuse_writes(&self, plan: &Plan) -> anyhow::Result<()> {
        if !plan.workload.writes() || self.all.iter().any(|reached| reached.reads_only.is_none()) {
            return Ok(());
        }
        let first = self.first();
        let why = first.reads_only.clone().unwrap_or_default();
        first.named(Err(usage(
            format!("{why}: it takes reads only, and the plan writes (workload.update_pct and the like)"),
            "name a server that takes writes, or --set workload.update_pct=0",
        )))
    }

    /// Locks all of them.
    pub(crate) fn lock(&self, work: Work, talk: &Talk) -> anyhow::Result<Vec<Lock>> {
        let holder = Holder::this_process(work);
        let one = |reached: &Reached| match context::lock(reached.target.as_ref(), &holder, self.claim, talk)
        {
            // Several ways to one database: the first has locked it for all.
            Err(error)
                if self.is_shared()
                    && error.kind == TargetErrorKind::Busy
                    && error.message.contains(&holder.to_string()) =>
            {
                Ok(Lock::needless())
            }
            outcome => reached.named(outcome.map_err(Into::into)),
        };
        self.all.iter().map(one).collect()
    }

    /// Waits until every target sees the data of `plan`, which was loaded through another one.
    pub(crate) fn wait_seen(&self, plan: &Plan, cancel: &Cancel) -> anyhow::Result<()> {
        let until = Instant::now() + SEEN_WITHIN;
        for reached in &self.all {
            let spec = reached.spec(plan)?;
            while let Err(error) = context::require_data(&reached.target, &spec, cancel) {
                if Instant::now() >= until || cancel.is_cancelled() || error.kind != TargetErrorKind::Data {
                    return reached.named(Err(error.into()));
                }
                // A replica applies what it is sent in its own time, and no engine tells from outside when it has: so it is
                // asked again, for a bounded time.
                std::thread::sleep(LOOK_EVERY);
            }
        }
        Ok(())
    }
}

/// Refuses a target whose counters are those of another one: each would count the other's work.
fn refuse_overlap(known: &[Reached], own: &Reached) -> anyhow::Result<()> {
    let Some(instance) = &own.instance else { return Ok(()) };
    let same = |other: &Reached| {
        other.instance.as_ref().is_some_and(|o| o.shares_server(instance) && o.scope == instance.scope)
    };
    match known.iter().find(|other| same(other)) {
        None => Ok(()),
        Some(other) => own.named(Err(usage(
            format!(
                "it is the same server and database as {}: each would count the other's work",
                other.target.url()
            ),
            "name it once; target.weights gives a target more sessions",
        ))),
    }
}
