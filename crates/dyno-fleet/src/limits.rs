//! The version of messages, and limits on all that they bring: one may come from anybody who can reach the meeting point.

/// The version of these messages. Whoever speaks another one is refused.
pub const PROTOCOL: u32 = 3;
/// A message's bytes at most; a NATS server takes a megabyte where nobody changed that.
pub(crate) const MESSAGE_BYTES_MAX: usize = 900 * 1024;
/// Bytes of one piece of what is handed in.
pub(crate) const PIECE_BYTES: usize = 256 * 1024;
/// Bytes that an agent may hand in, beside those for each of its sessions, as they travel.
pub(crate) const HANDED_BYTES_MAX: usize = 32 << 20;
/// The same for each session, unpacked.
pub(crate) const SESSION_BYTES_MAX: usize = 64 << 10;
/// Bytes of the folders of a run's workloads, packed, and as the text that they unpack to.
pub(crate) const FOLDERS_BYTES_MAX: usize = 32 << 20;
pub(crate) const FOLDERS_TEXT_MAX: u64 = 64 << 20;
/// Hosts of a run at most, and sessions.
pub(crate) const HOSTS_MAX: usize = 4_096;
pub(crate) const SESSIONS_MAX: u32 = 4_000_000;
/// Characters of a name at most.
pub(crate) const NAME_MAX: usize = 80;
