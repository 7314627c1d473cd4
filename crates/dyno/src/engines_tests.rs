//! Tests what the engines declare, and that no other code knows them by name.

use std::path::{Path, PathBuf};

use dyno_plan::{PlanFile, PlanSource, READY, read, sweep, template};

use super::*;

fn plan(text: String) -> dyno_plan::Plan {
    let file = PlanFile { name: "dyno.toml".into(), text };
    let source = PlanSource { file: Some(file), ..PlanSource::of(ENGINES.specs) };
    read(&source).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn plan_templates_name_their_engine() {
    for engine in ENGINES.specs.0 {
        for text in [template(engine)].into_iter().chain(READY.map(|ready| ready.for_engine(engine))) {
            let plan = plan(text);
            assert_eq!(ENGINES.specs.spec_of(&plan.target.url).map(|found| found.name), Some(engine.name));
            sweep::points(&plan, ENGINES.specs).unwrap();
        }
    }
}

#[test]
fn engine_spec_matches_engine_behavior() {
    for engine in ENGINES.engines {
        let spec = &engine.spec;
        assert_eq!(spec.pooled, engine.open_through.is_some(), "{}", spec.name);
        let schemes = std::iter::once(&spec.name).chain(spec.aliases);
        assert!(schemes.clone().all(|scheme| ENGINES.specs.named(scheme).map(|s| s.name) == Some(spec.name)));
        assert!(spec.examples.iter().all(|example| example.starts_with(spec.name)), "{}", spec.name);
        assert!(!spec.other_commits.is_empty());
        assert!(!spec.product.is_empty());
    }
}

#[test]
fn plan_reference_describes_every_engine() {
    let reference = include_str!("../../../docs/reference/plan.md");
    for example in ENGINES.specs.examples() {
        assert!(reference.contains(&format!("`{example}`")), "{example}");
    }
}

/// Files that may name engines: formats of other tools for one engine, test examples, and this list.
const BY_RIGHT: [&str; 6] = [
    "dyno/src/engines.rs",
    "dyno/src/commands/awr",
    "dyno-import/src/kits",
    "dyno-testbed",
    "dyno-analyze/src/fixture.rs",
    "dyno-record/src/sample.rs",
];

/// Source files in `folder` without tests.
fn sources(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name != "tests" => sources(&path, paths),
            false if name.ends_with(".rs") && !name.ends_with("tests.rs") => paths.push(path),
            _ => {}
        }
    }
}

#[test]
fn engine_names_appear_only_in_engine_crates() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let names: Vec<&str> = ENGINES
        .specs
        .0
        .iter()
        .flat_map(|spec| std::iter::once(&spec.name).chain(spec.aliases))
        .copied()
        .collect();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let of_engine = names.iter().any(|name| folder.ends_with(format!("dyno-{name}")));
        if folder.join("src").is_dir() && !of_engine {
            sources(&folder.join("src"), &mut files);
        }
    }
    assert!(files.len() > 100, "{}", files.len());
    let mut violations = Vec::new();
    for file in files {
        let path = file.strip_prefix(crates).unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let source = text.split("#[cfg(test)]").next().unwrap_or_default();
        let mentioned = names.iter().filter(|name| source.contains(&format!("\"{name}\"")));
        violations.extend(mentioned.map(|name| format!("{path}: {name:?}")));
    }
    violations.retain(|line| !BY_RIGHT.iter().any(|right| line.starts_with(right)));
    assert!(violations.is_empty(), "{violations:#?}");
}
