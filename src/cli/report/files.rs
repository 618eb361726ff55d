//! The files of a pack that are neither arrays nor their descriptions.

use ra_pack::{Listed, MemberKind, Pack, escape};

use super::html::Html;
use super::numbers::{counted, grouped};

/// The section with all of them.
pub(super) fn begin(files: usize, html: &mut Html) {
    html.raw("<section class=\"files\" id=\"/files\" aria-labelledby=\"/files/title\"><h2 id=\"/files/title\">Other files <span>");
    html.text(grouped(files)).raw("</span></h2>");
    html.raw("<table><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Bytes</th><th scope=\"col\">Digest in the manifest</th></tr></thead><tbody>\n");
}

pub(super) fn row(pack: &Pack, file: &Listed<'_>) -> Html {
    let mut html = Html::default();
    html.raw("<tr><td>").text(escape(file.name));
    match file.kind {
        MemberKind::File => {}
        MemberKind::Directory => {
            html.raw("/");
        }
        MemberKind::Link => {
            html.raw(" <span class=\"w\">link</span>");
        }
        MemberKind::Special => {
            html.raw(" <span class=\"w\">special file</span>");
        }
    }
    html.raw("</td><td>").text(grouped(file.size)).raw("</td><td>");
    let digest = match file.kind {
        MemberKind::File => pack.array(file.name).and_then(|it| it.listed_digest()).ok().flatten(),
        _ => None,
    };
    if let Some(digest) = digest {
        html.text(digest.algorithm().name()).raw(" <code>").text(digest).raw("</code>");
    }
    html.raw("</td></tr>\n");
    html
}

/// The end, with what is not in the table.
pub(super) fn end(descriptions: usize, html: &mut Html) {
    html.raw("</tbody></table>");
    if descriptions > 0 {
        html.raw("<p class=\"n\">").text(counted(descriptions, "description"));
        html.raw(" not listed here: each stands with its array.</p>");
    }
    html.raw("</section>\n");
}
