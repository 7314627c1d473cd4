//! Table of the instances of a database (Oracle RAC) that served the sessions of a run.

use dyno_record::{InstanceLoad, RunRecord};

use crate::content::result::has_result;
use crate::model::table::{Grid, GridCell, GridHead};

/// Heading of the table in a terminal; pages capitalize it.
pub(crate) const TITLE: &str = "load per instance";

/// Name of the sessions that belong to no single instance.
const SEVERAL: &str = "several, after a reconnect";

/// A row for each instance; `None` if one instance served all sessions of each target.
pub(crate) fn instances_grid(record: &RunRecord) -> Option<Grid> {
    let loads = || record.targets.iter().map(|target| &target.instances[..]);
    if !has_result(record) || loads().all(<[InstanceLoad]>::is_empty) {
        return None;
    }
    let has_targets = record.targets.len() > 1;
    let mut heads: Vec<GridHead> = has_targets.then(|| GridHead::text("target")).into_iter().collect();
    heads.extend([
        GridHead::text("instance"),
        GridHead::figures("sessions", ""),
        GridHead::figures("operations", "").explained("of its sessions, in the window"),
        GridHead::figures("share", "%").explained("of the operations of all instances of the target"),
        GridHead::figures("p99", "").explained("of its sessions' service time"),
    ]);
    let mut grid = Grid::new(heads);
    for (at, loads) in loads().enumerate() {
        let all: u64 = loads.iter().map(|load| load.ops).sum();
        for load in loads {
            let target = has_targets.then(|| GridCell::from((at + 1).to_string()));
            grid.row(target.into_iter().chain(cells(load, all)));
        }
    }
    Some(grid)
}

fn cells(load: &InstanceLoad, all: u64) -> [GridCell; 5] {
    [
        load.instance.as_deref().unwrap_or(SEVERAL).into(),
        GridCell::count(u64::from(load.sessions)),
        GridCell::count(load.ops),
        GridCell::percent((all > 0).then(|| load.ops as f64 / all as f64 * 100.0)),
        GridCell::time_us(load.service_p99_us),
    ]
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_analyze::number::ABSENT;

    use super::*;

    fn texts(grid: &Grid) -> Vec<String> {
        let row = |cells: &[GridCell]| cells.iter().map(|cell| &cell.text[..]).collect::<Vec<_>>().join("|");
        grid.rows.iter().map(|(_, cells)| row(cells)).collect()
    }

    #[test]
    fn instances_have_sessions_operations_and_share() {
        let mut record = fixture::postgres();
        assert!(instances_grid(&record).is_none());
        let load = |instance: Option<&str>, sessions, ops, service_p99_us| InstanceLoad {
            instance: instance.map(str::to_owned),
            sessions,
            ops,
            service_p99_us,
        };
        record.targets[0].instances = vec![
            load(Some("orcl1"), 6, 7_500, Some(250.0)),
            load(Some("orcl2"), 1, 2_000, None),
            load(None, 1, 500, None),
        ];
        let grid = instances_grid(&record).unwrap();
        let wanted = [
            "orcl1|6|7,500|75.0|250 µs".to_owned(),
            format!("orcl2|1|2,000|20.0|{ABSENT}"),
            format!("{SEVERAL}|1|500|5.0|{ABSENT}"),
        ];
        assert_eq!(texts(&grid), wanted);
        // With several targets, each row names its own.
        record.targets.push(record.targets[0].clone());
        record.targets[0].instances.clear();
        let grid = instances_grid(&record).unwrap();
        assert!(texts(&grid)[0].starts_with("2|orcl1|6"), "{:?}", texts(&grid));
    }
}
