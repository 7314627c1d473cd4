//! Each rule of commands that compare, rank or observe, with its evidence and without it.

use dyno_record::{Gap, LockBlocker, Metric, RunRecord, Spread, Unit, WaitTime, Waits, WatchSummary, Window};

use super::*;
use crate::fixture;

fn again() -> SuiteRerun {
    let options = ["--target", "sqlite:a.db", "--set", "data.scale=2M"].map(str::to_owned).to_vec();
    SuiteRerun { depth: "quick".to_owned(), variant: Some("new".to_owned()), options }
}

const AGAIN: &str = "--variant new --target sqlite:a.db --set data.scale=2M";

/// Asserts that `with` has a step of this rule with this command, and `without` has none.
fn assert_step(rule: &str, command: &str, with: &[NextStep], without: &[NextStep]) {
    let step = with.iter().find(|step| step.rule == rule).unwrap_or_else(|| panic!("{rule}: {with:#?}"));
    assert!(step.sentence.len() > 20, "{step:?}");
    assert!(!step.sentence.contains("  "), "{step:?}");
    assert_eq!(step.command.as_deref().unwrap_or_default(), command, "{rule}");
    assert!(without.iter().all(|step| step.rule != rule), "{rule} without evidence");
}

fn tests(names: &[&str]) -> PlatformTests {
    let tests = names.iter().map(|&name| name.to_owned()).collect();
    PlatformTests { platform: "new".into(), tests, runs: 1, again: again() }
}

#[test]
fn health_rules_need_their_evidence() {
    let missed = MissedExpectation {
        test: "redo".into(),
        expected: "redo >= 100".into(),
        measured: "80 commits/s".into(),
        by_pct: 20.0,
        spread_pct: Some(3.0),
        run: Some("r1".into()),
    };
    let base = HealthEvidence {
        suite: "suite-2".into(),
        new_file: "expect.new.toml".into(),
        again: again(),
        ..HealthEvidence::default()
    };
    let with = |change: &dyn Fn(&mut HealthEvidence)| {
        let mut health = base.clone();
        change(&mut health);
        after_health(&health)
    };
    let without = after_health(&base);
    let worst = with(&|health| health.worst = Some(missed.clone()));
    let noisy = MissedExpectation { spread_pct: Some(30.0), ..missed.clone() };
    let noisy = with(&|health| health.worst = Some(noisy.clone()));
    assert_step("health_worst", "dyno show r1", &worst, &noisy);
    assert_step("health_within_spread", &format!("dyno suite --quick --test redo {AGAIN}"), &noisy, &worst);
    let last =
        with(&|health| (health.worst, health.last_met) = (Some(missed.clone()), Some("suite-1".into())));
    assert_step("health_last_met", "dyno compare suite-1 suite-2", &last, &worst);
    let not_run = with(&|health| health.not_run = vec!["a".into(), "b".into()]);
    assert_step(
        "health_not_run",
        &format!("dyno suite --quick --test a --test b {AGAIN}"),
        &not_run,
        &without,
    );
    let init = "dyno health suite-2 --init --expect expect.new.toml";
    let other = with(&|health| (health.is_other_product, health.unexpected) = (true, vec!["a".into()]));
    assert_step("health_other_product", init, &other, &without);
    let open = with(&|health| health.unexpected = vec!["a".into()]);
    assert_step("health_no_expectation", init, &open, &other);
}

#[test]
fn scorecard_and_price_rules_need_their_evidence() {
    let without = after_scorecard(&ScorecardEvidence::default());
    let not_run = ScorecardEvidence { not_run: Some(tests(&["a"])), ..ScorecardEvidence::default() };
    let quick = format!("dyno suite --quick --test a {AGAIN}");
    assert_step("scorecard_not_run", &quick, &after_scorecard(&not_run), &without);
    let differing = vec![
        ("depth".to_owned(), "full".to_owned(), "quick".to_owned()),
        ("data.scale".to_owned(), "8M".to_owned(), "2M".to_owned()),
    ];
    let settings =
        ScorecardEvidence { settings: Some((tests(&[]), differing)), ..ScorecardEvidence::default() };
    let command = "dyno suite --full --variant new --set data.scale=8M --target sqlite:a.db";
    assert_step("scorecard_settings", command, &after_scorecard(&settings), &without);
    let few = ScorecardEvidence { few: Some(tests(&["a"])), ..ScorecardEvidence::default() };
    let repeated = format!("dyno suite --quick --test a {AGAIN}");
    assert_step("scorecard_few_runs", &repeated, &after_scorecard(&few), &without);
    let unsure = ScorecardEvidence { unsure: Some(tests(&["a"])), ..ScorecardEvidence::default() };
    let full = format!("dyno suite --full --test a {AGAIN}");
    assert_step("scorecard_unsure", &full, &after_scorecard(&unsure), &without);

    let without = after_price(&PriceEvidence::default());
    let names = ["old".to_owned(), "new".to_owned()];
    let undecided = Some(("1 light transaction/s".to_owned(), names, tests(&["a"]), true));
    let price = PriceEvidence { undecided, ..PriceEvidence::default() };
    assert_step("price_undecided", &full, &after_price(&price), &without);
    let price = PriceEvidence { not_run: Some(tests(&["a"])), ..PriceEvidence::default() };
    assert_step("price_not_run", &quick, &after_price(&price), &without);
    let price = PriceEvidence { no_knee: Some(tests(&["a"])), ..PriceEvidence::default() };
    assert_step("price_no_knee", &full, &after_price(&price), &without);
}

#[test]
fn capacity_rules_need_their_evidence() {
    let base = CapacityEvidence { days_min: 7, again: again(), ..CapacityEvidence::default() };
    let with = |change: &dyn Fn(&mut CapacityEvidence)| {
        let mut capacity = base.clone();
        change(&mut capacity);
        after_capacity(&capacity)
    };
    let without = after_capacity(&base);
    let of_test = |test: Option<&str>| MeasuredLimit {
        part: "block reads".into(),
        peak_pct: 70.0,
        test: test.map(str::to_owned),
        sessions: 8,
    };
    let full = format!("dyno suite --full --test a {AGAIN}");
    let soon = |days: f64| with(&|of| of.soonest = Some((of_test(Some("a")), days, "40 days".into())));
    assert_step("capacity_limit_near", &full, &soon(40.0), &soon(400.0));
    let sweep = "dyno sweep --set sweep.sessions=8,16,32 --set sweep.repeats=3 --target sqlite:a.db --set data.scale=2M";
    assert_step("capacity_unsure_limit", sweep, &with(&|of| of.unsure = Some(of_test(None))), &without);
    let differs = with(&|of| (of.differs, of.is_empty) = (Some("4 CPUs, 8 CPUs".into()), true));
    assert_step("capacity_other_platform", "", &differs, &without);
    let watch = with(&|of| (of.short_use, of.watch) = (Some((600.0, 1)), Some((again().options, 1.0))));
    let command = "dyno watch --time 8h --interval 1s --target sqlite:a.db --set data.scale=2M";
    assert_step("capacity_longer_use", command, &watch, &without);
    assert_step("capacity_longer_use", "", &with(&|of| of.short_use = Some((3_600.0, 2))), &without);
    let suite = format!("dyno suite --quick {AGAIN}");
    assert_step("capacity_nothing_compared", &suite, &with(&|of| of.is_empty = true), &differs);
}

#[test]
fn study_rules_need_their_evidence() {
    let base = StudyEvidence { repeats: 4, study: "study-1".into(), ..StudyEvidence::default() };
    let with = |change: &dyn Fn(&mut StudyEvidence)| {
        let mut study = base.clone();
        change(&mut study);
        after_study(&study)
    };
    let without = after_study(&base);
    assert_step("study_resume", "dyno study resume study-1", &with(&|of| of.is_stopped = true), &without);
    assert_step("study_confounded", "", &with(&|of| of.confounded = vec!["v".into()]), &without);
    let setting = ("work_mem".to_owned(), "4MB".to_owned(), "64MB".to_owned());
    let single_setting = with(&|of| {
        (of.best, of.best_setting, of.best_differences) = (Some("v".into()), Some(setting.clone()), 1);
    });
    let several = with(&|of| (of.best, of.best_differences) = (Some("v".into()), 3));
    assert_step("study_confirm", "dyno ab --setting work_mem=4MB,64MB", &single_setting, &several);
    assert_step("study_separate", "", &several, &single_setting);
    let wide = with(&|of| of.wide = Some(("v".into(), 12.0)));
    assert_step("study_repeats", "", &wide, &without);
    assert!(wide[0].sentence.contains("set `repeats = 8`"), "{wide:?}");
    assert_step("study_failed", "", &with(&|of| of.failed = Some(("v".into(), "no mount".into()))), &without);
    let trade = with(&|of| of.trades = vec!["w".into()]);
    let best = with(&|of| (of.trades, of.best) = (vec!["w".into()], Some("v".into())));
    assert_step("study_trade", "", &trade, &best);
}

fn watch() -> RunRecord {
    let mut record = fixture::postgres();
    record.options = again().options;
    record.window = Some(Window { seconds: 3_600.0, ..Window::default() });
    record.series.interval_s = 1.0;
    record.waits = Waits::Absent { absent: "without".into() };
    record.watched = Some(WatchSummary { known_s: 3_600.0, ..WatchSummary::default() });
    record
}

fn waiting(record: &mut RunRecord, class: &str, event: &str) {
    record.waits = Waits::Sampled {
        samples: 100,
        asked_per_s: 1.0,
        average_active_sessions: 2.0,
        events: vec![WaitTime {
            class: class.into(),
            event: event.into(),
            average_sessions: 1.6,
            share_pct: 80.0,
        }],
        company: Default::default(),
    };
}

#[test]
fn watch_rules_need_their_evidence() {
    let with = |change: &dyn Fn(&mut RunRecord)| {
        let mut record = watch();
        change(&mut record);
        after_watch(&record)
    };
    let without = after_watch(&watch());
    let target = "--target sqlite:a.db --set data.scale=2M";
    let short = with(&|record| record.watched.as_mut().unwrap().known_s = 60.0);
    assert_step("watch_short", &format!("dyno watch --time 2h --interval 1s {target}"), &short, &without);
    let gaps = with(&|record| {
        let watched = record.watched.as_mut().unwrap();
        watched.known_s = 1_800.0;
        watched.gaps = vec![Gap { why: "the server was restarted".into(), ..Gap::default() }];
    });
    assert_step("watch_gaps", "", &gaps, &without);
    let blocked = with(&|record| {
        let blocker = LockBlocker { session: "4711".into(), readings: 2, ..LockBlocker::default() };
        record.watched.as_mut().unwrap().blockers = vec![blocker];
    });
    let moments = with(&|record| {
        record.series.interval_s = 1.0;
        let blocker = LockBlocker {
            session: "4711".into(),
            readings: 3,
            from_s: 2.0,
            until_s: 14.0,
            ..LockBlocker::default()
        };
        record.watched.as_mut().unwrap().blockers = vec![blocker];
    });
    assert_step("watch_blocker", "", &blocked, &moments);
    let device = with(&|record| waiting(record, "IO", "DataFileRead"));
    assert_step("watch_dominant_wait", &format!("dyno suite --group storage {target}"), &device, &without);
    let log = with(&|record| waiting(record, "IO", "WALSync"));
    let commits = format!("dyno suite --test storage-redo-commit --test storage-redo-group {target}");
    assert_step("watch_dominant_wait", &commits, &log, &without);
    let locks = with(&|record| waiting(record, "Lock", "transactionid"));
    let more_often = format!("dyno watch --time 10m --interval 200ms {target}");
    assert_step("watch_unseen_locks", &more_often, &locks, &blocked);
    let busy = with(&|record| {
        record.metrics.insert("cpu_busy_pct".into(), Metric::Value { value: 70.0, unit: Unit::Percent });
        let spread = Spread { busiest_minute: Some(93.0), ..Spread::default() };
        record.watched.as_mut().unwrap().spreads.insert("cpu_busy_pct".into(), spread);
    });
    let command = format!("dyno suite --group cpu --group server {target}");
    assert_step("watch_busy_processors", &command, &busy, &without);
    assert_eq!(after_watch(&fixture::postgres()), [], "a run is no watch");
}

#[test]
fn suites_that_rules_name_exist_in_the_catalog() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/suite");
    let pages: String = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path().join("tests.toml")).unwrap())
        .collect();
    for command in watch::SUITES {
        let words: Vec<&str> = command.split(' ').skip(2).collect();
        for option in words.chunks(2) {
            let [name, value] = option else { panic!("{command}") };
            let defined = match *name {
                "--group" => format!("group = \"{value}\""),
                _ => format!("[test.{value}]"),
            };
            assert!(pages.contains(&defined), "{defined} of `{command}`");
        }
    }
}
