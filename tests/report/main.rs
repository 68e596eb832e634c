//! The reports that people and programs read, over reports made by hand.

mod json;
mod pages;
mod samples;
mod table;
