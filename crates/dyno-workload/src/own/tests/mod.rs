//! Workloads as users write them: what is wrong is told with its place, and sessions do what is written.

mod acting;
mod broken;
mod described;
mod drawn;
mod faults;
mod loading;
mod orders;
mod pgbench;
mod rated;
mod ready;
mod setting;
mod splitting;
mod statements;
mod suite;
mod tried;

use std::sync::Arc;

use super::example::EXAMPLES;
use super::{Fault, Own};

/// A folder `w` with these files, as it is read.
fn read(files: &[(&str, &str)]) -> Result<Arc<Own>, String> {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("w");
    std::fs::create_dir(&folder).expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let own = |fault: Fault| fault.to_string().replace(&format!("{}/", parent.path().display()), "");
    Own::read(&folder).map(Arc::new).map_err(own)
}

/// A workload of one transaction `t` with this text behind its draws.
fn workload(draws: &str, transaction: &str) -> Arc<Own> {
    let text = format!("name = \"w\"\nwrites = true\n[draw]\n{draws}\n[transaction.t]\n{transaction}\n");
    read(&[("workload.toml", &text)]).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn shop() -> Arc<Own> {
    read(EXAMPLES[0].files).unwrap_or_else(|fault| panic!("{fault}"))
}
