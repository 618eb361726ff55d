//! What there is to say about the values of an array.

use ra_pack::{Histogram, NameStatistics, Number, NumberStatistics, Statistics};

use super::html::Html;
use super::numbers::{counted, grouped, height, short};
use super::picture::name_colour;

/// Names that are shown before the rest is folded away.
const MOST_NAMES: usize = 64;

pub(super) fn draw(statistics: &Statistics, html: &mut Html) {
    match statistics {
        Statistics::Numbers(numbers) => draw_numbers(numbers, "", html),
        Statistics::Magnitudes(numbers) => draw_numbers(numbers, "magnitudes: ", html),
        Statistics::Names(names) => draw_names(names, html),
        Statistics::Nothing { count, reason } => {
            html.raw("<p class=\"n\">").text(counted(*count, "element")).raw(", ");
            html.text(ra_pack::escape(reason)).raw("</p>");
        }
        _ => {}
    }
}

fn draw_numbers(numbers: &NumberStatistics, prefix: &'static str, html: &mut Html) {
    // Of one value there is nothing to say that the value does not.
    if numbers.count > 1 && numbers.finite > 0 {
        html.raw("<div class=\"s\">");
        if let Some(histogram) = &numbers.histogram
            && histogram.counts.len() > 1
        {
            draw_histogram(histogram, html);
        }
        html.raw("<dl>");
        for (name, number) in [("<dt>min</dt>", numbers.min), ("<dt>max</dt>", numbers.max)] {
            if let Some(number) = number {
                html.raw(name);
                draw_exact(number, html);
            }
        }
        for (name, number) in [("<dt>mean</dt>", numbers.mean), ("<dt>std</dt>", numbers.std)] {
            if let Some(number) = number {
                html.raw(name).raw("<dd>").text(short(number)).raw("</dd>");
            }
        }
        html.raw("</dl></div>");
    }
    let mut said = Vec::new();
    let mut say = |count: u64, what: &str| {
        if count > 0 {
            said.push(format!("{} {what}", grouped(count)));
        }
    };
    say(numbers.missing, "missing");
    say(numbers.nan, "NaN");
    say(numbers.positive_infinite, "+inf");
    say(numbers.negative_infinite, "\u{2212}inf");
    html.raw("<p class=\"n\">").raw(prefix).text(counted(numbers.count, "value"));
    if !said.is_empty() {
        html.raw("; <b class=\"w\">").text(said.join(", ")).raw("</b>");
    }
    html.raw("</p>");
}

/// A number out of the array: its first digits, and all of them for who points at it.
fn draw_exact(number: Number, html: &mut Html) {
    const LONG: usize = 12;
    let exact = number.to_string();
    if exact.len() > LONG {
        html.raw("<dd title=\"").text(&exact).raw("\">").text(short(number.to_f64()));
    } else {
        html.raw("<dd>").text(&exact);
    }
    html.raw("</dd>");
}

fn draw_histogram(histogram: &Histogram, html: &mut Html) {
    const HEIGHT: u64 = 32;
    let most = histogram.counts.iter().copied().max().unwrap_or(0);
    let ends = histogram.edges.first().copied().zip(histogram.edges.last().copied());
    let (low, high) = ends.unwrap_or_default();
    html.raw("<svg class=\"h\" role=\"img\" preserveAspectRatio=\"none\" viewBox=\"0 0 ")
        .text(histogram.counts.len())
        .raw(" 32\" aria-label=\"Histogram from ")
        .text(short(low))
        .raw(" to ")
        .text(short(high))
        .raw(", most in a bin: ")
        .text(grouped(most))
        .raw("\"><path d=\"M0 32");
    let mut at = HEIGHT;
    for count in &histogram.counts {
        let top = HEIGHT.saturating_sub(height(*count, most, HEIGHT));
        if top != at {
            html.raw("V").text(top);
            at = top;
        }
        html.raw("h1");
    }
    html.raw("V32z\"/></svg>");
}

fn draw_names(names: &NameStatistics, html: &mut Html) {
    html.raw("<ul class=\"e\">");
    let count = names.categories.len();
    for (nth, category) in names.categories.iter().enumerate().take(MOST_NAMES) {
        html.raw("<li>");
        if let Some(colour) = name_colour(nth, count) {
            html.raw("<i style=\"background:").text(colour).raw("\"></i>");
        }
        html.raw("<b>").text(ra_pack::escape(&category.name)).raw("</b> = ");
        html.text(category.value).raw("<span>").text(grouped(category.count)).raw("</span></li>");
    }
    html.raw("</ul><p class=\"n\">").text(counted(names.count, "element"));
    if let Some(more @ 1..) = count.checked_sub(MOST_NAMES) {
        html.raw(", and ").text(counted(more, "more name"));
    }
    if names.unnamed > 0 {
        html.raw("; <b class=\"w\">").text(grouped(names.unnamed)).raw(" without a name</b>");
    }
    html.raw("</p>");
}
