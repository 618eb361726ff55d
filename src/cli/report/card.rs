//! One array.

use std::collections::BTreeMap;

use ra_pack::ndl::{Attribute, Datatype, Ndarray, Value};
use ra_pack::{
    Axis, Error, Finding, Listed, ListedArray, Pack, PackedArray, StatisticsOptions, escape,
};

use super::super::output::human_bytes;
use super::html::Html;
use super::numbers::grouped;
use super::picture::{self, Room};
use super::statistics;

/// Bytes of one attribute that are shown: a page with more of it would be about nothing else.
const MOST_TEXT: usize = 4000;

/// Names of a type that are shown, as what they mean.
const MOST_MEMBERS: usize = 256;

/// What all cards need.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) pack: &'a Pack,
    /// Whether data is read at all.
    pub(super) reads_data: bool,
    /// Whether everything was held against the manifest before, and need not be again.
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
    /// Whether its elements are among those that are read for an archive of that size.
    pub(super) is_within: bool,
}

/// A card, and what is wrong with the array when it cannot be read.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) html: Html,
    pub(super) error: Option<String>,
}

/// The name of an array as it stands in the page: without what all of them end in.
pub(super) fn stem(name: &str) -> &str {
    name.strip_suffix(".ra").unwrap_or(name)
}

pub(super) fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

impl Context<'_> {
    pub(super) fn card(&self, subject: &Subject<'_>, jobs: usize) -> Card {
        let name = subject.member.name;
        let mut html = Html::default();
        html.raw("<article class=\"c\" id=\"").id(stem(name)).raw("\" data-b=\"");
        html.text(subject.member.size).raw("\"><div class=\"p\">");
        let is_reached = self.pack.decoded() <= self.most_decoded;
        let array = match self.pack.array(name) {
            Ok(array) if self.is_verified || !self.reads_data => Ok(array.unverified()),
            other => other,
        };
        let mut error = None;
        let mut note = |failed: Error| {
            error.get_or_insert_with(|| said(&failed));
        };
        let (mut picture, mut numbers) = (None, None);
        let (mut description, mut axes) = (None, Vec::new());
        match &array {
            Ok(array) if is_reached => {
                // What is wrong with a description is said below.
                let array = &array.clone().in_shape_order().unwrap_or_else(|_| array.clone());
                match array.description() {
                    Ok(found) => description = found,
                    Err(failed) => note(failed),
                }
                // What is wrong with a coordinate is said where that is shown.
                axes = array.axes().unwrap_or_default();
                if self.reads_data && subject.is_within {
                    let options = StatisticsOptions {
                        slice: None,
                        bins: Some(self.room.bins),
                        jobs: Some(jobs),
                    };
                    match array.statistics(&options) {
                        Ok(found) => numbers = Some(found),
                        Err(failed) => note(failed),
                    }
                    if numbers.is_some() {
                        let shape = &subject.array.shape;
                        picture = picture::draw(array, shape, self.room, jobs).ok().flatten();
                    }
                }
            }
            _ => {}
        }
        if let Err(failed) = &array {
            note_error(&mut error, failed);
        }
        match &picture {
            Some(picture) => html.piece(picture),
            None => html
                .raw("<p class=\"x\" aria-hidden=\"true\">")
                .text(glyph(subject, error.is_some()))
                .raw("</p>"),
        };
        html.raw("</div><div class=\"b\">");
        heading(name, &mut html);
        title(description.as_ref(), &mut html);
        kind(subject, description.as_ref(), &axes, &mut html);
        self.problems(name, error.as_deref(), &mut html);
        if let Some(numbers) = &numbers {
            statistics::draw(numbers, &mut html);
        }
        if array.is_ok() && !is_reached {
            html.raw("<p class=\"n\">not read: the archive would have to be decoded too often for its size; unpack it and report on the directory</p>");
        } else if array.is_ok() && self.reads_data && !subject.is_within {
            html.raw("<p class=\"n\">elements not read: there are more before them than are read for an archive of this size; <code>ra-pack show --statistics</code> reads them</p>");
        }
        let reached = array.as_ref().ok().filter(|_| is_reached);
        details(self.pack, subject, reached, description.as_ref(), &axes, &mut html);
        html.raw("</div></article>\n");
        Card { html, error }
    }

    fn problems(&self, name: &str, error: Option<&str>, html: &mut Html) {
        let findings = self.findings.get(name).map(Vec::as_slice).unwrap_or_default();
        for (number, finding) in findings {
            html.raw(if finding.is_error() { "<p class=\"f\">" } else { "<p class=\"f o\">" })
                .raw("<a href=\"#/finding/")
                .text(number)
                .raw("\">")
                .text(finding.code.id())
                .raw("</a> ")
                .text(escape(&finding.message))
                .raw("</p>");
        }
        if let Some(error) = error
            && !findings.iter().any(|(_, finding)| finding.is_error())
        {
            html.raw("<p class=\"f\">").text(escape(error)).raw("</p>");
        }
    }
}

fn note_error(error: &mut Option<String>, failed: &Error) {
    error.get_or_insert_with(|| said(failed));
}

/// What is wrong, without the names that the card has anyway.
fn said(error: &Error) -> String {
    match error {
        Error::Damaged { finding, .. } => format!("{}: {}", finding.code.id(), finding.message),
        Error::Array { source, .. } => source.to_string(),
        Error::Mismatch { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}

/// What stands where a picture would.
fn glyph(subject: &Subject<'_>, is_broken: bool) -> &'static str {
    match () {
        () if is_broken => "unreadable",
        () if subject.array.shape.contains(&0) => "empty",
        () => "",
    }
}

fn heading(name: &str, html: &mut Html) {
    let (group, last) = split(stem(name));
    html.raw("<h3><a href=\"#").id(stem(name)).raw("\">");
    if !group.is_empty() {
        html.raw("<span>").text(escape(group)).raw("/</span>");
    }
    html.text(escape(last)).raw("</a></h3>");
}

/// What the array is, in the words of its description.
fn title(description: Option<&Ndarray>, html: &mut Html) {
    let attribute = |name: &str| {
        let mut attributes = description?.attributes.iter();
        attributes.find(|attribute| attribute.name == name)?.value.as_str()
    };
    let long_name = attribute("long_name").or_else(|| attribute("standard_name"));
    let units = attribute("units");
    if long_name.is_none() && units.is_none() {
        return;
    }
    html.raw("<p class=\"l\">");
    if let Some(text) = long_name {
        html.text(escape(cut(text).0));
    }
    if let Some(units) = units {
        html.raw(" <span>[").text(escape(cut(units).0)).raw("]</span>");
    }
    html.raw("</p>");
}

/// Type, shape with the names of dimensions, and size.
fn kind(subject: &Subject<'_>, description: Option<&Ndarray>, axes: &[Axis], html: &mut Html) {
    let Subject { member, array, .. } = subject;
    if array.element.starts_with("unreadable") {
        html.raw("<p class=\"k\"><b>unreadable</b> <span>").text(human_bytes(member.size));
        html.raw("</span></p>");
        return;
    }
    html.raw("<p class=\"k\"><b>").text(escape(&array.element)).raw("</b>");
    if description.is_some_and(|it| matches!(it.datatype, Datatype::Enum { .. })) {
        html.raw(" <b>enum</b>");
    }
    html.raw(" <span>");
    if array.shape.is_empty() {
        html.raw("scalar");
    }
    for (nth, extent) in array.shape.iter().enumerate() {
        html.raw(if nth == 0 { "" } else { " × " });
        let along = axes.get(nth);
        let stated = array.dimensions.get(nth).copied().flatten();
        let name = along.and_then(|axis| axis.name.as_deref()).or(stated);
        let coordinate = along.and_then(|axis| axis.coordinate.as_ref()?.member.as_deref());
        if let Some(name) = name {
            if let Some(member) = coordinate {
                html.raw("<a href=\"#").id(stem(member)).raw("\">");
            }
            html.text(escape(name)).raw(if coordinate.is_some() { "</a>" } else { "" }).raw(" ");
        }
        html.text(grouped(*extent));
    }
    html.raw("</span> <span>").text(human_bytes(member.size)).raw("</span>");
    if !matches!(&*member.method, "stored" | "solid") {
        html.raw(" <span>").text(&member.method).raw(" to ");
        html.text(human_bytes(member.packed_size)).raw("</span>");
    }
    if !array.described {
        html.raw(" <span class=\"w\">not described</span>");
    }
    html.raw("</p>");
}

/// What is of interest now and then.
fn details(
    pack: &Pack,
    subject: &Subject<'_>,
    array: Option<&PackedArray<'_>>,
    description: Option<&Ndarray>,
    axes: &[Axis],
    html: &mut Html,
) {
    // Who has scripts gets the details when they are opened: half of the page less to lay out.
    html.raw("<details><summary>Details</summary><noscript>");
    if let Some(description) = description {
        attributes(&description.attributes, html);
    }
    html.raw("<dl class=\"t\">");
    let fact = |html: &mut Html, name: &'static str| {
        html.raw("<dt>").raw(name).raw("</dt><dd>");
    };
    fact(html, "member");
    html.raw("<code>").text(escape(subject.member.name)).raw("</code></dd>");
    fact(html, "size");
    html.text(grouped(subject.member.size)).raw(" bytes, ");
    html.text(&subject.member.method);
    if subject.member.packed_size != subject.member.size {
        html.raw(" to ").text(grouped(subject.member.packed_size)).raw(" bytes");
    }
    html.raw("</dd>");
    if let Some((_, data)) = array.and_then(|array| array.offsets().ok()?) {
        fact(html, "data at");
        html.raw("byte ").text(grouped(data)).raw("</dd>");
    }
    if array.is_some() {
        fact(html, "order");
        html.raw(match subject.array.order {
            "column" => "column: the first index runs fastest",
            "row" => "row: the last index runs fastest",
            _ => "row-unreversed: the last index runs fastest, dims as the shape",
        });
        html.raw("</dd>");
    }
    coordinates(axes, html);
    if let Some(datatype) = description.map(|description| &description.datatype) {
        members(datatype, html, fact);
    }
    fact(html, "digest");
    digest(pack, subject.member.name, html);
    html.raw("</dd>");
    if let Some(described) = subject.description {
        fact(html, "described by");
        html.raw("<code>").text(escape(described.name)).raw("</code>, ");
        html.text(human_bytes(described.size)).raw(", ");
        digest(pack, described.name, html);
        html.raw("</dd>");
    }
    html.raw("</dl></noscript></details>");
}

/// The digest of a file, as the manifest lists it.
fn digest(pack: &Pack, name: &str, html: &mut Html) {
    let digest = pack.array(name).and_then(|file| file.listed_digest()).ok().flatten();
    if let Some(digest) = digest {
        html.text(digest.algorithm().name()).raw(" <code>").text(digest).raw("</code>");
    } else {
        html.raw("in no manifest");
    }
}

fn coordinates(axes: &[Axis], html: &mut Html) {
    let given = axes.iter().filter_map(|axis| Some((axis, axis.coordinate.as_ref()?)));
    for (nth, (axis, coordinate)) in given.enumerate() {
        html.raw(if nth == 0 { "<dt>coordinates</dt>" } else { "" }).raw("<dd>");
        if let Some(name) = &axis.name {
            html.text(escape(name)).raw(": ");
        }
        match &coordinate.member {
            Some(member) => {
                html.raw("<a href=\"#").id(stem(member)).raw("\">").text(escape(member));
                html.raw("</a>");
            }
            None => {
                html.raw("in the description");
            }
        }
        let attribute = |name: &str| {
            let mut attributes = coordinate.description.as_ref()?.attributes.iter();
            attributes.find(|attribute| attribute.name == name)?.value.as_str()
        };
        if let Some(units) = attribute("units") {
            html.raw(" [").text(escape(cut(units).0)).raw("]");
        }
        html.raw("</dd>");
    }
}

/// What the elements of an enum or a compound are.
fn members(datatype: &Datatype, html: &mut Html, fact: impl Fn(&mut Html, &'static str)) {
    match datatype {
        Datatype::Enum { members, .. } => {
            fact(html, "names");
            for (nth, (name, value)) in members.iter().take(MOST_MEMBERS).enumerate() {
                html.raw(if nth == 0 { "" } else { ", " });
                html.text(escape(name)).raw(" = ").text(value);
            }
            if members.len() > MOST_MEMBERS {
                html.raw(", …");
            }
            html.raw("</dd>");
        }
        other if other.word().is_none() => {
            fact(html, "type");
            html.raw("<code>").text(escape(cut(&other.to_flow()).0)).raw("</code></dd>");
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
        html.raw("<tr><th scope=\"row\">").text(escape(&attribute.name)).raw("</th><td>");
        match &attribute.value {
            Value::String(text) => {
                let (start, rest) = cut(text);
                html.lines(start);
                left_out(rest, html);
            }
            value => {
                let mut text = String::new();
                flow(value, &mut text);
                let (start, rest) = cut(&text);
                html.text(escape(start));
                left_out(rest, html);
            }
        }
        html.raw("</td><td>").text(escape(&attribute.datatype.to_string()));
        if !attribute.shape.is_empty() {
            html.text(format!("{:?}", attribute.shape));
        }
        html.raw("</td></tr>");
    }
    html.raw("</tbody></table>");
}

fn left_out(rest: &str, html: &mut Html) {
    if !rest.is_empty() {
        html.raw(" <i>… and ").text(grouped(rest.chars().count())).raw(" more characters</i>");
    }
}

/// As much of a text as is shown, and the rest.
fn cut(text: &str) -> (&str, &str) {
    text.split_at(text.floor_char_boundary(MOST_TEXT))
}

/// A value on one line; no more of it than is shown, and a little.
fn flow(value: &Value, out: &mut String) {
    use std::fmt::Write as _;
    if out.len() > MOST_TEXT.saturating_mul(4) {
        return;
    }
    let _ = match value {
        Value::Null => out.write_str("null"),
        Value::Bool(truth) => write!(out, "{truth}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::UInt(number) => write!(out, "{number}"),
        Value::Float(number) => write!(out, "{number:?}"),
        Value::String(text) => out.write_str(text),
        Value::List(list) => {
            out.push('[');
            for (nth, value) in list.iter().enumerate() {
                out.push_str(if nth == 0 { "" } else { ", " });
                flow(value, out);
            }
            out.write_str("]")
        }
        Value::Map(map) => {
            out.push('{');
            for (nth, (key, value)) in map.iter().enumerate() {
                out.push_str(if nth == 0 { "" } else { ", " });
                out.push_str(key);
                out.push_str(": ");
                flow(value, out);
            }
            out.write_str("}")
        }
    };
}
