//! Table of the phases of a schedule: what was requested and what was done.

use std::collections::BTreeSet;

use dyno_record::{OpStats, PhaseStats, RunRecord};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::number::count;
use crate::text::clean;

pub(crate) const TITLE: &str = "phases";

/// Counter rates that are shown, with their heads.
const COUNTERS: [(&str, &str); 3] = [
    ("commits_per_s", "commits/s"),
    ("logical_reads_per_s", "reads/s"),
    ("physical_reads_per_s", "physical/s"),
];

/// A row for each phase, with a row below it for each class if there are several; `None` without phases.
pub(crate) fn phases(record: &RunRecord) -> Option<Grid> {
    if record.phases.is_empty() {
        return None;
    }
    let shown: Vec<_> = COUNTERS
        .into_iter()
        .filter(|(name, _)| record.phases.iter().any(|phase| phase.metrics.contains_key(*name)))
        .collect();
    let response = "from the due time to the end";
    let mut heads = vec![
        GridHead::tight("phase"),
        GridHead::figures("from", "s"),
        GridHead::figures("asked", "/s").explained("the mean of the schedule"),
        GridHead::figures("done", "/s").explained(
            "operations that were due in the phase and ended in the window, per second of the phase",
        ),
        GridHead::figures("errors", ""),
        GridHead::figures("behind", "")
            .explained("operations that were due by the end of the phase and had not begun"),
        GridHead::figures("service mean", ""),
        GridHead::figures("p99", ""),
        GridHead::figures("response mean", "").explained(response),
        GridHead::figures("p50", "").explained(response),
        GridHead::figures("p95", "").explained(response),
        GridHead::figures("p99", "").explained(response),
        GridHead::figures("max", "").explained(response),
    ];
    heads.extend(shown.iter().map(|(_, head)| GridHead::figures(head, "").spare(6)));
    // A narrow terminal shows the phase, requested and actual rate, and response time.
    for (at, rank) in [(1, 4), (6, 2), (7, 5), (9, 3), (10, 1)] {
        heads[at].spare = rank;
    }
    let mut grid = Grid::new(heads);
    for phase in &record.phases {
        let name = clean(&phase.name).to_string();
        let schedule_cells =
            [GridCell::fixed(phase.begin_s.max(0.0), 1), GridCell::figure(phase.asked_per_s())];
        if let Some(led) = phase.led() {
            let mut cells = cells(&name, schedule_cells, GridCell::count(phase.behind), led);
            cells.extend(shown.iter().map(|(name, _)| GridCell::figure(phase.metrics.get(*name).copied())));
            grid.row(cells);
        }
        for (name, ops) in parts(record, phase) {
            let mut cells = cells(&format!("  {name}"), Default::default(), GridCell::default(), ops);
            cells.extend(shown.iter().map(|_| GridCell::default()));
            grid.row(cells);
        }
    }
    Some(grid)
}

/// Rows below a phase: the classes of the workload that it drives, if there are several. Concurrent workloads
/// follow, each with its classes or as its only class.
fn parts<'a>(record: &'a RunRecord, phase: &'a PhaseStats) -> Vec<(&'a str, &'a OpStats)> {
    let classes = |place: usize| -> Vec<(&str, &OpStats)> {
        let workload_classes = record.classes.iter().filter(|class| class.workload == place);
        workload_classes
            .filter_map(|class| Some((class.name.as_str(), phase.ops.get(&class.name)?)))
            .collect()
    };
    let mut all = classes(0);
    if all.len() == 1 {
        all.clear();
    }
    for ((place, own), ops) in record.workloads().enumerate().zip(&phase.workloads).skip(1) {
        let own_classes = classes(place);
        if own_classes.len() != 1 {
            all.push((&own.name, ops));
        }
        all.extend(own_classes);
    }
    all
}

fn cells(name: &str, schedule_cells: [GridCell; 2], behind: GridCell, ops: &OpStats) -> Vec<GridCell> {
    let (service, response) = (&ops.service_us, &ops.response_us);
    let times =
        [service.mean, service.p99, response.mean, response.p50, response.p95, response.p99, response.max];
    let [from, asked] = schedule_cells;
    let [done, errors] = [GridCell::figure(ops.rate_per_s), GridCell::count(ops.errors)];
    let head = [name.into(), from, asked, done, errors, behind];
    head.into_iter().chain(times.map(GridCell::time_us)).collect()
}

/// Notes that the table does not show: whose phases they are if several workloads ran, operations outside any
/// phase, and why counters are missing.
pub(crate) fn words(record: &RunRecord) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(first) = record.workload.as_ref().filter(|_| !record.beside.is_empty()) {
        words.push(format!(
            "The schedule of {} has these phases, with its own operations; other workloads ran at the same time, and counters include all workloads",
            clean(&first.name)
        ));
    }
    let outside = record.out_of_phases();
    if outside > 0 {
        let operations = if outside == 1 { "operation" } else { "operations" };
        words.push(format!(
            "{} {operations} of the window were due before the first phase or after the last one, and \
                belong to no phase",
            count(outside)
        ));
    }
    let why: BTreeSet<&str> = record.phases.iter().filter_map(|phase| phase.no_metrics.as_deref()).collect();
    let lacking: Vec<&PhaseStats> = record.phases.iter().filter(|phase| phase.no_metrics.is_some()).collect();
    if let (Some(first), false) = (lacking.first(), why.is_empty()) {
        let phase_label = match lacking.len() {
            1 => format!("of {}", clean(&first.name)),
            all if all == record.phases.len() => "of phases".to_owned(),
            some => format!("of {} and {} more", clean(&first.name), some - 1),
        };
        words.push(format!("No counters {phase_label}: {}", why.into_iter().collect::<Vec<_>>().join("; ")));
    }
    words
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dyno_analyze::fixture;
    use dyno_analyze::number::ABSENT;
    use dyno_record::ALL;

    use super::*;
    use crate::style::Style;

    /// A run of two phases; the second one is behind its schedule.
    pub(crate) fn record() -> RunRecord {
        let mut record = fixture::sqlite();
        let all = record.ops[ALL].clone();
        let phase = |name: &str, begin_s: f64, count: u64, behind: u64| PhaseStats {
            name: name.into(),
            begin_s,
            end_s: begin_s + 10.0,
            asked: 2_000.0,
            due: 2_000,
            behind,
            ops: BTreeMap::from([(
                ALL.to_owned(),
                OpStats { count, rate_per_s: count as f64 / 10.0, ..all.clone() },
            )]),
            workloads: Vec::new(),
            metrics: BTreeMap::from([("commits_per_s".to_owned(), 12.5)]),
            no_metrics: None,
        };
        record.phases =
            vec![phase("ramp 0/s..400/s 10s", 0.0, 2_000, 0), phase("hold 200/s 10s", 10.0, 1_500, 480)];
        record.phases[1].metrics.clear();
        record.phases[1].no_metrics = Some("its ends are none of intervals".into());
        record.plan.workload.phases =
            ["ramp 0..400/s 10s", "hold 200/s 10s"].map(|phase| phase.parse().unwrap()).into();
        record
    }

    #[test]
    fn phase_row_shows_requested_and_done_operations() {
        let record = record();
        let grid = phases(&record).unwrap();
        let row = |at: usize| grid.rows[at].1.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>();
        assert_eq!(row(0)[..6], ["ramp 0/s..400/s 10s", "0.0", "200", "200", "0", "0"]);
        assert_eq!(row(1)[..6], ["hold 200/s 10s", "10.0", "200", "150", "0", "480"]);
        assert_eq!((row(0).last(), row(1).last()), (Some(&"12.5"), Some(&ABSENT)));
        let words = words(&record).join("\n");
        assert!(words.contains("No counters of hold 200/s 10s: its ends"), "{words}");
        let text = grid.render(&Style { width: 100, ..Style::default() });
        assert!(
            ["behind", "480", "ramp 0/s..400/s 10s", "max"].iter().all(|word| text.contains(word)),
            "{text}"
        );
        assert!(phases(&fixture::sqlite()).is_none());
    }

    #[test]
    fn phases_are_in_every_page_and_export() {
        let record = record();
        let shown = crate::show(&record, &Style::default());
        assert!(shown.contains("hold 200/s 10s"), "{shown}");
        assert!(shown.contains("rate by a schedule"), "{shown}");
        assert!(shown.contains("No counters of hold 200/s 10s"), "{shown}");
        let chart = crate::figures::of_run(&record)
            .into_iter()
            .find(|chart| chart.id == "throughput-over-time")
            .unwrap();
        assert!(chart.series.iter().any(|series| series.name == "requested"), "{:?}", chart.series.len());
        assert!(chart.marks.iter().any(|mark| mark.name.contains("hold 200/s 10s")), "{:?}", chart.marks);
    }
}
