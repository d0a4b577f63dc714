//! Nothing: the package holds the bench `peers`, apart from the engine so that nobody builds rapier3d to test it.
