//! `dyno awr` as a user runs it: formats, exit codes, comparison of two reports, timeline, records.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema};

const TEXT: &str = include_str!("../../../dyno-awr/tests/reports/awr_12.2_rac.txt");
const HTML: &str = include_str!("../../../dyno-awr/tests/reports/awr_12.2_rac.html");
const STATSPACK: &str = include_str!("../../../dyno-awr/tests/reports/statspack_11.2.txt");

/// A report of the interval that begins with snapshot `snap`, with other logical reads.
fn report(snap: u32, reads: &str) -> String {
    let text = TEXT
        .replace("       700 ", &format!("       {snap} "))
        .replace("       701 ", &format!("       {} ", snap + 1));
    text.replace("64,000.5", reads)
}

#[test]
fn awr_reports_are_one_line_each_in_every_format() {
    let desk = TestEnv::new();
    desk.write("a.txt", TEXT);
    desk.write("b.lst", STATSPACK);
    desk.write("expected.json", "{}");
    let output = desk.dyno(&[
        "awr",
        ".",
        "--format",
        "csv",
        "--columns",
        "file,instance,aas,event_avg_ms.log file sync",
    ]);
    assert_eq!(output.code, 0, "{output:#?}");
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(
        lines,
        ["file,instance,aas,event_avg_ms.log file sync", "a.txt,shop2,4.0167,1", "b.lst,till,0.5,"]
    );
    let (code, json) = desk.json(&["awr", "a.txt"]);
    assert_eq!((code, json[0]["load_profile_per_s"]["redo_size"].as_f64()), (0, Some(812_345.6)));
    assert_eq!(json[0]["sources"]["elapsed_min"]["caption"], "Elapsed");
    let table = desk.dyno(&["awr", "a.txt"]).out;
    assert!(table.contains("shop2"), "{table}");
    assert!(table.contains("2024-03-05 10:00"), "{table}");
}

#[test]
fn awr_exit_code_distinguishes_warnings_from_read_errors() {
    let desk = TestEnv::new();
    desk.write("good.txt", TEXT);
    desk.write("cut.txt", TEXT.split("Key Instance").next().unwrap());
    desk.write("broken.txt", &TEXT.replace("5,000.1 ", "5,0#0.1 "));
    desk.write("notes.txt", "not a report");
    assert_eq!(desk.dyno(&["awr", "good.txt"]).code, 0);
    assert_eq!(desk.dyno(&["awr", "good.txt", "cut.txt"]).code, 1);
    let output = desk.dyno(&["awr", "broken.txt", "good.txt", "--format", "csv"]);
    assert_eq!(
        (output.code, output.out.lines().count()),
        (2, 3),
        "one bad file does not stop the rest: {output:#?}"
    );
    assert!(output.err.contains("broken.txt:29"), "{}", output.err);
    assert!(output.err.contains("5,0#0.1"), "{}", output.err);
    assert_eq!(desk.dyno(&["awr", "notes.txt"]).code, 2);
    assert_eq!(desk.dyno(&["awr", "--columns", "nonsense", "good.txt"]).code, 2);
}

#[test]
fn awr_names_are_escaped_in_table_and_markdown() {
    let desk = TestEnv::new();
    desk.write(
        "x.html",
        &HTML.replace("log file sync", "\u{1b}[2J&lt;img&gt;").replace("2.5K", ".1").replace("2700.5", ".1"),
    );
    let table = desk.dyno(&["awr", "x.html", "--columns", "top_event"]).out;
    assert!(!table.contains('\u{1b}'), "{table:?}");
    let md = desk.dyno(&["awr", "x.html", "--columns", "top_event", "--format", "md"]).out;
    assert!(!md.contains("<img>"), "{md}");
}

#[test]
fn awr_diff_compares_two_reports() {
    let desk = TestEnv::new();
    desk.write("a.txt", TEXT);
    let changed = TEXT.replace("       1,200.6 ", "       2,401.2 ").replace("17179869184", "34359738368");
    desk.write("b.txt", &changed.replace("log file sync        ", "log file new         "));
    let (code, json) = desk.json(&["awr", "diff", "a.txt", "b.txt"]);
    assert_eq!(code, 0);
    let calls = json["figures"].items().iter().find(|f| f["name"] == "load_profile_per_s.user_calls");
    assert_eq!(calls.unwrap()["change_pct"], 100.0);
    let table = desk.dyno(&["awr", "diff", "a.txt", "b.txt"]).out;
    assert!(table.contains("new"), "{table}");
    assert!(table.contains("gone"), "{table}");
    assert!(table.contains("+100.0"), "{table}");
}

#[test]
fn entry_missing_in_one_report_is_not_called_new() {
    let desk = TestEnv::new();
    desk.write("a.txt", TEXT);
    desk.write("b.txt", STATSPACK);
    let table = desk.dyno(&["awr", "diff", "a.txt", "b.txt"]).out;
    assert!(table.contains("only in A"), "{table}");
    assert!(!table.contains("gone"), "{table}");
    assert!(!table.contains("new"), "{table}");
}

#[test]
fn differing_values_are_shown_in_full() {
    let desk = TestEnv::new();
    let path = "/u01/app/oracle/product/19.0.0/dbhome_1/".repeat(3);
    let row = |end: &str| format!("<tr><td>audit_file_dest</td><td>{path}{end}</td><td>&#160;</td></tr>");
    let table = |end: &str| {
        let head = "<tr><th>Parameter Name</th><th>Begin value</th><th>End value (if different)</th></tr>";
        format!("<h3>init.ora Parameters</h3><table>{head}{}</table>End of Report", row(end))
    };
    desk.write("a.html", &HTML.replace("End of Report", &table("first")));
    desk.write("b.html", &HTML.replace("End of Report", &table("second")));
    let out = desk.dyno(&["awr", "diff", "a.html", "b.html"]).out;
    assert!(out.contains(&format!("{path}first")), "{out}");
    assert!(out.contains(&format!("{path}second")), "{out}");
}

/// A report with services, whose DB time in seconds is given, and with a tablespace in two containers.
fn with_sections(db_time_s: &str, reads: &str) -> String {
    let table = |title: &str, head: &str, rows: &[String]| {
        let cells = |kind: &str, row: &str| {
            row.split('|').map(|cell| format!("<{kind}>{cell}</{kind}>")).collect::<String>()
        };
        let rows: String = rows.iter().map(|row| format!("<tr>{}</tr>", cells("td", row))).collect();
        format!("<h3>{title}</h3><table><tr>{}</tr>{rows}</table>", cells("th", head))
    };
    let services = table(
        "Service Statistics",
        "Service Name|DB Time (s)|DB CPU (s)|Physical Reads (K)|Logical Reads (K)",
        &[format!("billing|{db_time_s}|10|0|0")],
    );
    let tablespaces = table(
        "Tablespace IO Stats",
        "Tablespace|Reads|Av Rds/s|Av Rd(ms)|Writes|Writes avg/s|PDB Name",
        &[format!("LEDGER|{reads}|2|1.5|10|0|SALES"), "LEDGER|7,200|2|1.5|10|0|STOCK".to_owned()],
    );
    HTML.replace("End of Report", &format!("{services}{tablespaces}End of Report"))
}

#[test]
fn awr_diff_compares_section_rows_per_second() {
    let desk = TestEnv::new();
    desk.write("a.html", &with_sections("900", "7,200"));
    desk.write("b.html", &with_sections("2,700", "72,000"));
    let (code, json) = desk.json(&["awr", "diff", "a.html", "b.html", "--object-names"]);
    assert_eq!(code, 0);
    let sections = json["sections"].items();
    let db_time = sections.iter().find(|of| of["figure"] == "db_time_s").unwrap();
    assert_eq!((&db_time["row"], &db_time["per_s"]), (&"billing".into(), &true.into()));
    assert!((db_time["change_pct"].number() - 200.0).abs() < 0.01, "{db_time}");
    assert!(
        !sections.iter().any(|of| of["figure"] == "db_cpu_s"),
        "what did not move is left out: {sections:?}"
    );
    let segments = json["segments"].to_string();
    assert!(segments.contains("SALES:LEDGER"), "{segments}");
    assert!(!segments.contains("STOCK:LEDGER"), "{segments}");
    let table = desk.dyno(&["awr", "diff", "a.html", "b.html"]).out;
    assert!(table.contains("services"), "{table}");
    assert!(table.contains("db_time_s/s"), "{table}");
    assert_eq!(desk.dyno(&["awr", "a.html", "--import"]).code, 0);
    let (_, record) = desk.json(&["show", "last"]);
    let record = record.to_string();
    assert!(record.contains("billing"), "records hold no names of objects");
    assert!(!record.contains("LEDGER"), "records hold no names of objects");
}

#[test]
fn text_and_html_of_one_interval_count_as_one_measurement() {
    let desk = TestEnv::new();
    desk.write("a.txt", TEXT);
    desk.write("b.html", HTML);
    desk.write("c.txt", &report(701, "64,000.5"));
    let output = desk.dyno(&["awr", "c.txt", "a.txt", "b.html"]);
    assert!(output.code == 0, "{output:#?}");
    assert!(output.err.contains("a.txt and b.html cover the same interval"), "{output:#?}");
    assert!(!desk.dyno(&["awr", "a.txt", "c.txt"]).err.contains("one measurement"));
    assert!(desk.dyno(&["awr", "diff", "a.txt", "b.html"]).err.contains("one measurement"));
    assert!(desk.dyno(&["awr", "a.txt", "b.html", "--import"]).err.contains("one measurement"));
}

#[test]
fn awr_reports_of_one_instance_form_a_trend() {
    let desk = TestEnv::new();
    for snap in 700..712 {
        let reads = if snap < 706 { "64,000.5" } else { "96,000.5" };
        let later = format!("05-Mar-24 {:02}:", snap - 690);
        let text = report(snap, reads).replace("05-Mar-24 10:", &later);
        desk.write(&format!("r{snap}.txt"), &text);
    }
    assert_eq!(desk.dyno(&["awr", ".", "--import"]).code, 0);
    let (code, trend) = desk.json(&["trend", "--metric", "logical_reads_per_s"]);
    assert_eq!((code, trend["points"].items().len()), (0, 12), "{trend:#}");
    assert_eq!(trend["changes"].items().len(), 1, "{trend:#}");
}

#[test]
fn awr_report_page_begins_with_load_profile_and_top_events() {
    let desk = TestEnv::new();
    desk.write("a.txt", TEXT);
    desk.write("b.txt", &report(701, "128,001.5"));
    assert_eq!(desk.dyno(&["awr", "a.txt", "--import", "--tag", "x"]).code, 0);
    let page = |name: &str| {
        assert_eq!(desk.dyno(&["report", "tag:x", "-o", name]).code, 0);
        read(&desk, name)
    };
    let single_report = page("one.html");
    let at = |text: &str| single_report.find(text).unwrap_or_else(|| panic!("{text} is not on the page"));
    assert!(at("id=\"reported\"") < at("id=\"results\""));
    assert!(at("As printed in the report") > 0);
    assert!(at("wait user-io") > at("logical reads (blocks)"), "classes have their colours");
    assert!(single_report.contains("500 µs"));
    assert!(single_report.contains("db file sequential read"));
    assert_eq!(desk.dyno(&["awr", "b.txt", "--import", "--tag", "x"]).code, 0);
    let two = page("two.html");
    assert!(two.contains("Over 2 reports"), "medians");
    assert!(two.contains("96,001"), "medians");
    assert!(two.contains("128,002"), "medians");
    let md = desk.dyno(&["report", "tag:x", "--format", "md"]).out;
    assert!(md.find("## Load profile").unwrap() < md.find("## Results").unwrap(), "{md}");
}

#[test]
fn awr_import_names_and_skips_other_report_types() {
    let desk = TestEnv::new();
    desk.write("sql.html", &HTML.replace("WORKLOAD REPOSITORY report for", "WORKLOAD REPOSITORY SQL Report"));
    desk.write("ash.txt", "ASH Report For SHOP/shop2\n\nDB Name\n");
    desk.write("a.html", HTML);
    for (file, name) in [("sql.html", "one SQL statement"), ("ash.txt", "an ASH report")] {
        let output = desk.dyno(&["awr", file, "--import"]);
        assert!(output.code == 2, "{output:#?}");
        assert!(output.err.contains(name), "{output:#?}");
        assert!(output.err.contains(file), "{output:#?}");
    }
    let (code, records) = desk.json(&["awr", ".", "--import"]);
    assert_eq!((code, records.items().len()), (1, 1), "what lies beside reports is skipped");
}

#[test]
fn awr_timeline_reports_gaps_and_anomalies() {
    let desk = TestEnv::new();
    for snap in 700..712 {
        if snap != 705 {
            let reads = if snap == 709 { "640,000.5" } else { "64,000.5" };
            desk.write(&format!("r{snap}.txt"), &report(snap, reads));
        }
    }
    let output = desk.dyno(&["awr", "timeline", "."]);
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.out.contains("gap: 1 snapshot"), "{}", output.out);
    assert!(output.out.contains("anomaly: logical reads/s 640,00"), "{}", output.out);
    assert_eq!(output.out.matches("anomaly").count(), 1, "{}", output.out);
}

#[test]
fn awr_report_is_imported_only_once() {
    let desk = TestEnv::new();
    desk.write("a.txt", TEXT);
    let (code, records) = desk.json(&["awr", "a.txt", "--import"]);
    assert_eq!(code, 0);
    assert_fits_schema(&records[0]);
    assert_eq!(records[0]["metrics"]["physical_read_requests_per_s"]["value"], 3_000.0);
    assert_eq!(records[0]["imported"]["labels"]["instance"], "shop2");
    let again = desk.dyno(&["awr", "a.txt", "--import"]);
    assert!(again.code == 0, "{again:#?}");
    assert!(again.err.contains("1 were stored before"), "{again:#?}");
    assert!(desk.dyno(&["list"]).out.contains("shop2"), "{}", desk.dyno(&["list"]).out);
}

#[test]
fn awr_compat_output_has_columns_of_old_readers() {
    let desk = TestEnv::new();
    desk.write("awr.txt.32", TEXT);
    let info_output = desk.dyno(&["awr", "awr.txt.32", "--compat", "awr-info"]);
    let lines: Vec<&str> = info_output.out.lines().collect();
    assert!(lines[0].starts_with("FILE|SESSIONS|ELAPSED|"), "{info_output:#?}");
    assert!(lines[1].starts_with("awr.txt.32|32|1800|1.5|4.0|2400|64000|"), "{}", lines[1]);
    let parser_output = desk.dyno(&["awr", "awr.txt.32", "--compat", "awr-parser"]);
    assert_eq!(parser_output.out.lines().next().unwrap().split(',').count(), 178);
}

/// Reads a file of the test environment.
fn read(desk: &TestEnv, name: &str) -> String {
    std::fs::read_to_string(desk.file(name)).unwrap()
}

/// Writes a file into a folder of the test environment, and creates the folder.
fn write_file(desk: &TestEnv, folder: &str, name: &str, text: &str) {
    std::fs::create_dir_all(desk.file(folder)).unwrap();
    std::fs::write(desk.file(folder).join(name), text).unwrap();
}

/// A report whose sessions wait `ms` for each of `iops` reads.
fn step(snap: u32, iops: f64, ms: f64) -> String {
    let waits = iops * 1_800.0;
    report(snap, "64,000.5")
        .replace("       5,400,000        3,000.0", &format!("{waits:>16}{iops:>15.1}"))
        .replace(
            "      5,000,000          2,500  500.00us",
            &format!("{waits:>15}{:>15.0}{ms:>8.2}ms", waits * ms / 1e3),
        )
}

#[test]
fn ramp_of_awr_reports_becomes_a_petal() {
    let desk = TestEnv::new();
    let steps =
        [(1, 2_000.0, 0.5), (2, 3_900.0, 0.52), (4, 7_000.0, 0.6), (8, 9_000.0, 0.9), (16, 8_000.0, 2.1)];
    for (i, (sessions, iops, ms)) in (0..).zip(steps) {
        write_file(&desk, "ramp", &format!("awr.txt.{sessions}"), &step(700 + i, iops, ms));
    }
    let import_output = desk.dyno(&["awr", "ramp", "--import", "--ramp", "--variant", "nfs"]);
    assert!(import_output.code == 0, "{import_output:#?}");
    assert!(import_output.err.contains("5 records stored"), "{import_output:#?}");
    let (_, records) = desk.json(&["show", "variant:nfs"]);
    let mut sessions: Vec<_> = records.items().iter().map(|r| r["gate"]["sessions"].count()).collect();
    sessions.sort_unstable();
    assert_eq!(sessions, [1, 2, 4, 8, 16]);
    let report_output = desk.dyno(&["report", "variant:nfs", "-o", "petal.html"]);
    assert!(
        report_output.err.contains("Highest throughput: 9,000 physical reads/s of 900 µs, with 8 sessions"),
        "{report_output:#?}"
    );
    let page = read(&desk, "petal.html");
    assert!(page.contains("Read latency by IOPS"), "the petal, and no facts of nobody");
    assert!(!page.contains("0 ×"), "the petal, and no facts of nobody");
    assert!(!page.contains("secret_table"), "statements and objects stay out");
    assert!(!page.contains("SHOPOWNER"), "statements and objects stay out");
    let list = desk.dyno(&["list"]).out;
    assert!(list.contains("imported:///SHOP.shop2"), "no plan is made up: {list}");
    assert!(!list.contains(" 0 "), "no plan is made up: {list}");
    assert!(list.contains("  imported  "), "{list}");
    assert!(!list.contains("valid"), "{list}");
    assert!(list.contains("12.2.0.1"), "the version of the database is listed: {list}");
    let (_, listed) = desk.json(&["list", "--status", "imported"]);
    assert_eq!(listed.items().len(), 5);
    assert!(listed[0]["started_at"].text().starts_with("2024-03-05T"), "{}", listed[0]);
    assert!(page.contains("imported, not audited"), "the page calls them imported");
    assert!(!page.contains(">valid<"), "the page calls them imported");
    assert!(page.contains("Read latency by IOPS of the database"), "both axes are the database's");
    assert!(!page.contains("Settings of the database (0)"));
    assert!(!page.contains("of each database"));
}

#[test]
fn imported_reports_are_compared_like_runs() {
    let desk = TestEnv::new();
    for snap in 0..3 {
        write_file(
            &desk,
            "before",
            &format!("r{snap}.txt"),
            &step(700 + snap, 3_000.0 + f64::from(snap), 0.5),
        );
        write_file(
            &desk,
            "after",
            &format!("r{snap}.txt"),
            &step(800 + snap, 6_000.0 + f64::from(snap), 0.5),
        );
    }
    for side in ["before", "after"] {
        assert_eq!(desk.dyno(&["awr", side, "--import", "--variant", side, "--tag", "night"]).code, 0);
    }
    let (_, compared) = desk.json(&["compare", "variant:before", "variant:after"]);
    assert!(compared.to_string().contains("physical_read_requests_per_s"), "{compared}");
    let output = desk.dyno(&["compare", "variant:before", "variant:after"]);
    assert!(output.out.contains("3,001"), "{output:#?}");
    assert!(output.out.contains("6,001"), "{output:#?}");
    let trend = desk.dyno(&["trend", "tag:night", "--metric", "physical_read_requests_per_s"]);
    assert!(trend.code == 0, "{trend:#?}");
    // Reports count no operations, so a suitable measure is the default.
    let (_, unsaid) = desk.json(&["trend", "tag:night"]);
    assert_eq!(unsaid["measure"], "logical_reads_per_s");
    let shown = desk.dyno(&["show", "last"]).out;
    assert!(shown.contains("not stated by the source"), "{shown}");
    assert!(!shown.contains("closed loop"), "{shown}");
    assert!(!shown.contains("product's defaults"), "nothing is made up: {shown}");
    assert!(!shown.contains("0 allowed"), "nothing is made up: {shown}");
}

#[test]
fn import_accepts_awr_reports() {
    let desk = TestEnv::new();
    desk.write("a.txt", TEXT);
    let import_output = desk.dyno(&["import", "results", "a.txt", "--tag", "x"]);
    assert!(import_output.code == 0, "{import_output:#?}");
    assert!(import_output.err.contains("1 record stored"), "{import_output:#?}");
    let (_, records) = desk.json(&["show", "tag:x"]);
    assert_eq!(records["imported"]["format"], "awr");
    assert_eq!(desk.dyno(&["import", "results", "a.txt", "--map", "x=ops"]).code, 2);
    // A record of 1970 would be first in every trend.
    desk.write("undated.txt", &TEXT.replace("Begin Snap:", "Before Snap:"));
    let undated_output = desk.dyno(&["awr", "undated.txt", "--import"]);
    assert!(undated_output.code == 2, "{undated_output:#?}");
    assert!(undated_output.err.contains("does not state when its interval begins"), "{undated_output:#?}");
    assert!(undated_output.err.contains("0 records stored"), "{undated_output:#?}");
}

#[test]
fn awr_timeline_is_drawn_with_escaped_names() {
    let desk = TestEnv::new();
    for i in 0..12u32 {
        let reads = if i == 9 { "640,000.5" } else { "64,000.5" };
        let at = |half: u32| format!("05-Mar-24 {:02}:{:02}:00", half / 2, half % 2 * 30);
        let text = report(700 + i, reads);
        let text = text.replace("05-Mar-24 10:00:00", "BEGIN").replace("05-Mar-24 10:30:00", "END");
        let text = text.replace("BEGIN", &at(i)).replace("END", &at(i + 1));
        let text = text.replace("db file sequential read  ", "<script>alert(7)</script>");
        if i != 5 {
            write_file(&desk, "day", &format!("r{i}.txt"), &text);
        }
    }
    let output = desk.dyno(&["awr", "timeline", "day", "-o", "day.html"]);
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.out.contains("time since 2024-03-05"), "{}", output.out);
    let page = read(&desk, "day.html");
    assert!(page.contains("DB time by "), "areas of DB time");
    assert!(page.contains("anomaly: 2024-03-05 04:30"));
    assert!(page.contains("gap before 2024-03-05 03:00"));
    assert!(!page.contains("<script>alert"), "names are no markup");
    assert!(page.contains("&lt;script&gt;alert(7)"), "names are no markup");
    assert_eq!(desk.dyno(&["awr", "timeline", "day", "-o", "day.svg"]).code, 0);
    assert!(read(&desk, "day.svg").starts_with("<svg"));
    assert_eq!(desk.dyno(&["awr", "timeline", "day", "-o", "day.doc"]).code, 2);
}

/// The report of half hour number `half` of a week, with these logical reads.
fn half_hour(half: u32, reads: &str) -> String {
    let at = |half: u32| format!("{:02}-Mar-24 {:02}:{:02}:00", 5 + half / 48, half % 48 / 2, half % 2 * 30);
    let text = report(700 + half, reads);
    let text = text.replace("05-Mar-24 10:00:00", "BEGIN").replace("05-Mar-24 10:30:00", "END");
    text.replace("BEGIN", &at(half)).replace("END", &at(half + 1))
}

#[test]
fn timeline_charts_span_several_days() {
    let desk = TestEnv::new();
    for i in 0..12 {
        write_file(&desk, "days", &format!("r{i}.txt"), &half_hour(i * 12, "64,000.5"));
    }
    let output = desk.dyno(&["awr", "timeline", "days", "-o", "days.html"]);
    assert_eq!(output.code, 0, "{output:#?}");
    let page = read(&desk, "days.html");
    for when in ["2024-03-05 00:00", "2024-03-06 00:00", "2024-03-07 18:00"] {
        assert!(page.contains(&format!("{when}: active sessions")), "{when} is drawn");
    }
    assert!(output.out.contains("03-07"), "the axis reaches the last day: {}", output.out);
}

#[test]
fn timeline_flags_anomalies_with_figures_and_without_names() {
    let desk = TestEnv::new();
    for i in 0..12 {
        let text = half_hour(i, if i == 7 { "640,000.5" } else { "64,000.5" });
        let text = if i == 7 { text.replace("       1,200.6 ", "      12,006.0 ") } else { text };
        write_file(&desk, "day", &format!("r{i}.txt"), &text);
    }
    let (code, json) = desk.json(&["awr", "timeline", "day", "-o", "day.html"]);
    assert_eq!(code, 0);
    let odd: Vec<_> = (0..12)
        .filter(|&i| json[0]["reports"][i]["flags"].items().iter().any(|flag| flag["flag"] == "anomaly"))
        .collect();
    assert_eq!(odd, [7]);
    let flag = &json[0]["reports"][7]["flags"][0];
    assert_eq!(flag["figures"][0]["measure"], "lio_per_s", "{flag}");
    assert!(json[0]["reports"][0]["values"]["unaccounted_pct"].is_number(), "{}", json[0]["reports"][0]);
    assert!(!json.to_string().contains("SHOPOWNER"));
    assert!(!read(&desk, "day.html").contains("SHOPOWNER"));
}

#[test]
fn awr_diff_compares_statements_and_segments() {
    let desk = TestEnv::new();
    desk.write("a.html", HTML);
    desk.write("b.txt", TEXT);
    let (code, json) = desk.json(&["awr", "diff", "a.html", "b.txt"]);
    assert_eq!(code, 0);
    let ids = json["statements"].items();
    assert!(!ids.is_empty(), "{json}");
    assert!(ids.iter().all(|of| of["sql_id"].text().len() == 13), "{json}");
    assert!(!json.to_string().contains("SHOPOWNER"));
    let table = desk.dyno(&["awr", "diff", "a.html", "b.txt"]).out;
    assert!(table.contains(ids[0]["sql_id"].text()), "{table}");
    assert!(table.contains("statement"), "{table}");
}
