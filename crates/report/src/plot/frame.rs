//! A plot in its frame: axes with labels, grid, caption.

use maud::{Markup, html};

use super::{Scale, line};

/// From so many ticks on a phone shows every second label only.
const MANY_TICKS: usize = 5;

/// Labels of the x axis from here on end at their tick, so that they stay on the page.
const END_FROM: f64 = 0.95;

/// An axis.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    /// How values are laid out.
    pub(crate) scale: Scale,
    /// The text of a value.
    pub(crate) show: fn(f64) -> String,
}

/// A plot: what is drawn, between its axes.
pub(crate) struct Frame<'a> {
    /// What is shown, in a few words.
    pub(crate) caption: &'a str,
    /// The x axis.
    pub(crate) x: Axis,
    /// The y axis.
    pub(crate) y: Axis,
    /// Height of the drawing in CSS pixels.
    pub(crate) height_px: u32,
    /// SVG content in thousandths of the frame, drawn over the grid.
    pub(crate) drawing: Markup,
    /// HTML content over the drawing.
    pub(crate) over: Markup,
    /// The names of the whole numbers of the x axis, from 1 on; empty where they are numbers.
    pub(crate) names: &'a [&'a str],
}

impl Frame<'_> {
    /// The plot as HTML.
    pub(crate) fn render(&self) -> Markup {
        let (across, up) = (self.x.scale.ticks(), self.y.scale.ticks());
        let style = format!("height:{}px", self.height_px);
        html! {
            figure.plot {
                figcaption { (self.caption) span.reading aria-hidden="true" {} }
                div.frame {
                    div.ticks-y aria-hidden="true" {
                        @for &tick in &up {
                            span style={ "bottom:" (place(self.y.scale, tick)) } {
                                ((self.y.show)(tick))
                            }
                        }
                    }
                    div.area style=(style) data-x=(self.x.scale.describe())
                        data-y=(self.y.scale.describe()) {
                        svg viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img"
                            aria-label=(self.caption) {
                            path.grid d=(self.grid(&across, &up)) {}
                            (self.drawing)
                        }
                        (self.over)
                    }
                    div.ticks-x.many[across.len() > MANY_TICKS] aria-hidden="true" {
                        @for &tick in &across {
                            span.end[self.x.scale.at(tick) > END_FROM]
                                style={ "left:" (place(self.x.scale, tick)) } {
                                (self.name(tick))
                            }
                        }
                    }
                }
            }
        }
    }

    /// The label of a tick of the x axis: a name, where numbers have some.
    fn name(&self, tick: f64) -> String {
        /// Longer names would touch each other.
        const LETTERS_MOST: usize = 12;
        if self.names.is_empty() {
            return (self.x.show)(tick);
        }
        let at = (tick.fract().abs() < f64::EPSILON && tick >= 1.0).then(|| tick as usize - 1);
        let Some(name) = at.and_then(|at| self.names.get(at)) else {
            return String::new();
        };
        let mut letters = name.chars();
        let short: String = letters.by_ref().take(LETTERS_MOST).collect();
        if letters.next().is_some() {
            short + "…"
        } else {
            short
        }
    }

    fn grid(&self, across: &[f64], up: &[f64]) -> String {
        let vertical = across.iter().map(|&tick| self.x.scale.at(tick));
        let horizontal = up.iter().map(|&tick| self.y.scale.at(tick));
        let vertical = vertical.map(|x| line([Some((x, 0.0)), Some((x, 1.0))]));
        let horizontal = horizontal.map(|y| line([Some((0.0, y)), Some((1.0, y))]));
        vertical.chain(horizontal).collect()
    }
}

/// A place on an axis as a CSS length.
fn place(scale: Scale, value: f64) -> String {
    format!("{:.2}%", scale.at(value) * 100.0)
}
