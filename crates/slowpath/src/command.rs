//! One file a verb.

pub(crate) mod ab;
pub(crate) mod bench;
pub(crate) mod causes;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod gate;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod lint;
pub(crate) mod log;
pub(crate) mod prove;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod sweep;
