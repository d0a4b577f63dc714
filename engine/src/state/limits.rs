//! What a world may take of a machine. Whoever runs worlds of others sets it; by default nothing is limited.

/// What a world may take. A step that would need more is refused with an error that tells how much it wanted
/// ([`Error::MemoryLimit`](crate::Error::MemoryLimit), [`Error::PairLimit`](crate::Error::PairLimit)) and is not made: forces,
/// targets and everything else that was said is there for the next try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of all buffers of a step together.
    pub memory: Option<u64>,
    /// Pairs of colliders whose boxes overlap. Bounds the time of a step too: a search that comes to more is ended, which a
    /// million bodies in one place would otherwise keep busy for hours.
    pub pairs: Option<u32>,
}

impl Limits {
    /// No limit.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same with at most so many bytes.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The same with at most so many pairs.
    pub fn with_pairs(mut self, pairs: u32) -> Self {
        self.pairs = Some(pairs);
        self
    }

    /// Whether there is any.
    pub(crate) fn are_any(&self) -> bool {
        *self != Self::default()
    }
}
