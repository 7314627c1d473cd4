//! Runs a child process that answers line by line. Each answer has a time limit and a size limit.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use super::connect_error;
use crate::remote::{Now, RemoteTime, SourceError, SourceErrorKind};

/// Bytes of one piece; with the number of waiting pieces below it bounds the memory. Faster output waits in
/// the pipe.
const PIECE_BYTES: usize = 16 << 10;
const PIECES_MAX: usize = 64;
/// Bytes of the child's error output that are kept.
const SAID_BYTES_MAX: u64 = 8 << 10;
/// How long a child that closed its output may take to report why.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Bytes of its output that are considered after it has ended.
const PRINTED_MAX: usize = 4 << 10;

/// A piece of output, and the time it arrived.
type Piece = (Vec<u8>, u64);

/// The child process and the state of its answers.
pub(super) struct SshConnection {
    child: Child,
    stdin: ChildStdin,
    output: Receiver<Piece>,
    stderr_text: Receiver<String>,
    now: Now,
    /// The machine's name in errors.
    name: String,
    /// A random number of this connection, so that no file content can look like a mark.
    nonce: u64,
    request_count: u64,
    /// The mark of an answer that is overdue.
    pending_mark: Option<String>,
    buffer: Vec<u8>,
    /// Why the connection is lost.
    failure: Option<SourceError>,
    answered_once: bool,
}

/// The lines between the marks.
pub(super) struct SshAnswer {
    pub(super) text: String,
    pub(super) asked_ns: u64,
    pub(super) answered_ns: u64,
    pub(super) far: Option<RemoteTime>,
}

impl SshConnection {
    pub(super) fn open(mut command: Command, name: &str, now: &Now) -> Result<Self, SourceError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A key that the user presses to end a run must not end this child: it delivers the last counters.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| connect_error::not_started(name, &error))?;
        let (stdin, mut stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (give, output) = sync_channel::<Piece>(PIECES_MAX);
        let (tell, said) = channel();
        let clock = Now::clone(now);
        let reader = std::thread::Builder::new().name("dyno-far-reader".into());
        let reading = reader.spawn(move || {
            if let Some(stdout) = &mut stdout {
                forward(stdout, &give, &clock);
            }
        });
        let listener = std::thread::Builder::new().name("dyno-far-errors".into());
        let listening = listener.spawn(move || {
            let mut bytes = Vec::new();
            if let Some(stderr) = stderr {
                let _ = stderr.take(SAID_BYTES_MAX).read_to_end(&mut bytes);
            }
            let _ = tell.send(connect_error::plain(&bytes));
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
            stderr_text: said,
            now: Now::clone(now),
            name: name.to_owned(),
            nonce: RandomState::new().build_hasher().finish(),
            request_count: 0,
            pending_mark: None,
            buffer: Vec::new(),
            failure: None,
            answered_once: false,
        })
    }

    /// The error with the machine's name in front.
    pub(super) fn wrong(&self, kind: SourceErrorKind, words: &str) -> SourceError {
        SourceError::new(kind, format!("{}: {words}", self.name))
    }

    /// Requests `what` of `of` and waits for the answer.
    pub(super) fn ask(
        &mut self,
        what: &str,
        of: &str,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<SshAnswer, SourceError> {
        if let Some(lost) = &self.failure {
            return Err(lost.clone());
        }
        let until = Instant::now() + patience;
        if let Some(owed) = self.pending_mark.take() {
            self.collect(&owed, bytes_max, until)?;
        }
        self.request_count += 1;
        let mark = format!("dyno-{:016x}-{}", self.nonce, self.request_count);
        let asked_ns = (self.now)();
        // A line break would start a second request.
        let line = format!("{mark} {what} {}\n", of.replace(['\n', '\r', '\0'], " "));
        if self.stdin.write_all(line.as_bytes()).and_then(|()| self.stdin.flush()).is_err() {
            return Err(self.fail_as_closed());
        }
        let (bytes, answered_ns) = self.collect(&mark, bytes_max, until)?;
        self.answered_once = true;
        let text = connect_error::plain(&bytes);
        self.parse_answer(&mark, &text, asked_ns, answered_ns)
    }

    /// Collects everything up to the end mark of an answer, and when that arrived.
    fn collect(
        &mut self,
        mark: &str,
        bytes_max: usize,
        until: Instant,
    ) -> Result<(Vec<u8>, u64), SourceError> {
        let end = format!("{mark} end\n").into_bytes();
        let mut searched_bytes = 0;
        let mut at_ns = (self.now)();
        loop {
            let from = searched_bytes.min(self.buffer.len());
            if let Some(end_offset) = self.buffer[from..].windows(end.len()).position(|bytes| bytes == end) {
                let mut whole = self.buffer.split_off(from + end_offset + end.len());
                std::mem::swap(&mut whole, &mut self.buffer);
                whole.truncate(from + end_offset);
                return Ok((whole, at_ns));
            }
            searched_bytes = (self.buffer.len() + 1).saturating_sub(end.len());
            if self.buffer.len() > bytes_max {
                let words = format!("it sent more than {} MiB instead of a few kilobytes", bytes_max >> 20);
                let hint = "check what `sh -c` prints there: a login script may print text, or this key may \
                            have a forced command";
                let error = self.wrong(SourceErrorKind::Nonsense, &words).hint(hint);
                return Err(self.mark_failed(error));
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok((bytes, piece_ns)) => {
                    self.buffer.extend_from_slice(&bytes);
                    at_ns = piece_ns;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.pending_mark = Some(mark.to_owned());
                    return Err(connect_error::late(&self.name, self.answered_once));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.fail_as_closed()),
            }
        }
    }

    fn parse_answer(
        &mut self,
        mark: &str,
        text: &str,
        asked_ns: u64,
        answered_ns: u64,
    ) -> Result<SshAnswer, SourceError> {
        let begin = format!("{mark} begin\n");
        let body = text.find(&begin).map(|at| &text[at + begin.len()..]);
        let parts = body.and_then(|body| {
            let (first, rest) = body.split_once('\n')?;
            let rest = rest.trim_end_matches('\n');
            let (middle, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
            Some((first, middle, last))
        });
        let Some((first, middle, last)) = parts else {
            let error = self.wrong(SourceErrorKind::Nonsense, "it sent an unexpected answer");
            return Err(self.mark_failed(error));
        };
        Ok(SshAnswer { text: middle.to_owned(), asked_ns, answered_ns, far: far_time(first, last) })
    }

    fn mark_failed(&mut self, error: SourceError) -> SourceError {
        let _ = self.child.kill();
        self.failure = Some(error.clone());
        error
    }

    /// Finds the error after the child closed its output: from its error output, or from what it printed
    /// before.
    fn fail_as_closed(&mut self) -> SourceError {
        // The child may have ended before the first request, with its output still in the pipe.
        let until = Instant::now() + LAST_WORDS;
        while self.buffer.len() < PRINTED_MAX
            && let Ok((bytes, _)) = self.output.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            self.buffer.extend_from_slice(&bytes);
        }
        let message = self.stderr_text.recv_timeout(LAST_WORDS).unwrap_or_default();
        let printed = connect_error::plain(&self.buffer);
        let error = connect_error::connection_closed(&self.name, &message, &printed, self.answered_once);
        self.mark_failed(error)
    }
}

impl Drop for SshConnection {
    fn drop(&mut self) {
        // A killed child ends at once; its shell loop reads the end of its input.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Passes output on until it ends or the receiver is gone.
fn forward(from: &mut impl std::io::Read, give: &SyncSender<Piece>, now: &Now) {
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

/// Parses two times of `date +%s.%N`; a `date` without fractions prints something else after the point.
fn far_time(begin: &str, end: &str) -> Option<RemoteTime> {
    let read = |text: &str| {
        let (seconds, parts) = text.split_once('.').unwrap_or((text, ""));
        let seconds: u64 = seconds.parse().ok().filter(|seconds| *seconds < u64::MAX / 2_000_000_000)?;
        let is_sharp = parts.len() == 9 && parts.bytes().all(|byte| byte.is_ascii_digit());
        let ns = if is_sharp { parts.parse().ok()? } else { 0 };
        Some((seconds * 1_000_000_000 + ns, is_sharp))
    };
    let ((begin_ns, sharp), (end_ns, _)) = (read(begin)?, read(end)?);
    Some(RemoteTime { begin_ns, end_ns, resolution_ns: if sharp { 0 } else { 1_000_000_000 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_clock_is_read_with_and_without_fractions() {
        let time = far_time("1700000000.000000005", "1700000001.5").unwrap();
        assert_eq!((time.begin_ns, time.end_ns), (1_700_000_000_000_000_005, 1_700_000_001_000_000_000));
        assert_eq!(far_time("1700000000.%N", "1700000000.%N").unwrap().resolution_ns, 1_000_000_000);
        assert_eq!(far_time("", "x"), None);
        assert_eq!(far_time("99999999999999999999.0", "1"), None);
    }
}
