//! `dyno report` on real runs, and its page in a real browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::TestEnv;
use dyno_record::{Repository, RunRecord};

/// A test environment with runs of one and two sessions.
fn env_with_runs() -> TestEnv {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["init"]).code, 0);
    let small = ["--set", "data.scale=4M"];
    assert_eq!(desk.dyno(&[&["load"], &small[..]].concat()).code, 0);
    for sessions in ["1", "2"] {
        let setting = format!("run.sessions_per_schema={sessions}");
        let run = [
            "run",
            "--set",
            &setting,
            "--set",
            "run.warmup=0s",
            "--set",
            "run.time=1s",
            "--set",
            "observe.interval=100ms",
        ];
        let output = desk.dyno(&[&run[..], &small[..]].concat());
        // On a busy machine the audit may find a starved run invalid; a report must show that too.
        assert!(output.code == 0 || output.code == 1, "{output:#?}");
    }
    desk
}

fn records(desk: &TestEnv) -> Vec<RunRecord> {
    let repository = Repository::open_read_only(&desk.file("runs.sqlite3")).unwrap();
    ["last~1", "last"].iter().map(|run| repository.load(run).unwrap()).collect()
}

#[test]
fn report_is_written_in_every_format() {
    let desk = env_with_runs();
    let html_output = desk.dyno(&["report", "last~1", "last"]);
    assert_eq!(html_output.code, 0, "{html_output:#?}");
    assert!(html_output.out.is_empty(), "{html_output:#?}");
    assert!(html_output.err.contains("written: report.html"), "{html_output:#?}");
    let page = std::fs::read_to_string(desk.file("report.html")).unwrap();
    assert_eq!(dyno_report::embedded::records(&page).unwrap(), records(&desk));
    for (format, begin) in [
        ("md", "# Dyno report"),
        ("csv", "run,started_at,status"),
        ("json", "{"),
        ("html", "<!DOCTYPE html>"),
    ] {
        let stdout_output = desk.dyno(&["report", "last", "last~1", "--format", format, "-o", "-"]);
        assert!(stdout_output.code == 0, "{format}: {stdout_output:#?}");
        assert!(stdout_output.out.starts_with(begin), "{format}: {stdout_output:#?}");
    }
    assert_eq!(desk.dyno(&["report", "last~1", "last", "-o", "book.xlsx"]).code, 0);
    assert!(std::fs::read(desk.file("book.xlsx")).unwrap().starts_with(b"PK"));
    let title_args =
        ["report", "last", "--title", "<b>One</b>", "--author", "A. Nobody", "-o", "titled.html"];
    assert_eq!(desk.dyno(&title_args).code, 0);
    let titled = std::fs::read_to_string(desk.file("titled.html")).unwrap();
    assert!(titled.contains("&lt;b&gt;One&lt;/b&gt;"), "title and author");
    assert!(titled.contains("A. Nobody"), "title and author");
    let csv_output = desk.dyno(&["report", "last", "-o", "one.csv"]);
    assert_eq!(csv_output.code, 0, "{csv_output:#?}");
    assert!(std::fs::read_to_string(desk.file("one.csv")).unwrap().lines().count() == 2);
}

#[test]
fn report_usage_error_names_the_invalid_value() {
    let desk = env_with_runs();
    let format_output = desk.dyno(&["report", "--format", "pdf"]);
    assert!(format_output.code == 2, "{format_output:#?}");
    assert!(format_output.err.contains("\"pdf\""), "{format_output:#?}");
    assert!(format_output.err.contains("html, md, csv"), "{format_output:#?}");
    let chart_output = desk.dyno(&["report", "last", "--format", "svg", "--chart", "flower"]);
    assert!(chart_output.code == 2, "{chart_output:#?}");
    assert!(chart_output.err.contains("\"flower\""), "{chart_output:#?}");
    let sweep_output = desk.dyno(&["report", "sweep-none"]);
    assert!(sweep_output.code == 2, "{sweep_output:#?}");
    assert!(sweep_output.err.contains("sweep-none"), "{sweep_output:#?}");
    let path_output = desk.dyno(&["report", "-o", "nowhere/report.html"]);
    assert!(path_output.code != 0, "{path_output:#?}");
    assert!(path_output.err.contains("nowhere/report.html"), "{path_output:#?}");
}

#[test]
fn report_page_import_restores_its_records() {
    let desk = env_with_runs();
    assert_eq!(desk.dyno(&["report", "last~1", "last"]).code, 0);
    let first_import = desk.dyno(&["import", "results", "report.html", "--repository", "other.sqlite3"]);
    assert!(first_import.code == 0, "{first_import:#?}");
    assert!(first_import.err.contains("2 records stored"), "{first_import:#?}");
    let other = Repository::open_read_only(&desk.file("other.sqlite3")).unwrap();
    for record in records(&desk) {
        assert_eq!(other.load(&record.id).unwrap(), record);
    }
    let second_import = desk.dyno(&["import", "results", "report.html", "--repository", "other.sqlite3"]);
    assert!(second_import.code == 0, "{second_import:#?}");
    assert!(second_import.err.contains("2 already existed"), "{second_import:#?}");
}

/// A browser, if this machine has one.
fn browser() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

/// The page as the browser shows it after its scripts have run.
fn rendered_dom(browser: &Path, desk: &TestEnv, page: &str) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", desk.file("profile").display()))
        .arg(format!("file://{}", desk.file(page).display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn user_text_runs_no_script_in_a_browser() {
    let Some(browser) = browser() else {
        dyno_testbed::skip("the report in a browser", "no chromium is here: apt-get install chromium");
        return;
    };
    let desk = env_with_runs();
    let mut records = records(&desk);
    let attack = "</script></title></desc><script>document.body.id='taken'</script><img src=x onerror=\"document.body.id='taken'\">";
    for record in &mut records {
        record.dyno_version = attack.into();
        record.hosts[0].kernel = attack.into();
        record.reasons.push(attack.into());
        for target in &mut record.targets {
            target.identity.version = attack.into();
            target.identity.settings.insert(attack.into(), attack.into());
        }
        record.audit.iter_mut().for_each(|check| check.detail = attack.into());
    }
    let mut page = Vec::new();
    dyno_report::html::html(&dyno_report::Report::of(&records), "2026-01-01", &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    desk.write("guarded.html", &page);
    // Escaping alone must suffice, so the second page lacks the policy that would also stop a script.
    let begin = page.find("<meta http-equiv").unwrap();
    let end = begin + page[begin..].find('>').unwrap() + 1;
    desk.write("bare.html", &format!("{}{}", &page[..begin], &page[end..]));
    for name in ["guarded.html", "bare.html"] {
        let dom = rendered_dom(&browser, &desk, name);
        assert!(
            dom.contains("class=\"can\""),
            "{name}: the page's own script did not run: {} bytes",
            dom.len()
        );
        assert!(!dom.contains("id=\"taken\""), "{name}: a text became markup");
        assert!(!dom.contains("<img"), "{name}: a text became markup");
        assert!(dom.contains("id=\"runs\""), "{name}: sections are missing");
        assert!(dom.contains("<svg") == page.contains("<svg"), "{name}: sections are missing");
    }
}

/// Interacts with the first chart like a reader, and writes the result into the page.
const READER: &str = r#"<script>
const svg = document.querySelector("main svg.chart"), seen = document.body.dataset;
const point = (type, x, y) => new PointerEvent(type, { clientX: x, clientY: y, pointerType: "mouse", button: 0, bubbles: true });
const middle = (element) => { const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
const ticks = () => [...svg.querySelectorAll(".axis-x text")].map((text) => text.textContent).join(" ");
const markers = [...svg.querySelectorAll("path.m")], [x, y] = middle(markers[2]);
svg.dispatchEvent(point("pointermove", x, y));
seen.tip = document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent;
const key = svg.querySelector(".key[data-i]"), series = svg.querySelector(`.series[data-i="${key.dataset.i}"]`);
key.dispatchEvent(new MouseEvent("click", { bubbles: true }));
seen.off = series.classList.contains("off");
key.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
seen.on = !series.classList.contains("off");
const [whole, line] = [ticks(), svg.querySelector("path.ln").getAttribute("d")];
const [from, to] = [middle(markers[1]), middle(markers[5])];
svg.dispatchEvent(point("pointerdown", from[0] - 10, from[1] + 10));
svg.dispatchEvent(point("pointermove", to[0] + 10, to[1] - 10));
svg.dispatchEvent(point("pointerup", to[0] + 10, to[1] - 10));
seen.zoomed = svg.classList.contains("zoomed") && ticks() !== whole && svg.querySelector("path.ln").getAttribute("d") !== line;
const ring = svg.querySelector("circle.ring"), near = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) < 1.5;
seen.kept = ring !== null && markers.some((marker) => near(middle(ring), middle(marker)));
svg.parentNode.querySelector("button.back").click();
const head = document.querySelector("[id=results] th button"), column = () => [...document.querySelectorAll("[id=results] tbody tr")].map((row) => row.cells[0].textContent);
const [before] = [column()];
head.click(); head.click();
seen.sorted = column().join() === before.reverse().join() && head.parentNode.getAttribute("aria-sort") === "descending";
seen.sticky = getComputedStyle(document.querySelector("[id=results] td")).position === "sticky";
seen.whole = !svg.classList.contains("zoomed") && ticks() === whole && svg.querySelector("path.ln").getAttribute("d") === line;
</script>"#;

#[test]
fn report_legend_tooltip_and_zoom_work_in_browser() {
    let Some(browser) = browser() else {
        dyno_testbed::skip(
            "the report under a reader's hand",
            "no chromium is here: apt-get install chromium",
        );
        return;
    };
    let desk = TestEnv::new();
    let ramp = [
        (1, 12_000, 83),
        (2, 23_000, 87),
        (4, 44_000, 91),
        (8, 79_000, 101),
        (16, 130_000, 123),
        (32, 180_000, 178),
        (64, 205_000, 312),
    ];
    let lines: String = ramp.iter().map(|(jobs, ops, us)| format!("{jobs},{ops},{us}\n")).collect();
    desk.write("ramp.csv", &format!("jobs,ops,us\n{lines}"));
    let maps =
        ["--map", "jobs=sessions", "--map", "ops=ops_per_s", "--map", "us=service_mean_us", "--tag", "ramp"];
    let imported = desk.dyno(&[&["import", "results", "ramp.csv"][..], &maps].concat());
    assert_eq!(imported.code, 0, "{imported:#?}");
    assert_eq!(desk.dyno(&["report", "tag:ramp", "-o", "ramp.html"]).code, 0);
    let page = std::fs::read_to_string(desk.file("ramp.html")).unwrap();
    // The page allows only its own script, so this interaction needs a page without that policy.
    let begin = page.find("<meta http-equiv").unwrap();
    let end = begin + page[begin..].find('>').unwrap() + 1;
    desk.write(
        "driven.html",
        &format!("{}{}", &page[..begin], &page[end..]).replace("</body>", &format!("{READER}</body>")),
    );
    let dom = rendered_dom(&browser, &desk, "driven.html");
    let body = dom.split("<body").nth(1).and_then(|rest| rest.split('>').next()).unwrap_or_default();
    for did in
        ["off", "on", "zoomed", "kept", "sorted", "sticky", "whole"].map(|did| format!("data-{did}=\"true\""))
    {
        assert!(body.contains(&did), "{did}: {body}");
    }
    assert!(body.contains("data-tip=\""), "{body}");
    assert!(body.contains("44,000"), "{body}");
}
