//! One array: its picture, its statistics and everything that is known of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ra_pack::ndl::{Attribute, Datatype, Ndarray, Value};
use ra_pack::{
    Axis, Error, Finding, Histogram, Listed, ListedArray, NameStatistics, NumberStatistics, Pack,
    PackedArray, Statistics, StatisticsOptions,
};

use super::super::array::attribute_text;
use super::super::diagnostics::in_own_words;
use super::super::show::flow;
use super::super::text::{digits, grouped, human_bytes};
use super::picture::{self, Room};
use super::{Html, Id, counted, html};

/// Bytes of one attribute that are shown: a page with more of it would be about nothing else.
const MOST_TEXT: usize = 4000;

/// Names of a type that are shown with their numbers.
const MOST_MEMBERS: usize = 256;

/// Names whose counts are shown.
const MOST_NAMES: usize = 64;

/// Everything that all cards need.
#[derive(Debug)]
pub(super) struct CardContext<'a> {
    pub(super) pack: &'a Pack,
    /// Whether data is read at all.
    pub(super) reads_data: bool,
    /// Whether everything was checked against the manifest before, and need not be again.
    pub(super) is_verified: bool,
    pub(super) room: Room,
    /// Most bytes that a compressed tar is decoded to before no more contents are asked for.
    pub(super) most_decoded: u64,
    /// By array, the numbers of its findings.
    pub(super) findings: BTreeMap<&'a str, Vec<(usize, &'a Finding)>>,
}

/// A file of the pack with the one that describes it.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) member: &'a Listed<'a>,
    pub(super) array: &'a ListedArray<'a>,
    pub(super) description: Option<&'a Listed<'a>>,
}

/// The name of an array in the page: without the extension that all of them have.
pub(super) fn stem(name: &str) -> &str {
    name.strip_suffix(".ra").unwrap_or(name)
}

pub(super) fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

impl CardContext<'_> {
    /// The card of an array, whose elements are read where they are within the reach of the page, and whether the array
    /// can be read.
    pub(super) fn card(&self, subject: &Subject<'_>, is_within: bool, jobs: usize) -> (Html, bool) {
        let Subject { member, array: listed, .. } = subject;
        let name = member.name;
        let is_reached = self.pack.decoded() <= self.most_decoded;
        let array = match self.pack.array(name) {
            Ok(array) if self.is_verified || !self.reads_data => Ok(array.unverified()),
            other => other,
        };
        let mut error = array.as_ref().err().map(reason);
        let reached = array.as_ref().ok().filter(|_| is_reached);
        let (mut picture, mut numbers) = (None, None);
        let (mut description, mut axes) = (None, Vec::new());
        if let Some(array) = reached {
            // A fault of a description is said below.
            let array = &array.clone().in_shape_order().unwrap_or_else(|_| array.clone());
            match array.description() {
                Ok(found) => description = found,
                Err(failed) => error = Some(reason(&failed)),
            }
            // A fault of a coordinate is said where that is shown.
            axes = array.axes().unwrap_or_default();
            if self.reads_data && is_within {
                let bins = Some(self.room.bins);
                let options = StatisticsOptions { slice: None, bins, jobs: Some(jobs) };
                match array.statistics(&options) {
                    Ok(found) => {
                        numbers = Some(found);
                        picture =
                            picture::draw(array, &listed.shape, self.room, jobs).ok().flatten();
                    }
                    Err(failed) => error = error.or(Some(reason(&failed))),
                }
            }
        }
        let mut html = Html::default();
        html!(
            html,
            r#"<article class="c" id="{}" data-b="{}"><div class="p">"#,
            Id(stem(name)),
            member.size
        );
        let instead = match &error {
            Some(_) => "unreadable",
            None if listed.shape.contains(&0) => "empty",
            None => "",
        };
        match &picture {
            Some(picture) => html.piece(picture),
            None => html!(html, r#"<p class="x" aria-hidden="true">{}</p>"#, instead),
        }
        html.raw("</div><div class=\"b\">");
        heading(name, &mut html);
        title(description.as_ref(), &mut html);
        kind(subject, description.as_ref(), &axes, &mut html);
        self.problems(name, error.as_deref(), &mut html);
        match &numbers {
            Some(Statistics::Numbers(numbers)) => of_numbers(numbers, "", &mut html),
            Some(Statistics::Magnitudes(numbers)) => of_numbers(numbers, "magnitudes: ", &mut html),
            Some(Statistics::Names(names)) => of_names(names, &mut html),
            Some(Statistics::Nothing { count, reason }) => {
                html!(html, r#"<p class="n">{}, {}</p>"#, counted(*count, "element"), reason);
            }
            _ => {}
        }
        if array.is_ok() && !is_reached {
            html.raw("<p class=\"n\">not read: the archive would have to be decoded too often for its size; unpack it and report on the directory</p>");
        } else if array.is_ok() && self.reads_data && !is_within {
            html.raw("<p class=\"n\">elements not read: there are more before them than are read for an archive of this size; <code>ra-pack show --stats</code> reads them</p>");
        }
        details(self.pack, subject, reached, description.as_ref(), &axes, &mut html);
        html.raw("</div></article>\n");
        (html, error.is_none())
    }

    fn problems(&self, name: &str, error: Option<&str>, html: &mut Html) {
        let findings = self.findings.get(name).map(Vec::as_slice).unwrap_or_default();
        for (number, finding) in findings {
            let (class, code) = (if finding.is_error() { "f" } else { "f o" }, finding.code.id());
            html!(html, r##"<p class="{}"><a href="#/finding/{}">{}</a> "##, class, number, code);
            html!(html, "{}</p>", finding.message);
        }
        if let Some(error) = error
            && !findings.iter().any(|(_, finding)| finding.is_error())
        {
            html!(html, "<p class=\"f\">{}</p>", error);
        }
    }
}

/// The fault, without the names that the card has anyway.
fn reason(error: &Error) -> String {
    match error {
        Error::Damaged { finding, .. } => format!("{}: {}", finding.code.id(), finding.message),
        Error::Array { source, .. } => source.to_string(),
        Error::Mismatch { reason, .. } => reason.clone(),
        other => in_own_words(&other.to_string()),
    }
}

fn heading(name: &str, html: &mut Html) {
    let (group, last) = split(stem(name));
    html!(html, "<h3><a href=\"#{}\">", Id(stem(name)));
    if !group.is_empty() {
        html!(html, "<span>{}/</span>", group);
    }
    html!(html, "{}</a></h3>", last);
}

/// The meaning of the array, in the words of its description.
fn title(description: Option<&Ndarray>, html: &mut Html) {
    let attribute = |name| attribute_text(description, name).map(|text| cut(text).0);
    let long_name = attribute("long_name").or_else(|| attribute("standard_name"));
    let units = attribute("units");
    if long_name.is_some() || units.is_some() {
        html!(html, "<p class=\"l\">{}", long_name.unwrap_or_default());
        if let Some(units) = units {
            html!(html, " <span>[{}]</span>", units);
        }
        html.raw("</p>");
    }
}

/// Type, shape with the names of dimensions, and size.
fn kind(subject: &Subject<'_>, description: Option<&Ndarray>, axes: &[Axis], html: &mut Html) {
    let Subject { member, array, .. } = subject;
    let size = human_bytes(member.size);
    if array.element.starts_with("unreadable") {
        return html!(html, "<p class=\"k\"><b>unreadable</b> <span>{}</span></p>", size);
    }
    html!(html, "<p class=\"k\"><b>{}</b>", array.element);
    if description.is_some_and(|it| matches!(it.datatype, Datatype::Enum { .. })) {
        html.raw(" <b>enum</b>");
    }
    html.raw(if array.shape.is_empty() { " <span>scalar" } else { " <span>" });
    for (nth, extent) in array.shape.iter().enumerate() {
        html.raw(if nth == 0 { "" } else { " × " });
        let along = axes.get(nth);
        let stated = array.dimensions.get(nth).copied().flatten();
        let name = along.and_then(|axis| axis.name.as_deref()).or(stated);
        let coordinate = along.and_then(|axis| axis.coordinate.as_ref()?.member.as_deref());
        match (name, coordinate) {
            (Some(name), Some(member)) => {
                html!(html, "<a href=\"#{}\">{}</a> ", Id(stem(member)), name);
            }
            (Some(name), None) => html!(html, "{} ", name),
            (None, _) => {}
        }
        html!(html, "{}", grouped(*extent));
    }
    html!(html, "</span> <span>{}</span>", size);
    if !matches!(&*member.method, "stored" | "solid") {
        html!(html, " <span>{} to {}</span>", member.method, human_bytes(member.packed_size));
    }
    html.raw(if array.described { "" } else { " <span class=\"w\">not described</span>" });
    html.raw("</p>");
}

fn of_numbers(numbers: &NumberStatistics, prefix: &'static str, html: &mut Html) {
    // A single value is shown as itself.
    if numbers.count > 1 && numbers.finite > 0 {
        html.raw("<div class=\"s\">");
        if let Some(found) = numbers.histogram.as_ref().filter(|it| it.counts.len() > 1) {
            histogram(found, html);
        }
        html.raw("<dl>");
        for (name, number) in [("min", numbers.min), ("max", numbers.max)] {
            let Some(number) = number else { continue };
            // The first digits of an element, with all of them for who points at it.
            let exact = number.to_string();
            html!(html, "<dt>{}</dt>", name);
            match exact.len() {
                ..=12 => html!(html, "<dd>{}</dd>", exact),
                _ => html!(html, "<dd title=\"{}\">{}</dd>", exact, digits(number.to_f64(), 6)),
            }
        }
        for (name, number) in [("mean", numbers.mean), ("std", numbers.std)] {
            if let Some(number) = number {
                html!(html, "<dt>{}</dt><dd>{}</dd>", name, digits(number, 6));
            }
        }
        html.raw("</dl></div>");
    }
    html!(html, "<p class=\"n\">{}{}", prefix, counted(numbers.count, "value"));
    let others = [
        (numbers.missing, "missing"),
        (numbers.nan, "NaN"),
        (numbers.positive_infinite, "+inf"),
        (numbers.negative_infinite, "\u{2212}inf"),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others: Vec<_> = others.map(|(count, name)| format!("{} {name}", grouped(count))).collect();
    if !others.is_empty() {
        html!(html, "; <b class=\"w\">{}</b>", others.join(", "));
    }
    html.raw("</p>");
}

fn histogram(histogram: &Histogram, html: &mut Html) {
    const HEIGHT: u128 = 32;
    let most = histogram.counts.iter().max().copied().unwrap_or(0);
    let end = |edge: Option<&f64>| edge.map(|edge| digits(*edge, 6)).unwrap_or_default();
    html!(
        html,
        "<svg class=\"h\" role=\"img\" preserveAspectRatio=\"none\" viewBox=\"0 0 {} 32\" \
         aria-label=\"Histogram from {} to {}, most in a bin: {}\"><path d=\"M0 32",
        histogram.counts.len(),
        end(histogram.edges.first()),
        end(histogram.edges.last()),
        grouped(most)
    );
    let mut at = HEIGHT;
    for count in &histogram.counts {
        let part = u128::from(*count) * HEIGHT / u128::from(most.max(1));
        // A bin with anything in it is seen.
        let top = HEIGHT - part.max(u128::from(*count > 0));
        if top != at {
            at = top;
            html!(html, "V{}", at);
        }
        html.raw("h1");
    }
    html.raw("V32z\"/></svg>");
}

fn of_names(names: &NameStatistics, html: &mut Html) {
    html.raw("<ul class=\"e\">");
    let count = names.categories.len();
    for (nth, category) in names.categories.iter().enumerate().take(MOST_NAMES) {
        html.raw("<li>");
        if let Some(colour) = picture::name_colour(nth, count) {
            html!(html, "<i style=\"background:{}\"></i>", colour);
        }
        html!(html, "<b>{}</b> = {}", category.name, category.value);
        html!(html, "<span>{}</span></li>", grouped(category.count));
    }
    html!(html, "</ul><p class=\"n\">{}", counted(names.count, "element"));
    if let Some(more @ 1..) = count.checked_sub(MOST_NAMES) {
        html!(html, ", and {}", counted(more, "more name"));
    }
    if names.unnamed > 0 {
        html!(html, "; <b class=\"w\">{} without a name</b>", grouped(names.unnamed));
    }
    html.raw("</p>");
}

/// The rest, which is of interest now and then.
fn details(
    pack: &Pack,
    subject: &Subject<'_>,
    array: Option<&PackedArray<'_>>,
    description: Option<&Ndarray>,
    axes: &[Axis],
    html: &mut Html,
) {
    let Subject { member, array: listed, .. } = subject;
    // A browser with scripts gets the details when they are opened: half of the page less to lay out.
    html.raw("<details><summary>Details</summary><noscript>");
    if let Some(description) = description {
        attributes(&description.attributes, html);
    }
    html!(html, "<dl class=\"t\"><dt>member</dt><dd><code>{}</code></dd>", member.name);
    html!(html, "<dt>size</dt><dd>{} bytes, {}", grouped(member.size), member.method);
    if member.packed_size != member.size {
        html!(html, " to {} bytes", grouped(member.packed_size));
    }
    html.raw("</dd>");
    if let Some((_, data)) = array.and_then(|array| array.offsets().ok()?) {
        html!(html, "<dt>data at</dt><dd>byte {}</dd>", grouped(data));
    }
    if array.is_some() {
        let order = match listed.order {
            "column" => "column: the first index runs fastest",
            "row" => "row: the last index runs fastest",
            _ => "row-unreversed: the last index runs fastest, dims as the shape",
        };
        html!(html, "<dt>order</dt><dd>{}</dd>", order);
    }
    coordinates(axes, html);
    if let Some(datatype) = description.map(|description| &description.datatype) {
        members(datatype, html);
    }
    html.raw("<dt>digest</dt><dd>");
    digest(pack, member.name, "in no manifest", html);
    html.raw("</dd>");
    if let Some(described) = subject.description {
        let size = human_bytes(described.size);
        html!(html, "<dt>described by</dt><dd><code>{}</code>, {}, ", described.name, size);
        digest(pack, described.name, "in no manifest", html);
        html.raw("</dd>");
    }
    html.raw("</dl></noscript></details>");
}

/// The digest of a file, as the manifest lists it.
pub(super) fn digest(pack: &Pack, name: &str, otherwise: &'static str, html: &mut Html) {
    match pack.array(name).and_then(|file| file.listed_digest()) {
        Ok(Some(digest)) => {
            html!(html, "{} <code>{}</code>", digest.algorithm().name(), digest);
        }
        _ => html.raw(otherwise),
    }
}

fn coordinates(axes: &[Axis], html: &mut Html) {
    let given = axes.iter().filter_map(|axis| Some((axis, axis.coordinate.as_ref()?)));
    for (nth, (axis, coordinate)) in given.enumerate() {
        html.raw(if nth == 0 { "<dt>coordinates</dt><dd>" } else { "<dd>" });
        if let Some(name) = &axis.name {
            html!(html, "{}: ", name);
        }
        match &coordinate.member {
            Some(member) => html!(html, "<a href=\"#{}\">{}</a>", Id(stem(member)), member),
            None => html.raw("in the description"),
        }
        if let Some(units) = attribute_text(coordinate.description.as_ref(), "units") {
            html!(html, " [{}]", cut(units).0);
        }
        html.raw("</dd>");
    }
}

/// The elements of an enum or a compound.
fn members(datatype: &Datatype, html: &mut Html) {
    match datatype {
        Datatype::Enum { members, .. } => {
            let shown = members.iter().take(MOST_MEMBERS);
            let shown: Vec<_> = shown.map(|(name, value)| format!("{name} = {value}")).collect();
            let more = if members.len() > MOST_MEMBERS { ", …" } else { "" };
            html!(html, "<dt>names</dt><dd>{}{}</dd>", shown.join(", "), more);
        }
        other if other.word().is_none() => {
            html!(html, "<dt>type</dt><dd><code>{}</code></dd>", cut(&other.to_flow()).0);
        }
        _ => {}
    }
}

fn attributes(attributes: &[Attribute], html: &mut Html) {
    if attributes.is_empty() {
        return;
    }
    html.raw("<table class=\"a\"><caption>Attributes</caption><tbody>");
    for attribute in attributes {
        html!(html, "<tr><th scope=\"row\">{}</th><td>", attribute.name);
        let text = match &attribute.value {
            Value::String(text) => Cow::Borrowed(text),
            value => Cow::Owned(flow(value, MOST_TEXT as u64)),
        };
        let (start, rest) = cut(&text);
        html.lines(start);
        if !rest.is_empty() {
            html!(html, " <i>… and {} more characters</i>", grouped(rest.chars().count()));
        }
        html!(html, "</td><td>{}", attribute.datatype);
        if !attribute.shape.is_empty() {
            html!(html, "{}", format!("{:?}", attribute.shape));
        }
        html.raw("</td></tr>");
    }
    html.raw("</tbody></table>");
}

/// As much of a text as is shown, and the rest.
fn cut(text: &str) -> (&str, &str) {
    let ends = (0..=text.len().min(MOST_TEXT)).rev();
    text.split_at(ends.into_iter().find(|end| text.is_char_boundary(*end)).unwrap_or(0))
}
