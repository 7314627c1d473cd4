//! The protocol version, and limits on messages: anyone who can reach the NATS server may send one.

/// The protocol version. Agents and controllers of another version are refused.
pub const PROTOCOL: u32 = 3;
/// Maximum size of a message, bytes. A NATS server accepts 1 MB by default.
pub(crate) const MESSAGE_BYTES_MAX: usize = 900 * 1024;
/// Size of one piece of transferred data, bytes.
pub(crate) const PIECE_BYTES: usize = 256 * 1024;
/// Maximum packed size of an agent's results, bytes, in addition to the share of each session.
pub(crate) const HANDED_BYTES_MAX: usize = 32 << 20;
/// Maximum unpacked size of the results of one session, bytes.
pub(crate) const SESSION_BYTES_MAX: usize = 64 << 10;
/// Maximum size of a run's workload folders, bytes; applies to both their packed and their unpacked form.
pub(crate) const FOLDERS_BYTES_MAX: usize = 32 << 20;
pub(crate) const FOLDERS_TEXT_MAX: u64 = 64 << 20;
/// Maximum number of hosts and of sessions in a run.
pub(crate) const HOSTS_MAX: usize = 4_096;
pub(crate) const SESSIONS_MAX: u32 = 4_000_000;
/// Maximum length of a name, characters.
pub(crate) const NAME_MAX: usize = 80;
