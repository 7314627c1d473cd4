//! A run's activity as database administrators read it: per second, per transaction and per operation.

use dyno_analyze::attribution::is_marked;
use dyno_analyze::audit::cpu_beyond_db_time;
use dyno_analyze::load_profile::{LOAD_LINES, transactions_per_s};
use dyno_analyze::number::{ABSENT, within};
use dyno_analyze::points::figure as measured;
use dyno_analyze::timed_events::{Parses, parses};
use dyno_record::RunRecord;

use crate::model::table::{Grid, GridCell, GridHead};

/// Head of the first column, also shown as the heading of the table.
pub(crate) const TITLE: &str = "load profile";

/// Characters of a figure; a longer one is shown as `1.23G`.
const FIGURE_MAX: usize = 12;

/// Sessions and processors that the profile shows as time.
const TIMES: [&str; 3] = ["database_active_sessions", "average_active_sessions", "database_cpus"];

/// Rates of its rows that are sums or shares of other counters.
const COUNTS: [&str; 3] = ["commits_per_s", "rollbacks_per_s", "executions_per_s"];

/// Whether a row of the profile is made from this metric.
pub(crate) fn is_line(metric: &str) -> bool {
    LOAD_LINES.iter().any(|line| line.metric == metric) || TIMES.contains(&metric) || COUNTS.contains(&metric)
}

fn shown(value: f64) -> String {
    within(value, FIGURE_MAX)
}

fn figure(value: Option<f64>) -> GridCell {
    GridCell::within(value, FIGURE_MAX)
}

/// Heads of the columns of figures.
const PER_TRANSACTION: &str = "per transaction";

/// The load profile of a run; `None` if its operations were not counted.
pub(crate) fn load(record: &RunRecord) -> Option<Grid> {
    let (ops, _) = measured(record, "ops_per_s").filter(|(ops, _)| *ops > 0.0)?;
    let transactions = transactions_per_s(record).ok();
    let mut grid = Grid::new(vec![
        GridHead::text(TITLE),
        GridHead::figures("per second", ""),
        GridHead::figures(PER_TRANSACTION, "")
            .explained("of the database: its commits and rollbacks, as in Oracle's AWR"),
        GridHead::figures("per operation", ""),
    ]);
    let mut row =
        |name: &str, per_s: f64, show: &dyn Fn(Option<f64>) -> GridCell, first: Option<GridCell>, marked| {
            grid.row(vec![
                GridCell::text(name),
                first.unwrap_or_else(|| show(Some(per_s))).marked(marked),
                show(transactions.map(|count| per_s / count)).marked(marked),
                show(Some(per_s / ops)).marked(marked),
            ]);
        };
    let active = [("DB time", "database_active_sessions"), ("DB time (sampled)", "average_active_sessions")];
    let db_time =
        active.into_iter().find_map(|(name, metric)| Some((name, metric, measured(record, metric)?.0)));
    let db_cpu = measured(record, "database_cpus").map(|(cpus, _)| ("DB CPU", "database_cpus", cpus));
    for (name, metric, sessions) in db_time.into_iter().chain(db_cpu) {
        let first = Some(figure(Some(sessions)).in_unit("s"));
        row(name, sessions * 1e6, &|us| GridCell::time_us(us), first, is_marked(record, metric));
    }
    for line in &LOAD_LINES {
        let Some(per_s) = line.per_s(record) else { continue };
        let show: fn(Option<f64>) -> GridCell =
            if line.is_bytes { |value| GridCell::bytes(value) } else { figure };
        row(line.name, per_s, &show, None, is_marked(record, line.metric));
    }
    if let Some(count) = transactions {
        let marked = ["commits_per_s", "rollbacks_per_s"].iter().any(|name| is_marked(record, name));
        row("transactions", count, &figure, None, marked);
    }
    let seconds = record.window.as_ref().map(|window| window.seconds).filter(|seconds| *seconds > 0.0);
    if let (Ok(parses), Some(seconds)) = (parses(record), seconds) {
        let marked = is_marked(record, "executions_per_s");
        row("parses", parses.total / seconds, &figure, None, marked);
        if let Some(hard) = parses.hard {
            row("hard parses", hard / seconds, &figure, None, marked);
        }
    }
    Some(grid)
}

/// Sentences below the load profile: parses per execution, why a figure is absent, and why two differ.
pub(crate) fn notes(record: &RunRecord) -> Vec<String> {
    let mut notes = Vec::new();
    if let Err(reason) = transactions_per_s(record) {
        notes.push(format!("{PER_TRANSACTION} {ABSENT}: {reason}"));
    }
    notes.push(match parses(record) {
        Err(reason) => format!("parses per execution {ABSENT}: {reason}"),
        Ok(Parses { executions: None, .. }) => {
            format!("parses per execution {ABSENT}: the database counted no executions")
        }
        Ok(Parses { total, hard, executions: Some(executions) }) => {
            let hard = hard.map(|hard| format!(", hard parses {}", shown(hard / executions)));
            format!("parses per execution {}{}", shown(total / executions), hard.unwrap_or_default())
        }
    });
    notes.extend(cpu_beyond_db_time(record));
    notes
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::{
        Attribution, AttributionScope, Counter, CounterDelta, Metric, ParseCounters, RunRecord, Unit,
    };

    use super::*;

    fn texts(record: &RunRecord) -> Vec<Vec<String>> {
        let grid = load(record).unwrap();
        grid.rows.iter().map(|(_, cells)| cells.iter().map(|cell| cell.text.clone()).collect()).collect()
    }

    fn put(record: &mut RunRecord, name: &str, value: f64) {
        record.metrics.insert(name.into(), Metric::Value { value, unit: Unit::PerSecond });
    }

    #[test]
    fn load_profile_is_per_second_transaction_and_operation() {
        let mut record = fixture::postgres();
        let ops = record.leading_ops().unwrap().rate_per_s;
        put(&mut record, "commits_per_s", ops * 2.0);
        put(&mut record, "rollbacks_per_s", ops * 2.0);
        put(&mut record, "logical_reads_per_s", ops * 8.0);
        let attribution = Attribution {
            scope: AttributionScope::Server,
            others_pct: None,
            marked: true,
            why: "others".into(),
        };
        record.whose.insert("commits_per_s".into(), attribution);
        let load = texts(&record);
        let row = |name: &str| load.iter().find(|row| row[0] == name).unwrap()[1..].to_vec();
        assert_eq!(row("commits")[2], "2.00†", "per operation, with the mark of others' part");
        assert_eq!(row("logical reads (blocks)")[1..], ["2.00", "8.00"]);
        assert_eq!(row("transactions")[1..], ["1.00†", "4.00†"]);
        // A load without transactions has no figures per transaction.
        put(&mut record, "commits_per_s", 0.0);
        put(&mut record, "rollbacks_per_s", 0.0);
        assert!(texts(&record).iter().all(|row| row[2] == ABSENT));
        let note = format!("per transaction {ABSENT}: the database counted neither commits nor rollbacks");
        assert_eq!(notes(&record)[0], note);
    }

    #[test]
    fn processor_time_beyond_db_time_is_explained() {
        let mut record = fixture::postgres();
        let is_explained =
            |record: &RunRecord| notes(record).iter().any(|note| note.contains("which excludes"));
        assert!(!is_explained(&record));
        record.hosts[0].counters.insert("server.cpu_s".into(), 1e3);
        assert!(is_explained(&record));
    }

    #[test]
    fn parses_are_shown_per_execution_or_with_a_reason() {
        let mut record = fixture::postgres();
        let note = format!("parses per execution {ABSENT}: PostgreSQL reports no count of parses");
        assert!(notes(&record).contains(&note), "{:?}", notes(&record));
        record.targets[0].identity.counting.parses =
            Some(ParseCounters { total: "parses".into(), hard: Some("hard".into()) });
        record.counters.native.extend([("parses".to_owned(), 500.0), ("hard".to_owned(), 20.0)]);
        let executions = CounterDelta::Moved { begin: 0, end: 1_000, delta: 1_000, unit: Unit::Count };
        record.counters.portable.insert(Counter::Executions, executions);
        let wanted = format!("parses per execution {}, hard parses {}", shown(0.5), shown(0.02));
        assert!(notes(&record).contains(&wanted), "{:?}", notes(&record));
        assert!(texts(&record).iter().any(|row| row[0] == "hard parses"));
    }
}
