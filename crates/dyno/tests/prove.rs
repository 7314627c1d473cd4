//! The proofs, as a user runs them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::Desk;

#[test]
fn the_window_is_proved_without_a_database() {
    let desk = Desk::new();
    let (code, proof) = desk.json(&["prove", "window"]);
    assert_eq!((code, &proof["proved"]), (0, &true.into()), "{proof:#}");
    let figures = proof["figures"].as_array().unwrap();
    assert!(figures.len() > 100, "{}", figures.len());
    let of = |scene: &str, figure: &str| {
        let found = figures.iter().find(|f| f["scene"] == scene && f["figure"] == figure);
        found.unwrap_or_else(|| panic!("no figure {figure} in {scene}"))["recorded"].as_f64().unwrap()
    };
    // 10 µs each but for stalls of a second: response times show them and service times do not.
    let scene = "open loop with stalls";
    assert!(of(scene, "service time, p99") < 11.0);
    assert!(of(scene, "response time, p99") > 900_000.0);
    let said = desk.dyno(&["prove", "window"]);
    assert!(said.out.contains("proved: ") && said.out.lines().all(|l| l.chars().count() <= 100), "{said:#?}");
}
