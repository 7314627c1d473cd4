//! How text is dressed: width and colour are the caller's to know.

/// What the terminal can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether colours are shown; the caller honours `NO_COLOR`, `--no-color` and pipes.
    pub color: bool,
    /// Columns that lines should fit in.
    pub width: usize,
}

/// Narrowest width that layouts are made for; below it lines stay this long.
pub const WIDTH_MIN: usize = 60;

impl Default for Style {
    /// What every terminal and every file can hold: 100 columns, no colour.
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// The meaning of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// As it should be.
    Good,
    /// Worth a look.
    Warn,
    /// Wrong.
    Bad,
    /// A heading.
    Head,
    /// Less important.
    Dim,
    /// From elsewhere: imported.
    Foreign,
}

impl Paint {
    const ALL: [Self; 6] = [Self::Good, Self::Warn, Self::Bad, Self::Head, Self::Dim, Self::Foreign];

    fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
            Self::Head => "1",
            Self::Dim => "2",
            Self::Foreign => "36",
        }
    }
}

impl Style {
    /// The width that layouts may use.
    pub fn columns(&self) -> usize {
        self.width.max(WIDTH_MIN)
    }

    /// `text` in the colour of `paint`, or as it is where colours are off.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", paint.code())
        } else {
            text.to_owned()
        }
    }
}

/// Bytes of the colour sequence of [`Style::paint`] that `text` begins with; 0 if it begins with none.
pub(crate) fn painted(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else { return 0 };
    let codes = Paint::ALL.map(Paint::code).into_iter().chain(["0"]);
    codes
        .filter(|code| rest.strip_prefix(code).is_some_and(|end| end.starts_with('m')))
        .map(|code| code.len() + 3)
        .max()
        .unwrap_or(0)
}
