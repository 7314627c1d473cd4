//! Parses the output of `perf script`, line by line.
//!
//! A sample is one line, then one line for each function on the stack, innermost first, then an empty line.
//! Program names may contain anything, so a sample's line is parsed from its end, whose fields are numbers.

/// The parsed first line of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PerfSampleHeader<'a> {
    /// The name of the thread.
    pub(super) thread: &'a str,
    pub(super) pid: i64,
    pub(super) time_ns: u64,
    /// Its weight, in units of the event.
    pub(super) period: u64,
    pub(super) event: &'a str,
}

/// A function on a stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PerfStackFrame<'a> {
    pub(super) symbol: &'a str,
    pub(super) module: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PerfLine<'a> {
    Head(PerfSampleHeader<'a>),
    Call(PerfStackFrame<'a>),
    /// This many samples are missing.
    Lost(u64),
    /// A process began, or existed when `perf` started.
    Fork {
        pid: i64,
        parent: i64,
    },
    /// The empty line that ends a sample.
    Empty,
    /// A line that is not needed.
    Other,
}

/// The text that `perf` prints for an unknown name.
pub(super) const UNKNOWN: &str = "[unknown]";

/// Reads one line, without its end.
pub(super) fn line(text: &str) -> PerfLine<'_> {
    if text.trim().is_empty() {
        return PerfLine::Empty;
    }
    if text.starts_with(['\t', ' '])
        && let Some(call) = call(text)
    {
        return PerfLine::Call(call);
    }
    if let Some(lost) = lost(text) {
        return PerfLine::Lost(lost);
    }
    if let Some((pid, parent)) = fork(text) {
        return PerfLine::Fork { pid, parent };
    }
    head(text).map_or(PerfLine::Other, PerfLine::Head)
}

/// Parses `    ffffffff8225f42b pv_native_safe_halt ([kernel.kallsyms])`.
fn call(text: &str) -> Option<PerfStackFrame<'_>> {
    let (address, rest) = text.trim().split_once(' ')?;
    if address.is_empty() || !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let rest = rest.strip_suffix(')')?;
    // A deleted file has a word in parentheses after its name.
    let trimmed = rest.strip_suffix(" (deleted)").unwrap_or(rest);
    let (symbol, module) = trimmed.rsplit_once(" (").or_else(|| Some(("", trimmed.strip_prefix('(')?)))?;
    let or_unknown = |name: &str| name.trim().is_empty();
    Some(PerfStackFrame {
        symbol: if or_unknown(symbol) { UNKNOWN } else { symbol.trim() },
        module: if or_unknown(module) { UNKNOWN } else { module },
    })
}

/// Parses `sh 25454/25454 [001] 36055.329465: PERF_RECORD_LOST lost 25`, and the variant that counts only
/// samples.
fn lost(text: &str) -> Option<u64> {
    let record = record(text, "PERF_RECORD_LOST")?;
    record.rsplit(' ').next()?.trim().parse().ok()
}

/// Parses `sh 254/254 [001] 36055.329465: PERF_RECORD_FORK(255:256):(254:254)`: process and thread, and their
/// parents.
fn fork(text: &str) -> Option<(i64, i64)> {
    let (child, parent) = record(text, "PERF_RECORD_FORK(")?.strip_suffix(')')?.split_once("):(")?;
    let process = |ids: &str| ids.split_once(':')?.0.parse().ok();
    Some((process(child)?, process(parent)?))
}

/// The text after the name of a record that is not a sample.
fn record<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (before, record) = text.rsplit_once(name)?;
    // The program's name ends before the time.
    time_ns(before.trim_end().rsplit(' ').next()?)?;
    Some(record)
}

/// Parses `swapper     0/0     [000] 35664.742545217:   10101010 cpu-clock: `.
fn head(text: &str) -> Option<PerfSampleHeader<'_>> {
    let (rest, event) = field(text)?;
    let event = event.strip_suffix(':')?;
    let (rest, period) = field(rest)?;
    let (rest, time) = field(rest)?;
    let (rest, cpu) = field(rest)?;
    cpu.strip_prefix('[')?.strip_suffix(']')?.parse::<u32>().ok()?;
    let (rest, ids) = field(rest)?;
    let (pid, tid) = ids.split_once('/')?;
    tid.parse::<i64>().ok()?;
    Some(PerfSampleHeader {
        thread: rest.trim(),
        pid: pid.parse().ok()?,
        time_ns: time_ns(time)?,
        period: period.parse().ok()?,
        event,
    })
}

/// The last word of a text, and the text before it.
fn field(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    let at = text.rfind(' ')?;
    Some((&text[..at], &text[at + 1..]))
}

/// Parses a time such as `35664.742545217:`.
fn time_ns(text: &str) -> Option<u64> {
    let (seconds, part) = text.strip_suffix(':')?.split_once('.')?;
    let digits = u32::try_from(part.len()).ok().filter(|digits| (1..=9).contains(digits))?;
    let part: u64 = part.parse().ok()?;
    let seconds: u64 = seconds.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(part * 10u64.pow(9 - digits))
}
