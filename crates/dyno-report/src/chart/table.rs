//! A chart as a table, for readers who cannot see the chart or need exact figures.

use super::model::{Chart, ChartAxis, ChartPoint, ChartSeries, ScaleKind, SeriesKind};
use super::quantity::Quantity;
use crate::model::table::{Grid, GridCell, GridHead};

/// Maximum rows of a table; a longer series is thinned, and exports contain all of it.
const ROWS_MAX: usize = 120;

/// The figures of a chart, and whether rows were left out to limit the length.
pub(crate) fn grid(chart: &Chart) -> (Grid, bool) {
    rows(chart, ROWS_MAX)
}

/// All figures of a chart.
pub(crate) fn full_grid(chart: &Chart) -> Grid {
    rows(chart, usize::MAX).0
}

/// The series that have a column. A fit has none: it is no measurement, and a sentence gives its law.
pub(crate) fn column_series(chart: &Chart) -> impl Iterator<Item = &ChartSeries> {
    chart.series.iter().filter(|series| series.kind != SeriesKind::Fit)
}

fn rows(chart: &Chart, rows_max: usize) -> (Grid, bool) {
    let columns: Vec<(String, Vec<(f64, GridCell)>)> =
        column_series(chart).flat_map(|s| of_series(chart, s)).collect();
    let mut places: Vec<f64> = columns.iter().flat_map(|(_, cells)| cells.iter().map(|(x, _)| *x)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let every = places.len().div_ceil(rows_max).max(1);
    let mut heads =
        vec![GridHead::figures(if chart.x.label.is_empty() { "" } else { &chart.x.label }, unit(&chart.x))];
    heads.extend(columns.iter().map(|(name, _)| GridHead::figures(name, unit(&chart.y))));
    let mut grid = Grid::new(heads);
    for x in places.iter().step_by(every) {
        let mut cells = vec![place(&chart.x, *x)];
        cells.extend(columns.iter().map(|(_, own)| {
            own.iter().find(|(at, _)| at == x).map_or_else(GridCell::absent, |(_, cell)| cell.clone())
        }));
        grid.row(cells);
    }
    (grid, every > 1)
}

/// One series as columns: tiles have one column for each of their rows, other series one in total.
fn of_series(chart: &Chart, series: &ChartSeries) -> Vec<(String, Vec<(f64, GridCell)>)> {
    if series.kind != SeriesKind::Tile {
        let cell = |point: &ChartPoint| {
            let shown = shown(chart.y.quantity, point.y);
            match point.range.filter(|(low, high)| series.kind == SeriesKind::Line && low < high) {
                Some((low, high)) => {
                    let [low, high] = [low, high].map(|end| self::shown(chart.y.quantity, end));
                    GridCell { text: format!("{} ({} – {})", shown.text, low.text, high.text), ..shown }
                }
                None => shown,
            }
        };
        let cells = series.points.iter().map(|point| (point.x, cell(point))).collect();
        return vec![(series.name.clone(), cells)];
    }
    let mut rows: Vec<(f64, f64)> = series.points.iter().filter_map(|point| point.range).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.dedup();
    let column = |(low, high): (f64, f64)| {
        let tiles = series.points.iter().filter(|point| point.range == Some((low, high)));
        let quantity = chart.y.quantity;
        let name = format!("{} – {}", shown(quantity, low).text, shown(quantity, high).text);
        (name, tiles.map(|point| (point.x, (&point.label).into())).collect())
    };
    rows.into_iter().map(column).collect()
}

/// Unit in the column head; times and shares have it in each cell.
fn unit(axis: &ChartAxis) -> &'static str {
    match axis.quantity {
        Quantity::Plain(unit) => unit,
        Quantity::Seconds => "s",
        Quantity::Percent | Quantity::Micros => "",
    }
}

fn place(axis: &ChartAxis, x: f64) -> GridCell {
    match &axis.scale {
        ScaleKind::Ordinal(categories) => {
            categories.get(x as usize).map_or_else(GridCell::default, |category| {
                if category.group.is_empty() {
                    (&category.label).into()
                } else {
                    format!("{}, {}", category.label, category.group).into()
                }
            })
        }
        _ => match axis.named.iter().find(|(value, _)| *value == x) {
            Some((_, text)) => text.into(),
            None => shown(axis.quantity, x),
        },
    }
}

fn shown(quantity: Quantity, value: f64) -> GridCell {
    match quantity {
        Quantity::Micros => GridCell::time_us(value),
        Quantity::Percent => GridCell::percent(value).in_unit("%"),
        Quantity::Plain(_) | Quantity::Seconds => GridCell::figure(value),
    }
}

#[cfg(test)]
mod tests {
    use dyno_analyze::number::ABSENT;

    use super::*;

    fn chart(series: Vec<ChartSeries>) -> Chart {
        Chart {
            id: "c".into(),
            title: String::new(),
            about: String::new(),
            x: ChartAxis::linear("sessions", Quantity::Plain("")),
            y: ChartAxis::log("time", Quantity::Micros),
            series,
            marks: vec![],
        }
    }

    #[test]
    fn every_chart_value_is_in_its_table() {
        let point = |x: f64, y: f64| ChartPoint { range: Some((y - 1.0, y + 1.0)), ..ChartPoint::at(x, y) };
        let series = |name: &str, points: Vec<ChartPoint>| ChartSeries {
            name: name.into(),
            kind: SeriesKind::Line,
            style: 0,
            points,
        };
        let (grid, cut) = grid(&chart(vec![
            series("a", vec![point(1.0, 10.0), point(2.0, 20.0)]),
            series("b", vec![point(2.0, 30.0)]),
        ]));
        let cells: Vec<Vec<&str>> = grid
            .rows
            .iter()
            .map(|(_, cells)| cells.iter().map(|cell| cell.text.as_str()).collect())
            .collect();
        assert_eq!(cells[0][2], ABSENT);
        assert!(cells[1][1].starts_with("20.0 µs (19.0 µs – 21.0 µs)"), "{cells:?}");
        assert!(!cut);
        assert!(cells.len() == 2);
        let many = (0..1_000).map(|x| ChartPoint::at(f64::from(x), 1.0)).collect();
        let (long, cut) = super::grid(&chart(vec![series("a", many)]));
        assert!(cut);
        assert!(long.rows.len() <= ROWS_MAX);
        let fit = ChartSeries { kind: SeriesKind::Fit, ..series("fit", vec![point(1.5, 15.0)]) };
        let with_fit = chart(vec![series("a", vec![point(1.0, 10.0)]), fit]);
        assert_eq!((full_grid(&with_fit).heads.len(), full_grid(&with_fit).rows.len()), (2, 1));
    }
}
