//! What each array will be: its name, the order of its elements, what its description says.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::form::Form;
use super::item::{Item, stem};
use super::names::give_all;
use super::options::ConvertOptions;
use super::report::Converted;
use crate::error::{Error, Result};
use crate::fs;
use crate::ndl::{Extent, Order};
use crate::pack::{self, ARRAY_EXTENSION};
use crate::ra::Header;

/// One array that will be written.
pub(super) struct Planned {
    /// Its place among the items of the source.
    pub(super) index: usize,
    /// The header of the elements as the source gives them; none where all of them are in the description.
    pub(super) original: Option<Header>,
    /// Whether its axes are reversed on the way.
    pub(super) reverse: bool,
    /// As it will be.
    pub(super) item: Item,
    /// What it will be called: the name of a file without extension, or a key.
    pub(super) name: String,
    pub(super) converted: Converted,
}

/// Whether the names of coordinates mean something where the output will be.
pub(super) fn carries_names(
    input: &Path,
    output: &Path,
    from: Form,
    to: Form,
    options: &ConvertOptions,
) -> bool {
    match (from, to) {
        _ if options.member.is_some() => false,
        (Form::Ra, Form::Ra) => fs::are_neighbours(input, output),
        (Form::Pack(_) | Form::Ds, Form::Pack(_) | Form::Ds) => true,
        _ => false,
    }
}

/// Plans the items at the `chosen` places.
pub(super) fn plan(
    items: &[Item],
    chosen: &[usize],
    output: &Path,
    from: Form,
    to: Form,
    options: &ConvertOptions,
    carries_names: bool,
) -> Result<Vec<Planned>> {
    let name_of = |index: &usize| items.get(*index).map_or("", |item| item.name.as_str());
    let given = give_all(&chosen.iter().map(name_of).collect::<Vec<_>>());
    let mut planned = Vec::with_capacity(chosen.len());
    let mut renamed = HashMap::new();
    for (&index, given) in chosen.iter().zip(given) {
        let Some(item) = items.get(index) else { continue };
        let name = match to {
            Form::Pack(_) => given,
            Form::Npz | Form::Ds => item.name.clone(),
            Form::Ra | Form::Npy | Form::Png => {
                output.file_stem().unwrap_or_default().to_string_lossy().into_owned()
            }
        };
        if matches!(to, Form::Pack(_)) && from == Form::Ds && item.is_coordinate {
            // In a pack a name with slashes is a path.
            let is_same = name == item.name && !name.contains('/');
            let path = if is_same { name.clone() } else { format!("/{name}") };
            renamed.insert(item.name.clone(), path);
        }
        planned.push(plan_one(index, item, name, output, from, to, options));
    }
    if to == Form::Ds && from != Form::Ds {
        let known: HashSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
        for Planned { item, .. } in &mut planned {
            name_by_path(item, &known);
        }
    }
    for Planned { item, converted, .. } in &mut planned {
        if !carries_names {
            let names = item.fix_extents();
            if !names.is_empty() {
                let names = names.join(", ");
                converted.losses.push(format!("the names of its axes ({names}) are left out"));
            }
        }
        for extent in &mut item.description.shape {
            if let Extent::Coord(coordinate) = extent
                && let Some(name) = renamed.get(coordinate)
            {
                coordinate.clone_from(name);
            }
        }
    }
    if planned.is_empty() {
        return Err(Error::Unsupported("there are no arrays to convert".to_owned()));
    }
    Ok(planned)
}

/// Calls coordinates by their paths in the pack: where there are no groups, those are their names.
fn name_by_path(item: &mut Item, known: &HashSet<&str>) {
    let group = match item.name.rsplit_once('/') {
        Some((group, _)) => format!("/{group}"),
        None => "/".to_owned(),
    };
    for extent in &mut item.description.shape {
        let Extent::Coord(name) = extent else { continue };
        let paths = pack::candidates(&group, name);
        let found = paths.iter().map(|path| path.trim_start_matches('/'));
        let found = found.into_iter().find(|path| known.contains(path));
        *name = found.unwrap_or(stem(name)).to_owned();
    }
}

fn plan_one(
    index: usize,
    source: &Item,
    name: String,
    output: &Path,
    from: Form,
    to: Form,
    options: &ConvertOptions,
) -> Planned {
    let mut item = source.clone();
    let mut losses = std::mem::take(&mut item.losses);
    if !to.is_rawarray() && to != Form::Ds && !item.shared.is_empty() {
        let names: Vec<_> = item.shared.iter().map(|attribute| attribute.name.as_str()).collect();
        losses.push(format!("the attributes of its group ({}) are left out", names.join(", ")));
    }
    let now = item.description.order();
    let wanted = match (to, options.order) {
        (Form::Ds | Form::Png, _) => Order::Row,
        (_, Some(order)) => order,
        (to, None) if to.is_rawarray() && !from.is_rawarray() => Order::Column,
        (_, None) => now,
    };
    let reverse = item.put_in(wanted);
    if to == Form::Ds {
        item.description.name.clone_from(&name);
    } else if to.is_rawarray() {
        stem(&name).clone_into(&mut item.description.name);
    }
    let to_name = match to {
        Form::Pack(_) if item.header.is_some() => format!("{name}.{ARRAY_EXTENSION}"),
        Form::Pack(_) | Form::Npz | Form::Ds => name.clone(),
        Form::Ra | Form::Npy | Form::Png => {
            output.file_name().unwrap_or_default().to_string_lossy().into_owned()
        }
    };
    let element = match &item.header {
        Some(header) => header.element().to_string(),
        None => "string".to_owned(),
    };
    let converted = Converted {
        from: source.name.clone(),
        renamed: to.holds_many() && name != source.name,
        to: to_name,
        element,
        shape: item.extents(),
        order: item.description.order().word(),
        reordered: reverse,
        verified: false,
        trailing: 0,
        losses,
    };
    let original = source.header.clone();
    Planned { index, original, reverse, item, name, converted }
}
