//! The baseline: the work that no program can avoid, without any safety.
//!
//! It writes and reads a stored zip with CRC-32 and a SHA-256 manifest on two threads. It reads no headers or
//! descriptions, syncs no files and does not expect hostile input.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;

use memchr::memmem;
use memmap2::Mmap;
use rustix::fs::{Mode, OFlags, openat};
use sha2::{Digest, Sha256};

use super::limit_zip::{
    Entry, directory, local_len, number, put_central, put_end, put_local, read_central,
};

const THREADS: usize = 2;
const BLOCK: usize = 256 << 10;
/// Size up to which a file is read with one call, in bytes.
const SMALL: usize = 1 << 20;
const MANIFEST: &str = "manifest-sha256.txt";

pub(crate) fn role(arguments: &[String]) -> ExitCode {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["create", source, archive] => create(source, archive),
        ["verify", archive] => return verify(archive),
        ["get", archive, member, out] => get(archive, member, out),
        ["extract", archive, target] => extract(archive, Path::new(target)),
        other => panic!("no such baseline: {other:?}"),
    }
    ExitCode::SUCCESS
}

/// Distributes the numbers `0..count` to the threads, `step` at a time.
fn share(
    threads: usize,
    count: usize,
    step: usize,
    work: impl Fn(&mut dyn FnMut() -> Option<usize>) + Sync,
) {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut ready = 0..0;
        work(&mut || {
            if ready.is_empty() {
                let start = next.fetch_add(step, Ordering::Relaxed).min(count);
                ready = start..(start + step).min(count);
            }
            ready.next()
        });
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // With its own descriptor table, a thread does not wait for a shared lock.
                #[cfg(target_os = "linux")]
                nix::sched::unshare(nix::sched::CloneFlags::CLONE_FILES).unwrap();
                run();
            });
        }
    });
}

fn walk(root: &Path, relative: &str, out: &mut Vec<(String, Vec<String>)>) {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(root.join(relative)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let list = if entry.file_type().unwrap().is_dir() { &mut directories } else { &mut files };
        list.push(name);
    }
    files.sort();
    directories.sort();
    if !files.is_empty() {
        out.push((relative.to_owned(), files));
    }
    for name in directories {
        walk(root, &join(relative, &name), out);
    }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut File, buffer: &mut [u8]) -> usize {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]).unwrap() {
            0 => break,
            count => filled += count,
        }
        // A short read means that a small file is complete.
        if filled < SMALL {
            break;
        }
    }
    filled
}

/// The thread whose turn it is to append to the archive, and the offset of its end.
#[derive(Default)]
struct Places {
    next: Mutex<(usize, u64)>,
    taken: Condvar,
}

impl Places {
    fn take(&self, turn: usize, length: u64) -> u64 {
        let mut next =
            self.taken.wait_while(self.next.lock().unwrap(), |next| next.0 != turn).unwrap();
        let at = next.1;
        *next = (turn + 1, at + length);
        self.taken.notify_all();
        at
    }
}

fn create(source: &str, archive: &str) {
    let root = Path::new(source);
    let mut directories = Vec::new();
    walk(root, "", &mut directories);
    let mut batches: Vec<(&str, &[String])> = Vec::new();
    for (directory, files) in &directories {
        let step = if files.len() < 100 { 1 } else { 500 };
        batches.extend(files.chunks(step).map(|files| (directory.as_str(), files)));
    }
    let temporary = format!("{archive}.tmp");
    let out = File::create(&temporary).unwrap();
    let places = Places::default();
    let written = Mutex::new(Vec::new());
    let alone = batches.len() <= 2;
    share(if alone { 1 } else { THREADS }, batches.len(), 1, |next| {
        let mut buffer = vec![0; SMALL];
        let mut mine = Vec::new();
        while let Some(turn) = next() {
            let (directory, files) = batches[turn];
            let batch = write_batch(root, directory, files, &out, &mut buffer, alone, |length| {
                places.take(turn, length)
            });
            mine.push((turn, batch));
        }
        written.lock().unwrap().append(&mut mine);
    });
    let mut written = written.into_inner().unwrap();
    written.sort_by_key(|(turn, _)| *turn);
    let entries: Vec<Entry> = written.into_iter().flat_map(|(_, entries)| entries).collect();
    let end = places.next.into_inner().unwrap().1;
    finish(&out, entries, end);
    fs::rename(temporary, archive).unwrap();
}

fn write_batch(
    root: &Path,
    directory: &str,
    files: &[String],
    out: &File,
    buffer: &mut [u8],
    alone: bool,
    place: impl FnOnce(u64) -> u64,
) -> Vec<Entry> {
    let handle = File::open(root.join(directory)).unwrap();
    let (mut contents, mut entries, mut large) = (Vec::new(), Vec::new(), Vec::new());
    for name in files {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mut file = File::from(openat(&handle, name.as_str(), flags, Mode::empty()).unwrap());
        let count = fill(&mut file, buffer);
        let mut entry = Entry {
            name: join(directory, name),
            size: count as u64,
            crc: 0,
            at: 0,
            digest: [0; 32],
        };
        if count < SMALL {
            let content = &buffer[..count];
            entry.crc = crc32fast::hash(content);
            entry.digest = Sha256::digest(content).into();
            contents.extend_from_slice(content);
        } else {
            entry.size = file.metadata().unwrap().len();
            large.push((entries.len(), file));
        }
        entries.push(entry);
    }
    let length = |entry: &Entry| local_len(&entry.name, entry.size) + entry.size;
    let start = place(entries.iter().map(length).sum());
    let mut at = start;
    for entry in &mut entries {
        entry.at = at;
        at += length(entry);
    }
    for (index, file) in &large {
        let entry = &mut entries[*index];
        let data = entry.at + local_len(&entry.name, entry.size);
        (entry.crc, entry.digest) = if alone {
            copy_beside_hash(file, out, data, entry.size)
        } else {
            copy(file, 0, out, data, entry.size, buffer)
        };
    }
    let (mut image, mut contents) = (Vec::with_capacity(contents.len() * 2), contents.as_slice());
    for (index, entry) in entries.iter().enumerate() {
        if large.iter().any(|(other, _)| *other == index) {
            image.clear();
            put_local(&mut image, entry);
            out.write_all_at(&image, entry.at).unwrap();
            image.clear();
            continue;
        }
        put_local(&mut image, entry);
        let (content, rest) = contents.split_at(entry.size as usize);
        image.extend_from_slice(content);
        contents = rest;
        // Next to a large file, the small ones are not contiguous.
        if !large.is_empty() {
            out.write_all_at(&image, entry.at).unwrap();
            image.clear();
        }
    }
    out.write_all_at(&image, start).unwrap();
    entries
}

/// Copies in blocks, and hashes each.
fn copy(
    from: &File,
    at: u64,
    to: &File,
    target: u64,
    size: u64,
    buffer: &mut [u8],
) -> (u32, [u8; 32]) {
    let (mut crc, mut digest, mut done) = (crc32fast::Hasher::new(), Sha256::new(), 0);
    while done < size {
        let block = read_block(from, at + done, size - done, buffer);
        crc.update(block);
        digest.update(block);
        to.write_all_at(block, target + done).unwrap();
        done += block.len() as u64;
    }
    (crc.finalize(), digest.finalize().into())
}

/// Copies like [`copy`], but hashes on an idle second thread.
fn copy_beside_hash(from: &File, to: &File, target: u64, size: u64) -> (u32, [u8; 32]) {
    thread::scope(|scope| {
        let hashing = scope.spawn(|| {
            let (mut digest, mut done, mut buffer) = (Sha256::new(), 0, vec![0; BLOCK]);
            while done < size {
                let block = read_block(from, done, size - done, &mut buffer);
                digest.update(block);
                done += block.len() as u64;
            }
            digest.finalize().into()
        });
        let (mut crc, mut done, mut buffer) = (crc32fast::Hasher::new(), 0, vec![0; BLOCK]);
        while done < size {
            let block = read_block(from, done, size - done, &mut buffer);
            crc.update(block);
            to.write_all_at(block, target + done).unwrap();
            done += block.len() as u64;
        }
        (crc.finalize(), hashing.join().unwrap())
    })
}

fn read_block<'a>(file: &File, at: u64, left: u64, buffer: &'a mut [u8]) -> &'a [u8] {
    let length = BLOCK.min(buffer.len()).min(usize::try_from(left).unwrap_or(BLOCK));
    file.read_exact_at(&mut buffer[..length], at).unwrap();
    &buffer[..length]
}

fn finish(out: &File, mut entries: Vec<Entry>, end: u64) {
    let mut manifest = Vec::new();
    for entry in &entries {
        manifest.extend_from_slice(&hex(&entry.digest));
        manifest.extend_from_slice(b"  ");
        manifest.extend_from_slice(entry.name.as_bytes());
        manifest.push(b'\n');
    }
    let last = Entry {
        name: MANIFEST.to_owned(),
        size: manifest.len() as u64,
        crc: crc32fast::hash(&manifest),
        at: end,
        digest: [0; 32],
    };
    let mut tail = Vec::new();
    put_local(&mut tail, &last);
    tail.extend_from_slice(&manifest);
    entries.push(last);
    let before = tail.len();
    let at = end + before as u64;
    for entry in &entries {
        put_central(&mut tail, entry);
    }
    let length = (tail.len() - before) as u64;
    put_end(&mut tail, entries.len() as u64, at, length);
    out.write_all_at(&tail, end).unwrap();
}

fn hex(digest: &[u8; 32]) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(digest) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    text
}

#[expect(unsafe_code, reason = "the baseline maps its archive")]
fn map(file: &File) -> Mmap {
    // SAFETY: no other program writes below the directory of this run.
    unsafe { Mmap::map(file) }.unwrap()
}

/// Returns every member of a mapped archive, with the offset of its content.
fn members(file: &File, bytes: &[u8]) -> Vec<Entry> {
    let (at, length) = directory(file);
    let mut records = &bytes[at as usize..(at + length) as usize];
    let mut entries = Vec::new();
    while !records.is_empty() {
        let (mut entry, len) = read_central(records);
        let header = &bytes[entry.at as usize..];
        entry.at += 30 + number(header, 26, 2) + number(header, 28, 2);
        entries.push(entry);
        records = &records[len..];
    }
    entries
}

fn step_of(entries: usize) -> usize {
    if entries > 4000 { 256 } else { 1 }
}

fn verify(archive: &str) -> ExitCode {
    let file = File::open(archive).unwrap();
    let bytes = map(&file);
    let mut entries = members(&file, &bytes);
    let Some(manifest) = entries.pop() else { return ExitCode::FAILURE };
    let text = &bytes[manifest.at as usize..][..manifest.size as usize];
    let lines = text.split(|byte| *byte == b'\n').filter(|line| line.len() > 66);
    let wanted: HashMap<&[u8], &[u8]> = lines.map(|line| (&line[66..], &line[..64])).collect();
    let wrong =
        AtomicBool::new(crc32fast::hash(text) != manifest.crc || wanted.len() != entries.len());
    share(THREADS, entries.len(), step_of(entries.len()), |next| {
        let mut buffer = vec![0; BLOCK];
        while let Some(index) = next() {
            let entry = &entries[index];
            let (crc, digest) = if entry.size < SMALL as u64 {
                let content = &bytes[entry.at as usize..][..entry.size as usize];
                (crc32fast::hash(content), Sha256::digest(content).into())
            } else {
                let (mut crc, mut digest) = (crc32fast::Hasher::new(), Sha256::new());
                let mut done = 0;
                while done < entry.size {
                    let block = read_block(&file, entry.at + done, entry.size - done, &mut buffer);
                    crc.update(block);
                    digest.update(block);
                    done += block.len() as u64;
                }
                (crc.finalize(), digest.finalize().into())
            };
            let listed = wanted.get(entry.name.as_bytes());
            if crc != entry.crc || listed.is_none_or(|listed| **listed != hex(&digest)) {
                wrong.store(true, Ordering::Relaxed);
            }
        }
    });
    if wrong.into_inner() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Searches for a name in the bytes of the directory, without parsing its records.
fn find(file: &File, name: &str) -> Option<Entry> {
    let (at, length) = directory(file);
    let finder = memmem::Finder::new(name);
    // Windows overlap, so that no record is cut in both.
    let overlap = 46 + name.len() + 64;
    let mut window = vec![0; (BLOCK + overlap).min(length as usize)];
    let mut start = 0;
    loop {
        let count = window.len().min((length - start) as usize);
        let records = &mut window[..count];
        file.read_exact_at(records, at + start).unwrap();
        for found in finder.find_iter(records).filter(|found| *found >= 46) {
            let record = &records[found - 46..];
            let is_record = record.starts_with(b"PK\x01\x02")
                && number(record, 28, 2) == name.len() as u64
                && record.len() >= 46 + name.len() + number(record, 30, 2) as usize;
            if is_record {
                let (mut entry, _) = read_central(record);
                let mut header = [0; 30];
                file.read_exact_at(&mut header, entry.at).unwrap();
                entry.at += 30 + number(&header, 26, 2) + number(&header, 28, 2);
                return Some(entry);
            }
        }
        if start + count as u64 >= length {
            return None;
        }
        start += (count - overlap) as u64;
    }
}

fn copy_out(file: &File, entry: &Entry, out: &File, buffer: &mut [u8]) {
    let (mut crc, mut done) = (crc32fast::Hasher::new(), 0);
    while done < entry.size {
        let block = read_block(file, entry.at + done, entry.size - done, buffer);
        crc.update(block);
        out.write_all_at(block, done).unwrap();
        done += block.len() as u64;
    }
    assert_eq!(crc.finalize(), entry.crc);
}

fn get(archive: &str, member: &str, out: &str) {
    let file = File::open(archive).unwrap();
    let entry = find(&file, member).expect("no such member");
    let mut buffer = vec![0; BLOCK.min(entry.size as usize + 1)];
    copy_out(&file, &entry, &File::create(out).unwrap(), &mut buffer);
}

fn extract(archive: &str, target: &Path) {
    let file = File::open(archive).unwrap();
    let bytes = map(&file);
    let entries = members(&file, &bytes);
    let mut last = None;
    for entry in &entries {
        let directory = Path::new(&entry.name).parent();
        if last != directory {
            fs::create_dir_all(target.join(directory.unwrap_or(Path::new("")))).unwrap();
            last = directory;
        }
    }
    share(THREADS, entries.len(), step_of(entries.len()), |next| {
        let mut buffer = vec![0; BLOCK];
        while let Some(index) = next() {
            let entry = &entries[index];
            let out = File::create(target.join(&entry.name)).unwrap();
            copy_out(&file, entry, &out, &mut buffer);
        }
    });
}
