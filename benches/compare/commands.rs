//! The contestants of each operation.

use std::path::{Path, PathBuf};

use super::contestant::{Check, Contestant, Kind, Prepared, shell, words};
use super::options::Operation;
use super::runner::Bench;
use super::workloads::{Tree, Workload};

/// The operations in Python, as one program.
pub(crate) const PYTHON: &str = include_str!("peers.py");

/// Runs all contestants for an operation on one workload.
pub(crate) fn run(bench: &Bench<'_>, operation: Operation, workload: Workload) {
    let tree = bench.tree(workload);
    let field = Field { bench, tree: &tree, me: std::env::current_exe().unwrap() };
    let rounds = bench.options.rounds;
    let (contestants, rounds) = match operation {
        Operation::Create => (field.create(), rounds),
        Operation::Verify => (field.verify(), rounds),
        // These are short, and each round reads another array.
        Operation::Get => (field.get(), rounds * 3),
        Operation::Extract => (field.extract(), rounds),
        Operation::List => (field.list(), rounds),
        Operation::Compressed => (field.compressed(), rounds),
        Operation::Jobs => (field.jobs(), rounds),
        other => unreachable!("{other:?} has a module of its own"),
    };
    bench.compete(operation.name(), &workload.name(), &tree, contestants, rounds);
    bench.clear();
}

/// Measures the cost of a process that does nothing.
pub(crate) fn start_up(bench: &Bench<'_>) {
    let tree = bench.tree(Workload::Tiny);
    let version = words![&bench.options.ra_pack, "--version"];
    let contestants = vec![
        Contestant::new("ra-pack --version", Kind::Ours, version),
        Contestant::new("true", Kind::Limit, words!["true"]).what("a process that does nothing"),
    ];
    bench.compete("startup", "all", &tree, contestants, bench.options.rounds * 10);
}

/// Returns the command that packs a directory.
pub(crate) fn create(ra_pack: &Path, source: &Path, archive: &Path) -> Vec<String> {
    words![ra_pack, "create", source, "-o", archive, "--force"]
}

/// One workload and its contestants.
struct Field<'a> {
    bench: &'a Bench<'a>,
    tree: &'a Tree,
    me: PathBuf,
}

impl Field<'_> {
    fn ours(&self, name: &str, arguments: Vec<String>) -> Contestant {
        let mut command = words![&self.bench.options.ra_pack];
        command.extend(arguments);
        Contestant::new(name, Kind::Ours, command)
    }

    fn limit(&self, arguments: Vec<String>) -> Contestant {
        let mut command = words![&self.me, "limit"];
        command.extend(arguments);
        Contestant::new("baseline, two threads", Kind::Limit, command)
    }

    fn peer(name: &str, needs: &[&'static str], command: Vec<String>) -> Contestant {
        Contestant::new(name, Kind::Peer, command).needs(needs)
    }

    fn python(&self, job: &str, arguments: &[&Path]) -> Vec<String> {
        let mut command = words![&self.bench.options.python, "-c", PYTHON, job];
        command.extend(arguments.iter().map(|path| path.to_str().unwrap().to_owned()));
        command
    }

    fn source(&self) -> &Path {
        &self.tree.root
    }

    fn at(&self, name: &str) -> PathBuf {
        self.bench.at(name)
    }

    /// Returns an archive for others to read, with the command that makes it.
    fn prepared(&self, name: &str) -> Prepared {
        let (file, source) = (self.at(name), self.source());
        let command = match name {
            "ours.zip" => create(&self.bench.options.ra_pack, source, &file),
            "limit.zip" => words![&self.me, "limit", "create", source, &file],
            "info.zip" => shell("cd \"$1\" && zip -0 -r -q \"$2\" .", &[source, &file]),
            "gnu.tar" => words!["tar", "cf", &file, "-C", source, "."],
            "python.zip" => self.python("zip_create", &[source, &file]),
            "numpy.npz" => self.python("npz_create", &[source, &file]),
            "hdf.h5" => self.python("h5_create", &[source, &file]),
            "sums" => shell(
                "cd \"$1\" && find . -type f -print0 | sort -z | xargs -0 sha256sum > \"$2\" \
                 && split -n l/2 \"$2\" \"$2.part\"",
                &[source, &file],
            ),
            "bag" => shell(
                "cp -al \"$1\" \"$2\" && \"$3\" -m bagit --quiet --sha256 --processes 2 \"$2\"",
                &[source, &file, Path::new(&self.bench.options.python)],
            ),
            other => unreachable!("no command makes {other}"),
        };
        Prepared { file, command }
    }

    fn create(&self) -> Vec<Contestant> {
        let source = self.source();
        let out = self.at("made");
        let zip = self.at("made.zip");
        let bag = self.at("made-bag");
        let mut bagit = Self::peer("bagit.py, two processes", &["py:bagit"], {
            let python = &self.bench.options.python;
            words![python, "-m", "bagit", "--quiet", "--sha256", "--processes", "2", &bag]
        })
        .what("a directory with a manifest, no archive")
        .makes(&bag, Check::Success);
        bagit.before = Some(words!["cp", "-al", source, &bag]);
        vec![
            self.ours("ra-pack create", words!["create", source, "-o", &zip, "--force"])
                .what("zip, both manifests, every description checked")
                .makes(&zip, Check::Zip),
            self.limit(words!["create", source, &zip])
                .what("zip and manifest, nothing checked")
                .makes(&zip, Check::Zip),
            Self::peer("tar", &["tar"], words!["tar", "cf", &out, "-C", source, "."])
                .what("no checksum")
                .makes(&out, Check::Tar),
            Self::peer("tar and sha256sum", &["tar", "sha256sum"], {
                let line = "cd \"$1\" && tar cf \"$2\" . && \
                            find . -type f -print0 | xargs -0 sha256sum > \"$2.sums\"";
                shell(line, &[source, &out])
            })
            .makes(&out, Check::Tar),
            Self::peer("zip -0", &["zip"], {
                shell("cd \"$1\" && zip -0 -r -q \"$2\" .", &[source, &zip])
            })
            .what("CRC-32 only")
            .makes(&zip, Check::Zip),
            bagit,
            Self::peer("Python zipfile and hashlib", &["py:zipfile"], {
                self.python("zip_create", &[source, &zip])
            })
            .makes(&zip, Check::Zip),
            Self::peer("numpy.savez", &["py:numpy"], self.python("npz_create", &[source, &out]))
                .what("CRC-32 only, no descriptions")
                .makes(&out, Check::Arrays("npz")),
            Self::peer("h5py", &["py:h5py"], self.python("h5_create", &[source, &out]))
                .what("no checksum, no descriptions")
                .makes(&out, Check::Arrays("h5")),
        ]
    }

    /// Marks a contestant of `verify` that reads an archive and must reject it when it is damaged.
    fn verifies(contestant: Contestant, prepared: Prepared) -> Contestant {
        let check = Check::Refuses(prepared.file.clone());
        Contestant { check, ..contestant.after(prepared) }
    }

    fn verify(&self) -> Vec<Contestant> {
        let (source, sums, bag) = (self.source(), self.at("sums"), self.at("bag"));
        let [ours, limit, info, python] =
            ["ours.zip", "limit.zip", "info.zip", "python.zip"].map(|name| self.prepared(name));
        vec![
            Self::verifies(self.ours("ra-pack verify", words!["verify", &ours.file]), ours)
                .what("every byte of the zip, manifests, headers, descriptions"),
            Self::verifies(self.limit(words!["verify", &limit.file]), limit)
                .what("SHA-256 and CRC-32 of every member"),
            Self::peer("sha256sum -c, two processes", &["sha256sum", "split"], {
                let line = "cd \"$1\" && ls \"$2\".part* | xargs -P2 -n1 sha256sum -c --quiet";
                shell(line, &[source, &sums])
            })
            .what("on the directory")
            .after(self.prepared("sums")),
            Self::verifies(
                Self::peer("unzip -t", &["zip", "unzip"], words!["unzip", "-tqq", &info.file]),
                info.clone(),
            )
            .what("CRC-32 only"),
            Self::verifies(
                Self::peer("Python zipfile and hashlib", &["py:zipfile"], {
                    self.python("zip_verify", &[&python.file])
                }),
                python,
            ),
            Self::peer("bagit.py --validate, two processes", &["py:bagit"], {
                let python = &self.bench.options.python;
                words![python, "-m", "bagit", "--quiet", "--validate", "--processes", "2", &bag]
            })
            .what("on the directory")
            .after(self.prepared("bag")),
        ]
    }

    fn get(&self) -> Vec<Contestant> {
        let picks = self.tree.picks();
        let expected: Vec<PathBuf> = picks.iter().map(|pick| self.source().join(pick)).collect();
        let out = self.at("got");
        let each = |archive: &str,
                    contestant: Contestant,
                    command: &dyn Fn(&Path, &str) -> Vec<String>| {
            let archive = self.prepared(archive);
            let commands = picks.iter().map(|pick| command(&archive.file, pick)).collect();
            let contestant = contestant.after(archive);
            Contestant { commands, ..contestant }.makes(&out, Check::Same(expected.clone()))
        };
        // The bytes of the array without its RawArray header.
        let array_only =
            |contestant: Contestant| Contestant { check: Check::Success, ..contestant };
        let me = &self.me;
        vec![
            each(
                "ours.zip",
                self.ours("ra-pack get", vec![]).what("checked against the manifest"),
                &|archive, pick| {
                    words![&self.bench.options.ra_pack, "get", archive, pick, "-o", &out, "--force"]
                },
            ),
            each(
                "limit.zip",
                self.limit(vec![]).what("name looked for, bytes copied, CRC-32"),
                &|archive, pick| words![me, "limit", "get", archive, pick, &out],
            ),
            each(
                "info.zip",
                Self::peer("rawzip crate", &["zip"], vec![]).what("scan, CRC-32"),
                &|archive, pick| words![me, "reader", "rawzip", archive, pick, &out],
            ),
            each(
                "info.zip",
                Self::peer("zip crate", &["zip"], vec![]).what("CRC-32"),
                &|archive, pick| words![me, "reader", "zip", archive, pick, &out],
            ),
            each(
                "info.zip",
                Self::peer("unzip -p", &["zip", "unzip"], vec![]).what("CRC-32"),
                &|archive, pick| {
                    shell("exec unzip -p \"$1\" \"$2\" > \"$3\"", &[archive, Path::new(pick), &out])
                },
            ),
            each(
                "info.zip",
                Self::peer("Python zipfile", &["zip", "py:zipfile"], vec![]).what("CRC-32"),
                &|archive, pick| self.python("zip_get", &[archive, Path::new(pick), &out]),
            ),
            array_only(each(
                "numpy.npz",
                Self::peer("numpy.load", &["py:numpy"], vec![]).what("CRC-32"),
                &|archive, pick| self.python("npz_get", &[archive, Path::new(pick), &out]),
            )),
            array_only(each(
                "hdf.h5",
                Self::peer("h5py", &["py:h5py"], vec![]).what("no checksum"),
                &|archive, pick| self.python("h5_get", &[archive, Path::new(pick), &out]),
            )),
        ]
    }

    fn extract(&self) -> Vec<Contestant> {
        let out = self.at("tree");
        let [ours, limit, info, tar] =
            ["ours.zip", "limit.zip", "info.zip", "gnu.tar"].map(|name| self.prepared(name));
        vec![
            self.ours("ra-pack extract", words!["extract", &ours.file, "-C", &out])
                .what("every digest checked while writing")
                .after(ours)
                .into_directory(&out),
            self.limit(words!["extract", &limit.file, &out])
                .what("CRC-32")
                .after(limit)
                .into_directory(&out),
            Self::peer("tar x", &["tar"], words!["tar", "xf", &tar.file, "-C", &out])
                .what("no checksum")
                .after(tar)
                .into_directory(&out),
            Self::peer(
                "unzip",
                &["zip", "unzip"],
                words!["unzip", "-q", "-o", &info.file, "-d", &out],
            )
            .what("CRC-32")
            .after(info.clone())
            .into_directory(&out),
        ]
    }

    /// All list the same archive; only ra-pack reads its content.
    fn list(&self) -> Vec<Contestant> {
        let ours = self.prepared("ours.zip");
        let zip = &ours.file;
        let python = &self.bench.options.python;
        let contestants = vec![
            self.ours("ra-pack list", words!["list", zip])
                .what("every header and description read"),
            self.ours("ra-pack list --tree", words!["list", "--tree", zip])
                .what("every header and description read"),
            Self::peer("unzip -l", &["unzip"], words!["unzip", "-l", zip]).what("names and sizes"),
            Self::peer("7z l", &["7z"], words!["7z", "l", "-bd", zip]).what("names and sizes"),
            Self::peer("python -m zipfile -l", &["py:zipfile"], {
                words![python, "-m", "zipfile", "-l", zip]
            })
            .what("names and sizes"),
        ];
        contestants.into_iter().map(|contestant| contestant.after(ours.clone())).collect()
    }

    fn compressed(&self) -> Vec<Contestant> {
        let source = self.source();
        let ra_pack = &self.bench.options.ra_pack;
        let mut all = Vec::new();
        for (title, name, compression) in [
            ("zip, deflate 6", "made.zip", Some("deflate:6")),
            ("zip, zstd 3", "made.zip", Some("zstd:3")),
            ("tar.gz, 6", "made.tar.gz", None),
            ("tar.zst, 3", "made.tar.zst", None),
        ] {
            let out = self.at(name);
            let mut command = create(ra_pack, source, &out);
            command.extend(compression.into_iter().flat_map(|how| words!["--compression", how]));
            all.push(
                Contestant::new(format!("{title}: ra-pack"), Kind::Ours, command)
                    .makes(&out, Check::Accepted(words![ra_pack, "verify", "-q", &out])),
            );
        }
        let (zip, tar) = (self.at("peer.zip"), self.at("peer.tar.x"));
        all.extend([
            Self::peer("zip, deflate 6: zip -6", &["zip"], {
                shell("cd \"$1\" && zip -6 -r -q \"$2\" .", &[source, &zip])
            })
            .what("CRC-32 only")
            .makes(&zip, Check::Zip),
            Self::peer("tar.gz, 6: tar and pigz -p2", &["tar", "pigz"], {
                shell("tar cf - -C \"$1\" . | pigz -6 -p2 > \"$2\"", &[source, &tar])
            })
            .what("CRC-32 only")
            .makes(&tar, Check::Success),
            Self::peer("tar.zst, 3: tar and zstd -T2", &["tar", "zstd"], {
                shell("tar cf - -C \"$1\" . | zstd -q -3 -T2 > \"$2\"", &[source, &tar])
            })
            .what("XXH64 only")
            .makes(&tar, Check::Success),
        ]);
        all
    }

    fn jobs(&self) -> Vec<Contestant> {
        let (source, zip) = (self.source(), self.at("made.zip"));
        let ours = self.prepared("ours.zip");
        let mut all = Vec::new();
        for (jobs, kind) in [("2", Kind::Ours), ("1", Kind::Limit)] {
            let create = words!["create", source, "-o", &zip, "--force", "--jobs", jobs];
            let verify = words!["verify", &ours.file, "--jobs", jobs];
            for (verb, command) in [("create", create), ("verify", verify)] {
                let name = format!("ra-pack {verb} --jobs {jobs}");
                let mut contestant = self.ours(&name, command).after(ours.clone());
                if verb == "create" {
                    contestant = contestant.makes(&zip, Check::Zip);
                }
                all.push(Contestant { kind, ..contestant });
            }
        }
        all
    }
}
