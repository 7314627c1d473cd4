//! Computes positions: margins by the widths of labels, then the rows of the legend, then the height of the
//! picture.

use crate::chart::measure::{text_width, truncate_to_width};
use crate::chart::model::{Chart, ChartSeries, MarkAt, ScaleKind, SeriesKind};
use crate::chart::scale::{Scale, Tick};

use super::{LABEL_SIZE, WIDTH, num};

/// Height of the plot itself.
const PLOT_HEIGHT: f64 = 210.0;

/// Top of the plot, below title and axis label.
const PLOT_TOP: f64 = 52.0;

/// Height of a row of text.
const ROW: f64 = 17.0;

const LABEL_GAP: f64 = 7.0;

/// Length of the sample before a name in the legend, including its gap.
pub(super) const SAMPLE: f64 = 28.0;

/// Maximum rows of the legend; the last row states how many names are left out.
const LEGEND_ROWS_MAX: usize = 8;

/// Attributes of the ring around a knee.
pub(super) const KNEE_DASH: &str = " stroke-dasharray=\"4 3\"";

/// The sample before a name in the legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LegendSymbol {
    /// A series by index, with its line, marker or color.
    Series(usize, SeriesKind),
    /// A mark on a point, with the attributes of its dash.
    Ring(&'static str),
    Across,
    None,
}

/// One name in the legend.
#[derive(Debug, Clone)]
pub(super) struct LegendEntry {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) name: String,
    pub(super) sample: LegendSymbol,
    /// Index of the series that it names.
    pub(super) series: Option<usize>,
}

/// Positions of the parts of one chart.
#[derive(Debug)]
pub(super) struct ChartLayout {
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) height: f64,
    /// Horizontal ticks with room for their labels.
    pub(super) x_labels: Vec<Tick>,
    /// Vertical ticks with room for their labels.
    pub(super) y_labels: Vec<Tick>,
    /// Vertical position of the horizontal axis label.
    pub(super) x_label_y: f64,
    pub(super) legend: Vec<LegendEntry>,
}

impl ChartLayout {
    pub(super) fn of(chart: &Chart) -> Self {
        let (x, y) = (Scale::of_x(chart), Scale::of_y(chart));
        let y_labels = with_room(&y, PLOT_HEIGHT, |_| LABEL_SIZE + 2.0);
        let widest = y_labels.iter().map(|tick| text_width(&tick.text, LABEL_SIZE)).fold(0.0, f64::max);
        let left = (widest + 14.0).clamp(30.0, WIDTH / 3.0);
        let right = WIDTH - 18.0;
        let x_labels = with_room(&x, right - left, |tick| text_width(&tick.text, LABEL_SIZE));
        let bottom = PLOT_TOP + PLOT_HEIGHT;
        let grouped =
            matches!(&chart.x.scale, ScaleKind::Ordinal(c) if c.iter().any(|c| !c.group.is_empty()));
        let x_label_y = bottom + 17.0 + ROW * if grouped { 2.0 } else { 1.0 };
        let (legend, height) = legend(chart, x_label_y);
        Self { x, y, left, right, top: PLOT_TOP, bottom, height, x_labels, y_labels, x_label_y, legend }
    }

    /// Horizontal position of a value.
    pub(super) fn px(&self, value: f64) -> Option<f64> {
        Some(self.left + self.x.share(value)? * (self.right - self.left))
    }

    /// Vertical position of a value.
    pub(super) fn py(&self, value: f64) -> Option<f64> {
        Some(self.bottom - self.y.share(value)? * (self.bottom - self.top))
    }

    pub(super) fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.px(x)?, self.py(y)?))
    }

    /// Data that the page's script needs to convert positions to values.
    pub(super) fn data_attributes(&self) -> String {
        let axis = |name: &str, scale: &Scale, from: f64, to: f64| {
            format!(
                " data-{name}=\"{},{},{},{},{},{},{}\"",
                if scale.log { "log" } else { "linear" },
                scale.low,
                scale.high,
                num(from),
                num(to),
                scale.unit.size,
                scale.unit.suffix
            )
        };
        axis("x", &self.x, self.left, self.right) + &axis("y", &self.y, self.bottom, self.top)
    }
}

/// The ticks whose labels, of length `size`, keep a minimum gap on an axis of `length`.
fn with_room(scale: &Scale, length: f64, size: impl Fn(&Tick) -> f64) -> Vec<Tick> {
    let fits = |ticks: &[Tick]| {
        ticks.windows(2).all(|pair| {
            let [a, b] = [&pair[0], &pair[1]].map(|tick| scale.share(tick.value).unwrap_or(0.0) * length);
            (b - a).abs()
                >= (size(&pair[0]) + size(&pair[1])) / 2.0
                    + LABEL_GAP * f64::from(u8::from(size(&pair[0]) != LABEL_SIZE + 2.0))
        })
    };
    if fits(&scale.ticks) {
        return scale.ticks.clone();
    }
    // A logarithmic axis keeps its powers of ten.
    let power = |tick: &&Tick| (tick.value.log10() - tick.value.log10().round()).abs() < 1e-9;
    let powers: Vec<Tick> = scale.ticks.iter().filter(power).cloned().collect();
    if scale.log && powers.len() >= 3 && fits(&powers) {
        return powers;
    }
    for stride in [2, 3, 4, 5, 8, 10, 20, 50, 100] {
        let some: Vec<Tick> = scale.ticks.iter().step_by(stride).cloned().collect();
        if fits(&some) {
            return some;
        }
    }
    scale.ticks.first().cloned().into_iter().collect()
}

/// The names below the plot in rows, and the height of the whole picture.
fn legend(chart: &Chart, above: f64) -> (Vec<LegendEntry>, f64) {
    let mut names: Vec<(String, LegendSymbol, Option<usize>)> = Vec::new();
    // A line with gaps consists of several series with one name.
    let is_first = |(i, s): &(usize, &ChartSeries)| {
        !chart.series[..*i]
            .iter()
            .any(|known| (&known.name, known.style, known.kind) == (&s.name, s.style, s.kind))
    };
    let series: Vec<_> = chart.series.iter().enumerate().filter(is_first).collect();
    if series.len() > 1 || chart.series.iter().any(|s| s.kind == SeriesKind::Fit) {
        let named =
            |(i, s): (usize, &ChartSeries)| (s.name.clone(), LegendSymbol::Series(s.style, s.kind), Some(i));
        names.extend(series.into_iter().map(named));
    }
    names.extend(chart.marks.iter().map(|mark| {
        let sample = match mark.at {
            MarkAt::Point(..) => LegendSymbol::Ring(""),
            MarkAt::Knee(..) => LegendSymbol::Ring(KNEE_DASH),
            MarkAt::X(_) | MarkAt::Y(_) => LegendSymbol::Across,
        };
        (mark.name.clone(), sample, None)
    }));
    let (mut entries, mut x, mut row) = (Vec::new(), 4.0, 0);
    let total = names.len();
    for (done, (name, sample, series)) in names.into_iter().enumerate() {
        let name = truncate_to_width(&name, LABEL_SIZE, WIDTH - SAMPLE - 8.0);
        let width = SAMPLE + text_width(&name, LABEL_SIZE) + 12.0;
        if x > 4.0 && x + width > WIDTH {
            (x, row) = (4.0, row + 1);
        }
        let y = above + 24.0 + row as f64 * ROW;
        if row + 1 == LEGEND_ROWS_MAX && done + 1 < total && x + width + 90.0 > WIDTH {
            let name = format!("and {} more", total - done);
            entries.push(LegendEntry { x, y, width, name, sample: LegendSymbol::None, series: None });
            break;
        }
        entries.push(LegendEntry { x, y, width, name, sample, series });
        x += width;
    }
    let last = entries.last().map_or(above, |entry| entry.y);
    (entries, last + 8.0)
}
