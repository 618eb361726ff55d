//! The groups of a pack: in what order they stand, and the tree of them.

use std::cmp::Ordering;

use ra_pack::escape;

use super::card::split;
use super::html::Html;
use super::numbers::grouped;

/// Groups that a tree shows before those below the first are folded.
const MANY: usize = 60;

/// One group.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// Without slashes around it; empty for the root.
    pub(super) path: &'a str,
    /// Arrays in it itself.
    pub(super) own: usize,
    /// Arrays in it and below.
    all: usize,
}

/// By the parts of a path, so that what is below a group follows it.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    one.split('/').cmp(other.split('/'))
}

fn depth(path: &str) -> usize {
    if path.is_empty() { 0 } else { path.split('/').count() }
}

/// The groups of arrays whose groups are given in order, with those above them.
pub(super) fn groups<'a>(of_arrays: impl Iterator<Item = &'a str>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = vec![Group { path: "", own: 0, all: 0 }];
    for path in of_arrays {
        if let Some(last) = groups.last_mut()
            && last.path == path
        {
            last.own = last.own.saturating_add(1);
            continue;
        }
        // Those above it that are not there yet.
        let last = groups.last().map_or("", |group| group.path);
        for (at, _) in path.match_indices('/') {
            let (above, _) = path.split_at(at);
            if last != above && !last.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
            {
                groups.push(Group { path: above, own: 0, all: 0 });
            }
        }
        groups.push(Group { path, own: 1, all: 0 });
    }
    count(&mut groups);
    groups
}

/// Adds what is below each.
fn count(groups: &mut [Group<'_>]) {
    let mut below: Vec<usize> = Vec::new();
    for group in groups.iter_mut().rev() {
        let depth = depth(group.path);
        let children: usize = below.get(depth.saturating_add(1)..).unwrap_or_default().iter().sum();
        group.all = group.own.saturating_add(children);
        below.resize(depth.saturating_add(1), 0);
        if let Some(all) = below.get_mut(depth) {
            *all = all.saturating_add(group.all);
        }
    }
}

/// The tree, with links to the groups that hold arrays themselves.
pub(super) fn draw(groups: &[Group<'_>], html: &mut Html) {
    html.raw("<ul>");
    for (nth, group) in groups.iter().enumerate() {
        let own = depth(group.path);
        let next = groups.get(nth.saturating_add(1)).map_or(0, |next| depth(next.path));
        let has_more = next > own;
        html.raw("<li>");
        if has_more {
            let is_open = own == 0 || groups.len() <= MANY;
            html.raw(if is_open { "<details open>" } else { "<details>" }).raw("<summary>");
        }
        label(group, html);
        if has_more {
            html.raw("</summary><ul>");
            continue;
        }
        html.raw("</li>");
        for _ in next..own {
            html.raw("</ul></details></li>");
        }
    }
    html.raw("</ul>");
}

fn label(group: &Group<'_>, html: &mut Html) {
    let (_, last) = split(group.path);
    let name = if group.path.is_empty() { "/" } else { last };
    if group.own > 0 {
        html.raw("<a href=\"#").id(group.path).raw("/\">").text(escape(name)).raw("</a>");
    } else {
        html.text(escape(name));
    }
    html.raw(" <span>").text(grouped(group.all)).raw("</span>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut paths: Vec<&str>) -> Vec<&str> {
        paths.sort_by(|one, other| compare(one, other));
        paths
    }

    #[test]
    fn groups_above_are_there_and_count_all_below() {
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
    fn the_tree_ends_all_that_it_begins() {
        for paths in [vec![], vec!["a/b/c/d"], vec!["", "a", "a/b", "c"], vec!["x/y", "x/z/w"]] {
            let mut html = Html::default();
            draw(&groups(sorted(paths).into_iter()), &mut html);
            for (begin, end) in [("<ul>", "</ul>"), ("<li>", "</li>"), ("<details", "</details>")] {
                let count = |what: &str| html.as_str().matches(what).count();
                assert_eq!(count(begin), count(end), "{}", html.as_str());
            }
        }
    }
}
