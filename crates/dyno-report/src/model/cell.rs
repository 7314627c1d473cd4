//! A cell of a table: its text for readers, and for a figure the number behind the text.
//!
//! Each constructor is named after the formatter in [`dyno_analyze::number`] that it prints with. Terminal,
//! page and Markdown print the text; a workbook stores the number with all its digits.

use dyno_analyze::attribution::{MARK, mark};
use dyno_analyze::number::{self, ABSENT};
use dyno_analyze::points::apart;
use dyno_record::{Status, Unit};

use crate::text::clean;

/// Maximum characters of a unit in a number format.
const UNIT_MAX: usize = 60;

/// Name of a unit in tables.
pub fn unit_name(unit: Unit) -> &'static str {
    if unit == Unit::Microseconds { "µs" } else { unit.name() }
}

/// The number behind the text of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellNumber {
    /// The unrounded value, in `unit`; always finite.
    pub value: f64,
    /// The cell's own unit: `µs`, `B`, `s`. Empty if the column states the unit, or there is none.
    pub unit: String,
    /// Decimals that the value is shown with.
    pub decimals: usize,
    /// Text that qualifies the number: `≥ ` in front of it. Mostly empty.
    pub before: &'static str,
    /// Text that follows number, unit and mark. Mostly empty.
    pub after: &'static str,
    /// Whether it includes activity of others.
    pub marked: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct GridCell {
    pub text: String,
    /// The number that the text shows; `None` for words and for a missing figure.
    pub number: Option<CellNumber>,
    /// Anchor in the report to which it links; may be empty.
    pub link: String,
    /// CSS tone: good, foreign, warn or bad for a state, `total` for the name of a sum; empty for most cells.
    pub tone: &'static str,
}

impl From<&str> for GridCell {
    fn from(text: &str) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl From<&String> for GridCell {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<String> for GridCell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl GridCell {
    pub fn text(text: &str) -> Self {
        Self::from(text)
    }

    /// The value of a setting in the form of a plan: `20`, `8K`, `off`. A bare number is a number.
    pub fn setting(text: &str) -> Self {
        match text.parse::<f64>() {
            Ok(value) if value.to_string() == text => {
                let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                Self::number(value, decimals, |_| text.into())
            }
            _ => Self::from(text),
        }
    }

    /// A dash: the figure is unknown.
    pub fn absent() -> Self {
        Self::from(ABSENT)
    }

    /// A cell with a run's status.
    pub fn status(status: Status) -> Self {
        Self::from(status.words()).toned(crate::model::status::tone(status))
    }

    /// A figure that `show` prints; a dash if it is absent. `decimals` are those of the value in a workbook.
    pub fn number(value: impl Into<Option<f64>>, decimals: usize, show: impl FnOnce(f64) -> String) -> Self {
        let Some(value) = value.into() else { return Self::absent() };
        let number =
            CellNumber { value, unit: String::new(), decimals, before: "", after: "", marked: false };
        Self { number: value.is_finite().then_some(number), ..Self::from(show(value)) }
    }

    /// A figure that `show` prints, with decimals by its magnitude.
    pub fn shown(value: impl Into<Option<f64>>, show: impl FnOnce(f64) -> String) -> Self {
        let value = value.into();
        Self::number(value, value.map_or(0, number::decimals), show)
    }

    /// The value of a measure, with its unit behind it: `1,234 operations/s`, `1.24 ms`.
    pub fn phrase(measure: &str, value: f64) -> Self {
        match apart(measure, value) {
            (text, unit) if unit.is_empty() => Self::shown(value, |_| text).with_own_unit("µs"),
            (text, unit) => Self::shown(value, |_| text).in_unit(&unit),
        }
    }

    /// Prints as [`number::figure`].
    pub fn figure(value: impl Into<Option<f64>>) -> Self {
        Self::shown(value, number::figure)
    }

    /// Prints as [`number::compact`].
    pub fn compact(value: impl Into<Option<f64>>) -> Self {
        Self::shown(value, number::compact)
    }

    /// Prints as [`number::within`], in at most `columns` characters.
    pub fn within(value: impl Into<Option<f64>>, columns: usize) -> Self {
        Self::shown(value, |value| number::within(value, columns))
    }

    /// Prints all digits; empty if it is absent.
    pub fn full(value: impl Into<Option<f64>>) -> Self {
        Self::shown(value, |value| value.to_string()).or_empty()
    }

    /// Prints as [`number::fixed`].
    pub fn fixed(value: impl Into<Option<f64>>, decimals: usize) -> Self {
        Self::number(value, decimals, |value| number::fixed(value, decimals))
    }

    /// Prints as [`number::percent`].
    pub fn percent(value: impl Into<Option<f64>>) -> Self {
        Self::number(value, 1, number::percent)
    }

    /// Prints as [`number::count`].
    pub fn count(value: impl Into<Option<u64>>) -> Self {
        let Some(value) = value.into() else { return Self::absent() };
        Self::number(value as f64, 0, |_| number::count(value))
    }

    /// A time in microseconds, printed as [`number::time_us`].
    pub fn time_us(value: impl Into<Option<f64>>) -> Self {
        Self::shown(value, number::time_us).with_own_unit("µs")
    }

    /// A number of bytes, printed as [`number::bytes`].
    pub fn bytes(value: impl Into<Option<f64>>) -> Self {
        Self::number(value, 0, |value| number::bytes(value.round() as u64)).with_own_unit("B")
    }

    /// A list of texts; a dash if it is empty.
    pub fn list(texts: &[String]) -> Self {
        if texts.is_empty() { Self::absent() } else { texts.join(", ").into() }
    }

    /// Adds `unit` to number and text.
    #[must_use]
    pub fn in_unit(mut self, unit: &str) -> Self {
        if self.number.is_some() && !unit.is_empty() {
            self.text = format!("{} {unit}", self.text);
        }
        self.with_own_unit(unit)
    }

    /// Sets the unit of the value; the text has it already.
    #[must_use]
    pub fn with_own_unit(mut self, unit: &str) -> Self {
        self.number.iter_mut().for_each(|number| number.unit = unit.into());
        self
    }

    /// Adds the mark for activity of others to a figure; a dash has none.
    #[must_use]
    pub fn marked(mut self, marked: bool) -> Self {
        if let Some(number) = self.number.as_mut().filter(|_| marked) {
            number.marked = true;
            self.text = mark(self.text, true);
        }
        self
    }

    /// Puts a qualification in front of a figure: `≥ `.
    #[must_use]
    pub fn preceded_by(mut self, before: &'static str) -> Self {
        if let Some(number) = &mut self.number {
            number.before = before;
            self.text.insert_str(0, before);
        }
        self
    }

    /// Puts a qualification behind a figure.
    #[must_use]
    pub fn followed_by(mut self, after: &'static str) -> Self {
        if let Some(number) = &mut self.number {
            number.after = after;
            self.text.push_str(after);
        }
        self
    }

    /// Leaves the cell empty if the figure is absent, instead of a dash.
    #[must_use]
    pub fn or_empty(self) -> Self {
        if self.number.is_some() { self } else { Self::default() }
    }

    /// Sets the tone.
    #[must_use]
    pub fn toned(self, tone: &'static str) -> Self {
        Self { tone, ..self }
    }

    /// Links the cell to an anchor in the report.
    #[must_use]
    pub fn linked_to(self, link: &str) -> Self {
        Self { link: link.into(), ..self }
    }
}

impl CellNumber {
    /// Whether the value alone says what the cell says: nothing qualifies it, and the column states the unit.
    pub(crate) fn is_plain(&self) -> bool {
        !self.marked && self.unit.is_empty() && self.before.is_empty() && self.after.is_empty()
    }

    /// The format of the number in a workbook; `with_unit` if the head of the column does not state the unit.
    pub(crate) fn workbook_format(&self, with_unit: bool) -> String {
        // A unit may come from a record: a quote would end the text, and a long format is refused.
        let quoted =
            |text: &str| match clean(text).replace('"', "'").chars().take(UNIT_MAX).collect::<String>() {
                text if text.is_empty() => text,
                text => format!("\"{text}\""),
            };
        let unit = if with_unit && !self.unit.is_empty() { format!(" {}", self.unit) } else { String::new() };
        let point = if self.decimals > 0 { "." } else { "" };
        let after = format!("{}{}", if self.marked { MARK } else { "" }, self.after);
        let digits = format!("#,##0{point}{}", "0".repeat(self.decimals));
        format!("{}{digits}{}{}", quoted(self.before), quoted(&unit), quoted(&after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_cells_keep_the_number_behind_the_text() {
        let cell = GridCell::time_us(1_234.567).marked(true);
        let number = cell.number.unwrap();
        assert_eq!((cell.text.as_str(), number.value), ("1.23 ms†", 1_234.567));
        assert_eq!(number.workbook_format(true), "#,##0\" µs\"\"†\"");
        assert_eq!(number.workbook_format(false), "#,##0\"†\"");
        let cell = GridCell::fixed(0.5, 2).preceded_by("≥ ").followed_by("!");
        assert_eq!(
            (cell.text.as_str(), cell.number.unwrap().workbook_format(true).as_str()),
            ("≥ 0.50!", "\"≥ \"#,##0.00\"!\"")
        );
        assert_eq!(GridCell::fixed(0.5, 3).in_unit("s").text, "0.500 s");
        let hostile = GridCell::figure(1.0).in_unit(&format!("\"{}", "x".repeat(300))).number.unwrap();
        let format = hostile.workbook_format(true);
        assert!(format.len() < 100, "{format}");
        assert!(format.matches('"').count() == 2, "{format}");
    }

    #[test]
    fn missing_figure_has_neither_number_nor_mark() {
        for cell in
            [GridCell::figure(None), GridCell::count(None), GridCell::figure(f64::NAN), GridCell::absent()]
        {
            let cell = cell.marked(true).preceded_by("≥ ").followed_by("!").in_unit("s");
            assert_eq!((cell.text.as_str(), &cell.number), (ABSENT, &None));
        }
        assert_eq!(GridCell::figure(None).or_empty(), GridCell::default());
    }
}
