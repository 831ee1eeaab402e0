//! Facts about the place a run was started in.

use std::process::{Command, Stdio};

use slowpath_core::facts::GitFacts;

/// The state of the source tree around the working directory; `None` outside of one or without
/// git.
pub(crate) fn git() -> Option<GitFacts> {
    let commit = ask(&["rev-parse", "HEAD"])?;
    let branch = ask(&["branch", "--show-current"]).unwrap_or_default();
    let dirty =
        ask(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|s| !s.is_empty());
    Some(GitFacts {
        commit,
        branch,
        dirty,
    })
}

/// Who works here, as git knows it.
pub(crate) fn author() -> Option<String> {
    ask(&["config", "user.name"]).filter(|name| !name.is_empty())
}

fn ask(words: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(words)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Now, RFC 3339 in UTC, to the millisecond.
pub(crate) fn now_utc() -> String {
    let now = jiff::Timestamp::now();
    let millis = now.as_millisecond();
    jiff::Timestamp::from_millisecond(millis)
        .unwrap_or(now)
        .to_string()
}

/// A new ULID, which sorts by time.
pub(crate) fn new_id() -> String {
    let millis = jiff::Timestamp::now().as_millisecond().max(0) as u64;
    ulid::Ulid::from_parts(
        millis,
        u128::from(entropy()) << 16 | u128::from(entropy() & 0xffff),
    )
    .to_string()
}

/// 64 bits from the kernel.
pub(crate) fn entropy() -> u64 {
    let mut bytes = [0_u8; 8];
    // Cannot fail once the kernel has booted; zeros would only make a seed less random.
    let _ = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    u64::from_ne_bytes(bytes)
}
