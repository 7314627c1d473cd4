//! Source rules that no compiler checks.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            sources(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            paths.push(path);
        }
    }
}

/// Whether the comment or the attributes above line `at` give the reason.
fn has_reason(lines: &[&str], at: usize) -> bool {
    let above = lines[..at].iter().rev().map(|line| line.trim());
    let mut block = above.take_while(|line| line.starts_with("//") || line.starts_with("#["));
    block.any(|line| line.contains("SAFETY") || line.contains("# Safety"))
}

#[test]
fn unsafe_functions_and_impls_have_a_safety_comment() {
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
    // Clippy checks blocks (undocumented_unsafe_blocks).
    assert!(count > 10, "the sites were found");
    assert!(without.is_empty(), "no reason is given for\n{}", without.join("\n"));
}

/// The names of the dependencies in a `Cargo.toml`.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies]");
        } else if let Some((key, _)) = line.split_once('=').filter(|_| inside && !line.starts_with('#')) {
            names.push(key.trim().trim_end_matches(".workspace"));
        }
    }
    names
}

#[test]
fn every_dependency_is_used_in_the_source() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut unused = Vec::new();
    let mut used = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(&crates).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let mut files = Vec::new();
        sources(&folder, &mut files);
        let text: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        for name in dependencies(&manifest) {
            used.insert(name.to_owned());
            let path = format!("{}::", name.replace('-', "_"));
            if !text.contains(&path) {
                unused.push(format!("{name} in {}", folder.display()));
            }
        }
    }
    let workspace = std::fs::read_to_string(crates.join("../Cargo.toml")).unwrap();
    let workspace_dependencies = dependencies(&workspace);
    assert!(workspace_dependencies.len() > 20, "the dependencies were found");
    assert!(used.len() > 20, "the dependencies were found");
    unused.extend(
        workspace_dependencies
            .into_iter()
            .filter(|name| !used.contains(*name))
            .map(|name| format!("{name} in the workspace")),
    );
    assert!(unused.is_empty(), "dependencies without a use:\n{}", unused.join("\n"));
}
