//! Tests of grids, orders and saturation, by example and by property.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::engine::fixture::{ENGINES, nothing};
use crate::plan::{Plan, SweepPointOrder, Until};
use crate::read::{PlanFile, PlanSource, read};

fn sweep(axes: &str) -> Plan {
    let text = format!("[target]\nurl = \"sqlite:x.db\"\n[sweep]\n{axes}\n");
    let file = PlanFile { name: "dyno.toml".into(), text };
    read(&PlanSource { file: Some(file), ..nothing() }).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Runs a schedule to its end; `throughput` returns the result of a step.
fn play(plan: &Plan, throughput: impl Fn(&SweepGridPoint) -> Option<f64>) -> Vec<SweepStep> {
    let points = points(plan, ENGINES).unwrap();
    let schedule = SweepSchedule::new(&plan.sweep, &points);
    let (mut done, mut order) = (SweepStepResults::new(), Vec::new());
    while let Some(step) = schedule.next(&done) {
        done.insert(step, throughput(&points[step.point as usize - 1]));
        order.push(step);
    }
    order
}

#[test]
fn sweep_varies_sessions_fastest_and_data_slowest() {
    let plan = sweep("sessions = [4, 1]\nupdate_pct = [0, 20]\nblock_size = [\"4K\", 8192]");
    let points = points(&plan, ENGINES).unwrap();
    let settings: Vec<String> = points
        .iter()
        .map(|p| p.settings.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        settings,
        ["4K 0 1", "4K 0 4", "4K 20 1", "4K 20 4", "8K 0 1", "8K 0 4", "8K 20 1", "8K 20 4"]
    );
    assert_eq!(points[3].plan.sessions(), 4);
    assert_eq!(points[3].plan.workload.update_pct, 20);
    assert_eq!(points[3].plan.sweep, Default::default(), "a point's plan is one run's");
    assert_eq!(points.iter().map(|p| p.layout).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(
        points.iter().map(|p| (p.ramp, p.rank)).collect::<Vec<_>>()[..4],
        [(0, 0), (0, 1), (1, 0), (1, 1)]
    );
}

#[test]
fn swept_sessions_are_divided_among_schemas() {
    let plan = sweep("sessions = [4, 8]\n\"data.schemas\" = [1, 4]");
    let per_schema: Vec<_> =
        points(&plan, ENGINES).unwrap().iter().map(|p| p.plan.run.sessions_per_schema).collect();
    assert_eq!(per_schema, [4, 8, 1, 2]);
}

#[test]
fn axis_of_operations_removes_the_time_limit() {
    let plan = sweep("ops_per_session = [10, 20]");
    assert!(points(&plan, ENGINES).unwrap().iter().all(|p| p.plan.run.time.is_none()));
}

#[test]
fn sweep_orders_up_and_up_down_are_followed() {
    let order = |text: &str| play(&sweep(text), |_| Some(1.0)).iter().map(|s| s.point).collect::<Vec<_>>();
    assert_eq!(order("sessions = [1, 2, 3]\nrepeats = 2\norder = \"up\""), [1, 2, 3, 1, 2, 3]);
    assert_eq!(order("sessions = [1, 2, 3]\nrepeats = 2\norder = \"up-down\""), [1, 2, 3, 3, 2, 1]);
    let random = "sessions = [1, 2, 3, 4, 5, 6, 7, 8]\nrepeats = 2";
    assert_ne!(order(random)[..8], order(random)[8..], "each repeat has a different order");
    assert_eq!(order(random), order(random), "equal seeds give equal orders");
    assert_ne!(order(random), order(&format!("{random}\nseed = 2")));
}

#[test]
fn ramp_stops_two_steps_after_throughput_stops_rising() {
    assert_eq!(saturated_at(&[100.0, 200.0, 300.0]), None);
    assert_eq!(saturated_at(&[100.0, 200.0, 201.0]), None, "one flat step may be chance");
    assert_eq!(saturated_at(&[100.0, 200.0, 201.0, 150.0]), Some(3));
    assert_eq!(saturated_at(&[100.0, 200.0, 190.0, 300.0, 290.0, 280.0, 400.0]), Some(5));
    assert_eq!(saturated_at(&[100.0, 101.5, 103.0, 104.5]), None, "little rises that add up are a rise");
    assert_eq!(saturated_at(&[]), None);
}

#[test]
fn saturation_keeps_two_steps_beyond_knee_in_every_repeat() {
    for order in ["random", "up", "up-down"] {
        let plan = sweep(&format!(
            "sessions = [1, 2, 4, 8, 16, 32, 64]\nupdate_pct = [0, 50]\nrepeats = 3\nuntil = \"saturation\"\norder = \"{order}\""
        ));
        // Reads scale to 4 sessions, updates to 16.
        let steps = play(&plan, |p| {
            let knee = if p.plan.workload.update_pct == 0 { 4 } else { 16 };
            Some(f64::from(p.plan.sessions().min(knee)))
        });
        let points = points(&plan, ENGINES).unwrap();
        for (update_pct, last) in [(0, 16), (50, 64)] {
            for repeat in 1..=3 {
                let run: BTreeSet<u32> = steps
                    .iter()
                    .filter(|s| s.repeat == repeat)
                    .map(|s| &points[s.point as usize - 1].plan)
                    .filter(|p| p.workload.update_pct == update_pct)
                    .map(Plan::sessions)
                    .collect();
                assert_eq!(run.last(), Some(&last), "{order} {update_pct} {repeat}");
                assert_eq!(run.len() as u32, last.trailing_zeros() + 1, "{order}: none is left out before");
            }
        }
    }
}

prop_compose! {
    fn any_sweep()(
        sessions in proptest::collection::btree_set(1u32..500, 1..6),
        updates in proptest::collection::btree_set(0u32..=100, 1..4),
        blocks in proptest::sample::subsequence(vec!["4K", "8K", "16K"], 1..=3),
        repeats in 2u32..5,
        seed: u64,
        order in "random|up|up-down",
        until in "end|saturation",
    ) -> Plan {
        let list = |values: Vec<String>| format!("[{}]", values.join(", "));
        sweep(&format!(
            "sessions = {}\nupdate_pct = {}\nblock_size = {}\nrepeats = {repeats}\nseed = \"{seed}\"\norder = \"{order}\"\nuntil = \"{until}\"",
            list(sessions.iter().map(u32::to_string).collect()),
            list(updates.iter().map(u32::to_string).collect()),
            list(blocks.iter().map(|b| format!("\"{b}\"")).collect()),
        ))
    }
}

proptest! {
    #[test]
    fn sweep_runs_each_step_once_and_loads_each_layout_once(plan in any_sweep()) {
        let points = points(&plan, ENGINES).unwrap();
        // Without results saturation is unknown, so nothing is skipped.
        let order = play(&plan, |_| None);
        prop_assert_eq!(order.len(), points.len() * plan.sweep.repeats as usize);
        prop_assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), order.len());
        let mut layouts: Vec<u32> = order.iter().map(|s| points[s.point as usize - 1].layout).collect();
        layouts.dedup();
        prop_assert_eq!(layouts.iter().collect::<BTreeSet<_>>().len(), layouts.len());
    }

    #[test]
    fn points_of_one_layout_differ_by_at_most_one_repeat(plan in any_sweep()) {
        let points = points(&plan, ENGINES).unwrap();
        let order = play(&plan, |_| None);
        for pair in order.windows(2) {
            let same = points[pair[0].point as usize - 1].layout == points[pair[1].point as usize - 1].layout;
            prop_assert!(!same || pair[1].repeat >= pair[0].repeat);
        }
    }

    #[test]
    fn sweep_schedule_resumes_where_it_stopped(plan in any_sweep(), cut in 0usize..60, peak in 1u32..500) {
        let measure = |p: &SweepGridPoint| Some(f64::from(p.plan.sessions().min(peak)));
        let whole = play(&plan, measure);
        let points = points(&plan, ENGINES).unwrap();
        let schedule = SweepSchedule::new(&plan.sweep, &points);
        let mut results: SweepStepResults =
            whole.iter().take(cut).map(|s| (*s, measure(&points[s.point as usize - 1]))).collect();
        let mut rest = Vec::new();
        while let Some(step) = schedule.next(&results) {
            results.insert(step, measure(&points[step.point as usize - 1]));
            rest.push(step);
        }
        prop_assert_eq!(&whole[cut.min(whole.len())..], rest.as_slice());
        if plan.sweep.until == Until::End {
            prop_assert_eq!(whole.len(), schedule.steps().len());
        }
        if plan.sweep.order == SweepPointOrder::Up {
            prop_assert!(whole.windows(2).all(|p| p[0].repeat != p[1].repeat || p[0].point < p[1].point || points[p[0].point as usize - 1].layout != points[p[1].point as usize - 1].layout));
        }
    }
}
