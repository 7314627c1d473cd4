//! Tests of a study's file: what is accepted, what is refused, and the order of its variants.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use proptest::prelude::*;

use super::*;
use crate::engine::fixture::nothing;
use crate::read::PlanFile;

const METRICS: [&str; 3] = ["ops_per_s", "service_mean_us", "service_p99_us"];

fn file(text: &str, params: &[(&str, &str)]) -> StudyFile {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let file = PlanFile { name: "a.toml".to_owned(), text: text.to_owned() };
    StudyFile { file, name: "a".to_owned(), params }
}

fn study(text: &str) -> StudyPlan {
    file(text, &[]).study(&METRICS).unwrap_or_else(|errors| panic!("{errors}"))
}

fn errors(text: &str) -> String {
    file(text, &[]).study(&METRICS).unwrap_err().to_string()
}

const TWO: &str = "[target]\nurl = \"sqlite:x\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = { \"workload.update_pct\" = 20 }\n";

#[test]
fn study_file_has_two_variants_and_a_plan() {
    let study = study(TWO);
    let names: Vec<&str> = study.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!((names, study.repeats, study.base), (vec!["a", "b"], 4, 0));
    assert_eq!(study.variants[1].set, [("workload.update_pct".to_owned(), "20".to_owned())]);
    assert_eq!(study.tasks, [StudyTask { name: "run".to_owned(), set: Vec::new(), run: true }]);
    let source = file(TWO, &[]).source(&study, "/s", nothing());
    let plan = crate::read(&source).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(plan.workload.update_pct, 0);
    // Without `others`, the plan reader refuses these tables.
    assert!(crate::read(&crate::PlanSource { others: &[], ..source }).is_err());
}

#[test]
fn study_axes_are_combined_and_base_variant_is_repeated() {
    let text = "[study]\nagain = true\nbase = \"xfs, 4k\"\n\
        [[variant]]\nname = \"ext4\"\naxis = \"fs\"\napply = [\"e\"]\nverify = [\"v\"]\nrevert = [\"-e\"]\nneeds = [\"root\"]\n\
        [[variant]]\nname = \"xfs\"\naxis = \"fs\"\n\
        [[variant]]\nname = \"2k\"\naxis = \"block\"\napply = [\"2\"]\nverify = [\"v\"]\nrevert = [\"-2\"]\n\
        [[variant]]\nname = \"4k\"\naxis = \"block\"\n\
        [[variant]]\nname = \"alone\"\n";
    let study = study(text);
    let names: Vec<&str> = study.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["alone", "ext4, 2k", "ext4, 4k", "xfs, 2k", "xfs, 4k", "xfs, 4k again"]);
    assert_eq!((study.base, study.variants[5].again), (4, true));
    let combined_variant = &study.variants[1];
    assert!(combined_variant.needs(Need::Root));
    assert!(combined_variant.parts.len() == 2);
    let reverts: Vec<&str> =
        study.commands().into_iter().filter(|(when, _)| *when == "revert").map(|of| of.1).collect();
    assert_eq!(reverts, ["-2", "-e"], "the later one is reverted first");
}

#[test]
fn invalid_study_is_reported_with_its_line() {
    let wrong = errors(&format!(
        "{TWO}[[variant]]\nname = \"c\"\napply = [\"x\"]\nset = {{ \"workload.updat_pct\" = 1 }}\n"
    ));
    assert!(wrong.contains("a.toml:8"), "{wrong}");
    assert!(wrong.contains("no revert"), "{wrong}");
    assert!(wrong.contains("no verify"), "{wrong}");
    assert!(wrong.contains("did you mean workload.update_pct?"), "{wrong}");
    let wrong = errors(&format!("{TWO}aply = [\"x\"]\n"));
    assert_eq!(wrong, "a.toml:8:1: variant.aply: unknown key; did you mean apply?");
    let wrong = errors(&format!(
        "[study]\nrepeats = 3\nbase = \"bb\"\nstate = \"clone\"\nmetrics = [\"ops_per\"]\n{TWO}"
    ));
    for part in ["repeats = 3", "did you mean \"b\"?", "there are none", "did you mean ops_per_s?"] {
        assert!(wrong.contains(part), "{part}: {wrong}");
    }
    assert!(errors("[study]\n").contains("0 variants"));
    let wrong = errors(&format!("[study]\nsetup = [\"x\"]\nseed = \"a\"\n{TWO}"));
    assert_eq!(wrong.split("; ").next(), Some("a.toml:3:8: study.seed: not a whole number from 0"));
    let wrong = errors(&format!("[study]\nsetup = [\"x\"]\n{TWO}"));
    assert!(wrong.starts_with("a.toml:2:9: [study] has setup but no cleanup"), "{wrong}");
    let wrong = errors(&format!("{TWO}[[variant]]\nname = \"a\"\nneeds = [\"rot\"]\n"));
    assert!(wrong.contains("two variants"), "{wrong}");
    assert!(wrong.contains("root, restart-database, reboot"), "{wrong}");
    let wrong = errors(&TWO.replace("\"workload.update_pct\" = 20", "\"hooks.pre\" = \"rm\""));
    assert!(wrong.contains("its own commands and repeats"), "{wrong}");
}

#[test]
fn study_parameters_fill_plan_and_must_be_plain() {
    let text = format!("[params]\nsize = \"1G\"\nport = 5000\n{TWO}")
        .replace("sqlite:x", "sqlite:${port}${other}${STUDY}");
    let study_file = file(&text, &[("size", "2G")]);
    let study = study_file.study(&METRICS).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(study.params["size"], "2G");
    let text = study_file.source(&study, "/s", nothing()).file.unwrap().text;
    assert!(text.contains("sqlite:5000${other}/s"), "{text}");
    let wrong = file(&text, &[("sie", "2G"), ("size", "a\"b")]).study(&METRICS).unwrap_err().to_string();
    assert!(wrong.contains("did you mean size?"), "{wrong}");
    assert!(wrong.contains("contains quotes"), "{wrong}");
}

#[test]
fn ready_studies_are_read() {
    for ready in READY_STUDIES {
        let study_file = StudyFile { file: ready.file(), name: ready.name.to_owned(), params: Vec::new() };
        let study = study_file.study(&METRICS).unwrap_or_else(|errors| panic!("{}: {errors}", ready.name));
        assert!(study.title != study.name, "{} has no title", ready.name);
        assert!(study.variants.iter().any(|variant| variant.again), "{} has no A/A variant", ready.name);
        for (_, command) in study.commands() {
            let first = command.split_whitespace().next().unwrap_or_default();
            if first.starts_with("study-") {
                assert!(PIECES.iter().any(|(name, _)| *name == first), "{}: {command}", ready.name);
            }
        }
    }
}

proptest! {
    #[test]
    fn study_order_has_each_variant_once_per_repeat(variants in 2usize..9, repeats in 4u32..12, seed: u64, abba: bool) {
        let mut spec = study(TWO);
        spec.variants = vec![spec.variants[0].clone(); variants];
        (spec.repeats, spec.seed) = (repeats, seed);
        spec.order = if abba { StudyOrder::Abba } else { StudyOrder::Random };
        let all = legs(&spec);
        for (block, repeat) in all.chunks(variants).zip(1..) {
            let mut places: Vec<usize> = block.iter().map(|leg| leg.variant).collect();
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..variants) && block.iter().all(|leg| leg.repeat == repeat));
        }
        prop_assert_eq!(all.len(), variants * repeats as usize);
        prop_assert_eq!(legs(&spec), all);
    }

    #[test]
    fn study_reader_never_panics_on_any_text(text in "\\PC{0,200}", name in "[a-z]{1,3}") {
        let _ = file(&text, &[(&name, &text)]).study(&METRICS);
        let params = [(name.clone(), text.clone())].into();
        let _ = expanded(&format!("${{{name}}}${{{text}"), &params, "/s");
    }
}
