//! Parses the subset of shell that such files use: assignments, quotes, escapes, comments, `export`.
//!
//! SLOB and pgio read their files with `source`, so a file may contain any program. Only assignments of fixed values are
//! accepted. Everything else is an error with its place, because a guessed value makes a wrong measurement.

/// A text and its position in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocatedText {
    /// The text, without quotes and escapes.
    pub(super) text: String,
    /// The byte offset in the file where it begins.
    pub(super) at: usize,
}

/// One assignment, written `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    /// The name before the equals sign.
    pub(super) name: LocatedText,
    /// The value; absent if it could not be parsed.
    pub(super) value: Option<LocatedText>,
}

/// A line that the reader does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellIssue {
    /// The byte offset in the file.
    pub(super) at: usize,
    /// The parameter to which it belongs, if any.
    pub(super) name: Option<String>,
    /// What is wrong. It contains names of parameters but no other text of the file, which may be a password.
    pub(super) problem: String,
    /// How to write the line instead, as a sentence.
    pub(super) hint: &'static str,
}

const WRITE_VALUE: &str = "write the value itself, as in NAME=VALUE or NAME=\"VALUE\"";
const ONLY_ASSIGNMENTS: &str = "keep only lines such as NAME=VALUE, export NAME=VALUE, and # comments";
const QUOTE: &str = "write it in 'single quotes'";

/// The assignments of `text` in order, and its syntax errors.
pub(super) fn read(text: &str) -> (Vec<Assignment>, Vec<ShellIssue>) {
    let mut shell = Shell { text, at: 0, assignments: Vec::new(), slips: Vec::new() };
    if text.starts_with('\u{feff}') {
        shell.at = '\u{feff}'.len_utf8();
    }
    while shell.command() {}
    (shell.assignments, shell.slips)
}

struct Shell<'a> {
    text: &'a str,
    at: usize,
    assignments: Vec<Assignment>,
    slips: Vec<ShellIssue>,
}

/// A value that cannot be parsed: byte offset, problem and hint.
type Refused = (usize, String, &'static str);

impl Shell<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Skips blanks, and newlines after a backslash.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blank = match rest.chars().next() {
                Some(' ' | '\t' | '\r') => 1,
                _ if rest.starts_with("\\\n") => 2,
                _ if rest.starts_with("\\\r\n") => 3,
                _ => return,
            };
            self.at += blank;
        }
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Whether a word ends here.
    fn at_end_of_word(&self) -> bool {
        matches!(self.peek(), None | Some(' ' | '\t' | '\r' | '\n' | ';'))
    }

    fn report_issue(
        &mut self,
        at: usize,
        name: Option<String>,
        problem: impl Into<String>,
        hint: &'static str,
    ) {
        self.slips.push(ShellIssue { at, name, problem: problem.into(), hint });
    }

    /// Reads one command up to its newline or semicolon; returns false at the end of the file.
    fn command(&mut self) -> bool {
        self.skip_blanks();
        match self.peek() {
            None => return false,
            Some('\n' | ';') => {
                self.next();
                return true;
            }
            Some('#') => {
                self.skip_line();
                return true;
            }
            Some(_) => {}
        }
        let before = self.at;
        if self.name().is_some_and(|name| name == "export") && self.at_end_of_word() {
            self.words(true);
        } else {
            self.at = before;
            self.words(false);
        }
        true
    }

    /// Reads the words of a command.
    fn words(&mut self, exported: bool) {
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('\n' | ';') => return,
                Some('#') => return self.skip_line(),
                Some(_) => {}
            }
            if !self.word(exported) {
                return self.skip_line();
            }
        }
    }

    /// Reads a name and moves past it.
    fn name(&mut self) -> Option<String> {
        let rest = self.rest();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.find(|c| !plain(c)).unwrap_or(rest.len());
        let name = &rest[..length];
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let name = name.to_owned();
        self.at += length;
        Some(name)
    }

    /// Reads `NAME=VALUE`, or after `export` also `NAME`; returns false if the rest of the line cannot be parsed.
    fn word(&mut self, exported: bool) -> bool {
        let at = self.at;
        let Some(name) = self.name() else {
            self.report_issue(at, None, "this is not an assignment", ONLY_ASSIGNMENTS);
            return false;
        };
        if self.rest().starts_with('=') {
            self.at += 1;
            let from = self.at;
            let name = LocatedText { text: name, at };
            return match self.value() {
                Ok(text) => {
                    self.assignments.push(Assignment { name, value: Some(LocatedText { text, at: from }) });
                    true
                }
                Err((at, problem, hint)) => {
                    self.report_issue(at, Some(name.text.clone()), problem, hint);
                    self.assignments.push(Assignment { name, value: None });
                    // An unclosed quote would swallow the rest of the file: continue with the next line.
                    self.at = at;
                    false
                }
            };
        }
        if exported && self.at_end_of_word() {
            return true;
        }
        let behind = self.rest().trim_start_matches([' ', '\t']);
        let spaced = behind.starts_with('=') || behind.starts_with("+=");
        if self.rest().starts_with("+=") {
            self.report_issue(
                at,
                Some(name),
                "`+=` is not understood",
                "write the whole value, as in NAME=VALUE",
            );
        } else if self.rest().starts_with('[') {
            self.report_issue(at, Some(name), "lists are not understood", WRITE_VALUE);
        } else if spaced {
            let problem = "there is a space before the `=`, so a shell takes the name for a command";
            self.report_issue(at, Some(name), problem, "write NAME=VALUE without spaces");
        } else {
            self.report_issue(at, None, "this is not an assignment", ONLY_ASSIGNMENTS);
        }
        false
    }

    /// Reads the value after `=`, with its quotes and escapes.
    fn value(&mut self) -> Result<String, Refused> {
        let mut value = String::new();
        if self.peek() == Some('~') {
            return Err((self.at, "`~` is not understood".into(), "write the whole path"));
        }
        while !self.at_end_of_word() {
            let at = self.at;
            match self.next().unwrap_or_default() {
                '\'' => value.push_str(self.single_quoted(at)?),
                '"' => self.double_quoted(at, &mut value)?,
                '\\' => match self.next() {
                    Some('\n') => {}
                    Some('\r') if self.peek() == Some('\n') => {
                        self.next();
                    }
                    Some(c) => value.push(c),
                    None => value.push('\\'),
                },
                '$' => self.dollar(at, &mut value, false)?,
                '`' => return Err((at, "a command's output is not understood".into(), WRITE_VALUE)),
                c @ ('&' | '|' | '<' | '>' | '(' | ')') => {
                    return Err((
                        at,
                        format!("`{c}` has a meaning in a shell that is not understood"),
                        QUOTE,
                    ));
                }
                '\0' => return Err((at, "there is a zero byte".into(), "take it out")),
                c => value.push(c),
            }
        }
        Ok(value)
    }

    /// Reads the text up to the closing quote.
    fn single_quoted(&mut self, at: usize) -> Result<&str, Refused> {
        let from = self.at;
        let length = self.rest().find('\'').ok_or_else(|| unclosed(at, '\''))?;
        self.at += length + 1;
        Ok(&self.text[from..from + length])
    }

    fn double_quoted(&mut self, at: usize, value: &mut String) -> Result<(), Refused> {
        loop {
            let char_at = self.at;
            match self.next().ok_or_else(|| unclosed(at, '"'))? {
                '"' => return Ok(()),
                '\\' => match self.next().ok_or_else(|| unclosed(at, '"'))? {
                    '\n' => {}
                    c @ ('$' | '`' | '"' | '\\') => value.push(c),
                    c => value.extend(['\\', c]),
                },
                '$' => self.dollar(char_at, value, true)?,
                '`' => return Err((char_at, "a command's output is not understood".into(), WRITE_VALUE)),
                '\0' => return Err((char_at, "there is a zero byte".into(), "take it out")),
                c => value.push(c),
            }
        }
    }

    /// Handles the text after `$`: an expansion is refused, a plain `$` is kept.
    fn dollar(&mut self, at: usize, value: &mut String, quoted: bool) -> Result<(), Refused> {
        let problem = match self.peek() {
            Some('{') => "a variable is not understood, nor is its default: `${…}`",
            Some('(') => "a command's output is not understood: `$(…)`",
            Some('\'' | '"') if !quoted => "a quote behind `$` is not understood",
            Some(c) if c.is_ascii_alphanumeric() || "_@*#?-$!".contains(c) => {
                "a variable is not understood: `$…`"
            }
            _ => {
                value.push('$');
                return Ok(());
            }
        };
        Err((at, problem.into(), WRITE_VALUE))
    }
}

fn unclosed(at: usize, quote: char) -> Refused {
    (at, format!("the quote {quote} is never closed"), "close it")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and values of a text without errors.
    fn values(text: &str) -> Vec<(String, String)> {
        let (assignments, slips) = read(text);
        assert_eq!(slips, [], "{text:?}");
        assignments.into_iter().map(|a| (a.name.text, a.value.unwrap().text)).collect()
    }

    #[track_caller]
    fn assert_value(text: &str, value: &str) {
        assert_eq!(values(text), [("A".to_owned(), value.to_owned())], "{text:?}");
    }

    #[test]
    fn values_are_parsed_as_by_a_shell() {
        for (text, value) in [
            ("A=20", "20"),
            ("\u{feff}A=20\r\n", "20"),
            ("  A=20  # one in five", "20"),
            ("A=20;", "20"),
            ("export A=20", "20"),
            ("A=", ""),
            ("A=''", ""),
            ("A='a b' # c", "a b"),
            ("A=a#b", "a#b"),
            ("A=#b", "#b"),
            ("A=\"a 'b' \\\"c\\\" \\d\"", "a 'b' \"c\" \\d"),
            ("A=a\\ b", "a b"),
            ("A=a\\\nb", "ab"),
            ("A='8'\"0\"M", "80M"),
            ("A='$X `y` \\'", "$X `y` \\"),
            ("A=\"5$\"", "5$"),
            ("A=\\$X", "$X"),
            ("A=a=b", "a=b"),
            ("A=*?[x]{y}!", "*?[x]{y}!"),
            ("A=a~b", "a~b"),
            ("A='two\nlines'", "two\nlines"),
            ("A=é", "é"),
            ("A=x\\", "x\\"),
        ] {
            assert_value(text, value);
        }
    }

    #[test]
    fn several_assignments_on_one_line_are_read() {
        let names = |text| values(text).into_iter().map(|(name, value)| name + &value).collect::<Vec<_>>();
        let text = "A=1 B=2;C='3' # D=4\nexport E F=5 \\\n G=6\n";
        assert_eq!(names(text), ["A1", "B2", "C3", "F5", "G6"]);
        assert!(values("export A B C\n\n# nothing\n").is_empty());
    }

    /// Checks the place and problem of the only error in `text`, and returns the assignments after it.
    #[track_caller]
    fn assert_slip(text: &str, at: usize, words: &str) {
        let (assignments, slips) = read(&format!("{text}\nZ=1\n"));
        let [slip] = slips.as_slice() else { panic!("{text:?}: {slips:#?}") };
        assert_eq!(slip.at, at, "{text:?}: {slip:?}");
        assert!(slip.problem.contains(words), "{text:?}: {slip:?}");
        let last = assignments.last().unwrap();
        assert_eq!((last.name.text.as_str(), last.value.is_some()), ("Z", true), "{text:?}");
    }

    #[test]
    fn shell_expressions_are_reported_with_their_position() {
        for (text, at, words) in [
            ("A=${B:-5}", 2, "nor is its default"),
            ("A=\"x${B}\"", 4, "variable"),
            ("A=$B", 2, "variable"),
            ("A=$1", 2, "variable"),
            ("A=pa$$word", 4, "variable"),
            ("A=$(date)", 2, "command's output"),
            ("A=`date`", 2, "command's output"),
            ("A=\"`date`\"", 3, "command's output"),
            ("A=$'a\\n'", 2, "quote behind"),
            ("A=(1 2)", 2, "`(`"),
            ("A=1 & B=2", 4, "not an assignment"),
            ("A=1|cat", 3, "`|`"),
            ("A=~/x", 2, "`~`"),
            ("A+=1", 0, "`+=`"),
            ("A[1]=2", 0, "lists"),
            ("A = 1", 0, "space before"),
            ("A=80 M", 5, "not an assignment"),
            ("echo hello", 0, "not an assignment"),
            ("if [ -f x ]", 0, "not an assignment"),
            ("1A=2", 0, "not an assignment"),
            ("export -p", 7, "not an assignment"),
            ("A='open", 2, "never closed"),
            ("A=\"open", 2, "never closed"),
            ("é=1", 0, "not an assignment"),
        ] {
            assert_slip(text, at, words);
        }
    }
}
