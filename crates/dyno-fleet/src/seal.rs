//! Messages sealed with the group's key: only who has the key is obeyed or believed, and no message counts twice.
//!
//! A seal is an HMAC-SHA256 (RFC 2104) over the subject, the sender, the number of the message and its bytes. Agents and leaders
//! hear on subjects that hold a random number of their process, so a message that was recorded for one process means nothing to
//! another. Within a process each sender's numbers are taken once, in any order within a window, as in IPsec (RFC 4303, 3.4.3).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// How a sealed message begins: the name of the format and its version.
const MARK: &[u8; 8] = b"dynofl1\0";
/// Bytes of a sender's number.
const SENDER: usize = 16;
/// Bytes before the message: mark, sender, number, seal.
const HEAD: usize = MARK.len() + SENDER + 8 + 32;
/// Numbers behind the highest one that may still come: messages of one process overtake each other.
const WINDOW: u64 = 4_096;
/// Senders that are remembered at the same time: each is a process that has the key.
const SENDERS_MAX: usize = 16_384;
/// The least characters of a group's key.
const KEY_CHARS_MIN: usize = 32;

/// The secret of a group. Never shown.
#[derive(Clone)]
pub struct GroupKey(Vec<u8>);

impl std::fmt::Debug for GroupKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GroupKey")
    }
}

impl GroupKey {
    /// The key in `text`, such as [`GroupKey::generate`] makes; absent where it is too short to be one.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        (text.len() >= KEY_CHARS_MIN).then(|| Self(text.as_bytes().to_vec()))
    }

    /// 256 random bits as hexadecimal text.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn generate() -> std::io::Result<String> {
        let mut bytes = [0; 32];
        random_bytes(&mut bytes)?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Why a message is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SealError {
    /// It has no seal, and this process has a key.
    #[error("a message without the group's key")]
    Unsealed,
    /// It has a seal, and this process has no key.
    #[error("a message sealed with a group's key, and this process has none")]
    NoKey,
    /// Its seal is of another key, subject or text.
    #[error("a message whose seal does not fit the group's key")]
    Wrong,
    /// It was taken before, or is too old to tell.
    #[error("a message that came before")]
    Replayed,
}

/// Seals what this process sends, and opens what it hears.
pub(crate) struct Sealer {
    key: Option<GroupKey>,
    sender: [u8; SENDER],
    next: AtomicU64,
    windows: Mutex<HashMap<[u8; SENDER], ReplayWindow>>,
}

/// Numbers that were taken of one sender: the highest, and which of the [`WINDOW`] below it.
struct ReplayWindow {
    highest: u64,
    taken: Vec<bool>,
}

impl ReplayWindow {
    /// Takes a number; whether it is new.
    fn take(&mut self, number: u64) -> bool {
        if number > self.highest {
            let ahead = number - self.highest;
            for skipped in 0..ahead.min(WINDOW) {
                self.taken[((self.highest + 1 + skipped) % WINDOW) as usize] = false;
            }
            self.highest = number;
        } else if self.highest - number >= WINDOW {
            return false;
        }
        !std::mem::replace(&mut self.taken[(number % WINDOW) as usize], true)
    }
}

impl Sealer {
    /// Of a process with this key; without one messages go as they are.
    pub(crate) fn new(key: Option<GroupKey>) -> std::io::Result<Self> {
        let mut sender = [0; SENDER];
        random_bytes(&mut sender)?;
        Ok(Self { key, sender, next: AtomicU64::new(1), windows: Mutex::default() })
    }

    /// The message as it goes to `subject`.
    pub(crate) fn seal(&self, subject: &str, message: Vec<u8>) -> Vec<u8> {
        let Some(key) = &self.key else { return message };
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mac = mac(key, subject, &self.sender, &number, &message);
        let mut sealed = Vec::with_capacity(HEAD + message.len());
        sealed.extend_from_slice(MARK);
        sealed.extend_from_slice(&self.sender);
        sealed.extend_from_slice(&number);
        sealed.extend_from_slice(&mac.finalize().into_bytes());
        sealed.extend_from_slice(&message);
        sealed
    }

    /// The message that came on `subject`.
    ///
    /// # Errors
    /// It is not from a process with the group's key, or came before.
    pub(crate) fn open(&self, subject: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let is_sealed = sealed.starts_with(MARK) && sealed.len() >= HEAD;
        let key = match (&self.key, is_sealed) {
            (None, false) => return Ok(sealed.to_vec()),
            (None, true) => return Err(SealError::NoKey),
            (Some(_), false) => return Err(SealError::Unsealed),
            (Some(key), true) => key,
        };
        let (head, message) = sealed.split_at(HEAD);
        let (sender, rest) = head[MARK.len()..].split_at(SENDER);
        let (number, seal) = rest.split_at(8);
        // Compared in a time that says nothing of the seal.
        let mac = mac(key, subject, sender, number, message);
        mac.verify_slice(seal).map_err(|_| SealError::Wrong)?;
        let sender: [u8; SENDER] = sender.try_into().map_err(|_| SealError::Wrong)?;
        let number = u64::from_be_bytes(number.try_into().map_err(|_| SealError::Wrong)?);
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= SENDERS_MAX && !windows.contains_key(&sender) {
            return Err(SealError::Replayed);
        }
        let window = windows
            .entry(sender)
            .or_insert_with(|| ReplayWindow { highest: 0, taken: vec![false; WINDOW as usize] });
        if window.take(number) { Ok(message.to_vec()) } else { Err(SealError::Replayed) }
    }
}

fn mac(key: &GroupKey, subject: &str, sender: &[u8], number: &[u8], message: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("HMAC takes a key of any length");
    mac.update(MARK);
    // With its length, so that no two subjects and messages are one text.
    mac.update(&(subject.len() as u64).to_be_bytes());
    for part in [subject.as_bytes(), sender, number, message] {
        mac.update(part);
    }
    mac
}

fn random_bytes(bytes: &mut [u8]) -> std::io::Result<()> {
    use std::io::Read as _;
    std::fs::File::open("/dev/urandom")?.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sealer(key: Option<&str>) -> Sealer {
        Sealer::new(key.map(|key| GroupKey::of(key).unwrap())).unwrap()
    }

    const KEY: &str = "0123456789abcdef0123456789abcdef";
    const OTHER: &str = "0123456789abcdef0123456789abcdeg";

    #[test]
    fn sealed_message_is_taken_once_on_its_subject_only() {
        let (sends, hears) = (sealer(Some(KEY)), sealer(Some(KEY)));
        let sealed = sends.seal("dyno.t.agent.1", b"order".to_vec());
        assert_eq!(hears.open("dyno.t.agent.2", &sealed), Err(SealError::Wrong));
        assert_eq!(hears.open("dyno.t.agent.1", &sealed).unwrap(), b"order");
        assert_eq!(hears.open("dyno.t.agent.1", &sealed), Err(SealError::Replayed));
        assert_eq!(sealer(Some(OTHER)).open("dyno.t.agent.1", &sealed), Err(SealError::Wrong));
        assert_eq!(sealer(None).open("dyno.t.agent.1", &sealed), Err(SealError::NoKey));
        assert_eq!(hears.open("dyno.t.agent.1", b"order"), Err(SealError::Unsealed));
        assert_eq!(sealer(None).open("s", b"order").unwrap(), b"order");
        assert!(GroupKey::of("short").is_none());
        assert!(GroupKey::of(&GroupKey::generate().unwrap()).is_some());
    }

    #[test]
    fn messages_that_overtake_each_other_are_taken_within_the_window() {
        let mut window = ReplayWindow { highest: 0, taken: vec![false; WINDOW as usize] };
        let outcomes: Vec<bool> =
            [1, 3, 2, 3, 5_000, 2_000, 904, 5_000, 4_999].map(|number| window.take(number)).into();
        assert_eq!(outcomes, [true, true, true, false, true, true, false, false, true]);
    }

    proptest! {
        #[test]
        fn changed_byte_breaks_the_seal(at in 0usize..200, change in 1u8..) {
            let (sends, hears) = (sealer(Some(KEY)), sealer(Some(KEY)));
            let mut sealed = sends.seal("subject", vec![7; 120]);
            let at = at % sealed.len();
            sealed[at] ^= change;
            prop_assert!(hears.open("subject", &sealed).is_err());
        }

        #[test]
        fn number_is_taken_once_whatever_order_they_come_in(numbers in proptest::collection::vec(1u64..9_000, 1..300)) {
            let mut window = ReplayWindow { highest: 0, taken: vec![false; WINDOW as usize] };
            let mut numbers_taken = std::collections::HashSet::new();
            for number in numbers {
                let is_new = window.take(number);
                prop_assert!(!is_new || numbers_taken.insert(number));
            }
        }
    }
}
