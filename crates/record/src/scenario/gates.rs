//! Gates: those of a scenario, and those of a file of their own.

use slowpath_core::scenario::{Gate, GateError, Vocabulary};
use toml::de::DeTable;

use super::Mistake;
use super::reader::{Notes, Table};

/// What is to be done about a text that is no gate.
const FORMS: &str = "say \"ENDPOINT.METRIC < BOUND\", \"A / B in LOW..HIGH\" or \"A >= B within \
                     5 %\"; metrics are p50, p90, p95, p98, p99, p99.9, max, rate, errors, \
                     offered, completed, failed and unfinished";

/// Reads the gates of a file: a scenario, of which nothing else is read, or a file of nothing
/// but `[[gate]]` tables.
///
/// # Errors
/// Every mistake in them, in the order of lines; never an empty list.
pub fn parse_gates(
    text: &str,
    file: &str,
    known: Vocabulary<'_>,
) -> Result<Vec<Gate>, Vec<Mistake>> {
    let notes = Notes::new(file, text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(text.len(), |span| span.start);
        notes.syntax(at, error.message());
    }
    let root = Table::root(&notes, root.get_ref());
    let _there = root.required("gate", "add [[gate]] with that = \"NAME.p99 < 50ms\"");
    let gates = gates(&root, known);
    let mistakes = notes.into_mistakes();
    if mistakes.is_empty() {
        Ok(gates)
    } else {
        Err(mistakes)
    }
}

/// The gates under a root.
pub(super) fn gates(root: &Table<'_>, known: Vocabulary<'_>) -> Vec<Gate> {
    let mut gates = Vec::new();
    for table in root.tables("gate") {
        let Some(value) = table.required("that", "add that = \"NAME.p99 < 50ms\"") else {
            continue;
        };
        let Some(text) = value.text() else { continue };
        match known.gate(text) {
            Ok(test) => gates.push(Gate {
                that: text.to_owned(),
                line: value.line(),
                test,
            }),
            Err(error) => value.wrong(&error, remedy(&error, known)),
        }
    }
    gates
}

/// What to do about a text that is no gate.
fn remedy(error: &GateError, known: Vocabulary<'_>) -> String {
    match error {
        GateError::NeverEqual(_) => "add a tolerance, such as \"within 5 %\"".to_owned(),
        GateError::Endpoint(_) => {
            let named = known.subjects.iter().map(|name| quoted(name));
            format!("one of {}", named.collect::<Vec<_>>().join(", "))
        }
        GateError::Measure(_) if known.usual.is_some() || !known.metrics.is_empty() => {
            let usual = known.usual.unwrap_or_default().iter();
            let named = usual.chain(known.metrics.iter().map(|(name, _)| name));
            let named: Vec<&str> = named.map(String::as_str).collect();
            format!("metrics here are {}", named.join(", "))
        }
        _ => FORMS.to_owned(),
    }
}

/// A name as a gate says it.
fn quoted(name: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !"<>=\"".contains(c);
    if name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("\"{name}\"")
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::figures::Unit;

    use super::*;

    fn read(text: &str) -> Result<Vec<Gate>, Vec<String>> {
        let subjects = ["Parse (8)".to_owned()];
        let metrics = [("ns/op".to_owned(), Unit::Ns)];
        let known = Vocabulary {
            subjects: &subjects,
            metrics: &metrics,
            usual: Some(&[]),
        };
        parse_gates(text, "gates.toml", known)
            .map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_file_of_gates_or_a_scenario_with_some() {
        let gate = "[[gate]]\nthat = '\"Parse (8)\".ns/op < 2ms'\n";
        let gates = read(gate).unwrap();
        assert_eq!((gates.len(), gates[0].line), (1, 2));
        assert_eq!(read(&format!("name = \"x\"\n{gate}")).unwrap()[0].line, 3);
    }

    #[test]
    fn all_mistakes_are_told_with_line_and_remedy() {
        let mistakes = read(
            "[[gate]]\nthat = \"Parse.ns/op < 2ms\"\n[[gate]]\nthat = \"x.y < 1\"\n[[gate]]\n\
             that = '\"Parse (8)\".ns/op = \"Parse (8)\".ns/op'\n[gates]\n",
        )
        .unwrap_err();
        assert_eq!(mistakes.len(), 4, "{mistakes:#?}");
        assert_eq!(
            mistakes[0],
            "gates.toml:2: gate.that: there is no endpoint named \"Parse\"; one of \"Parse (8)\""
        );
        assert!(mistakes[1].contains("metrics here are ns/op"));
        assert!(mistakes[2].contains("within 5 %"));
        assert!(mistakes[3].contains("did you mean gate?"));
        let none = read("").unwrap_err();
        assert!(none[0].contains("gate: missing"), "{none:?}");
    }
}
