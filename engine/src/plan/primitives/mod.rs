//! Plans of passes that know nothing of physics.

pub mod reduce;
pub mod scan;
pub mod sort;
