//! Text style: the caller provides width and colors.

/// Width of the output and whether it shows colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether colors are shown; the caller honors `NO_COLOR`, `--no-color` and pipes.
    pub color: bool,
    /// Columns into which lines should fit.
    pub width: usize,
}

/// Minimum width of layouts; in a narrower terminal, lines keep this length.
pub const WIDTH_MIN: usize = 60;

impl Default for Style {
    /// Works in every terminal and file: 100 columns without color.
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// The meaning of a color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// A good result or state.
    Good,
    /// A result or state that needs attention.
    Warn,
    /// A failed or invalid result or state.
    Bad,
    Head,
    Dim,
    /// Imported figures, which were not audited.
    Foreign,
}

impl Paint {
    const ALL: [Self; 6] = [Self::Good, Self::Warn, Self::Bad, Self::Head, Self::Dim, Self::Foreign];

    /// Color of a tone, which pages show as a CSS class.
    pub fn of_tone(tone: &str) -> Option<Self> {
        match tone {
            "good" => Some(Self::Good),
            "warn" => Some(Self::Warn),
            "bad" => Some(Self::Bad),
            "foreign" => Some(Self::Foreign),
            "total" | "stands" => Some(Self::Head),
            "dim" | "alone" => Some(Self::Dim),
            _ => None,
        }
    }

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
    /// The width available to layouts.
    pub fn columns(&self) -> usize {
        self.width.max(WIDTH_MIN)
    }

    /// `text` in the color of `paint`; unchanged if colors are off.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", paint.code())
        } else {
            text.to_owned()
        }
    }
}

/// Bytes of the [`Style::paint`] color sequence at the start of `text`; 0 if there is none.
pub(crate) fn painted(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else { return 0 };
    let codes = Paint::ALL.map(Paint::code).into_iter().chain(["0"]);
    codes
        .filter(|code| rest.strip_prefix(code).is_some_and(|end| end.starts_with('m')))
        .map(|code| code.len() + 3)
        .max()
        .unwrap_or(0)
}
