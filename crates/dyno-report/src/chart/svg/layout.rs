//! Where everything is: margins by the widths of labels, and a legend that is given its rows before the picture its height.

use crate::chart::measure::{fitted, text_width};
use crate::chart::model::{Chart, Kind, MarkAt, ScaleKind, Series};
use crate::chart::scale::{Scale, Tick};

use super::{LABEL_SIZE, WIDTH, num};

/// Height of the plot itself.
const PLOT_HEIGHT: f64 = 210.0;

/// Where the plot begins beneath title and label.
const PLOT_TOP: f64 = 52.0;

/// Height of a row of text.
const ROW: f64 = 17.0;

/// Room between two labels.
const LABEL_GAP: f64 = 7.0;

/// Length of the sample in front of a name in the legend, with its gap.
pub(super) const SAMPLE: f64 = 28.0;

/// Rows of legend; what is more is counted in the last.
const LEGEND_ROWS_MAX: usize = 8;

/// What stands in front of a name in the legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sample {
    /// Series number: its own line, marker or colour.
    Series(usize, Kind),
    /// A mark on a point.
    Ring,
    /// A line across.
    Across,
    /// Nothing.
    None,
}

/// One name in the legend.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) name: String,
    pub(super) sample: Sample,
    /// Which series of the chart it names.
    pub(super) series: Option<usize>,
}

/// The places of one chart.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) height: f64,
    /// Ticks to the right whose labels have room.
    pub(super) x_labels: Vec<Tick>,
    /// Ticks upwards whose labels have room.
    pub(super) y_labels: Vec<Tick>,
    /// Where the label of the axis to the right stands.
    pub(super) x_label_y: f64,
    pub(super) legend: Vec<Entry>,
}

impl Layout {
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

    /// Where a value lies to the right.
    pub(super) fn px(&self, value: f64) -> Option<f64> {
        Some(self.left + self.x.share(value)? * (self.right - self.left))
    }

    /// Where a value lies upwards.
    pub(super) fn py(&self, value: f64) -> Option<f64> {
        Some(self.bottom - self.y.share(value)? * (self.bottom - self.top))
    }

    /// Both.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.px(x)?, self.py(y)?))
    }

    /// What the page's script needs to turn places back into values.
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

/// The ticks whose labels, `size` long each, do not come closer than a gap on an axis of `length`.
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

/// The names beneath the plot in rows, and the height of the whole picture.
fn legend(chart: &Chart, above: f64) -> (Vec<Entry>, f64) {
    let mut names: Vec<(String, Sample, Option<usize>)> = Vec::new();
    // A line with gaps is several series of one name.
    let is_first = |(i, s): &(usize, &Series)| {
        !chart.series[..*i]
            .iter()
            .any(|known| (&known.name, known.style, known.kind) == (&s.name, s.style, s.kind))
    };
    let series: Vec<_> = chart.series.iter().enumerate().filter(is_first).collect();
    if series.len() > 1 || chart.series.iter().any(|s| s.kind == Kind::Fit) {
        let named = |(i, s): (usize, &Series)| (s.name.clone(), Sample::Series(s.style, s.kind), Some(i));
        names.extend(series.into_iter().map(named));
    }
    names.extend(chart.marks.iter().map(|mark| {
        let sample = if matches!(mark.at, MarkAt::Point(..)) { Sample::Ring } else { Sample::Across };
        (mark.name.clone(), sample, None)
    }));
    let (mut entries, mut x, mut row) = (Vec::new(), 4.0, 0);
    let total = names.len();
    for (done, (name, sample, series)) in names.into_iter().enumerate() {
        let name = fitted(&name, LABEL_SIZE, WIDTH - SAMPLE - 8.0);
        let width = SAMPLE + text_width(&name, LABEL_SIZE) + 12.0;
        if x > 4.0 && x + width > WIDTH {
            (x, row) = (4.0, row + 1);
        }
        let y = above + 24.0 + row as f64 * ROW;
        if row + 1 == LEGEND_ROWS_MAX && done + 1 < total && x + width + 90.0 > WIDTH {
            let name = format!("and {} more", total - done);
            entries.push(Entry { x, y, width, name, sample: Sample::None, series: None });
            break;
        }
        entries.push(Entry { x, y, width, name, sample, series });
        x += width;
    }
    let last = entries.last().map_or(above, |entry| entry.y);
    (entries, last + 8.0)
}
