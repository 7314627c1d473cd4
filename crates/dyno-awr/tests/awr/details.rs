//! Tests sections of rows with figures, as each release prints them.

use dyno_awr::timeline::{AwrRateKind, Rates};
use dyno_awr::{
    AwrJsonOptions, AwrOutputRow, AwrReport, AwrValue, DetailRow, read_report, section_figures, to_json,
};

const TEXT: &str = include_str!("../reports/awr_12.2_rac.txt");
const HTML: &str = include_str!("../reports/awr_12.2_rac.html");
const GLOBAL: &str = include_str!("../reports/awr_19_global.txt");
const STATSPACK: &str = include_str!("../reports/statspack_9.2.txt");

/// A report with a piece inserted before its end.
fn with(report: &str, piece: &str) -> AwrReport {
    let text = report.replace("End of Report", &format!("{piece}\nEnd of Report"));
    read_report(&text, "report", 1).unwrap()
}

fn row<'r>(report: &'r AwrReport, list: &str, name: &str) -> &'r DetailRow {
    let rows = &report.details[list];
    let names: Vec<_> = rows.iter().map(|row| &row.name).collect();
    rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name:?} is not in {names:?}"))
}

/// Figures of a row; absent ones are NaN.
fn figures<const N: usize>(report: &AwrReport, list: &str, name: &str, figures: [&str; N]) -> [f64; N] {
    let row = row(report, list, name);
    figures.map(|figure| row.figures.get(figure).map_or(f64::NAN, |reading| reading.value))
}

/// A table of HTML; cells are separated by bars.
fn table(title: &str, rows: &[&str]) -> String {
    let cells = |kind: &str, row: &str| {
        row.split('|').map(|cell| format!("<{kind}>{cell}</{kind}>")).collect::<String>()
    };
    let head = cells("th", rows[0]);
    let rows: String = rows[1..].iter().map(|row| format!("<tr>{}</tr>\n", cells("td", row))).collect();
    format!("<h3 class=\"awr\">{title}</h3>\n<table>\n<tr>{head}</tr>\n{rows}</table>\n<p />")
}

const ADVISORIES: &str = "\
Buffer Pool Advisory                         DB/Inst: SHOP/shop1  Snap: 2
-> Only rows with estimated physical reads >0 are displayed

                                    Est
                                   Phys      Estimated                  Est
    Size for   Size      Buffers   Read     Phys Reads     Est Phys %DBtime
P    Est (M) Factor  (thousands) Factor    (thousands)    Read Time for Rds
--- -------- ------ ------------ ------ -------------- ------------ -------
D        512     .5           64    1.3          8,200       71,500   120.5
                          ------------------------------------------------------

Shared Pool Advisory                         DB/Inst: SHOP/shop1  Snap: 2

                                       Est LC Est LC  Est LC Est LC
  Shared    SP   Est LC                  Time   Time    Load   Load       Est LC
    Pool  Size     Size       Est LC    Saved  Saved    Time   Time      Mem Obj
 Size(M) Factr      (M)      Mem Obj      (s)  Factr     (s)  Factr     Hits (K)
-------- ----- -------- ------------ -------- ------ ------- ------ ------------
   1,600   1.0      110        5,000  140,000    0.9   2,000    1.2        3,900
                          ------------------------------------------------------
";

#[test]
fn advisory_figures_in_thousands_are_multiplied() {
    let report = with(TEXT, ADVISORIES);
    let read =
        figures(&report, "buffer_pool_advisory", "D 512", ["buffers", "physical_reads", "db_time_pct"]);
    assert_eq!(read, [64_000.0, 8_200_000.0, 120.5]);
    let names = ["time_saved_s", "load_time_factor", "object_hits"];
    assert_eq!(figures(&report, "shared_pool_advisory", "1,600", names), [140_000.0, 1.2, 3_900_000.0]);
}

#[test]
fn statspack_9i_section_with_end_snapshot_only_is_read() {
    let section = "\
Buffer Pool Advisory for DB: KIOSK  Instance: kiosk1  End Snap: 12
-> Only rows with estimated physical reads >0 are displayed

        Size for  Size      Buffers for  Est Physical          Estimated
P   Estimate (M) Factr         Estimate   Read Factor     Physical Reads
--- ------------ ----- ---------------- ------------- ------------------
D            144    .1           30,000         12.50     11,000,000,123
          -------------------------------------------------------------
Enqueue activity for DB: KIOSK  Instance: kiosk1  Snaps:        11 -       12
                                                        Avg Wt         Wait
Eq     Requests    Succ Gets Failed Gets       Waits   Time (ms)     Time (s)
-- ------------ ------------ ----------- ----------- ------------- ------------
TX      900,100      896,100       4,000       5,200          2.50           12
          -------------------------------------------------------------
";
    let report = with(STATSPACK, section);
    let read = figures(&report, "buffer_pool_advisory", "D 144", ["buffers", "physical_reads"]);
    assert_eq!(read, [30_000.0, 11_000_000_123.0]);
    assert_eq!(figures(&report, "enqueues", "TX", ["waits", "wait_s", "mean_wait_ms"]), [5_200.0, 12.0, 2.5]);
}

#[test]
fn figures_sharing_one_cell_are_separated() {
    let head = "Undo TS#|Num Undo Blocks (K)|Number of Transactions|Max Qry Len (s)|Max Tx Concurcy|Min/Max TR (mins)|STO/ OOS|uS/uR/uU/ eS/eR/eU";
    let undo = table("Undo Segment Summary", &[head, "2|31.25|250,000|900|20|18.5/27.5|1/0|0/0/3/4/5/6"]);
    let report = with(HTML, &undo);
    let names =
        ["undo_blocks", "min_retention_min", "max_retention_min", "snapshots_too_old", "expired_reused"];
    assert_eq!(figures(&report, "undo", "2", names), [31_250.0, 18.5, 27.5, 1.0, 6.0]);
}

#[test]
fn resource_limits_and_rollback_segments_are_read() {
    let section = "\
Resource Limit Stats                     DB/Inst: SHOP/shop1  Snap: 2
-> only rows with Current or Maximum Utilization > 80% of Limit are shown
-> ordered by resource name

                                  Current      Maximum     Initial
Resource Name                   Utilization  Utilization Allocation   Limit
------------------------------ ------------ ------------ ---------- ----------
ges_cache_ress                       24,848       25,587          0  UNLIMITED
processes                               291          300        300        300
                          ------------------------------------------------------

Rollback Segment Stats                   DB/Inst: SHOP/shop1  Snaps: 1-2
->A high value for \"Pct Waits\" suggests more rollback segments may be required

        Trans Table       Pct   Undo Bytes
RBS No      Gets        Waits     Written        Wraps  Shrinks  Extends
------ -------------- ------- --------------- -------- -------- --------
     0           17.0    0.00               0        0        0        0
     5       12,041.0    1.25      98,304,512       12        1        3
          -------------------------------------------------------------

Rollback Segment Storage                 DB/Inst: SHOP/shop1  Snaps: 1-2
->Optimal Size should be larger than Avg Active

RBS No    Segment Size      Avg Active    Optimal Size    Maximum Size
------ --------------- --------------- --------------- ---------------
     0         385,024               0                         385,024
     5     104,857,600      12,582,912      52,428,800     209,715,200
          -------------------------------------------------------------
";
    let report = with(TEXT, section);
    assert_eq!(
        figures(&report, "resource_limits", "processes", ["current", "maximum", "limit"]),
        [291.0, 300.0, 300.0]
    );
    let unlimited = &row(&report, "resource_limits", "ges_cache_ress").figures;
    assert!(unlimited["current"].value == 24_848.0, "{unlimited:?}");
    assert!(!unlimited.contains_key("limit"), "{unlimited:?}");
    let names = ["table_gets", "wait_pct", "undo_bytes", "wraps", "extends"];
    assert_eq!(figures(&report, "rollback_segments", "5", names), [12_041.0, 1.25, 98_304_512.0, 12.0, 3.0]);
    let sizes = ["bytes", "mean_active_bytes", "optimal_bytes", "max_bytes"];
    let expected = [104_857_600.0, 12_582_912.0, 52_428_800.0, 209_715_200.0];
    assert_eq!(figures(&report, "rollback_segment_sizes", "5", sizes), expected);
    assert!(report.issues.is_empty(), "{:?}", report.issues);
}

#[test]
fn blank_name_cell_repeats_name_of_row_above() {
    let section = "\
Process Memory Summary                   DB/Inst: SHOP/shop1  Snaps: 1-2
-> B: Begin Snap   E: End Snap

                                                             Hist
                                     Avg  Std Dev     Max     Max
                Alloc      Used    Alloc    Alloc   Alloc   Alloc    Num    Num
   Category      (MB)      (MB)     (MB)     (MB)    (MB)    (MB)   Proc  Alloc
 - -------- --------- --------- -------- -------- ------- ------- ------ ------
B Freeable     300.5        .0      1.9      5.8      43     N/A    159    159
  Other      1,650.5       N/A      4.3      6.5      92      93    384    385
E Freeable     210.5        .0      4.6      9.9      43     N/A     45     45
                          ------------------------------------------------------
";
    let report = with(TEXT, section);
    let names = ["allocated_mb", "max_allocated_mb", "processes", "allocations"];
    assert_eq!(figures(&report, "process_memory", "B Other", names), [1_650.5, 92.0, 384.0, 385.0]);
    assert_eq!(figures(&report, "process_memory", "E Freeable", names), [210.5, 43.0, 45.0, 45.0]);
    assert!(!row(&report, "process_memory", "B Other").figures.contains_key("used_mb"), "N/A is absent");
}

#[test]
fn ruler_above_a_sum_starts_no_new_table() {
    let section = "\
SGA Memory Summary                       DB/Inst: SHOP/shop1  Snaps: 1-2

                                                        End Size (Bytes)
SGA regions                      Begin Size (Bytes)       (if different)
------------------------------ -------------------- --------------------
Database Buffers                        800,000,000
Redo Buffers                              9,000,192            9,000,200
                               -------------------- --------------------
sum                                   1,100,000,216
                          ------------------------------------------------------
";
    let report = with(TEXT, section);
    let begin = |name: &str| figures(&report, "sga", name, ["begin_bytes", "end_bytes"]);
    assert_eq!(begin("Redo Buffers"), [9_000_192.0, 9_000_200.0]);
    assert_eq!(begin("sum")[0], 1_100_000_216.0);
}

#[test]
fn cluster_times_are_converted_to_milliseconds() {
    let times = |unit: &str| {
        let head = format!(
            "Inst No|Block Class|CR Avg Time ({unit}) All|CR Avg Time ({unit}) Immed|Current Avg Time ({unit}) All"
        );
        table(&format!("Global Cache Transfer Times ({unit})"), &[&head, "2|data block|450|440|220.5"])
    };
    for (unit, cr_ms, current_ms) in [("us", 0.45, 0.2205), ("ms", 450.0, 220.5)] {
        let report = with(HTML, &times(unit));
        assert_eq!(
            figures(&report, "gc_transfer_times", "2 data block", ["cr_ms", "current_ms"]),
            [cr_ms, current_ms]
        );
    }
    // The unit of pings is in a note that differs under another title.
    let ping = |title: &str| {
        table(title, &["Target Instance|500B Ping Count|Avg Latency 500B msg|Stddev 500B msg", "2|30|350|.5"])
    };
    for (title, small_ms) in
        [("Interconnect Ping Latency Stats", 350.0), ("Interconnect Ping Latency Statistics", 0.35)]
    {
        assert_eq!(figures(&with(HTML, &ping(title)), "ping", "2", ["small_ms"]), [small_ms]);
    }
}

#[test]
fn io_functions_are_split_by_file_type() {
    let section = "\
IOStat by Function/Filetype summary      DB/Inst: SHOP/shop1  Snaps: 1-2
-> 'Data' columns suffixed with M,G,T,P are in multiples of 1024
    other columns suffixed with K,M,G,T,P are in multiples of 1000

  Reads:  Reqs    Data   Writes:  Reqs    Data    Waits:      Avg
    Data per sec per sec    Data per sec per sec   Count     Time
 ------- ------- ------- ------- ------- ------- ------- ----------
LGWR
      1M     0.2   .003M      8M     9.5    .01M     42K   750.25us
 LGWR (Log File)
      0M     0.0      0M      8M     9.5    .01M     42K   750.25us
                          ------------------------------------------------------
";
    let report = with(TEXT, section);
    let read: Vec<_> =
        report.io_function_filetypes.iter().map(|row| (row.name.as_str(), row.figures.len())).collect();
    assert_eq!(read, [("LGWR", 8), ("LGWR (Log File)", 8)]);
    let log = &report.io_function_filetypes[1].figures;
    assert_eq!((log["write_bytes"].value, log["waits"].value), (8.0 * 1_048_576.0, 42_000.0));
}

#[test]
fn session_users_and_programs_are_shown_only_on_request() {
    let head = "Sid, Serial#|% Activity|Event|% Event|User|Program|# Samples Active|XIDs";
    let report = with(
        HTML,
        &table("Top Sessions", &[head, "77,12345|1.60|log file sync|1.10|PAYROLL|sqlplus|9/12 [ 75%]|2"]),
    );
    assert_eq!(
        figures(&report, "ash_sessions", "77,12345 log file sync", ["event_pct", "transactions"]),
        [1.10, 2.0]
    );
    let json = |object_names| {
        serde_json::to_string(&to_json(&report, AwrJsonOptions { object_names, ..AwrJsonOptions::default() }))
            .unwrap()
    };
    assert!(!json(false).contains("PAYROLL"));
    assert!(json(true).contains("PAYROLL"));
}

#[test]
fn tablespaces_keep_their_pdb() {
    let head = "Tablespace|Reads|Av Rds/s|Av Rd(ms)|Writes|Writes avg/s|PDB Name";
    let report = with(
        HTML,
        &table("Tablespace IO Stats", &[head, "USERS|7,200|2|1.5|10|0|SALES", "USERS|36|0|2.5|20|0|STOCK"]),
    );
    let pdbs: Vec<_> = report.tablespaces.iter().map(|row| row.pdb.as_deref()).collect();
    assert_eq!(pdbs, [Some("SALES"), Some("STOCK")]);
    let rates = Rates::of(&report);
    let named = |name: &str| {
        let object = |thing: &dyno_awr::timeline::AwrRateSubject| {
            thing.object.as_ref().is_some_and(|of| of.name == name)
        };
        rates.0.iter().filter(|(thing, _)| thing.name == "tablespace_reads" && object(thing)).count()
    };
    assert_eq!((named("SALES:USERS"), named("STOCK:USERS")), (1, 1));
}

#[test]
fn cluster_segments_are_listed_by_statistic() {
    let section = "\
Segment Statistics (Global)              DB/Inst: SHOP/shop1  Snaps: 70-71

                                           Tablespace                        Subobject  Obj.
Statistic            Owner                 Name       Object Name            Name       Type              Obj#   Dataobj#           Value  %Total %Capture
-------------------- --------------------- ---------- ---------------------- ---------- ---------- ----------- ---------- --------------- ------- --------
gc cr blocks receive APP                   DATA       ORDERS                            TABLE             1001       1001             576    10.4    29.51
                     APP                   DATA       LINES                  P1         INDEX             1002       1002             100     1.8     5.12
logical reads        APP                   DATA       ORDERS                            TABLE             1001       1001         123,456    97.1    99.00
";
    let report = with(GLOBAL, section);
    let lists: Vec<_> =
        report.segments.iter().map(|list| (list.order.as_str(), list.segments.len())).collect();
    assert!(lists.contains(&("gc_cr_blocks_receive", 2)), "{lists:?}");
    assert!(lists.contains(&("logical_reads", 1)), "{lists:?}");
}

#[test]
fn statistics_with_equal_truncated_names_are_all_kept() {
    let section = "\
Other Instance Activity Stats            DB/Inst: SHOP/shop1  Snaps: 1-2

Statistic                                     Total     per Second     per Trans
-------------------------------- ------------------ -------------- -------------
redo synch time overhead count (                 70            0.1           0.2
redo synch time overhead count (                  5            0.0           0.0
                          ------------------------------------------------------
";
    let report = with(TEXT, section);
    let value =
        |name: &str| report.value(&format!("instance_activity.redo synch time overhead count ({name}"));
    assert_eq!([value(" #1"), value(" #2"), value("")], [Some(70.0), Some(5.0), None]);
}

#[test]
fn parameters_with_same_truncated_name_are_all_kept() {
    let section = "\
init.ora Parameters                      DB/Inst: SHOP/shop1  Snaps: 1-2

                                                                End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
_a_name_that_is_far_too_long_ TRUE
_a_name_that_is_far_too_long_ FALSE
                          ------------------------------------------------------
";
    let report = with(TEXT, section);
    let long: Vec<_> = report.parameters.iter().filter(|of| of.name.starts_with("_a_name")).collect();
    let shown: Vec<_> = long.iter().map(|of| (of.full_name(), of.value.as_str())).collect();
    let cut = "_a_name_that_is_far_too_long_";
    assert_eq!(shown, [(format!("{cut} #1"), "TRUE"), (format!("{cut} #2"), "FALSE")]);
}

#[test]
fn unoptimized_read_executions_are_read_from_text() {
    let section = "\
SQL ordered by Physical Reads (UnOptimized)DB/Inst: SHOP/shop1  Snaps: 1-2
-> Total Physical Read Requests:         400,000

UnOptimized   Physical              UnOptimized
  Read Reqs   Read Reqs Executions Reqs per Exe   %Opt %Total    SQL Id
----------- ----------- ---------- ------------ ------ ------ -------------
    150,000     150,001    193,750          1.6    0.0   37.5 7abcdef1234gh
select 1 from dual

                          ------------------------------------------------------
";
    let report = with(TEXT, section);
    let list = report.statements.iter().find(|list| list.order == "unoptimized_reads").unwrap();
    let figures = &list.statements.iter().find(|of| of.id == "7abcdef1234gh").unwrap().figures;
    assert_eq!((figures["per_execution"].value, figures["executions"].value), (1.6, 193_750.0));
}

#[test]
fn offload_figures_require_complete_statistic_names() {
    let head = "Statistic|Total|per Second|per Trans";
    let rows = [
        head,
        "cell physical IO bytes eligible for predicate offload|4,000,000|1|1",
        "cell physical IO interconnect bytes returned by smart scan|1,000,000|1|1",
    ];
    let report = with(HTML, &table("Instance Activity Stats", &rows));
    assert_eq!(report.value("derived.offload_saved_pct"), Some(75.0));
    let cut =
        with(HTML, &table("Instance Activity Stats", &[head, "cell physical IO interconnect by|1,000|1|1"]));
    assert_eq!(cut.value("derived.offload_returned_mib_per_s"), None);
}

#[test]
fn totals_are_compared_per_second_and_shares_as_printed() {
    let head = "Service Name|DB Time (s)|DB CPU (s)|Physical Reads (K)|Logical Reads (K)";
    let services = table("Service Statistics", &[head, "shop|3,600|0|13|7,000"]);
    let pools = table(
        "Buffer Pool Statistics",
        &["P|Number of Buffers|Pool Hit%|Buffer Gets", "D|500,000|98|47,000"],
    );
    let report = with(HTML, &(services + &pools));
    let seconds = report.value("elapsed_min").unwrap() * 60.0;
    let shown: Vec<_> = section_figures(&report)
        .iter()
        .map(|of| (format!("{}.{}.{}", of.section, of.figure, of.row), of.reading.value, of.per_s))
        .collect();
    assert!(shown.contains(&("services.db_time_s.shop".into(), 3_600.0 / seconds, true)), "{shown:?}");
    assert!(shown.contains(&("buffer_pools.hit_pct.D".into(), 98.0, false)), "{shown:?}");
    assert!(!shown.iter().any(|(name, ..)| name.contains("db_cpu_s")), "what is 0 is left out");
    let rates = Rates::of(&report);
    let rate = |what: AwrRateKind, name: &str| {
        rates.0.iter().any(|(thing, _)| thing.kind == what && thing.name == name)
    };
    assert!(rate(AwrRateKind::SectionTotal, "services.db_time_s.shop"));
    assert!(rate(AwrRateKind::SectionLevel, "buffer_pools.hit_pct.D"));
}

const DETAILS: &str = "\
WORKLOAD REPOSITORY report for

Enqueue Activity                         DB/Inst: SHOP/shop1  Snaps: 1-2
-> only enqueues with requests are shown

Enqueue Type (Request Reason)
------------------------------------------------------------------------------
    Requests    Succ Gets Failed Gets       Waits  Wt Time (s) Av Wt Time(ms)
------------ ------------ ----------- ----------- ------------ --------------
TX-Transaction (row lock contention)
         368          360           8          86            2          23.26
US-Undo Segment
          70           70           0           0            0            N/A
                          ------------------------------------------------------

Latch Activity                           DB/Inst: SHOP/shop1  Snaps: 1-2

                                           Pct    Avg   Wait                 Pct
                                    Get    Get   Slps   Time       NoWait NoWait
Latch Name                     Requests   Miss  /Miss    (s)     Requests   Miss
------------------------ -------------- ------ ------ ------ ------------ ------
cache buffers chains        117,806,775    0.1    0.2     12            0    N/A
                          ------------------------------------------------------

SGA Target Advisory                          DB/Inst: SHOP/shop1  Snap: 2

SGA Target   SGA Size       Est DB     Est Physical
  Size (M)     Factor     Time (s)            Reads
---------- ---------- ------------ ----------------
     2,304        0.8      170,557      113,225,791
                          ------------------------------------------------------

Buffer Wait Statistics                   DB/Inst: SHOP/shop1  Snaps: 1-2

Class                    Waits Sum of a new kind  Avg Time (ms)
------------------ ----------- ------------------- --------------
data block                  11                   0              2
                          ------------------------------------------------------
End of Report
";

#[test]
fn awr_details_are_read_if_all_captions_are_known() {
    let report = read_report(DETAILS, "report", 1).unwrap();
    let line = AwrOutputRow { report: &report, instance: None };
    let value = |column: &str| match line.value(column) {
        AwrValue::Number(reading) => Some(reading.value),
        _ => None,
    };
    assert_eq!(value("enqueues.wait_s.TX-Transaction (row lock contention)"), Some(2.0));
    assert_eq!(value("enqueues.waits.TX-Transaction (row lock contention)"), Some(86.0));
    assert_eq!(value("enqueues.mean_wait_ms.US-Undo Segment"), None, "N/A is absent");
    assert_eq!(value("latches.wait_s.cache buffers chains"), Some(12.0));
    assert_eq!(value("sga_advisory.db_time_s.2,304"), Some(170_557.0));
    assert!(!report.details.contains_key("buffer_waits"));
    let unknown = |issue: &&dyno_awr::Issue| issue.message.contains("its columns are unknown");
    assert_eq!(report.issues.iter().filter(unknown).count(), 1, "{:#?}", report.issues);
    assert!(dyno_awr::row::is_column("latches.wait_s.cache buffers chains"));
}
