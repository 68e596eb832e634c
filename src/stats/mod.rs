//! Statistics as pure functions over slices.
