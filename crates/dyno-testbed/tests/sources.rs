//! Rules that the sources keep and no compiler checks.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Whether the comment or attributes above line `at` give the reason.
fn has_reason(lines: &[&str], at: usize) -> bool {
    let above = lines[..at].iter().rev().map(|line| line.trim());
    let mut block = above.take_while(|line| line.starts_with("//") || line.starts_with("#["));
    block.any(|line| line.contains("SAFETY") || line.contains("# Safety"))
}

#[test]
fn every_unsafe_function_and_implementation_has_its_reason() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    let mut without = Vec::new();
    let mut count = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let code = line.trim_start().trim_start_matches("pub(super) ").trim_start_matches("pub ");
            let is_site = ["unsafe fn", "unsafe extern \"C\" fn", "unsafe impl"]
                .iter()
                .any(|site| code.starts_with(site));
            count += usize::from(is_site);
            if is_site && !has_reason(&lines, at) {
                without.push(format!("{}:{}", path.display(), at + 1));
            }
        }
    }
    // Blocks are checked by clippy (undocumented_unsafe_blocks).
    assert!(count > 10, "the sites were found");
    assert!(without.is_empty(), "no reason is given for\n{}", without.join("\n"));
}
