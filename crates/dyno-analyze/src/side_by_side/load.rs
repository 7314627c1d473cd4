//! The load profile: activity per second and per unit of work.

use dyno_record::Unit;

use super::row::RowUnit;
use super::spec::RowSpec;
use crate::load_profile::LOAD_LINES;
use crate::points::{Better, Measure};

/// Time of the database in sessions: metric and name.
pub(super) const DATABASE_TIME: [(&str, &str); 3] = [
    ("database_active_sessions", "DB time"),
    ("database_cpus", "DB CPU"),
    ("average_active_sessions", "active time of the sessions (sampled)"),
];

/// µs in a second.
pub(super) const US_PER_S: f64 = 1e6;

/// The rows per second, or per unit of work.
pub(super) fn specs(is_per_work: bool) -> Vec<RowSpec<'static>> {
    let time = DATABASE_TIME.iter().map(|(metric, name)| time(name, metric, is_per_work));
    let lines = LOAD_LINES.iter().map(|line| {
        let measure = Measure::find(line.metric);
        let unit = measure.map_or(Unit::PerSecond, |measure| measure.unit);
        RowSpec {
            better: match is_per_work {
                // More work for an operation is no gain; what is saved is shown by the latency.
                true => Better::Neither,
                false => measure.map_or(Better::Neither, |measure| measure.better),
            },
            value: Box::new(|record| line.per_s(record)),
            is_per_work,
            ..RowSpec::of_metric(line.name, line.metric, unit)
        }
    });
    // Operations per operation say nothing.
    time.chain(lines.filter(|row| !is_per_work || row.metric != "ops_per_s")).collect()
}

/// Time of sessions: seconds per second, or µs per unit of work.
pub(super) fn time(name: &str, metric: &'static str, is_per_work: bool) -> RowSpec<'static> {
    let name = if is_per_work { name.to_owned() } else { format!("{name} (s)") };
    let row = RowSpec { is_per_work, ..RowSpec::of_metric(&name, metric, Unit::Sessions) };
    match is_per_work {
        true => RowSpec { unit: RowUnit::Microseconds, factor: US_PER_S, ..row },
        false => row,
    }
}
