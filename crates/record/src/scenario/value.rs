//! Single values of a scenario, read as what is expected of them.

use std::fmt::Display;
use std::path::Path;

use slowpath_core::scenario::units::{self, UnitError};
use slowpath_core::scenario::{Escape, Part, Template, TemplateError, Think};
use toml::de::{DeTable, DeValue};

use super::Known;
use super::reader::{Notes, Table};

/// A value with its place in the scenario.
pub(crate) struct Value<'a> {
    notes: &'a Notes<'a>,
    path: String,
    kind: String,
    line: usize,
    toml: &'a DeValue<'a>,
}

/// What the strings of one place may say.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// Names of pools and services.
    pub(super) known: &'a Known,
    /// The text is made again for each request.
    pub(super) of_request: bool,
    /// The process that the text belongs to is started by slowpath.
    pub(super) started: bool,
}

impl<'a> Value<'a> {
    pub(super) fn new(
        notes: &'a Notes<'a>,
        path: String,
        kind: String,
        line: usize,
        toml: &'a DeValue<'a>,
    ) -> Self {
        Self {
            notes,
            path,
            kind,
            line,
            toml,
        }
    }

    pub(crate) fn line(&self) -> usize {
        self.line
    }

    pub(crate) fn toml(&self) -> &'a DeValue<'a> {
        self.toml
    }

    pub(super) fn is_table(&self) -> bool {
        self.toml.is_table()
    }

    /// Notes what is wrong with the value, and what to do about it.
    pub(crate) fn wrong(&self, what: impl Display, remedy: impl Display) {
        self.notes
            .value(self.line, &self.path, what.to_string(), remedy.to_string());
    }

    /// The same for what stands in a file that the value names.
    pub(super) fn wrong_in(&self, file: &Path, line: usize, what: String, remedy: &str) {
        self.notes
            .elsewhere(file, line, &self.path, what, remedy.to_owned());
    }

    /// The same for what depends on the rest of the file.
    pub(crate) fn at_odds(&self, what: impl Display, remedy: impl Display) {
        self.notes
            .whole(self.line, &self.path, what.to_string(), remedy.to_string());
    }

    /// The same where nothing else is known to be wrong with it.
    pub(super) fn wrong_unless_noted(&self, what: &str, remedy: &str) {
        if !self.notes.has(&self.path) {
            self.wrong(what, remedy);
        }
    }

    /// Notes that the value has the wrong type.
    fn mistyped<T>(&self, expected: &str) -> Option<T> {
        let found = match self.toml {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.wrong(
            format!("{found} where {expected} is expected"),
            format!("write {expected}"),
        );
        None
    }

    /// The string, if it is one; notes nothing.
    pub(crate) fn as_str(&self) -> Option<&'a str> {
        match self.toml {
            DeValue::String(text) => Some(text.as_ref()),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&'a str> {
        self.as_str().or_else(|| self.mistyped("a string"))
    }

    /// A string with something in it.
    pub(crate) fn filled(&self) -> Option<&'a str> {
        let text = self.text()?;
        if text.trim().is_empty() {
            self.wrong("empty", "write something or remove it");
            return None;
        }
        Some(text)
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        self.toml
            .as_bool()
            .or_else(|| self.mistyped("true or false"))
    }

    pub(super) fn table(&self) -> Option<Table<'a>> {
        let DeValue::Table(entries) = self.toml else {
            return self.mistyped("a table");
        };
        let entries: &'a DeTable<'a> = entries;
        Some(Table::new(
            self.notes,
            self.path.clone(),
            self.kind.clone(),
            self.line,
            entries,
        ))
    }

    /// The elements of an array, each on its own line.
    pub(crate) fn array(&self) -> Option<Vec<Value<'a>>> {
        let DeValue::Array(elements) = self.toml else {
            return self.mistyped("an array");
        };
        let element = |element: &'a toml::Spanned<DeValue<'a>>| {
            let line = self.notes.line(element.span().start);
            let (path, kind) = (self.path.clone(), self.kind.clone());
            Self::new(self.notes, path, kind, line, element.get_ref())
        };
        Some(elements.iter().map(element).collect())
    }

    /// Any integer of 64 bits.
    fn integer(&self) -> Option<i64> {
        let DeValue::Integer(number) = self.toml else {
            return self.mistyped("a whole number");
        };
        let read = i64::from_str_radix(number.as_str(), number.radix());
        read.map_err(|_| self.wrong("out of range", "write a smaller number"))
            .ok()
    }

    /// A whole number, no less than `least`.
    pub(super) fn whole<T: TryFrom<i64> + Copy + Ord + Display>(&self, least: T) -> Option<T> {
        let read = T::try_from(self.integer()?)
            .ok()
            .filter(|number| *number >= least);
        if read.is_none() {
            self.wrong(
                "out of range",
                format!("write a number of at least {least}"),
            );
        }
        read
    }

    /// A number above 0.
    pub(super) fn positive(&self) -> Option<f64> {
        let number = self.number()?;
        if number > 0.0 && number.is_finite() {
            return Some(number);
        }
        self.wrong("not above 0", "write a number above 0, or leave it out");
        None
    }

    /// A number of at least 0.
    pub(super) fn weight(&self) -> Option<f64> {
        let number = self.number()?;
        if number >= 0.0 && number.is_finite() {
            return Some(number);
        }
        self.wrong("below 0", "write a number of at least 0");
        None
    }

    fn number(&self) -> Option<f64> {
        match self.toml {
            DeValue::Integer(_) => self.integer().map(|number| number as f64),
            DeValue::Float(number) => Some(number.as_str().parse().unwrap_or(f64::NAN)),
            _ => self.mistyped("a number"),
        }
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = choices.iter().find(|(name, _)| *name == text);
        if found.is_none() {
            let names: Vec<_> = choices
                .iter()
                .map(|(name, _)| format!("{name:?}"))
                .collect();
            self.wrong(
                format!("{text:?} is none of them"),
                format!("say {}", names.join(" or ")),
            );
        }
        found.map(|(_, choice)| *choice)
    }

    pub(super) fn quantity<T>(
        &self,
        parse: impl Fn(&str) -> Result<T, UnitError>,
        remedy: &str,
    ) -> Option<T> {
        let DeValue::String(text) = self.toml else {
            if self.toml.is_integer() || self.toml.is_float() {
                self.wrong("a number without a unit", remedy);
                return None;
            }
            return self.mistyped("a string");
        };
        parse(text).map_err(|error| self.wrong(error, remedy)).ok()
    }

    /// A duration in nanoseconds.
    pub(super) fn duration(&self) -> Option<u64> {
        self.quantity(units::parse_duration, "try \"10s\" or \"500ms\"")
    }

    /// A duration above 0, in nanoseconds.
    pub(super) fn positive_duration(&self) -> Option<u64> {
        let duration_ns = self.duration()?;
        if duration_ns == 0 {
            self.wrong("zero", "write a duration above 0");
            return None;
        }
        Some(duration_ns)
    }

    pub(super) fn rate(&self) -> Option<f64> {
        self.quantity(units::parse_rate, "try \"500/s\" or \"30/m\"")
    }

    /// A share of a figure, such as `5%`: more than nothing and less than all.
    pub(super) fn precision(&self) -> Option<f64> {
        self.quantity(units::parse_precision, "try \"5%\"")
    }

    pub(super) fn byte_rate(&self) -> Option<f64> {
        self.quantity(units::parse_byte_rate, "try \"64KiB/s\"")
    }

    /// A pause: fixed, within a range, or drawn from a distribution.
    pub(super) fn pause(&self) -> Option<Think> {
        if self.is_table() {
            return self.distribution();
        }
        let range = |text: &str| units::parse_range(text, units::parse_duration);
        let remedy = "try \"1s..3s\", \"500ms\" or { mean = \"2s\" }";
        let (min_ns, max_ns) = self.quantity(range, remedy)?;
        Some(Think::Uniform { min_ns, max_ns })
    }

    fn distribution(&self) -> Option<Think> {
        const REMEDY: &str =
            "say { mean = \"2s\" } (exponential) or { median = \"1s\", p90 = \"4s\" } (lognormal)";
        let table = self.table()?;
        let duration = |key| table.get(key).map(|value| value.positive_duration());
        match (duration("mean"), duration("median"), duration("p90")) {
            (Some(mean_ns), None, None) => Some(Think::Exponential { mean_ns: mean_ns? }),
            (None, Some(median_ns), Some(p90_ns)) => {
                let (median_ns, p90_ns) = (median_ns?, p90_ns?);
                if p90_ns <= median_ns {
                    self.wrong("the p90 is not above the median", "write a longer p90");
                    return None;
                }
                Some(Think::LogNormal { median_ns, p90_ns })
            }
            _ => {
                self.wrong_unless_noted("no distribution of pauses", REMEDY);
                None
            }
        }
    }

    /// A string with placeholders.
    pub(super) fn template(&self, scope: Scope<'_>, escape: Escape) -> Option<Template> {
        self.template_of(self.text()?, scope, escape)
    }

    /// Text made from the value, with placeholders.
    pub(super) fn template_of(
        &self,
        text: &str,
        scope: Scope<'_>,
        escape: Escape,
    ) -> Option<Template> {
        let template = match Template::parse(text, scope.known.names(), escape) {
            Ok(template) => template,
            Err(error @ TemplateError::UnknownService(_)) => {
                self.at_odds(error, "add it as a [[service]], or write {{ for a brace");
                return None;
            }
            Err(error @ TemplateError::NoColumn(_)) => {
                self.at_odds(error, "say {NAME.COLUMN}, or write {{ for a brace");
                return None;
            }
        };
        if template.is_of_request() && !scope.of_request {
            self.at_odds(
                "{seq}, {uuid}, pools and variables have values in requests only",
                "remove it, or write {{ for a brace",
            );
            return None;
        }
        let unknown = |part: &Part| match part {
            Part::Tmp => true,
            Part::Port => !scope.of_request,
            _ => false,
        };
        if !scope.started && template.parts.iter().any(unknown) {
            self.at_odds(
                "{port} and {tmp} are those of a target that slowpath starts",
                "add target.command, or write {{ for a brace",
            );
            return None;
        }
        if !scope.of_request && text.contains('\0') {
            self.wrong("a NUL byte ends strings in the kernel", "remove it");
            return None;
        }
        Some(template)
    }

    /// A string with something in it and with placeholders.
    pub(super) fn filled_template(&self, scope: Scope<'_>) -> Option<Template> {
        self.filled()?;
        self.template(scope, Escape::None)
    }
}
