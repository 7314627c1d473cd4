//! Parses what precedes a table: the title of its section and its captions.

use super::ruler::{AwrColumnSpan, slice};

/// The title in a line that begins a section of the main report:
/// `Time Model Statistics   DB/Inst: X/x  Snaps: 1-2`. Long titles run into the names. Sections
/// about the end of the interval name one snapshot: `End Snap: 2`.
pub(crate) fn section_title(line: &str) -> Option<&str> {
    // Few lines have a colon, and every line is tested several times.
    memchr::memchr(b':', line.as_bytes())?;
    let at = line.find("DB/Inst:").or_else(|| line.find(" DB: ").filter(|_| line.contains("Snap")))?;
    let title = line[..at].trim();
    // Before 10g the database follows as `Wait Events for DB: …`.
    let title = title.strip_suffix(" for").unwrap_or(title);
    (!title.is_empty()).then_some(title)
}

/// The database and the instance in such a line.
pub(crate) fn section_owner(line: &str) -> Option<(&str, &str)> {
    let (_, after) = line.split_once("DB/Inst:")?;
    let (database, instance) = after.split_whitespace().next()?.split_once('/')?;
    (!database.is_empty() && !instance.is_empty() && after.contains("Snaps:")).then_some((database, instance))
}

/// The title in an underlined line, and its end; captions may follow to its right.
pub(crate) fn underlined_title(line: &str) -> (&str, usize) {
    let indent = line.len() - line.trim_start().len();
    let text = &line[indent..];
    // `Host CPU  (CPUs: 8  Cores: 8  Sockets: 2)` is one title.
    let end = match text.find("(CPUs") {
        Some(_) => text.len(),
        None => text.find("  ").unwrap_or(text.len()),
    };
    (text[..end].trim_end(), indent + end)
}

/// A line of captions: from `from` on, with the rest treated as blank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CaptionLine<'a> {
    pub(crate) text: &'a str,
    /// Bytes at the start that belong to a title.
    pub(crate) from: usize,
}

/// One caption for each column: the words above it, line by line.
pub(crate) fn captions(lines: &[CaptionLine<'_>], spans: &[AwrColumnSpan]) -> Vec<String> {
    let mut captions = vec![String::new(); spans.len()];
    for line in lines {
        for (start, word) in words(line.text) {
            let group_rule = word.bytes().all(|b| matches!(b, b'-' | b'~'));
            if group_rule || start < line.from {
                continue;
            }
            let end = start + word.chars().count();
            let overlap = |span: &AwrColumnSpan| end.min(span.end).saturating_sub(start.max(span.start));
            let best = (0..spans.len()).max_by_key(|&i| (overlap(&spans[i]), std::cmp::Reverse(i)));
            if let Some(column) = best.filter(|&column| overlap(&spans[column]) > 0) {
                let caption = &mut captions[column];
                if !caption.is_empty() {
                    caption.push(' ');
                }
                caption.push_str(word);
            }
        }
    }
    captions
}

/// Captions, each preceded by the name of its group.
pub(crate) fn under(
    groups: &[AwrColumnSpan],
    names: &[String],
    mut captions: Vec<String>,
    spans: &[AwrColumnSpan],
) -> Vec<String> {
    for (caption, span) in captions.iter_mut().zip(spans) {
        let overlap =
            |group: &AwrColumnSpan| group.end.min(span.end).saturating_sub(group.start.max(span.start));
        // A group covers its columns; one that only touches a column belongs to another.
        let group = groups.iter().zip(names).find(|(group, _)| overlap(group) * 2 > span.end - span.start);
        if let Some((_, name)) = group.filter(|(_, name)| !name.is_empty()) {
            *caption = format!("{name} {caption}");
        }
    }
    captions
}

/// The words of a line, each with the index of its first character.
fn words(line: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut start = None;
    for (position, (at, c)) in line.char_indices().chain([(line.len(), ' ')]).enumerate() {
        match (c == ' ', start) {
            (true, Some((from, byte))) => {
                tokens.push((from, &line[byte..at]));
                start = None;
            }
            (false, None) => start = Some((position, at)),
            _ => {}
        }
    }
    tokens
}

/// The columns of a table whose first ruler begins further right; the labels stand to its left.
pub(crate) fn with_labels(mut spans: Vec<AwrColumnSpan>, line: &str) -> Vec<AwrColumnSpan> {
    let Some(first) = spans.first().copied() else { return spans };
    // Under a title, the tildes mark the labels, which extend to the next column.
    let tildes = slice(line, first).starts_with('~');
    if tildes && spans.len() > 1 && spans[1].start > first.end + 1 {
        spans[0] = AwrColumnSpan { start: 0, end: spans[1].start - 1 };
    } else if first.start >= 4 {
        spans.insert(0, AwrColumnSpan { start: 0, end: first.start - 1 });
    } else {
        spans[0].start = 0;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::ruler::ruler;

    #[test]
    fn section_titles_are_parsed() {
        let line = "Operating System Statistics - DetailDB/Inst: A/a  Snaps: 1-2";
        assert_eq!(section_title(line), Some("Operating System Statistics - Detail"));
        let old = "Wait Events for DB: SHOP  Instance: shop1  Snaps: 1 -2";
        assert_eq!(section_title(old), Some("Wait Events"));
        let end = "Buffer Pool Advisory for DB: SHOP  Instance: shop1  End Snap: 2";
        assert_eq!(section_title(end), Some("Buffer Pool Advisory"));
        assert_eq!(section_title("no title"), None);
        assert_eq!(underlined_title("Cache Sizes        Begin").0, "Cache Sizes");
        assert_eq!(underlined_title("Host CPU  (CPUs: 8  Cores: 8)").0, "Host CPU  (CPUs: 8  Cores: 8)");
    }

    #[test]
    fn multi_line_captions_are_joined() {
        let rule = "------------------------------ ------------ ---- ------- ------ ----------";
        let line = |text| CaptionLine { text, from: 0 };
        let read = captions(
            &[
                line("                                            Tota    Wait   % DB"),
                line("Event                                 Waits Time Avg(ms)   time Wait Class"),
            ],
            &ruler(rule).unwrap(),
        );
        assert_eq!(read, ["Event", "Waits", "Tota Time", "Wait Avg(ms)", "% DB time", "Wait Class"]);
    }

    #[test]
    fn label_column_precedes_first_ruled_column() {
        let line = "~~~~~~~~~~~            ---------------   -----";
        let spans = with_labels(ruler(line).unwrap(), line);
        assert_eq!(spans[0], AwrColumnSpan { start: 0, end: 22 });
        let line = "            --------- -----";
        assert_eq!(with_labels(ruler(line).unwrap(), line).len(), 3);
    }
}
