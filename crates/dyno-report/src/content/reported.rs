//! Load profile and top timed events of database reports, for one report or many.

use std::collections::BTreeMap;

use dyno_analyze::points::median;
use dyno_record::{Reported, ReportedEvent, RunRecord};

use crate::model::table::{Grid, GridCell, GridHead};

const EVENTS_MAX: usize = 10;

/// Overview of the reports of one instance.
#[derive(Debug)]
pub struct ReportedOverview {
    /// Name of the instance; empty if there is only one.
    pub name: String,
    pub about: String,
    pub load: Grid,
    pub events: Grid,
}

/// Overviews collected record by record: one for each instance with reports.
#[derive(Debug, Default)]
pub struct Overviews(BTreeMap<String, Reports>);

impl Overviews {
    /// Adds a record, which may contain no report.
    pub fn see(&mut self, record: &RunRecord) {
        let Some(reported) = record.reported() else { return };
        let target = record.targets.first().map_or("", |target| target.url.as_str());
        self.0.entry(target.to_owned()).or_default().add(reported);
    }

    pub fn all(&self) -> Vec<ReportedOverview> {
        let alone = self.0.len() == 1;
        let overview = |(target, reports): (&String, &Reports)| ReportedOverview {
            name: if alone { String::new() } else { target.clone() },
            about: reports.about(),
            load: reports.load(),
            events: reports.events(),
        };
        self.0.iter().map(overview).collect()
    }
}

/// The reports of one instance.
#[derive(Debug, Default)]
struct Reports {
    count: usize,
    db_time_s: f64,
    /// In the order of first occurrence.
    load: Vec<Load>,
    events: Vec<Event>,
}

/// One line of the load profile over all reports.
#[derive(Debug, Default)]
struct Load {
    name: String,
    per_s: Vec<f64>,
    per_txn: Option<f64>,
}

/// One event over all reports; values that no report states are absent.
#[derive(Debug, Default)]
struct Event {
    event: String,
    class: String,
    waits: Option<f64>,
    time_s: f64,
    /// Total time and number of waits of the reports that state both mean and count.
    weighed: Option<(f64, f64)>,
    /// The value in the last report.
    share_pct: Option<f64>,
}

impl Reports {
    fn add(&mut self, report: &Reported) {
        self.count += 1;
        self.db_time_s += report.db_time_s.unwrap_or(0.0);
        for line in &report.load_profile {
            let of_name = named(&mut self.load, &line.name, |load| &mut load.name);
            of_name.per_s.push(line.per_s);
            of_name.per_txn = of_name.per_txn.or(line.per_txn);
        }
        let mut event_names: Vec<&str> = Vec::new();
        for event in &report.top_events {
            if event_names.contains(&event.event.as_str()) {
                continue;
            }
            event_names.push(&event.event);
            named(&mut self.events, &event.event, |event| &mut event.event).add(event);
        }
    }

    fn about(&self) -> String {
        match self.count {
            1 => "As printed in the report.".to_owned(),
            all => format!(
                "Over {all} reports: medians of the load with the lowest and the highest. Times of events \
                 are added up; a report adds nothing to an event that is not among its top events."
            ),
        }
    }

    fn load(&self) -> Grid {
        let several = self.count > 1;
        let mut heads = vec![GridHead::text("load profile"), GridHead::figures("per second", "")];
        match several {
            true => heads.extend([GridHead::figures("lowest", ""), GridHead::figures("highest", "")]),
            false => heads.push(GridHead::figures("per transaction", "")),
        }
        let mut grid = Grid::new(heads);
        for line in &self.load {
            let mut rates = line.per_s.clone();
            rates.sort_by(f64::total_cmp);
            let [Some(lowest), Some(highest)] = [rates.first(), rates.last()] else { continue };
            let mut cells = vec![GridCell::text(&line.name), GridCell::figure(median(&rates)).or_empty()];
            match several {
                true => cells.extend([lowest, highest].map(|rate| GridCell::figure(*rate))),
                false => cells.push(GridCell::figure(line.per_txn)),
            }
            grid.row(cells);
        }
        grid
    }

    fn events(&self) -> Grid {
        let mut grid = Grid::new(vec![
            GridHead::text("top timed event"),
            GridHead::text("class"),
            GridHead::figures("share of DB time", "%"),
            GridHead::figures("time", "s"),
            GridHead::figures("waits", ""),
            GridHead::figures("mean wait", ""),
        ]);
        let mut events: Vec<&Event> = self.events.iter().collect();
        events.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
        for event in events.into_iter().take(EVENTS_MAX) {
            let (class, tone) = shown_class(event);
            let printed = event.share_pct.filter(|_| self.count == 1);
            let computed = || (self.db_time_s > 0.0).then(|| 100.0 * event.time_s / self.db_time_s);
            let mean_us =
                event.weighed.filter(|(_, waits)| *waits > 0.0).map(|(time_us, waits)| time_us / waits);
            grid.row(vec![
                GridCell::text(&event.event),
                GridCell::text(class).toned(tone),
                GridCell::fixed(printed.or_else(computed), 1),
                GridCell::figure(event.time_s),
                GridCell::count(event.waits.map(|waits| waits as u64)),
                GridCell::time_us(mean_us),
            ]);
        }
        grid
    }
}

impl Event {
    fn add(&mut self, event: &ReportedEvent) {
        if self.class.is_empty() {
            self.class.clone_from(&event.class);
        }
        self.waits = self.waits.map_or(event.waits, |sum| Some(sum + event.waits.unwrap_or(0.0)));
        self.time_s += event.time_s.unwrap_or(0.0);
        self.share_pct = event.share_pct;
        if let (Some(mean_us), Some(waits)) = (event.mean_us, event.waits) {
            let (time_us, sum) = self.weighed.unwrap_or_default();
            self.weighed = Some((time_us + mean_us * waits, sum + waits));
        }
    }
}

/// The entry with this name, appended if it is new.
fn named<'a, T: Default>(all: &'a mut Vec<T>, name: &str, name_of: fn(&mut T) -> &mut String) -> &'a mut T {
    let at = all.iter_mut().position(|one| name_of(one) == name).unwrap_or_else(|| {
        let mut entry = T::default();
        name.clone_into(name_of(&mut entry));
        all.push(entry);
        all.len() - 1
    });
    &mut all[at]
}

/// Wait classes and CSS names of their colors, as in Oracle's charts.
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

fn shown_class(event: &Event) -> (&str, &'static str) {
    class_and_tone(&event.event, &event.class)
}

/// The displayed class of an event, and the tone of its cell.
pub(crate) fn class_and_tone<'c>(event: &str, class: &'c str) -> (&'c str, &'static str) {
    let class = match event {
        "DB CPU" | "CPU time" => "CPU",
        _ => class,
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
            ..ReportedEvent::default()
        };
        let sync = sync.map(|(waits, time_s)| event("log file sync", "Commit", Some(waits), time_s));
        let cpu = event("DB CPU", "", None, db_time_s / 2.0);
        Reported {
            db_time_s: Some(db_time_s),
            load_profile: vec![ReportedLoad {
                name: "logical reads (blocks)".into(),
                per_s: reads,
                per_txn: Some(7.0),
                ..ReportedLoad::default()
            }],
            top_events: sync.into_iter().chain([cpu]).collect(),
            ..Reported::default()
        }
    }

    fn texts(grid: &Grid) -> Vec<Vec<&str>> {
        grid.rows.iter().map(|(_, cells)| cells.iter().map(|cell| cell.text.as_str()).collect()).collect()
    }

    fn over(reported: &[Reported]) -> Reports {
        let mut reports = Reports::default();
        reported.iter().for_each(|report| reports.add(report));
        reports
    }

    #[test]
    fn single_awr_report_is_shown_unchanged() {
        let single_report = report(100.0, 1_500.0, Some((1_000.0, 20.0)));
        let overview = over(&[single_report]);
        assert_eq!(texts(&overview.load()), [["logical reads (blocks)", "1,500", "7.00"]]);
        let events = overview.events();
        assert_eq!(texts(&events)[0][..4], ["DB CPU", "CPU", "50.0", "50.0"]);
        assert_eq!(texts(&events)[1][..5], ["log file sync", "Commit", "20.0", "20.0", "1,000"]);
        assert_eq!(events.rows[1].1[1].tone, "wait commit");
    }

    #[test]
    fn events_of_several_reports_are_added_up_and_weighted() {
        let [a, b] =
            [report(100.0, 1_000.0, Some((1_000.0, 10.0))), report(300.0, 3_000.0, Some((3_000.0, 90.0)))];
        let c = report(100.0, 9_000.0, None);
        let all = over(&[a, b, c]);
        assert_eq!(texts(&all.load()), [["logical reads (blocks)", "3,000", "1,000", "9,000"]]);
        let events = all.events();
        let sync = &texts(&events)[1];
        assert_eq!(sync[..5], ["log file sync", "Commit", "20.0", "100", "4,000"]);
        assert!(sync[5].starts_with("25"), "{sync:?}");
    }
}
