use dyno_record::{
    Gap, Metric, PartOf, PointSetting, RecordKind, Role, RunRecord, Series, SeriesPoint, Spread, SweepKind,
    Unit, WatchSummary, Window,
};
use proptest::prelude::*;

use super::*;
use crate::fixture;

const IOPS: &str = "physical_reads_per_s";

fn put(record: &mut RunRecord, name: &str, value: f64, unit: Unit) {
    record.metrics.insert(name.to_owned(), Metric::Value { value, unit });
}

/// A step of the test `reads` with this many reads/s.
fn step(sessions: u32, reads: f64) -> RunRecord {
    let mut record = fixture::postgres();
    record.id = format!("run-{sessions}");
    record.plan.run.sessions_per_schema = sessions;
    record.gate.sessions = sessions;
    record.audit.clear();
    record.whose.clear();
    record.metrics.clear();
    put(&mut record, IOPS, reads, Unit::BlocksPerSecond);
    put(&mut record, "ops_per_s", reads, Unit::PerSecond);
    put(&mut record, "commits_per_s", reads, Unit::PerSecond);
    let settings = vec![PointSetting { key: "test".into(), value: "reads".into() }];
    record.part_of = Some(PartOf {
        id: "suite-1".into(),
        kind: SweepKind::Suite,
        point: sessions,
        repeat: 1,
        side: None,
        settings,
    });
    record
}

fn ramp() -> Vec<RunRecord> {
    [(1, 1_000.0), (2, 1_900.0), (4, 3_600.0), (8, 4_000.0), (16, 4_010.0), (32, 3_990.0)]
        .map(|(sessions, reads)| step(sessions, reads))
        .to_vec()
}

fn keys() -> BTreeMap<String, String> {
    BTreeMap::from([("reads".to_owned(), IOPS.to_owned())])
}

/// A watch of one day, with this many reads/s in its busiest minute.
fn watch(day: u32, minute: f64) -> RunRecord {
    let mut record = step(1, minute / 2.0);
    record.kind = RecordKind::Watch;
    record.part_of = None;
    record.started_at = format!("2026-11-{day:02}T09:00:00Z");
    record.window = Some(Window { seconds: 600.0, begin: record.started_at.clone(), ..Window::default() });
    let spread = Spread {
        seconds: 600.0,
        mean: minute / 2.0,
        p50: minute / 2.0,
        p95: minute * 0.9,
        peak: minute * 1.5,
        peak_at_s: 125.0,
        busiest_minute: Some(minute),
        busiest_minute_at_s: Some(120.0),
    };
    let point = |at: u32| SeriesPoint {
        at_s: f64::from(at),
        seconds: 1.0,
        metrics: BTreeMap::from([(IOPS.to_owned(), minute / 2.0)]),
        ..SeriesPoint::default()
    };
    record.series = Series { interval_s: 1.0, points: (0..600).map(point).collect(), full: None };
    let spreads = BTreeMap::from([(IOPS.to_owned(), spread)]);
    record.watched = Some(WatchSummary { known_s: 600.0, spreads, ..WatchSummary::default() });
    record
}

fn row_of<'c>(capacity: &'c CapacityReport, part: &str) -> &'c CapacityRow {
    capacity.rows.iter().find(|row| row.part == part).unwrap_or_else(|| panic!("{capacity:#?}"))
}

fn why_of<'c>(capacity: &'c CapacityReport, part: &str) -> &'c str {
    let left = capacity.left_out.iter().find(|(name, _)| name == part);
    &left.unwrap_or_else(|| panic!("{capacity:#?}")).1
}

#[test]
fn capacity_share_refers_to_knee_and_maximum_at_peak_minute() {
    let capacity = capacity(&ramp(), &[watch(23, 2_000.0)], &keys());
    let row = row_of(&capacity, "block reads");
    assert_eq!((row.ceiling.most, row.ceiling.knee, row.ceiling.is_most), (4_010.0, Some(4_000.0), true));
    assert_eq!(row.of_knee_pct.unwrap(), CapacityShare { peak: 50.0, p95: Some(45.0), mean: 25.0 });
    assert!((row.of_most_pct.peak - 100.0 * 2_000.0 / 4_010.0).abs() < 1e-9);
    assert_eq!(row.used.peak_at, "2026-11-23T09:02:00Z");
    assert_eq!(row.ceiling.at, "reads, 16 sessions");
    let begins = "block reads first: 50.0 % of the knee (4,000 blocks/s) at the peak, the minute from 2026-11-23 09:02:00";
    let short = "; use covers too little time for a trend: 10 min 00 s on 1 day, at least 7 are needed";
    assert_eq!(capacity.line, format!("{begins}{short}"));
    assert_eq!((row.growth, row.growth.words().as_str()), (Growth::TooFew { days: 1 }, "unknown"));
}

#[test]
fn capacity_without_maximum_gives_upper_bounds_of_shares() {
    let rising = &ramp()[..3];
    let capacity = capacity(rising, &[watch(23, 1_800.0)], &keys());
    let row = row_of(&capacity, "block reads");
    assert_eq!((row.is_sure(), row.of_knee_pct, row.of_most_pct.peak), (false, None, 50.0));
    assert!(
        capacity.line.starts_with("block reads first: at most 50.0 % of the highest measured value"),
        "{}",
        capacity.line
    );
    // Where use exceeds the measured maximum, nothing is known at all.
    let more = super::capacity(rising, &[watch(23, 3_700.0)], &keys());
    assert!(more.rows.is_empty(), "{more:#?}");
    assert!(why_of(&more, "block reads").contains("more than the highest measured value"), "{more:#?}");
    // A curve that is flat for another reason shows no limit of this component either.
    let no_key = super::capacity(&ramp(), &[watch(23, 1_800.0)], &BTreeMap::new());
    assert!(why_of(&no_key, "block reads").contains("was limited by it"), "{no_key:#?}");
}

#[test]
fn incomparable_resources_are_listed_but_not_calculated() {
    let mut other = watch(23, 1_800.0);
    other.targets[0].identity.product = "Oracle Database".into();
    let over = capacity(&ramp(), &[other], &keys());
    assert!(over.rows.is_empty());
    assert!(over.differ.iter().any(|words| words.starts_with("database: ")));
    assert!(why_of(&over, "block reads").contains("not mean the same"), "{over:#?}");
    let mut blocks = watch(23, 1_800.0);
    blocks.targets[0].identity.block_size = 16_384;
    let mut measured = ramp();
    measured.iter_mut().for_each(|run| run.targets[0].identity.block_size = 8_192);
    assert!(why_of(&capacity(&measured, &[blocks], &keys()), "block reads").contains("block size"));
    let mut units = watch(23, 1_800.0);
    put(&mut units, IOPS, 900.0, Unit::PerSecond);
    assert!(why_of(&capacity(&ramp(), &[units], &keys()), "block reads").contains("use is reported in 1/s"));
    let commits = capacity(&ramp(), &[watch(23, 1_800.0)], &keys());
    assert!(why_of(&commits, "commits").contains("that only reads"), "{}", why_of(&commits, "commits"));
    assert_eq!(why_of(&commits, "network"), "no record reports its traffic");
}

#[test]
fn capacity_compares_processors_of_measured_and_used_host() {
    let mut measured = ramp();
    for (run, busy) in measured.iter_mut().zip([25.0, 50.0, 90.0, 99.0, 99.0, 99.0]) {
        put(run, "cpu_busy_pct", busy, Unit::Percent);
        run.hosts[0].roles.insert(Role::Database);
        run.hosts[0].cpus = 8;
    }
    let mut used = watch(23, 1_800.0);
    put(&mut used, "cpu_busy_pct", 30.0, Unit::Percent);
    let watched = used.watched.as_mut().unwrap();
    watched.spreads.insert(
        "cpu_busy_pct".into(),
        Spread { seconds: 600.0, mean: 30.0, peak: 45.0, p95: 40.0, ..Spread::default() },
    );
    watched.gaps_all = 1;
    watched.gaps.push(Gap::default());
    used.hosts[0].roles = [Role::Database].into();
    used.hosts[0].cpus = 8;
    let same = capacity(&measured, std::slice::from_ref(&used), &keys());
    let row = row_of(&same, "CPU");
    assert_eq!((row.unit.as_str(), row.ceiling.most, row.used.peak), ("CPUs", 7.92, 3.6));
    assert!(row.notes.iter().any(|note| note.contains("without data: 1")), "{:?}", row.notes);
    used.hosts[0].cpus = 64;
    assert!(
        why_of(&capacity(&measured, &[used], &keys()), "CPU").contains("processors: measured 8, in use 64")
    );
}

#[test]
fn rising_peaks_forecast_days_to_knee_and_noise_does_not() {
    let rising: Vec<RunRecord> = (1..=10).map(|day| watch(day, 1_000.0 + 100.0 * f64::from(day))).collect();
    let capacity = super::capacity(&ramp(), &rising, &keys());
    let row = row_of(&capacity, "block reads");
    let left = row.growth.days_to_limit().unwrap();
    assert!((left.days - 20.0).abs() < 1e-9, "4,000 less 2,000 at 100 a day: {left:?}");
    assert_eq!(row.used.peak_at, "2026-11-10T09:02:00Z");
    assert!(capacity.line.contains("reaches its limit first, in 20 days"), "{}", capacity.line);
    let days = |peaks: &[f64]| -> BTreeMap<String, f64> {
        (1..).zip(peaks).map(|(day, peak)| (format!("2026-11-{day:02}"), *peak)).collect()
    };
    let noise = days(&[5.0, 9.0, 4.0, 8.0, 5.5, 7.0, 4.5, 8.5]);
    assert!(matches!(growth(&noise, Some(10.0)), Growth::None { .. }));
    assert!(matches!(
        growth(&days(&[9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0]), Some(10.0)),
        Growth::Falls { .. }
    ));
    assert_eq!(growth(&days(&[1.0; 6]), Some(10.0)), Growth::TooFew { days: 6 });
}

proptest! {
    #[test]
    fn growth_interval_contains_slope_and_days_left(
        start in 1.0f64..100.0, slope in 0.5f64..10.0, noise in prop::collection::vec(-1.0f64..1.0, 12..40)
    ) {
        let peaks = noise.iter().enumerate().map(|(day, noise)| {
            let date = jiff::civil::date(2026, 1, 1).saturating_add(jiff::Span::new().days(day as i64));
            (date.to_string(), start + slope * day as f64 + noise)
        });
        let days: BTreeMap<String, f64> = peaks.collect();
        match growth(&days, Some(1e6)) {
            Growth::Rises { per_day: (slope, low, high), left: Some(left) } => {
                prop_assert!(low <= slope && slope <= high && low > 0.0);
                prop_assert!(left.between.0 <= left.days && left.days <= left.between.1);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}
