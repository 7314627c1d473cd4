//! Talk goes to stderr, data to stdout; `--quiet` and `--verbose` only change the talk.

use std::io::{IsTerminal, Write};

use serde::ser::{SerializeSeq as _, Serializer as _};

use crate::cli::Common;
use crate::output::Output;

/// Where and how much the program talks.
#[derive(Debug, Clone)]
pub(crate) struct Talk {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    /// Whether stderr is a terminal that takes moving lines.
    pub(crate) live: bool,
}

impl Talk {
    pub(crate) fn new(common: &Common) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let live = std::io::stderr().is_terminal() && !common.quiet && !dumb;
        Self { json: common.json, quiet: common.quiet, verbose: common.verbose, live }
    }

    /// A line of talk.
    pub(crate) fn say(&self, line: &str) {
        if !self.quiet {
            self.to_stderr(line);
        }
    }

    /// A line of talk for those who asked for more.
    pub(crate) fn detail(&self, line: &str) {
        if self.verbose {
            self.to_stderr(line);
        }
    }

    /// An error and its way out; never silenced.
    pub(crate) fn error(&self, line: &str, hint: &str) {
        self.to_stderr(&format!("error: {line}"));
        if !hint.is_empty() {
            self.to_stderr(&format!("hint: {hint}"));
        }
    }

    fn to_stderr(&self, line: &str) {
        // Nobody can be told that stderr is closed.
        let _ = writeln!(std::io::stderr().lock(), "{}", dyno_report::text::talk(line));
    }

    /// Data for people; left out under `--json`.
    pub(crate) fn show(&self, text: &str) -> std::io::Result<()> {
        if self.json {
            return Ok(());
        }
        let text = dyno_report::text::page(text, self.style().color);
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    }

    /// A text that a program or a file is to have as it is, such as a plan; left out under `--json`.
    pub(crate) fn hand_over(&self, text: &str) -> std::io::Result<()> {
        if self.json {
            return Ok(());
        }
        let mut out = Output::text();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    }

    /// Data for machines; only under `--json`.
    pub(crate) fn json(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        if self.json {
            let mut out = Output::json();
            serde_json::to_writer_pretty(&mut out, value).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Ok(())
    }

    /// The same on one line, as one of many.
    pub(crate) fn json_line(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        if self.json {
            let mut out = Output::json();
            serde_json::to_writer(&mut out, value).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Ok(())
    }

    /// An array of data for machines, given element by element; only under `--json`.
    pub(crate) fn json_each<T: serde::Serialize>(
        &self,
        each: impl FnOnce(&mut dyn FnMut(&T) -> anyhow::Result<()>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if !self.json {
            return Ok(());
        }
        let mut out = Output::json();
        let mut serializer = serde_json::Serializer::pretty(&mut out);
        let mut array = serializer.serialize_seq(None).map_err(std::io::Error::from)?;
        each(&mut |element| Ok(array.serialize_element(element).map_err(std::io::Error::from)?))?;
        array.end().map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// How stdout wants its tables.
    pub(crate) fn style(&self) -> dyno_report::Style {
        let terminal = std::io::stdout().is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        dyno_report::Style { color: terminal && !no_color, width: width(std::io::stdout()) }
    }

    /// What charts are drawn with: nothing but ASCII where the locale is not one of UTF-8.
    pub(crate) fn glyphs(&self) -> dyno_report::Glyphs {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        // In the order in which the C library asks for them.
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_ascii_uppercase();
        let plain = matches!(locale.as_str(), "C" | "POSIX") || locale.ends_with("8859-1");
        if plain { dyno_report::Glyphs::Ascii } else { dyno_report::Glyphs::Unicode }
    }

    /// How the moving line on stderr is dressed: plain, and as wide as the terminal.
    pub(crate) fn live_style(&self) -> dyno_report::Style {
        dyno_report::Style { color: false, width: width(std::io::stderr()) }
    }
}

/// Columns that tables may take where stdout is no terminal, and the bounds of what a terminal says.
const WIDTH: (usize, usize, usize) = (100, 60, 200);

fn width(fd: impl std::os::fd::AsFd) -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = rustix::termios::tcgetwinsize(fd).ok().map(|size| usize::from(size.ws_col)).filter(|&w| w > 0);
    columns.or(seen).unwrap_or(WIDTH.0).clamp(WIDTH.1, WIDTH.2)
}
