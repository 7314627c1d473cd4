//! Links of the documentation to files of this repository.

use std::path::{Path, PathBuf};

fn pages(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.file_name().is_some_and(|name| name == "target" || name == ".git") {
            pages(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            paths.push(path);
        }
    }
}

/// The files and folders that a page links to, without their anchors; no web addresses.
fn linked(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#', ' ']).next())
        .filter(|link| !link.is_empty() && !link.contains(':'))
}

#[test]
fn links_of_the_documentation_lead_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    pages(&root, &mut paths);
    let (mut count, mut dead) = (0, Vec::new());
    for page in &paths {
        let text = std::fs::read_to_string(page).unwrap();
        for link in linked(&text) {
            count += 1;
            if !page.parent().unwrap().join(link).exists() {
                dead.push(format!("{} in {}", link, page.display()));
            }
        }
    }
    assert!(count > 100, "the links were found");
    assert!(dead.is_empty(), "links without a file:\n{}", dead.join("\n"));
}
