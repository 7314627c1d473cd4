//! Talk goes to stderr, data to stdout; `--quiet` and `--verbose` only change the talk.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::ser::{SerializeSeq as _, Serializer as _};

use crate::cli::Common;
use crate::events::EventLog;
use crate::output::Output;
use crate::screen::tty;

/// Where and how much the program talks.
#[derive(Debug, Clone)]
pub(crate) struct Talk {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    /// Whether stderr is a terminal that takes moving lines.
    pub(crate) live: bool,
    /// Whether a full screen may be shown.
    pub(crate) screen: bool,
    /// Where events go that another program follows.
    pub(crate) events: Option<Arc<EventLog>>,
    /// What is said and shown while something else has the terminal.
    held: Arc<Mutex<Option<Vec<Held>>>>,
}

/// Something that is printed later.
#[derive(Debug)]
enum Held {
    /// A line of talk.
    Said(String),
    /// Text for stdout as it goes there.
    Shown(String),
}

impl Talk {
    pub(crate) fn new(common: &Common) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let live = std::io::stderr().is_terminal() && !common.quiet && !dumb;
        let screen = live && !common.plain && !common.verbose && tty::can();
        let held = Arc::default();
        let events = None;
        Self { json: common.json, quiet: common.quiet, verbose: common.verbose, live, screen, events, held }
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
        if let Some(held) = self.held().as_mut() {
            held.push(Held::Said(line.to_owned()));
            return;
        }
        // Nobody can be told that stderr is closed.
        let _ = writeln!(std::io::stderr().lock(), "{}", dyno_report::text::talk(line));
    }

    fn held(&self) -> MutexGuard<'_, Option<Vec<Held>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on nothing is printed at the terminal.
    pub(crate) fn hold(&self) {
        self.held().get_or_insert_default();
    }

    /// Prints everything that was held back, in its order; nothing is held back any more.
    pub(crate) fn release(&self) {
        let held = self.held().take().unwrap_or_default();
        for one in held {
            match one {
                Held::Said(line) => self.to_stderr(&line),
                // Nobody can be told, and it is stored.
                Held::Shown(text) => drop(write_out(&text)),
            }
        }
    }

    /// Does something at the terminal while the rest is held back.
    pub(crate) fn aside<T>(&self, ask: impl FnOnce() -> T) -> T {
        let held = self.held().take();
        let answer = ask();
        *self.held() = held;
        answer
    }

    /// The last lines of talk that are held back.
    pub(crate) fn last_held(&self, lines: usize) -> VecDeque<String> {
        let held = self.held();
        let said = held.iter().flatten().rev().filter_map(|one| match one {
            // Which run begins is seen on the screen.
            Held::Said(line) if !line.starts_with("run ") => Some(line.clone()),
            Held::Said(_) | Held::Shown(_) => None,
        });
        let mut last: VecDeque<String> = said.take(lines).collect();
        last.make_contiguous().reverse();
        last
    }

    /// Prints to stdout, or holds it back where that is a terminal which something else has.
    fn print(&self, text: String) -> std::io::Result<()> {
        if std::io::stdout().is_terminal()
            && let Some(held) = self.held().as_mut()
        {
            held.push(Held::Shown(text));
            return Ok(());
        }
        write_out(&text)
    }

    /// Whether colours are wanted on stderr.
    pub(crate) fn wants_color(&self) -> bool {
        std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
    }

    /// Data for people; left out under `--json`.
    pub(crate) fn show(&self, text: &str) -> std::io::Result<()> {
        if self.json {
            return Ok(());
        }
        let mut text = dyno_report::text::page(text, self.style().color).into_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        self.print(text)
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
            if self.held().is_some() && std::io::stdout().is_terminal() {
                let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
                return Ok(self.print(format!("{}\n", dyno_report::text::json(&text)))?);
            }
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

fn write_out(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Columns that tables may take where stdout is no terminal, and the bounds of what a terminal says.
const WIDTH: (usize, usize, usize) = (100, 60, 200);

fn width(fd: impl std::os::fd::AsFd) -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = rustix::termios::tcgetwinsize(fd).ok().map(|size| usize::from(size.ws_col)).filter(|&w| w > 0);
    columns.or(seen).unwrap_or(WIDTH.0).clamp(WIDTH.1, WIDTH.2)
}
