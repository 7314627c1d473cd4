//! Embeds the studies of `catalog/studies/` and their helper scripts in the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/studies");
    let mut text = String::new();
    let all = "/// Every ready study.\npub const READY_STUDIES: &[ReadyStudy] = &[\n";
    text.push_str(all);
    for (name, path) in files(&studies, ".toml") {
        writeln!(text, "ReadyStudy {{ name: {name:?}, text: include_str!({path:?}) }},")
            .expect("a text takes everything");
    }
    text.push_str(
        "];\n\n/// The helper scripts that studies may use, by name.\npub const PIECES: &[(&str, &str)] = &[\n",
    );
    for (name, path) in files(&studies.join("pieces"), ".sh") {
        writeln!(text, "({name:?}, include_str!({path:?})),").expect("a text takes everything");
    }
    text.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where")).join("studies.rs");
    std::fs::write(out, text).expect("cargo's folder can be written");
}

/// Files of a folder whose names end with `end`, each with its name without that ending.
fn files(folder: &Path, end: &str) -> Vec<(String, PathBuf)> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut named_files: Vec<(String, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name()?.to_str()?.strip_suffix(end)?.to_owned();
            println!("cargo::rerun-if-changed={}", path.display());
            Some((name, path.canonicalize().expect("the file was there a moment ago")))
        })
        .collect();
    named_files.sort();
    named_files
}
