//! Compares a test with its machine: its result as a share of what the machine reaches without a
//! database.

use dyno_record::{Calibration, RawFigure, RawTest, RunRecord};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::step::SuiteTestStep;
use crate::number::{figure, fixed, percent};

/// Factor by which the size of the database's requests may differ from the calibrated size.
const NEAR: f64 = 2.0;
/// Share of the raw limit, %, above which the result exceeds what the device can do, beyond
/// measurement error.
const MORE_FROM_PCT: f64 = 105.0;

/// Share of the requests that must reach the device; below it the comparison mentions the
/// difference.
const REACHED_ALL: f64 = 0.95;

/// A result beside the raw limit of the same machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawShare {
    /// Id of the calibration that has the limit.
    pub calibration: String,
    /// The step's figure, by its name in records.
    pub figure: String,
    pub value: f64,
    /// The raw limit, in the same unit.
    pub limit: f64,
    /// The value's share of the limit, %.
    pub share_pct: f64,
    /// What exactly is compared, in a sentence.
    pub words: String,
}

impl RawShare {
    /// Whether it exceeds what the device can do, so something else has answered.
    pub fn exceeds_limit(&self) -> bool {
        self.share_pct > MORE_FROM_PCT
    }
}

/// The calibrations of the machine and device of these runs, the newest first. The device is the
/// one that holds the data or the redo, depending on the test.
fn of_machine<'c>(test: RawTest, calibrations: &'c [RunRecord], runs: &[RunRecord]) -> Vec<&'c RunRecord> {
    let host = runs.iter().find_map(|run| run.database_host());
    let Some(host) = host else { return Vec::new() };
    let place = |name: &str| host.facts.get(name);
    let redo = match test {
        RawTest::GroupCommit | RawTest::SequentialWrite => place("place.redo.device"),
        _ => None,
    };
    let Some(device) = redo.or_else(|| place("place.data.device")) else { return Vec::new() };
    let size = |host: &dyno_record::Host| host.facts.get(&format!("device.{device}.size_bytes")).cloned();
    let is_same = |made: &&RunRecord| {
        let calibrated_host = made.host();
        (&calibrated_host.name, &calibrated_host.cpu_model, calibrated_host.cpus)
            == (&host.name, &host.cpu_model, host.cpus)
            && size(calibrated_host) == size(host)
            && made.calibration.as_ref().is_some_and(|own| own.device.as_ref() == Some(device))
    };
    calibrations.iter().filter(is_same).collect()
}

/// Compares the best step with the newest of `calibrations` that has the limit; `None` where none
/// has it.
pub(super) fn of_raw(
    test: RawTest,
    step: &SuiteTestStep,
    calibrations: &[RunRecord],
    runs: &[RunRecord],
) -> Option<RawShare> {
    let (name, value, block) = compared_figure(test, step)?;
    let machine_calibrations = of_machine(test, calibrations, runs);
    let (made, (raw, what)) = machine_calibrations
        .into_iter()
        .find_map(|made| Some((made, limit(made.calibration.as_ref()?, test, step.sessions, block)?)))?;
    let id = made.id.clone();
    let share_pct = value / raw * 100.0;
    if !share_pct.is_finite() {
        return None;
    }
    let (unit, per) = match test {
        RawTest::RandomRead => ("read requests/s", "/s"),
        RawTest::SequentialRead => ("MB/s read", " MB/s"),
        RawTest::SequentialWrite => ("MB/s of redo", " MB/s"),
        _ => ("commits/s", "/s"),
    };
    let more = match share_pct > MORE_FROM_PCT {
        true if test == RawTest::GroupCommit => {
            ": more than its syncs, so not every commit waited for a sync of its own"
        }
        true => ": more than the device gave, so a cache answered",
        false => "",
    };
    let asked_for = step.figures.get(name).copied().unwrap_or(value);
    let reached = match value < asked_for * REACHED_ALL {
        true => format!(", all that reached the device of {},", figure(asked_for)),
        false => String::new(),
    };
    let words = format!(
        "{} {unit}{reached} are {} % of the {}{per} that {what} gave (calibration {id}, {}){more}",
        figure(value),
        percent(share_pct),
        figure(raw),
        age(made, runs)
    );
    Some(RawShare { calibration: id, figure: name.to_owned(), value, limit: raw, share_pct, words })
}

/// The step's figure that is compared with the limit: its name, its value, and the mean size of its
/// requests in bytes. For reads, at most what the device counted, where that is known.
fn compared_figure(test: RawTest, step: &SuiteTestStep) -> Option<(&'static str, f64, f64)> {
    let get = |name: &str| step.figures.get(name).copied();
    let reached = |own: f64, device: &str| get(device).map_or(own, |device| own.min(device));
    let compared_figure = match test {
        RawTest::RandomRead => {
            let requests = get("physical_read_requests_per_s")?;
            let block = get("physical_read_mb_per_s")? * 1e6 / requests;
            ("physical_read_requests_per_s", reached(requests, "device_reads_per_s"), block)
        }
        RawTest::SequentialRead => {
            let database_mb_per_s = get("physical_read_mb_per_s")?;
            ("physical_read_mb_per_s", reached(database_mb_per_s, "device_read_mb_per_s"), 0.0)
        }
        RawTest::SequentialWrite => ("redo_mb_per_s", get("redo_mb_per_s")?, 0.0),
        RawTest::GroupCommit => ("ops_per_s", get("ops_per_s")?, 0.0),
        _ => return None,
    };
    (compared_figure.1 > 0.0).then_some(compared_figure)
}

/// The limit, and its description in words.
fn limit(calibration: &Calibration, test: RawTest, sessions: u32, block: f64) -> Option<(f64, String)> {
    let words =
        |figure: &RawFigure| format!("{}, {} at once", test.words(figure.block_bytes), figure.in_flight);
    match test {
        RawTest::RandomRead => {
            let far = |bytes: &u64| (*bytes as f64 / block).ln().abs();
            let nearest = calibration.blocks(test).into_iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
            let most = calibration.most_per_s(test, nearest).filter(|_| far(&nearest) <= NEAR.ln() + 1e-9)?;
            Some((most.per_s?, words(most)))
        }
        RawTest::GroupCommit => {
            let candidates = calibration
                .of(test)
                .filter(|figure| figure.in_flight <= sessions.max(1) && figure.per_s.is_some());
            let most = candidates.max_by(|a, b| a.per_s.unwrap_or(0.0).total_cmp(&b.per_s.unwrap_or(0.0)))?;
            Some((most.per_s?, words(most)))
        }
        _ => calibration.most_mb_per_s(test).and_then(|most| Some((most.mb_per_s?, words(most)))),
    }
}

/// The age of a calibration at the first run, and whether the machine was restarted between them.
fn age(made: &RunRecord, runs: &[RunRecord]) -> String {
    let at = |record: &RunRecord| record.started_at.parse::<Timestamp>().ok();
    let first = runs.iter().filter_map(at).min();
    let age = match at(made).zip(first).map(|(made, first)| first.duration_since(made).as_secs_f64()) {
        Some(seconds) if seconds >= 0.0 => format!("made {} before", coarse(seconds)),
        Some(_) => "made since".to_owned(),
        None => "made at an unknown time".to_owned(),
    };
    let boot = |record: &RunRecord| record.host().facts.get("boot_id").cloned();
    let same_boot = runs.first().is_none_or(|run| boot(run) == boot(made));
    let quick = made.calibration.as_ref().is_some_and(|own| own.quick);
    format!(
        "{age}{}{}",
        if same_boot { "" } else { ", and the machine was restarted since" },
        if quick { ", a quick look" } else { "" }
    )
}

/// A time in its largest unit.
fn coarse(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(86_400.0, "days"), (3_600.0, "h"), (60.0, "min"), (1.0, "s")];
    let (size, unit) = UNITS.into_iter().find(|(size, _)| seconds >= 2.0 * size).unwrap_or(UNITS[3]);
    format!("{} {unit}", fixed((seconds / size).floor(), 0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dyno_record::{Host, RecordKind, Role, Status};

    use super::*;
    use crate::fixture;

    fn host(name: &str, device: &str) -> Host {
        let facts = [("place.data.device", device), ("device.vda.size_bytes", "1000"), ("boot_id", "b-1")];
        Host {
            name: name.into(),
            roles: [Role::Driver, Role::Database].into(),
            cpus: 4,
            facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            ..Host::default()
        }
    }

    fn made(id: &str) -> RunRecord {
        let raw = |test, block, at_once, per_s: f64, mb_per_s| RawFigure {
            per_s: Some(per_s),
            mb_per_s: Some(mb_per_s),
            ..RawFigure::of(test, block, 1, at_once)
        };
        let calibration = Calibration {
            folder: "/srv".into(),
            device: Some("vda".into()),
            quick: false,
            file_bytes: 1 << 30,
            tool: None,
            p99_limit_us: 1000.0,
            figures: vec![
                raw(RawTest::RandomRead, Some(4096), 64, 60_000.0, 245.0),
                raw(RawTest::RandomRead, Some(8192), 64, 40_000.0, 327.0),
                raw(RawTest::SequentialRead, Some(1 << 20), 8, 500.0, 520.0),
                raw(RawTest::GroupCommit, Some(8192), 1, 1_000.0, 8.0),
                raw(RawTest::GroupCommit, Some(8192), 16, 9_000.0, 73.0),
            ],
            left_out: Vec::new(),
        };
        RunRecord {
            kind: RecordKind::Component,
            id: id.into(),
            started_at: "2026-03-21T12:25:01.000000Z".into(),
            calibration: Some(Box::new(calibration)),
            hosts: vec![host("db1", "vda")],
            ..RunRecord::blank(Status::Valid, fixture::plan("sqlite:x.db"))
        }
    }

    fn run() -> RunRecord {
        let started_at = "2026-03-21T14:25:01.000000Z".into();
        RunRecord { started_at, hosts: vec![host("db1", "vda")], ..fixture::postgres() }
    }

    fn step(sessions: u32, figures: &[(&str, f64)]) -> SuiteTestStep {
        SuiteTestStep {
            sessions,
            runs: Vec::new(),
            key: None,
            figures: figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            costs: BTreeMap::new(),
            elapsed_s: 1.0,
            events: Vec::new(),
            marked: Vec::new(),
        }
    }

    fn share(test: RawTest, step: &SuiteTestStep) -> Option<RawShare> {
        let all = [made("c-1")];
        of_raw(test, step, &all, &[run()])
    }

    #[test]
    fn random_reads_are_compared_with_nearest_block_size() {
        let reads = [("physical_read_requests_per_s", 24_800.0), ("physical_read_mb_per_s", 203.2)];
        let raw_share = share(RawTest::RandomRead, &step(4, &reads)).unwrap();
        assert_eq!((raw_share.share_pct, raw_share.limit), (62.0, 40_000.0));
        let expected = "24,800 read requests/s are 62.0 % of the 40,000/s that random reads of 8 KiB, 64 at once gave \
            (calibration c-1, made 2 h before)";
        assert_eq!(raw_share.words, expected);
        // Reads that the page cache answered did not reach the device.
        let cached = [reads[0], reads[1], ("device_reads_per_s", 4_000.0)];
        let cached_share = share(RawTest::RandomRead, &step(4, &cached)).unwrap();
        let expected_start = "4,000 read requests/s, all that reached the device of 24,800, are 10.0 %";
        assert!(cached_share.share_pct == 10.0, "{cached_share:?}");
        assert!(cached_share.words.starts_with(expected_start), "{cached_share:?}");
        // Requests of 128 KiB are no random reads of blocks.
        let large = [("physical_read_requests_per_s", 1_000.0), ("physical_read_mb_per_s", 131.0)];
        assert_eq!(share(RawTest::RandomRead, &step(4, &large)), None);
    }

    #[test]
    fn commit_rate_is_compared_at_same_writer_count() {
        let commit_share =
            |sessions, per_s| share(RawTest::GroupCommit, &step(sessions, &[("ops_per_s", per_s)])).unwrap();
        assert_eq!((commit_share(1, 500.0).share_pct, commit_share(8, 500.0).share_pct), (50.0, 50.0));
        assert_eq!(commit_share(32, 4_500.0).share_pct, 50.0);
        let more = commit_share(1, 5_000.0);
        assert!(more.exceeds_limit(), "{more:?}");
        assert!(more.words.contains("not every commit waited"), "{more:?}");
    }

    #[test]
    fn throughput_above_device_limit_is_attributed_to_cache() {
        let scan = [("physical_read_mb_per_s", 5_200.0)];
        let raw_share = share(RawTest::SequentialRead, &step(1, &scan)).unwrap();
        assert!(raw_share.exceeds_limit());
        assert!(raw_share.words.ends_with("more than the device gave, so a cache answered"));
        assert_eq!(
            share(RawTest::SequentialWrite, &step(1, &[("redo_mb_per_s", 10.0)])),
            None,
            "not calibrated"
        );
        assert_eq!(share(RawTest::SequentialRead, &step(1, &[])), None, "not measured");
    }

    #[test]
    fn calibration_of_other_host_or_device_is_not_used() {
        let all = [made("c-1")];
        let on = |host: Host| {
            of_machine(RawTest::RandomRead, &all, &[RunRecord { hosts: vec![host], ..run() }]).len()
        };
        assert_eq!(on(host("db1", "vda")), 1);
        assert_eq!(on(host("db2", "vda")), 0);
        assert_eq!(on(host("db1", "vdb")), 0);
        assert_eq!(
            on(Host { roles: [Role::Driver].into(), ..host("db1", "vda") }),
            0,
            "the database is elsewhere"
        );
    }

    #[test]
    fn ages_are_coarse() {
        let ages = [0.4, 119.0, 120.0, 7_199.0, 7_200.0, 172_800.0].map(coarse);
        assert_eq!(ages, ["0 s", "119 s", "2 min", "119 min", "2 h", "2 days"]);
    }

    #[test]
    fn redo_on_separate_device_skips_data_device_calibration() {
        let mut on_two = run();
        on_two.hosts[0].facts.insert("place.redo.device".into(), "vdb".into());
        let count = |test| of_machine(test, &[made("c-1")], std::slice::from_ref(&on_two)).len();
        assert_eq!((count(RawTest::RandomRead), count(RawTest::GroupCommit)), (1, 0));
    }

    #[test]
    fn calibration_age_mentions_restart_and_quick_mode() {
        let mut later = run();
        later.hosts[0].facts.insert("boot_id".into(), "b-2".into());
        assert_eq!(age(&made("c-1"), &[later]), "made 2 h before, and the machine was restarted since");
        let mut quick = made("c-1");
        quick.calibration.as_mut().unwrap().quick = true;
        assert_eq!(age(&quick, &[run()]), "made 2 h before, a quick look");
    }
}
