//! What databases' own reports begin with, over one of them or many: load profile and top timed events.

use std::collections::BTreeMap;

use dyno_analyze::number::{ABSENT, count, figure, fixed, optional, time_us};
use dyno_record::{Reported, ReportedEvent, RunRecord};

use crate::grid::{Cell, Grid, Head};

/// Events that are shown.
const EVENTS_MAX: usize = 10;

/// The beginning of the reports of one instance.
#[derive(Debug)]
pub struct Overview {
    /// Which one; empty where there is only one.
    pub name: String,
    /// What the tables are over.
    pub about: String,
    /// The load profile.
    pub load: Grid,
    /// The top timed events.
    pub events: Grid,
}

/// An overview for each instance that reports are of.
pub fn overviews(records: &[RunRecord]) -> Vec<Overview> {
    let mut groups: BTreeMap<&str, Vec<&Reported>> = BTreeMap::new();
    for record in records {
        let reported = record.imported.as_ref().and_then(|imported| imported.reported.as_ref());
        let target = record.targets.first().map_or("", |target| target.url.as_str());
        if let Some(reported) = reported {
            groups.entry(target).or_default().push(reported);
        }
    }
    let alone = groups.len() == 1;
    let overview = |(target, reports): (&str, Vec<&Reported>)| Overview {
        name: if alone { String::new() } else { target.to_owned() },
        about: about(&reports),
        load: load(&reports),
        events: events(&reports),
    };
    groups.into_iter().map(overview).collect()
}

fn about(reports: &[&Reported]) -> String {
    match reports.len() {
        1 => "As the report has them.".to_owned(),
        all => format!(
            "Over {all} reports: medians of the load with the lowest and the highest. Times of events are added up; where one is not \
             among a report's top events, that report adds nothing to it."
        ),
    }
}

fn load(reports: &[&Reported]) -> Grid {
    let several = reports.len() > 1;
    let mut heads = vec![Head::text("load profile"), Head::figures("per second", "")];
    match several {
        true => heads.extend([Head::figures("lowest", ""), Head::figures("highest", "")]),
        false => heads.push(Head::figures("per transaction", "")),
    }
    let mut grid = Grid::new(heads);
    for name in names(reports.iter().flat_map(|report| report.load_profile.iter().map(|line| &line.name))) {
        let lines = reports.iter().flat_map(|report| &report.load_profile).filter(|line| line.name == name);
        let mut rates: Vec<f64> = lines.clone().map(|line| line.per_s).collect();
        rates.sort_by(f64::total_cmp);
        let [Some(lowest), Some(highest)] = [rates.first(), rates.last()] else { continue };
        let mut cells = vec![Cell::text(name), Cell::text(&figure(median(&rates)))];
        match several {
            true => cells.extend([lowest, highest].map(|rate| Cell::text(&figure(*rate)))),
            false => cells.push(Cell::text(&optional(lines.clone().find_map(|line| line.per_txn)))),
        }
        grid.row(cells);
    }
    grid
}

/// The median of sorted values.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// Names in the order in which they come first.
fn names<'n>(all: impl Iterator<Item = &'n String>) -> Vec<&'n str> {
    let mut names: Vec<&str> = Vec::new();
    for name in all {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// One event over all reports.
struct Summed<'e> {
    event: &'e str,
    class: &'e str,
    waits: Option<f64>,
    time_s: f64,
    mean_us: Option<f64>,
    share_pct: Option<f64>,
}

fn events(reports: &[&Reported]) -> Grid {
    let mut grid = Grid::new(vec![
        Head::text("top timed event"),
        Head::text("class"),
        Head::figures("share of DB time", "%"),
        Head::figures("time", "s"),
        Head::figures("waits", ""),
        Head::figures("mean wait", ""),
    ]);
    let all = reports.iter().flat_map(|report| report.top_events.iter().map(|event| &event.event));
    let mut summed: Vec<Summed<'_>> = names(all).into_iter().map(|name| sum(reports, name)).collect();
    summed.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    for event in summed.iter().take(EVENTS_MAX) {
        let (class, tone) = shown_class(event);
        grid.row(vec![
            Cell::text(event.event),
            Cell { tone, ..Cell::text(class) },
            Cell::text(&event.share_pct.map_or_else(|| ABSENT.to_owned(), |share| fixed(share, 1))),
            Cell::text(&figure(event.time_s)),
            Cell::text(&event.waits.map_or_else(|| ABSENT.to_owned(), |waits| count(waits as u64))),
            Cell::text(&event.mean_us.map_or_else(|| ABSENT.to_owned(), time_us)),
        ]);
    }
    grid
}

fn sum<'e>(reports: &[&'e Reported], name: &str) -> Summed<'e> {
    let of_name = |report: &&'e Reported| report.top_events.iter().find(|event| event.event == name);
    let found: Vec<&ReportedEvent> = reports.iter().filter_map(of_name).collect();
    let total = |figure: &dyn Fn(&ReportedEvent) -> Option<f64>| {
        let told: Vec<f64> = found.iter().filter_map(|event| figure(event)).collect();
        (!told.is_empty()).then(|| told.iter().sum::<f64>())
    };
    let weighted = total(&|event| Some(event.mean_us? * event.waits?));
    let weight = total(&|event| event.mean_us.and(event.waits));
    let time_s = total(&|event| event.time_s).unwrap_or(0.0);
    let db_time_s: f64 = reports.iter().filter_map(|report| report.db_time_s).sum();
    let computed = (db_time_s > 0.0).then(|| 100.0 * time_s / db_time_s);
    let printed = found.first().filter(|_| reports.len() == 1).and_then(|event| event.share_pct);
    Summed {
        event: found.first().map_or("", |event| event.event.as_str()),
        class: found.iter().map(|event| event.class.as_str()).find(|class| !class.is_empty()).unwrap_or(""),
        waits: total(&|event| event.waits),
        time_s,
        mean_us: weighted.zip(weight).filter(|(_, waits)| *waits > 0.0).map(|(time, waits)| time / waits),
        share_pct: printed.or(computed),
    }
}

/// Classes and the colours that Oracle's own charts made familiar, as names of the page's style.
const TONES: [(&str, &str); 12] = [
    ("CPU", "wait cpu"),
    ("User I/O", "wait user-io"),
    ("System I/O", "wait system-io"),
    ("Commit", "wait commit"),
    ("Concurrency", "wait concurrency"),
    ("Application", "wait application"),
    ("Configuration", "wait configuration"),
    ("Cluster", "wait cluster"),
    ("Network", "wait network"),
    ("Administrative", "wait administrative"),
    ("Scheduler", "wait scheduler"),
    ("Other", "wait other"),
];

fn shown_class<'e>(event: &Summed<'e>) -> (&'e str, &'static str) {
    let class = match event.event {
        "DB CPU" | "CPU time" => "CPU",
        _ => event.class,
    };
    (class, TONES.iter().find(|(name, _)| *name == class).map_or("", |(_, tone)| *tone))
}

#[cfg(test)]
mod tests {
    use dyno_record::ReportedLoad;

    use super::*;

    fn report(db_time_s: f64, reads: f64, sync: Option<(f64, f64)>) -> Reported {
        let event = |event: &str, class: &str, waits: Option<f64>, time_s: f64| ReportedEvent {
            event: event.into(),
            class: class.into(),
            waits,
            time_s: Some(time_s),
            mean_us: waits.map(|waits| time_s * 1e6 / waits),
            share_pct: Some(100.0 * time_s / db_time_s),
        };
        let sync = sync.map(|(waits, time_s)| event("log file sync", "Commit", Some(waits), time_s));
        let cpu = event("DB CPU", "", None, db_time_s / 2.0);
        Reported {
            db_time_s: Some(db_time_s),
            load_profile: vec![ReportedLoad {
                name: "logical reads (blocks)".into(),
                per_s: reads,
                per_txn: Some(7.0),
            }],
            top_events: sync.into_iter().chain([cpu]).collect(),
        }
    }

    fn texts(grid: &Grid) -> Vec<Vec<&str>> {
        grid.rows.iter().map(|(_, cells)| cells.iter().map(|cell| cell.text.as_str()).collect()).collect()
    }

    #[test]
    fn one_report_is_shown_as_it_is() {
        let one = report(100.0, 1_500.0, Some((1_000.0, 20.0)));
        assert_eq!(texts(&load(&[&one])), [["logical reads (blocks)", "1,500", "7.00"]]);
        let events = events(&[&one]);
        assert_eq!(texts(&events)[0][..4], ["DB CPU", "CPU", "50.0", "50.0"]);
        assert_eq!(texts(&events)[1][..5], ["log file sync", "Commit", "20.0", "20.0", "1,000"]);
        assert_eq!(events.rows[1].1[1].tone, "wait commit");
    }

    #[test]
    fn events_of_several_reports_are_added_up_and_weighted() {
        let [a, b] =
            [report(100.0, 1_000.0, Some((1_000.0, 10.0))), report(300.0, 3_000.0, Some((3_000.0, 90.0)))];
        let c = report(100.0, 9_000.0, None);
        let load = load(&[&a, &b, &c]);
        assert_eq!(texts(&load), [["logical reads (blocks)", "3,000", "1,000", "9,000"]]);
        let events = events(&[&a, &b, &c]);
        let sync = &texts(&events)[1];
        assert_eq!(sync[..5], ["log file sync", "Commit", "20.0", "100", "4,000"]);
        assert!(sync[5].starts_with("25"), "{sync:?}");
    }
}
