//! Names of error numbers, as Linux numbers them on every architecture that slowpath runs on
//! (`include/uapi/asm-generic/errno-base.h` and `errno.h`); a record may be judged elsewhere.

/// The name of an error number, or `errno N` for one that no network call returns.
pub(crate) fn name(errno: u16) -> String {
    let name = match errno {
        1 => "EPERM",
        2 => "ENOENT",
        4 => "EINTR",
        5 => "EIO",
        11 => "EAGAIN",
        12 => "ENOMEM",
        13 => "EACCES",
        22 => "EINVAL",
        23 => "ENFILE",
        24 => "EMFILE",
        32 => "EPIPE",
        71 => "EPROTO",
        97 => "EAFNOSUPPORT",
        98 => "EADDRINUSE",
        99 => "EADDRNOTAVAIL",
        100 => "ENETDOWN",
        101 => "ENETUNREACH",
        103 => "ECONNABORTED",
        104 => "ECONNRESET",
        105 => "ENOBUFS",
        107 => "ENOTCONN",
        110 => "ETIMEDOUT",
        111 => "ECONNREFUSED",
        112 => "EHOSTDOWN",
        113 => "EHOSTUNREACH",
        _ => return format!("errno {errno}"),
    };
    name.to_owned()
}
