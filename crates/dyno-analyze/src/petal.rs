//! Petals: latency plotted against throughput as sessions rise.
//!
//! Each ramp moves to the right while more sessions add throughput, and up as sessions wait for
//! each other. Beyond its highest throughput more sessions reduce it. There is one petal for each update
//! share, block size or other setting that differs.

use crate::number::{self, percent, time_us};
use crate::points::{Measure, MeasuredPoint, Points, phrase};

/// Decrease of throughput below which there is no fall, %: repeats of one run differ as much.
pub const BEND_LEAST_PCT: f64 = 2.0;

/// Cache hit ratio above which reads from storage do not measure the load, %.
const CACHED_PCT: f64 = 99.0;

/// One point of a petal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PetalPoint {
    pub sessions: u32,
    /// Throughput, in the unit of its measure.
    pub throughput: f64,
    pub latency_us: f64,
}

/// The fall of a petal beyond its highest throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PetalBend {
    /// Index of the point with the highest throughput.
    pub place: usize,
    /// Decrease of throughput beyond that point, %.
    pub fell_pct: f64,
}

/// One curve of latency against throughput.
#[derive(Debug, Clone, PartialEq)]
pub struct Petal {
    /// What distinguishes the petal: `update_pct 20 %`; empty for a single one.
    pub name: String,
    /// Its points by rising load.
    pub points: Vec<PetalPoint>,
    /// Its fall beyond the highest throughput; `None` if it does not fall.
    pub turn: Option<PetalBend>,
}

/// The source of a petal's measures. Both must come from the same source; otherwise the petal would
/// compare two different quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PetalSource {
    /// The sessions: operations and their service time.
    Client,
    /// The database: its requests to the operating system, and how long it waited for them.
    Database,
    /// The block device: the requests that reached it, and how long they took.
    Device,
}

/// The measures of a petal chart: throughput and latency, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PetalMeasures {
    /// The measure on the horizontal axis.
    pub throughput: &'static str,
    /// The measure on the vertical axis.
    pub latency: &'static str,
    /// The source that counted both measures.
    pub source: PetalSource,
}

const fn make_measures(
    source: PetalSource,
    throughput: &'static str,
    latency: &'static str,
) -> PetalMeasures {
    PetalMeasures { throughput, latency, source }
}

const DATABASE_LATENCY: &str = "physical_read_latency_us";
const DEVICE_LATENCY: &str = "device_read_latency_us";

/// Reads per second and their latency, the preferred source first.
const IOPS: [PetalMeasures; 3] = [
    make_measures(PetalSource::Database, "physical_read_requests_per_s", DATABASE_LATENCY),
    make_measures(PetalSource::Database, "physical_reads_per_s", DATABASE_LATENCY),
    make_measures(PetalSource::Device, "device_reads_per_s", DEVICE_LATENCY),
];

/// Bytes read per second and the latency of reads.
const MEGABYTES: [PetalMeasures; 2] = [
    make_measures(PetalSource::Database, "physical_read_mb_per_s", DATABASE_LATENCY),
    make_measures(PetalSource::Device, "device_read_mb_per_s", DEVICE_LATENCY),
];

impl PetalMeasures {
    /// The labels of the horizontal and the vertical axis: the measure, and its source.
    pub fn axes(&self) -> (String, String) {
        let label = |name: &'static str| Measure::find(name).map_or(name, |measure| measure.label);
        let (right, up) = (label(self.throughput), label(self.latency));
        match self.source {
            PetalSource::Database => {
                (format!("{right} of the database"), format!("{up}, as the database saw it"))
            }
            // The names of the device's measures include their source.
            PetalSource::Client | PetalSource::Device => (right.to_owned(), up.to_owned()),
        }
    }
}

fn known(points: &Points, measure: &str) -> bool {
    !points.points.is_empty() && points.points.iter().all(|point| point.get(measure).is_some())
}

/// The first measures that are both known at every point.
fn first_known(points: &Points, candidates: &[PetalMeasures]) -> Option<PetalMeasures> {
    let has_both =
        |measures: &&PetalMeasures| known(points, measures.throughput) && known(points, measures.latency);
    candidates.iter().find(has_both).copied()
}

/// Whether storage is involved: the database's cache does not serve everything.
fn reads_storage(points: &Points) -> bool {
    let missed = |point: &MeasuredPoint| point.get("buffer_hit_pct").is_some_and(|hit| hit < CACHED_PCT);
    points.points.iter().any(missed)
}

/// The measures for latency against IOPS. They are reads and their latency where storage is
/// involved and one source has both, else operations and their service time.
pub fn iops(points: &Points) -> PetalMeasures {
    // Imported figures may lack operations.
    let may = reads_storage(points) || !known(points, "ops_per_s");
    let reads = if may { first_known(points, &IOPS) } else { None };
    reads.unwrap_or(make_measures(PetalSource::Client, "ops_per_s", "service_mean_us"))
}

/// The measures for latency against MB/s; `None` where storage is not involved, or no source has
/// both.
pub fn megabytes(points: &Points) -> Option<PetalMeasures> {
    first_known(points, &MEGABYTES).filter(|_| reads_storage(points))
}

/// Reads that the operating system's page cache answered, as found by the audit: the largest share
/// of any run, %, and the number of such points. `None` where there are none.
pub fn page_cache(points: &Points) -> Option<(f64, usize)> {
    let share =
        |point: &MeasuredPoint| point.runs.iter().filter_map(|run| run.page_cache_pct).reduce(f64::max);
    let shares: Vec<f64> = points.points.iter().filter_map(share).collect();
    Some((shares.iter().copied().reduce(f64::max)?, shares.len()))
}

/// [`page_cache`] in a sentence that fits petals of `source`.
pub fn page_cache_words(points: &Points, source: PetalSource) -> Option<String> {
    let (pct, at) = page_cache(points).filter(|_| source != PetalSource::Client)?;
    let all = points.points.len();
    let suffix = if at == all { String::new() } else { format!(" at {at} of {all} points") };
    let share = format!(
        "up to {} % of the blocks that the database requested came from the operating system's page \
         cache{suffix}",
        percent(pct)
    );
    Some(match source {
        PetalSource::Device => format!("page cache: {share}, and is not among the device's reads"),
        _ => format!("page cache: {share}, so these are not the storage's figures"),
    })
}

/// The petals of `points`: one for each curve along the load. Points without both measures are left out.
pub fn petals(points: &Points, measures: PetalMeasures) -> Vec<Petal> {
    points
        .curves(points.load_axis())
        .into_iter()
        .map(|curve| {
            let mut spread_pct = Vec::new();
            let mut petal = Vec::new();
            for point in &curve.points {
                let throughput = point.estimates.get(measures.throughput);
                if let Some((estimate, latency_us)) = throughput.zip(point.get(measures.latency)) {
                    spread_pct.push(estimate.spread_pct().unwrap_or(0.0));
                    let sessions = point.sessions;
                    petal.push(PetalPoint { sessions, throughput: estimate.value, latency_us });
                }
            }
            Petal { name: curve.name(), turn: turn(&petal, &spread_pct), points: petal }
        })
        .collect()
}

/// The turning point: the highest throughput, if the decrease beyond it exceeds the spread of the
/// repeats there.
fn turn(points: &[PetalPoint], spread_pct: &[f64]) -> Option<PetalBend> {
    let highest =
        points.iter().enumerate().rev().max_by(|(_, a), (_, b)| a.throughput.total_cmp(&b.throughput));
    let (place, top) = highest?;
    let lowest = points[place + 1..].iter().map(|point| point.throughput).fold(f64::INFINITY, f64::min);
    let fell_pct = 100.0 * (1.0 - lowest / top.throughput);
    (fell_pct >= BEND_LEAST_PCT.max(spread_pct[place])).then_some(PetalBend { place, fell_pct })
}

impl Petal {
    /// The highest throughput of its points; 0 without points.
    fn highest(&self) -> f64 {
        self.points.iter().map(|point| point.throughput).fold(0.0, f64::max)
    }

    /// The petal in one sentence; `measures` are those it was made of.
    pub fn sentence(&self, measures: PetalMeasures) -> String {
        let head = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        let at = |point: &PetalPoint| {
            format!(
                "{} at {} with {}",
                phrase(measures.throughput, point.throughput),
                time_us(point.latency_us),
                number::sessions(f64::from(point.sessions))
            )
        };
        match (self.turn, self.points.last()) {
            (Some(turn), _) => {
                let top = at(&self.points[turn.place]);
                format!("{head}peaks at {top}, then falls by {} % (retrograde)", percent(turn.fell_pct))
            }
            (None, Some(last)) if last.throughput >= self.highest() => {
                format!("{head}rises to the last load: {}", at(last))
            }
            (None, Some(last)) => {
                format!("{head}no fall beyond the spread of its repeats: the last load is {}", at(last))
            }
            (None, None) => format!("{head}no points"),
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::{Metric, RunRecord, Unit};

    use super::*;
    use crate::fixture;
    use crate::points::points;

    fn run(n: u32, sessions: u32, update_pct: u32, reads_per_s: f64, latency_us: f64) -> RunRecord {
        let mut record = fixture::postgres();
        record.id = format!("run-{n}");
        record.plan.run.sessions_per_schema = sessions;
        record.plan.workload.update_pct = update_pct;
        let value = |value, unit| Metric::Value { value, unit };
        record.metrics.insert("physical_reads_per_s".into(), value(reads_per_s, Unit::BlocksPerSecond));
        record.metrics.insert("physical_read_latency_us".into(), value(latency_us, Unit::Microseconds));
        record
    }

    #[test]
    fn petal_is_ordered_by_sessions_and_may_turn_back() {
        let mut records = vec![
            run(1, 64, 0, 150_000.0, 2_600.0),
            run(2, 4, 0, 60_000.0, 500.0),
            run(3, 16, 0, 165_000.0, 1_300.0),
        ];
        records.extend([run(4, 4, 20, 40_000.0, 600.0), run(5, 16, 20, 90_000.0, 1_400.0)]);
        let points = points(&records);
        let measures = iops(&points);
        assert_eq!(
            measures,
            PetalMeasures {
                throughput: "physical_reads_per_s",
                latency: "physical_read_latency_us",
                source: PetalSource::Database
            }
        );
        let petals = petals(&points, measures);
        let sessions: Vec<u32> = petals[0].points.iter().map(|point| point.sessions).collect();
        assert_eq!(sessions, [4, 16, 64]);
        assert_eq!(
            petals[0].sentence(measures),
            "update_pct 0 %: peaks at 165,000 physical reads/s at 1.30 ms with 16 sessions, then falls by 9.1 % (retrograde)"
        );
        assert_eq!(
            petals[1].sentence(measures),
            "update_pct 20 %: rises to the last load: 90,000 physical reads/s at 1.40 ms with 16 sessions"
        );
    }

    #[test]
    fn decline_within_repeat_variation_is_no_bend() {
        let records = [
            run(1, 4, 0, 100.0, 1.0),
            run(2, 4, 0, 110.0, 1.0),
            run(3, 4, 0, 90.0, 1.0),
            run(4, 8, 0, 95.0, 2.0),
        ];
        let points = points(&records);
        assert_eq!(
            petals(&points, iops(&points))[0].turn,
            None,
            "5 % below a point whose repeats differ by 20 %"
        );
        let single = [records[0].clone(), records[3].clone()];
        let points = crate::points::points(&single);
        assert!(petals(&points, iops(&points))[0].turn.is_some());
    }

    /// The database counts 47,924 requests/s without times; the few that reached the device took
    /// long.
    fn page_cached() -> RunRecord {
        let mut record = fixture::postgres();
        let value = |value, unit| Metric::Value { value, unit };
        record.metrics.insert("buffer_hit_pct".into(), value(50.0, Unit::Percent));
        record.metrics.insert("physical_read_requests_per_s".into(), value(47_924.0, Unit::PerSecond));
        record.metrics.insert("physical_read_mb_per_s".into(), value(392.0, Unit::MegabytesPerSecond));
        record.metrics.insert(DATABASE_LATENCY.into(), Metric::Absent { absent: "not timed".into() });
        record.metrics.insert("device_reads_per_s".into(), value(310.0, Unit::PerSecond));
        record.metrics.insert("device_read_mb_per_s".into(), value(2.5, Unit::MegabytesPerSecond));
        record.metrics.insert(DEVICE_LATENCY.into(), value(900.0, Unit::Microseconds));
        record
    }

    #[test]
    fn petal_chart_axes_use_one_source() {
        let records = [page_cached()];
        let points = points(&records);
        let measures = iops(&points);
        assert_eq!(measures, make_measures(PetalSource::Device, "device_reads_per_s", DEVICE_LATENCY));
        assert_eq!(
            megabytes(&points),
            Some(make_measures(PetalSource::Device, "device_read_mb_per_s", DEVICE_LATENCY))
        );
        assert_eq!(measures.axes(), ("device reads".into(), "mean latency of a device read".into()));

        let mut timed = page_cached();
        let us = Metric::Value { value: 21.0, unit: Unit::Microseconds };
        timed.metrics.insert(DATABASE_LATENCY.into(), us);
        let records = [timed];
        let points = crate::points::points(&records);
        let measures = iops(&points);
        assert_eq!(
            measures,
            make_measures(PetalSource::Database, "physical_read_requests_per_s", DATABASE_LATENCY)
        );
        let (right, up) = measures.axes();
        assert_eq!(right, "read requests of the database");
        assert!(up.contains("database"), "{up}");
    }

    #[test]
    fn petal_without_device_latency_falls_back_to_client() {
        let mut record = page_cached();
        record.metrics.remove(DEVICE_LATENCY);
        let records = [record];
        let points = points(&records);
        assert_eq!(iops(&points).source, PetalSource::Client);
        assert_eq!(megabytes(&points), None);
    }

    #[test]
    fn page_cache_share_is_taken_from_the_audit() {
        let mut record = page_cached();
        crate::judge(&mut record);
        let without = page_cache(&points(std::slice::from_ref(&record)));
        record.audit.iter_mut().filter(|check| check.check == "physical_reads").for_each(|check| {
            check.detail =
                format!("database asked for 9 blocks: 94.2 % {}, so", crate::audit::FROM_PAGE_CACHE);
        });
        let records = [record];
        let points = points(&records);
        assert_eq!((without, page_cache(&points)), (None, Some((94.2, 1))));
        let words = page_cache_words(&points, PetalSource::Database).unwrap();
        assert!(words.contains("94.2 %"), "{words}");
        assert!(words.contains("not the storage's"), "{words}");
        assert_eq!(page_cache_words(&points, PetalSource::Client), None);
    }

    #[test]
    fn petal_of_cached_load_uses_operations_per_second() {
        let mut record = fixture::postgres();
        let hit = Metric::Value { value: 100.0, unit: Unit::Percent };
        record.metrics.insert("buffer_hit_pct".into(), hit);
        let records = [record];
        let points = points(&records);
        assert_eq!(iops(&points).throughput, "ops_per_s");
        assert_eq!(megabytes(&points), None);
    }
}
