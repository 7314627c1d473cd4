//! What a chart shows.

use super::quantity::Quantity;

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Its name in files and links: `petal-iops`.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// How it is to be read, in one sentence; what a screen reader says.
    pub about: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// What is drawn, in this order.
    pub series: Vec<Series>,
    /// Places that the reader is to see.
    pub marks: Vec<Mark>,
}

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is on it, without the unit: `service time, p99`.
    pub label: String,
    /// In what it is counted.
    pub quantity: Quantity,
    /// How values become distances.
    pub scale: ScaleKind,
    /// The values that get a tick; empty: round numbers.
    pub ticks_at: Vec<f64>,
    /// Ticks with texts of their own, rising, such as times of day; the axis then ends where its values do.
    pub named: Vec<(f64, String)>,
    /// The largest value that the axis always reaches, such as 100 %.
    pub reaches: Option<f64>,
}

/// How values become distances.
#[derive(Debug, Clone, PartialEq)]
pub enum ScaleKind {
    /// Evenly, from zero.
    Linear,
    /// By their logarithm; values that are not above zero are not drawn.
    Log,
    /// One place for each category; a value is the category's position, from 0.
    Ordinal(Vec<Category>),
}

/// One place on an ordinal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Category {
    /// Its name: `16`.
    pub label: String,
    /// What it shares with its neighbours: `20 % updates`; may be empty.
    pub group: String,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Measured points and the lines between them.
    Line,
    /// Measured points alone, which no line joins.
    Dots,
    /// A fitted or expected curve: dashed, without markers; `low` and `high` make its ribbon.
    Fit,
    /// An area on top of the areas before it.
    Area,
    /// Columns on top of the columns before them; on an ordinal axis.
    Column,
    /// Bars from `x` to `x_end`, each from zero.
    Bar,
    /// Tiles from `x` to `x_end` and over `range`, the darker the greater their `weight`.
    Tile,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What it is: `20 % updates`.
    pub name: String,
    /// How it is drawn.
    pub kind: Kind,
    /// Which colour, marker and dash; a fit has its measured series' own.
    pub style: usize,
    /// The points in the order they are joined.
    pub points: Vec<Point>,
}

/// One point. Values are in the base unit of the axis' [`Quantity`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Right end of a bar.
    pub x_end: f64,
    /// Upwards.
    pub y: f64,
    /// Least and largest of repeats, the interval of a fit, or both ends of a tile.
    pub range: Option<(f64, f64)>,
    /// How dark a tile is, from 0 to 1.
    pub weight: f64,
    /// A few characters beside the marker where there is room: the sessions of a petal.
    pub label: String,
    /// What the reader sees when pointing at it.
    pub hover: String,
    /// Name of the place in the report that tells more, without `#`; may be empty.
    pub link: String,
}

impl Point {
    /// A point with nothing but its place.
    pub fn at(x: f64, y: f64) -> Self {
        Self { x, y, ..Self::default() }
    }
}

/// A place that the reader is to see, named in the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// What is there: `knee: 8 sessions`.
    pub name: String,
    /// Where.
    pub at: MarkAt,
}

/// Where a mark is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MarkAt {
    /// A ring around a point.
    Point(f64, f64),
    /// A vertical line.
    X(f64),
    /// A horizontal line.
    Y(f64),
}

impl Axis {
    /// A linear axis from zero.
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

    /// A logarithmic axis.
    pub fn log(label: &str, quantity: Quantity) -> Self {
        Self { scale: ScaleKind::Log, ..Self::linear(label, quantity) }
    }

    /// One place for each category.
    pub fn ordinal(label: &str, categories: Vec<Category>) -> Self {
        Self { scale: ScaleKind::Ordinal(categories), ..Self::linear(label, Quantity::Plain("")) }
    }

    /// The same axis, that always reaches `value`.
    #[must_use]
    pub fn reaching(mut self, value: f64) -> Self {
        self.reaches = Some(value);
        self
    }

    /// The same axis with ticks where the values are, as for session counts.
    #[must_use]
    pub fn ticks_at(mut self, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        values.dedup();
        self.ticks_at = values;
        self
    }

    /// The same axis with these ticks.
    #[must_use]
    pub fn named(self, ticks: Vec<(f64, String)>) -> Self {
        Self { named: ticks, ..self }
    }
}

impl Chart {
    /// Whether there is anything to draw.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }

    /// The points of stacked series as (series, x, from, to), each on top of what earlier series have at its `x`.
    pub(crate) fn stacked(&self, kind: Kind) -> Vec<(usize, Vec<Stacked>)> {
        let mut tops: Vec<(f64, f64)> = Vec::new();
        let mut out = Vec::new();
        for (index, series) in self.series.iter().enumerate().filter(|(_, series)| series.kind == kind) {
            let mut parts = Vec::with_capacity(series.points.len());
            for (place, point) in series.points.iter().enumerate() {
                // Series of one stack nearly always have the same places, so the search is for those that have not.
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
    /// Which point of its series it is.
    pub(crate) place: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_stand_on_what_is_there_at_their_place() {
        let series = |points: &[(f64, f64)]| Series {
            name: String::new(),
            kind: Kind::Area,
            style: 0,
            points: points.iter().map(|&(x, y)| Point::at(x, y)).collect(),
        };
        let chart = Chart {
            id: String::new(),
            title: String::new(),
            about: String::new(),
            x: Axis::linear("", Quantity::Seconds),
            y: Axis::linear("", Quantity::Percent),
            series: vec![series(&[(0.0, 1.0), (1.0, 2.0)]), series(&[(1.0, 5.0), (2.0, 7.0)])],
            marks: vec![],
        };
        let stacked = chart.stacked(Kind::Area);
        let ends = |i: usize| stacked[i].1.iter().map(|part| (part.from, part.to)).collect::<Vec<_>>();
        assert_eq!(ends(0), [(0.0, 1.0), (0.0, 2.0)]);
        assert_eq!(ends(1), [(2.0, 7.0), (0.0, 7.0)]);
    }
}
