//! Rules that separate keys of the block workload from those of custom workloads.

use crate::plan::{Plan, WorkloadSettings};

/// Whether the key `path` belongs to the operations or data of the block workload.
pub fn is_of_method(path: &str) -> bool {
    path.starts_with("data.") || (path != OF_THE_METHOD[0] && OF_THE_METHOD.contains(&path))
}

/// Keys of the block workload that custom workloads do not have.
pub(super) const OF_THE_METHOD: &[&str] = &[
    "workload.folder",
    "workload.update_pct",
    "workload.scan_pct",
    "workload.lookup_pct",
    "workload.secondary_pct",
    "workload.insert_pct",
    "workload.delete_pct",
    "workload.work_unit",
    "workload.keys",
    "workload.hot_spot_every",
    "workload.hot_schema_every",
    "workload.redo",
    "workload.drive",
    "data.schemas",
];

pub(super) fn own_transactions(plan: &Plan) -> Option<(String, &'static str)> {
    let (method, workload) = (WorkloadSettings::default(), &plan.workload);
    let folder = workload.folder.as_ref()?;
    // Keys that both kinds of workload have.
    let common = WorkloadSettings {
        folder: Some(folder.clone()),
        scale: workload.scale,
        mix: workload.mix.clone(),
        options: workload.options.clone(),
        beside: workload.beside.clone(),
        beside_mix: workload.beside_mix.clone(),
        beside_sessions: workload.beside_sessions.clone(),
        beside_rate: workload.beside_rate.clone(),
        own_rates: workload.own_rates.clone(),
        rate: workload.rate,
        phases: workload.phases.clone(),
        arrivals: workload.arrivals,
        seed: workload.seed,
        commit: workload.commit,
        protocol: workload.protocol,
        connect: workload.connect,
        think_every: workload.think_every,
        think_min: workload.think_min,
        think_max: workload.think_max,
        think_compensated: workload.think_compensated,
        zipf_exponent: workload.zipf_exponent,
        hot_spot_offset: workload.hot_spot_offset,
        hot_spot_size: workload.hot_spot_size,
        ..method
    };
    if *workload != common {
        let problem =
            format!("keys of the block workload are set together with the transactions of {folder}");
        return Some((problem, "remove workload.folder, or the other keys of [workload]"));
    }
    let schemas = plan.data.schemas;
    (schemas > 1).then(|| {
        let problem = format!("{schemas} schemas of test data, but the transactions of {folder} use none");
        (problem, "write data.schemas = 1; run.sessions_per_schema is the number of sessions")
    })
}

pub(super) fn beside(plan: &Plan) -> Option<(String, &'static str)> {
    let workload = &plan.workload;
    let besides = workload.beside.len();
    if besides == 0 {
        return None;
    }
    let lengths = [workload.beside_mix.len(), workload.beside_sessions.len(), workload.beside_rate.len()];
    let wrong = lengths.into_iter().find(|&length| length > 0 && length != besides)?;
    let problem = format!("{wrong} values for {besides} workloads of workload.beside");
    Some((problem, "write one value for each entry of workload.beside, or omit the key"))
}
