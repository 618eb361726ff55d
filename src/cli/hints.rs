//! Next steps after mistakes in the arguments of a command.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use ra_pack::{Container, Error};

use super::shell;

/// Arguments of other programs, or without quotes: the command, the option, or nothing for a word, and a tip.
const TIPS: [(&str, &str, &str); 2] = [
    ("plot", "--vmin", "--range LOW:HIGH limits the values"),
    ("describe", "", "quote a value with spaces; names of dimensions have commas between them"),
];

/// Returns a tip for an argument that clap does not expect.
pub(super) fn tip(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let argument =
        error.get(ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument);
    let Some(ContextValue::String(argument)) = argument else { return None };
    let at = words.iter().position(|word| **word == **argument);
    if let Some(at) = at.filter(|_| Container::from_extension(Path::new(argument)).is_some())
        && is_one_of(words, &["create"])
    {
        let mut words = words.to_vec();
        words.insert(at, "-o".into());
        let command = line(&words);
        return Some(format!("name the archive after -o: `{command}`"));
    }
    let option = if argument.starts_with('-') { argument } else { "" };
    let mut tips = TIPS.iter().filter(|(command, ..)| is_one_of(words, &[command]));
    tips.find(|(_, of, _)| *of == option).map(|(.., tip)| (*tip).to_owned())
}

/// Returns the command with the pack before the name in it, if a pack is given after a file that does not exist.
pub(super) fn pack_first(error: &Error, words: &[OsString]) -> Option<String> {
    let Error::Io { path, source, .. } = error else { return None };
    let at = words.iter().position(|word| Path::new(word) == path)?;
    let mut words = words.to_vec();
    let is_pack = words.get(at + 1).is_some_and(|pack| ra_pack::files::is_pack(pack).is_ok());
    let takes_names = is_one_of(&words, &["show", "info", "get", "plot", "list", "extract"]);
    (is_pack && takes_names && source.kind() == io::ErrorKind::NotFound).then(|| {
        words.swap(at, at + 1);
        format!("the pack comes first: `{}`", line(&words))
    })
}

fn is_one_of(words: &[OsString], commands: &[&str]) -> bool {
    words.iter().any(|word| commands.iter().any(|command| word == command))
}

/// Formats a command line.
fn line(words: &[OsString]) -> String {
    let words = words.iter().skip(1).map(|word| shell::word(word.as_encoded_bytes()));
    format!("ra-pack {}", words.collect::<Vec<_>>().join(" "))
}
