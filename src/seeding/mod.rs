//! What a worker's generators are seeded with: the policies of `--init`, and torch's own.
