//! Tests real reports, where available, after everything that can happen to files in transfer: they
//! must read as before.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::facts::{differences, facts, invented_facts};
use dyno_awr::{AwrFormat, AwrReport, read_file, read_report};

/// One real report: its place in the folder, its name, its text and what is read from it.
struct RealReport {
    place: usize,
    name: String,
    text: String,
    report: AwrReport,
}

/// Whether to make every change to every report.
fn is_thorough() -> bool {
    std::env::var("DYNO_TEST_ALL").is_ok_and(|value| !value.is_empty() && value != "0")
}

/// The text of a file as the reader gets it.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().iter().map(|&b| char::from(b)).collect())
}

/// Checks every real report, two at a time, and collects what is wrong.
fn for_each_report(look: impl Fn(&RealReport, &mut Vec<String>) + Sync) {
    let Some(folder) = crate::real::folder("real reports, and all that happens to them") else { return };
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_report = |path: &PathBuf| path.extension().is_some_and(|e| e == "txt" || e == "html");
    let mut paths: Vec<PathBuf> = entries.filter(is_report).collect();
    paths.sort();
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(place) else { break };
                    let text = text_of(std::fs::read(path).unwrap());
                    let name = path.file_name().unwrap().to_string_lossy().into_owned();
                    let report = read_report(&text, &name, 1).unwrap();
                    let mut mismatches = Vec::new();
                    look(&RealReport { place, name, text, report }, &mut mismatches);
                    all.lock().unwrap().append(&mut mismatches);
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    assert!(all.is_empty(), "{} differences:\n{}", all.len(), all.join("\n"));
}

/// Compares what is read from a changed text with what is read from the real one; new issues are
/// not allowed.
fn assert_same_facts(real: &RealReport, change: &str, text: &str, mismatches: &mut Vec<String>) {
    let place = format!("{} {change}", real.name);
    match read_report(text, &real.name, 1) {
        Ok(report) => {
            mismatches.extend(differences(&place, &facts(&real.report), &facts(&report)));
            if report.issues.len() > real.report.issues.len() {
                let original_messages: Vec<_> =
                    real.report.issues.iter().map(|issue| &issue.message).collect();
                let new = report.issues.iter().find(|issue| !original_messages.contains(&&issue.message));
                mismatches.push(format!("{place}: {:?}", new));
            }
        }
        Err(error) => mismatches.push(format!("{place}: {error}")),
    }
}

#[test]
fn awr_report_reads_the_same_in_all_encodings() {
    let temporary = tempfile::tempdir().unwrap();
    for_each_report(|real, found| {
        let unix = real.text.replace("\r\n", "\n");
        let crlf = unix.replace('\n', "\r\n");
        let utf16 = |order: fn(u16) -> [u8; 2], mark: &[u8]| {
            mark.iter().copied().chain(unix.encode_utf16().flat_map(order)).collect::<Vec<u8>>()
        };
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(unix.as_bytes()).unwrap();
        let latin = unix.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
        let files = [
            ("crlf", crlf.into_bytes()),
            ("utf16le", utf16(u16::to_le_bytes, b"\xff\xfe")),
            ("utf16be", utf16(u16::to_be_bytes, b"\xfe\xff")),
            ("utf16 without a mark", utf16(u16::to_le_bytes, b"")),
            ("utf8 with a mark", [b"\xef\xbb\xbf", unix.as_bytes()].concat()),
            ("packed", packer.finish().unwrap()),
            ("latin", latin),
        ];
        let plain = facts(&read_report(&unix, &real.name, 1).unwrap());
        // Each report in three encodings, and each encoding with many reports.
        let chosen = |at: usize| is_thorough() || (at + real.place) % files.len() < 3;
        for (_, (what, bytes)) in files.iter().enumerate().filter(|(at, _)| chosen(*at)) {
            let path = temporary.path().join(format!("{} {what}", real.name));
            std::fs::write(&path, bytes).unwrap();
            let reports = read_file(&path).unwrap();
            assert_eq!(reports.len(), 1, "{} {what}", real.name);
            let read = facts(reports[0].as_ref().unwrap());
            found.extend(differences(&format!("{} {what}", real.name), &plain, &read));
            std::fs::remove_file(path).unwrap();
        }
    });
}

#[test]
fn awr_report_reads_the_same_without_form_feeds() {
    for_each_report(|real, found| {
        if real.report.form == AwrFormat::Text {
            assert_same_facts(real, "without form feeds", &real.text.replace('\u{c}', ""), found);
            assert_same_facts(
                real,
                "with form feeds on their own lines",
                &real.text.replace('\u{c}', "\u{c}\n"),
                found,
            );
        }
    });
}

/// A report as SQL*Plus spools it with headings on: every page begins with a blank line, the
/// heading and, where lines under headings are on, dashes.
fn spooled(text: &str, first: usize, lines: usize, dashes: usize) -> String {
    let mut out = String::new();
    for (i, line) in text.replace('\u{c}', "").lines().enumerate() {
        if i % lines == first {
            out.push_str("\nOUTPUT\n");
            if dashes > 0 {
                out.push_str(&"-".repeat(dashes));
                out.push('\n');
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[test]
fn spooled_headings_at_any_line_do_not_change_report() {
    for_each_report(|real, found| {
        if real.report.form == AwrFormat::Text {
            for first in 0..14 {
                // At each line either the heading alone or with dashes; the next report has it the other way round.
                for (at, dashes) in [0, 80].into_iter().enumerate() {
                    if is_thorough() || (first + real.place) % 2 == at {
                        let change = format!("OUTPUT and {dashes} dashes from {first}");
                        assert_same_facts(real, &change, &spooled(&real.text, first, 14, dashes), found);
                    }
                }
            }
            assert_same_facts(real, "OUTPUT on pages of 50 lines", &spooled(&real.text, 7, 50, 80), found);
        }
    });
}

/// Lines with blanks at their ends, as SQL*Plus writes them without `set trimspool on`.
#[test]
fn trailing_blanks_in_lines_make_no_difference() {
    for_each_report(|real, found| {
        if real.report.form == AwrFormat::Text {
            let filled: String =
                real.text.lines().map(|line| format!("{:<132}\n", line.trim_end())).collect();
            assert_same_facts(real, "filled", &filled, found);
        }
    });
}

#[test]
fn text_report_in_html_page_reads_the_same() {
    for_each_report(|real, found| {
        if real.report.form == AwrFormat::Text {
            let escaped = real.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let page = format!(
                "<html><head><title>AWR</title></head><body>\n<pre>\n{escaped}</pre>\n</body></html>\n"
            );
            assert_same_facts(real, "in <pre>", &page, found);
            let bold = page.replace("<pre>", "<PRE class=x><font face=\"Courier\">");
            assert_same_facts(real, "in <PRE> with a font", &bold.replace("</pre>", "</font></PRE>"), found);
        }
    });
}

/// A page as Internet Explorer saved it: tags in upper case, attributes without quotes, a TBODY, wrapped cells.
fn saved(html: &str) -> String {
    let mut out = String::with_capacity(html.len() * 2);
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        let Some(end) = rest[start..].find('>') else { break };
        let tag = &rest[start..=start + end];
        let name_end = tag.find([' ', '>', '\n']).unwrap_or(tag.len());
        out.push_str(&tag[..name_end].to_uppercase());
        let attributes = &tag[name_end..];
        // Values of one word lose their quotes.
        let mut pieces = attributes.split('"');
        if let Some(first) = pieces.next() {
            out.push_str(first);
        }
        while let (Some(value), Some(after)) = (pieces.next(), pieces.next()) {
            match !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric()) {
                true => out.push_str(value),
                false => out.push_str(&format!("\"{value}\"")),
            }
            out.push_str(after);
        }
        if tag[..name_end].eq_ignore_ascii_case("<table") {
            out.push_str("\r\n  <TBODY>");
        }
        if tag[..name_end].eq_ignore_ascii_case("<tr") {
            out.push_str("\r\n    ");
        }
        rest = &rest[start + end + 1..];
        if tag.eq_ignore_ascii_case("</td>") || tag.eq_ignore_ascii_case("</th>") {
            out.push_str("\r\n    ");
        }
    }
    out + rest
}

#[test]
fn browser_saved_pages_read_the_same() {
    for_each_report(|real, found| {
        if real.report.form == AwrFormat::Html {
            let mut saved_differs = Vec::new();
            assert_same_facts(real, "saved", &saved(&real.text), &mut saved_differs);
            let unclosed = real.text.replace("</td>", "").replace("</th>", "").replace("</tr>", "");
            let unclosed = unclosed.replace("</TD>", "").replace("</TH>", "").replace("</TR>", "");
            assert_same_facts(real, "without ends of cells", &unclosed, &mut saved_differs);
            // Lines that SQL*Plus broke within a word are rejoined only while they have the width
            // at which it broke them.
            let is_broken = real.text.lines().any(|line| line.ends_with("&q"));
            found.extend(saved_differs.into_iter().filter(|line| !is_broken || !line.contains("whole text")));
            let one_line = real.text.replace("\r\n", " ").replace('\n', " ");
            let mut longer = Vec::new();
            assert_same_facts(real, "on one line", &one_line, &mut longer);
            // Blanks at the ends of lines count towards the length at which a statement is
            // truncated.
            found.extend(longer.into_iter().filter(|line| !line.contains("whole text")));
            let padded = real
                .text
                .replace("<td align=\"right\" class='awrc'>", "<td align=\"right\" class='awrc'>&#160;");
            assert_same_facts(real, "padded", &padded, found);
        }
    });
}

/// A text whose dates (`23-Apr-14`) have other names of months.
fn with_months(text: &str, name: impl Fn(usize) -> &'static str) -> String {
    const ENGLISH: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dash) = rest.find('-') {
        let (before, after) = rest.split_at(dash + 1);
        out.push_str(before);
        rest = after;
        let month = ENGLISH.iter().position(|english| after.starts_with(english));
        if let Some(month) = month.filter(|_| after.as_bytes().get(3) == Some(&b'-')) {
            out.push_str(name(month));
            rest = &after[3..];
        }
    }
    out + rest
}

#[test]
fn foreign_month_names_give_same_timestamps() {
    const LANGUAGES: [[&str; 12]; 6] = [
        ["Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"],
        ["Janv.", "Févr.", "Mars", "Avr.", "Mai", "Juin", "Juil.", "Août", "Sept.", "Oct.", "Nov.", "Déc."],
        ["Ene", "Feb", "Mar", "Abr", "May", "Jun", "Jul", "Ago", "Sep", "Oct", "Nov", "Dic"],
        ["Jan", "Fev", "Mar", "Abr", "Mai", "Jun", "Jul", "Ago", "Set", "Out", "Nov", "Dez"],
        ["Gen", "Feb", "Mar", "Apr", "Mag", "Giu", "Lug", "Ago", "Set", "Ott", "Nov", "Dic"],
        ["1月 ", "2月 ", "3月 ", "4月 ", "5月 ", "6月 ", "7月 ", "8月 ", "9月 ", "10月", "11月", "12月"],
    ];
    let times = |report: &AwrReport| {
        let words = ["begin_time", "end_time", "startup_time"]
            .map(|name| report.word(name).and_then(dyno_awr::parse_timestamp));
        let of_instances =
            report.instances.iter().flat_map(|i| i.words.values().map(|w| dyno_awr::parse_timestamp(w)));
        (words, of_instances.collect::<Vec<_>>())
    };
    for_each_report(|real, found| {
        let plain = times(&real.report);
        if real.report.instances.is_empty() && plain.0[0].is_none() {
            found.push(format!("{}: no begin time", real.name));
        }
        for names in LANGUAGES {
            let text = with_months(&real.text, |month| names[month]);
            let report = read_report(&text, &real.name, 1).unwrap();
            if times(&report) != plain {
                found.push(format!("{} {}: {:?} became {:?}", real.name, names[2], plain, times(&report)));
            }
        }
    });
}

/// Swaps commas and points, as sessions with another NLS_NUMERIC_CHARACTERS print them.
#[test]
fn decimal_commas_are_detected_from_the_report() {
    for_each_report(|real, found| {
        let digits = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let chars: Vec<char> = real.text.chars().collect();
        let swap = |(i, c): (usize, &char)| match c {
            '.' | ',' if digits(chars.get(i + 1).copied()) && !is_release(&chars, i) => {
                if *c == '.' {
                    ','
                } else {
                    '.'
                }
            }
            c => *c,
        };
        let swapped: String = chars.iter().enumerate().map(swap).collect();
        let report = read_report(&swapped, &real.name, 1).unwrap();
        let (plain, read) = (facts(&real.report), facts(&report));
        for (name, value) in &plain {
            if name.starts_with("figure ") && read.get(name) != Some(value) && found.len() < 12 {
                found.push(format!("{} with commas: {name}: {value} became {:?}", real.name, read.get(name)));
            }
        }
    });
}

/// Whether the mark at `i` is in a release or an address: a word with more than two points.
fn is_release(chars: &[char], i: usize) -> bool {
    let is_word = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let start = (0..i).rev().find(|&j| !is_word(&chars[j])).map_or(0, |j| j + 1);
    let word: Vec<char> = chars[start..].iter().take_while(|c| is_word(c)).copied().collect();
    word.iter().filter(|c| **c == '.').count() > 2
}

#[test]
fn concatenated_reports_are_read_as_two_equal_reports() {
    let temporary = tempfile::tempdir().unwrap();
    for_each_report(|real, found| {
        let path = temporary.path().join(&real.name);
        std::fs::write(&path, format!("{}\n{}", real.text, real.text)).unwrap();
        let reports = read_file(&path).unwrap();
        if reports.len() != 2 {
            found.push(format!("{}: {} reports", real.name, reports.len()));
            return;
        }
        for report in reports {
            found.extend(differences(&real.name, &facts(&real.report), &facts(&report.unwrap())));
        }
        std::fs::remove_file(path).unwrap();
    });
}

/// A report truncated anywhere has fewer values and no others, and is reported as truncated.
#[test]
fn truncated_report_has_no_new_values_and_is_flagged() {
    let thorough = std::env::var_os("DYNO_AWR_THOROUGH").is_some();
    let step = if thorough { 1 } else { 9 };
    for_each_report(|real, found| {
        let plain = facts(&real.report);
        for percent in (step..100).step_by(step) {
            // Varies the position within a line.
            let wanted = real.text.len() * percent / 100 + percent;
            let Some(end) = (wanted..real.text.len()).find(|&at| real.text.is_char_boundary(at)) else {
                continue;
            };
            let place = format!("{} cut at {percent} %", real.name);
            match read_report(&real.text[..end], &real.name, 1) {
                Ok(report) => {
                    let read = facts(&report).into_iter().filter(|(name, _)| !name.starts_with("bands"));
                    found.extend(invented_facts(&place, &plain, &read.collect()));
                    let is_cut_reported =
                        report.issues.iter().any(|issue| issue.message.contains("End of Report"));
                    if !is_cut_reported && end < real.text.len() - 4_096 {
                        found.push(format!("{place}: not reported as truncated"));
                    }
                    for (name, figure) in
                        report.figures.iter().filter(|(name, _)| name.starts_with("derived."))
                    {
                        let whole = real.report.reading(name);
                        let near = whole.is_some_and(|whole| {
                            let room = (whole.step + figure.reading.step) * 0.51 + 0.03 * whole.value.abs();
                            (whole.value - figure.reading.value).abs() <= room
                        });
                        if !near {
                            found.push(format!("{place}: {name}: {whole:?} became {:?}", figure.reading));
                        }
                    }
                }
                Err(error) => {
                    if percent > 10 {
                        found.push(format!("{place}: {error}"));
                    }
                }
            }
        }
    });
}
