//! The full screen at a terminal: shown, answered, and gone before the result is printed.

use crate::common::{TestEnv, low_load_args, wait_until};

const ON: &str = "\u{1b}[?1049h";
const OFF: &str = "\u{1b}[?1049l";

fn load_data() -> (TestEnv, String) {
    let desk = TestEnv::new();
    let target = format!("sqlite:{}", desk.file("b.db").display());
    assert_eq!(desk.dyno(&["load", "--target", &target, "--set", "data.scale=200 blocks"]).code, 0);
    (desk, target)
}

fn args<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--target", target, "--set", "data.scale=200 blocks"], more].concat()
}

#[test]
fn screen_ends_before_result_and_is_absent_with_plain() {
    let (desk, target) = load_data();
    let shown = |more: &[&str]| {
        let output = desk.screen_command(&low_load_args(&args(&target, more))).output().unwrap();
        assert!(output.status.success(), "{output:#?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = shown(&[]);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what:?} in {text:?}"));
    // It may also be among the last messages on the screen.
    assert!(at(ON) < at(OFF), "{text:?}");
    assert!(Some(at(OFF)) < text.rfind("stored as"), "{text:?}");
    assert_eq!((text.matches(ON).count(), text.matches(OFF).count()), (1, 1));
    assert!(at("? help") < at(OFF), "{text:?}");
    let plain = shown(&["--plain"]);
    assert!(!plain.contains(ON), "{plain:?}");
    assert!(plain.contains("stored as"), "{plain:?}");
}

#[test]
fn quit_key_stops_run_and_keeps_measurements() {
    let (desk, target) = load_data();
    let mut at_terminal =
        desk.spawn_on_screen(&args(&target, &["--set", "run.time=1h", "--set", "workload.rate=100/s"]));
    at_terminal.wait_for_text("? help");
    wait_until("a run that goes on", || desk.dyno(&["list", "--json"]).out.contains("\"running\""));
    at_terminal.type_keys("q");
    let (code, text) = at_terminal.wait();
    assert_eq!(code, 130, "{text:?}");
    assert!(text.rfind(OFF) < text.rfind("stored as"), "{text:?}");
    assert!(desk.dyno(&["list", "--json"]).out.contains("\"interrupted\""));
}
