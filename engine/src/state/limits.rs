//! Limits on the memory and time of a world, for programs that run worlds of others. By default nothing is limited.

/// Limits of a world. A step that would need more fails with an error that states how much it needs
/// ([`Error::MemoryLimit`](crate::Error::MemoryLimit), [`Error::PairLimit`](crate::Error::PairLimit)) and is not
/// made: forces, targets and all other edits stay pending for the next try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most bytes that all buffers of a step may have together.
    pub memory: Option<u64>,
    /// Most pairs of colliders whose boxes may overlap. This bounds the time of a step too, because the search stops
    /// when it finds more: a million bodies in one place would otherwise keep it busy for hours.
    pub pairs: Option<u32>,
}

impl Limits {
    /// No limit.
    pub fn none() -> Self {
        Self::default()
    }

    /// Sets the memory limit, in bytes.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Sets the limit of overlapping pairs.
    pub fn with_pairs(mut self, pairs: u32) -> Self {
        self.pairs = Some(pairs);
        self
    }

    /// Whether any limit is set.
    pub(crate) fn are_any(&self) -> bool {
        *self != Self::default()
    }
}
