//! A chart as text: lines as dots, points as letters, and both axes with their units.

use super::model::{Chart, ChartPoint, ChartSeries, SeriesKind};
use super::scale::Scale;
use crate::style::{Paint, Style};
use crate::text::{clean, pad, truncate, width};

/// Maximum width of a chart; a wider one is no easier to read.
const COLUMNS_MAX: usize = 100;

const ROWS: usize = 16;

/// The character set of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Braille dots, box corners, filled marks.
    Unicode,
    Ascii,
}

/// Marks of series; the ASCII marks are letters of different shapes.
const MARKS: [(char, char); 8] =
    [('●', 'o'), ('■', 'x'), ('▲', '*'), ('◆', '+'), ('○', 'a'), ('□', 'b'), ('△', 'c'), ('◇', 'd')];

/// Cells of the plot; each contains eight dots or a mark.
struct Canvas {
    columns: usize,
    rows: usize,
    dots: Vec<u8>,
    marks: Vec<Option<char>>,
}

impl Canvas {
    fn new(columns: usize, rows: usize) -> Self {
        Self { columns, rows, dots: vec![0; columns * rows], marks: vec![None; columns * rows] }
    }

    /// Dot position for these shares of width and height: each cell has two columns and four rows of dots.
    fn spot(&self, x: f64, y: f64) -> (usize, usize) {
        let dots = |share: f64, count: usize| (share.clamp(0.0, 1.0) * (count - 1) as f64).round() as usize;
        (dots(x, self.columns * 2), self.rows * 4 - 1 - dots(y, self.rows * 4))
    }

    fn dot(&mut self, (x, y): (usize, usize)) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        self.dots[(y / 4) * self.columns + x / 2] |= BITS[y % 4][x % 2];
    }

    fn segment(&mut self, from: (usize, usize), to: (usize, usize)) {
        let (dx, dy) = (to.0 as f64 - from.0 as f64, to.1 as f64 - from.1 as f64);
        let steps = dx.abs().max(dy.abs()).max(1.0);
        for i in 0..=steps as usize {
            let share = i as f64 / steps;
            self.dot((
                (from.0 as f64 + dx * share).round() as usize,
                (from.1 as f64 + dy * share).round() as usize,
            ));
        }
    }

    fn mark(&mut self, (x, y): (usize, usize), mark: char) {
        self.marks[(y / 4) * self.columns + x / 2] = Some(mark);
    }

    fn line(&self, row: usize, glyphs: Glyphs) -> String {
        let cells = row * self.columns..(row + 1) * self.columns;
        let cell = |i: usize| match (self.marks[i], self.dots[i], glyphs) {
            (Some(mark), _, _) => mark,
            (None, 0, _) => ' ',
            (None, dots, Glyphs::Unicode) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.'),
            (None, _, Glyphs::Ascii) => '.',
        };
        cells.map(cell).collect::<String>()
    }
}

/// The chart as lines of text, at most 100 columns wide. Only lines and fits are drawn, not stacks, bars and
/// marks.
pub fn text_chart(chart: &Chart, glyphs: Glyphs, style: &Style) -> String {
    let drawn: Vec<_> = chart
        .series
        .iter()
        .filter(|s| matches!(s.kind, SeriesKind::Line | SeriesKind::Fit) && !s.points.is_empty())
        .collect();
    if drawn.is_empty() {
        return String::new();
    }
    let (x, y) = (Scale::of_x(chart), Scale::of_y(chart));
    let margin = y.ticks.iter().map(|tick| width(&ascii(&tick.text, glyphs))).max().unwrap_or(0) + 1;
    let columns = style.columns().min(COLUMNS_MAX).saturating_sub(margin + 2).max(20);
    let mut canvas = Canvas::new(columns, ROWS);
    let spot = |canvas: &Canvas, p: &ChartPoint| Some(canvas.spot(x.share(p.x)?, y.share(p.y)?));
    for series in &drawn {
        for part in chart.x.unbroken(&series.points) {
            let spots: Vec<_> = part.iter().filter_map(|p| spot(&canvas, p)).collect();
            spots.windows(2).for_each(|pair| canvas.segment(pair[0], pair[1]));
        }
    }
    for series in drawn.iter().filter(|s| s.kind == SeriesKind::Line && s.points.len() <= columns / 2) {
        for at in series.points.iter().filter_map(|p| spot(&canvas, p)).collect::<Vec<_>>() {
            canvas.mark(at, mark(series.style, glyphs));
        }
    }
    let y_label = ascii(&label(&chart.y.label, y.unit.name), glyphs);
    let title = ascii(&clean(&chart.title), glyphs);
    let mut out = format!("{}\n", style.paint(Paint::Head, &truncate(&title, columns + margin)));
    out.push_str(&format!("{}\n", style.paint(Paint::Dim, &truncate(&y_label, columns + margin))));
    let labels = row_labels(&y);
    for (row, tick) in labels.iter().enumerate() {
        let text = ascii(tick.as_deref().unwrap_or(""), glyphs);
        let edge = match (glyphs, tick.is_some()) {
            (Glyphs::Unicode, true) => '┤',
            (Glyphs::Unicode, false) => '│',
            (Glyphs::Ascii, true) => '+',
            (Glyphs::Ascii, false) => '|',
        };
        let line = format!("{}{text}{edge}{}", pad(margin - width(&text)), canvas.line(row, glyphs));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push_str(&foot(&x, &ascii(&label(&chart.x.label, x.unit.name), glyphs), margin, columns, glyphs));
    // A line with gaps consists of several series with one name.
    let mut named: Vec<&ChartSeries> = Vec::new();
    for series in drawn {
        if !named.iter().any(|known| (&known.name, known.style) == (&series.name, series.style)) {
            named.push(series);
        }
    }
    if named.len() > 1 {
        out.push_str(&legend(&named, margin, columns, glyphs));
    }
    out
}

fn mark(style: usize, glyphs: Glyphs) -> char {
    let (unicode, ascii) = MARKS[style % MARKS.len()];
    if glyphs == Glyphs::Unicode { unicode } else { ascii }
}

/// `text` converted to the characters of `glyphs`.
fn ascii(text: &str, glyphs: Glyphs) -> String {
    if glyphs == Glyphs::Unicode {
        return text.to_owned();
    }
    text.chars()
        .map(|c| match c {
            'µ' => 'u',
            '–' | '—' => '-',
            '×' => 'x',
            c if c.is_ascii() => c,
            _ => '?',
        })
        .collect()
}

fn label(label: &str, unit: &str) -> String {
    let label = clean(label);
    if unit.is_empty() || unit == label { label } else { format!("{label}, {unit}") }
}

/// The tick of each row, if it has one.
fn row_labels(y: &Scale) -> Vec<Option<String>> {
    let mut rows = vec![None; ROWS];
    for tick in &y.ticks {
        if let Some(share) = y.share(tick.value) {
            let row = ROWS - 1 - (share.clamp(0.0, 1.0) * (ROWS - 1) as f64).round() as usize;
            rows[row].get_or_insert_with(|| tick.text.clone());
        }
    }
    rows
}

/// The horizontal axis with the ticks that fit, and its label.
fn foot(x: &Scale, label: &str, margin: usize, columns: usize, glyphs: Glyphs) -> String {
    let (corner, dash, tick_mark) =
        if glyphs == Glyphs::Unicode { ('└', '─', '┬') } else { ('+', '-', '+') };
    let mut rule = vec![dash; columns];
    let mut texts = vec![' '; columns + margin + 8];
    let mut free_from = 0;
    for tick in &x.ticks {
        let Some(share) = x.share(tick.value) else { continue };
        let column = (share.clamp(0.0, 1.0) * (columns - 1) as f64).round() as usize;
        rule[column] = tick_mark;
        let text: Vec<char> = ascii(&tick.text, glyphs).chars().collect();
        let begin = (margin + 1 + column).saturating_sub(text.len() / 2);
        if begin >= free_from && begin + text.len() <= columns + margin + 2 {
            texts[begin..begin + text.len()].copy_from_slice(&text);
            free_from = begin + text.len() + 2;
        }
    }
    let texts: String = texts.into_iter().collect();
    let label = truncate(label, columns);
    let middle = pad(margin + 1 + (columns - width(&label)) / 2);
    format!(
        "{}{corner}{}\n{}\n{middle}{label}\n",
        pad(margin),
        rule.into_iter().collect::<String>(),
        texts.trim_end()
    )
}

fn legend(drawn: &[&super::ChartSeries], margin: usize, columns: usize, glyphs: Glyphs) -> String {
    let mut lines = vec![String::new()];
    for series in drawn {
        let dots = if glyphs == Glyphs::Unicode { '⠒' } else { '.' };
        let sample = if series.kind == SeriesKind::Fit { dots } else { mark(series.style, glyphs) };
        let entry = format!("{sample} {}", ascii(&truncate(&clean(&series.name), 40), glyphs));
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            *line = entry;
        } else if width(line) + 3 + width(&entry) <= columns {
            line.push_str("   ");
            line.push_str(&entry);
        } else {
            lines.push(entry);
        }
    }
    lines.iter().map(|line| format!("{}{line}\n", pad(margin + 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{ChartAxis, ChartSeries, Quantity};

    fn curve(points: usize) -> Chart {
        let at =
            |i: usize| ChartPoint::at((i + 1) as f64, 10_000.0 * (i + 1) as f64 / (1.0 + 0.1 * i as f64));
        let series = |style| ChartSeries {
            name: format!("{style}0 % updates"),
            kind: SeriesKind::Line,
            style,
            points: (0..points).map(at).map(|p| ChartPoint { y: p.y / (1.0 + style as f64), ..p }).collect(),
        };
        Chart {
            id: "throughput".into(),
            title: "Throughput by sessions".into(),
            about: String::new(),
            x: ChartAxis::linear("sessions", Quantity::Plain("")),
            y: ChartAxis::linear("operations", Quantity::Plain("/s")),
            series: vec![series(0), series(1)],
            marks: vec![],
        }
    }

    #[test]
    fn charts_fit_their_columns_and_name_units() {
        for points in [1, 7, 200] {
            for width_wanted in [60, 100, 200] {
                let style = Style { color: false, width: width_wanted };
                let text = text_chart(&curve(points), Glyphs::Unicode, &style);
                assert!(text.lines().all(|line| width(line) <= width_wanted.min(100)), "{text}");
                assert!(text.contains("operations, /s"), "{text}");
                assert!(text.contains("sessions"), "{text}");
                assert!(text.contains("0k"), "{text}");
            }
        }
    }

    #[test]
    fn ascii_chart_contains_only_ascii() {
        let mut chart = curve(7);
        chart.y = ChartAxis::log("service time, µs – p99", Quantity::Micros);
        let text = text_chart(&chart, Glyphs::Ascii, &Style::default());
        assert!(text.is_ascii(), "{text}");
        assert!(text.contains('o'));
        assert!(text.contains('x'));
    }
}
