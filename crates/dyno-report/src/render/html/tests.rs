//! Properties of the page: no external resources, user text only as text, and the order of sections.

use dyno_analyze::{fixture, judge};
use dyno_record::{RunRecord, Status};

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
    let places: Vec<usize> =
        ["answer", "charts", "results", "closely", "audit", "differed", "platform", "runs"]
            .map(|name| {
                page.find(&format!("<section id=\"{name}\"")).unwrap_or_else(|| panic!("no section {name}"))
            })
            .into();
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.matches("<svg").count() >= 6, "{} charts", page.matches("<svg").count());
}

#[test]
fn html_page_ids_are_unique() {
    let page = page(&sweep(7));
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(count > 20 && ids.len() == count, "{count} names, {} different", ids.len());
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
    assert!(alone.contains("No result: ") && !alone.contains("<svg"), "figures of an invalid run");
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
    assert!(!page.contains("<img") && !page.contains("<script>alert"), "an attack came through");
    // The data and the only script.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
}

#[test]
fn report_without_runs_says_no_result() {
    assert!(page(&[]).contains("No result"));
}
