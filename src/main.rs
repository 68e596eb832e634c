//! The `pipeaudit` command.

fn main() {}
