//! Keys that change nothing in a plan, so that a comparison of their values could only find noise.

use crate::plan::{KeyDistribution, Plan};

/// Why the key `path` has no effect in `plan`, in words; `None` if it has one, or if that is not known: what statements
/// of custom workloads do is not in a plan.
pub fn without_effect(plan: &Plan, path: &str) -> Option<String> {
    let workload = &plan.workload;
    if workload.folder.is_some() || !workload.beside.is_empty() {
        return None;
    }
    let writes = workload.update_pct > 0 || workload.churn_pct() > 0;
    let (is_idle, why) = match path {
        "workload.commit" => (!writes, "the plan changes no rows (workload.update_pct = 0)"),
        "workload.redo" => (workload.update_pct == 0, "the plan updates no rows (workload.update_pct = 0)"),
        "workload.zipf_exponent" => (
            workload.keys == KeyDistribution::Uniform,
            "keys are drawn uniformly (workload.keys = \"uniform\")",
        ),
        "workload.hot_spot_offset" | "workload.hot_spot_size" => {
            (workload.hot_spot_every == 0, "the plan has no hot spot (workload.hot_spot_every = 0)")
        }
        "workload.hot_schema_every" => (plan.data.schemas == 1, "the plan has one schema (data.schemas = 1)"),
        "workload.think_min" | "workload.think_max" | "workload.think_compensated" => {
            (workload.think_every == 0, "the plan has no think time (workload.think_every = 0)")
        }
        "workload.arrivals" => (!plan.has_rate(), "the plan requests no rate (workload.rate)"),
        _ => (false, ""),
    };
    is_idle.then(|| format!("{path} has no effect: {why}"))
}

/// Why none of the keys `paths` has an effect in any of `plans`; `None` if one of them has, or if there are no keys.
pub fn all_without_effect(plans: &[&Plan], paths: &[&str]) -> Option<String> {
    let idle = |path: &&str| {
        let mut reasons = plans.iter().map(|plan| without_effect(plan, path));
        let first = reasons.next()??;
        reasons.all(|reason| reason.is_some()).then_some(first)
    };
    let reasons: Vec<String> = paths.iter().map(idle).collect::<Option<_>>()?;
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::nothing;
    use crate::read::{PlanSource, read};

    fn plan(sets: &[&str]) -> Plan {
        let sets = sets.iter().map(|set| (*set).to_owned()).collect();
        read(&PlanSource { target: Some("sqlite:dyno.db".into()), sets, ..nothing() }).unwrap()
    }

    #[test]
    fn commit_has_no_effect_in_a_plan_that_only_reads() {
        let reads = plan(&["workload.update_pct=0"]);
        assert!(without_effect(&reads, "workload.commit").is_some_and(|why| why.contains("update_pct = 0")));
        assert_eq!(without_effect(&reads, "workload.update_pct"), None);
        let writes = plan(&["workload.update_pct=20"]);
        assert_eq!(without_effect(&writes, "workload.commit"), None);
        assert_eq!(all_without_effect(&[&reads, &writes], &["workload.commit"]), None);
        assert!(all_without_effect(&[&reads, &reads], &["workload.commit", "workload.redo"]).is_some());
        assert_eq!(all_without_effect(&[&reads, &reads], &["workload.commit", "workload.work_unit"]), None);
        assert_eq!(all_without_effect(&[&reads], &[]), None);
        let mut custom = reads;
        custom.workload.folder = Some("bank".into());
        assert_eq!(without_effect(&custom, "workload.commit"), None, "its statements are not known");
    }

    #[test]
    fn every_key_without_effect_exists() {
        let reads = plan(&["workload.update_pct=0"]);
        let idle = crate::keys::all().filter(|key| without_effect(&reads, key.path).is_some());
        assert_eq!(idle.count(), 10);
    }
}
