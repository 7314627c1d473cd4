//! The releases whose wire protocol a scripted server supports.

/// A release of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScriptedRelease {
    /// Protocol 318, field version 12. Log-on takes four requests, and an answer ends with its last message.
    #[default]
    R19c,
    /// Protocol 319, field version 24. Log-on takes two requests (fast authentication), requests carry a
    /// token, and a mark follows each answer.
    R23ai,
}

/// Flags of an ACCEPT packet: fast authentication is available, and a mark ends each answer.
const FAST_AUTHENTICATION: u32 = 0x1000_0000;
const END_OF_RESPONSE: u32 = 0x0200_0000;

impl ScriptedRelease {
    /// All releases, oldest first.
    pub const ALL: [Self; 2] = [Self::R19c, Self::R23ai];

    /// Version of the network protocol.
    pub(super) fn protocol(self) -> u16 {
        match self {
            Self::R19c => 318,
            Self::R23ai => 319,
        }
    }

    /// Field version of the messages.
    pub(super) fn fields(self) -> FieldVersion {
        FieldVersion(match self {
            Self::R19c => 12,
            Self::R23ai => 24,
        })
    }

    /// The server's version as reported at log-on.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::R19c => 19 << 24 | 21 << 16,
            Self::R23ai => 23 << 24 | 9 << 16,
        }
    }

    /// Protocol flags of an ACCEPT packet.
    pub(super) fn accept_flags(self) -> u32 {
        match self {
            Self::R19c => 0,
            Self::R23ai => FAST_AUTHENTICATION | END_OF_RESPONSE,
        }
    }

    /// Whether a mark follows each answer.
    pub(super) fn marks_ends(self) -> bool {
        self.accept_flags() & END_OF_RESPONSE != 0
    }
}

/// A field version, which determines the fields of each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldVersion(pub(super) u8);

impl FieldVersion {
    /// 12.2: statement signatures, column numbers.
    pub(super) const R12_2: Self = Self(8);
    /// 12.2 with its extension: chunk numbers.
    pub(super) const R12_2_CHUNKS: Self = Self(9);
    /// 20c: kind and checksum of a statement after its end.
    pub(super) const R20C: Self = Self(14);
    /// 23ai: domains in column descriptions.
    pub(super) const R23_DOMAINS: Self = Self(17);
    /// 23ai: a token in each request.
    pub(super) const R23_TOKENS: Self = Self(18);
    /// 23ai: annotations in column descriptions.
    pub(super) const R23_ANNOTATIONS: Self = Self(20);
    /// 23ai: columns of vector type.
    pub(super) const R23_VECTORS: Self = Self(24);
}
