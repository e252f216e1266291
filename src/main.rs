//! The native program. It only reads its arguments and supplies what a host supplies.

fn main() {}
