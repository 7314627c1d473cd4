//! Runs programs to their end.

use std::process::Command;

/// Runs `command`; if it fails, its output becomes the error.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?} cannot be run: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} failed: {}", stderr.trim()))
}
