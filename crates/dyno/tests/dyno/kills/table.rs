//! The table of all kills, for readers; rewritten after each, so that an interrupted pass keeps its results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::engine::Victim;
use super::kill::KillResult;

/// Variable with another path for the table than `target/faults.md`.
const FILE: &str = "DYNO_FAULTS_FILE";

/// Results of all kills of one victim, in one command, on one engine.
#[derive(Default)]
struct Line {
    kills: usize,
    late: usize,
    states: BTreeMap<String, usize>,
    compared: usize,
    missed: usize,
}

pub(crate) struct Table {
    seed: u64,
    lines: BTreeMap<(&'static str, Victim, &'static str), Line>,
    misses: Vec<String>,
}

impl Table {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, lines: BTreeMap::new(), misses: Vec::new() }
    }

    /// Adds a kill and writes the table.
    pub(crate) fn add(&mut self, kill: &KillResult, seconds: f64) {
        let line = self.lines.entry((kill.engine.name(), kill.victim, kill.task.name())).or_default();
        line.kills += 1;
        line.late += usize::from(kill.was_late);
        line.compared += kill.compared;
        line.missed += usize::from(!kill.misses.is_empty());
        let states = if kill.states.is_empty() { "none".to_owned() } else { kill.states.join(" + ") };
        *line.states.entry(states).or_default() += 1;
        let name = format!("{} {}", kill.name(), kill.moment_text());
        self.misses.extend(kill.misses.iter().map(|miss| format!("- {name}: {}\n", miss.replace('\n', " "))));
        self.write(seconds);
    }

    pub(crate) fn kills(&self) -> usize {
        self.lines.values().map(|line| line.kills).sum()
    }

    pub(crate) fn missed(&self) -> usize {
        self.lines.values().map(|line| line.missed).sum()
    }

    fn write(&self, seconds: f64) {
        let mut text = format!(
            "{} kills in {seconds:.0} s, seed {}; {} do not hold\n\n| on | killed | in | times | of them after its end | runs as listed then | figures compared | do not hold |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
            self.kills(),
            self.seed,
            self.missed(),
        );
        for ((engine, victim, task), line) in &self.lines {
            let states: Vec<String> =
                line.states.iter().map(|(state, count)| format!("{state} {count}")).collect();
            let Line { kills, late, compared, missed, .. } = line;
            text.push_str(&format!(
                "| {engine} | {victim} | {task} | {kills} | {late} | {} | {compared} | {missed} |\n",
                states.join(", ")
            ));
        }
        if !self.misses.is_empty() {
            text.push_str(&format!("\n{}", self.misses.concat()));
        }
        std::fs::write(file(), text).unwrap();
    }
}

/// Path of the table; files of failed kills are stored next to it.
pub(crate) fn file() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/faults.md");
    std::env::var_os(FILE).map_or_else(usual, PathBuf::from)
}
