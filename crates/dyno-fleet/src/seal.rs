//! Seals messages with the group's key: only messages from holders of the key are accepted, each at most
//! once.
//!
//! A seal is an HMAC-SHA256 (RFC 2104) over the subject, the sender, the message number and the message
//! bytes. Subjects contain a random number of the receiving process, so a message recorded for one process is
//! useless with another. Within a process each sender's number is accepted once, in any order within a
//! window, as in IPsec (RFC 4303, 3.4.3).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use parking_lot::Mutex;
use sha2::Sha256;

/// First bytes of a sealed message: the name of the format and its version.
const MARK: &[u8; 8] = b"dynofl1\0";
/// Size of a sender's id, bytes.
const SENDER: usize = 16;
/// Size of the header before the message, bytes: mark, sender, number, seal.
const HEAD: usize = MARK.len() + SENDER + 8 + 32;
/// How far behind the highest number a message may arrive; messages of one process overtake each other.
const WINDOW: u64 = 4_096;
/// Maximum number of senders remembered; each is a process that has the key.
const SENDERS_MAX: usize = 16_384;
/// Minimum length of a group's key, characters.
const KEY_CHARS_MIN: usize = 32;

/// The secret of a group; its value is never printed.
#[derive(Clone)]
pub struct GroupKey(Vec<u8>);

impl std::fmt::Debug for GroupKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GroupKey")
    }
}

impl GroupKey {
    /// Reads a key, such as [`GroupKey::generate`] creates; absent if the text is too short.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        (text.len() >= KEY_CHARS_MIN).then(|| Self(text.as_bytes().to_vec()))
    }

    /// Generates 256 random bits as hexadecimal text.
    ///
    /// # Errors
    /// The operating system returns no random bytes.
    pub fn generate() -> std::io::Result<String> {
        let mut bytes = [0; 32];
        random_bytes(&mut bytes)?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Why a message is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SealError {
    /// The message has no seal, but this process has a key.
    #[error("a message without the group's key")]
    Unsealed,
    /// The message has a seal, but this process has no key.
    #[error("a message sealed with a group's key, and this process has none")]
    NoKey,
    /// The seal does not match the key, the subject or the message.
    #[error("a message whose seal does not match the group's key")]
    Wrong,
    /// The message was accepted before, or is too old to decide.
    #[error("a repeated message")]
    Replayed,
}

/// Seals outgoing messages, and verifies incoming ones.
pub(crate) struct Sealer {
    key: Option<GroupKey>,
    sender: [u8; SENDER],
    next: AtomicU64,
    windows: Mutex<HashMap<[u8; SENDER], ReplayWindow>>,
}

/// Numbers accepted from one sender: the highest, and which of the [`WINDOW`] numbers below it.
struct ReplayWindow {
    highest: u64,
    received: Vec<bool>,
}

impl ReplayWindow {
    /// Marks a number as used; returns whether it was unused.
    fn take(&mut self, number: u64) -> bool {
        if number > self.highest {
            let ahead = number - self.highest;
            for skipped in 0..ahead.min(WINDOW) {
                self.received[((self.highest + 1 + skipped) % WINDOW) as usize] = false;
            }
            self.highest = number;
        } else if self.highest - number >= WINDOW {
            return false;
        }
        !std::mem::replace(&mut self.received[(number % WINDOW) as usize], true)
    }
}

impl Sealer {
    /// Creates a sealer with this key; without a key, messages are sent unchanged.
    pub(crate) fn new(key: Option<GroupKey>) -> std::io::Result<Self> {
        let mut sender = [0; SENDER];
        random_bytes(&mut sender)?;
        Ok(Self { key, sender, next: AtomicU64::new(1), windows: Mutex::default() })
    }

    /// Seals a message for `subject`.
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

    /// Verifies a message received on `subject`, and returns its content.
    ///
    /// # Errors
    /// The message does not come from a holder of the group's key, or was received before.
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
        // Compared in constant time, so that timing reveals nothing about the seal.
        let mac = mac(key, subject, sender, number, message);
        mac.verify_slice(seal).map_err(|_| SealError::Wrong)?;
        let sender: [u8; SENDER] = sender.try_into().map_err(|_| SealError::Wrong)?;
        let number = u64::from_be_bytes(number.try_into().map_err(|_| SealError::Wrong)?);
        let mut windows = self.windows.lock();
        if windows.len() >= SENDERS_MAX && !windows.contains_key(&sender) {
            return Err(SealError::Replayed);
        }
        let window = windows
            .entry(sender)
            .or_insert_with(|| ReplayWindow { highest: 0, received: vec![false; WINDOW as usize] });
        if window.take(number) { Ok(message.to_vec()) } else { Err(SealError::Replayed) }
    }
}

fn mac(key: &GroupKey, subject: &str, sender: &[u8], number: &[u8], message: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("HMAC takes a key of any length");
    mac.update(MARK);
    // The length is included, so that different pairs of subject and message never give the same input.
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
    fn sealed_message_is_accepted_once_and_only_on_its_subject() {
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
    fn replay_window_accepts_reordered_messages_once() {
        let mut window = ReplayWindow { highest: 0, received: vec![false; WINDOW as usize] };
        let outcomes: Vec<bool> =
            [1, 3, 2, 3, 5_000, 2_000, 904, 5_000, 4_999].map(|number| window.take(number)).into();
        assert_eq!(outcomes, [true, true, true, false, true, true, false, false, true]);
    }

    proptest! {
        #[test]
        fn sealed_message_with_changed_byte_is_rejected(at in 0usize..200, change in 1u8..) {
            let (sends, hears) = (sealer(Some(KEY)), sealer(Some(KEY)));
            let mut sealed = sends.seal("subject", vec![7; 120]);
            let at = at % sealed.len();
            sealed[at] ^= change;
            prop_assert!(hears.open("subject", &sealed).is_err());
        }

        #[test]
        fn replay_window_accepts_each_number_at_most_once(numbers in proptest::collection::vec(1u64..9_000, 1..300)) {
            let mut window = ReplayWindow { highest: 0, received: vec![false; WINDOW as usize] };
            let mut numbers_taken = std::collections::HashSet::new();
            for number in numbers {
                let is_new = window.take(number);
                prop_assert!(!is_new || numbers_taken.insert(number));
            }
        }
    }
}
