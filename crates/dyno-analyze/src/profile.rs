//! What the processors did, from profiles: in one run, and between two sides of a comparison.
//!
//! A profile is a sample: a function with `k` samples has a share that is known to about `±2·√k` samples, so small
//! differences of one run each are told with how much they can be off, and of several runs with their spread.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::profile::REST;
use dyno_record::{ALL, CpuKind, CpuProfile, DatabaseIn, Profile, RunRecord, SymbolShare};
use serde::{Deserialize, Serialize};

/// Functions of a comparison that are told at most; the largest differences come first.
pub const GAINS_MAX: usize = 20;

/// The profile of a run that is a result.
pub fn profile(record: &RunRecord) -> Option<&CpuProfile> {
    record.profile.as_ref().and_then(Profile::taken)
}

/// Time that processors of the profile's machine were at work in the window, by its own counters, s.
pub fn busy_s(record: &RunRecord) -> Option<f64> {
    let profile = profile(record)?;
    let busy_pct = record.driver().counters.get("cpu.busy_pct")?;
    Some(busy_pct / 100.0 * f64::from(profile.cpus) * profile.seconds).filter(|busy_s| *busy_s > 0.0)
}

/// The same for each operation of the window, µs; absent where none is counted. The whole machine's: shares of it are a process's.
pub fn busy_us_per_op(record: &RunRecord) -> Option<f64> {
    let ops = record.ops.get(ALL).map(|all| all.count).filter(|count| *count > 0)?;
    Some(1e6 * busy_s(record)? / ops as f64)
}

/// Whether time of a process may be the run's: the database's, Dyno's, and the kernel's own threads'. Where the database cannot be
/// told from others, theirs too.
pub fn is_of_run(profile: &CpuProfile, process: CpuKind) -> bool {
    match process {
        CpuKind::Kernel | CpuKind::Database | CpuKind::Dyno => true,
        CpuKind::Perf => false,
        CpuKind::Other => profile.database == DatabaseIn::Unknown,
    }
}

/// The share of what [`is_of_run`] in the time that processors were at work, %.
pub fn share_of_run_pct(profile: &CpuProfile) -> f64 {
    let own = profile.processes.iter().filter(|one| one.name != REST && is_of_run(profile, one.kind));
    own.map(|one| one.share_pct).sum()
}

/// A function on both sides of a comparison, or on one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// The program.
    pub process: String,
    /// The function.
    pub symbol: String,
    /// The file that it is in, without its folder.
    pub module: String,
    /// The first side.
    pub a: Part,
    /// The second side.
    pub b: Part,
    /// The second less the first, in the unit of the comparison.
    pub gain: f64,
    /// Whether that is more than both sides' spread, and more than the samples' chance.
    pub is_clear: bool,
}

/// What one side has of a function, over its runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The mean of its runs, in the unit of the comparison. A run that does not name the function has none of it: it may have less
    /// than the smallest that its profile names.
    pub mean: f64,
    /// The least and the most of its runs.
    pub range: (f64, f64),
    /// Samples in all of them.
    pub samples: u64,
}

/// Which functions took more and which took less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gains {
    /// Whether parts are µs of processor time for each operation; else they are % of the time that processors were at work.
    pub per_op: bool,
    /// Runs with a profile on each side.
    pub runs: (usize, usize),
    /// The whole of the database, Dyno and the kernel's own threads, on each side.
    pub whole: (f64, f64),
    /// The functions, the largest differences first.
    pub gains: Vec<Gain>,
    /// The functions that are not told, whose differences are smaller.
    pub left_out: usize,
}

/// Program, function, file.
type Name = (String, String, String);

/// One run.
struct Measured {
    /// µs of the machine for each operation.
    whole: Option<f64>,
    /// What may be the run's, in % at first, then in the unit of the comparison; so are the parts.
    of_run_pct: f64,
    parts: BTreeMap<Name, (f64, u64)>,
}

/// Compares the profiles of two sides; absent where a side has none.
pub fn gains(a: &[&RunRecord], b: &[&RunRecord]) -> Option<Gains> {
    let of = |side: &[&RunRecord]| -> Vec<Measured> {
        let each = side.iter().filter_map(|record| Some((busy_us_per_op(record), profile(record)?)));
        each.map(|(per_op, profile)| Measured {
            whole: per_op,
            of_run_pct: share_of_run_pct(profile),
            parts: parts(profile),
        })
        .collect()
    };
    let (mut a, mut b) = (of(a), of(b));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    // Shares alone mislead where one side does more: what grew may only be what did not shrink.
    let per_op = a.iter().chain(&b).all(|run| run.whole.is_some());
    for run in a.iter_mut().chain(&mut b) {
        let unit = run.whole.filter(|_| per_op).unwrap_or(100.0) / 100.0;
        run.of_run_pct *= unit;
        run.parts.values_mut().for_each(|(share, _)| *share *= unit);
    }
    let mean = |side: &[Measured]| side.iter().map(|run| run.of_run_pct).sum::<f64>() / side.len() as f64;
    let names: BTreeSet<&Name> = a.iter().chain(&b).flat_map(|run| run.parts.keys()).collect();
    let mut all: Vec<Gain> = names.iter().map(|name| gain(name, &part(&a, name), &part(&b, name))).collect();
    all.sort_by(|x, y| y.gain.abs().total_cmp(&x.gain.abs()));
    let left_out = all.len().saturating_sub(GAINS_MAX);
    all.truncate(GAINS_MAX);
    Some(Gains { per_op, runs: (a.len(), b.len()), whole: (mean(&a), mean(&b)), gains: all, left_out })
}

/// Share and samples by function of what may be the run's.
fn parts(profile: &CpuProfile) -> BTreeMap<Name, (f64, u64)> {
    let mut parts: BTreeMap<Name, (f64, u64)> = BTreeMap::new();
    let own = |symbol: &&SymbolShare| symbol.symbol != REST && is_of_run(profile, symbol.process_kind);
    for symbol in profile.symbols.iter().filter(own) {
        let SymbolShare { process, symbol, module, samples, share_pct, .. } = symbol;
        // Two builds of a server are in different folders.
        let module = module.rsplit('/').next().unwrap_or_default().to_owned();
        let part = parts.entry((process.clone(), symbol.clone(), module)).or_default();
        *part = (part.0 + share_pct, part.1 + samples);
    }
    parts
}

fn part(side: &[Measured], name: &Name) -> Part {
    let each: Vec<(f64, u64)> =
        side.iter().map(|run| run.parts.get(name).copied().unwrap_or_default()).collect();
    let values = || each.iter().map(|(value, _)| *value);
    Part {
        mean: values().sum::<f64>() / each.len() as f64,
        range: (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)),
        samples: each.iter().map(|(_, samples)| samples).sum(),
    }
}

fn gain((process, symbol, module): &Name, a: &Part, b: &Part) -> Gain {
    // Two standard deviations of either count; what has no sample may have had two by chance.
    let off = |part: &Part| match part.samples {
        0 => 0.0,
        samples => part.mean * 2.0 / (samples as f64).sqrt(),
    };
    let chance = off(a).hypot(off(b));
    let gain = b.mean - a.mean;
    let apart = a.range.1 < b.range.0 || b.range.1 < a.range.0;
    let enough = a.samples.max(b.samples) >= 10;
    Gain {
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
    fn a_function_is_told_by_its_time_and_not_by_its_share() {
        // The same work of `steady`, whose share grows as the rest shrinks.
        let a = run(100_000, &[("steady", 20.0), ("slow", 80.0)]);
        let b = run(200_000, &[("steady", 40.0), ("slow", 60.0)]);
        assert_eq!(busy_us_per_op(&a), Some(100.0));
        let gains = gains(&[&a], &[&b]).unwrap();
        assert!(gains.per_op);
        assert_eq!(gains.whole, (100.0, 50.0));
        let found: Vec<_> =
            gains.gains.iter().map(|gain| (gain.symbol.as_str(), gain.gain, gain.is_clear)).collect();
        assert_eq!(found, [("slow", -50.0, true), ("steady", 0.0, false)]);
    }

    #[test]
    fn what_only_one_side_has_is_told_and_chance_is_not() {
        let a = [run(100, &[("x", 50.0), ("y", 1.0)]), run(100, &[("x", 52.0), ("y", 1.2)])];
        let b =
            [run(100, &[("x", 51.0), ("new", 40.0)]), run(100, &[("x", 49.0), ("new", 42.0), (REST, 9.0)])];
        let found = gains(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(found.runs, (2, 2));
        let of = |name: &str| found.gains.iter().find(|gain| gain.symbol == name);
        let new = of("new").unwrap();
        assert!(new.is_clear && new.a == Part::default(), "{new:?}");
        assert!(new.b.range.0 < new.b.range.1);
        assert!(!of("x").unwrap().is_clear, "both sides' runs overlap");
        assert!(of(REST).is_none(), "all that is small is no function");
    }

    #[test]
    fn what_others_did_costs_no_operation() {
        let (a, b) = (run(100_000, &[("x", 50.0)]), run(100_000, &[("x", 50.0), ("make", 50.0)]));
        let found = gains(&[&a], &[&b]).unwrap();
        assert_eq!(found.whole, (50.0, 50.0));
        assert!(found.gains.iter().all(|gain| gain.symbol != "make"), "{found:?}");
        // Where they may be the database, nobody knows that it does not.
        let mut unknown = [a, b];
        for record in &mut unknown {
            let Some(Profile::Taken(profile)) = &mut record.profile else { unreachable!() };
            profile.database = DatabaseIn::Unknown;
        }
        let found = gains(&[&unknown[0]], &[&unknown[1]]).unwrap();
        assert!(found.gains.iter().any(|gain| gain.symbol == "make"), "{found:?}");
    }

    #[test]
    fn nothing_is_said_where_a_side_has_no_profile() {
        let (with, without) = (run(1, &[("x", 1.0)]), fixture::postgres());
        assert_eq!(gains(&[&with], &[&without]), None);
        // Where operations are not counted, shares are all that is known.
        let mut uncounted = run(1, &[("x", 30.0)]);
        uncounted.ops.clear();
        let found = gains(&[&with], &[&uncounted]).unwrap();
        assert!(!found.per_op && found.gains[0].gain == 29.0, "{found:?}");
    }
}
