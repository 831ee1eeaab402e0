//! Where things stand in the scenario file.
//!
//! The scenario itself knows no lines, so they are looked for in the text. A line that is not
//! found is not said; it never decides anything.

/// The scenario file as written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<'a> {
    text: &'a str,
}

impl<'a> Lines<'a> {
    /// Looks in this text; in nothing where there is none.
    pub(crate) fn of(text: Option<&'a str>) -> Self {
        Self {
            text: text.unwrap_or_default(),
        }
    }

    /// The line of `name = ...` in `[section]`.
    pub(crate) fn key(&self, section: &str, name: &str) -> Option<usize> {
        let header = format!("[{section}]");
        let mut inside = false;
        for (i, line) in self.text.lines().enumerate() {
            let line = line.trim();
            if line.starts_with('[') && line.ends_with(']') {
                inside = line == header;
            } else if inside && assigns(line, name) {
                return Some(i + 1);
            }
        }
        None
    }

    /// The line of `name = "NAME"` in one of several `[[section]]`.
    pub(crate) fn named(&self, section: &str, name: &str) -> Option<usize> {
        let header = format!("[[{section}]]");
        let quoted = format!("{name:?}");
        let mut inside = false;
        for (i, line) in self.text.lines().enumerate() {
            let line = line.trim();
            if line.starts_with('[') && line.ends_with(']') {
                inside = line == header;
            } else if inside && assigns(line, "name") && line.contains(&quoted) {
                return Some(i + 1);
            }
        }
        None
    }
}

fn assigns(line: &str, name: &str) -> bool {
    let bare = line.strip_prefix(name);
    let quoted = line.strip_prefix(&format!("{name:?}"));
    bare.or(quoted)
        .is_some_and(|rest| rest.trim_start().starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_where_they_stand() {
        let text = "name = \"shop\"\n[pools]\ntopics = [\n  \"a\",\n]\n[timers]\ntopics = \"60s\"\n\
                    [[endpoint]]\nname = \"search\"\n[[user]]\nname = \"reader\"\n";
        let lines = Lines::of(Some(text));
        assert_eq!(lines.key("pools", "topics"), Some(3));
        assert_eq!(lines.key("timers", "topics"), Some(7));
        assert_eq!(lines.named("endpoint", "search"), Some(9));
        assert_eq!(lines.named("user", "reader"), Some(11));
        assert_eq!(lines.named("endpoint", "reader"), None);
        assert_eq!(Lines::of(None).key("pools", "topics"), None);
    }
}
