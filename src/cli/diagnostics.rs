//! Findings and errors as text: the message, the place, the expected and the found value, the next step.

use std::error::Error as _;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ra_pack::convert::ArrayFormat;
use ra_pack::files::FileKind;
use ra_pack::finding::{Excerpt, MANY, Place, count_errors, counts, grouped};
use ra_pack::message::Words;
use ra_pack::path::{escape, escape_path};
use ra_pack::verify::Verdict;
use ra_pack::{Error, Finding, Pack};

use super::output::Output;
use super::shell;
use super::text::counted;

/// Renders one finding of `target`.
pub(crate) fn finding(target: &Path, finding: &Finding, color: bool) -> String {
    let level = if finding.is_error() { Level::ERROR } else { Level::WARNING };
    let title = level.primary_title(clean(&finding.message)).id(finding.code.id());
    let path = place_name(target, finding);
    let mut group = match &finding.excerpt {
        Some(excerpt) => {
            let (text, span) = clean_excerpt(excerpt);
            title.element(
                Snippet::source(text)
                    .line_start(excerpt.first_line)
                    .path(path)
                    .annotation(AnnotationKind::Primary.span(span)),
            )
        }
        None => Group::with_title(title).element(Origin::path(path)),
    };
    // Shown only if neither the member nor the message names the array.
    let array = finding.array.as_ref().filter(|array| {
        finding.member.as_ref() != Some(array) && !finding.message.contains(array.as_str())
    });
    let notes = [
        ("expected", finding.expected.as_ref()),
        ("found", finding.found.as_ref()),
        ("array", array),
    ];
    for (name, text) in notes {
        group = group.elements(text.map(|text| Level::NOTE.with_name(name).message(clean(text))));
    }
    let file = |name: &str| shown_file(target, name);
    let hint = finding.hint.as_ref().map(|hint| hint.naming_files(Words::Command, file));
    group = group.elements(hint.map(|hint| Level::HELP.message(clean(&hint))));
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    format!("{}\n\n", renderer.render(&[group]))
}

/// Returns a file of the target for a command, or the target for an empty name. Files of a directory get their paths.
/// For an archive, the command is for its source directory, which may be anywhere.
fn shown_file(target: &Path, name: &str) -> String {
    match name {
        "" => shell::path(target),
        "/" if target.is_dir() => shell::path(target),
        "/" => "DIR".to_owned(),
        name if target.is_dir() => shell::path(&target.join(name)),
        name => name.to_owned(),
    }
}

/// Formats the target, the member and the place in the member. A snippet adds line and column itself.
/// A file of a directory is named by its path, which editors can open.
fn place_name(target: &Path, finding: &Finding) -> String {
    let mut name = escape_path(target).to_string();
    if let Some(member) = &finding.member
        && *member != target.to_string_lossy()
    {
        name = if target.is_dir() {
            escape(&file_of(target, member).to_string_lossy()).to_string()
        } else {
            format!("{name}: {}", escape(member))
        };
    }
    match finding.place {
        Some(Place::Byte { offset }) => format!("{name}, byte {offset}"),
        Some(Place::Line { line }) => format!("{name}:{line}"),
        Some(Place::Text { line, column, .. }) if finding.excerpt.is_none() => {
            format!("{name}:{line}:{column}")
        }
        _ => name,
    }
}

/// Returns the path of a member of a directory. Names of a bag's payload omit `data/`.
fn file_of(directory: &Path, member: &str) -> PathBuf {
    let path = directory.join(member);
    let payload = directory.join("data").join(member);
    if !path.is_file() && payload.is_file() { payload } else { path }
}

fn clean(text: &str) -> String {
    escape(text).to_string()
}

/// Removes ` (os error 2)` of causes.
pub(super) fn without_numbers(text: &str) -> String {
    const BEFORE: &str = " (os error ";
    let mut parts = text.split(BEFORE);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<i32>().is_ok() => result.push_str(rest),
            _ => result.extend([BEFORE, part]),
        }
    }
    result
}

/// Returns the escaped text of an excerpt and the range of the caret in it. The renderer replaces tabs by spaces.
fn clean_excerpt(excerpt: &Excerpt) -> (String, Range<usize>) {
    let Range { start, end } = excerpt.span;
    let part = |range: Range<usize>| {
        let part = excerpt.text.get(range).unwrap_or_default();
        part.split('\t').map(clean).collect::<Vec<_>>().join("\t")
    };
    let (before, pointed) = (part(0..start), part(start..end));
    let span = before.len()..before.len() + pointed.len();
    (before + &pointed + &part(end..excerpt.text.len()), span)
}

/// Prints findings of a target as messages, and temporary files that an interrupted run left.
pub(crate) fn show(target: &Path, findings: &[Finding], leftovers: &[PathBuf], output: &Output) {
    for one in grouped(findings, MANY) {
        output.message(&finding(target, &one, output.color_err));
    }
    for path in leftovers {
        let path = escape_path(path).to_string();
        output.message(&format!("ra-pack: `{path}` was left by an interrupted run; delete it"));
    }
}

/// Prints findings as a result, each with its target, those of one kind together if there are more than `limit`.
pub(crate) fn print<T: AsRef<Path>>(
    target: impl Fn(&Finding) -> T,
    findings: &[Finding],
    limit: usize,
    output: &Output,
) -> io::Result<()> {
    let text = |one: Finding| finding(target(&one).as_ref(), &one, output.color_out);
    grouped(findings, limit).try_for_each(|one| output.result(&text(one)))
}

/// Formats the numbers of errors and warnings, without those that are 0.
pub(crate) fn counts_text(findings: &[Finding]) -> impl Iterator<Item = String> {
    let (errors, warnings) = counts(findings);
    let counts = [(errors, "error"), (warnings, "warning")].into_iter();
    counts.filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun))
}

/// Formats the verdict on a target: `valid` if there is no error.
pub(crate) fn verdict(findings: &[Finding], valid: &str) -> String {
    let verdict = match Verdict::of(findings, true) {
        Verdict::NotValid => "NOT VALID".to_owned(),
        Verdict::NotVerified => "not verified".to_owned(),
        _ => valid.to_owned(),
    };
    std::iter::once(verdict).chain(counts_text(findings)).collect::<Vec<_>>().join(", ")
}

/// Formats patterns: "`a` or `b`".
pub(crate) fn alternatives(patterns: &[String]) -> String {
    let patterns = patterns.iter().map(|pattern| format!("`{}`", escape(pattern)));
    patterns.collect::<Vec<_>>().join(" or ")
}

/// Returns the message that no `noun` of the target matches the patterns, or that it has none.
pub(crate) fn nothing_matches(target: &Path, noun: &str, patterns: &[String]) -> String {
    let near = match patterns {
        [name] => meant(target, name),
        _ => None,
    };
    let near = near.map_or_else(String::new, |name| format!("; did you mean `{}`?", escape(&name)));
    let shown = escape_path(target).to_string();
    let target = shell::path(target);
    let next = format!("`ra-pack list {target}` lists the members");
    if patterns.is_empty() {
        return format!("ra-pack: `{shown}` has no {noun}s\n  next: {next}");
    }
    let patterns = alternatives(patterns);
    format!("ra-pack: no {noun} of `{shown}` matches {patterns}{near}\n  next: {next}")
}

/// Suggests a member for a name without a match.
fn meant(target: &Path, name: &str) -> Option<String> {
    match Pack::open(target).ok()?.resolve(name) {
        Ok(name) => Some(name),
        Err(Error::NoSuchMember { suggestion, .. }) => suggestion,
        Err(_) => None,
    }
}

/// Formats an error with its causes and the next step: `next`, or the one that [`next_step`] knows.
pub(crate) fn error(error: &Error, next: Option<String>) -> String {
    let lines =
        |text: &str| without_numbers(text).lines().map(clean).collect::<Vec<_>>().join("\n");
    let what = match error {
        // The findings are printed before.
        Error::Refused { path, findings } => {
            let errors = match count_errors(findings) {
                0 => "warnings treated as errors".to_owned(),
                errors => counted(errors, "error"),
            };
            format!("{errors} in `{}`", escape_path(path))
        }
        error => error.message().in_words(Words::Command),
    };
    let plain = error.to_string();
    let mut text = format!("ra-pack: {}\n", lines(&what));
    let mut source = error.source();
    while let Some(cause) = source {
        let line = lines(&cause.to_string());
        if !plain.contains(&cause.to_string()) && !text.contains(&line) {
            text.push_str("  caused by: ");
            text.push_str(&line);
            text.push('\n');
        }
        source = cause.source();
    }
    if let Some(next) = next.or_else(|| next_step(error)) {
        text.push_str("  next: ");
        text.push_str(&next);
        text.push('\n');
    }
    text
}

/// Advice for a file in a format that ra-pack does not read.
const OTHER_FORMATS: &str =
    "save the arrays as .npy or NetCDF files with Python, and convert those";

/// Suggests a command for the file that the error is about.
fn next_step(error: &Error) -> Option<String> {
    let path = match error {
        Error::NotAPack { path, .. } => path.as_path(),
        Error::NotAnArray { name, .. } => Path::new(name),
        Error::NoSuchMember { archive, .. } | Error::SeveralMembers { archive, .. } => {
            return Some(format!("`ra-pack list {}` lists the members", shell::path(archive)));
        }
        Error::Io { action, path, .. }
            if !matches!(*action, "write" | "delete")
                && (path == Path::new("-") || path.to_string_lossy().contains("://")) =>
        {
            let next = "ra-pack reads files and https, http, s3, gs, az and abfs URLs; write anything else to a file first";
            return Some(next.to_owned());
        }
        Error::Io { path, source, .. } if source.kind() == io::ErrorKind::NotADirectory => {
            // A member given as part of the path of an archive.
            let file = path.ancestors().find(|above| above.is_file())?;
            let member =
                path.strip_prefix(file).ok().filter(|name| name.components().count() > 0)?;
            let words = [shell::path(file), shell::path(member)];
            return Some(format!(
                "`{}` is a file; give the member as a separate argument: `ra-pack info {}`",
                escape_path(file),
                words.join(" ")
            ));
        }
        Error::SliceText { slice, dimensions, .. } => return by_coordinate(slice, dimensions),
        Error::IsDirectory { archive, member, .. } => {
            let (archive, member) = (shell::path(archive), shell::word(member.as_bytes()));
            return Some(format!("`ra-pack extract {archive} {member} -C DIR` unpacks it"));
        }
        _ => return None,
    };
    let (Error::NotAPack { kind, .. } | Error::NotAnArray { kind, .. }) = error else {
        return None;
    };
    let is_table = || path.extension().is_some_and(|end| end == "csv" || end == "tsv");
    if matches!(kind, FileKind::Other(_)) || (*kind == FileKind::Text && is_table()) {
        return Some(OTHER_FORMATS.to_owned());
    }
    let file = shell::path(path);
    let into = |extension| {
        let to = shell::path(&path.with_extension(extension));
        format!("`ra-pack convert {file} {to}` converts it to RawArray")
    };
    let read_or = |next| format!("`ra-pack show {file}` reads it; {next}");
    let is_named = |format: &ArrayFormat| {
        let is_foreign = matches!(kind, FileKind::NetCdf | FileKind::Hdf5);
        path.is_file() && matches!(format, ArrayFormat::NetCdf | ArrayFormat::Hdf5) == is_foreign
    };
    match ArrayFormat::from_extension(path).filter(is_named)? {
        ArrayFormat::Ra => Some(format!("`ra-pack info {file}` and `ra-pack show {file}` read it")),
        ArrayFormat::Png => Some(into("ra")),
        ArrayFormat::Npy => Some(read_or(into("ra"))),
        ArrayFormat::Npz | ArrayFormat::Ds | ArrayFormat::NetCdf | ArrayFormat::Hdf5 => {
            Some(read_or(into("zip")))
        }
        _ => None,
    }
}

/// Suggests what selects the elements that a slice cannot: those in a list, or with these values of coordinates.
fn by_coordinate(slice: &str, dimensions: &[(Option<String>, u64)]) -> Option<String> {
    if slice.contains('[') {
        let next = "a slice has no lists of indices; give a range such as 1:9:2, or select by coordinate with --sel";
        return Some(next.to_owned());
    }
    let parts = ra_pack::ra::split_slice(slice, dimensions.len()).ok()?;
    let is_number = |text: &str| text.trim().is_empty() || text.trim().parse::<i128>().is_ok();
    let is_value = |part: &str| !part.contains('=') && !part.split(':').all(is_number);
    let named = parts.into_iter().zip(dimensions).filter(|(part, _)| is_value(part));
    let word = |text: &str| shell::word(text.as_bytes());
    let values =
        named.filter_map(|(part, (name, _))| Some([word(name.as_ref()?), word(part)].join("=")));
    let values = values.collect::<Vec<_>>().join(",");
    (!values.is_empty()).then(|| format!("`--sel {values}` selects by the values of coordinates"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_hints_name_the_target() {
        let (directory, archive) = (std::env::temp_dir(), Path::new("a b.zip"));
        assert_eq!(shown_file(&directory, "a.ra"), directory.join("a.ra").display().to_string());
        assert_eq!(shown_file(&directory, ""), directory.display().to_string());
        assert_eq!(shown_file(archive, "a.ra"), "a.ra");
        assert_eq!(shown_file(archive, ""), "'a b.zip'");
    }

    #[test]
    fn messages_have_no_numbers_of_system_errors() {
        for (text, expected) in [
            ("cannot open `x`: No file (os error 2); or", "cannot open `x`: No file; or"),
            ("an (os error x) (os error", "an (os error x) (os error"),
        ] {
            assert_eq!(without_numbers(text), expected);
        }
    }
}
