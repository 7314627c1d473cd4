//! Connects to the machines of remote targets that the plan names, so that a run can read their counters.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dyno_engine::advice::advice;
use dyno_engine::{Clock, MonotonicClock, bounded_query};
use dyno_host::remote::{HostAccess, HostPlace};
use dyno_observe::RemoteHost;
use dyno_plan::{HostSpec, Plan};
use dyno_record::private_file::open_secret_warning;
use dyno_record::{Advice, Identity, Severity};

use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, Warning};
use crate::secrets;
use crate::targets::ReachedTarget;

/// Returns the machine that `plan` names for target `at`; absent if it names none.
pub(crate) fn host_spec(plan: &Plan, at: usize) -> Option<&HostSpec> {
    plan.observe.hosts.iter().find(|host| host.is_of(at))
}

/// Returns the paths on the machine that matter to the target: from the plan, otherwise from the database.
pub(crate) fn places(spec: &HostSpec, identity: &Identity) -> Vec<HostPlace> {
    let named = [("data", &spec.data, &identity.data_path), ("redo", &spec.redo, &identity.redo_path)];
    let path = |(name, planned_path, reported_path): (&str, &Option<String>, &Option<String>)| {
        let path =
            planned_path.clone().or_else(|| reported_path.clone().filter(|path| path.starts_with('/')))?;
        Some((name.to_owned(), path))
    };
    named.into_iter().filter_map(path).collect()
}

/// Connects to the machines of all targets, in the order of the targets.
///
/// # Errors
/// A machine cannot be reached, or returns nothing usable.
pub(crate) fn connect_hosts(
    plan: &Plan,
    targets: &[ReachedTarget],
    clock: &Arc<dyn Clock>,
    ctx: &CampaignContext<'_>,
) -> Result<Vec<Option<Arc<RemoteHost>>>, Error> {
    let connect_one = |(at, reached): (usize, &ReachedTarget)| {
        let Some(spec) = host_spec(plan, at) else { return Ok(None) };
        let host = connect_host(spec, &reached.identity, clock, ctx);
        reached.named(host.map(|host| Some(Arc::new(host))))
    };
    targets.iter().enumerate().map(connect_one).collect()
}

/// Longest wait for a machine; each step of the connection has its own limit.
const REACH_MAX: Duration = Duration::from_secs(90);

/// Connects to one machine; stops if the user cancels.
fn connect_host(
    spec: &HostSpec,
    identity: &Identity,
    clock: &Arc<dyn Clock>,
    ctx: &CampaignContext<'_>,
) -> Result<RemoteHost, Error> {
    let file = spec.password_file.as_deref().map(Path::new);
    let open = file.and_then(|file| open_secret_warning("the password file of a host", file));
    open.into_iter().for_each(|words| ctx.emit(CampaignEvent::Warning(Warning::OpenSecret(words))));
    let words = [&spec.password_env, &spec.password_file].map(Option::as_deref);
    let way = HostAccess {
        url: spec.url.clone(),
        password: secrets::named("observe.hosts", words)?.map(|secret| secret.expose().to_owned()),
        ca: spec.ca.as_ref().map(PathBuf::from),
        agents: ctx.agents.clone(),
    };
    let (places, clock) = (places(spec, identity), Arc::clone(clock));
    let reach = move || Ok(RemoteHost::reach(&way, &places, &clock));
    Ok(bounded_query::within(REACH_MAX, &ctx.cancel, "connecting to its host", reach)??)
}

/// Checks the machine of target `at`: whether it answers, and which counters are missing. Empty if the plan
/// names none.
pub(crate) fn check_host(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    at: usize,
    reached: &ReachedTarget,
) -> Vec<Advice> {
    let Some(spec) = host_spec(plan, at) else { return Vec::new() };
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
    match connect_host(spec, &reached.identity, &clock, ctx) {
        Ok(host) => host_advice(&host),
        Err(error) => vec![advice("host", Severity::Fail, error.to_string(), error.hint())],
    }
}

/// Clock difference that is reported, s. Beyond it, times in the machine's logs cannot be matched with a run.
const APART_S: f64 = 1.0;

fn host_advice(host: &RemoteHost) -> Vec<Advice> {
    let host_facts = &host.described.host;
    let ahead = host.ahead_s();
    let clock = ahead.map_or_else(
        || "its clock offset is unknown".to_owned(),
        |(ahead_s, bound_s)| {
            let way = if ahead_s < 0.0 { "behind" } else { "ahead" };
            format!("its clock is {:.1} ms {way} (± {:.1})", ahead_s.abs() * 1e3, bound_s * 1e3)
        },
    );
    let devices = host_facts.facts.iter().filter_map(|(name, device)| {
        let place = name.strip_prefix("place.")?.strip_suffix(".device")?;
        Some(format!(", {place} on {device}"))
    });
    let words = format!(
        "{}: {} with {} processors answers in {:.1} ms, {clock}{}",
        host.url,
        host_facts.name,
        host_facts.cpus,
        host.answers_in_s * 1e3,
        devices.collect::<String>()
    );
    let mut all = vec![advice("host", Severity::Ok, words, "")];
    if host.is_driver {
        all.push(advice(
            "host",
            Severity::Note,
            format!("{} is the driver host", host.url),
            "remove it from observe.hosts: Dyno always observes the driver host, and in more detail",
        ));
    }
    if ahead.is_some_and(|(ahead_s, _)| ahead_s.abs() > APART_S) {
        let words = format!(
            "{}: its clock differs from the driver host's; figures use the driver host's clock",
            host.url
        );
        all.push(advice(
            "host",
            Severity::Note,
            words,
            "synchronize both hosts with one time server, so that logs can be compared",
        ));
    }
    for (name, why) in &host.described.missing {
        let (severity, hint) = match name.starts_with("place.") {
            true => (
                Severity::Warn,
                "name the path on that host: data = \"/PATH\", redo = \"/PATH\" in observe.hosts",
            ),
            false => (Severity::Note, ""),
        };
        all.push(advice("host", severity, format!("{}: {name}: {why}", host.url), hint));
    }
    all
}
