//! Options that state the notation of a table.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dyno_import::{DateOrder, DecimalMark, Separator, TableNotation};

/// The words of an option, their meaning for `--help`, and their values.
type Words<T, const N: usize> = [(&'static str, &'static str, T); N];

pub(super) static SEPARATORS: Words<Separator, 4> = [
    ("comma", "", Separator::Comma),
    ("semicolon", "", Separator::Semicolon),
    ("tab", "", Separator::Tab),
    ("pipe", "", Separator::Pipe),
];

pub(super) static DECIMAL_MARKS: Words<DecimalMark, 2> = [
    ("point", "A point, with commas between thousands: 1,034.8", DecimalMark::Point),
    ("comma", "A comma, with points between thousands: 1.034,8", DecimalMark::Comma),
];

pub(super) static DATE_ORDERS: Words<DateOrder, 2> = [
    ("day-month", "Day first: the third of April", DateOrder::DayMonth),
    ("month-day", "Month first: the fourth of March", DateOrder::MonthDay),
];

/// Reads one of these words.
pub(super) fn one_of<T: Copy + Send + Sync, const N: usize>(
    words: &'static Words<T, N>,
) -> impl TypedValueParser<Value = T> {
    let described = words.iter().map(|(word, help, _)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    });
    PossibleValuesParser::new(described).try_map(|text| {
        words.iter().find(|(word, ..)| *word == text).map(|(.., value)| *value).ok_or("unknown word")
    })
}

/// Notation of a table where the table itself does not show it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DialectArgs {
    /// Separator between two cells [default: the one with which all mapped columns are found].
    #[arg(long, value_name = "NAME", value_parser = one_of(&SEPARATORS))]
    pub(crate) separator: Option<Separator>,
    /// Decimal mark of numbers [default: detected from the mapped columns].
    #[arg(long, value_name = "NAME", value_parser = one_of(&DECIMAL_MARKS))]
    pub(crate) decimal_mark: Option<DecimalMark>,
    /// Order of day and month in dates such as 3/4/2026 [default: detected from the column's dates].
    #[arg(long, value_name = "ORDER", value_parser = one_of(&DATE_ORDERS))]
    pub(crate) date_order: Option<DateOrder>,
    /// Time zone of times without one: UTC, +02:00, Europe/Berlin.
    #[arg(long, value_name = "ZONE")]
    pub(crate) time_zone: Option<String>,
}

impl From<&DialectArgs> for TableNotation {
    fn from(args: &DialectArgs) -> Self {
        let DialectArgs { separator, decimal_mark, date_order, time_zone } = args.clone();
        Self { separator, decimal_mark, date_order, time_zone }
    }
}
