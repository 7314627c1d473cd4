//! Tests of misplaced passwords and of broken or hostile texts: errors are short, harmless and have the right place.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::error::ERRORS_MAX;

#[test]
fn password_is_never_echoed_in_plan_errors() {
    for url in [
        "postgres://u:hunter2@h/db",
        "postgres:u:hunter2@h/db",
        "postgres://u:hunter2",
        "postgres://h/db?password=hunter2",
        "u:hunter2@h/db",
        "hunter2",
        "postgres://u@h:hunter2/db",
    ] {
        for source in [
            source("", &[], Some(url)),
            source(&format!("[target]\nurl = \"{url}\"\n"), &[], None),
            source(&format!("[target]\nurl = {url}\n"), &[], None),
            source(&format!("[target]\nurl = \"{url}\n"), &[], None),
            source(&format!("url = \"{url}\"\n"), &[], None),
            source(&format!("[target]\n\"{url}\" = 1\n"), &[], None),
            source("", &[&format!("target.url={url}")], None),
            source("", &[&format!("{url}=1")], None),
            source(&format!("{URL}password = \"{url}\"\n"), &[], None),
            source(&format!("{URL}password_env = \"{url}!\"\n"), &[], None),
            source(&format!("{URL}password_file = \"{url}\\u0000\"\n"), &[], None),
        ] {
            let errors = read(&source).unwrap_err();
            let all = format!("{errors}{errors:?}{}", serde_json::to_string(&errors).unwrap());
            // A bare word that looks like a key's name is shown: the user must find and correct it.
            let as_name = url == "hunter2" && all.contains("unknown key");
            assert!(as_name || !all.contains("hunter2"), "{all}");
        }
    }
    assert_error(
        "password = \"x\"\n",
        &[],
        "dyno.toml:3:1: target.password",
        &["a plan cannot contain a \
                                                                                 password"],
    );
    assert_error(
        "",
        &["target.password=x"],
        "--set target.password: ",
        &["a plan cannot contain a password"],
    );
}

#[test]
fn broken_toml_is_located_and_the_rest_is_read() {
    let errors = errors("[data]\nscale = 80M\nschemas = 0\n[run]\ntime = \"5s\"\ntime = \"6s\"\n", &[]);
    assert_eq!(errors.len(), 3, "{errors:#?}");
    assert!(errors[0].starts_with("dyno.toml:4:9: not valid TOML: "), "{errors:#?}");
    assert!(errors[0].ends_with("; write texts, sizes, durations and rates in \"quotes\""), "{errors:#?}");
    assert!(errors[1].starts_with("dyno.toml:5:11: data.schemas = 0"), "{errors:#?}");
    assert!(errors[2].starts_with("dyno.toml:8:1: not valid TOML: duplicate key"), "{errors:#?}");
}

#[test]
fn a_broken_header_does_not_blame_the_keys_below() {
    let errors = errors("[data]\nscale = \"x\"\n[run\ntime = \"5s\"\nwarmup = \"5s\"\n", &[]);
    assert_eq!(errors.len(), 2, "{errors:#?}");
    assert!(errors[0].starts_with("dyno.toml:4:9: data.scale"), "{errors:#?}");
    assert!(errors[1].starts_with("dyno.toml:5:5: not valid TOML: unclosed table"), "{errors:#?}");
}

#[test]
fn error_locations_ignore_bom_crlf_and_wide_characters() {
    let text =
        "\u{feff}[target]\r\nurl = \"sqlite:x\"\r\n\r\n[data]\r\nseed = 1 # größe\r\nscale = \"größe\"\r\n";
    let error = read(&source(text, &[], None)).unwrap_err().to_string();
    assert!(error.starts_with("dyno.toml:6:9: data.scale = \"größe\""), "{error}");
    let error =
        read(&source("target = { \"größe\" = 1, url = \"sqlite:x\" }", &[], None)).unwrap_err().to_string();
    assert!(error.starts_with("dyno.toml:1:12: unknown key"), "{error}");
}

#[test]
fn hostile_plan_files_are_refused() {
    let deep = 100_000;
    for text in [
        "#".repeat(FILE_BYTES_MAX + 1),
        format!("x = {}", "[".repeat(deep)),
        format!("x = {}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("x = {}", "{a=".repeat(deep)),
        format!("[{}a]", "a.".repeat(deep)),
        format!("{}a = 1", "a.".repeat(deep)),
        format!("data.scale = \"{}\"", "x".repeat(deep)),
        format!("data.{} = 1", "x".repeat(deep)),
        format!("data.seed = {}", "9".repeat(deep)),
        "\0\u{1b}[31m".repeat(deep),
        "a = 1\n".repeat(deep),
    ] {
        let errors = read(&source(&text, &[], None)).unwrap_err();
        let shown = errors.to_string();
        assert!(shown.lines().all(|line| line.chars().count() < 400), "{:.1000}", shown);
        assert!(shown.lines().count() <= ERRORS_MAX + 1);
        assert!(!shown.contains('\u{1b}'));
    }
    let many: String = (0..5_000).map(|i| format!("[s{i}]\n")).collect();
    let errors = read(&source(&many, &[], None)).unwrap_err();
    assert_eq!((errors.errors.len(), errors.more), (ERRORS_MAX, 5_001 - ERRORS_MAX));
    assert!(errors.to_string().ends_with("… and 4901 more errors"));
}

#[test]
fn unreadable_plan_file_error_states_reason() {
    let folder = std::env::temp_dir().join(format!("dyno-plan-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("dyno.toml");
    let error = |path: &Path| PlanFile::open(path).unwrap_err().to_string();
    assert!(error(&path).contains("dyno.toml: the plan file cannot be read"), "{}", error(&path));
    assert!(error(&path).ends_with("write one with `dyno init`, or give another file with --plan FILE"));
    assert!(error(&folder).contains("the plan file cannot be read"));
    std::fs::write(&path, b"# one\n# t\xffo\n").unwrap();
    assert!(
        error(&path).ends_with("dyno.toml:2: the text is not UTF-8; save the file in UTF-8"),
        "{}",
        error(&path)
    );
    std::fs::write(&path, vec![b'#'; FILE_BYTES_MAX + 1]).unwrap();
    assert!(error(&path).contains("larger than 1 MiB"));
    std::fs::write(&path, URL).unwrap();
    let file = PlanFile::open(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(read(&PlanSource { file: Some(file), ..nothing() }).is_ok());
}

proptest! {
    #[test]
    fn unit_parsers_never_panic_on_any_text(text in ".*", set in ".*", toml in "([a-z\\[\\]{}=.\"'# \n0-9]|data|run|\\[run\\]\n|time = )*") {
        let _ = read(&source(&text, &[&set], Some(&text)));
        let _ = read(&source(&toml, &[&format!("{set}=1")], None));
    }
}
