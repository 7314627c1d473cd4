//! Detects the notation of a table: separator, decimal mark, dates. The whole table or an option decides; an
//! ambiguous table is refused.

use std::io::Read;

use super::map::{ColumnMapping, MappedField};
use crate::table::CsvError;
use crate::table::csv::Csv;
use crate::table::moment::{MomentStyle, OrderEvidence, order_evidence};
use crate::table::number::{DecimalMarkEvidence, decimal_evidence, plain};
use crate::table::pairs::Pairs;
use crate::{DateOrder, DecimalMark, Error, ImportFile, Separator, TableNotation};

#[derive(Debug, Clone)]
/// Where the names and values of a table are, and how it writes numbers and times.
pub struct CsvDialect {
    pub(super) layout: TableLayout,
    pub(super) decimal: DecimalMark,
    pub(super) moments: MomentStyle,
}

/// Position of names and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableLayout {
    /// The first line names the columns; this byte separates cells.
    Columns(u8),
    /// Each line is a name and a value, separated by this character.
    Pairs(char),
}

#[cfg(test)]
impl Default for CsvDialect {
    fn default() -> Self {
        let layout = TableLayout::Columns(b',');
        Self { layout, decimal: DecimalMark::Point, moments: MomentStyle::default() }
    }
}

/// A table in either layout.
pub(super) enum RecordRows<R> {
    Columns(Csv<R>),
    Pairs(Pairs<R>),
}

impl<R: Read> RecordRows<R> {
    pub(super) fn open(text: R, layout: TableLayout, maps: &[ColumnMapping]) -> Result<Self, CsvError> {
        Ok(match layout {
            TableLayout::Columns(separator) => Self::Columns(Csv::open(text, separator)?),
            TableLayout::Pairs(separator) => Self::Pairs(Pairs::new(text, separator, mapped(maps))),
        })
    }

    pub(super) fn columns(&self) -> &[String] {
        match self {
            Self::Columns(table) => &table.columns,
            Self::Pairs(pairs) => &pairs.columns,
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<(u64, Vec<&str>)>, CsvError> {
        match self {
            Self::Columns(table) => table.next(),
            Self::Pairs(pairs) => pairs.next(),
        }
    }
}

/// The mapped columns, each once.
fn mapped(maps: &[ColumnMapping]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for map in maps {
        if !names.contains(&map.column) {
            names.push(map.column.clone());
        }
    }
    names
}

/// The dialect of a table, and a note on it for the user.
///
/// # Errors
/// An option is wrong, or the table is ambiguous or contradicts itself; the hint names the option that decides.
pub fn detect_dialect(
    source: &mut ImportFile,
    maps: &[ColumnMapping],
    notation: &TableNotation,
) -> Result<(CsvDialect, Option<String>), Error> {
    let mut moments = MomentStyle::new(notation.time_zone.as_deref(), notation.date_order)?;
    let layout = layout(source, maps, notation.separator)?;
    let survey = DialectEvidence::of(source, maps, layout)?;
    let (decimal, note) = match notation.decimal_mark {
        Some(decimal) => (decimal, None),
        None => survey.decimal(layout)?,
    };
    if moments.order.is_none() {
        moments.order = survey.order()?;
    }
    Ok((CsvDialect { layout, decimal, moments }, note))
}

/// The layout in which all mapped columns exist; else the one that splits the first line into most cells, for
/// the error message.
fn layout(
    source: &mut ImportFile,
    maps: &[ColumnMapping],
    separator: Option<Separator>,
) -> Result<TableLayout, Error> {
    if let Some(separator) = separator {
        return Ok(TableLayout::Columns(separator.byte()));
    }
    let names = mapped(maps);
    let mut most = (0, TableLayout::Columns(b','));
    for separator in Separator::ALL {
        let layout = TableLayout::Columns(separator.byte());
        // A table that cannot be opened is refused, with its line, when it is read.
        let Ok(table) = Csv::open(source.reader()?, separator.byte()) else { continue };
        if !names.is_empty() && names.iter().all(|name| table.columns.contains(name)) {
            return Ok(layout);
        }
        if table.columns.len() > most.0 {
            most = (table.columns.len(), layout);
        }
    }
    for separator in ['=', ':', ',', ';', '\t', '|'] {
        let pairs = Pairs::new(source.reader()?, separator, names.clone());
        if !names.is_empty() && pairs.names().is_ok_and(|there| there == names) {
            return Ok(TableLayout::Pairs(separator));
        }
    }
    Ok(most.1)
}

/// A cell with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ColumnPlace {
    line: u64,
    cell: String,
}

impl std::fmt::Display for ColumnPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} (line {})", self.cell, self.line)
    }
}

/// The first cells of a table that are evidence of its dialect.
#[derive(Debug, Default)]
struct DialectEvidence {
    file: String,
    point: Option<ColumnPlace>,
    comma: Option<ColumnPlace>,
    ambiguous_point: Option<ColumnPlace>,
    ambiguous_comma: Option<ColumnPlace>,
    day_first: Option<ColumnPlace>,
    month_first: Option<ColumnPlace>,
    ambiguous_date: Option<ColumnPlace>,
}

impl DialectEvidence {
    fn of(source: &mut ImportFile, maps: &[ColumnMapping], layout: TableLayout) -> Result<Self, Error> {
        let mut survey = Self { file: source.name().to_owned(), ..Self::default() };
        // Errors in the table are reported by the reading that follows.
        let Ok(mut table) = RecordRows::open(source.reader()?, layout, maps) else { return Ok(survey) };
        let columns: Vec<(usize, &MappedField)> = maps
            .iter()
            .filter_map(|map| {
                let at = table.columns().iter().position(|column| *column == map.column)?;
                Some((at, &map.field))
            })
            .collect();
        while let Ok(Some((line, cells))) = table.next() {
            for &(at, field) in &columns {
                survey.inspect_cell(field, line, cells[at]);
            }
        }
        Ok(survey)
    }

    fn inspect_cell(&mut self, field: &MappedField, line: u64, cell: &str) {
        let slot = if *field == MappedField::StartedAt {
            match order_evidence(cell) {
                Some(OrderEvidence::Shown(DateOrder::DayMonth)) => &mut self.day_first,
                Some(OrderEvidence::Shown(DateOrder::MonthDay)) => &mut self.month_first,
                Some(OrderEvidence::Ambiguous) => &mut self.ambiguous_date,
                None => return,
            }
        } else if field.is_number() {
            match decimal_evidence(cell) {
                Some(DecimalMarkEvidence::Shown(DecimalMark::Point)) => &mut self.point,
                Some(DecimalMarkEvidence::Shown(DecimalMark::Comma)) => &mut self.comma,
                Some(DecimalMarkEvidence::Ambiguous(DecimalMark::Point)) => &mut self.ambiguous_point,
                Some(DecimalMarkEvidence::Ambiguous(DecimalMark::Comma)) => &mut self.ambiguous_comma,
                None => return,
            }
        } else {
            return;
        };
        if slot.is_none() {
            *slot = Some(ColumnPlace { line, cell: cell.to_owned() });
        }
    }

    fn decimal(&self, layout: TableLayout) -> Result<(DecimalMark, Option<String>), Error> {
        let file = &self.file;
        match (&self.point, &self.comma) {
            (Some(point), Some(comma)) => {
                return Err(Error::input(
                    format!("{file}: {point} has a decimal point and {comma} a decimal comma"),
                    "use one decimal mark; --decimal-mark point or --decimal-mark comma reports the lines \
                        with the other",
                ));
            }
            (Some(_), None) => return Ok((DecimalMark::Point, None)),
            (None, Some(_)) => return Ok((DecimalMark::Comma, None)),
            (None, None) => {}
        }
        match (&self.ambiguous_comma, &self.ambiguous_point) {
            // Tables with comma-separated cells normally use decimal points.
            (None, Some(place)) if layout == TableLayout::Columns(b',') => {
                let note = format!(
                    "{file}: {place} is read with a decimal point, as commas separate the cells; \
                        --decimal-mark comma reads points as thousands separators"
                );
                Ok((DecimalMark::Point, Some(note)))
            }
            (Some(place), _) | (None, Some(place)) => Err(Error::input(
                format!("{file}: {place} may mean two numbers, and no cell shows the decimal mark"),
                format!(
                    "--decimal-mark point reads {}, --decimal-mark comma reads {}",
                    plain(&place.cell, DecimalMark::Point).unwrap_or_default(),
                    plain(&place.cell, DecimalMark::Comma).unwrap_or_default(),
                ),
            )),
            (None, None) => Ok((DecimalMark::Point, None)),
        }
    }

    fn order(&self) -> Result<Option<DateOrder>, Error> {
        let file = &self.file;
        match (&self.day_first, &self.month_first, &self.ambiguous_date) {
            (Some(day), Some(month), _) => Err(Error::input(
                format!("{file}: {day} begins with the day and {month} with the month"),
                "write all dates in one form, preferably 2026-03-21",
            )),
            (Some(_), None, _) => Ok(Some(DateOrder::DayMonth)),
            (None, Some(_), _) => Ok(Some(DateOrder::MonthDay)),
            (None, None, Some(place)) => Err(Error::input(
                format!("{file}: {place} may mean two days, and no date shows the order of day and month"),
                "--date-order month-day or --date-order day-month says which comes first",
            )),
            (None, None, None) => Ok(None),
        }
    }
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
