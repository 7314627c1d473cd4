//! A child whose far end answers line by line: asked, waited for within a time, and never believed more than so many bytes.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use super::why;
use crate::far::{FarTime, Now, SourceError, SourceErrorKind};

/// Bytes of one piece, and pieces that wait to be taken: what comes faster waits on the way.
const PIECE_BYTES: usize = 16 << 10;
const PIECES_MAX: usize = 64;
/// Bytes of what the child says of itself that are kept.
const SAID_BYTES_MAX: u64 = 8 << 10;
/// How long a child that has closed its output may take to say why.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// So much of what it printed is looked at when it is gone, bytes.
const PRINTED_MAX: usize = 4 << 10;

/// A piece of output, and when it was there.
type Piece = (Vec<u8>, u64);

/// The child, and what is known of its answers.
pub(super) struct Connection {
    child: Child,
    stdin: ChildStdin,
    output: Receiver<Piece>,
    said: Receiver<String>,
    now: Now,
    /// What it is called in errors.
    name: String,
    /// Of this connection alone, so that nothing which is read there can look like a mark.
    nonce: u64,
    asked: u64,
    /// The mark of an answer that has not come in time.
    owed: Option<String>,
    buffer: Vec<u8>,
    /// Why it answers no more.
    lost: Option<SourceError>,
    answered_once: bool,
}

/// What came between the marks.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) asked_ns: u64,
    pub(super) answered_ns: u64,
    pub(super) far: Option<FarTime>,
}

impl Connection {
    pub(super) fn open(mut command: Command, name: &str, now: &Now) -> Result<Self, SourceError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A key that is pressed to end a run must not end what its last counters come through.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| why::not_started(name, &error))?;
        let (stdin, mut stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (give, output) = sync_channel::<Piece>(PIECES_MAX);
        let (tell, said) = channel();
        let clock = Now::clone(now);
        let reader = std::thread::Builder::new().name("dyno-far-reader".into());
        let reading = reader.spawn(move || {
            if let Some(stdout) = &mut stdout {
                pass_on(stdout, &give, &clock);
            }
        });
        let listener = std::thread::Builder::new().name("dyno-far-errors".into());
        let listening = listener.spawn(move || {
            let mut bytes = Vec::new();
            if let Some(stderr) = stderr {
                let _ = stderr.take(SAID_BYTES_MAX).read_to_end(&mut bytes);
            }
            let _ = tell.send(why::plain(&bytes));
        });
        let stdin = stdin.filter(|_| reading.is_ok() && listening.is_ok());
        let Some(stdin) = stdin else {
            let _ = child.kill();
            let _ = child.wait();
            let words = format!("{name}: no thread could be started to listen to it");
            return Err(SourceError::new(SourceErrorKind::Unsupported, words));
        };
        Ok(Self {
            child,
            stdin,
            output,
            said,
            now: Now::clone(now),
            name: name.to_owned(),
            nonce: RandomState::new().build_hasher().finish(),
            asked: 0,
            owed: None,
            buffer: Vec::new(),
            lost: None,
            answered_once: false,
        })
    }

    /// An error of this machine.
    pub(super) fn wrong(&self, kind: SourceErrorKind, words: &str) -> SourceError {
        SourceError::new(kind, format!("{}: {words}", self.name))
    }

    /// Asks for `what` of `of`, and waits for the answer.
    pub(super) fn ask(
        &mut self,
        what: &str,
        of: &str,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Answer, SourceError> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let until = Instant::now() + patience;
        if let Some(owed) = self.owed.take() {
            self.collect(&owed, bytes_max, until)?;
        }
        self.asked += 1;
        let mark = format!("dyno-{:016x}-{}", self.nonce, self.asked);
        let asked_ns = (self.now)();
        // A line end would be a second question.
        let line = format!("{mark} {what} {}\n", of.replace(['\n', '\r', '\0'], " "));
        if self.stdin.write_all(line.as_bytes()).and_then(|()| self.stdin.flush()).is_err() {
            return Err(self.lose_as_gone());
        }
        let (bytes, answered_ns) = self.collect(&mark, bytes_max, until)?;
        self.answered_once = true;
        let text = why::plain(&bytes);
        self.taken_apart(&mark, &text, asked_ns, answered_ns)
    }

    /// Everything up to the mark of an answer's end, and when that was there.
    fn collect(
        &mut self,
        mark: &str,
        bytes_max: usize,
        until: Instant,
    ) -> Result<(Vec<u8>, u64), SourceError> {
        let end = format!("{mark} end\n").into_bytes();
        let mut looked = 0;
        let mut at_ns = (self.now)();
        loop {
            let from = looked.min(self.buffer.len());
            if let Some(found) = self.buffer[from..].windows(end.len()).position(|bytes| bytes == end) {
                let mut whole = self.buffer.split_off(from + found + end.len());
                std::mem::swap(&mut whole, &mut self.buffer);
                whole.truncate(from + found);
                return Ok((whole, at_ns));
            }
            looked = (self.buffer.len() + 1).saturating_sub(end.len());
            if self.buffer.len() > bytes_max {
                let words =
                    format!("it sent more than {} MiB where a few kilobytes are the answer", bytes_max >> 20);
                let hint = "look at what `sh -c` prints there: a login that talks, or a command that is forced on this key";
                let error = self.wrong(SourceErrorKind::Nonsense, &words).hint(hint);
                return Err(self.lose(error));
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok((bytes, piece_ns)) => {
                    self.buffer.extend_from_slice(&bytes);
                    at_ns = piece_ns;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.owed = Some(mark.to_owned());
                    return Err(why::late(&self.name, self.answered_once));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.lose_as_gone()),
            }
        }
    }

    fn taken_apart(
        &mut self,
        mark: &str,
        text: &str,
        asked_ns: u64,
        answered_ns: u64,
    ) -> Result<Answer, SourceError> {
        let begin = format!("{mark} begin\n");
        let body = text.find(&begin).map(|at| &text[at + begin.len()..]);
        let parts = body.and_then(|body| {
            let (first, rest) = body.split_once('\n')?;
            let rest = rest.trim_end_matches('\n');
            let (middle, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
            Some((first, middle, last))
        });
        let Some((first, middle, last)) = parts else {
            let error = self.wrong(SourceErrorKind::Nonsense, "it answers with what was not asked");
            return Err(self.lose(error));
        };
        Ok(Answer { text: middle.to_owned(), asked_ns, answered_ns, far: far_time(first, last) })
    }

    fn lose(&mut self, error: SourceError) -> SourceError {
        let _ = self.child.kill();
        self.lost = Some(error.clone());
        error
    }

    /// The child has closed its output: for what it says, or what came before it.
    fn lose_as_gone(&mut self) -> SourceError {
        // It may have ended before it was asked anything, with what it printed still on the way.
        let until = Instant::now() + LAST_WORDS;
        while self.buffer.len() < PRINTED_MAX
            && let Ok((bytes, _)) = self.output.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            self.buffer.extend_from_slice(&bytes);
        }
        let said = self.said.recv_timeout(LAST_WORDS).unwrap_or_default();
        let printed = why::plain(&self.buffer);
        let error = why::gone(&self.name, &said, &printed, self.answered_once);
        self.lose(error)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Killed, it is gone at once; its far end reads the end of its input.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Passes on what comes, until it ends or nobody wants it.
fn pass_on(from: &mut impl std::io::Read, give: &SyncSender<Piece>, now: &Now) {
    loop {
        let mut bytes = vec![0; PIECE_BYTES];
        match from.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(length) => {
                bytes.truncate(length);
                if give.send((bytes, now())).is_err() {
                    return;
                }
            }
        }
    }
}

/// Two times as `date +%s.%N` prints them; a `date` without parts of a second prints something else behind the point.
fn far_time(begin: &str, end: &str) -> Option<FarTime> {
    let read = |text: &str| {
        let (seconds, parts) = text.split_once('.').unwrap_or((text, ""));
        let seconds: u64 = seconds.parse().ok().filter(|seconds| *seconds < u64::MAX / 2_000_000_000)?;
        let is_sharp = parts.len() == 9 && parts.bytes().all(|byte| byte.is_ascii_digit());
        let ns = if is_sharp { parts.parse().ok()? } else { 0 };
        Some((seconds * 1_000_000_000 + ns, is_sharp))
    };
    let ((begin_ns, sharp), (end_ns, _)) = (read(begin)?, read(end)?);
    Some(FarTime { begin_ns, end_ns, resolution_ns: if sharp { 0 } else { 1_000_000_000 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_with_and_without_parts_of_a_second() {
        let time = far_time("1700000000.000000005", "1700000001.5").unwrap();
        assert_eq!((time.begin_ns, time.end_ns), (1_700_000_000_000_000_005, 1_700_000_001_000_000_000));
        assert_eq!(far_time("1700000000.%N", "1700000000.%N").unwrap().resolution_ns, 1_000_000_000);
        assert_eq!(far_time("", "x"), None);
        assert_eq!(far_time("99999999999999999999.0", "1"), None);
    }
}
