//! How a table writes its cells, where the table itself does not show it.

/// Separator between two cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tabulator, as in TSV files.
    Tab,
    /// `|`
    Pipe,
}

impl Separator {
    pub(crate) const ALL: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Pipe];

    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Pipe => b'|',
        }
    }
}

/// Decimal mark of numbers in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalMark {
    /// A point, with commas between thousands: 1,034.8
    Point,
    /// A comma, with points between thousands: 1.034,8
    Comma,
}

impl DecimalMark {
    pub(crate) fn character(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }
}

/// The order of day and month in `3/4/2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    /// Day first: the third of April.
    DayMonth,
    /// Month first: the fourth of March.
    MonthDay,
}

/// What the user says about the notation of a table.
#[derive(Debug, Clone, Default)]
pub struct TableNotation {
    /// The separator; absent to take the one with which all mapped columns exist.
    pub separator: Option<Separator>,
    /// The decimal mark; absent to detect it.
    pub decimal_mark: Option<DecimalMark>,
    /// The order of day and month; absent to detect it.
    pub date_order: Option<DateOrder>,
    /// Time zone of times without one: UTC, +02:00, Europe/Berlin.
    pub time_zone: Option<String>,
}
