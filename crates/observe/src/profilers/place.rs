//! Places in the code as profilers write them: one text for function, file and line.

use slowpath_core::profiles::CodeLine;

use crate::pprof::profile::{MOST_NAME_BYTES, without_folders};

/// What the kernel's functions have in place of a file.
const KERNEL: &str = "kernel";
/// Who made the code, as async-profiler writes it after a function: interpreted, compiled in one way
/// or the other, made part of another function.
const MADE: [&str; 4] = ["_[0]", "_[1]", "_[i]", "_[j]"];
/// What `perf` and async-profiler write after a function of the kernel.
const OF_KERNEL: &str = "_[k]";
/// A class that is on most stacks of Java, which shows that slashes replace the dots of packages: in
/// names of Go they are slashes.
const JAVA: &str = "java/lang/";
/// Places of a stack that are kept, from either end: a recursion may be deep, and its middle says
/// nothing.
pub(super) const MOST_DEEP: usize = 64;

/// The ends of a stack that is given outermost first: innermost first.
pub(super) fn ends<T>(outermost_first: &[T]) -> impl Iterator<Item = &T> {
    let outer = outermost_first.len().saturating_sub(MOST_DEEP);
    let (outer, inner) = outermost_first.split_at(outer);
    let outer = &outer[..outer.len().min(MOST_DEEP)];
    inner.iter().rev().chain(outer.iter().rev())
}

/// Whether a text has classes as Java's files name them.
pub(super) fn is_java(text: &str) -> bool {
    text.contains(JAVA)
}

/// `handle (server.py:27)`, `tcp_sendmsg_[k]`, `com/shop/Cart.add_[j]`.
pub(super) fn place(frame: &str, is_java: bool) -> CodeLine {
    let frame = frame.trim();
    if let Some(function) = frame.strip_suffix(OF_KERNEL) {
        return code(function, KERNEL, 0);
    }
    let frame = MADE
        .iter()
        .find_map(|made| frame.strip_suffix(made))
        .unwrap_or(frame);
    let behind = frame
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("));
    if let Some((function, file)) = behind.filter(|(function, _)| !function.is_empty()) {
        let (file, line) = match file.rsplit_once(':') {
            Some((name, line)) => (name, line.parse().unwrap_or(0)),
            None => (file, 0),
        };
        return sourced(function, file, line);
    }
    if is_java && frame.contains('/') {
        return code(&frame.replace('/', "."), "", 0);
    }
    code(frame, "", 0)
}

/// A function of a file. In Python many files have one of a name (`get`, `__init__`, `<module>`): there
/// its module belongs to the name.
pub(super) fn sourced(function: &str, file: &str, line: u32) -> CodeLine {
    let Some(module) = file.strip_suffix(".py") else {
        return code(function, &without_folders(file), line);
    };
    // Absolute paths have the folders of the installation.
    let module = match module.strip_prefix('/') {
        Some(_) => without_folders(module),
        None => module.replace('/', "."),
    };
    code(
        &format!("{module}.{function}"),
        &without_folders(file),
        line,
    )
}

/// A place whose names have a bound.
pub(super) fn code(function: &str, file: &str, line: u32) -> CodeLine {
    CodeLine {
        function: bounded(function).to_owned(),
        file: bounded(file).to_owned(),
        line,
    }
}

fn bounded(name: &str) -> &str {
    &name[..name.floor_char_boundary(MOST_NAME_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_their_files_and_java_its_dots() {
        for (frame, is_java, expected) in [
            (
                "handle (web/server.py:27)",
                false,
                "web.server.handle (server.py:27)",
            ),
            ("<module> (/srv/a.py)", false, "a.<module> (a.py)"),
            ("handle (web/server.rb:27)", false, "handle (server.rb:27)"),
            ("tcp_sendmsg_[k]", true, "tcp_sendmsg (kernel)"),
            ("com/shop/Cart.add_[j]", true, "com.shop.Cart.add"),
            ("net/http.(*conn).serve", false, "net/http.(*conn).serve"),
            ("operator()", false, "operator()"),
            ("(anonymous)", false, "(anonymous)"),
            ("std::swap(int&, int&)", false, "std::swap(int&, int&)"),
        ] {
            assert_eq!(place(frame, is_java).to_string(), expected);
        }
        let long = place(&"é".repeat(MOST_NAME_BYTES), false);
        assert!(long.function.len() <= MOST_NAME_BYTES);
    }
}
