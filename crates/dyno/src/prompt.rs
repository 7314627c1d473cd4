//! Asks questions at the terminal.

use std::io::{IsTerminal as _, Write as _};

/// Whether a user can see and answer a question at a terminal.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Shows `lines` and asks a yes-or-no question, even with `--quiet`.
pub(crate) fn confirm(lines: &[String], question: &str) -> std::io::Result<bool> {
    let mut err = std::io::stderr().lock();
    for line in lines {
        writeln!(err, "{}", dyno_report::text::talk(line))?;
    }
    write!(err, "{} [y/N] ", dyno_report::text::talk(question))?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
