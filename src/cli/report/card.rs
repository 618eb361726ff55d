//! Card of one array: picture, statistics and metadata.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ra_pack::inspect::{Listed, ListedArray};
use ra_pack::message::Words;
use ra_pack::ndl::{Attribute, Datatype, Ndarray, Order, Value};
use ra_pack::read::{
    Axis, Category, Coordinate, CornersOptions, Histogram, NameStatistics, Number,
    NumberStatistics, Statistics, StatisticsOptions, date_of,
};
use ra_pack::{Error, Finding, Pack, PackedArray};

use super::super::array::{self, attribute_text};
use super::super::diagnostics::without_numbers;
use super::super::plot::{shortened, typeset};
use super::super::text::{digits, grouped, human_bytes, mean_text};
use super::picture::{self, Room};
use super::{Html, Id, Piece, counted, html, lines, shown};
use ra_pack::display::snippet::snippets;
use ra_pack::display::values::{self, flow};

/// Largest part of an attribute that is shown, in bytes.
const MOST_TEXT: usize = 4000;

/// Largest number of enum names or compound members that are shown.
const MOST_MEMBERS: usize = 256;

/// Largest number of names whose counts are shown.
const MOST_NAMES: usize = 64;

/// Height of a histogram, in pixels.
const HISTOGRAM_HEIGHT: u128 = 32;

/// Data shared by all cards.
#[derive(Debug)]
pub(super) struct CardContext<'a> {
    /// Name of the pack in the page.
    pub(super) name: &'a str,
    pub(super) pack: &'a Pack,
    /// Whether data is read.
    pub(super) reads_data: bool,
    /// Whether all contents were already checked against the manifest.
    pub(super) is_verified: bool,
    pub(super) room: Room,
    /// Largest number of bytes to decode from a compressed tar.
    pub(super) most_decoded: u64,
    /// Attributes of groups, by path.
    pub(super) attributes: BTreeMap<&'a str, &'a [Attribute]>,
    /// Findings of each array, with their numbers.
    pub(super) findings: BTreeMap<&'a str, Vec<(usize, &'a Finding)>>,
}

/// Array file with its description.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) member: &'a Listed<'a>,
    pub(super) array: &'a ListedArray<'a>,
    pub(super) description: Option<&'a Listed<'a>>,
    /// Whether the array holds the coordinates of a dimension.
    pub(super) is_coordinate: bool,
}

/// Returns the name of an array in the page, without the extension `.ra`.
pub(super) fn stem(name: &str) -> &str {
    name.strip_suffix(".ra").unwrap_or(name)
}

pub(super) fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

/// The elements that are shown of an array without a picture.
const SAMPLE: CornersOptions = CornersOptions { slice: None, edge: Some(3), threshold: 24 };

impl CardContext<'_> {
    /// Returns the card of an array, and whether the array can be read. Reads its elements if `is_within` the limits
    /// of the page.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be read. Other problems are shown.
    pub(super) fn card(
        &self,
        subject: &Subject<'_>,
        is_within: bool,
        jobs: usize,
    ) -> Result<(Html, bool), Error> {
        let Subject { member, array: listed, .. } = subject;
        let name = member.name;
        let is_reached = self.pack.decoded() <= self.most_decoded;
        let array = match shown(self.pack.array(name))? {
            Ok(array) if self.is_verified || !self.reads_data => Ok(array.unverified()),
            other => other,
        };
        let mut error = array.as_ref().err().map(reason);
        let reached = array.as_ref().ok().filter(|_| is_reached);
        let (mut picture, mut numbers, mut text) = (None, None, None);
        let (mut description, mut axes) = (None, Vec::new());
        if let Some(array) = reached {
            // An error in a description is shown below.
            let array = &shown(array.clone().in_shape_order())?.unwrap_or_else(|_| array.clone());
            match shown(array.description())? {
                Ok(found) => description = found,
                Err(failed) => error = Some(reason(&failed)),
            }
            // An error in a coordinate is shown on its own card.
            axes = shown(array.axes())?.unwrap_or_default();
            if self.reads_data && is_within {
                let bins = Some(self.room.bins);
                let options =
                    StatisticsOptions { bins, jobs: Some(jobs), ..StatisticsOptions::default() };
                match shown(array.statistics(&options))? {
                    Ok(found) => {
                        if matches!(found, Statistics::Nothing { count: 1.., .. }) {
                            let corners = shown(array.corners(&SAMPLE))?;
                            text = corners.ok().map(|corners| values::text(&corners, 6, false));
                        }
                        numbers = Some(found);
                        let drawn = picture::draw(array, &listed.shape, self.room, jobs);
                        // An error in a coordinate is shown on its own card.
                        picture = shown(drawn)?.ok().flatten();
                    }
                    Err(failed) => error = error.or(Some(reason(&failed))),
                }
            }
        }
        let instead = match &error {
            Some(_) => "unreadable",
            None if listed.shape.contains(&0) => "empty",
            None => "",
        };
        let unread = if is_reached {
            html!(
                "values not read: the limit for an archive of this size is reached; \
                 <code>ra-pack show --stats</code> reads them"
            )
        } else {
            html!(
                "not read: the archive would have to be decoded too often; unpack it and run \
                 <code>ra-pack report</code> on the directory"
            )
        };
        let is_unread = array.is_ok() && (!is_reached || self.reads_data && !is_within);
        let note = is_unread.then(|| html!("<p class=\"n\">{}</p>", unread));
        let (group, last) = split(stem(name));
        let html = html!(
            "<article class=\"c\" id=\"{}\" data-b=\"{}\"><div class=\"p\">{}</div><div class=\"b\"><h4><a \
             href=\"#{}\">{}{}</a></h4>{}{}{}{}{}{}{}</div></article>\n",
            Id(stem(name)),
            member.bytes,
            picture.unwrap_or_else(|| html!("<p class=\"x\" aria-hidden=\"true\">{}</p>", instead)),
            Id(stem(name)),
            (!group.is_empty()).then(|| html!("<span>{}/</span>", group)),
            last,
            title(description.as_ref(), numbers.as_ref()),
            kind(subject, &axes),
            self.problems(name, error.as_deref()),
            numbers.as_ref().map(|numbers| {
                statistics(numbers, description.as_ref(), subject.is_coordinate)
            }),
            text.map(|text| html!("<pre>{}</pre>", text)),
            note,
            details(self, subject, reached, description.as_ref(), &axes)?
        );
        Ok((html, error.is_none()))
    }

    fn problems(&self, name: &str, error: Option<&str>) -> Html {
        let findings = self.findings.get(name).map(Vec::as_slice).unwrap_or_default();
        let problem = |(number, finding): &(usize, &Finding)| {
            let (class, code) = (if finding.is_error() { "f" } else { "f o" }, finding.code.id());
            let text = &finding.message;
            html!(
                "<p class=\"{}\"><a href=\"#/finding/{}\">{}</a> {}</p>",
                class,
                *number,
                code,
                text
            )
        };
        let is_shown = findings.iter().any(|(_, finding)| finding.is_error());
        let error = error.filter(|_| !is_shown);
        html!(
            "{}{}",
            findings.iter().map(problem).collect::<Vec<_>>(),
            error.map(|error| html!("<p class=\"f\">{}</p>", error))
        )
    }
}

/// Formats an error without the names that the card shows already.
fn reason(error: &Error) -> String {
    match error {
        Error::Damaged { finding, .. } => format!("{}: {}", finding.code.id(), finding.message),
        Error::Array { source, .. } => source.to_string(),
        Error::Mismatch { reason, .. } => reason.clone(),
        Error::Slice { source, .. } => source.to_string(),
        other => without_numbers(&other.message().in_words(Words::Command)),
    }
}

/// Returns the long name and units of the description.
fn title(description: Option<&Ndarray>, numbers: Option<&Statistics>) -> Option<Html> {
    let attribute = |name| attribute_text(description, name).map(|text| cut(text, MOST_TEXT).0);
    let long_name = attribute("long_name").or_else(|| attribute("standard_name"));
    // Magnitudes are those of the stored numbers.
    let is_stored = matches!(numbers, Some(Statistics::Magnitudes(_)));
    let is_scaled = is_stored && description.is_some_and(array::is_scaled);
    let units = attribute("units").filter(|_| !is_scaled).and_then(typeset);
    long_name.or(units.as_deref())?;
    let units = units.map(|units| html!(" <span>[{}]</span>", units));
    Some(html!("<p class=\"l\">{}{}</p>", long_name, units))
}

/// Returns type, shape with names of dimensions, and size.
fn kind(subject: &Subject<'_>, axes: &[Axis]) -> Html {
    let Subject { member, array, .. } = subject;
    let size = human_bytes(member.bytes);
    if array.element.is_err() {
        return html!("<p class=\"k\"><b>unreadable</b> <span>{}</span></p>", size);
    }
    let extent = |(nth, extent): (usize, &u64)| {
        let along = axes.get(nth);
        let stated = array.dimensions.get(nth).copied().flatten();
        let name = along.and_then(|axis| axis.name.as_deref()).or(stated);
        let coordinate = along.and_then(|axis| axis.coordinate.as_ref()?.member.as_deref());
        let name = name.map(|name| match coordinate {
            Some(member) => html!("<a href=\"#{}\">{}</a> ", Id(stem(member)), name),
            None => html!("{} ", name),
        });
        html!("{}{}{}", if nth == 0 { "" } else { " × " }, name, grouped(*extent))
    };
    let is_packed = member.method.is_compressed();
    html!(
        "<p class=\"k\"><b>{}</b> <span>{}{}</span> <span>{}</span>{}{}</p>",
        array.type_name(),
        array.shape.is_empty().then_some("scalar"),
        array.shape.iter().enumerate().map(extent).collect::<Vec<_>>(),
        size,
        is_packed.then(|| {
            html!(" <span>{} to {}</span>", member.method, human_bytes(member.packed_bytes))
        }),
        (!array.described).then(|| html!(" <span class=\"w\">not described</span>"))
    )
}

fn statistics(statistics: &Statistics, description: Option<&Ndarray>, is_coordinate: bool) -> Html {
    match statistics {
        Statistics::Numbers(numbers) => of_numbers(numbers, "", description, is_coordinate),
        Statistics::Magnitudes(numbers) => of_numbers(numbers, "magnitudes: ", None, false),
        Statistics::Names(names) => of_names(names),
        Statistics::Nothing { count, reason } => {
            html!("<p class=\"n\">{}, {}</p>", counted(*count, "element"), reason)
        }
        _ => Html::default(),
    }
}

/// Returns statistics of numbers.
fn of_numbers(
    numbers: &NumberStatistics,
    prefix: &str,
    description: Option<&Ndarray>,
    is_coordinate: bool,
) -> Html {
    // A single value is shown instead of its statistics.
    let facts = (numbers.count > 1 && numbers.finite > 0).then(|| {
        let bins = numbers.histogram.as_ref().filter(|it| it.counts.len() > 1).map(histogram);
        if let Some(description) = description
            && let Some(ends) = from_to([numbers.min, numbers.max], description)
        {
            return html!("<div class=\"s\">{}<dl class=\"y\">{}</dl></div>", bins, ends);
        }
        // Shows the first digits of an element, and all of them in a tooltip.
        let end = |name: &str, number: Option<Number>| {
            let number = number?;
            let exact = number.to_string();
            Some(match exact.len() {
                ..=12 => row(name, exact),
                _ => {
                    let short = digits(number.to_f64(), 6);
                    html!("<dt>{}</dt><dd title=\"{}\">{}</dd>", name, exact, short)
                }
            })
        };
        let ends = vec![end("min", numbers.min), end("max", numbers.max)];
        // The mean of coordinates has no meaning.
        let moments = (!is_coordinate).then(|| {
            let mean = numbers.mean.map(|mean| row("mean", mean_text(mean, numbers.std, 6)));
            vec![mean, numbers.std.map(|std| row("std", digits(std, 6)))]
        });
        html!("<div class=\"s\">{}<dl>{}{}</dl></div>", bins, ends, moments)
    });
    let others = [
        (numbers.missing, "missing"),
        (numbers.nan, "NaN"),
        (numbers.positive_infinite, "+inf"),
        (numbers.negative_infinite, "\u{2212}inf"),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others: Vec<_> = others.map(|(count, name)| format!("{} {name}", grouped(count))).collect();
    html!(
        "{}<p class=\"n\">{}{}{}</p>",
        facts,
        prefix,
        counted(numbers.count, "element"),
        (!others.is_empty()).then(|| html!("; <b class=\"w\">{}</b>", others.join(", ")))
    )
}

/// Returns the first and the last date.
fn from_to([low, high]: [Option<Number>; 2], description: &Ndarray) -> Option<Vec<Html>> {
    let date = |number: Option<Number>| Some(shortened(&date_of(description, number?)?));
    Some(vec![row("from", date(low)?), row("to", date(high)?)])
}

fn histogram(histogram: &Histogram) -> Html {
    let most = histogram.counts.iter().max().copied().unwrap_or(0);
    let end = |edge: Option<&f64>| edge.map(|edge| digits(*edge, 6)).unwrap_or_default();
    let (first, last) = (end(histogram.edges.first()), end(histogram.edges.last()));
    let mut at = HISTOGRAM_HEIGHT;
    let bar = |count: &u64| {
        let part = u128::from(*count) * HISTOGRAM_HEIGHT / u128::from(most.max(1));
        // Makes every bin that is not empty visible.
        let top = HISTOGRAM_HEIGHT - part.max(u128::from(*count > 0));
        let step = (top != at).then(|| html!("V{}", top));
        at = top;
        html!("{}h1", step)
    };
    html!(
        "<svg class=\"h\" role=\"img\" preserveAspectRatio=\"none\" viewBox=\"0 0 {} 32\" \
         aria-label=\"Histogram from {} to {}, most in a bin: {}\"><title>Histogram: {} bins from {} to \
         {}, at most {} values in one</title><path d=\"M0 32{}V32z\"/></svg>",
        histogram.counts.len(),
        first,
        last,
        grouped(most),
        histogram.counts.len(),
        first,
        last,
        grouped(most),
        histogram.counts.iter().map(bar).collect::<Vec<_>>()
    )
}

fn of_names(names: &NameStatistics) -> Html {
    let count = names.categories.len();
    let item = |(nth, category): (usize, &Category)| {
        let colour = picture::name_colour(nth, count);
        html!(
            "<li>{}<b>{}</b> = {}<span>{}</span></li>",
            colour.map(|colour| html!("<i style=\"background:{}\"></i>", colour)),
            category.name,
            category.value,
            grouped(category.count)
        )
    };
    let more = count.checked_sub(MOST_NAMES).filter(|more| *more > 0);
    let unnamed = grouped(names.unnamed);
    html!(
        "<ul class=\"e\">{}</ul><p class=\"n\">{}{}{}{}</p>",
        names.categories.iter().enumerate().take(MOST_NAMES).map(item).collect::<Vec<_>>(),
        counted(names.count, "element"),
        more.map(|more| format!(", and {}", counted(more, "more name"))),
        (names.missing > 0).then(|| html!("; {} missing", grouped(names.missing))),
        (names.unnamed > 0).then(|| html!("; <b class=\"w\">{} without a name</b>", unnamed))
    )
}

/// Returns further details.
fn details(
    context: &CardContext<'_>,
    subject: &Subject<'_>,
    array: Option<&PackedArray>,
    description: Option<&Ndarray>,
    axes: &[Axis],
) -> Result<Html, Error> {
    let Subject { member, array: listed, .. } = subject;
    let pack = context.pack;
    let packed = (member.packed_bytes != member.bytes)
        .then(|| format!(" to {} bytes", grouped(member.packed_bytes)));
    let size = html!("{} bytes, {}{}", grouped(member.bytes), member.method, packed);
    let data = array.map(|array| shown(array.offsets())).transpose()?;
    let data = data.and_then(|found| found.ok().flatten());
    let order = array.map(|_| match listed.order {
        Order::Column => "column: the first index changes fastest",
        Order::Row => "row: the last index changes fastest",
        Order::RowUnreversed => {
            "row-unreversed: the last index changes fastest, dims in the order of the shape"
        }
    });
    let digest = |name| digest(pack, name, "not in a manifest");
    let described = subject.description.map(|Listed { name, bytes, .. }| -> Result<_, Error> {
        Ok(html!("<code>{}</code>, {}, {}", name, human_bytes(*bytes), digest(name)?))
    });
    let rows = vec![
        Some(row("member", html!("<code>{}</code>", member.name))),
        Some(row("size", size)),
        data.map(|(_, data)| row("data at", format!("byte {}", grouped(data)))),
        order.map(|order| row("order", order)),
        coordinates(axes),
        description.and_then(|description| members(&description.datatype)),
        Some(row("digest", digest(member.name)?)),
        described.transpose()?.map(|described| row("described by", described)),
    ];
    let programs = array.filter(|_| context.room.has_plots).map(|array| {
        let program = |(language, text): (&str, String)| {
            html!("<p class=\"n\">{}</p><pre><code>{}</code></pre>", language, lines(&text))
        };
        let all = member.array.as_ref().map(|listed| {
            snippets(context.name, pack.container(), array, listed.order).into_iter().map(program)
        });
        let all: Vec<_> = all.into_iter().flatten().collect();
        (!all.is_empty()).then(|| {
            html!(
                "<details class=\"o\"><summary>Open this array in a program</summary>{}</details>",
                all
            )
        })
    });
    let attributes =
        description.map(|description| attributes(&description.attributes, "Attributes"));
    // With scripts, a browser lays out details only when they are opened, which halves the work.
    Ok(html!(
        "<details><summary>Details</summary><noscript>{}<dl class=\"t\">{}</dl>{}</noscript></details>",
        attributes,
        rows,
        programs.flatten()
    ))
}

fn row(name: &str, fact: impl Piece) -> Html {
    html!("<dt>{}</dt><dd>{}</dd>", name, fact)
}

/// Returns the digest of a file in the manifest.
pub(super) fn digest(pack: &Pack, name: &str, otherwise: &str) -> Result<Html, Error> {
    Ok(match shown(pack.array(name).and_then(|file| file.listed_digest()))? {
        Ok(Some(digest)) => {
            html!("{} <code>{}</code>", digest.algorithm().name(), digest.to_string())
        }
        _ => html!("{}", otherwise),
    })
}

fn coordinates(axes: &[Axis]) -> Option<Html> {
    let given = axes.iter().filter_map(|axis| Some((axis, axis.coordinate.as_ref()?)));
    let fact = |(axis, coordinate): (&Axis, &Coordinate)| {
        let units = attribute_text(coordinate.description.as_ref(), "units").and_then(typeset);
        let place = match &coordinate.member {
            Some(member) => html!("<a href=\"#{}\">{}</a>", Id(stem(member)), member),
            None => html!("in the description"),
        };
        let name = axis.name.as_ref().map(|name| format!("{name}: "));
        html!(
            "<dd>{}{}{}</dd>",
            name,
            place,
            units.map(|units| format!(" [{}]", cut(&units, MOST_TEXT).0))
        )
    };
    let facts: Vec<_> = given.map(fact).collect();
    (!facts.is_empty()).then(|| html!("<dt>coordinates</dt>{}", facts))
}

/// Returns the names of an enum or the members of a compound.
fn members(datatype: &Datatype) -> Option<Html> {
    match datatype {
        Datatype::Enum { members, .. } => {
            let shown = members.iter().take(MOST_MEMBERS);
            let shown: Vec<_> = shown.map(|(name, value)| format!("{name} = {value}")).collect();
            let more = if members.len() > MOST_MEMBERS { ", …" } else { "" };
            Some(row("names", shown.join(", ") + more))
        }
        other if other.word().is_none() => {
            Some(row("type", html!("<code>{}</code>", cut(&other.to_flow(), MOST_TEXT).0)))
        }
        _ => None,
    }
}

/// Returns a table of attributes with a heading.
pub(super) fn attributes(attributes: &[Attribute], heading: &str) -> Option<Html> {
    let row = |attribute: &Attribute| {
        let text = match &attribute.value {
            Value::String(text) => Cow::Borrowed(text),
            value => Cow::Owned(flow(value, MOST_TEXT as u64)),
        };
        let (start, rest) = cut(&text, MOST_TEXT);
        let more = (!rest.is_empty())
            .then(|| html!(" <i>… and {} more characters</i>", grouped(rest.chars().count())));
        html!(
            "<tr><th scope=\"row\">{}</th><td>{}{}</td><td>{}{}</td></tr>",
            attribute.name,
            lines(start),
            more,
            attribute.datatype.to_string(),
            (!attribute.shape.is_empty()).then(|| format!("{:?}", attribute.shape))
        )
    };
    let rows: Vec<_> = attributes.iter().map(row).collect();
    (!rows.is_empty()).then(|| {
        html!("<table class=\"a\"><caption>{}</caption><tbody>{}</tbody></table>", heading, rows)
    })
}

/// Splits a text after at most `most` bytes.
pub(super) fn cut(text: &str, most: usize) -> (&str, &str) {
    let ends = (0..=text.len().min(most)).rev();
    text.split_at(ends.into_iter().find(|end| text.is_char_boundary(*end)).unwrap_or(0))
}
