//! Values while a transaction runs: what was drawn, and what its statements have answered.

/// A value that a session holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Held {
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// Bytes of the session's own, as a text or as they are.
    Own { at: u32, len: u32 },
    /// Bytes that all sessions share.
    Shared { at: u32, len: u32 },
}

/// A number of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Real(f64),
}

impl Held {
    /// As a number; what is none counts as 0, and no expression reads such a value.
    #[inline]
    pub(super) fn number(self) -> Number {
        match self {
            Self::Int(whole) => Number::Int(whole),
            Self::Real(broken) => Number::Real(broken),
            Self::Own { .. } | Self::Shared { .. } => Number::Int(0),
        }
    }
}

impl Number {
    /// What is held of it.
    #[inline]
    pub(super) fn held(self) -> Held {
        match self {
            Self::Int(whole) => Held::Int(whole),
            Self::Real(broken) => Held::Real(broken),
        }
    }

    #[inline]
    pub(super) fn real(self) -> f64 {
        match self {
            Self::Int(whole) => whole as f64,
            Self::Real(broken) => broken,
        }
    }

    /// The whole number, towards zero; the nearest there is where it is too large.
    #[inline]
    pub(super) fn whole(self) -> i64 {
        match self {
            Self::Int(whole) => whole,
            Self::Real(broken) => broken as i64,
        }
    }

    /// Whether it counts as true.
    #[inline]
    pub(super) fn holds(self) -> bool {
        match self {
            Self::Int(whole) => whole != 0,
            Self::Real(broken) => broken != 0.0,
        }
    }
}

/// Everything that a session holds.
#[derive(Debug, Clone)]
pub(super) struct Hold {
    /// By slot.
    pub(super) held: Box<[Held]>,
    /// Bytes of the session's own; each slot that has some has its place among them.
    pub(super) bytes: Box<[u8]>,
    /// Draws that count, such as sequences: how many numbers each has given.
    pub(super) counted: Box<[u64]>,
}

impl Hold {
    /// The number in `slot`.
    #[inline]
    pub(super) fn number(&self, slot: u16) -> Number {
        self.held[usize::from(slot)].number()
    }

    /// The bytes of a value; none of a number.
    #[inline]
    pub(super) fn bytes_of<'a>(&'a self, held: Held, shared: &'a [u8]) -> &'a [u8] {
        match held {
            Held::Own { at, len } => &self.bytes[at as usize..][..len as usize],
            Held::Shared { at, len } => &shared[at as usize..][..len as usize],
            Held::Int(_) | Held::Real(_) => &[],
        }
    }
}
