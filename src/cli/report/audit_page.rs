//! The page of an audit, in the style of the page about a pack.

use std::io::{self, Write};

use ra_pack::audit::{AuditReport, AuditState, AuditedTarget};
use ra_pack::time::Timestamp;

use super::super::audit::{last_good, store, summary};
use super::super::text::grouped;
use super::{CSS, Html, html, page_head};

/// Columns as wide as their texts.
const WIDTHS: &str = ".a th, .a td, .a td:last-child { width: auto; padding-right: 1rem; }";

/// Number of rows that are written together.
const ROWS: usize = 1000;

/// Writes the page: the verdict, the numbers, and a table of all packs, those that need attention first.
pub(in super::super) fn write_audit(report: &AuditReport, out: &mut dyn Write) -> io::Result<()> {
    let (class, mark) = match (report.needs_attention(), report.targets.is_empty()) {
        (_, true) => ("open", "?"),
        (true, _) => ("bad", "✗"),
        (false, _) => ("good", "✓"),
    };
    let counts = report.counts.iter().map(|(state, count)| fact(state.text(), *count));
    let lines = [("lines read", report.lines), ("lines skipped", report.corrupt_lines)];
    let facts = counts.chain(lines.map(|(name, count)| fact(name, count)));
    let codes = report.codes.iter();
    let codes: Vec<Html> = codes
        .map(|(code, count)| html!("<span><code>{}</code> <i>{}</i></span>", code, grouped(*count)))
        .collect();
    let codes = (!codes.is_empty())
        .then(|| html!("<p class=\"types\"><b>Errors, by packs</b>{}</p>", codes));
    let start = html!(
        "{}<header><p>ra-pack audit</p><h1>{}</h1></header>\
         <div class=\"page\"><main><section class=\"verdict {}\"><p class=\"mark\"><span \
         aria-hidden=\"true\">{}</span> <b>{}</b></p></section><dl class=\"facts\">{}</dl>{}\
         <table class=\"a\"><thead><tr><th>Pack</th><th>State</th><th>Last good</th><th>Signed by</th><th>Existed at</th><th>Store</th><th>Reason</th></tr>\
         </thead><tbody>\n",
        page_head(" style-src 'unsafe-inline';", "ra-pack audit", &[CSS, WIDTHS].concat()),
        report.time.to_string(),
        class,
        mark,
        summary(report),
        facts.collect::<Vec<_>>(),
        codes
    );
    out.write_all(start.0.as_bytes())?;
    let mut targets: Vec<&AuditedTarget> = report.targets.iter().collect();
    targets.sort_by_key(|target| target.state);
    for targets in targets.chunks(ROWS) {
        let rows: String = targets.iter().map(|target| row(target).0).collect();
        out.write_all(rows.as_bytes())?;
    }
    let end = html!(
        "</tbody></table></main></div><footer><p>Made by ra-pack {} at {}. This page needs no network and asks for \
         none.</p></footer></body></html>\n",
        env!("CARGO_PKG_VERSION"),
        report.time.to_string()
    );
    out.write_all(end.0.as_bytes())
}

fn fact(name: &str, count: u64) -> Html {
    html!("<div><dt>{}</dt><dd>{}</dd></div>", name, grouped(count))
}

fn row(target: &AuditedTarget) -> Html {
    let state = match target.state {
        AuditState::Good => html!("{}", target.state.text()),
        _ => html!("<b>{}</b>", target.state.text()),
    };
    html!(
        "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        target.target,
        state,
        last_good(target),
        target.signed_by.join("; "),
        target.existed_at.map(Timestamp::date).unwrap_or_default(),
        store(target).unwrap_or_default(),
        target.reason.as_deref().unwrap_or_default()
    )
}
