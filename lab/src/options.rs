//! What a server lets one choose: numbers with their ranges, and variants.

use std::fmt::Write as _;
use std::time::Duration;

/// A number that can be set with `--flag N`.
pub(crate) struct Knob {
    /// Without the leading dashes; the unit stands last.
    pub(crate) flag: &'static str,
    pub(crate) help: &'static str,
    pub(crate) default: f64,
    /// Smallest and largest value that make sense.
    pub(crate) range: (f64, f64),
    /// The value that takes the fault away. With `--healthy` it holds whatever else is asked
    /// for, so that the twin of any command line is that line with `--healthy` added.
    pub(crate) healthy: Option<f64>,
}

/// Another form of the same server, chosen with `--variant NAME`.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    /// Variants of the same server that cannot be combined with this one.
    pub(crate) excludes: &'static [&'static str],
}

/// The command line of one server, read and checked.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) port: u16,
    pub(crate) healthy: bool,
    variants: Vec<&'static str>,
    numbers: Vec<(&'static str, f64)>,
}

impl Options {
    /// Reads the arguments after the name of the server. The error is a lowercase fragment.
    pub(crate) fn parse(
        knobs: &[Knob],
        variants: &[Variant],
        mut arguments: impl Iterator<Item = String>,
    ) -> Result<Self, String> {
        let mut options = Self {
            port: 0,
            healthy: false,
            variants: Vec::new(),
            numbers: knobs.iter().map(|knob| (knob.flag, knob.default)).collect(),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--healthy" => options.healthy = true,
                "--port" => {
                    let port = value()?;
                    options.port = port.parse().map_err(|_| format!("{port:?} is no port"))?;
                }
                "--variant" => {
                    let name = value()?;
                    let known = variants.iter().find(|variant| variant.name == name);
                    let known = known.ok_or(format!("there is no variant {name:?}"))?;
                    options.variants.push(known.name);
                }
                flag => {
                    let place = knobs.iter().position(|knob| Some(knob.flag) == long(flag));
                    let place = place.ok_or(format!("there is no option {flag:?}"))?;
                    options.numbers[place].1 = number(&knobs[place], &value()?)?;
                }
            }
        }
        for variant in variants.iter().filter(|variant| options.has(variant.name)) {
            if let Some(other) = variant.excludes.iter().find(|other| options.has(other)) {
                return Err(format!("variant {} cannot go with {other}", variant.name));
            }
        }
        if options.healthy {
            for (entry, knob) in options.numbers.iter_mut().zip(knobs) {
                entry.1 = knob.healthy.unwrap_or(entry.1);
            }
        }
        Ok(options)
    }

    /// Was this variant asked for?
    pub(crate) fn has(&self, variant: &str) -> bool {
        self.variants.contains(&variant)
    }

    /// The value of a knob that the server declares.
    pub(crate) fn number(&self, flag: &str) -> f64 {
        let entry = self.numbers.iter().find(|(name, _)| *name == flag);
        entry
            .expect("a server asks only for the knobs it declares")
            .1
    }

    /// The same for whole numbers.
    pub(crate) fn count(&self, flag: &str) -> usize {
        self.number(flag) as usize
    }

    /// The value of a knob in milliseconds.
    pub(crate) fn millis(&self, flag: &str) -> Duration {
        Duration::from_secs_f64(self.number(flag) / 1e3)
    }
}

fn long(flag: &str) -> Option<&str> {
    flag.strip_prefix("--")
}

fn number(knob: &Knob, text: &str) -> Result<f64, String> {
    let (low, high) = knob.range;
    let value = text
        .parse()
        .ok()
        .filter(|value| (low..=high).contains(value));
    value.ok_or(format!(
        "--{} is a number from {low} to {high}, not {text:?}",
        knob.flag
    ))
}

/// The lines of the help text for knobs and variants.
pub(crate) fn describe(knobs: &[Knob], variants: &[Variant]) -> String {
    let mut text = String::new();
    for Knob {
        flag,
        help,
        default,
        range: (low, high),
        healthy,
    } in knobs
    {
        let twin = healthy.map_or(String::new(), |value| format!("; --healthy: {value}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "    --{flag} N   {help} [{low}..{high}, default {default}{twin}]"
        );
    }
    for Variant { name, help, .. } in variants {
        let _ = writeln!(text, "    --variant {name}   {help}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOBS: &[Knob] = &[
        Knob {
            flag: "delay-ms",
            help: "",
            default: 13.0,
            range: (0.0, 100.0),
            healthy: Some(0.0),
        },
        Knob {
            flag: "seed",
            help: "",
            default: 1.0,
            range: (0.0, 9.0),
            healthy: None,
        },
    ];
    const VARIANTS: &[Variant] = &[
        Variant {
            name: "a",
            help: "",
            excludes: &["b"],
        },
        Variant {
            name: "b",
            help: "",
            excludes: &[],
        },
    ];

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(KNOBS, VARIANTS, line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn knobs_have_defaults_and_can_be_set() {
        assert_eq!(
            parse("").unwrap().millis("delay-ms"),
            Duration::from_millis(13)
        );
        let options = parse("--delay-ms 0.5 --port 80 --variant b").unwrap();
        assert_eq!(options.millis("delay-ms"), Duration::from_micros(500));
        assert_eq!(
            (options.port, options.has("b"), options.has("a")),
            (80, true, false)
        );
    }

    #[test]
    fn the_healthy_value_holds_whatever_else_is_asked_for() {
        let options = parse("--healthy --delay-ms 50 --seed 3").unwrap();
        assert_eq!((options.count("delay-ms"), options.count("seed")), (0, 3));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("--delay-ms", "needs a value"),
            ("--delay-ms 101", "from 0 to 100"),
            ("--delay-ms NaN", "from 0 to 100"),
            ("--port 65536", "no port"),
            ("--variant c", "no variant"),
            ("--variant a --variant b", "cannot go with b"),
            ("--size 3", "no option"),
            ("delay-ms 3", "no option"),
        ] {
            let mistake = parse(line).unwrap_err();
            assert!(mistake.contains(part), "{line}: {mistake}");
        }
    }
}
