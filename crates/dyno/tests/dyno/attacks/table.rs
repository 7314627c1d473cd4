//! The table of all attacks, for readers.

use std::path::{Path, PathBuf};

use super::outcome::AttackOutcome;

/// Writes the table to `target/attacks.md` and returns its path.
pub(crate) fn write(outcomes: &[AttackOutcome], seconds: f64) -> PathBuf {
    let mut text = format!(
        "{} attacks in {seconds:.0} s\n\n| attack | on | what is done | due | got | what the line says | |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        outcomes.len()
    );
    for outcome in outcomes {
        let held = if outcome.misses.is_empty() {
            "✓".to_owned()
        } else {
            format!("✗ {}", outcome.misses.join("; "))
        };
        let AttackOutcome { attack, does, server, due, status_text: got, words, .. } = outcome;
        let cells = [attack, server, does, due, got, words, &held]
            .map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/attacks.md");
    std::fs::write(&file, text).unwrap();
    file
}
