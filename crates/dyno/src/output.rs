//! Stdout for data: exact for programs, safe for a terminal.

use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};

use dyno_report::text;

/// How the output may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Unchanged, for a file or a program.
    Exact,
    /// For a terminal: characters that act on it are escaped.
    Shown,
    /// JSON with escapes, which mean the same everywhere.
    Json,
}

/// A writer of text; each call must pass complete characters, as all formatters do.
#[derive(Debug)]
pub(crate) struct StdoutWriter<W: Write = BufWriter<StdoutLock<'static>>> {
    form: Form,
    out: W,
}

impl StdoutWriter {
    /// Stdout for tables and text in any format except JSON.
    pub(crate) fn text() -> Self {
        let form = if io::stdout().is_terminal() { Form::Shown } else { Form::Exact };
        Self { form, out: BufWriter::new(io::stdout().lock()) }
    }

    /// Stdout for text for people, shown now or read from a file.
    pub(crate) fn shown() -> Self {
        Self { form: Form::Shown, out: BufWriter::new(io::stdout().lock()) }
    }

    pub(crate) fn json() -> Self {
        Self { form: Form::Json, out: BufWriter::new(io::stdout().lock()) }
    }
}

impl<W: Write> Write for StdoutWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = || String::from_utf8_lossy(bytes);
        match self.form {
            Form::Exact => self.out.write_all(bytes)?,
            Form::Shown => self.out.write_all(text::page(&piece(), false).as_bytes())?,
            Form::Json => self.out.write_all(text::json(&piece()).as_bytes())?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_escaped_for_each_form() -> io::Result<()> {
        let text = "a,\x1b[2J\u{9b},ä\n";
        for (form, expected) in [
            (Form::Exact, text),
            (Form::Shown, "a,\\u{1b}[2J\\u{9b},ä\n"),
            (Form::Json, "a,\\u001b[2J\\u009b,ä\n"),
        ] {
            let mut output = StdoutWriter { form, out: Vec::new() };
            output.write_all(text.as_bytes())?;
            assert_eq!(String::from_utf8_lossy(&output.out), expected, "{form:?}");
        }
        Ok(())
    }
}
