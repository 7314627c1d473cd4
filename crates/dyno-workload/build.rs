//! Embeds the folders of `catalog/suite/` with all their files in the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/suite");
    println!("cargo::rerun-if-changed={}", suite.display());
    let mut text = "&[\n".to_owned();
    for folder in entries(&suite).into_iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        writeln!(text, "({:?}, &[", name(&folder)).expect("a text takes everything");
        for file in entries(&folder) {
            println!("cargo::rerun-if-changed={}", file.display());
            let path = file.canonicalize().expect("the file was there a moment ago");
            writeln!(text, "({:?}, include_str!({path:?})),", name(&file)).expect("a text takes everything");
        }
        text.push_str("]),\n");
    }
    text.push_str("]\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where")).join("suite.rs");
    std::fs::write(out, text).expect("cargo's folder can be written");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = all.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("names are plain")
}
