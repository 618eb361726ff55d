//! The page from beginning to end. Only the cards in progress are in memory.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::Write;
use std::panic::resume_unwind;
use std::path::absolute;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ra_pack::archive::MemberKind;
use ra_pack::digest::Digest;
use ra_pack::display::markdown::{READ_README, READMES};
use ra_pack::inspect::{ListOptions, Listed, Listing};
use ra_pack::ndl::Attribute;
use ra_pack::time::Timestamp;
use ra_pack::verify::VerifyReport;
use ra_pack::{Container, Error, Finding, Pack};

use super::super::Failure;
use super::super::plot::{ColorMap, RD_BU, TWILIGHT, VIRIDIS};
use super::super::text::grouped;
use super::card::{self, CardContext, Subject, cut, digest, split, stem};
use super::head::{self, PackFacts};
use super::picture::Room;
use super::{CSS, Html, Id, ReportArgs, WrittenPage, counted, html, page_head, shown};

const JS: &str = include_str!("report.js");

/// Number of cards that are made before they are written.
const BATCH: usize = 128;

/// Smallest array, in bytes, that is processed alone with all threads.
const ALONE_FROM: u64 = 32 << 20;

/// Smallest limit of the elements, or bytes, that are read from an archive.
const ELEMENTS: u64 = 128 << 20;
/// Additional elements per byte of the archive. Measured data cannot be compressed that much.
const ELEMENTS_PER_BYTE: u64 = 64;

/// Smallest limit of the bytes decoded from a compressed tar. Decoding is faster than statistics.
const DECODED: u64 = 2 << 30;
/// Additional decoded bytes per byte of a compressed tar.
const DECODED_PER_BYTE: u64 = 2048;

/// Writes the page of the pack.
pub(super) fn write(
    args: &ReportArgs,
    verified: Option<&VerifyReport>,
    jobs: usize,
    out: &mut dyn Write,
) -> Result<WrittenPage, Failure> {
    let target = &args.archive;
    let listed = ListOptions { jobs: Some(jobs), ..ListOptions::default() };
    let listing = match ra_pack::list(target, &listed) {
        // The pack cannot be opened: the page shows only the findings.
        Err(error) if error.is_finding() && verified.is_some_and(|report| !report.is_valid()) => {
            None
        }
        listing => Some(listing?),
    };
    let listing = listing.as_ref();
    let pack = listing.map(|_| Pack::open(target)).transpose()?;
    let findings = verified.map(|report| &report.findings);
    let findings = findings.or(listing.map(|listing| &listing.findings));
    let members: Vec<Listed<'_>> = listing.into_iter().flat_map(Listing::members).collect();
    let (arrays, files) = sort(&members);
    let descriptions = arrays.iter().filter(|subject| subject.description.is_some()).count();
    let mut page = WrittenPage {
        target: target.clone(),
        output: args.output.clone(),
        arrays: arrays.len() as u64,
        files: (arrays.len() + files.len() + descriptions) as u64,
        verified: verified.is_some(),
        contents_read: verified.is_some_and(|report| report.contents_read),
        findings: findings.cloned().unwrap_or_default(),
        ..WrittenPage::default()
    };
    let whole = absolute(target).unwrap_or_else(|_| target.clone());
    let name = whole.file_name().unwrap_or(target.as_os_str()).to_string_lossy();
    let groups = groups(arrays.iter().map(group_of));
    // An error in the attributes is among the findings.
    let described = pack.as_ref().map(|pack| shown(pack.attributes())).transpose()?;
    let described = described.and_then(Result::ok).unwrap_or_default();
    let of_groups: BTreeMap<&str, &[Attribute]> = described
        .iter()
        .map(|group| (group.path.trim_matches('/'), &group.attributes[..]))
        .collect();
    let own = of_groups.get("").copied().unwrap_or_default();
    let title = own.iter().find(|attribute| attribute.name == "title");
    let title = title.and_then(|title| title.value.as_str()).filter(|title| !title.is_empty());
    let readme = pack.as_ref().map(|pack| readme(pack, &files)).transpose()?.flatten();
    let container = verified.and_then(|report| report.container);
    let facts = PackFacts {
        name: &name,
        container: listing.map(|listing| listing.container).or(container),
        layout: listing.map(|listing| listing.layout).unwrap_or_default(),
        members: &members,
        arrays: &arrays,
        groups: listing.map_or(0, |_| groups.len()),
    };
    let main = match listing {
        Some(_) => html!(
            "<nav class=\"tree\" aria-label=\"Groups\"><details open><summary>Groups <span>and their arrays</span>\
             </summary>{}<p><a href=\"#/files\">Other files</a> <span>{}</span></p></details></nav><main>",
            tree(&groups),
            grouped(files.len())
        ),
        None => html!("<main id=\"/arrays\">"),
    };
    let start = html!(
        "{}<div class=\"page\">{}{}{}{}{}",
        begin(&name, title.map(|title| cut(title, MOST_TITLE).0)),
        main,
        head::about(own, readme.as_ref().map(|(name, text)| (*name, &**text))),
        head::facts(&facts),
        head::verification(verified, &page.findings),
        head::by_hand(&facts)
    );
    out.write_all(start.0.as_bytes())?;
    if let Some(pack) = pack {
        let size = pack.file_size()?.unwrap_or(u64::MAX);
        let within = |least: u64, each: u64| size.saturating_mul(each).saturating_add(least);
        let context = CardContext {
            name: &name,
            pack: &pack,
            reads_data: !args.no_statistics,
            is_verified: verified.is_some(),
            room: Room::for_each_of(arrays.len()),
            most_decoded: within(DECODED, DECODED_PER_BYTE),
            attributes: of_groups,
            findings: by_array(&page.findings),
        };
        // Plots share the gradients of the colour maps.
        let gradients = (context.reads_data && context.room.has_plots).then(|| {
            let gradient = |map: ColorMap| map.gradient(&format!("/{}", map.name()));
            let gradients = Html([VIRIDIS, RD_BU, TWILIGHT].map(gradient).concat());
            html!("<svg class=\"colours\" aria-label=\"Colours\"><defs>{}</defs></svg>", gradients)
        });
        let begin = html!("{}{}<div class=\"arrays\">", tools(arrays.len()), gradients);
        out.write_all(begin.0.as_bytes())?;
        let elements = within(ELEMENTS, ELEMENTS_PER_BYTE);
        page.unreadable = cards(&context, &arrays, elements, jobs, out)?;
        out.write_all(b"</div>")?;
        write_files(&pack, &files, descriptions, out)?;
    }
    out.write_all(end().0.as_bytes())?;
    Ok(page)
}

/// Returns the arrays, sorted by group and name, and all other files except descriptions of arrays.
fn sort<'a>(members: &'a [Listed<'a>]) -> (Vec<Subject<'a>>, Vec<&'a Listed<'a>>) {
    let is_file = |member: &&Listed<'_>| member.kind == MemberKind::File && member.array.is_none();
    let by_name: HashMap<&str, &Listed<'_>> =
        members.iter().filter(is_file).map(|member| (member.name, member)).collect();
    let facts = members.iter().filter_map(|member| member.array.as_ref());
    let dimensions: HashSet<&str> =
        facts.flat_map(|array| &array.dimensions).flatten().map(|name| split(name).1).collect();
    let subject = |member: &'a Listed<'a>| {
        let array = member.array.as_ref()?;
        let names = [".yaml", ".yml"].map(|end| format!("{}{end}", stem(member.name)));
        let description = names.iter().find_map(|name| by_name.get(&**name)).copied();
        let own = split(stem(member.name)).1;
        let is_coordinate = array.shape.len() == 1 && dimensions.contains(own);
        Some(Subject { member, array, description, is_coordinate })
    };
    let mut arrays: Vec<_> = members.iter().filter_map(subject).collect();
    arrays.sort_by(|subject, other_subject| {
        let [(group, name), (other_group, other)] =
            [subject, other_subject].map(|it| split(it.member.name));
        let kinds = other_subject.is_coordinate.cmp(&subject.is_coordinate);
        compare(group, other_group).then(kinds).then_with(|| name.cmp(other))
    });
    let described: HashSet<&str> =
        arrays.iter().filter_map(|subject| Some(subject.description?.name)).collect();
    let is_other = |member: &&Listed<'_>| {
        let is_known = member.array.is_some() || described.contains(member.name);
        !is_known && member.kind != MemberKind::Directory
    };
    let files = members.iter().filter(is_other).collect();
    (arrays, files)
}

fn by_array(findings: &[Finding]) -> BTreeMap<&str, Vec<(usize, &Finding)>> {
    let mut by_array: BTreeMap<&str, Vec<(usize, &Finding)>> = BTreeMap::new();
    for (number, finding) in findings.iter().enumerate().take(head::MOST_FINDINGS) {
        let about = [finding.array.as_deref(), finding.member.as_deref()];
        for name in about.into_iter().flatten().collect::<BTreeSet<_>>() {
            by_array.entry(name).or_default().push((number, finding));
        }
    }
    by_array
}

/// Writes the table of files that are neither arrays nor descriptions of arrays.
fn write_files(
    pack: &Pack,
    files: &[&Listed<'_>],
    descriptions: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let head = html!(
        "<section class=\"files\" id=\"/files\" aria-labelledby=\"/files/title\">\
         <h2 id=\"/files/title\">Other files <span>{}</span></h2>\
         <table><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Bytes</th>\
         <th scope=\"col\">Digest in the manifest</th></tr></thead><tbody>\n",
        grouped(files.len())
    );
    out.write_all(head.0.as_bytes())?;
    for file in files {
        out.write_all(file_row(pack, file)?.0.as_bytes())?;
    }
    out.write_all(b"</tbody></table>")?;
    if descriptions > 0 {
        let count = counted(descriptions, "description");
        write!(out, "<p class=\"n\">{count} not listed: each is shown with its array.</p>")?;
    }
    Ok(out.write_all(b"</section>\n")?)
}

/// Largest part of a title that is shown, in bytes.
const MOST_TITLE: usize = 400;

/// Returns the name and text of the pack's README.
fn readme<'a>(pack: &Pack, files: &[&Listed<'a>]) -> Result<Option<(&'a str, String)>, Error> {
    let of_name = |wanted: &&str| {
        files.iter().find(|file| {
            let is_file = file.kind == MemberKind::File && file.bytes <= READ_README;
            is_file && file.name.eq_ignore_ascii_case(wanted)
        })
    };
    let Some(file) = READMES.iter().find_map(of_name) else { return Ok(None) };
    // An error in the README is among the findings.
    let text = shown(pack.read(file.name))?.ok();
    Ok(text.map(|text| (file.name, String::from_utf8_lossy(&text).into_owned())))
}

fn begin(name: &str, title: Option<&str>) -> Html {
    html!(
        "{}<a class=\"skip\" href=\"#/arrays\">Skip to the arrays</a>\
         <header><p>ra-pack report{}</p><h1>{}</h1></header>",
        page_head(
            // Allows only this script, even if a name or text of the pack were to inject another.
            &format!(
                " img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{}';",
                BASE64_STANDARD.encode(Digest::sha256(JS.as_bytes()).as_bytes())
            ),
            &format!("{name} · ra-pack report"),
            CSS
        ),
        title.map(|_| html!(" · {}", name)),
        title.unwrap_or(name)
    )
}

/// Returns the search and sort controls, which the script makes visible.
fn tools(arrays: usize) -> Html {
    html!(
        "<div class=\"tools\" id=\"/arrays\"><h2>Arrays</h2><form hidden role=\"search\">\
         <input type=\"search\" id=\"/search\" aria-label=\"Search arrays and files\" \
         placeholder=\"Search names, units, types, attributes\" autocomplete=\"off\" spellcheck=\"false\">\
         <kbd aria-hidden=\"true\">/</kbd><label>Sort <select aria-label=\"Sort arrays\">\
         <option value=\"name\">by name</option><option value=\"size\">by size</option>\
         <option value=\"type\">by type</option></select></label></form>\
         <output aria-live=\"polite\">{}</output></div>",
        counted(arrays, "array")
    )
}

fn group_of<'a>(subject: &Subject<'a>) -> &'a str {
    split(subject.member.name).0
}

/// Number of cards that a browser lays out together when they become visible.
const TOGETHER: usize = 50;

/// Writes all cards, group by group. Reads the elements of the first arrays, up to `elements` in total. Returns the
/// arrays that cannot be read.
fn cards(
    context: &CardContext<'_>,
    arrays: &[Subject<'_>],
    mut elements: u64,
    jobs: usize,
    out: &mut dyn Write,
) -> Result<Vec<String>, Failure> {
    let mut unreadable = Vec::new();
    let groups = arrays.chunk_by(|one, other| group_of(one) == group_of(other));
    let mut places = groups.flat_map(places_of);
    let coordinates = arrays.iter().filter(|subject| subject.is_coordinate);
    let coordinates: HashSet<&str> = coordinates.map(|it| stem(it.member.name)).collect();
    // A compressed tar must be read in order, to decode it only once.
    let is_stream = matches!(context.pack.container(), Container::TarGz | Container::TarZst);
    for batch in arrays.chunks(BATCH) {
        let with_reach = batch.iter().map(|subject| {
            let all =
                subject.array.shape.iter().fold(1, |all: u64, next| all.saturating_mul(*next));
            let rest = elements.checked_sub(all.max(subject.member.bytes));
            elements = rest.unwrap_or(elements);
            (subject, rest.is_some())
        });
        let with_reach: Vec<_> = with_reach.collect();
        let at_once = if is_stream { 1 } else { jobs };
        let small = each(at_once, &with_reach, |(subject, is_within)| {
            (subject.member.bytes < ALONE_FROM).then(|| context.card(subject, *is_within, 1))
        });
        let cards = with_reach.iter().zip(small).map(|((subject, is_within), card)| {
            (subject, card.unwrap_or_else(|| context.card(subject, *is_within, jobs)))
        });
        for ((subject, card), place) in cards.zip(&mut places) {
            let (card, is_readable) = card?;
            if !is_readable {
                unreadable.push(subject.member.name.to_owned());
            }
            let group = group_of(subject);
            let begin = place.begins.map(|all| {
                html!(
                    "<section class=\"group\"><details open><summary><h2 id=\"{}/\">{}</h2> \
                     <span>{}</span></summary>{}{}\n",
                    Id(group),
                    if group.is_empty() { "/" } else { group },
                    counted(all.len(), "array"),
                    context
                        .attributes
                        .get(group)
                        .filter(|_| !group.is_empty())
                        .and_then(|own| { card::attributes(own, "Attributes of the group") }),
                    dimensions(all, &coordinates)
                )
            });
            let PositionInGroup { nth, all, .. } = place;
            let kind = if subject.is_coordinate { "Coordinates" } else { "Variables" };
            let part = (nth == 0).then(|| html!("<section class=\"part\"><h3>{}</h3>", kind));
            // Before the layout, estimates the height from the number of cards.
            let together = (nth % TOGETHER == 0).then(|| (all - nth).min(TOGETHER));
            let together =
                together.map(|count| html!("<div class=\"u\" style=\"--n:{}\">\n", count));
            let end = if place.ends {
                html!("</div></section></details></section>\n")
            } else if nth + 1 == all {
                html!("</div></section>")
            } else if nth % TOGETHER == TOGETHER - 1 {
                html!("</div>")
            } else {
                Html::default()
            };
            out.write_all(html!("{}{}{}{}{}", begin, part, together, card, end).0.as_bytes())?;
        }
    }
    Ok(unreadable)
}

/// Position of an array in its group.
struct PositionInGroup<'a, 's> {
    /// All arrays of the group, for its first array.
    begins: Option<&'a [Subject<'s>]>,
    /// Index among the coordinates or the variables of the group.
    nth: usize,
    /// Number of coordinates or variables of the group.
    all: usize,
    /// Whether the array is the last of the group.
    ends: bool,
}

fn places_of<'a, 's>(group: &'a [Subject<'s>]) -> impl Iterator<Item = PositionInGroup<'a, 's>> {
    let coordinates = group.partition_point(|subject| subject.is_coordinate);
    (0..group.len()).map(move |at| {
        let (nth, all) = match at.checked_sub(coordinates) {
            None => (at, coordinates),
            Some(nth) => (nth, group.len() - coordinates),
        };
        PositionInGroup {
            begins: (at == 0).then_some(group),
            nth,
            all,
            ends: at + 1 == group.len(),
        }
    })
}

/// Returns the dimensions of a group, with lengths and links to coordinates.
fn dimensions(group: &[Subject<'_>], coordinates: &HashSet<&str>) -> Option<Html> {
    let given = group.iter().filter(|subject| subject.is_coordinate);
    let given = given.filter_map(|Subject { member, array, .. }| {
        Some(((split(stem(member.name)).1, *array.shape.first()?), split(stem(member.name)).1))
    });
    let named = group.iter().flat_map(|Subject { array, .. }| {
        let names = array.dimensions.iter().zip(&array.shape);
        names.filter_map(|(name, extent)| Some(((split((*name)?).1, *extent), (*name)?)))
    });
    let all: BTreeMap<(&str, u64), &str> = named.chain(given).collect();
    let path = group.first().map(group_of).unwrap_or_default();
    let one = |((name, extent), stated): (&(&str, u64), &&str)| {
        let name = match coordinate_of(stated, path, coordinates) {
            Some(coordinate) => html!("<a href=\"#{}\">{}</a>", Id(coordinate), *name),
            None => html!("{}", *name),
        };
        html!("<span>{} {}</span> ", name, grouped(*extent))
    };
    let all: Vec<_> = all.iter().map(one).collect();
    (!all.is_empty()).then(|| html!("<p class=\"dims\"><b>Dimensions</b> {}</p>", all))
}

/// Resolves a name or path to a coordinate: the nearest in the group and those above it.
fn coordinate_of<'a>(name: &str, group: &str, coordinates: &HashSet<&'a str>) -> Option<&'a str> {
    if let Some(path) = name.strip_prefix('/') {
        return coordinates.get(path).copied();
    }
    let mut group = group;
    loop {
        let path = if group.is_empty() { name.to_owned() } else { format!("{group}/{name}") };
        let found = coordinates.get(&*path);
        if found.is_some() || group.is_empty() {
            return found.copied();
        }
        group = split(group).0;
    }
}

/// Returns a row of the table of other files.
fn file_row(pack: &Pack, file: &Listed<'_>) -> Result<Html, Error> {
    let kind = match file.kind {
        MemberKind::Directory => html!("/"),
        MemberKind::Link => html!(" <span class=\"w\">link</span>"),
        MemberKind::Special => html!(" <span class=\"w\">special file</span>"),
        _ => Html::default(),
    };
    let is_file = file.kind == MemberKind::File;
    let digest = is_file.then(|| digest(pack, file.name, "")).transpose()?;
    Ok(html!(
        "<tr><td>{}{}</td><td>{}</td><td>{}</td></tr>\n",
        file.name,
        kind,
        grouped(file.bytes),
        digest
    ))
}

fn end() -> Html {
    // No other date, so that the same pack gives the same page.
    let made = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse::<u64>().ok());
    let made = made.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    let date = made.map(|made| Timestamp::from(made).date());
    html!(
        "</main></div><footer><p>Made by ra-pack {}{}. This page needs no network and asks for none.</p>\
         </footer><script>{}</script></body></html>\n",
        env!("CARGO_PKG_VERSION"),
        date.map(|date| format!(" on {date}")),
        Html(JS.to_owned())
    )
}

/// Largest number of groups that a tree shows unfolded.
const MANY: usize = 60;

/// Group of the tree.
#[derive(Debug)]
struct ArrayGroup<'a> {
    /// Path without slashes around it; empty for the root.
    path: &'a str,
    /// Number of arrays directly in the group.
    own: usize,
    /// Number of arrays in the group and below.
    all: usize,
}

/// Compares paths by component, so that groups are followed by their subgroups.
fn compare(one: &str, other: &str) -> Ordering {
    one.split('/').cmp(other.split('/'))
}

fn depth(path: &str) -> usize {
    if path.is_empty() { 0 } else { path.split('/').count() }
}

/// Returns the groups of arrays, given in order, and the groups above them.
fn groups<'a>(of_arrays: impl Iterator<Item = &'a str>) -> Vec<ArrayGroup<'a>> {
    let mut groups = vec![ArrayGroup { path: "", own: 0, all: 0 }];
    // Groups that contain the array, from the root.
    let mut around = vec![(0, "")];
    for path in of_arrays {
        around.truncate(around.partition_point(|(_, above)| {
            let rest = path.strip_prefix(above);
            rest.is_some_and(|rest| above.is_empty() || rest.is_empty() || rest.starts_with('/'))
        }));
        let known = around.last().map_or(0, |(_, above)| above.len());
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends.filter(|end| *end > known) {
            let (path, _) = path.split_at(end);
            around.push((groups.len(), path));
            groups.push(ArrayGroup { path, own: 0, all: 0 });
        }
        for (nth, above) in &around {
            let group = groups.get_mut(*nth).expect("it was added before");
            group.all += 1;
            group.own += usize::from(*above == path);
        }
    }
    groups
}

/// Returns the tree, with links to groups that hold arrays directly.
fn tree(groups: &[ArrayGroup<'_>]) -> Html {
    let item = |(nth, group): (usize, &ArrayGroup<'_>)| {
        let own = depth(group.path);
        let next = groups.get(nth + 1).map_or(0, |next| depth(next.path));
        let name = if group.path.is_empty() { "/" } else { split(group.path).1 };
        let name = match group.own {
            0 => html!("{}", name),
            _ => html!("<a href=\"#{}/\">{}</a>", Id(group.path), name),
        };
        let (all, is_open) = (grouped(group.all), own == 0 || groups.len() <= MANY);
        if next > own {
            let open = if is_open { " open" } else { "" };
            return html!(
                "<li><details{}><summary>{} <span>{}</span></summary><ul>",
                open,
                name,
                all
            );
        }
        let ends = (next..own).map(|_| html!("</ul></details></li>")).collect::<Vec<_>>();
        html!("<li>{} <span>{}</span></li>{}", name, all, ends)
    };
    html!("<ul>{}</ul>", groups.iter().enumerate().map(item).collect::<Vec<_>>())
}

/// Runs `work` for each of `items` on `jobs` threads.
fn each<I: Sync, T: Send>(jobs: usize, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let work = |items: &[I]| items.iter().map(&work).collect::<Vec<_>>();
    let parts = items.chunks(items.len().div_ceil(jobs).max(1));
    thread::scope(|scope| {
        let begun = parts.map(|part| {
            let thread = thread::Builder::new().spawn_scoped(scope, || work(part));
            // If the system has no more threads, this one does the work.
            thread.map_err(|_| work(part))
        });
        let ended = begun.collect::<Vec<_>>().into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(done) => done,
        });
        ended.flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut paths: Vec<&str>) -> Vec<&str> {
        paths.sort_by(|one, other| compare(one, other));
        paths
    }

    #[test]
    fn parent_groups_count_all_arrays_below() {
        let paths = sorted(vec!["a/b/c", "", "a-b", "a/b/c", "a", "z/y"]);
        let groups = groups(paths.into_iter());
        let counts: Vec<_> =
            groups.iter().map(|group| (group.path, group.own, group.all)).collect();
        let expected = [
            ("", 1, 6),
            ("a", 1, 3),
            ("a/b", 0, 2),
            ("a/b/c", 2, 2),
            ("a-b", 1, 1),
            ("z", 0, 1),
            ("z/y", 1, 1),
        ];
        assert_eq!(counts, expected);
    }

    #[test]
    fn a_dimension_has_the_nearest_coordinate() {
        let coordinates = HashSet::from(["time", "a/b/time", "a/x"]);
        let cases = [
            ("time", "a/b", Some("a/b/time")),
            ("time", "a", Some("time")),
            ("/time", "a/b", Some("time")),
            ("x", "a/b/c", Some("a/x")),
            ("x", "", None),
        ];
        for (name, group, expected) in cases {
            assert_eq!(coordinate_of(name, group, &coordinates), expected, "{name} in {group}");
        }
    }

    #[test]
    fn all_elements_of_the_tree_are_closed() {
        for paths in [vec![], vec!["a/b/c/d"], vec!["", "a", "a/b", "c"], vec!["x/y", "x/z/w"]] {
            let html = tree(&groups(sorted(paths).into_iter()));
            for (begin, end) in [("<ul>", "</ul>"), ("<li>", "</li>"), ("<details", "</details>")] {
                let count = |what: &str| html.0.matches(what).count();
                assert_eq!(count(begin), count(end), "{}", html.0);
            }
        }
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        for jobs in [1, 2, 7] {
            assert_eq!(
                each(jobs, &items, |item| item * 2),
                (0..1000).map(|n| n * 2).collect::<Vec<_>>()
            );
        }
    }
}
