//! Finds the causes of each change of the load.

use std::collections::BTreeMap;

use dyno_analyze::series::SeriesLevel;

use super::changes::{self, AwrRateDeviation};
use super::levels::AwrFigureLevels;
use super::{AwrTimelinePoint, Flag};

/// The causes of each change of the load to another level, by the report that has the flag.
pub(super) fn of_levels(
    points: &[(AwrTimelinePoint, Vec<Flag>)],
    level_map: &AwrFigureLevels,
) -> BTreeMap<usize, Vec<AwrRateDeviation>> {
    let load = &level_map.0[0];
    let flagged = points.iter().enumerate().filter_map(|(at, (_, flags))| {
        let is_load =
            |flag: &Flag| matches!(flag, Flag::Level(steps) if steps.iter().any(|step| step.measure == 0));
        flags.iter().any(is_load).then_some(at)
    });
    let causes = flagged.filter_map(|at| {
        let begin = |level: &SeriesLevel| load.places[level.from];
        let nearest = load.levels.windows(2).min_by_key(|pair| begin(&pair[1]).abs_diff(at))?;
        let places = |level: &SeriesLevel| &load.places[level.from..level.to];
        Some((at, changes::causes(points, places(&nearest[0]), places(&nearest[1]))))
    });
    causes.collect()
}
