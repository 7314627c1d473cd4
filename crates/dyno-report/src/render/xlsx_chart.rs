//! Charts of a workbook: each is a sheet with the figures of the chart, and the spreadsheet's own chart of them.

use rust_xlsxwriter::{
    Chart as NativeChart, ChartFormat, ChartMarker, ChartMarkerType, ChartType, Worksheet, XlsxError,
};

use crate::chart::{Chart, ChartAxis, Quantity, ScaleKind, SeriesKind, table};
use crate::model::table::Grid;
use crate::text::clean;

/// Size of a chart in pixels.
const SIZE: (u32, u32) = (760, 420);
/// Rows and columns of a sheet that a chart may refer to.
const ROWS_MAX: usize = 100_000;

/// The sheet of a chart: its title and its figures; `None` if a spreadsheet cannot draw it.
pub(super) fn sheet(chart: &Chart) -> Option<(String, Grid)> {
    kind(chart)?;
    let grid = table::full_grid(chart);
    (1..ROWS_MAX).contains(&grid.rows.len()).then(|| (chart.title.clone(), grid))
}

/// How a spreadsheet draws the chart; `None` for heat maps, areas and bars.
fn kind(chart: &Chart) -> Option<ChartType> {
    let has = |kind| chart.series.iter().any(|series| series.kind == kind);
    let is_ordinal = matches!(chart.x.scale, ScaleKind::Ordinal(_));
    match (has(SeriesKind::Line) || has(SeriesKind::Dots), has(SeriesKind::Column), is_ordinal) {
        (true, _, false) => Some(ChartType::ScatterStraightWithMarkers),
        (true, _, true) => Some(ChartType::Line),
        (false, true, _) => Some(ChartType::ColumnStacked),
        (false, false, _) => None,
    }
}

/// Draws the chart beside its figures, which the sheet `sheet_name` has from its first row.
pub(super) fn insert(
    sheet: &mut Worksheet,
    sheet_name: &str,
    grid: &Grid,
    chart: &Chart,
) -> Result<(), XlsxError> {
    let Some(kind) = kind(chart) else { return Ok(()) };
    let (last_row, columns) = (grid.rows.len() as u32, grid.heads.len() as u16);
    let mut native = NativeChart::new(kind);
    let is_dots: Vec<bool> =
        table::column_series(chart).map(|series| series.kind == SeriesKind::Dots).collect();
    for column in 1..columns {
        let series = native.add_series();
        if is_dots.get(usize::from(column) - 1) == Some(&true) {
            series.set_format(ChartFormat::new().set_no_line());
        }
        series
            .set_name((sheet_name, 0, column))
            .set_categories((sheet_name, 1, 0, last_row, 0))
            .set_values((sheet_name, 1, column, last_row, column))
            .set_marker(ChartMarker::new().set_type(ChartMarkerType::Circle).set_size(6));
    }
    native.title().set_name(&name(&chart.title));
    native.x_axis().set_name(&axis_name(&chart.x));
    native.y_axis().set_name(&axis_name(&chart.y));
    if chart.x.scale == ScaleKind::Log {
        native.x_axis().set_log_base(2);
    }
    if chart.y.scale == ScaleKind::Log {
        native.y_axis().set_log_base(10);
    }
    native.y_axis().set_num_format("#,##0.###");
    native.legend().set_position(rust_xlsxwriter::ChartLegendPosition::Bottom);
    native.set_width(SIZE.0).set_height(SIZE.1).set_alt_text(clean(&chart.caption()));
    sheet.insert_chart(1, columns + 1, &native)?;
    Ok(())
}

/// Label and unit of an axis: the cells hold base units.
fn axis_name(axis: &ChartAxis) -> String {
    let unit = match axis.quantity {
        Quantity::Plain(unit) => unit,
        Quantity::Seconds => "s",
        Quantity::Percent => "%",
        Quantity::Micros => "µs",
    };
    if unit.is_empty() { name(&axis.label) } else { format!("{}, {unit}", name(&axis.label)) }
}

/// A text as a name, never as a reference to cells, which the library would read from `=` and `!`.
fn name(text: &str) -> String {
    clean(text).replace(['=', '!'], " ")
}
