//! Heat map of response times over time, from the counts of each interval without interpolation.

use dyno_analyze::number::{percent, time_coarse_us};
use dyno_record::{RunRecord, SeriesPoint, band_us};

use crate::chart::{Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind};

/// Maximum columns of the map; neighboring intervals are added up if there are more.
const COLUMNS_MAX: usize = 120;

/// The map; `None` if the record's intervals contain no distribution. Percentiles over time have their own chart.
pub(super) fn heat(record: &RunRecord) -> Option<Chart> {
    let all = &record.series.points;
    if all.len() < 2 || all.iter().all(|point| point.bands.is_empty()) {
        return None;
    }
    let intervals_per_column = all.len().div_ceil(COLUMNS_MAX);
    let tiles = all.chunks(intervals_per_column).flat_map(column).collect();
    let every = if intervals_per_column > 1 {
        format!(", {intervals_per_column} of them summed in each column")
    } else {
        String::new()
    };
    let tiles =
        ChartSeries { name: "share of operations".into(), kind: SeriesKind::Tile, style: 0, points: tiles };
    Some(Chart {
        id: "heat".into(),
        title: "Distribution of response times over time".into(),
        about: format!(
            "Operations of each interval by response time, as counted{every}; darker means a larger share \
             of the interval's operations. Six bands per power of ten."
        ),
        x: ChartAxis::linear("time in the window", Quantity::Seconds),
        y: ChartAxis::log("response time", Quantity::Micros),
        series: vec![tiles],
        marks: vec![],
    })
}

/// The tiles of neighboring intervals.
fn column(points: &[SeriesPoint]) -> Vec<ChartPoint> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let mut bands = std::collections::BTreeMap::new();
    for (band, count) in points.iter().flat_map(|point| &point.bands) {
        *bands.entry(*band).or_insert(0u64) += count;
    }
    let all: u64 = bands.values().sum();
    let tile = |(band, count): (i16, u64)| {
        let (low, high) = band_us(band);
        let share = count as f64 / all.max(1) as f64;
        let pct = format!("{} %", percent(100.0 * share));
        ChartPoint {
            x_end: last.at_s + last.seconds,
            range: Some((low, high)),
            // A share of one percent must remain visible next to one of ninety.
            weight: share.sqrt(),
            hover: format!("{} – {}: {pct} of {all} operations", time_coarse_us(low), time_coarse_us(high)),
            label: pct,
            ..ChartPoint::at(first.at_s, high)
        }
    };
    bands.into_iter().map(tile).collect()
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;

    use super::*;

    #[test]
    fn heatmap_tiles_contain_exactly_the_counted_operations() {
        let mut record = fixture::postgres();
        let chart = heat(&record).unwrap();
        let tiles = &chart.series[0].points;
        assert_eq!(tiles.len(), 2 * record.series.points.len(), "two bands in each interval");
        assert!(tiles.iter().all(|tile| tile.range.is_some_and(|(low, high)| low < high)));
        let weights: f64 = tiles.iter().map(|tile| tile.weight * tile.weight).sum();
        assert!(
            (weights - record.series.points.len() as f64).abs() < 1e-9,
            "shares of each interval are whole"
        );
        record.series.points.iter_mut().for_each(|point| point.bands.clear());
        assert!(heat(&record).is_none(), "what was not counted is not drawn");
    }

    #[test]
    fn heatmap_sums_intervals_beyond_column_limit() {
        let mut record = fixture::postgres();
        let template = record.series.points[0].clone();
        let point = |at: u32| SeriesPoint { at_s: f64::from(at), ..template.clone() };
        record.series.points = (0..1_000).map(point).collect();
        let chart = heat(&record).unwrap();
        assert!(chart.series[0].points.len() <= 2 * COLUMNS_MAX, "{}", chart.series[0].points.len());
        assert!(chart.about.contains("9 of them summed"), "{}", chart.about);
    }
}
