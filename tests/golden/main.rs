//! Vectors from the real libraries. `PIPEAUDIT_VECTORS` names another folder of the same files to read instead.

mod pictures;
mod transforms;
