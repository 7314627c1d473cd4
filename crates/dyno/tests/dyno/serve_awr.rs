//! Two report intervals on the pages of `dyno serve`: every line with its difference, or without one if there
//! is none.

use serde_json::Value;

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use crate::common::web::WebServer;

const TEXT: &str = include_str!("../../../dyno-awr/tests/reports/awr_12.2_rac.txt");

/// The report of the interval that begins with this snapshot at this hour.
fn report(snap: u32, hour: u32) -> String {
    TEXT.replace("       700 ", &format!("       {snap} "))
        .replace("       701 ", &format!("       {} ", snap + 1))
        .replace(" 10:00:00", &format!(" {hour}:00:00"))
        .replace(" 10:30:00", &format!(" {hour}:30:00"))
}

/// The line with this name.
fn line<'v>(list: &'v Value, key: &str, name: &str) -> &'v Value {
    let entry = list.items().iter().find(|line| line[key] == name);
    entry.unwrap_or_else(|| panic!("{name} in {list:#}"))
}

#[test]
fn web_awr_diff_shows_differences_of_one_database_only() {
    let desk = TestEnv::new();
    desk.write("a.txt", &report(700, 10));
    let changed = report(701, 11).replace("       1,200.6 ", "       2,401.2 ");
    // One line fewer in the report, and one value that differs only in its last digit.
    let changed = changed.replace("      Hard parses (SQL):               2.8               0.0\n", "");
    desk.write("b.txt", &changed.replace("812,345.6", "812,345.7"));
    desk.write("c.txt", &report(702, 12).replace("01-Mar-24 06:00", "05-Mar-24 11:40"));
    desk.write("d.txt", &report(703, 13).replace("SHOP ", "TILL "));
    let import_output = desk.dyno(&["awr", "a.txt", "b.txt", "c.txt", "d.txt", "--import"]);
    assert_eq!(import_output.code, 0, "{import_output:#?}");
    let web = WebServer::start(&desk, &[]);
    let intervals = web.get("/api/v1/awr").json();
    let ids: Vec<&str> = intervals.items().iter().map(|interval| interval["id"].text()).collect();
    let [a, b, c, d] = ids[..] else { panic!("{intervals:#}") };

    let diff = web.get(&format!("/api/v1/awr/diff?a={a}&b={b}")).json();
    assert_eq!((&diff["comparable"], diff["cautions"].items().len()), (&true.into(), 0), "{diff:#}");
    let calls = &line(&diff["load_profile"], "name", "user calls")["per_s"];
    assert_eq!((calls["a"].as_f64(), calls["b"].as_f64()), (Some(1_200.6), Some(2_401.2)));
    assert!((calls["difference"].number() - 1_200.6).abs() < 1e-6);
    assert!(calls["change_pct"] == 100.0);
    let redo = &line(&diff["load_profile"], "name", "redo size (bytes)")["per_s"];
    assert!(redo["difference"].is_null(), "the last digit leaves that open: {redo:#}");
    assert!(redo["b"] == 812_345.7, "the last digit leaves that open: {redo:#}");
    let parses = &line(&diff["load_profile"], "name", "hard parses")["per_s"];
    assert!(parses["b"].is_null());
    assert!(parses["difference"].is_null());
    assert!(parses["a"] == 2.8);
    let page = web.get(&format!("/awr/diff?a={a}&b={b}")).body;
    for text in ["+1,201", "+100.0", "only in A", "db file sequential read", "B against A"] {
        assert!(page.contains(text), "{text} in {page}");
    }
    // The command line shows the same lines.
    let table = desk.dyno(&["awr", "diff", "a.txt", "b.txt"]).out;
    assert!(table.contains("+1,201"), "{table}");
    assert!(table.contains("only in A"), "{table}");

    for (other, why) in [(c, "a restart in between"), (d, "different databases: SHOP and TILL")] {
        let diff = web.get(&format!("/api/v1/awr/diff?a={a}&b={other}")).json();
        assert!(diff["comparable"] == false, "{diff:#}");
        assert!(diff["cautions"].to_string().contains(why), "{diff:#}");
        let all = diff["load_profile"].items();
        assert!(all.iter().all(|line| line["per_s"]["difference"].is_null()), "{diff:#}");
        let page = web.get(&format!("/awr/diff?a={a}&b={other}")).body;
        assert!(page.contains("No differences are shown"), "{page}");
        assert!(!page.contains("+100.0"), "{page}");
    }
    let diff_output = desk.dyno(&["awr", "diff", "b.txt", "c.txt"]);
    assert!(diff_output.err.contains("a restart in between"), "{diff_output:#?}");
    assert!(!diff_output.out.contains("-1,201"), "{diff_output:#?}");
    let anyway = desk.dyno(&["awr", "diff", "b.txt", "c.txt", "--anyway"]);
    assert!(anyway.err.contains("a restart in between"), "{anyway:#?}");
    assert!(anyway.out.contains("-1,201"), "{anyway:#?}");
    let anyway = web.get(&format!("/api/v1/awr/diff?a={b}&b={c}&anyway=true")).json();
    assert_eq!(line(&anyway["load_profile"], "name", "user calls")["per_s"]["change_pct"], -50.0);
    assert_eq!(web.get(&format!("/awr/diff?a={a}&b=none")).status, 404);
}
