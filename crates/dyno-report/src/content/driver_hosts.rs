//! Table of the driver hosts of a distributed run.

use dyno_record::{Fleet, FleetHost, RunRecord};

use crate::model::table::{Grid, GridCell, GridHead};

/// Maximum rows: a run may have thousands of hosts, and the record contains all of them.
const ROWS_MAX: usize = 256;

/// A row for each driver host; `None` if the controller drove all sessions itself.
pub(crate) fn driver_hosts_grid(record: &RunRecord) -> Option<Grid> {
    let fleet = record.fleet.as_ref()?;
    let mut grid = Grid::new(vec![
        GridHead::text("driver host"),
        GridHead::figures("sessions", ""),
        GridHead::figures("operations", "").explained("of its sessions, in the window"),
        GridHead::figures("share", "%").explained("of the operations of all hosts"),
        GridHead::figures("clock error", "")
            .explained("maximum error of this host's times on the controller's clock"),
        GridHead::figures("clock ahead", "").explained(
            "lead of its monotonic clock, which counts from the start of its agent, over the controller's at the common start",
        ),
        GridHead::figures("drifted", "").explained("increase of this lead by the end of the window"),
        GridHead::figures("round trip", "").explained("shortest round trip of a message"),
        GridHead::figures("first start", "").explained("of its sessions, after the common start"),
        GridHead::figures("last start", ""),
        GridHead::figures("CPU busy", "%").explained("of all processors of this host, in the window"),
        GridHead::text("limited by"),
    ]);
    for host in fleet.hosts.iter().take(ROWS_MAX) {
        grid.row(cells(host, fleet));
    }
    let hidden = fleet.hosts.len().saturating_sub(ROWS_MAX);
    if hidden > 0 {
        let mut last = vec![GridCell::text(&format!("and {hidden} more"))];
        last.resize(12, GridCell::default());
        grid.row(last);
    }
    Some(grid)
}

/// Unknown values of a host are absent, never 0.
fn cells(host: &FleetHost, fleet: &Fleet) -> Vec<GridCell> {
    let all: u64 = fleet.hosts.iter().map(|host| host.ops).sum();
    // A host without results did operations that nobody counted.
    let handed_in = host.lost.is_none();
    let share = (handed_in && all > 0).then(|| host.ops as f64 / all as f64 * 100.0);
    let clock = |us: f64| GridCell::time_us((host.clock.exchanges > 0).then_some(us));
    let started = |of: fn((f64, f64)) -> f64| GridCell::time_us(host.started_us.map(of));
    let held_back = match &host.lost {
        Some(why) => format!("lost: {why}"),
        None => dyno_analyze::driver_bound_by(host).unwrap_or_default(),
    };
    vec![
        (&host.name).into(),
        GridCell::count(u64::from(host.sessions)),
        GridCell::count(handed_in.then_some(host.ops)),
        GridCell::percent(share),
        clock(host.clock.bound_us),
        GridCell::time_us(host.clock.ahead_us),
        GridCell::time_us(host.clock.drifted_us),
        clock(host.clock.round_trip_us),
        started(|at| at.0),
        started(|at| at.1),
        GridCell::percent(host.cpu_busy_pct),
        held_back.into(),
    ]
}

#[cfg(test)]
mod tests {
    use dyno_analyze::number::{ABSENT, time_us};
    use dyno_record::ClockFit;

    use super::*;

    fn texts(host: &FleetHost, fleet: &Fleet) -> String {
        cells(host, fleet).iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn driver_host_has_load_share_and_lost_host_has_none() {
        let first = FleetHost {
            name: "client-1".into(),
            sessions: 6,
            ops: 3_000,
            clock: ClockFit {
                exchanges: 24,
                round_trip_us: 200.0,
                bound_us: 120.0,
                ahead_us: Some(-2_500_000.0),
                drifted_us: Some(3.5),
            },
            started_us: Some((10.0, 90.0)),
            cpu_busy_pct: Some(41.0),
            ..FleetHost::default()
        };
        let second_host =
            FleetHost { name: "client-2".into(), sessions: 2, ops: 1_000, ..FleetHost::default() };
        let lost = FleetHost { name: "gone".into(), lost: Some("killed".into()), ..second_host.clone() };
        let fleet = Fleet { group: "g".into(), hosts: vec![first.clone(), second_host.clone()] };
        assert!(texts(&first, &fleet).starts_with("client-1|6|3,000|75"), "{}", texts(&first, &fleet));
        let clock_cells = format!("|{}|{}|{}|", time_us(120.0), time_us(-2_500_000.0), time_us(3.5));
        assert!(texts(&first, &fleet).contains(&clock_cells), "{}", texts(&first, &fleet));
        // A record of an earlier version contains no offset.
        let clock = ClockFit { ahead_us: None, drifted_us: None, ..first.clock };
        let earlier = FleetHost { clock, ..first };
        let cells_without_offset = format!("|{}|{ABSENT}|{ABSENT}|{}|", time_us(120.0), time_us(200.0));
        assert!(texts(&earlier, &fleet).contains(&cells_without_offset), "{}", texts(&earlier, &fleet));
        assert!(texts(&second_host, &fleet).contains("|25"), "{}", texts(&second_host, &fleet));
        assert!(texts(&second_host, &fleet).contains(&format!("{}|", format!("|{ABSENT}").repeat(7))));
        assert!(texts(&lost, &fleet).starts_with(&format!("gone|2|{ABSENT}|{ABSENT}|")));
        assert!(texts(&lost, &fleet).ends_with("lost: killed"));
    }
}
