//! Properties of the page: no external resources, user text only as text, and the order of sections.

use dyno_analyze::{fixture, judge};
use dyno_record::{
    Attribution, AttributionScope, AuditCheck, CheckStatus, Metric, PartOf, RunRecord, Status, SweepKind,
    Unit,
};

use super::*;
use crate::render::embedded;

fn sweep(points: u32) -> Vec<RunRecord> {
    let record = |i: u32| {
        let mut record = fixture::postgres();
        record.id = format!("20260101-0000{i:02}-{i:04x}");
        record.plan.run.sessions_per_schema = i + 1;
        judge(&mut record);
        record.status = Status::Valid;
        record
    };
    (0..points).map(record).collect()
}

fn page(records: &[RunRecord]) -> String {
    let mut page = Vec::new();
    html(&Report::of(records), "2026-01-01T00:00:00Z", &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

#[test]
fn report_page_loads_no_external_resources() {
    let page = page(&sweep(7));
    let without_namespaces = page.replace("http://www.w3.org/2000/svg", "");
    let (before, rest) = without_namespaces.split_once(embedded::OPEN).unwrap();
    let (_, after) = rest.split_once(embedded::CLOSE).unwrap();
    for text in [before, after] {
        for word in
            ["http://", "https://", "src=", "@import", "url(h", "<link", "<iframe", "fetch(", "XMLHttp"]
        {
            assert!(!text.contains(word), "{word}");
        }
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn report_sections_follow_reading_order() {
    let page = page(&sweep(7));
    let names =
        ["answer", "charts", "results", "audit", "closely", "differed", "runs", "platform", "settings"];
    let places = names.map(|name| {
        page.find(&format!("<section id=\"{name}\"")).unwrap_or_else(|| panic!("no section {name}"))
    });
    assert!(places.is_sorted(), "{places:?}");
    // Plan, settings and facts of the host stand last, also on paper.
    let (before, last) = page.split_at(places[names.len() - 1]);
    assert!(!last.contains("<section ") || last.matches("<section ").count() == 1, "{last}");
    assert!(last.contains("Facts of the host"));
    assert!(!before.contains("Facts of the host"));
    assert!(page.matches("<svg").count() >= 6, "{} charts", page.matches("<svg").count());
}

#[test]
fn html_page_ids_are_unique() {
    let page = page(&sweep(7));
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(count > 20, "{count} names, {} different", ids.len());
    assert!(ids.len() == count, "{count} names, {} different", ids.len());
}

#[test]
fn report_page_returns_its_embedded_records() {
    let records = sweep(7);
    assert_eq!(embedded::records(&page(&records)).unwrap(), records);
}

#[test]
fn invalid_run_is_listed_with_reason_but_no_values() {
    let mut records = sweep(3);
    records[1].status = Status::Invalid;
    records[1].reasons = vec!["the audit found a ghost".into()];
    let report = Report::of(&records);
    assert_eq!(report.points.points.len(), 2);
    assert!(page(&records).contains("the audit found a ghost"));
    let alone = page(&records[1..2]);
    assert!(alone.contains("No result: "), "figures of an invalid run");
    assert!(!alone.contains("<svg"), "figures of an invalid run");
}

#[test]
fn user_text_is_escaped_in_html_report() {
    let attack = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`";
    let mut records = sweep(3);
    for record in &mut records {
        record.targets[0].identity.version = attack.into();
        record.targets[0].identity.settings.insert(attack.into(), attack.into());
        record.hosts[0].kernel = attack.into();
        record.audit[0].detail = attack.into();
        record.dyno_version = attack.into();
    }
    records[2].status = Status::Failed;
    records[2].reasons = vec![attack.into()];
    records[1].id = attack.into();
    let page = page(&records);
    assert!(!page.contains("<img"), "an attack came through");
    assert!(!page.contains("<script>alert"), "an attack came through");
    // The data and the only script.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
}

#[test]
fn report_without_runs_says_no_result() {
    assert!(page(&[]).contains("No result"));
}

#[test]
fn page_head_has_tiles_main_chart_and_next_step() {
    let page = page(&sweep(4));
    let (head, below) = page.split_once("<nav").unwrap();
    let head = section(head, "answer");
    assert_eq!(head.matches("class=\"tile\"").count(), 4, "{head}");
    let labels: Vec<&str> = head
        .split("class=\"tile\"><p class=\"dim\">")
        .skip(1)
        .filter_map(|tile| tile.split('<').next())
        .collect();
    assert_eq!(labels, ["throughput", "p99", "limit", "confidence in the limit"]);
    assert_eq!(head.matches("id=\"chart-throughput\"").count(), 1);
    assert!(head.contains("class=\"ring\""), "{head}");
    assert!(head.contains("next: "), "{head}");
    assert!(!below.contains("id=\"chart-throughput\""), "said twice");
    assert!(!below.contains("next: "), "said twice");
}

#[test]
fn page_sections_open_without_scripts_and_in_print() {
    let page = page(&sweep(4));
    let sections = page.split("<section id=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    for name in sections.filter(|name| !["answer", "summary"].contains(name)) {
        let content = section(&page, name);
        assert!(content.starts_with("<details class=\"section\""), "{name} does not open: {content}");
        assert!(page.contains(&format!("<a href=\"#{name}\">")), "{name} has no link");
    }
    for name in ["charts", "results", "audit"] {
        assert!(section(&page, name).starts_with("<details class=\"section\" open>"), "{name}");
    }
    assert!(STYLE.contains("details::details-content{content-visibility:visible"), "closed on paper");
}

/// The content of a section.
fn section<'p>(page: &'p str, name: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("<section id=\"{name}\"")).unwrap();
    rest.split_once('>').unwrap().1.split("</section>").next().unwrap()
}

#[test]
fn passed_checks_are_folded_and_failed_ones_come_first() {
    let mut records = sweep(1);
    let check = |status: CheckStatus| AuditCheck {
        check: "commits".into(),
        status,
        expected: String::new(),
        observed: String::new(),
        detail: format!("the finding {status:?}"),
    };
    records[0].audit =
        [CheckStatus::Skipped, CheckStatus::Pass, CheckStatus::Warn, CheckStatus::Fail].map(check).into();
    let page = page(&records);
    let (shown, folded) = section(&page, "audit").split_once("<details class=\"passed\">").unwrap();
    let place = |status: &str| shown.find(&format!("the finding {status}"));
    assert!(place("Fail").unwrap() < place("Warn").unwrap(), "{shown}");
    assert!(place("Pass").is_none(), "{shown}");
    assert!(place("Skipped").is_none(), "{shown}");
    assert!(folded.starts_with("<summary>1 passed, 1 skipped</summary>"), "{folded}");
    assert!(folded.contains("the finding Pass"));
    assert!(folded.contains("the finding Skipped"));
}

#[test]
fn legend_of_the_mark_is_on_the_page_once() {
    let mut records = sweep(4);
    for record in &mut records {
        let attribution = Attribution {
            scope: AttributionScope::Host,
            others_pct: Some(30.0),
            marked: true,
            why: "others".into(),
        };
        record.whose.insert("cpu_busy_pct".into(), attribution);
        let busy = Metric::Value { value: 40.0, unit: Unit::Percent };
        record.metrics.extend(["cpu_busy_pct", "cpu_user_pct"].map(|name| (name.to_owned(), busy.clone())));
    }
    let page = page(&records);
    let shown = page.split(embedded::OPEN).next().unwrap();
    assert_eq!(shown.matches("† may include other load").count(), 1);
    assert!(section(shown, "charts").contains("is idle.†"), "the chart keeps its mark");
}

#[test]
fn wide_tables_become_labeled_blocks_on_a_phone() {
    let page = page(&sweep(4));
    let results = section(&page, "results");
    assert!(results.contains("<table class=\"stack"), "{results}");
    assert!(results.contains("data-label=\"operations, /s\""), "{results}");
    assert!(STYLE.contains(".stack td[data-label]"));
}

#[test]
fn conclusion_of_a_sweep_does_not_repeat_the_answer() {
    let mut records = sweep(4);
    for (point, record) in (1..).zip(&mut records) {
        record.part_of = Some(PartOf {
            id: "sweep-1".into(),
            kind: SweepKind::Sweep,
            point,
            repeat: 1,
            side: None,
            settings: Vec::new(),
        });
    }
    let mut report = Report::of(&records);
    let conclusion = dyno_analyze::conclusion::sweep::conclusion("sweep-1", None, &report.points);
    let said = [conclusion.line.clone(), report.answers.curves[0].sentence()];
    assert!(said.iter().all(|sentence| conclusion.sentences().contains(sentence)), "{conclusion:?}");
    let knee = "the knee (Kneedle)";
    report.conclude(vec![conclusion]);
    let mut page = Vec::new();
    html(&report, "2026-01-01T00:00:00Z", &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let conclusion = section(&page, "conclusion");
    for sentence in said {
        assert!(!conclusion.contains(&format!("<li>{sentence}</li>")), "{sentence} in {conclusion}");
    }
    assert_eq!(conclusion.matches(knee).count(), 1, "{conclusion}");
    assert!(!section(&page, "results").contains(knee), "the knee stands in two sections");
}
