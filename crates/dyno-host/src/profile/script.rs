//! The text of `perf script`, line by line.
//!
//! A sample is a line of its own, then one line for each function on the stack, the innermost first, then an empty line.
//! Names come from programs of anybody and may hold anything, so a sample's line is read from its end, whose fields are
//! numbers of `perf`'s own.

/// A sample's first line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Head<'a> {
    /// What the thread called itself.
    pub(super) thread: &'a str,
    pub(super) pid: i64,
    pub(super) time_ns: u64,
    /// What it stands for, in units of the event.
    pub(super) period: u64,
    pub(super) event: &'a str,
}

/// A function on a stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) symbol: &'a str,
    pub(super) module: &'a str,
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Line<'a> {
    Head(Head<'a>),
    Call(Call<'a>),
    /// So many samples are missing.
    Lost(u64),
    /// A process began, or was there when `perf` looked around at its start.
    Fork {
        pid: i64,
        parent: i64,
    },
    /// The end of a sample.
    Empty,
    /// Anything else.
    Other,
}

/// What `perf` calls what it has no name for.
pub(super) const UNKNOWN: &str = "[unknown]";

/// Reads one line, without its end.
pub(super) fn line(text: &str) -> Line<'_> {
    if text.trim().is_empty() {
        return Line::Empty;
    }
    if text.starts_with(['\t', ' '])
        && let Some(call) = call(text)
    {
        return Line::Call(call);
    }
    if let Some(lost) = lost(text) {
        return Line::Lost(lost);
    }
    if let Some((pid, parent)) = fork(text) {
        return Line::Fork { pid, parent };
    }
    head(text).map_or(Line::Other, Line::Head)
}

/// `    ffffffff8225f42b pv_native_safe_halt ([kernel.kallsyms])`.
fn call(text: &str) -> Option<Call<'_>> {
    let (address, rest) = text.trim().split_once(' ')?;
    if address.is_empty() || !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let rest = rest.strip_suffix(')')?;
    // A file that is gone has a word behind its name, in brackets too.
    let gone = rest.strip_suffix(" (deleted)").unwrap_or(rest);
    let (symbol, module) = gone.rsplit_once(" (").or_else(|| Some(("", gone.strip_prefix('(')?)))?;
    let or_unknown = |name: &str| name.trim().is_empty();
    Some(Call {
        symbol: if or_unknown(symbol) { UNKNOWN } else { symbol.trim() },
        module: if or_unknown(module) { UNKNOWN } else { module },
    })
}

/// `sh 25454/25454 [001] 36055.329465: PERF_RECORD_LOST lost 25`, and the kind that counts samples only.
fn lost(text: &str) -> Option<u64> {
    let record = record(text, "PERF_RECORD_LOST")?;
    record.rsplit(' ').next()?.trim().parse().ok()
}

/// `sh 254/254 [001] 36055.329465: PERF_RECORD_FORK(255:256):(254:254)`: process and thread, and those that began it.
fn fork(text: &str) -> Option<(i64, i64)> {
    let (child, parent) = record(text, "PERF_RECORD_FORK(")?.strip_suffix(')')?.split_once("):(")?;
    let process = |ids: &str| ids.split_once(':')?.0.parse().ok();
    Some((process(child)?, process(parent)?))
}

/// What follows the name of a record that is no sample.
fn record<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (before, record) = text.rsplit_once(name)?;
    // What a program calls itself ends before the time.
    time_ns(before.trim_end().rsplit(' ').next()?)?;
    Some(record)
}

/// `swapper     0/0     [000] 35664.742545217:   10101010 cpu-clock: `.
fn head(text: &str) -> Option<Head<'_>> {
    let (rest, event) = field(text)?;
    let event = event.strip_suffix(':')?;
    let (rest, period) = field(rest)?;
    let (rest, time) = field(rest)?;
    let (rest, cpu) = field(rest)?;
    cpu.strip_prefix('[')?.strip_suffix(']')?.parse::<u32>().ok()?;
    let (rest, ids) = field(rest)?;
    let (pid, tid) = ids.split_once('/')?;
    tid.parse::<i64>().ok()?;
    Some(Head {
        thread: rest.trim(),
        pid: pid.parse().ok()?,
        time_ns: time_ns(time)?,
        period: period.parse().ok()?,
        event,
    })
}

/// The last word of a text, and what is before it.
fn field(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    let at = text.rfind(' ')?;
    Some((&text[..at], &text[at + 1..]))
}

/// `35664.742545217:`.
fn time_ns(text: &str) -> Option<u64> {
    let (seconds, part) = text.strip_suffix(':')?.split_once('.')?;
    let digits = u32::try_from(part.len()).ok().filter(|digits| (1..=9).contains(digits))?;
    let part: u64 = part.parse().ok()?;
    let seconds: u64 = seconds.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(part * 10u64.pow(9 - digits))
}
