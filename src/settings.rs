//! What is meant: flags over defaults, checked. Commands see only this.
