//! What databases' own reports begin with, over one of them or many: load profile and top timed events.

use std::collections::BTreeMap;

use dyno_analyze::number::{ABSENT, count, figure, fixed, optional, time_us};
use dyno_analyze::points::median;
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

/// The beginnings of reports, gathered from record to record: one overview for each instance that reports are of.
#[derive(Debug, Default)]
pub struct Overviews(BTreeMap<String, Reports>);

impl Overviews {
    /// The next record, which may be of no report.
    pub fn see(&mut self, record: &RunRecord) {
        let Some(reported) = record.imported.as_ref().and_then(|imported| imported.reported.as_ref()) else {
            return;
        };
        let target = record.targets.first().map_or("", |target| target.url.as_str());
        self.0.entry(target.to_owned()).or_default().add(reported);
    }

    /// The overviews.
    pub fn all(&self) -> Vec<Overview> {
        let alone = self.0.len() == 1;
        let overview = |(target, reports): (&String, &Reports)| Overview {
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
    /// In the order in which they come first.
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

/// One event over all reports; what none tells is absent.
#[derive(Debug, Default)]
struct Event {
    event: String,
    class: String,
    waits: Option<f64>,
    time_s: f64,
    /// Of the reports that tell a mean and how often: all of their time, and how often.
    weighed: Option<(f64, f64)>,
    /// As the last report has it.
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
        let mut told: Vec<&str> = Vec::new();
        for event in &report.top_events {
            if told.contains(&event.event.as_str()) {
                continue;
            }
            told.push(&event.event);
            named(&mut self.events, &event.event, |event| &mut event.event).add(event);
        }
    }

    fn about(&self) -> String {
        match self.count {
            1 => "As the report has them.".to_owned(),
            all => format!(
                "Over {all} reports: medians of the load with the lowest and the highest. Times of events are added up; where one is not \
                 among a report's top events, that report adds nothing to it."
            ),
        }
    }

    fn load(&self) -> Grid {
        let several = self.count > 1;
        let mut heads = vec![Head::text("load profile"), Head::figures("per second", "")];
        match several {
            true => heads.extend([Head::figures("lowest", ""), Head::figures("highest", "")]),
            false => heads.push(Head::figures("per transaction", "")),
        }
        let mut grid = Grid::new(heads);
        for line in &self.load {
            let mut rates = line.per_s.clone();
            rates.sort_by(f64::total_cmp);
            let [Some(lowest), Some(highest)] = [rates.first(), rates.last()] else { continue };
            let mut cells =
                vec![Cell::text(&line.name), Cell::text(&median(&rates).map_or_else(String::new, figure))];
            match several {
                true => cells.extend([lowest, highest].map(|rate| Cell::text(&figure(*rate)))),
                false => cells.push(Cell::text(&optional(line.per_txn))),
            }
            grid.row(cells);
        }
        grid
    }

    fn events(&self) -> Grid {
        let mut grid = Grid::new(vec![
            Head::text("top timed event"),
            Head::text("class"),
            Head::figures("share of DB time", "%"),
            Head::figures("time", "s"),
            Head::figures("waits", ""),
            Head::figures("mean wait", ""),
        ]);
        let mut events: Vec<&Event> = self.events.iter().collect();
        events.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
        for event in events.into_iter().take(EVENTS_MAX) {
            let (class, tone) = shown_class(event);
            let printed = event.share_pct.filter(|_| self.count == 1);
            let computed = || (self.db_time_s > 0.0).then(|| 100.0 * event.time_s / self.db_time_s);
            let mean_us =
                event.weighed.filter(|(_, waits)| *waits > 0.0).map(|(time_us, waits)| time_us / waits);
            let told = |text: Option<String>| Cell::text(&text.unwrap_or_else(|| ABSENT.to_owned()));
            grid.row(vec![
                Cell::text(&event.event),
                Cell { tone, ..Cell::text(class) },
                told(printed.or_else(computed).map(|share| fixed(share, 1))),
                Cell::text(&figure(event.time_s)),
                told(event.waits.map(|waits| count(waits as u64))),
                told(mean_us.map(time_us)),
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

/// The one of this name, behind the others where it is new.
fn named<'a, T: Default>(all: &'a mut Vec<T>, name: &str, name_of: fn(&mut T) -> &mut String) -> &'a mut T {
    let at = all.iter_mut().position(|one| name_of(one) == name).unwrap_or_else(|| {
        let mut one = T::default();
        name.clone_into(name_of(&mut one));
        all.push(one);
        all.len() - 1
    });
    &mut all[at]
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

fn shown_class(event: &Event) -> (&str, &'static str) {
    class_and_tone(&event.event, &event.class)
}

/// The class of an event as it is shown, and the tone of its cell.
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
    fn one_report_is_shown_as_it_is() {
        let one = report(100.0, 1_500.0, Some((1_000.0, 20.0)));
        let one = over(&[one]);
        assert_eq!(texts(&one.load()), [["logical reads (blocks)", "1,500", "7.00"]]);
        let events = one.events();
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
