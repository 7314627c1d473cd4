//! Compares CPU profiles: what the processors did in one run, and between two sides of a
//! comparison.
//!
//! A profile is a sample. The share of a function with `k` samples is known to about `±2·√k`
//! samples. So differences of one run each are reported with their possible error, and those of
//! several runs with their spread.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::profile::REST;
use dyno_record::{ALL, CpuKind, CpuProfile, DatabaseIn, Profile, RunRecord, SymbolShare};
use serde::{Deserialize, Serialize};

/// Most functions that a comparison reports, the largest differences first.
pub const GAINS_MAX: usize = 20;

/// The profile of a run with a result.
pub fn profile(record: &RunRecord) -> Option<&CpuProfile> {
    record.profile.as_ref().and_then(Profile::taken)
}

/// Busy processor time of the profile's host in the window, by the host's own counters, s.
pub fn busy_s(record: &RunRecord) -> Option<f64> {
    let profile = profile(record)?;
    let busy_pct = record.driver().counters.get("cpu.busy_pct")?;
    Some(busy_pct / 100.0 * f64::from(profile.cpus) * profile.seconds).filter(|busy_s| *busy_s > 0.0)
}

/// The same per operation of the window, µs; absent where no operation is counted. It covers the
/// whole host; a process has a share of it.
pub fn busy_us_per_op(record: &RunRecord) -> Option<f64> {
    let ops = record.ops.get(ALL).map(|all| all.count).filter(|count| *count > 0)?;
    Some(1e6 * busy_s(record)? / ops as f64)
}

/// Whether the time of a process may belong to the run: the database's, Dyno's, and the kernel's
/// own threads'. Where the database cannot be distinguished from others, theirs too.
pub fn is_of_run(profile: &CpuProfile, process: CpuKind) -> bool {
    match process {
        CpuKind::Kernel | CpuKind::Database | CpuKind::Dyno => true,
        CpuKind::Perf => false,
        CpuKind::Other => profile.database == DatabaseIn::Unknown,
    }
}

/// The share of processes that satisfy [`is_of_run`] in the busy processor time, %.
pub fn share_of_run_pct(profile: &CpuProfile) -> f64 {
    let run_processes =
        profile.processes.iter().filter(|one| one.name != REST && is_of_run(profile, one.kind));
    run_processes.map(|one| one.share_pct).sum()
}

/// A function on both sides of a comparison, or on one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileFunctionChange {
    pub process: String,
    pub symbol: String,
    /// The file that contains it, without its folder.
    pub module: String,
    pub a: ProfileFunctionShare,
    pub b: ProfileFunctionShare,
    /// The second side minus the first, in the unit of the comparison.
    pub gain: f64,
    /// Whether the difference exceeds both sides' spread and the sampling error.
    pub is_clear: bool,
}

/// A function's part on one side, over its runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ProfileFunctionShare {
    /// The mean of its runs, in the unit of the comparison. A run that does not list the function
    /// counts as 0: its share may be below the smallest listed one.
    pub mean: f64,
    /// The lowest and the highest of its runs.
    pub range: (f64, f64),
    /// Samples in all of its runs.
    pub samples: u64,
}

/// The functions whose processor time rose or fell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileComparison {
    /// Whether parts are µs of processor time per operation; otherwise they are % of the busy
    /// processor time.
    pub per_op: bool,
    /// Runs with a profile on each side.
    pub runs: (usize, usize),
    /// The total of the database, Dyno and the kernel's own threads, on each side.
    pub whole: (f64, f64),
    /// The functions, the largest differences first.
    pub gains: Vec<ProfileFunctionChange>,
    /// Number of functions left out, whose differences are smaller.
    pub left_out: usize,
}

/// Program, function and file, which identify a function.
type FunctionName = (String, String, String);

/// One run with a profile.
struct ProfiledRun {
    /// Processor time of the host per operation, µs.
    whole: Option<f64>,
    /// The part that may belong to the run, first in %, then in the unit of the comparison; the
    /// same holds for the functions.
    of_run_pct: f64,
    parts: BTreeMap<FunctionName, (f64, u64)>,
}

/// Compares the profiles of two sides; absent where a side has none.
pub fn gains(a: &[&RunRecord], b: &[&RunRecord]) -> Option<ProfileComparison> {
    let profiled_runs = |side: &[&RunRecord]| -> Vec<ProfiledRun> {
        let profiles = side.iter().filter_map(|record| Some((busy_us_per_op(record), profile(record)?)));
        profiles
            .map(|(per_op, profile)| ProfiledRun {
                whole: per_op,
                of_run_pct: share_of_run_pct(profile),
                parts: parts(profile),
            })
            .collect()
    };
    let (mut a, mut b) = (profiled_runs(a), profiled_runs(b));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    // Shares alone mislead where one side does more: a share may grow only because others shrink.
    let per_op = a.iter().chain(&b).all(|run| run.whole.is_some());
    for run in a.iter_mut().chain(&mut b) {
        let unit = run.whole.filter(|_| per_op).unwrap_or(100.0) / 100.0;
        run.of_run_pct *= unit;
        run.parts.values_mut().for_each(|(share, _)| *share *= unit);
    }
    let mean = |side: &[ProfiledRun]| side.iter().map(|run| run.of_run_pct).sum::<f64>() / side.len() as f64;
    let names: BTreeSet<&FunctionName> = a.iter().chain(&b).flat_map(|run| run.parts.keys()).collect();
    let mut all: Vec<ProfileFunctionChange> =
        names.iter().map(|name| gain(name, &part(&a, name), &part(&b, name))).collect();
    all.sort_by(|x, y| y.gain.abs().total_cmp(&x.gain.abs()));
    let left_out = all.len().saturating_sub(GAINS_MAX);
    all.truncate(GAINS_MAX);
    Some(ProfileComparison {
        per_op,
        runs: (a.len(), b.len()),
        whole: (mean(&a), mean(&b)),
        gains: all,
        left_out,
    })
}

/// Share and samples by function, for processes that may belong to the run.
fn parts(profile: &CpuProfile) -> BTreeMap<FunctionName, (f64, u64)> {
    let mut parts: BTreeMap<FunctionName, (f64, u64)> = BTreeMap::new();
    let is_relevant =
        |symbol: &&SymbolShare| symbol.symbol != REST && is_of_run(profile, symbol.process_kind);
    for symbol in profile.symbols.iter().filter(is_relevant) {
        let SymbolShare { process, symbol, module, samples, share_pct, .. } = symbol;
        // Two builds of a server are in different folders.
        let module = module.rsplit('/').next().unwrap_or_default().to_owned();
        let part = parts.entry((process.clone(), symbol.clone(), module)).or_default();
        *part = (part.0 + share_pct, part.1 + samples);
    }
    parts
}

fn part(side: &[ProfiledRun], name: &FunctionName) -> ProfileFunctionShare {
    let run_shares: Vec<(f64, u64)> =
        side.iter().map(|run| run.parts.get(name).copied().unwrap_or_default()).collect();
    let values = || run_shares.iter().map(|(value, _)| *value);
    ProfileFunctionShare {
        mean: values().sum::<f64>() / run_shares.len() as f64,
        range: (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)),
        samples: run_shares.iter().map(|(_, samples)| samples).sum(),
    }
}

fn gain(
    (process, symbol, module): &FunctionName,
    a: &ProfileFunctionShare,
    b: &ProfileFunctionShare,
) -> ProfileFunctionChange {
    // Two standard deviations of either count; a function without samples may have missed two by
    // chance.
    let off = |part: &ProfileFunctionShare| match part.samples {
        0 => 0.0,
        samples => part.mean * 2.0 / (samples as f64).sqrt(),
    };
    let chance = off(a).hypot(off(b));
    let gain = b.mean - a.mean;
    let apart = a.range.1 < b.range.0 || b.range.1 < a.range.0;
    let enough = a.samples.max(b.samples) >= 10;
    ProfileFunctionChange {
        process: process.clone(),
        symbol: symbol.clone(),
        module: module.clone(),
        a: *a,
        b: *b,
        gain,
        is_clear: apart && enough && gain.abs() > chance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn run(ops: u64, shares: &[(&str, f64)]) -> RunRecord {
        let mut record = fixture::postgres();
        record.ops.get_mut(ALL).unwrap().count = ops;
        let host = record.hosts.iter_mut().find(|host| host.roles.contains(&dyno_record::Role::Driver));
        host.unwrap().counters.insert("cpu.busy_pct".into(), 50.0);
        let symbol = |(name, share): &(&str, f64)| SymbolShare {
            process: "server".into(),
            process_kind: if *name == "make" { CpuKind::Other } else { CpuKind::Database },
            symbol: (*name).into(),
            module: "/usr/bin/server".into(),
            samples: (share * 100.0) as u64,
            share_pct: *share,
            ..SymbolShare::default()
        };
        record.profile = Some(Profile::Taken(Box::new(CpuProfile {
            cpus: 2,
            seconds: 10.0,
            database: DatabaseIn::Processes,
            processes: vec![dyno_record::ProcessShare {
                name: "server".into(),
                kind: CpuKind::Database,
                samples: 1,
                share_pct: shares.iter().filter(|(name, _)| *name != "make").map(|(_, share)| share).sum(),
            }],
            symbols: shares.iter().map(symbol).collect(),
            ..CpuProfile::default()
        })));
        record
    }

    #[test]
    fn function_gain_is_judged_by_time_per_operation_not_share() {
        // The same work of `steady`, whose share grows as the rest shrinks.
        let a = run(100_000, &[("steady", 20.0), ("slow", 80.0)]);
        let b = run(200_000, &[("steady", 40.0), ("slow", 60.0)]);
        assert_eq!(busy_us_per_op(&a), Some(100.0));
        let gains = gains(&[&a], &[&b]).unwrap();
        assert!(gains.per_op);
        assert_eq!(gains.whole, (100.0, 50.0));
        let listed: Vec<_> =
            gains.gains.iter().map(|gain| (gain.symbol.as_str(), gain.gain, gain.is_clear)).collect();
        assert_eq!(listed, [("slow", -50.0, true), ("steady", 0.0, false)]);
    }

    #[test]
    fn profile_symbols_in_one_side_only_are_listed_and_noise_is_not() {
        let a = [run(100, &[("x", 50.0), ("y", 1.0)]), run(100, &[("x", 52.0), ("y", 1.2)])];
        let b =
            [run(100, &[("x", 51.0), ("new", 40.0)]), run(100, &[("x", 49.0), ("new", 42.0), (REST, 9.0)])];
        let comparison = gains(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(comparison.runs, (2, 2));
        let find_gain = |name: &str| comparison.gains.iter().find(|gain| gain.symbol == name);
        let new = find_gain("new").unwrap();
        assert!(new.is_clear, "{new:?}");
        assert!(new.a == ProfileFunctionShare::default(), "{new:?}");
        assert!(new.b.range.0 < new.b.range.1);
        assert!(!find_gain("x").unwrap().is_clear, "both sides' runs overlap");
        assert!(find_gain(REST).is_none(), "all that is small is no function");
    }

    #[test]
    fn cpu_time_of_other_processes_adds_no_operation_cost() {
        let (a, b) = (run(100_000, &[("x", 50.0)]), run(100_000, &[("x", 50.0), ("make", 50.0)]));
        let comparison = gains(&[&a], &[&b]).unwrap();
        assert_eq!(comparison.whole, (50.0, 50.0));
        assert!(comparison.gains.iter().all(|gain| gain.symbol != "make"), "{comparison:?}");
        // Where they may be the database, that cannot be excluded.
        let mut unknown = [a, b];
        for record in &mut unknown {
            let Some(Profile::Taken(profile)) = &mut record.profile else { unreachable!() };
            profile.database = DatabaseIn::Unknown;
        }
        let ambiguous = gains(&[&unknown[0]], &[&unknown[1]]).unwrap();
        assert!(ambiguous.gains.iter().any(|gain| gain.symbol == "make"), "{ambiguous:?}");
    }

    #[test]
    fn profile_comparison_is_absent_without_both_profiles() {
        let (with, without) = (run(1, &[("x", 1.0)]), fixture::postgres());
        assert_eq!(gains(&[&with], &[&without]), None);
        // Where operations are not counted, only shares are known.
        let mut uncounted = run(1, &[("x", 30.0)]);
        uncounted.ops.clear();
        let comparison = gains(&[&with], &[&uncounted]).unwrap();
        assert!(!comparison.per_op, "{comparison:?}");
        assert!(comparison.gains[0].gain == 29.0, "{comparison:?}");
    }
}
