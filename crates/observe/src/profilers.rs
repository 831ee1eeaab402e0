//! Profiles that others take: what they write is read here, and becomes samples by stack as Go's
//! profiles do.

pub mod imported;
pub mod outside;

mod folded;
mod jfr;
mod place;
mod programs;
mod speedscope;
