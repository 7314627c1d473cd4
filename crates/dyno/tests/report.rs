//! `dyno report` on real runs, and its page in a real browser.
#![allow(clippy::unwrap_used, reason = "a test that cannot unwrap has failed")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Desk;
use dyno_record::{Repository, RunRecord};

/// A desk with runs of one and two sessions.
fn desk_with_runs() -> Desk {
    let desk = Desk::new();
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
        let said = desk.dyno(&[&run[..], &small[..]].concat());
        // On a busy machine the audit may find a starved run invalid; a report has to tell of that, too.
        assert!(said.code == 0 || said.code == 1, "{said:#?}");
    }
    desk
}

fn records(desk: &Desk) -> Vec<RunRecord> {
    let repository = Repository::open_read_only(&desk.file("runs.sqlite3")).unwrap();
    ["last~1", "last"].iter().map(|run| repository.load(run).unwrap()).collect()
}

#[test]
fn every_format_is_written() {
    let desk = desk_with_runs();
    let said = desk.dyno(&["report", "last~1", "last"]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(said.out.is_empty() && said.err.contains("written: report.html"), "{said:#?}");
    let page = std::fs::read_to_string(desk.file("report.html")).unwrap();
    assert_eq!(dyno_report::embedded::records(&page).unwrap(), records(&desk));
    for (format, begin) in [
        ("md", "# Dyno report"),
        ("csv", "run,started_at,status"),
        ("json", "["),
        ("html", "<!DOCTYPE html>"),
    ] {
        let said = desk.dyno(&["report", "last", "last~1", "--format", format, "-o", "-"]);
        assert!(said.code == 0 && said.out.starts_with(begin), "{format}: {said:#?}");
    }
    let said = desk.dyno(&["report", "last", "-o", "one.csv"]);
    assert_eq!(said.code, 0, "{said:#?}");
    assert!(std::fs::read_to_string(desk.file("one.csv")).unwrap().lines().count() == 2);
}

#[test]
fn wrong_usage_names_the_way_out() {
    let desk = desk_with_runs();
    let said = desk.dyno(&["report", "--format", "pdf"]);
    assert!(
        said.code == 2 && said.err.contains("\"pdf\"") && said.err.contains("html, md, csv"),
        "{said:#?}"
    );
    let said = desk.dyno(&["report", "last", "--format", "svg", "--chart", "flower"]);
    assert!(said.code == 2 && said.err.contains("\"flower\""), "{said:#?}");
    let said = desk.dyno(&["report", "sweep-none"]);
    assert!(said.code == 2 && said.err.contains("sweep-none"), "{said:#?}");
    let said = desk.dyno(&["report", "-o", "nowhere/report.html"]);
    assert!(said.code != 0 && said.err.contains("nowhere/report.html"), "{said:#?}");
}

#[test]
fn a_report_gives_its_records_back() {
    let desk = desk_with_runs();
    assert_eq!(desk.dyno(&["report", "last~1", "last"]).code, 0);
    let said = desk.dyno(&["import", "report.html", "--repository", "other.sqlite3"]);
    assert!(said.code == 0 && said.err.contains("2 records stored"), "{said:#?}");
    let other = Repository::open_read_only(&desk.file("other.sqlite3")).unwrap();
    for record in records(&desk) {
        assert_eq!(other.load(&record.id).unwrap(), record);
    }
    let said = desk.dyno(&["import", "report.html", "--repository", "other.sqlite3"]);
    assert!(said.code == 0 && said.err.contains("2 were there already"), "{said:#?}");
}

/// A browser, if this machine has one.
fn browser() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

/// The page as the browser sees it when its scripts have run.
fn seen(browser: &Path, desk: &Desk, page: &str) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", desk.file("profile").display()))
        .arg(format!("file://{}", desk.file(page).display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn text_of_users_stays_text_in_a_browser() {
    let Some(browser) = browser() else {
        dyno_testbed::skip("the report in a browser", "no chromium is here: apt-get install chromium");
        return;
    };
    let desk = desk_with_runs();
    let mut records = records(&desk);
    let attack = "</script></title></desc><script>document.body.id='taken'</script><img src=x onerror=\"document.body.id='taken'\">";
    for record in &mut records {
        record.dyno_version = attack.into();
        record.host.kernel = attack.into();
        record.reasons.push(attack.into());
        for target in &mut record.targets {
            target.identity.version = attack.into();
            target.identity.settings.insert(attack.into(), attack.into());
        }
        record.audit.iter_mut().for_each(|check| check.detail = attack.into());
    }
    let page = dyno_report::html::html(&dyno_report::Report::of(&records), "2026-01-01").unwrap();
    desk.write("guarded.html", &page);
    // Escaping alone has to hold, so the second page is without the policy that would stop a script as well.
    let begin = page.find("<meta http-equiv").unwrap();
    let end = begin + page[begin..].find('>').unwrap() + 1;
    desk.write("bare.html", &format!("{}{}", &page[..begin], &page[end..]));
    for name in ["guarded.html", "bare.html"] {
        let seen = seen(&browser, &desk, name);
        assert!(
            seen.contains("class=\"can\""),
            "{name}: the page's own script did not run: {} bytes",
            seen.len()
        );
        assert!(!seen.contains("id=\"taken\"") && !seen.contains("<img"), "{name}: a text became markup");
        assert!(
            seen.contains("id=\"runs\"") && seen.contains("<svg") == page.contains("<svg"),
            "{name}: sections are missing"
        );
    }
}
