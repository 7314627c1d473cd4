//! Messages go to stderr, data to stdout; `--quiet` and `--verbose` change only the messages.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::ser::{SerializeSeq as _, Serializer as _};

use crate::cli::CommonArgs;
use crate::events::EventLog;
use crate::output::StdoutWriter;
use crate::screen::tty;

/// Where messages and data are printed, and how much.
#[derive(Debug, Clone)]
pub(crate) struct Console {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    /// Whether stderr is a terminal that supports updated lines.
    pub(crate) live: bool,
    /// Whether a full screen may be shown.
    pub(crate) screen: bool,
    /// File of events that another program follows.
    pub(crate) events: Option<Arc<EventLog>>,
    /// Output held back while the full screen uses the terminal.
    deferred: Arc<Mutex<Option<Vec<DeferredOutput>>>>,
}

/// Output that is printed later.
#[derive(Debug)]
enum DeferredOutput {
    Said(String),
    Shown(String),
}

impl Console {
    pub(crate) fn new(common: &CommonArgs) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let live = std::io::stderr().is_terminal() && !common.quiet && !dumb;
        let screen = live && !common.plain && !common.verbose && tty::can();
        let held = Arc::default();
        let events = None;
        Self {
            json: common.json,
            quiet: common.quiet,
            verbose: common.verbose,
            live,
            screen,
            events,
            deferred: held,
        }
    }

    pub(crate) fn say(&self, line: &str) {
        if !self.quiet {
            self.to_stderr(line);
        }
    }

    /// Prints a message only with `--verbose`.
    pub(crate) fn detail(&self, line: &str) {
        if self.verbose {
            self.to_stderr(line);
        }
    }

    /// Prints an error and its hint; never silenced.
    pub(crate) fn error(&self, line: &str, hint: &str) {
        self.to_stderr(&format!("error: {line}"));
        if !hint.is_empty() {
            self.to_stderr(&format!("hint: {hint}"));
        }
    }

    fn to_stderr(&self, line: &str) {
        if let Some(held) = self.deferred.lock().as_mut() {
            held.push(DeferredOutput::Said(line.to_owned()));
            return;
        }
        // If stderr is closed, there is nobody to inform.
        let _ = writeln!(std::io::stderr().lock(), "{}", dyno_report::text::talk(line));
    }

    /// Holds back all output from now on.
    pub(crate) fn defer_output(&self) {
        self.deferred.lock().get_or_insert_default();
    }

    /// Prints all held output in order, and stops holding output back.
    pub(crate) fn flush_deferred(&self) {
        let held = self.deferred.lock().take().unwrap_or_default();
        for one in held {
            match one {
                DeferredOutput::Said(line) => self.to_stderr(&line),
                // An error here cannot be reported, and the result is already stored.
                DeferredOutput::Shown(text) => drop(write_out(&text)),
            }
        }
    }

    /// Runs `ask` at the terminal while other output is held back.
    pub(crate) fn with_terminal<T>(&self, ask: impl FnOnce() -> T) -> T {
        let held = self.deferred.lock().take();
        let answer = ask();
        *self.deferred.lock() = held;
        answer
    }

    /// The last messages that are held back.
    pub(crate) fn last_deferred(&self, lines: usize) -> VecDeque<String> {
        let held = self.deferred.lock();
        let messages = held.iter().flatten().rev().filter_map(|one| match one {
            // The screen itself shows which run begins.
            DeferredOutput::Said(line) if !line.starts_with("run ") => Some(line.clone()),
            DeferredOutput::Said(_) | DeferredOutput::Shown(_) => None,
        });
        let mut last: VecDeque<String> = messages.take(lines).collect();
        last.make_contiguous().reverse();
        last
    }

    /// Prints to stdout, or holds the text back if stdout is a terminal in use.
    fn print(&self, text: String) -> std::io::Result<()> {
        if std::io::stdout().is_terminal()
            && let Some(held) = self.deferred.lock().as_mut()
        {
            held.push(DeferredOutput::Shown(text));
            return Ok(());
        }
        write_out(&text)
    }

    /// Whether colors are wanted on stderr.
    pub(crate) fn wants_color(&self) -> bool {
        std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
    }

    /// Prints text for people; omitted with `--json`.
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

    /// Prints text unchanged for a program or a file, such as a plan; omitted with `--json`.
    pub(crate) fn print_raw(&self, text: &str) -> std::io::Result<()> {
        if self.json {
            return Ok(());
        }
        let mut out = StdoutWriter::text();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    }

    /// Prints JSON; only with `--json`.
    pub(crate) fn json(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        if self.json {
            if self.deferred.lock().is_some() && std::io::stdout().is_terminal() {
                let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
                return Ok(self.print(format!("{}\n", dyno_report::text::json(&text)))?);
            }
            let mut out = StdoutWriter::json();
            serde_json::to_writer_pretty(&mut out, value).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Ok(())
    }

    /// Prints JSON on one line, as one of many.
    pub(crate) fn json_line(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        if self.json {
            let mut out = StdoutWriter::json();
            serde_json::to_writer(&mut out, value).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Ok(())
    }

    /// Prints a JSON array element by element; only with `--json`.
    pub(crate) fn json_each<T: serde::Serialize>(
        &self,
        each: impl FnOnce(&mut dyn FnMut(&T) -> anyhow::Result<()>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if !self.json {
            return Ok(());
        }
        let mut out = StdoutWriter::json();
        let mut serializer = serde_json::Serializer::pretty(&mut out);
        let mut array = serializer.serialize_seq(None).map_err(std::io::Error::from)?;
        each(&mut |element| Ok(array.serialize_element(element).map_err(std::io::Error::from)?))?;
        array.end().map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// Width and colors of tables on stdout.
    pub(crate) fn style(&self) -> dyno_report::Style {
        let terminal = std::io::stdout().is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        dyno_report::Style { color: terminal && !no_color, width: width(std::io::stdout()) }
    }

    /// Characters for charts: ASCII only if the locale is not UTF-8.
    pub(crate) fn glyphs(&self) -> dyno_report::Glyphs {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        // In the order in which the C library reads them.
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_ascii_uppercase();
        let plain = matches!(locale.as_str(), "C" | "POSIX") || locale.ends_with("8859-1");
        if plain { dyno_report::Glyphs::Ascii } else { dyno_report::Glyphs::Unicode }
    }

    /// Style of the progress line on stderr: plain, and as wide as the terminal.
    pub(crate) fn live_style(&self) -> dyno_report::Style {
        dyno_report::Style { color: false, width: width(std::io::stderr()) }
    }
}

fn write_out(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Table width if stdout is not a terminal, and the limits of a terminal's width.
const WIDTH: (usize, usize, usize) = (100, 60, 200);

fn width(fd: impl std::os::fd::AsFd) -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal_columns =
        rustix::termios::tcgetwinsize(fd).ok().map(|size| usize::from(size.ws_col)).filter(|&w| w > 0);
    columns.or(terminal_columns).unwrap_or(WIDTH.0).clamp(WIDTH.1, WIDTH.2)
}
