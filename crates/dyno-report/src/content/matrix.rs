//! Overview of a sweep: throughput at each load of each curve, and the dominant resource there.

use dyno_analyze::limited::Component;
use dyno_analyze::points::{MeasuredCurve, MeasuredPoint, Points};

use crate::figures::{anchor, curve_axis, curve_name, typical};
use crate::model::table::{Grid, GridCell, GridHead};

/// Maximum curves and loads of a readable matrix.
const SIDE_MAX: usize = 40;

/// CSS classes of shades, from light to dark.
const SHADES: [&str; 8] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"];

/// The two tables of a sweep; `None` without several curves over a load.
pub(crate) fn matrix(points: &Points) -> Option<(Grid, Grid)> {
    let axis = curve_axis(points)?;
    let curves = points.curves(&axis.path);
    let place = points.axes.iter().position(|known| known.path == axis.path)?;
    let mut loads: Vec<(&str, f64)> = Vec::new();
    for point in &points.points {
        let value = &point.values[place];
        if !loads.iter().any(|(text, _)| *text == value.text) {
            loads.push((&value.text, value.number?));
        }
    }
    loads.sort_by(|a, b| a.1.total_cmp(&b.1));
    let fits = (2..=SIDE_MAX).contains(&loads.len()) && (1..=SIDE_MAX).contains(&curves.len());
    if !fits || points.points.len() < 3 {
        return None;
    }
    let heads = || {
        let mut heads = vec![GridHead::text(if axis.path == "sessions" { "sessions" } else { axis.name() })];
        heads.extend(loads.iter().map(|(text, _)| GridHead::figures(text, axis.unit)));
        heads
    };
    let (mut rates, mut limits) = (Grid::new(heads()), Grid::new(heads()));
    for curve in &curves {
        let at = |text: &str| curve.points.iter().find(|point| point.values[place].text == text).copied();
        let most = most(curve);
        let name = GridCell::text(&curve_name(curve));
        let cells = |of: &dyn Fn(&MeasuredPoint) -> GridCell| -> Vec<GridCell> {
            let cell = |(text, _): &(&str, f64)| at(text).map_or_else(GridCell::absent, of);
            std::iter::once(name.clone()).chain(loads.iter().map(cell)).collect()
        };
        rates.row(cells(&|point| rate(point, most)));
        limits.row(cells(&limit));
    }
    Some((rates, limits))
}

/// The measure of a curve: operations, or reads if operations were not counted.
fn value(point: &MeasuredPoint) -> Option<(f64, bool)> {
    ["ops_per_s", "physical_read_requests_per_s"]
        .into_iter()
        .find_map(|measure| Some((point.get(measure)?, point.is_marked(measure))))
}

fn most(curve: &MeasuredCurve<'_>) -> f64 {
    curve.points.iter().filter_map(|point| value(point)).map(|(rate, _)| rate).fold(0.0, f64::max)
}

/// The rate at a point; a darker shade is closer to the curve's maximum. Curves of scans and of lookups
/// cannot share a scale.
fn rate(point: &MeasuredPoint, most: f64) -> GridCell {
    let Some((rate, marked)) = value(point) else { return GridCell::absent() };
    let share = if most > 0.0 { rate / most } else { 0.0 };
    let shade = ((share * SHADES.len() as f64) as usize).min(SHADES.len() - 1);
    GridCell {
        tone: SHADES[shade],
        ..GridCell::figure(rate).marked(marked).linked_to(&anchor(&typical(point).id))
    }
}

/// The dominant resource at a point, with its color and word.
fn limit(point: &MeasuredPoint) -> GridCell {
    let Some(limit) = point.limited() else { return GridCell::absent() };
    let tone = match limit.by {
        Component::Cpu | Component::CpuQuota => "wait cpu",
        Component::Device => "wait user-io",
        Component::Commits => "wait commit",
        Component::Locks => "wait application",
        Component::Latches => "wait concurrency",
        Component::Client | Component::RoundTrips | Component::Connections => "wait network",
        Component::Sessions | Component::Rate | Component::ThinkTime => "wait scheduler",
        Component::Waits | Component::Unknown => "wait other",
    };
    GridCell::from(limit.short()).toned(tone)
}

#[cfg(test)]
mod tests {
    use dyno_analyze::number::ABSENT;
    use dyno_analyze::{fixture, points};
    use dyno_record::RunRecord;

    use super::*;

    #[test]
    fn matrix_has_a_row_per_curve_and_a_column_per_load() {
        let grid = [0, 20].into_iter().flat_map(|updates| [1, 2, 4].map(|sessions| (updates, sessions)));
        let records: Vec<RunRecord> = grid.filter(|at| *at != (20, 2)).map(fixture::at_point).collect();
        let (rates, limits) = matrix(&points(&records)).unwrap();
        assert_eq!((rates.rows.len(), rates.heads.len(), limits.rows.len()), (2, 4, 2));
        assert_eq!(rates.rows[1].1[2].text, ABSENT, "what was not measured is not there");
        assert!(SHADES.contains(&rates.rows[0].1[1].tone));
        assert!(limits.rows[0].1[1].tone.starts_with("wait "));
        assert!(matrix(&points(&records[..1])).is_none());
    }
}
