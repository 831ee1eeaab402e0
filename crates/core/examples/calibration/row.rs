//! One line of the table.

/// What is asked of all families.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Seed of all simulations.
    pub(crate) seed: u64,
    /// Repetitions, if not those that each family takes for enough.
    pub(crate) reps: Option<u64>,
}

impl Settings {
    /// How often to repeat, `usual` unless asked otherwise.
    pub(crate) fn reps(&self, usual: u64) -> u64 {
        self.reps.unwrap_or(usual).max(1)
    }
}

/// What a figure has to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bar {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// Nothing: the figure is there to be compared with.
    Shown,
}

/// A measured figure and its bar.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What was measured, under which conditions.
    pub(crate) what: String,
    /// The figure.
    pub(crate) measured: f64,
    /// Its standard error.
    pub(crate) error: f64,
    /// Repetitions that it rests on.
    pub(crate) reps: u64,
    /// What it has to reach.
    pub(crate) bar: Bar,
}

impl Row {
    /// A share of `reps` repetitions, with its binomial standard error.
    pub(crate) fn share(what: impl Into<String>, hits: u64, reps: u64, bar: Bar) -> Self {
        let share = hits as f64 / reps as f64;
        Self {
            what: what.into(),
            measured: share,
            error: (share * (1.0 - share) / reps as f64).sqrt(),
            reps,
            bar,
        }
    }

    /// The mean of one figure a repetition, with its standard error.
    pub(crate) fn mean(what: impl Into<String>, figures: &[f64], bar: Bar) -> Self {
        let n = figures.len() as f64;
        let mean = figures.iter().sum::<f64>() / n;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        Self {
            what: what.into(),
            measured: mean,
            error: (squares / (n * (n - 1.0)).max(1.0)).sqrt(),
            reps: figures.len() as u64,
            bar,
        }
    }

    /// Whether the figure reaches its bar.
    pub(crate) fn is_met(&self) -> bool {
        match self.bar {
            Bar::AtLeast(bar) => self.measured >= bar,
            Bar::AtMost(bar) => self.measured <= bar,
            Bar::Shown => true,
        }
    }

    /// The line above all lines.
    pub(crate) fn heading() -> String {
        format!(
            "{:<10} {:<56} {:>9} {:>7} {:>6}  {:<9} met",
            "family", "what", "measured", "s.e.", "reps", "bar"
        )
    }

    /// The figure as a line of the table.
    pub(crate) fn line(&self, family: &str) -> String {
        let bar = match self.bar {
            Bar::AtLeast(bar) => format!(">= {bar:.3}"),
            Bar::AtMost(bar) => format!("<= {bar:.3}"),
            Bar::Shown => String::new(),
        };
        let met = match (self.bar, self.is_met()) {
            (Bar::Shown, _) => "",
            (_, true) => "yes",
            (_, false) => "NO",
        };
        format!(
            "{family:<10} {:<56} {:>9.4} {:>7.4} {:>6}  {bar:<9} {met}",
            self.what, self.measured, self.error, self.reps
        )
    }
}
