//! The limit is what the platform itself fills: a quota, the client, processors.

use super::super::Component;
use super::super::evidence::{BottleneckInputs, Quota};
use super::super::finding::BottleneckFinding;
use super::super::parts::{
    ALWAYS_THROTTLED, CLEARLY_PCT, CLIENT_FULL_PCT, CPU_FULL_PCT, PLATFORM_FULL_PCT,
    PLATFORM_FULL_WAITING_PCT, QUOTA_FULL_PCT, THROTTLED_PCT, are_mostly_waiting,
};
use super::super::words;
use super::caveats::{OTHERS_MUCH_PCT, OTHERS_PCT};

/// The limit is a control group's CPU quota.
pub(super) fn quota(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let full = |quota: &Quota| {
        let (always, least) = ALWAYS_THROTTLED;
        quota.throttled_pct >= THROTTLED_PCT && quota.used_pct >= QUOTA_FULL_PCT
            || quota.throttled_pct >= always && quota.used_pct >= least
    };
    if let Some(quota) = inputs.server_quota.filter(full) {
        return Some(words::quota(Component::CpuQuota, "the database", quota));
    }
    let client_quota = inputs.own_quota.filter(full)?;
    let component = if inputs.in_process { Component::CpuQuota } else { Component::Client };
    Some(words::quota(component, "this program", client_quota))
}

/// The limit is the client: its threads and processors.
pub(super) fn client(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let pct = inputs.client_pct.filter(|pct| *pct >= CLIENT_FULL_PCT)?;
    // Sessions that mostly work in the database are not limited by the client.
    let inside = inputs.shares.outside.is_some_and(|outside| outside < 100.0 - CLEARLY_PCT);
    (!inside).then(|| words::client(inputs, pct))
}

/// The limit is the processors of a host. The sessions' time decides first: where they mostly wait
/// for something else, processors limit only if the platform itself fills them.
pub(super) fn processors(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let confined = inputs.confined.filter(|(_, pct)| *pct >= CPU_FULL_PCT);
    if let Some((cpus, pct)) = confined {
        return Some(words::confined(inputs, cpus, pct));
    }
    let full = |pct: Option<f64>| pct.filter(|pct| *pct >= CPU_FULL_PCT);
    let platform_pct = inputs.platform_pct();
    if are_mostly_waiting(inputs) && platform_pct.is_none_or(|pct| pct < PLATFORM_FULL_WAITING_PCT) {
        return None;
    }
    if inputs.remote_host.is_some() {
        let of_database = full(inputs.full_pct()).map(|pct| words::processors(inputs, pct, false));
        return of_database.or_else(|| full(inputs.driver_busy_pct).map(|pct| words::client(inputs, pct)));
    }
    let pct = full(inputs.full_pct())?;
    let others_pct = inputs.others_pct();
    if !inputs.same_host && !inputs.in_process {
        // The database is on another host, and the load of its processors is unknown.
        let by_others = platform_pct.is_some_and(|platform| platform < pct / 2.0)
            || others_pct.is_some_and(|others| others >= OTHERS_MUCH_PCT);
        return (!by_others).then(|| words::client(inputs, pct));
    }
    let is_shared = platform_pct.is_some_and(|platform| platform < PLATFORM_FULL_PCT)
        && others_pct.is_some_and(|others| others > OTHERS_PCT);
    Some(words::processors(inputs, pct, is_shared))
}
