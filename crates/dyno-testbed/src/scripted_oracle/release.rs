//! The releases whose wire protocol a scripted server speaks.

/// A release of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScriptedRelease {
    /// Protocol 318, field version 12. Log-on takes four requests, and an answer ends with its last message.
    #[default]
    R19c,
    /// Protocol 319, field version 24. Log-on takes two requests (fast authentication), requests have a token, and a mark follows
    /// each answer.
    R23ai,
}

/// Flags of an ACCEPT packet: fast authentication is possible, and each answer has a mark at its end.
const FAST_AUTHENTICATION: u32 = 0x1000_0000;
const END_OF_RESPONSE: u32 = 0x0200_0000;

impl ScriptedRelease {
    /// All of them, the oldest first.
    pub const ALL: [Self; 2] = [Self::R19c, Self::R23ai];

    /// The version of the network protocol.
    pub(super) fn protocol(self) -> u16 {
        match self {
            Self::R19c => 318,
            Self::R23ai => 319,
        }
    }

    /// The version of the fields of messages.
    pub(super) fn fields(self) -> FieldVersion {
        FieldVersion(match self {
            Self::R19c => 12,
            Self::R23ai => 24,
        })
    }

    /// The server's version as log-on reports it.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::R19c => 19 << 24 | 21 << 16,
            Self::R23ai => 23 << 24 | 9 << 16,
        }
    }

    /// What an ACCEPT packet says of the protocol.
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

/// A version of the fields of messages, which says what is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldVersion(pub(super) u8);

impl FieldVersion {
    /// 12.2: signatures of statements, numbers of columns.
    pub(super) const R12_2: Self = Self(8);
    /// 12.2 with its extension: numbers of chunks.
    pub(super) const R12_2_CHUNKS: Self = Self(9);
    /// 20c: kind and checksum of a statement behind its end.
    pub(super) const R20C: Self = Self(14);
    /// 23ai: domains in descriptions of columns.
    pub(super) const R23_DOMAINS: Self = Self(17);
    /// 23ai: a token in each request.
    pub(super) const R23_TOKENS: Self = Self(18);
    /// 23ai: annotations of columns.
    pub(super) const R23_ANNOTATIONS: Self = Self(20);
    /// 23ai: vectors.
    pub(super) const R23_VECTORS: Self = Self(24);
}
