//! Tests of custom workloads: errors have places, and sessions execute what is described.

mod acting;
mod broken;
mod described;
mod drawn;
mod faults;
mod loading;
mod orders;
mod rated;
mod ready;
mod setting;
mod splitting;
mod suite;
mod tried;

use std::sync::Arc;

use super::example::EXAMPLES;
use super::{CustomWorkload, WorkloadError};

/// The result of reading a folder `w` with these files.
fn read(files: &[(&str, &str)]) -> Result<Arc<CustomWorkload>, String> {
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("w");
    std::fs::create_dir(&folder).expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let relative_message =
        |fault: WorkloadError| fault.to_string().replace(&format!("{}/", parent.path().display()), "");
    CustomWorkload::read(&folder).map(Arc::new).map_err(relative_message)
}

/// A workload with one transaction `t` that has this text after its generators.
fn workload(draws: &str, transaction: &str) -> Arc<CustomWorkload> {
    let text = format!("name = \"w\"\nwrites = true\n[draw]\n{draws}\n[transaction.t]\n{transaction}\n");
    read(&[("workload.toml", &text)]).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn shop() -> Arc<CustomWorkload> {
    read(EXAMPLES[0].files).unwrap_or_else(|fault| panic!("{fault}"))
}
