//! Formats and prints errors.

use std::fmt::Write as _;

use dyno_campaign::Error;
use dyno_plan::PlanErrors;

use crate::console::Console;
use crate::exit::Exit;

/// Prints `error` on stderr, one line and its hint, and returns the exit code.
pub(crate) fn report(error: &anyhow::Error, talk: &Console) -> Exit {
    if is_broken_pipe(error) {
        return Exit::Done;
    }
    let of_campaign = error.downcast_ref::<Error>();
    let of_import = error.downcast_ref::<dyno_import::Error>();
    let of_plan = match (of_campaign, of_import) {
        (Some(Error::Plan(errors)), _) | (_, Some(dyno_import::Error::Plan(errors))) => Some(errors),
        _ => error.downcast_ref::<PlanErrors>(),
    };
    if let Some(errors) = of_plan {
        for error in &errors.errors {
            talk.error(&error.to_string(), "");
        }
        if errors.more > 0 {
            talk.error(&format!("{} more errors in the plan", errors.more), "");
        }
        return Exit::Usage;
    }
    let (exit, hint) = match (of_campaign, of_import) {
        (Some(error), _) => (error.kind().into(), error.hint()),
        (_, Some(error @ dyno_import::Error::Input { .. })) => (Exit::Usage, error.hint()),
        _ => (Exit::Failed, ""),
    };
    let mut line = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        // Many errors repeat their cause in their own words; a full disk is already reported where its owner
        // is known.
        let is_told =
            cause.contains("No space left on device") && line.to_ascii_lowercase().contains("no space");
        if !line.contains(&cause) && !is_told {
            let _ = write!(line, ": {cause}");
        }
    }
    if is_full(error) {
        line = format!("the output cannot be written: {line}");
    }
    let hint = dyno_drive::too_few(error.as_ref()).unwrap_or_else(|| hint.to_owned());
    talk.error(&line, &hint);
    exit
}

/// Whether stdout is a file on a full disk.
fn is_full(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::StorageFull)
        && error.chain().count() == 1
}

/// Whether stdout was closed (`dyno show | head`). Only the program's own writes return plain I/O errors. A
/// broken server connection is a cause inside another error, and must be reported.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use dyno_engine::{TargetError, TargetErrorKind};

    use super::*;

    fn broken_pipe() -> std::io::Error {
        std::io::ErrorKind::BrokenPipe.into()
    }

    #[test]
    fn disk_full_error_with_context_gets_no_extra_hint() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(is_full(&full().into()));
        assert!(!is_full(&anyhow::Error::from(full()).context("report.html cannot be written")));
    }

    #[test]
    fn broken_pipe_is_ignored_only_for_own_output() {
        assert!(is_broken_pipe(&broken_pipe().into()));
        // A server that was killed during a write.
        let lost =
            TargetError::new(TargetErrorKind::Unreachable, "the connection was lost").cause(broken_pipe());
        assert!(!is_broken_pipe(&Error::from(lost).into()));
    }
}
