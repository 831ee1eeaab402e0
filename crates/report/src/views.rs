//! One file a view; what they have in common is in [`crate::story`].

pub(crate) mod chrome;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod terminal;
