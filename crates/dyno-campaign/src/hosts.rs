//! Machines of targets that are not this one: found in the plan, reached, and read by a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dyno_drive::FarHost;
use dyno_engine::advice::advice;
use dyno_engine::{Clock, MonotonicClock, patience};
use dyno_host::far::{Place, Way};
use dyno_plan::{HostSpec, Plan};
use dyno_record::private_file::open_secret_warning;
use dyno_record::{Advice, Identity, Severity};

use crate::error::Error;
use crate::event::{Event, Warning};
use crate::lead::Lead;
use crate::secrets;
use crate::targets::Reached;

/// The machine that `plan` names for the target at `at`.
pub(crate) fn spec(plan: &Plan, at: usize) -> Option<&HostSpec> {
    plan.observe.hosts.iter().find(|host| host.is_of(at))
}

/// The places on it that matter to the target: what the plan names, else what the database says.
pub(crate) fn places(spec: &HostSpec, identity: &Identity) -> Vec<Place> {
    let named = [("data", &spec.data, &identity.data_path), ("redo", &spec.redo, &identity.redo_path)];
    let path = |(name, own, told): (&str, &Option<String>, &Option<String>)| {
        let path = own.clone().or_else(|| told.clone().filter(|path| path.starts_with('/')))?;
        Some((name.to_owned(), path))
    };
    named.into_iter().filter_map(path).collect()
}

/// Reaches the machines of all targets, in their order.
///
/// # Errors
/// One cannot be reached, or says nothing that can be used.
pub(crate) fn reach(
    plan: &Plan,
    targets: &[Reached],
    clock: &Arc<dyn Clock>,
    lead: &Lead<'_>,
) -> Result<Vec<Option<Arc<FarHost>>>, Error> {
    let one = |(at, reached): (usize, &Reached)| {
        let Some(spec) = spec(plan, at) else { return Ok(None) };
        let host = one_host(spec, &reached.identity, clock, lead);
        reached.named(host.map(|host| Some(Arc::new(host))))
    };
    targets.iter().enumerate().map(one).collect()
}

/// The longest wait for a machine; each of its steps has a bound of its own.
const REACH_MAX: Duration = Duration::from_secs(90);

/// Reaches one, until the user wants to stop.
fn one_host(
    spec: &HostSpec,
    identity: &Identity,
    clock: &Arc<dyn Clock>,
    lead: &Lead<'_>,
) -> Result<FarHost, Error> {
    let file = spec.password_file.as_deref().map(Path::new);
    let open = file.and_then(|file| open_secret_warning("the password file of a host", file));
    open.into_iter().for_each(|words| lead.tell(Event::Warning(Warning::OpenSecret(words))));
    let words = [&spec.password_env, &spec.password_file].map(Option::as_deref);
    let way = Way {
        url: spec.url.clone(),
        password: secrets::named("observe.hosts", words)?.map(|secret| secret.expose().to_owned()),
        ca: spec.ca.as_ref().map(PathBuf::from),
        agents: lead.agents.clone(),
    };
    let (places, clock) = (places(spec, identity), Arc::clone(clock));
    let reach = move || Ok(FarHost::reach(&way, &places, &clock));
    Ok(patience::within(REACH_MAX, &lead.cancel, "reaching its machine", reach)??)
}

/// What there is to say of the machine of the target at `at`, where the plan names one: how it answers, and what it does not tell.
pub(crate) fn checked(lead: &Lead<'_>, plan: &Plan, at: usize, reached: &Reached) -> Vec<Advice> {
    let Some(spec) = spec(plan, at) else { return Vec::new() };
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
    match one_host(spec, &reached.identity, &clock, lead) {
        Ok(host) => found(&host),
        Err(error) => vec![advice("host", Severity::Fail, error.to_string(), error.hint())],
    }
}

/// Clocks that are farther apart than this are worth a word, s: its own times in logs are then none of ours.
const APART_S: f64 = 1.0;

fn found(host: &FarHost) -> Vec<Advice> {
    let own = &host.described.host;
    let ahead = host.ahead_s();
    let clock = ahead.map_or_else(
        || "its clock is not told".to_owned(),
        |(ahead_s, bound_s)| {
            let way = if ahead_s < 0.0 { "behind" } else { "ahead" };
            format!("its clock is {:.1} ms {way} (± {:.1})", ahead_s.abs() * 1e3, bound_s * 1e3)
        },
    );
    let devices = own.facts.iter().filter_map(|(name, device)| {
        let place = name.strip_prefix("place.")?.strip_suffix(".device")?;
        Some(format!(", {place} on {device}"))
    });
    let words = format!(
        "{}: {} with {} processors answers in {:.1} ms, {clock}{}",
        host.url,
        own.name,
        own.cpus,
        host.answers_in_s * 1e3,
        devices.collect::<String>()
    );
    let mut all = vec![advice("host", Severity::Ok, words, "")];
    if host.is_driver {
        all.push(advice(
            "host",
            Severity::Note,
            format!("{} is the machine that drives", host.url),
            "leave observe.hosts out where that is so: this machine is looked at in any case, and more closely",
        ));
    }
    if ahead.is_some_and(|(ahead_s, _)| ahead_s.abs() > APART_S) {
        let words = format!("{}: the two clocks are apart; figures go by the driver's", host.url);
        all.push(advice(
            "host",
            Severity::Note,
            words,
            "let both follow one time server, so that logs can be compared",
        ));
    }
    for (name, why) in &host.described.missing {
        let (severity, hint) = match name.starts_with("place.") {
            true => {
                (Severity::Warn, "name the place there: data = \"/PATH\", redo = \"/PATH\" in observe.hosts")
            }
            false => (Severity::Note, ""),
        };
        all.push(advice("host", severity, format!("{}: {name}: {why}", host.url), hint));
    }
    all
}
