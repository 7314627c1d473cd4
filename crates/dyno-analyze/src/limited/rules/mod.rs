//! The rules that determine what limits a run, in the order in which they apply.

mod caveats;
mod exhausted;
mod pacing;
mod remaining;
mod time;

use dyno_record::RunRecord;

use super::evidence::BottleneckInputs;
use super::finding::BottleneckFinding;
use super::{Bottleneck, Component, Confidence, words};

/// A rule: what limits, if it holds.
type BottleneckRule = fn(&BottleneckInputs<'_>) -> Option<BottleneckFinding>;

/// The rules; the first that holds names the limit.
const RULES: [BottleneckRule; 11] = [
    pacing::pacing,
    exhausted::quota,
    exhausted::client,
    exhausted::processors,
    time::mostly_one,
    time::log,
    time::several,
    time::locks_inside,
    remaining::one_writer,
    remaining::round_trips,
    remaining::few_sessions,
];

/// What limited the run of `record`.
pub fn limited(record: &RunRecord) -> Bottleneck {
    let Some(inputs) = BottleneckInputs::of(record) else {
        return unknown(words::nothing_measured(), Vec::new());
    };
    let named = RULES.iter().find_map(|rule| rule(&inputs));
    let evidence = inputs.evidence();
    let overdue = caveats::overdue(record);
    let Some(BottleneckFinding {
        component: by,
        label: what,
        used_pct,
        sure,
        is_exclusive,
        sentence,
        mut spoiled,
    }) = named
    else {
        let asked_per_s = record.asked_per_s().filter(|_| overdue.is_some());
        let spoiled = overdue.map(|overdue| overdue.words()).into_iter().collect();
        return Bottleneck { asked_per_s, spoiled, ..unknown(words::unknown(&inputs), evidence) };
    };
    spoiled.extend(caveats::collect(&inputs, by, is_exclusive));
    // The requested rate is known regardless of background activity.
    let doubted = !spoiled.is_empty() && !matches!(by, Component::Rate | Component::ThinkTime);
    // Work from a backlog is not part of the requested rate.
    let asked_per_s = record.asked_per_s().filter(|_| by == Component::Rate || overdue.is_some());
    spoiled.extend(overdue.as_ref().map(|overdue| overdue.words()));
    spoiled.extend(caveats::outage_words(record));
    let is_sure = sure && !doubted && overdue.is_none() && record.outages.is_empty();
    let confidence = if is_sure { Confidence::Sure } else { Confidence::Likely };
    Bottleneck { by, what, confidence, sentence, used_pct, evidence, asked_per_s, spoiled }
}

fn unknown(sentence: String, evidence: Vec<super::BottleneckEvidence>) -> Bottleneck {
    Bottleneck {
        by: Component::Unknown,
        what: Component::Unknown.word().to_owned(),
        confidence: Confidence::Unknown,
        sentence,
        used_pct: None,
        evidence,
        asked_per_s: None,
        spoiled: Vec::new(),
    }
}
