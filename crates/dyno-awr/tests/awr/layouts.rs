//! Tests one small report in each layout, and what can happen to report files in transfer.

use std::io::Write as _;
use std::path::Path;

use dyno_awr::compat::AwrCompatLayout;
use dyno_awr::row::AwrValue;
use dyno_awr::{AwrError, AwrJsonOptions, AwrReport, AwrReportKind, read_file, read_report, to_json};

const TEXT: &str = include_str!("../reports/awr_12.2_rac.txt");
const HTML: &str = include_str!("../reports/awr_12.2_rac.html");
const GLOBAL: &str = include_str!("../reports/awr_19_global.html");
const STATSPACK: &str = include_str!("../reports/statspack_11.2.txt");

fn read(text: &str) -> AwrReport {
    read_report(text, "report", 1).unwrap()
}

fn read_clean(text: &str) -> AwrReport {
    let report = read(text);
    assert_eq!(report.issues, [], "{:#?}", report.issues);
    report
}

fn values(report: &AwrReport, expected: &[(&str, f64)]) {
    for (name, value) in expected {
        assert_eq!(report.value(name), Some(*value), "{name}");
    }
}

#[test]
fn awr_text_report_is_read() {
    let report = read_clean(TEXT);
    assert_eq!(report.kind, AwrReportKind::Awr);
    assert_eq!(report.word("instance"), Some("shop2"));
    values(
        &report,
        &[
            ("dbid", 1_001_002_003.0),
            ("cpus", 16.0),
            ("cores", 4.0),
            ("memory_gb", 128.0),
            ("begin_snap", 700.0),
            ("elapsed_min", 30.0),
            ("load_profile_per_s.redo_size", 812_345.6),
            ("load_profile_per_s.transactions", 300.0),
            ("efficiency_pct.buffer_hit", 95.0),
            ("host_cpu.load_begin", 3.25),
            ("host_cpu.idle_pct", 75.0),
            ("instance_cpu.total_cpu_pct", 20.1),
            ("cache_bytes_begin.std_block_size", 8_192.0),
            ("os_stats.TCP_RECEIVE_SIZE_MAX", 9_223_372_036_854_775_800.0),
            ("instance_activity.physical write total IO requests", 1_440_000.0),
            ("derived.read_iops", 3_000.0),
            ("derived.read_mib_per_s", 25.0),
            ("derived.redo_iops", 300.0),
            ("derived.redo_mib_per_s", 1.5),
            ("derived.cpu_busy_pct", 25.0),
            ("derived.single_block_read_ms", 0.5),
        ],
    );
    // Sockets are blank on AIX, and printed without width in one place.
    assert_eq!(report.value("sockets"), None);
    let names: Vec<_> = report.top_events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["db file sequential read", "DB CPU", "log file sync", "enq: TX -  contention"]);
    assert_eq!(report.top_events[3].average.map(|average| average.seconds().value), Some(52.86));
}

#[test]
fn awr_text_report_lists_are_read() {
    let report = read_clean(TEXT);
    let bands =
        |i: usize| report.histograms[i].bands.iter().map(|b| (b.from_us, b.below_us)).collect::<Vec<_>>();
    assert_eq!(bands(0).len(), 14, "the table of details takes the place of the last band: {:?}", bands(0));
    assert_eq!(bands(1).last(), Some(&(512, None)));
    let total: f64 = report.histograms[0].bands.iter().map(|band| band.share_pct.value).sum();
    assert!((total - 100.0).abs() < 0.5, "{total}");
    assert_eq!(report.histograms[1].waits, None, "a count that lost its suffix is not known");
    let statements = &report.statements[0].statements;
    assert_eq!((statements.len(), statements[0].figures["elapsed_s"].value), (1, 1_500.5));
    let cache = &report.io_functions[0].figures;
    assert_eq!(cache["read_bytes_per_s"].value, 24.9742 * 1_048_576.0, "the volume determines the suffix");
    let segment = &report.segments[0].segments[0];
    assert_eq!((segment.owner.as_str(), segment.name.as_str()), ("SHOPOWNER", "ORDERS"));
    assert_eq!(segment.value.map(|value| value.value), Some(50_000_000.0));
    assert_eq!(report.parameters[1].end_value.as_deref(), Some("8589934592"));
}

#[test]
fn statspack_text_report_is_read() {
    let report = read_clean(STATSPACK);
    assert_eq!(
        (report.kind, report.word("db_name"), report.word("instance")),
        (AwrReportKind::Statspack, None, Some("till"))
    );
    values(
        &report,
        &[
            ("cpus", 4.0),
            ("memory_gb", 15.5),
            ("db_time_min", 15.0),
            ("db_cpu_min", 6.0),
            ("load_profile_per_s.logical_reads", 1_000.5),
            ("cache_bytes_begin.buffer_cache", 536_870_912.0),
            ("host_cpu.user_pct", 12.5),
            ("host_cpu.io_wait_pct", 1.5),
        ],
    );
    assert_eq!(report.top_events[1].average_raw, "8");
    assert_eq!(report.tablespaces[0].figures["read_ms"].value, 7.5);
    assert_eq!(report.parameters[0].value, "/data/one/two/three/four/five/six/control01.ctl");
}

#[test]
fn awr_html_report_matches_text_report() {
    let (text, html) = (read_clean(TEXT), read_clean(HTML));
    for (name, figure) in &html.figures {
        if name.starts_with("derived.") {
            continue;
        }
        assert_eq!(text.value(name), Some(figure.reading.value), "{name}");
    }
    assert_eq!(html.word("host"), Some("dbhost-two.example.com"));
    assert_eq!(html.top_events[3].name, "<script>alert(1)</script>");
    assert_eq!(html.statements[0].statements[0].id, "a1b2c3d4e5f6g");
    assert_eq!(html.histograms[0].bands.len(), 4);
}

#[test]
fn awr_rac_global_report_is_read() {
    let report = read_clean(GLOBAL);
    assert_eq!((report.kind, report.word("version")), (AwrReportKind::AwrRacGlobal, Some("19.0.0.0.0")));
    values(&report, &[("load_profile_per_s.logical_reads", 3_000.75), ("redo_size_kb_per_s", 30.75)]);
    assert_eq!(report.value("load_profile_per_s.redo_size"), None);
    assert_eq!(report.top_events.len(), 1);
    assert_eq!(report.instances[1].figures["load_profile_per_s.logical_reads"].reading.value, 2_000.25);
    let lines: Vec<_> = dyno_awr::row::lines(&report).map(|line| line.value("instance")).collect();
    let text = |name: &str| dyno_awr::AwrValue::Text(name.into());
    assert_eq!(lines, [text("*"), text("shop1"), text("shop2")]);
}

#[test]
fn sql_text_and_object_names_are_hidden_by_default() {
    let report = read_clean(TEXT);
    let hidden = serde_json::to_string(&to_json(&report, AwrJsonOptions::default())).unwrap();
    for secret in ["secret_table", "shop.exe", "SHOPOWNER", "ORDERS"] {
        assert!(!hidden.contains(secret), "{secret}");
    }
    let shown =
        serde_json::to_string(&to_json(&report, AwrJsonOptions { sql_text: true, object_names: true }))
            .unwrap();
    assert!(shown.contains("secret_table"));
    assert!(shown.contains("SHOPOWNER"));
}

#[test]
fn every_awr_value_has_a_source() {
    let report = read_clean(TEXT);
    let source = &report.figures["load_profile_per_s.redo_size"].source;
    assert_eq!(
        (source.section.as_ref(), source.caption.as_ref()),
        ("Load Profile", "Redo size (bytes) / Per Second")
    );
    let line = TEXT.lines().position(|line| line.contains("Redo size (bytes)")).unwrap() + 1;
    assert_eq!(source.line as usize, line);
}

/// What is read from a report, independent of changes to its file.
fn essence(report: &AwrReport) -> (Vec<(String, String)>, usize) {
    let figures = report.figures.iter().map(|(name, figure)| (name.clone(), format!("{:?}", figure.reading)));
    (figures.collect(), report.top_events.len())
}

#[test]
fn line_endings_encodings_and_gzip_make_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(TEXT.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(TEXT.as_bytes()).unwrap();
    let files = [
        ("crlf.txt", TEXT.replace('\n', "\r\n").into_bytes()),
        ("utf16.txt", utf16),
        ("packed.txt.gz", packer.finish().unwrap()),
        ("latin.txt", TEXT.bytes().map(|b| if b == b'@' { 0xe9 } else { b }).collect()),
        ("feeds.txt", TEXT.replace("\nTime Model", "\n\u{c}Time Model").into_bytes()),
    ];
    let plain = essence(&read_clean(TEXT));
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let reports = read_file(&path).unwrap();
        assert_eq!(essence(reports[0].as_ref().unwrap()), plain, "{name}");
    }
}

#[test]
fn spooled_page_headings_do_not_change_report() {
    let dashes = "-".repeat(80);
    let mut spooled = String::new();
    for (i, line) in TEXT.lines().enumerate() {
        if i % 14 == 13 {
            spooled.push_str(&format!("\nOUTPUT\n{dashes}\n"));
        }
        spooled.push_str(line);
        spooled.push('\n');
    }
    assert_eq!(essence(&read_clean(&spooled)), essence(&read_clean(TEXT)));
}

#[test]
fn html_saved_by_browser_reads_the_same() {
    let upper = |tag: &str| tag.to_uppercase();
    let mut saved =
        HTML.replace(" align=\"right\"", " align=right").replace(" class='awrnc'", " class=awrnc");
    for tag in ["table", "tr", "td", "th", "h1", "h3", "p", "body", "html", "ul", "li"] {
        saved = saved.replace(&format!("<{tag}"), &format!("<{}", upper(tag)));
        saved = saved.replace(&format!("</{tag}>"), &format!("</{}>", upper(tag)));
    }
    let saved = saved.replace("<TR>", "<TBODY><TR>\r\n").replace("sequential read", "sequential\r\n  read");
    let report = read_clean(&saved);
    assert_eq!(essence(&report), essence(&read_clean(HTML)));
    assert_eq!(report.top_events[0].name, "db file sequential read");
}

#[test]
fn several_reports_in_one_file_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("day.txt");
    std::fs::write(&path, format!("{TEXT}{STATSPACK}{TEXT}")).unwrap();
    let reports: Vec<AwrReport> = read_file(&path).unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(reports.iter().map(|report| report.part).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(reports[1].kind, AwrReportKind::Statspack);
    assert_eq!(essence(&reports[2]), essence(&reports[0]));
    let line = |report: &AwrReport| report.figures["dbid"].source.line as usize;
    assert_eq!(line(&reports[2]), line(&reports[0]) + TEXT.lines().count() + STATSPACK.lines().count());
}

#[test]
fn truncated_awr_report_is_read_up_to_the_cut() {
    let report = read(&TEXT[..TEXT.find("Key Instance").unwrap()]);
    assert_eq!(report.value("load_profile_per_s.redo_size"), Some(812_345.6));
    assert_eq!(report.issues.len(), 1);
    assert!(report.issues[0].message.contains("End of Report"));
    assert!(!report.has_errors());
    let report = read(&HTML[..HTML.find("log file sync").unwrap()]);
    assert_eq!(report.top_events.len(), 2, "{:?}", report.top_events);
    // A truncated figure is no figure: `540,000` is not 54.
    for report in [
        read(&TEXT[..TEXT.find("000        540").unwrap()]),
        read(&HTML[..HTML.find("000</td><td>540<").unwrap()]),
    ] {
        assert!(
            report.top_events.iter().all(|event| event.name != "log file sync"),
            "{:?}",
            report.top_events
        );
    }
}

#[test]
fn german_months_parse_and_unknown_months_are_kept() {
    let german = TEXT.replace("-Mar-24", "-Mrz-24");
    let report = read_clean(&german);
    assert_eq!(
        dyno_awr::parse_timestamp(report.word("begin_time").unwrap()).unwrap().to_string(),
        "2024-03-05T10:00:00"
    );
    let report = read(&TEXT.replace("05-Mar-24", "05-Xyz-24"));
    assert_eq!(report.word("begin_time"), Some("05-Xyz-24 10:00:00"));
    assert!(report.issues.iter().all(|issue| !issue.is_error() && issue.message.contains("05-Xyz-24")));
}

#[test]
fn awr_report_with_decimal_commas_is_read() {
    let swapped: String = TEXT
        .lines()
        .map(|line| {
            // Only figures are written differently, not releases.
            let figures = !line.contains("12.2.0.1.0") && line.chars().any(|c| c.is_ascii_digit());
            let swap = |c| match c {
                ',' => '.',
                '.' => ',',
                c => c,
            };
            let line: String = if figures { line.chars().map(swap).collect() } else { line.to_owned() };
            line + "\n"
        })
        .collect();
    let (report, plain) = (read(&swapped), read_clean(TEXT));
    for name in [
        "load_profile_per_s.redo_size",
        "load_profile_per_s.logical_reads",
        "os_stats.BUSY_TIME",
        "elapsed_min",
    ] {
        assert_eq!(report.value(name), plain.value(name), "{name}");
    }
    // One column in the session's own format, as printed by `to_char` without a format.
    let mixed_decimals = TEXT.replace("   37.4\n", "   37,4\n");
    assert_eq!(read_clean(&mixed_decimals).top_events[1].share_pct.map(|share| share.value), Some(37.4));
}

#[test]
fn unreadable_number_is_an_error_with_its_line() {
    let report = read(&TEXT.replace("5,000.1 ", "5,0#0.1 "));
    assert_eq!(report.value("load_profile_per_s.block_changes"), None);
    let issue = report.issues.iter().find(|issue| issue.is_error()).unwrap();
    let line = TEXT.lines().position(|line| line.contains("Block changes")).unwrap() + 1;
    assert_eq!(issue.line as usize, line);
    assert!(issue.line_of("a.txt").contains("5,0#0.1"), "{}", issue.line_of("a.txt"));
    let report = read(&TEXT.replace("5,000.1 ", "####### "));
    assert!(!report.has_errors(), "what was never printed is absent: {:?}", report.issues);
    assert!(report.issues.len() == 1, "what was never printed is absent: {:?}", report.issues);
}

#[test]
fn values_outside_their_columns_are_read_or_reported() {
    let wide = read(&TEXT.replace("          64,000.5", "          640,000.5"));
    assert_eq!(wide.value("load_profile_per_s.logical_reads"), Some(640_000.5));
    let report = read(&TEXT.replace(
        "log file sync                  540,000     0",
        "log file sync                  540,000 x x  0",
    ));
    assert!(report.issues.iter().any(|issue| issue.message.contains("540,000 x x")), "{:?}", report.issues);
}

#[test]
fn unknown_sections_are_reported_and_other_reports_refused() {
    let report = read(&TEXT.replace("Segments by Logical", "Zebras by Logical"));
    assert!(
        report.issues.iter().any(|issue| issue.section == "Zebras by Logical Reads"),
        "{:?}",
        report.issues
    );
    assert!(matches!(read_report("nothing", "x", 1), Err(AwrError::NoReport)));
    let compare = "WORKLOAD REPOSITORY COMPARE PERIOD REPORT\n";
    assert!(matches!(read_report(compare, "x", 1), Err(AwrError::OtherReport { .. })));
    assert!(matches!(read_file(Path::new("/nonexistent")), Err(AwrError::Input(_))));
}

#[test]
fn section_without_title_is_still_read() {
    let untitled = HTML.replace("Load Profile<p />", "<p />");
    assert_eq!(read(&untitled).value("load_profile_per_s.redo_size"), Some(812_345.6));
}

/// What SQL*Plus writes for a line with `SET TAB ON`.
fn with_tabs(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let stops = chars.chunks(8).map(|stop| {
        let text: String = stop.iter().collect();
        let is_blank_end = stop.len() == 8 && text.ends_with("  ");
        if is_blank_end { format!("{}\t", text.trim_end_matches(' ')) } else { text }
    });
    stops.collect()
}

#[test]
fn tabs_and_dialog_of_a_transcript_change_no_value() {
    let dialogue = "Instances in this Workload Repository schema\n~~~~~~~~~~~~\n\n  DB Id      Inst Num DB Name      Instance     Host\n\
        ------------ -------- ------------ ------------ ------------\n  2000000001        9 OTHER        other9       elsewhere\n\n\
        Begin Snapshot Id specified: 700\n\n";
    let spooled: String = TEXT.lines().map(|line| with_tabs(line) + "\n").collect();
    assert!(spooled.contains('\t'));
    let [plain, transcript] = [read(TEXT), read(&format!("{dialogue}{spooled}\n{dialogue}"))];
    assert_eq!(transcript.word("instance"), Some("shop2"));
    let values = |report: &AwrReport| {
        report.figures.iter().map(|(name, figure)| (name.clone(), figure.reading)).collect::<Vec<_>>()
    };
    assert_eq!(values(&transcript), values(&plain));
    assert_eq!(transcript.issues, []);
    assert_eq!(transcript.top_events.len(), plain.top_events.len());
}

#[test]
fn wrapped_html_lines_are_joined_and_truncated_ones_refused() {
    let pieces = |line: &str| {
        let chars: Vec<char> = line.chars().collect();
        chars
            .chunks(132)
            .map(|piece| format!("{:<132}\n", piece.iter().collect::<String>()))
            .collect::<String>()
    };
    let page = GLOBAL.replace("\n<t", "<t");
    let broken: String = page.lines().map(pieces).collect();
    let [whole, joined] = [read(&page), read(&broken)];
    let values = |report: &AwrReport| {
        report.figures.iter().map(|(name, figure)| (name.clone(), figure.reading)).collect::<Vec<_>>()
    };
    assert!(broken.lines().count() > page.lines().count());
    assert_eq!(values(&joined), values(&whole));
    assert_eq!(joined.instances.len(), whole.instances.len());
    let cut: String = page.lines().map(|line| line.chars().take(132).collect::<String>() + "\n").collect();
    let refused = read_report(&cut, "x", 1);
    assert!(!matches!(&refused, Ok(report) if !report.figures.is_empty()), "{refused:?}");
}

#[test]
fn reports_without_valid_interval_are_refused_with_reason() {
    let span =
        format!("\n\nERROR: Snapshots chosen span an instance shutdown: RESULTS ARE INVALID\n{STATSPACK}");
    assert!(matches!(read_report(&span, "x", 1), Err(AwrError::SpansShutdown)));
    let page = "<html><head><title>StatsPack Report for SHOP</title></head><body><h1>StatsPack Report for SHOP</h1>\
        <table><tr><th>Name</th></tr><tr><td>x</td></tr></table><p>Created by OSPRep v0.4.1</p></body></html>";
    assert!(matches!(read_report(page, "x", 1), Err(AwrError::OspRep)));
}

#[test]
fn instance_is_read_from_section_titles_without_header() {
    let header = TEXT.split_once("Host Name").unwrap();
    let report = read(&format!("WORKLOAD REPOSITORY report for\n\nHost Name{}", header.1));
    assert_eq!(report.word("instance"), Some("shop2"));
}

const STATSPACK_10_1: &str = "\
STATSPACK report for

DB Name         DB Id    Instance     Inst Num Release     RAC Host
------------ ----------- ------------ -------- ----------- --- ----------------
SHOP          1001002003 shop1               1 10.1.0.3.0  NO  db1.somewhere.ex
                                                               ample

              Snap Id     Snap Time      Sessions Curs/Sess Comment
            --------- ------------------ -------- --------- -------------------
Begin Snap:        74 30-Jan-05 09:00:00       15       7.9
  End Snap:        75 30-Jan-05 09:20:00       16       7.3
   Elapsed:               20.00 (mins)

Wait Event Histogram  DB/Inst: SHOP/shop1  Snaps: 74-75

Event
--------------------------------------------------
    0 - 1 ms     1 - 4 ms    4 - 8 ms    8 - 16 ms    16 - 32 ms      32+ ms
------------ ------------ ------------ ------------ ------------ ------------
log file sync
           6            2            0            0            0            2
db file sequential read
\u{c}Wait Event Histogram  DB/Inst: SHOP/shop1  Snaps: 74-75

Event
--------------------------------------------------
    0 - 1 ms     1 - 4 ms    4 - 8 ms    8 - 16 ms    16 - 32 ms      32+ ms
------------ ------------ ------------ ------------ ------------ ------------
       1,000            0            0            0            0            0
SQL*Net message to client
           4            0            0            0            0            0

          -------------------------------------------------------------
OS Statistics  DB/Inst: SHOP/shop1  Snaps: 74-75

Statistic                                  Total
-------------------------- ---------------------
BUSY_TICKS                                30,000
IDLE_TICKS                                90,000
          -------------------------------------------------------------
End of Report
";

#[test]
fn statspack_10_1_wait_bands_and_cpu_ticks_are_read() {
    let report = read_clean(STATSPACK_10_1);
    assert_eq!(report.word("host"), Some("db1.somewhere.example"));
    values(&report, &[("derived.cpu_busy_pct", 25.0), ("elapsed_min", 20.0)]);
    let shares = |event: &str| {
        let histogram = report.histograms.iter().find(|histogram| histogram.event == event).unwrap();
        let shares: Vec<f64> = histogram.bands.iter().map(|band| band.share_pct.value).collect();
        (histogram.waits.unwrap().value, shares)
    };
    assert_eq!(shares("log file sync"), (10.0, vec![60.0, 20.0, 0.0, 0.0, 0.0, 20.0]));
    assert_eq!(shares("db file sequential read").0, 1_000.0);
    assert_eq!(shares("SQL*Net message to client").0, 4.0);
}

#[test]
fn awr_parser_columns_take_the_printed_share_of_db_time() {
    let report = read(TEXT);
    let printed = report.event("db file sequential read").unwrap().share_pct.unwrap();
    let names = AwrCompatLayout::AwrParser.names();
    let at = names.iter().position(|name| name == "db file sequential read %DBTime").unwrap();
    assert_eq!(AwrCompatLayout::AwrParser.values(&report)[at], AwrValue::Number(printed));
}

#[test]
fn diff_separates_pdbs_and_matches_truncated_parameters() {
    let page = |north_reads: u32, south_reads: u32, value: &str| {
        format!(
            "<html><h1>WORKLOAD REPOSITORY report for</h1>\n<table><tr><th></th><th>Snap Id</th><th>Snap Time</th></tr>\
            <tr><td>Begin Snap:</td><td>1</td><td>05-Mar-24 10:00:00</td></tr><tr><td>End Snap:</td><td>2</td><td>05-Mar-24 11:00:00</td></tr>\
            <tr><td>Elapsed:</td><td></td><td>60.00 (mins)</td></tr></table>\n<h3>Segments by Logical Reads</h3>\
            <table><tr><th>Owner</th><th>Tablespace Name</th><th>Object Name</th><th>PDB Name</th><th>Obj. Type</th><th>Logical Reads</th><th>%Total</th></tr>\
            <tr><td>SHOP</td><td>USERS</td><td>ORDERS</td><td>NORTH</td><td>TABLE</td><td>{north_reads}</td><td>50</td></tr>\
            <tr><td>SHOP</td><td>USERS</td><td>ORDERS</td><td>SOUTH</td><td>TABLE</td><td>{south_reads}</td><td>50</td></tr></table>\n\
            <h3>init.ora Parameters</h3><table><tr><th>Parameter Name</th><th>Begin value</th></tr>\
            <tr><td>control_files</td><td>{value}</td></tr></table>\n<p>End of Report</p></html>"
        )
    };
    let long = "+DATA/SHOP/CONTROLFILE/current.261.1001002003";
    let [a, b] = [read(&page(3_600, 36_000, long)), read(&page(7_200, 36_000, long))];
    let segments = dyno_awr::diff::diff(&a, &b).segments;
    assert_eq!(segments.len(), 1, "{segments:?}");
    assert_eq!(segments[0].object.name, "NORTH:SHOP.ORDERS");
    let mut text = read(&page(3_600, 36_000, &long[..33]));
    assert_eq!(dyno_awr::diff::diff(&text, &b).parameters.len(), 1, "whole values that differ");
    text.form = dyno_awr::AwrFormat::Text;
    assert_eq!(dyno_awr::diff::diff(&text, &b).parameters, []);
    text.parameters[0].value = long.replace("/current", " /current");
    assert_eq!(dyno_awr::diff::diff(&text, &b).parameters, [], "text breaks lists at other places");
    text.parameters[0].value = "+DATA".into();
    assert_eq!(dyno_awr::diff::diff(&text, &b).parameters.len(), 1, "a short value is not cut");
}
