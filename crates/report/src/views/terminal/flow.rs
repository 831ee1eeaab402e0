//! Words flowed into lines of a given width, with colours that take no room.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::Style;

/// Narrower terminals would break every word off its label.
const NARROWEST: usize = 40;

/// An indentation leaves at least this many columns for words.
const ROOM: usize = 24;

/// Units that stay on the line of their number.
const UNITS: [&str; 7] = ["%", "µs", "ms", "s", "CPUs", "blocks", "runs"];

/// What a piece of text is, and so how it is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tint {
    Plain,
    Bold,
    Dim,
    Good,
    Warn,
    Alarm,
}

impl Tint {
    /// SGR parameters (ECMA-48 8.3.117).
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Alarm => "1;31",
        }
    }
}

/// Lines under construction.
pub(super) struct Page {
    color: bool,
    width: usize,
    text: String,
    /// Columns used in the line under construction.
    column: usize,
    /// Where its continuation starts.
    indent: usize,
    /// Spaces owed before the next word.
    gap: usize,
}

impl Page {
    pub(super) fn new(style: Style) -> Self {
        let width = style.width.max(NARROWEST);
        Self {
            color: style.color,
            width,
            text: String::new(),
            column: 0,
            indent: 0,
            gap: 0,
        }
    }

    /// An empty line, unless there is one already.
    pub(super) fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Ends the line.
    pub(super) fn end(&mut self) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        self.text.push('\n');
        (self.column, self.indent, self.gap) = (0, 0, 0);
    }

    /// Begins a line with a label; its continuation starts below its text.
    pub(super) fn labelled(&mut self, label: &str, tint: Tint, columns: usize) {
        self.exact(&format!("{label:columns$}"), tint);
        self.indent = columns;
    }

    /// Begins an indented line.
    pub(super) fn indent(&mut self, columns: usize) {
        self.set_indent(columns);
        let pad = self.indent;
        self.exact(&" ".repeat(pad), Tint::Plain);
    }

    /// Where the continuation of this line starts.
    pub(super) fn set_indent(&mut self, columns: usize) {
        self.indent = columns.min(self.width.saturating_sub(ROOM));
    }

    /// Text that is neither wrapped nor parted from what follows.
    pub(super) fn exact(&mut self, text: &str, tint: Tint) {
        let text = harmless(text);
        self.column += text.width();
        self.paint(&text, tint);
        self.gap = 0;
    }

    /// Words, wrapped where they must be.
    pub(super) fn words(&mut self, text: &str, tint: Tint) {
        for phrase in phrases(text) {
            self.unbroken(&phrase, 1, tint);
        }
    }

    /// One piece of text that is moved to the next line if it does not fit, followed by a gap.
    pub(super) fn unbroken(&mut self, text: &str, gap: usize, tint: Tint) {
        let text = harmless(text);
        let needed = text.width();
        let full = self.column + self.gap + needed > self.width;
        if full && self.column > self.indent {
            while self.text.ends_with(' ') {
                self.text.pop();
            }
            self.text.push('\n');
            self.text.push_str(&" ".repeat(self.indent));
            (self.column, self.gap) = (self.indent, 0);
        }
        self.text.push_str(&" ".repeat(self.gap));
        self.column += self.gap + needed;
        self.paint(&text, tint);
        self.gap = gap;
    }

    /// A row of a table whose fields are padded to their columns and moved to the next line whole.
    /// The first is the row's name.
    pub(super) fn fields(&mut self, row: &[String], widths: &[usize], gap: usize, indent: usize) {
        self.tinted(row, widths, gap, indent, Tint::Plain);
    }

    /// The same, with a colour of its own for the last field.
    pub(super) fn tinted(
        &mut self,
        row: &[String],
        widths: &[usize],
        gap: usize,
        indent: usize,
        last: Tint,
    ) {
        self.set_indent(indent);
        for (at, (field, &width)) in row.iter().zip(widths).enumerate() {
            let tint = match at {
                0 => Tint::Bold,
                _ if at + 1 == row.len() => last,
                _ => Tint::Plain,
            };
            let own = harmless(field).width();
            if own + self.indent > self.width && at > 0 {
                // A field longer than a line breaks at its words.
                self.words(field, tint);
            } else {
                self.unbroken(field, gap, tint);
            }
            self.gap = gap + width.saturating_sub(own);
        }
        self.end();
    }

    pub(super) fn finish(mut self) -> String {
        while self.text.ends_with("\n\n") {
            self.text.pop();
        }
        self.text
    }

    fn paint(&mut self, text: &str, tint: Tint) {
        if self.color && tint != Tint::Plain && !text.trim().is_empty() {
            let _ = write!(self.text, "\x1b[{}m{text}\x1b[0m", tint.code());
        } else {
            self.text.push_str(text);
        }
    }
}

/// The width of each column over all rows.
pub(super) fn columns(rows: &[Vec<String>]) -> Vec<usize> {
    let most = rows.iter().map(Vec::len).max().unwrap_or(0);
    (0..most)
        .map(|at| {
            let widths = rows.iter().filter_map(|row| row.get(at));
            widths
                .map(|field| harmless(field).width())
                .max()
                .unwrap_or(0)
        })
        .collect()
}

/// The words of a text; a number keeps its unit, and `p` its value.
fn phrases(text: &str) -> Vec<String> {
    let mut phrases: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '%'));
        let belongs = phrases.last().is_some_and(|last| {
            let after_number = last.ends_with(|c: char| c.is_ascii_digit());
            let number = word.starts_with(|c: char| c.is_ascii_digit());
            (UNITS.contains(&bare) && after_number) || (number && last == "p")
        });
        match phrases.last_mut() {
            Some(last) if belongs => {
                last.push(' ');
                last.push_str(word);
            }
            _ => phrases.push(word.to_owned()),
        }
    }
    phrases
}

/// Text that cannot steer the terminal: control characters become visible.
fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
