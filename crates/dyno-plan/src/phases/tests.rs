use super::csv::rows;
use super::*;
use crate::read::PlanFile;
use proptest::prelude::*;

fn phase(text: &str) -> RatePhase {
    text.parse().unwrap_or_else(|wrong| panic!("{text}: {wrong}"))
}

#[test]
fn rate_phases_parse_and_print_consistently() {
    for (text, shown, time) in [
        ("hold 1000/s 60s", "hold 1000/s 1m", "1m"),
        ("ramp 0..1000/s 30s", "ramp 0/s..1000/s 30s", "30s"),
        ("ramp 1000/s..0.5/s 30s", "ramp 1000/s..0.5/s 30s", "30s"),
        ("steps 200/s..1000/s by 200/s each 10s", "steps 200/s..1000/s by 200/s each 10s", "50s"),
        ("steps 3..1/s by 1/s each 1s", "steps 3/s..1/s by 1/s each 1s", "3s"),
        ("sine 200/s..1000/s period 20s for 60s", "sine 200/s..1000/s period 20s for 1m", "1m"),
        ("csv a b.csv: 0s 0/s 1500ms 7/s", "csv a b.csv: 0s 0/s 1500ms 7/s", "1500ms"),
    ] {
        let read = phase(text);
        assert_eq!(read.to_string(), shown);
        assert_eq!(phase(shown), read);
        assert_eq!(read.time().unwrap().to_string(), time);
    }
    assert_eq!(phase("csv load.csv").time(), None, "it was not read yet");
    let curve = RateCurve::of(&[phase("steps 3..1/s by 1/s each 1s"), phase("csv x: 0s 1/s 2s 1/s")], 0.0);
    let names: Vec<_> =
        curve.stages().iter().map(|stage| (stage.name.as_str(), stage.begin_s, stage.end_s)).collect();
    assert_eq!(
        names,
        [
            ("hold 3/s 1s", 0.0, 1.0),
            ("hold 2/s 1s", 1.0, 2.0),
            ("hold 1/s 1s", 2.0, 3.0),
            ("csv x", 3.0, 5.0)
        ]
    );
}

#[test]
fn invalid_phase_error_states_the_reason() {
    for (text, says) in [
        ("", "no phase"),
        ("hold 1000 60s", "\"1000\" is not a rate"),
        ("hold 1000/s 60", "\"60\" is not a duration"),
        ("hold 1000/s 0s", "its length is zero"),
        ("hold 1000/s", "the form is \"hold 1000/s 60s\""),
        ("hold 200000000/s 1s", "more than"),
        ("rump 0..1/s 1s", "did you mean ramp?"),
        ("wave", "unknown phase"),
        ("ramp 5/s 1s", "not a range of rates"),
        ("steps 1..10/s by 2/s each 1s", "do not lead from 1/s to 10/s"),
        ("steps 1..10/s by 0/s each 1s", "do not change the rate"),
        ("steps 1..100000/s by 1/s each 1s", "more than 1000 steps"),
        ("sine 9..1/s period 1s for 2s", "swap"),
        ("csv", "not the name of a file"),
        ("csv x: 1s 1/s 2s 1/s", "not at time 0"),
        ("csv x: 0s 1/s 2s", "a time without a rate"),
    ] {
        let wrong = text.parse::<RatePhase>().unwrap_err();
        assert!(wrong.contains(says), "{text}: {wrong}");
    }
}

#[test]
fn schedule_csv_is_read_and_errors_have_positions() {
    let read = |text: &str| rows(&PlanFile { name: "load.csv".into(), text: text.into() });
    let whole = read("\u{feff}time,rate\r\n# by night\n0,100\n 1m , 500/s\n90,0\n").unwrap();
    let phase = RatePhase::Csv { file: "load.csv".into(), rows: Some(whole) };
    assert_eq!(phase.to_string(), "csv load.csv: 0s 100/s 1m 500/s 90s 0/s");
    for (text, says) in [
        ("0,100\n5 100\n", "load.csv:2:1: 5 100: a row without a comma"),
        ("0,100\n5, fast\n", "load.csv:2:4: fast: not a rate"),
        ("0,100\nsoon,1\n", "load.csv:2:1: soon: not a time"),
        ("1,100\n", "load.csv:1:1: 1: the first row is not at time 0"),
        ("0,1\n9,1\n 8,1\n", "load.csv:3:2: 8: the time is before that of the row above, 9s"),
        ("0,1\n0,5\n", "load.csv:2:4: there is no row after time 0"),
        ("", "load.csv:1:1: there is no row"),
        ("0,-1\n1,1", "load.csv:1:3: -1: not a rate"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(says), "{text:?}: {error}");
        assert!(error.contains("each line is TIME,RATE"), "{text:?}: {error}");
    }
}

/// Any phase that lasts a few seconds.
fn any_phase() -> impl Strategy<Value = String> {
    let rate = || 0u32..500;
    prop_oneof![
        (rate(), 1u32..5_000).prop_map(|(rate, ms)| format!("hold {rate}/s {ms}ms")),
        (rate(), rate(), 1u32..5_000).prop_map(|(from, to, ms)| format!("ramp {from}..{to}/s {ms}ms")),
        (rate(), 1u32..500, 1u32..3_000, 1u32..5_000)
            .prop_map(|(low, more, p, ms)| format!("sine {low}..{}/s period {p}ms for {ms}ms", low + more)),
        (rate(), rate(), rate(), 1u32..900)
            .prop_map(|(a, b, c, ms)| format!("csv x: 0s {a}/s {ms}ms {b}/s {ms}ms {c}/s 1s {a}/s")),
    ]
}

proptest! {
    #[test]
    fn rate_curve_due_count_matches_integral_of_rate(texts in prop::collection::vec(any_phase(), 1..5), lead in 0.0f64..2.0) {
        let phases: Vec<_> = texts.iter().map(|text| phase(text)).collect();
        let curve = RateCurve::of(&phases, lead);
        let total = lead + total(&phases).unwrap().0.as_secs_f64();
        let (mut hint, mut due) = (0, Vec::new());
        loop {
            let s = curve.when(due.len() as f64, &mut hint);
            if s >= total { break }
            due.push(s);
        }
        prop_assert!(due.is_sorted());
        // Moments over the whole schedule, including the ends of stages.
        let ends = curve.stages().iter().map(|stage| lead + stage.end_s);
        for s in ends.chain((0..=50).map(|part| total * f64::from(part) / 50.0)) {
            let came = due.iter().filter(|moment| **moment < s).count() as f64;
            prop_assert!((came - curve.arrivals(s)).abs() <= 1.0 + 1e-6, "{came} by {s} s, {} asked", curve.arrivals(s));
        }
        for (number, moment) in due.iter().enumerate() {
            let off = curve.arrivals(*moment) - number as f64;
            prop_assert!(off.abs() < 1e-5, "arrival {number} at {moment}: {off}");
        }
    }

    #[test]
    fn arrivals_equal_the_area_under_the_rate_curve(text in any_phase()) {
        let curve = RateCurve::of(&[phase(&text)], 0.0);
        let end = curve.stages()[0].end_s;
        let slices = 20_000;
        let width = end / f64::from(slices);
        let area: f64 = (0..slices).map(|slice| curve.rate((f64::from(slice) + 0.5) * width) * width).sum();
        prop_assert!((area - curve.arrivals(end)).abs() < 0.1 + area * 1e-3, "{area}, {}", curve.arrivals(end));
    }

    #[test]
    fn rate_phase_parser_never_panics_and_round_trips(text in "(hold|ramp|steps|sine|csv)? ?[0-9a-z:/. ]{0,40}") {
        if let Ok(read) = text.parse::<RatePhase>() {
            prop_assert_eq!(&read.to_string().parse::<RatePhase>().unwrap(), &read);
            if read.time().is_some() { RateCurve::of(&[read], 1.0).when(3.0, &mut 0); }
        }
    }
}
