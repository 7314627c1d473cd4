//! Figures with activity of others, imported figures, and verdicts are marked everywhere.

use super::*;
use crate::model::table::{Grid, GridHead};

/// A run on a server where other sessions also wrote.
pub(super) fn with_others() -> RunRecord {
    let mut record = postgres();
    let attribution = |scope, others_pct| dyno_record::Attribution {
        scope,
        others_pct,
        marked: true,
        why: "another database committed, too".into(),
    };
    record
        .whose
        .insert("redo_bytes_per_s".into(), attribution(dyno_record::AttributionScope::Server, Some(34.0)));
    record.whose.insert("cpu_busy_pct".into(), attribution(dyno_record::AttributionScope::Host, None));
    record
}

pub(super) fn exported(exporter: &ReportExporter, report: &Report<'_>) -> String {
    let mut bytes = Vec::new();
    (exporter.export)(report, &ReportRequest::default(), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn foreign_activity_mark_has_one_legend_in_every_text_view() {
    let legend = "† may include other load or be slowed by it: CPU busy";
    let (record, plain, style) = (with_others(), postgres(), Style::default());
    let rows = [ResultRow::from(&record), ResultRow::from(&plain)];
    for text in [result_table(&rows, &style), result_card(&rows[0], &style), show(&record, &style)] {
        assert_eq!(text.matches(legend).count(), 1, "{text}");
        assert!(text.lines().any(|line| !line.contains(legend) && line.contains('†')), "{text}");
        assert!(text.lines().all(|line| width(line) <= style.width), "{text}");
    }
    assert!(
        show(&record, &style).contains("whole server, 34.0 % is other load: another database committed, too")
    );
    assert!(!result_table(&rows[1..], &style).contains('†'), "nothing is marked, so there is no legend");
    let records = [record, plain];
    let report = Report::of(&records);
    for exporter in EXPORTERS.iter().filter(|exporter| ["html", "md"].contains(&exporter.name)) {
        let text = exported(exporter, &report);
        assert!(text.contains(legend), "{} has no legend", exporter.name);
    }
    let csv = EXPORTERS.iter().find(|exporter| exporter.name == "csv").unwrap();
    let text = exported(csv, &report);
    assert!(text.contains(",cpu_busy_pct redo_bytes_per_s,"), "{text}");
    assert!(!text.contains('†'), "{text}");
}

#[test]
fn digits_stay_aligned_next_to_a_mark() {
    let mut table = Grid::new(vec![GridHead::figures("redo", "MB/s"), GridHead::text("run")]);
    table.row(["1,234†".into(), "a".into()]);
    table.row(["5".into(), "b".into()]);
    let text = table.render(&Style::default());
    let column = |line: &str, c: char| line.chars().position(|at| at == c).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(column(lines[3], '4'), column(lines[4], '5'), "{text}");
    assert_eq!(column(lines[3], 'a'), column(lines[4], 'b'), "{text}");
}

#[test]
fn imported_record_is_labeled_as_such_everywhere() {
    let mut record = postgres();
    record.status = Status::Imported;
    record.kind = dyno_record::RecordKind::Import;
    record.imported = Some(dyno_record::ImportSource { undated: true, ..Default::default() });
    record.audit = vec![AuditCheck {
        check: "imported".into(),
        status: CheckStatus::Skipped,
        expected: String::new(),
        observed: String::new(),
        detail: "not audited: imported from results.csv line 1".into(),
    }];
    let style = Style { color: true, width: 140 };
    let row = ResultRow::from(&record);
    let texts = [
        show(&record, &style),
        result_table(std::slice::from_ref(&row), &style),
        result_card(&row, &style),
        list_table(&[summary(&record)], &style),
    ];
    for text in &texts {
        assert!(text.contains("\x1b[36mimported"), "{text}");
        assert!(!text.contains("valid"), "{text}");
    }
    assert!(!texts[3].contains("2026-03-21"), "no moment is made up: {}", texts[3]);
    let records = [record];
    let report = Report::of(&records);
    let answer = report.answer();
    assert!(answer.more.iter().any(|line| line.starts_with("Imported, not audited")), "{answer:?}");
    assert!(answer.more.iter().all(|line| !line.contains("skipped")), "{answer:?}");
    let html = EXPORTERS.iter().find(|exporter| exporter.name == "html").unwrap();
    let page = exported(html, &report);
    assert!(page.contains("class=\"foreign\">imported, not audited"));
    assert!(!page.contains(">valid<"));
    assert!(page.contains("time of measurement not stated by the source"));
}

#[test]
fn ab_report_answer_is_its_verdict_and_not_the_best_run() {
    let side = |side: &str, id: &str| {
        let mut record = postgres();
        record.id = id.into();
        record.part_of = Some(dyno_record::PartOf {
            id: "ab-1".into(),
            kind: dyno_record::SweepKind::Ab,
            point: 1,
            repeat: 1,
            side: Some(side.into()),
            settings: Vec::new(),
        });
        record
    };
    let records = [side("a", "run-1"), side("b", "run-2")];
    let without = Report::of(&records).answer();
    assert!(without.line.contains("`dyno compare ab-1/a ab-1/b`"), "{without:?}");
    let runs = |record: &RunRecord| vec![record.id.clone()];
    let figures = dyno_analyze::conclusion::AbResult {
        a: dyno_analyze::conclusion::AbSide { name: "a".into(), runs: runs(&records[0]) },
        b: dyno_analyze::conclusion::AbSide { name: "b".into(), runs: runs(&records[1]) },
        comparison: None,
        gates: Vec::new(),
        sequential: None,
        server_settings: Vec::new(),
    };
    let stopped = Some("it was stopped with 2 runs made".to_owned());
    let conclusion = dyno_analyze::conclusion::ab::conclusion("ab-1", stopped, figures);
    let mut report = Report::of(&records);
    report.conclusions.push(conclusion.clone());
    let answer = report.answer();
    assert_eq!(answer.line, "No comparison: a side has no valid run.");
    assert!(answer.more[0].contains("it was stopped with 2 runs made"), "{answer:?}");
    let text = conclusion_text(&conclusion, &Style::default());
    assert!(text.starts_with("A/B test ab-1\n  no comparison: "), "{text}");
    let json = EXPORTERS.iter().find(|exporter| exporter.name == "json").unwrap();
    let json: serde_json::Value = serde_json::from_str(&exported(json, &report)).unwrap();
    assert_eq!(
        (json["conclusions"][0]["of"].as_str(), json["runs"].as_array().unwrap().len()),
        (Some("ab-1"), 2)
    );
}
