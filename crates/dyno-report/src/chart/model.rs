//! The model of a chart, independent of how it is drawn.

use dyno_analyze::attribution::MARK;

use super::quantity::Quantity;

#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Name in files and links: `petal-iops`.
    pub id: String,
    /// Title in a few words.
    pub title: String,
    /// How to read it, in one sentence; screen readers speak it.
    pub about: String,
    pub x: ChartAxis,
    pub y: ChartAxis,
    /// The series in drawing order.
    pub series: Vec<ChartSeries>,
    /// Places that the chart highlights, named in its legend.
    pub marks: Vec<ChartMark>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChartAxis {
    /// Label without the unit: `service time, p99`.
    pub label: String,
    /// Quantity of its values, with the base unit.
    pub quantity: Quantity,
    /// How values map to positions.
    pub scale: ScaleKind,
    /// The values that get a tick; if empty, round numbers.
    pub ticks_at: Vec<f64>,
    /// Ticks with their own texts in rising order, such as times of day; the axis then ends at its last
    /// value.
    pub named: Vec<(f64, String)>,
    /// The largest value that the axis always includes, such as 100 %.
    pub reaches: Option<f64>,
}

/// A line with more points than this has no marker on each, because markers would hide it.
pub(crate) const MARKERS_MAX: usize = 80;

/// Ratio of the largest to the smallest value above which an axis is logarithmic.
const WIDE: f64 = 30.0;

/// How values map to positions on an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum ScaleKind {
    Linear,
    /// Logarithmic; values of zero or less are not drawn.
    Log,
    /// One position for each category; a value is the category's index, from 0.
    Ordinal(Vec<Category>),
}

/// One position on an ordinal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Category {
    /// Label of the category: `16`.
    pub label: String,
    /// What it has in common with its neighbors: `20 % updates`; may be empty.
    pub group: String,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesKind {
    /// Measured points and the lines between them.
    Line,
    /// Measured points without connecting lines.
    Dots,
    /// A fitted or expected curve: dashed, without markers; `range` of its points makes its ribbon.
    Fit,
    /// An area stacked on earlier areas.
    Area,
    /// Columns stacked on earlier columns; on an ordinal axis.
    Column,
    /// Bars from `x` to `x_end`, each from zero.
    Bar,
    /// Tiles from `x` to `x_end` and over `range`; a higher `weight` is darker.
    Tile,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChartSeries {
    /// Name of the series: `20 % updates`.
    pub name: String,
    pub kind: SeriesKind,
    /// Selects color, marker and dash; a fit has the style of its measured series.
    pub style: usize,
    /// The points in the order in which lines connect them.
    pub points: Vec<ChartPoint>,
}

/// One point. Values are in the base unit of the axis' [`Quantity`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChartPoint {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Right end of a bar.
    pub x_end: f64,
    /// Position on the vertical axis.
    pub y: f64,
    /// Minimum and maximum of repeats, the interval of a fit, or both ends of a tile.
    pub range: Option<(f64, f64)>,
    /// How dark a tile is, 0 to 1.
    pub weight: f64,
    /// A few characters next to the marker if there is room: the sessions of a petal.
    pub label: String,
    pub hover: String,
    /// Anchor in the report with details, without `#`; may be empty.
    pub link: String,
}

impl ChartPoint {
    /// A point with only a position.
    pub fn at(x: f64, y: f64) -> Self {
        Self { x, y, ..Self::default() }
    }
}

/// A highlighted place, named in the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartMark {
    /// Name in the legend: `knee: 8 sessions`.
    pub name: String,
    pub at: MarkAt,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MarkAt {
    /// A ring around a point.
    Point(f64, f64),
    /// A wider, dashed ring around the knee of a curve.
    Knee(f64, f64),
    X(f64),
    Y(f64),
}

impl ChartAxis {
    /// A linear axis that begins at zero.
    pub fn linear(label: &str, quantity: Quantity) -> Self {
        Self {
            label: label.into(),
            quantity,
            scale: ScaleKind::Linear,
            ticks_at: Vec::new(),
            named: Vec::new(),
            reaches: None,
        }
    }

    pub fn log(label: &str, quantity: Quantity) -> Self {
        Self { scale: ScaleKind::Log, ..Self::linear(label, quantity) }
    }

    /// An ordinal axis with one position for each category.
    pub fn ordinal(label: &str, categories: Vec<Category>) -> Self {
        Self { scale: ScaleKind::Ordinal(categories), ..Self::linear(label, Quantity::Plain("")) }
    }

    /// A logarithmic axis if values of `series` differ so much that the low ones would lie on a linear axis.
    #[must_use]
    pub(crate) fn log_if_wide(self, series: &[ChartSeries]) -> Self {
        let values = series.iter().flat_map(|s| &s.points).map(|point| point.y).filter(|&y| y > 0.0);
        let (least, most) =
            values.fold((f64::INFINITY, 0.0f64), |(least, most), y| (least.min(y), most.max(y)));
        if least > 0.0 && most / least > WIDE { Self { scale: ScaleKind::Log, ..self } } else { self }
    }

    /// Makes the axis always include `value`.
    #[must_use]
    pub fn reaching(mut self, value: f64) -> Self {
        self.reaches = Some(value);
        self
    }

    /// Puts ticks at the values, as for session counts.
    #[must_use]
    pub fn ticks_at(mut self, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        values.dedup();
        self.ticks_at = values;
        self
    }

    /// The parts of a line along this axis: on an ordinal axis it breaks where the group of categories
    /// changes, because two settings of different groups have nothing between them.
    pub(crate) fn unbroken<'p>(&self, points: &'p [ChartPoint]) -> impl Iterator<Item = &'p [ChartPoint]> {
        let group = |point: &ChartPoint| match &self.scale {
            ScaleKind::Ordinal(categories) => {
                categories.get(point.x as usize).map(|category| category.group.clone())
            }
            _ => None,
        };
        points.chunk_by(move |a, b| group(a) == group(b))
    }

    /// Sets ticks with their own texts.
    #[must_use]
    pub fn named(self, ticks: Vec<(f64, String)>) -> Self {
        Self { named: ticks, ..self }
    }
}

impl Chart {
    /// Whether nothing can be drawn.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }

    /// How to read it, for a page that has the legend of the mark once: the mark instead of its own legend,
    /// which stands last in [`about`](Self::about).
    pub(crate) fn caption(&self) -> String {
        match self.about.split_once(MARK) {
            Some((words, _)) => format!("{}{MARK}", words.trim_end()),
            None => self.about.clone(),
        }
    }

    /// The points of stacked series as (series, x, from, to), each on top of earlier series at its `x`.
    pub(crate) fn stacked(&self, kind: SeriesKind) -> Vec<(usize, Vec<Stacked>)> {
        let mut tops: Vec<(f64, f64)> = Vec::new();
        let mut out = Vec::new();
        for (index, series) in self.series.iter().enumerate().filter(|(_, series)| series.kind == kind) {
            let mut parts = Vec::with_capacity(series.points.len());
            for (place, point) in series.points.iter().enumerate() {
                // Series of one stack usually share their positions, so a search is rarely needed.
                let slot = match tops.get(place) {
                    Some((x, _)) if *x == point.x => place,
                    _ => tops.iter().position(|(x, _)| *x == point.x).unwrap_or_else(|| {
                        tops.push((point.x, 0.0));
                        tops.len() - 1
                    }),
                };
                let from = tops[slot].1;
                let to = from + point.y.max(0.0);
                tops[slot].1 = to;
                parts.push(Stacked { x: point.x, from, to, place });
            }
            out.push((index, parts));
        }
        out
    }
}

/// One part of a stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stacked {
    pub(crate) x: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Index of the point in its series.
    pub(crate) place: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacked_areas_add_up_at_each_x() {
        let series = |points: &[(f64, f64)]| ChartSeries {
            name: String::new(),
            kind: SeriesKind::Area,
            style: 0,
            points: points.iter().map(|&(x, y)| ChartPoint::at(x, y)).collect(),
        };
        let chart = Chart {
            id: String::new(),
            title: String::new(),
            about: String::new(),
            x: ChartAxis::linear("", Quantity::Seconds),
            y: ChartAxis::linear("", Quantity::Percent),
            series: vec![series(&[(0.0, 1.0), (1.0, 2.0)]), series(&[(1.0, 5.0), (2.0, 7.0)])],
            marks: vec![],
        };
        let stacked = chart.stacked(SeriesKind::Area);
        let ends = |i: usize| stacked[i].1.iter().map(|part| (part.from, part.to)).collect::<Vec<_>>();
        assert_eq!(ends(0), [(0.0, 1.0), (0.0, 2.0)]);
        assert_eq!(ends(1), [(2.0, 7.0), (0.0, 7.0)]);
    }

    #[test]
    fn line_breaks_where_the_group_of_categories_changes() {
        let category = |(group, label): (&str, &str)| Category { label: label.into(), group: group.into() };
        let categories = [("0", "1"), ("0", "4"), ("20", "1"), ("20", "4")].map(category);
        let points: Vec<ChartPoint> = (0..4).map(|x| ChartPoint::at(f64::from(x), 1.0)).collect();
        let parts = |axis: &ChartAxis| axis.unbroken(&points).map(<[_]>::len).collect::<Vec<_>>();
        assert_eq!(parts(&ChartAxis::ordinal("", categories.into())), [2, 2]);
        assert_eq!(parts(&ChartAxis::linear("", Quantity::Seconds)), [4]);
    }
}
