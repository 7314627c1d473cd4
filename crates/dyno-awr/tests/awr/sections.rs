//! Tests sections as they occur in real reports and seldom in synthetic ones: on several pages,
//! with notes that wrap, with columns that are too narrow, with rows of containers and instances.

use dyno_awr::compat::AwrCompatLayout;
use dyno_awr::{AwrError, AwrReport, AwrValue, read_report};

const GLOBAL: &str = include_str!("../reports/awr_19_global.txt");
const TEXT: &str = include_str!("../reports/awr_12.2_rac.txt");
const HTML: &str = include_str!("../reports/awr_12.2_rac.html");

fn read(text: &str) -> AwrReport {
    read_report(text, "report", 1).unwrap()
}

fn read_clean(text: &str) -> AwrReport {
    let report = read(text);
    assert_eq!(report.issues, [], "{:#?}", report.issues);
    report
}

/// A report with a piece inserted before its end.
fn with_section(report: &str, piece: &str) -> String {
    report.replace("End of Report", &format!("{piece}\nEnd of Report"))
}

const END: &str =
    "                          ----------------------------------------------------------------------\n";

/// One page of a cluster's wait events, with these rows.
fn events_page(title: &str, rows: &str) -> String {
    format!(
        "{title:<40} DB/Inst: SHOP/shop1  Snaps: 70-71
-> s - second, ms - millisecond

                        Wait                                   Event                      Wait Time
---------------------------------------------------   ----------------------   -------------------------------
Class      Event                                             Waits %Timeouts        Total(s) Avg Wait %bg time
---------- ----------------------------------------   ------------ ---------   ------------- -------- --------
{rows}"
    )
}

#[test]
fn all_pages_of_cluster_wait_events_are_read() {
    let first_page = "System I/O log file parallel write                          2,000       0.0            8.00   4.00ms     0.40
Other      latch free                                        1,000       0.0            1.50   1.50ms     0.10
";
    let second_page = "Concurrenc library cache: mutex X                                1       0.0            0.00  20.00us     0.00
";
    let third_page = "Idle       rdbms ipc message                                    10       0.0       50,000.00 5000.00   100.00
";
    for title in ["Background Wait Events (Global)", "Foreground Wait Events (Global)"] {
        let pages: String =
            [first_page, second_page, third_page].map(|rows| events_page(title, rows)).concat();
        let report = read(&with_section(GLOBAL, &format!("{pages}{END}")));
        let events = match title.starts_with("Back") {
            true => &report.background_events,
            false => &report.foreground_events,
        };
        let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(
            names,
            ["log file parallel write", "latch free", "library cache: mutex X", "rdbms ipc message"]
        );
        // A narrow column lost the unit: this gives a warning, and the mean comes from time and
        // waits.
        assert!(!report.has_errors(), "{:#?}", report.issues);
        assert_eq!(report.issues.len(), 1, "{:#?}", report.issues);
        assert_eq!((events[3].average, events[3].mean_s().unwrap().value), (None, 5_000.0));
    }
}

#[test]
fn html_value_without_its_unit_is_an_error() {
    let report = read(&HTML.replace("<td>500.00us</td>", "<td>500.00</td>"));
    assert!(report.has_errors(), "{:#?}", report.issues);
}

#[test]
fn suffix_without_a_number_is_a_warning() {
    let report = read(&TEXT.replace("      5,000.1 ", "            K "));
    assert!(!report.has_errors(), "{:#?}", report.issues);
    assert!(report.issues.len() == 1, "{:#?}", report.issues);
    assert_eq!(report.value("load_profile_per_s.block_changes"), None);
}

/// One page of a cluster's distributions: a ruler over a group of columns is as wide as one that ends a table.
fn histogram_page(rows: &str) -> String {
    let group = "-".repeat(62);
    format!(
        "Wait Event Histogram (Global)            DB/Inst: SHOP/shop1  Snaps: 70-71
-> When % of Total Waits is  0.0 the count is displayed in parenthesis

                                                      % of Total Waits
                                   {group}
Event                      Waits       <1us     <2us     <4us     <8us    <16us    <32us   >=32us
------------------------- ------   -------- -------- -------- -------- -------- -------- --------
{rows}"
    )
}

#[test]
fn wide_ruler_over_a_group_does_not_end_a_table() {
    let row = |event: &str, waits: &str, shares: [&str; 7]| {
        let shares = shares.map(|share| format!(" {share:>8}")).concat();
        format!("{event:<25} {waits:>6}  {shares}\n")
    };
    let pages = [
        histogram_page(&row("latch free", "200", ["", "", "50.0", "50.0", "", "", ""])),
        histogram_page(&row("log file sync", "14.7K", ["", "0.0(2)", "", "100.0", "", "", ""])),
        // Text truncates both names to the same.
        histogram_page(
            &[["100.0", ""], ["", "100.0"]]
                .map(|[a, b]| row("latch: shared context lat", "7", [a, b, "", "", "", "", ""]))
                .concat(),
        ),
        histogram_page(""),
    ];
    let report = read_clean(&with_section(GLOBAL, &format!("{}{END}", pages.concat())));
    let events: Vec<_> = report.histograms.iter().map(|of| (of.event.as_str(), of.bands.len())).collect();
    assert_eq!(
        events,
        [
            ("latch free", 7),
            ("log file sync", 7),
            ("latch: shared context lat", 7),
            ("latch: shared context lat", 7),
        ]
    );
    assert_eq!(report.histograms[3].bands[1].share_pct.value, 100.0);
    assert_eq!(report.histograms[1].waits.map(|waits| waits.value), Some(14_700.0));
    assert_eq!(report.histograms[1].bands[3].share_pct.value, 100.0);
}

#[test]
fn wrapped_note_is_not_a_title() {
    let section = "Modified Parameters                      DB/Inst: SHOP/shop2  Snaps: 700-701
-> This section shows all the modified initialization parameters that
were in effect during the entire snapshot interval
-> End Value is displayed only if the parameter value was modified within
the snapshot interval

                                                                End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
parallel_max_servers          64                                32
                          ------------------------------------------------------

";
    let report = read_clean(&with_section(TEXT, section));
    let parallel_servers = report.parameter("parallel_max_servers").unwrap();
    assert_eq!((parallel_servers.value.as_str(), parallel_servers.end_value.as_deref()), ("64", Some("32")));
}

/// A table of parameters as HTML.
fn parameters(title: &str, head: &str, rows: &[&[&str]]) -> String {
    let cells = |row: &&[&str]| row.iter().map(|cell| format!("<td>{cell}</td>")).collect::<String>();
    let rows: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row))).collect();
    let head: String = head.split('|').map(|caption| format!("<th>{caption}</th>")).collect();
    format!("<h3 class=\"awr\">{title}</h3>\n<table>\n<tr>{head}</tr>\n{rows}</table>\n<p />")
}

#[test]
fn pdb_parameter_value_is_reported_with_its_container() {
    let head = "Parameter Name|Begin value|End value (if different)|PDB Name";
    let table = parameters(
        "init.ora Parameters",
        head,
        &[
            &["open_links", "4", "&#160;", "CDB$ROOT"],
            &["open_links", "9", "&#160;", "SALES"],
            &["cpu_count", "8", "2", "STOCK"],
            &["spare_links", "1", "&#160;", "&#160;"],
        ],
    );
    let report = read_clean(&with_section(HTML, &table));
    let named: Vec<_> = report.parameters.iter().map(|of| (of.full_name(), of.value.as_str())).collect();
    for expected in [("open_links", "4"), ("open_links (SALES)", "9"), ("cpu_count (STOCK)", "8")] {
        assert!(named.contains(&(expected.0.to_owned(), expected.1)), "{expected:?}: {named:?}");
    }
    assert_eq!(report.parameter("open_links").map(|of| of.value.as_str()), Some("4"));
    assert_eq!(report.parameter("cpu_count"), None, "what one container sets holds for no other");
}

#[test]
fn cluster_parameters_may_differ_by_instance() {
    let section = "init.ora Parameters                      DB/Inst: SHOP/shop1  Snaps: 70-71
-> '*' indicates same value across all instances

Parameter Name                I#  Begin value                                           End value (if different)
----------------------------- --- ----------------------------------------------------- ------------------------
audit_trail                     * DB
thread                          1 1
                                2 2
undo_tablespace                 1 UNDOTBS1
                                2 UNDOTBS2
";
    let report = read_clean(&with_section(GLOBAL, &format!("{section}{END}")));
    let lines: Vec<_> = dyno_awr::row::lines(&report)
        .map(|line| ["parameter.thread", "parameter.audit_trail"].map(|column| line.value(column)))
        .collect();
    let text = |text: &str| AwrValue::Text(text.to_owned());
    assert_eq!(
        lines,
        [[AwrValue::Absent, text("DB")], [text("1"), text("DB")], [text("2"), text("DB")]],
        "{:#?}",
        report.parameters
    );
}

#[test]
fn exadata_sections_are_recognized_by_style_class() {
    let section = "<h3 class=\"exa\">Outliers</h3>\n<p>Zebra cells by colour</p>\n<table class=\"exa\">\
        <tr><th>Cell</th></tr><tr><td>1</td></tr></table>\n<p>Zebra disks by colour</p>\n<table>\
        <tr><th>Disk</th></tr><tr><td>1</td></tr></table>";
    read_clean(&with_section(HTML, section));
    let elsewhere = section.replace("\"exa\"", "\"awr\"");
    assert_eq!(read(&with_section(HTML, &elsewhere)).issues.len(), 2);
}

/// STATSPACK's host table where the lines of SQL*Plus are shorter than the table.
#[test]
fn statspack_host_table_may_span_several_lines() {
    let whole = include_str!("../reports/statspack_12.1.txt");
    let start = whole.find("Host Name").unwrap();
    let end = start + whole[start..].find("\n\n").unwrap();
    let shapes = [
        "Host Name             Platform                CPUs Cores Sockets
~~~~ ---------------- ---------------------- ----- ----- -------
  Memory (G)
------------
     till-host        Linux x86 64-bit           4     2       1
        15.5",
        "Host Name             Platform
~~~~ ---------------- ----------------------
 CPUs Cores Sockets   Memory (G)
----- ----- ------- ------------
     till-host        Linux x86 64-bit
    4     2       1         15.5",
        &whole[start..end],
    ];
    for shape in shapes {
        let report = read_clean(&format!("{}{shape}{}", &whole[..start], &whole[end..]));
        assert_eq!(report.word("host"), Some("till-host"), "{shape}");
        assert_eq!(report.word("platform"), Some("Linux x86 64-bit"), "{shape}");
        for (name, value) in [("cpus", 4.0), ("cores", 2.0), ("sockets", 1.0), ("memory_gb", 15.5)] {
            assert_eq!(report.value(name), Some(value), "{name}: {shape}");
        }
    }
}

#[test]
fn other_report_types_are_refused_by_name() {
    let page = |title: &str| {
        format!("<html><h1 class=\"awr\">\n{title}\n</h1>\n<table><tr><td>1</td></tr></table></html>")
    };
    for (title, name) in [
        ("WORKLOAD REPOSITORY SQL Report", "an AWR report of one SQL statement"),
        ("WORKLOAD REPOSITORY COMPARE PERIOD REPORT", "an AWR report that compares two periods"),
        ("ASH Report For SHOP/shop1", "an ASH report"),
        ("ADDM Report for Task 'TASK_7'", "an ADDM report"),
        ("DETAILED ADDM REPORT FOR TASK 'TASK_7' WITH ID 7", "an ADDM report"),
        ("STATSPACK SQL report for Old Hash Value: 1", "a STATSPACK report of one SQL statement"),
        ("WORKLOAD REPOSITORY Something Else", "a report of another kind"),
    ] {
        for text in [format!("\n{title}\n\nDB Name  DB Id\n"), page(title)] {
            match read_report(&text, "x", 1) {
                Err(AwrError::OtherReport { what, title: read }) => {
                    assert_eq!((what, read.as_str()), (name, title));
                }
                other => panic!("{title}: {other:?}"),
            }
        }
        let before = format!("{title}\n\n{TEXT}");
        let refused = matches!(read_report(&before, "x", 1), Err(AwrError::OtherReport { .. }));
        assert_eq!(refused, title.ends_with("Else"), "a report after another one: {title}");
    }
    let Some(folder) = crate::real::folder("real reports of other kinds") else { return };
    let Ok(entries) = std::fs::read_dir(folder.join("other")) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let read = dyno_awr::read_file(&path).unwrap();
        assert!(
            read.iter().all(|report| matches!(report, Err(AwrError::OtherReport { .. }))),
            "{}",
            path.display()
        );
    }
}

fn column(report: &AwrReport, name: &str) -> AwrValue {
    let at = AwrCompatLayout::AwrParser.names().iter().position(|known| known == name).unwrap();
    AwrCompatLayout::AwrParser.values(report)[at].clone()
}

fn number(report: &AwrReport, name: &str) -> f64 {
    match column(report, name) {
        AwrValue::Number(reading) => reading.value,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn columns_of_awr_parser_keep_their_meaning() {
    let classes = |title: &str, waits: &str| {
        let head = "<tr><th>Wait Class</th><th>Waits</th><th>Total Wait Time (s)</th><th>Avg wait</th></tr>";
        format!(
            "<h3>{title}</h3><table>{head}<tr><td>Commit</td><td>{waits}</td><td>50</td><td>5.00ms</td></tr></table>"
        )
    };
    let added = [
        classes("Wait Classes by Total Wait Time", "20,000"),
        classes("Foreground Wait Class", "10,000"),
        "<h3>Other Instance Activity Stats</h3><table><tr><th>Statistic</th><th>Total</th><th>per Second</th>\
         <th>per Trans</th></tr><tr><td>redo writes</td><td>450,000</td><td>250.00</td><td>1</td></tr><tr>\
         <td>physical write total IO requests</td><td>1,440,000</td><td>800.00</td><td>1</td></tr></table>"
            .to_owned(),
    ];
    let report = read_clean(&with_section(HTML, &added.concat()));
    assert_eq!(number(&report, "Wait Class Commit Waits"), 10_000.0);
    assert_eq!(report.wait_classes[0].waits.map(|waits| waits.value), Some(20_000.0));
    assert_eq!(number(&report, "Redo IOPS"), 250.0);
    assert_ne!(report.value("derived.redo_iops"), Some(250.0));
    let write = report.value("derived.write_iops").unwrap();
    assert_eq!(number(&report, "Write IOPS"), write - 250.0);
    let redo = report.value("load_profile_per_s.redo_size").unwrap() / 1_048_576.0;
    assert_eq!(number(&report, "Redo Throughput (MiB/sec)"), redo);
}

#[test]
fn awr_parser_histograms_are_built_from_finer_bands() {
    let report = read_clean(TEXT);
    let histogram = report.histograms.iter().find(|of| of.event.starts_with("db file seq")).unwrap();
    let below = |limit: u64| {
        let inside = histogram.bands.iter().filter(|band| band.below_us.is_some_and(|us| us <= limit));
        inside.map(|band| band.share_pct.value).sum::<f64>()
    };
    let first = number(&report, "Histogram <1ms db file sequential read");
    assert!((first - below(1_024)).abs() < 1e-9, "{first}");
    let all: f64 = ["<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", "<1s", ">1s"]
        .iter()
        .filter_map(|band| match column(&report, &format!("Histogram {band} db file sequential read")) {
            AwrValue::Number(reading) => Some(reading.value),
            _ => None,
        })
        .sum();
    assert!((all - 100.0).abs() < 0.5, "{all}");
    // The last band of the finest table may include what the table of details shows: then it is not
    // known where its waits lie.
    let coarse = read(include_str!("../reports/statspack_11.2.txt"));
    assert_eq!(column(&coarse, "Histogram <1ms log file parallel write"), AwrValue::Absent);
}
