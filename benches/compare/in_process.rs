//! Zip readers as separate programs, so that `get` is compared with cold processes.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn role(arguments: &[String]) -> ExitCode {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [reader, archive, member, out] = words[..] else { panic!("not a reader: {words:?}") };
    let mut out = File::create(out).unwrap();
    match reader {
        "zip" => {
            let mut archive = zip::ZipArchive::new(File::open(archive).unwrap()).unwrap();
            let mut member = archive.by_name(member).unwrap();
            io::copy(&mut member, &mut out).unwrap();
        }
        "rawzip" => {
            with_rawzip(Path::new(archive), member, |mut content| {
                io::copy(&mut content, &mut out).unwrap();
            });
        }
        other => panic!("no such reader: {other}"),
    }
    ExitCode::SUCCESS
}

/// Finds the end record, searches the directory for a name, and reads that member: the minimum for reading one member.
pub(crate) fn with_rawzip(archive: &Path, name: &str, read: impl FnOnce(&mut dyn io::Read)) {
    let file = File::open(archive).unwrap();
    let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
    let archive = rawzip::ZipArchive::from_file(file, &mut buffer).unwrap();
    let mut found = None;
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().unwrap() {
        if entry.file_path().as_bytes() == name.as_bytes() {
            found = Some(entry.wayfinder());
            break;
        }
    }
    let entry = archive.get_entry(found.expect("no such member")).unwrap();
    read(&mut entry.verifying_reader(entry.reader()));
}
