//! What the engine says to `tracing`, with the feature of that name: spans around the host's work, and warnings where a step was not
//! what its user asked for. Without the feature these are nothing, and neither are their arguments.

/// A span until the end of the enclosing block.
#[cfg(feature = "tracing")]
macro_rules! span {
    ($($what:tt)*) => {
        let _span = tracing::debug_span!(target: "drystone", $($what)*).entered();
    };
}

/// Something worth knowing.
#[cfg(feature = "tracing")]
macro_rules! info {
    ($($what:tt)*) => { tracing::info!(target: "drystone", $($what)*) };
}

/// Something that its user did not ask for.
#[cfg(feature = "tracing")]
macro_rules! warning {
    ($($what:tt)*) => { tracing::warn!(target: "drystone", $($what)*) };
}

#[cfg(not(feature = "tracing"))]
macro_rules! span {
    ($($what:tt)*) => {};
}

#[cfg(not(feature = "tracing"))]
macro_rules! info {
    ($($what:tt)*) => {};
}

#[cfg(not(feature = "tracing"))]
macro_rules! warning {
    ($($what:tt)*) => {};
}

pub(crate) use {info, span, warning};
