//! Output to `tracing`, with the feature of that name: spans around the host's work, and warnings where a step
//! differs from what the user asked for. Without the feature these macros expand to nothing, and their arguments are
//! not evaluated.

/// Opens a span that ends with the enclosing block.
#[cfg(feature = "tracing")]
macro_rules! span {
    ($($what:tt)*) => {
        let _span = tracing::debug_span!(target: "drystone", $($what)*).entered();
    };
}

/// Logs an event that is expected but worth knowing.
#[cfg(feature = "tracing")]
macro_rules! info {
    ($($what:tt)*) => { tracing::info!(target: "drystone", $($what)*) };
}

/// Logs a deviation from what the user asked for.
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
