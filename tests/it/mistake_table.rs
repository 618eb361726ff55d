//! The mistakes of users, and the messages that they cause.

/// A command line for the directory of [`workspace`], its exit status, texts that it must print on either stream, and
/// texts that it must not print.
pub(crate) type Mistake = (&'static str, i32, &'static [&'static str], &'static [&'static str]);

/// Texts that are never printed about a file that was not a pack.
const FALSE_ALARM: &[&str] = &["damaged", "NOT VALID", "ARC001", "another copy"];
const NOTHING: &[&str] = &[];
/// Texts that are never printed about system errors.
const NUMBER: &[&str] = &["os error"];

pub(crate) const MISTAKES: &[Mistake] = &[
    // A file of another kind is not a damaged pack.
    (
        "extract exp/time.ra -C out",
        2,
        &["`exp/time.ra` is a RawArray file, not a pack"],
        FALSE_ALARM,
    ),
    ("verify exp.zip --log exp.zip", 2, &["`exp.zip` is a zip file, not a log"], FALSE_ALARM),
    ("verify exp.zip --max-age 90d", 2, &["give their log with --log"], FALSE_ALARM),
    ("audit exp.zip", 2, &["`exp.zip` is a zip file, not a log"], FALSE_ALARM),
    ("verify hdf5.ra", 2, &["`hdf5.ra` is an HDF5 file, not an array"], FALSE_ALARM),
    ("info hdf5.ra", 2, &["`hdf5.ra` is an HDF5 file, not an array"], FALSE_ALARM),
    ("list hdf5.ra", 2, &["`hdf5.ra` is an HDF5 file, not an array"], FALSE_ALARM),
    (
        "verify results.npz",
        2,
        &[
            "`results.npz` is a zip of NumPy arrays, not a pack",
            "ra-pack convert results.npz results.zip",
        ],
        FALSE_ALARM,
    ),
    ("info results.npz", 0, &["results.npz: a .npz file"], FALSE_ALARM),
    (
        "info results.npz x",
        2,
        &["`results.npz` has no member `x`", "ra-pack list results.npz"],
        FALSE_ALARM,
    ),
    // A single array is treated as a pack.
    ("list exp/time.ra", 0, &["time.ra", "float64"], &["temperature"]),
    ("list exp/thermistors/temperature.ra", 0, &["float32", "[2, time"], &["count"]),
    ("info exp/time.ra", 0, &["float64"], NOTHING),
    ("show exp/time.ra", 0, &["float64"], NOTHING),
    ("get exp/time.ra -o t.npy", 0, &["wrote t.npy"], NOTHING),
    ("get exp/time.ra --format csv", 0, &["\n4"], NOTHING),
    (
        "report exp/time.ra -o time.html",
        0,
        &["wrote time.html", "1 array, not verified"],
        FALSE_ALARM,
    ),
    ("plot exp/time.ra -o t.png", 0, &[], NOTHING),
    (
        "verify exp/time.ra",
        0,
        &["exp/time.ra: no errors found, contents not read (1 array, 2 files", "not in a manifest"],
        FALSE_ALARM,
    ),
    (
        "verify kept/time.ra",
        0,
        &[
            "warning[DESC001]",
            "kept/time.ra: valid, 1 warning (1 array, 1 file",
            "checked against kept/manifest-sha256.txt",
        ],
        FALSE_ALARM,
    ),
    (
        "verify exp/time.ra --manifest exp.zip.manifest-sha256.txt",
        0,
        &["exp/time.ra: valid (1 array, 2 files", "checked against exp.zip.manifest-sha256.txt"],
        FALSE_ALARM,
    ),
    (
        "verify exp/time.ra --manifest README.md",
        2,
        &["`README.md` is not a manifest (line 3"],
        FALSE_ALARM,
    ),
    (
        "verify away/temperature.ra",
        0,
        &["warning[DESC007]", "no errors found, contents not read, 1 warning"],
        FALSE_ALARM,
    ),
    (
        "verify exp.zip exp/time.ra",
        0,
        &["1 valid, 1 without errors, contents not read"],
        FALSE_ALARM,
    ),
    ("report exp -o -", 1, &["Not verified: no manifest"], FALSE_ALARM),
    (
        "show exp.zip/time.ra",
        2,
        &["`exp.zip` is a file", "`ra-pack info exp.zip time.ra`"],
        FALSE_ALARM,
    ),
    ("create README.md -o x.zip", 2, &["`README.md` is a text file, not a directory"], NOTHING),
    ("create exp.zip -o x.zip", 2, &["`exp.zip` is a zip file, not a directory"], NOTHING),
    ("manifest --write exp/time.ra", 2, &["`exp/time.ra` is a RawArray file, not a pack"], NOTHING),
    ("verify plain.ra", 0, &["`ra-pack describe plain.ra > plain.yaml`"], FALSE_ALARM),
    ("verify cut.ra", 1, &["error[RA001]", "cut.ra: NOT VALID"], &["not an array"]),
    ("manifest --check exp/time.ra", 2, &["no manifest", "`exp/time.ra`"], FALSE_ALARM),
    ("validate data.nc", 2, &["`data.nc` is a NetCDF file"], FALSE_ALARM),
    ("verify data.h5", 2, &["`data.h5` is an HDF5 file, not a pack"], FALSE_ALARM),
    ("verify hdf5.zip", 2, &["`hdf5.zip` is an HDF5 file, not a pack"], FALSE_ALARM),
    ("list data.nc", 0, &["x.ra"], FALSE_ALARM),
    ("list a.npy", 0, &["a.ra"], FALSE_ALARM),
    ("info a.npy", 0, &["a.npy: a .npy file"], FALSE_ALARM),
    ("describe README.md", 2, &["`README.md` is a text file, not a pack"], FALSE_ALARM),
    ("verify README.md", 2, &["`README.md` is a text file, not a pack"], FALSE_ALARM),
    ("verify README.md --json", 2, &["`README.md` is a text file, not a pack"], FALSE_ALARM),
    (
        "verify README.md.gz",
        2,
        &["`README.md.gz` is a file compressed with gzip, not a pack"],
        FALSE_ALARM,
    ),
    ("verify noise.bin", 2, &["`noise.bin` is not a pack"], FALSE_ALARM),
    ("verify empty.bin", 2, &["`empty.bin` is an empty file, not a pack"], FALSE_ALARM),
    ("validate README.md.gz", 2, &["`README.md.gz` is a file compressed with gzip"], FALSE_ALARM),
    (
        "diff exp.zip data.h5",
        2,
        &["`data.h5` is an HDF5 file, not a pack"],
        &["an array of the pack with --member"],
    ),
    (
        "verify exp.zip README.md",
        2,
        &["exp.zip: valid", "1 valid, 1 could not be read"],
        FALSE_ALARM,
    ),
    ("validate data.h5", 2, &["`data.h5` is an HDF5 file, not a description"], FALSE_ALARM),
    ("describe --update data.h5", 2, &["`data.h5` is an HDF5 file, not an array"], FALSE_ALARM),
    ("describe --update README.md", 2, &["`README.md` is a text file, not an array"], FALSE_ALARM),
    // Damaged packs.
    ("verify cut.zip", 1, &["NOT VALID", "ARC001"], &["not a pack"]),
    ("verify blank.zip", 1, &["NOT VALID", "ARC001"], &["not a pack"]),
    ("verify noise.tar.gz", 1, &["NOT VALID", "ARC001"], &["not a pack"]),
    ("verify cut", 1, &["NOT VALID", "ARC001"], &["not a pack"]),
    ("verify empty.zip", 1, &["NOT VALID", "the file is empty"], &["not a pack"]),
    // Files that are not arrays.
    ("show a.npy", 0, &["[1 2 3]"], FALSE_ALARM),
    ("show exp/time.yaml", 2, &["`exp/time.yaml` is a text file, not an array"], &["is a pack"]),
    ("plot README.md -o x.png", 2, &["`README.md` is a text file, not an array"], &["is a pack"]),
    (
        "show array.dat",
        2,
        &["`array.dat`", "must have the extension .ra"],
        &["is a pack", "not an array"],
    ),
    ("show exp.zip --stats", 2, &["`exp.zip` is a pack", "ra-pack list --arrays exp.zip"], NOTHING),
    ("show exp.zip tiem/", 2, &["has no member `tiem/`"], NOTHING),
    (
        "extract exp",
        2,
        &["`exp` is a directory, not an archive", "ra-pack extract exp -C DIR"],
        NOTHING,
    ),
    ("extract exp.zip nothing*", 2, &["no member of `exp.zip` matches `nothing*`"], &["unpacked"]),
    ("show exp.zip README.md", 2, &["`README.md` is a text file, not an array"], &["rawarray"]),
    (
        "plot exp.zip README.md -o x.png",
        2,
        &["`README.md` is a text file, not an array"],
        &["rawarray"],
    ),
    ("info exp.zip README.md", 2, &["`README.md` is a text file, not an array"], &["rawarray"]),
    (
        "get exp.zip README.md --format csv",
        2,
        &["`README.md` is a text file, not an array"],
        &["rawarray"],
    ),
    (
        "get exp.zip empty.log --slice 0",
        2,
        &["`empty.log` is an empty file, not an array"],
        &["header of 48"],
    ),
    (
        "diff README.md exp/README.md",
        2,
        &["`README.md` is a text file, not an array"],
        &["rawarray"],
    ),
    ("reshape README.md 3", 2, &["`README.md` is a text file, not an array"], NOTHING),
    ("convert cut.nc x.zip", 1, &["`cut.nc`: byte 12: expected"], &["--from"]),
    ("convert cut.h5 x.zip", 1, &["`cut.h5`: the file: "], &["--from"]),
    (
        "convert data.csv x.zip",
        2,
        &["`data.csv` is a text file, which ra-pack cannot read"],
        &["--from"],
    ),
    // Directories without arrays.
    (
        "create data -o data.zip",
        0,
        &[
            "warning[RA005]",
            "1 .mat file and 3 .npy files are packed as plain files",
            "ra-pack convert data data.zip --force",
            ".npy or NetCDF",
        ],
        NOTHING,
    ),
    ("create data -o data.zip --json --force", 0, &["RA005"], NOTHING),
    ("create data -o strict.zip --strict", 1, &["error[RA005]"], NOTHING),
    (
        "create foreign -o foreign.zip",
        0,
        &["warning[RA005]", "1 .csv file and 1 .mat file", ".npy or NetCDF"],
        NOTHING,
    ),
    ("create texts -o texts.zip", 0, &["warning[RA005]", "the pack contains no array"], NOTHING),
    // Outputs.
    ("get exp.zip time.ra -o t.nc", 2, &["`t.nc`", ".ra, .npy, .png, .csv or .json"], NOTHING),
    ("get exp.zip time.ra -o t.txt", 2, &["`t.txt`", ".ra, .npy, .png, .csv or .json"], NOTHING),
    ("get exp.zip time.ra --slice 0:2 -o t.dat", 2, &["`t.dat`", "--format"], NOTHING),
    ("report exp.zip -o exp.pdf", 2, &["`exp.pdf`", ".html"], NOTHING),
    (
        "create exp -o exp/a.zip",
        2,
        &["`exp/a.zip` would be inside `exp`", "--exclude 'a.zip*'"],
        NOTHING,
    ),
    (
        "create exp -o exp/sub/a.zip --exclude *.zip",
        2,
        &["a.zip.manifest-sha256.txt", "--exclude 'sub/a.zip*'"],
        NOTHING,
    ),
    (
        "create packs -o packs.zip",
        0,
        &["old.zip", "an archive of an earlier run", "--exclude 'old.zip*'"],
        NOTHING,
    ),
    ("get exp.zip time.ra -o exp", 2, &["`exp` exists; it is a directory"], &["--force"]),
    // Names that do not exist.
    (
        "list exp.zip foo*",
        2,
        &["no member of `exp.zip` matches `foo*`", "ra-pack list exp.zip"],
        &["temperature"],
    ),
    (
        "extract exp.zip nothing* -C z",
        2,
        &["no member of `exp.zip` matches `nothing*`"],
        &["unpacked", "-C"],
    ),
    ("get exp.zip temp", 2, &["did you mean `thermistors/temperature.ra`?"], NOTHING),
    ("extract exp.zip", 2, &["exists", "`ra-pack extract exp.zip -C DIR`"], NOTHING),
    ("get exp.zip tiem.ra", 2, &["has no member `tiem.ra`", "ra-pack list exp.zip"], NOTHING),
    (
        "get exp.zip sub",
        2,
        &["`sub` is a directory with 2 files", "ra-pack extract exp.zip sub -C DIR"],
        &["has no member"],
    ),
    (
        "get exp sub",
        2,
        &["`sub` is a directory with 2 files", "ra-pack extract exp sub -C DIR"],
        &["has no member"],
    ),
    // Wrong arguments, with a valid pack.
    (
        "verify exp.zip --manifest README.md",
        2,
        &["`README.md` is not a manifest (line 3: expected 64 hexadecimal digits"],
        &["another copy", "NOT VALID"],
    ),
    (
        "manifest --check exp.zip --manifest data.h5",
        2,
        &["`data.h5` is not a manifest"],
        &["another copy", "NOT VALID"],
    ),
    ("verify exp.zip --manifest other.txt", 1, &["MAN006", "NOT VALID"], &["is not a manifest"]),
    // Notes about skipped work.
    (
        "diff exp.zip same.zip",
        0,
        &["according to their manifests; compare the bytes with --verify"],
        NOTHING,
    ),
    ("diff exp.zip same.zip --verify", 0, &["The same: "], &["manifests"]),
    // The numbers are those of a catalogue of mistakes. 1
    ("create nodir -o n.zip", 2, &["cannot open `nodir`: No such file or directory"], NUMBER),
    // 2
    ("create exp -o x.rar", 2, &["`x.rar`", ".zip, .tar, .tar.gz"], NOTHING),
    ("create exp -o x", 2, &["`x`", ".zip, .tar, .tar.gz"], NOTHING),
    // 3
    ("create exp -o nodir/x.zip", 2, &["`mkdir -p nodir`"], NUMBER),
    // 4
    ("create exp -o exp.zip", 2, &["`exp.zip` exists", "--force"], NOTHING),
    // 6
    ("create exp -o y.zip --compression lzma", 2, &["expected stored, deflate"], NOTHING),
    ("create exp -o y.zip --compression deflate:99", 2, &["from 2 to 9", "found `99`"], NOTHING),
    // 7
    ("create exp -o y.tar --compression zstd", 2, &["to compress a tar", ".tar.zst"], NOTHING),
    // 8
    ("create exp -o y.zip --digest md5", 2, &["sha256, sha512 or both"], NOTHING),
    // 9
    ("create exp -o y.zip --layout bag", 2, &["'bag'", "'bagit'"], NOTHING),
    // 10
    ("create exp -o y.zip --bag-info A=b", 2, &["--layout bagit"], NOTHING),
    // 12
    (
        "create misnamed -o y.zip",
        1,
        &["[DESC001]", "misnamed/time.ra", "did you mean `time.yaml`?"],
        NOTHING,
    ),
    // 28
    ("list nope.zip", 2, &["cannot open `nope.zip`: No such file or directory"], NUMBER),
    // 30 and 31
    ("get exp.zip temperature.ra -o t.ra", 0, &["wrote t.ra"], NOTHING),
    ("get exp.zip temperature -o t.npy", 0, &["wrote t.npy"], NOTHING),
    ("show exp.zip temperature", 0, &["thermistors/temperature.ra"], NOTHING),
    ("info exp.zip temperature", 0, &["thermistors/temperature.ra"], NOTHING),
    ("diff exp.zip same.zip --member temperature", 0, &[], NOTHING),
    ("get exp.zip temprature", 2, &["did you mean `thermistors/temperature.ra`?"], NOTHING),
    ("show exp.zip thermistors/temprature.ra", 2, &["did you mean `thermistors/temp"], NOTHING),
    (
        "get twins.zip a",
        2,
        &["`a` matches 2 files in `twins.zip`: `one/a.ra`, `two/a.ra`"],
        NOTHING,
    ),
    ("get exp.zip readme", 2, &["did you mean `README.md`?"], NOTHING),
    (
        "list exp.zip temprature",
        2,
        &["matches `temprature`; did you mean `thermistors/temp"],
        NOTHING,
    ),
    ("extract exp.zip tim -C out", 2, &["matches `tim`; did you mean `time.ra`?"], NOTHING),
    (
        "diff exp.zip same.zip foo*",
        2,
        &["no member of `exp.zip` or `same.zip` matches `foo*`"],
        NOTHING,
    ),
    // 33 to 36
    (
        "get exp.zip temperature --slice 20,0 -o s.ra",
        2,
        &["index 20 is out of range for dimension 0", "the dimensions are 2, time (5)"],
        NOTHING,
    ),
    ("get exp.zip temperature --slice 0,0,0 -o s.ra", 2, &["dimensions are 2, time (5)"], NOTHING),
    ("show exp.zip temperature --slice time=3", 2, &["did you mean `:,3`?"], NOTHING),
    ("get exp.zip temperature --sel time=3 --format csv", 0, &["0.0"], NOTHING),
    ("show exp.zip temperature --sel tim=3", 2, &["did you mean `time`?"], NOTHING),
    ("show exp.zip temperature --sel time=9", 2, &["the nearest is 4", "--nearest"], NOTHING),
    ("show exp.zip temperature --sel time=9 --nearest", 0, &["slice :,4"], NOTHING),
    ("show exp.zip temperature --sel time=noon", 2, &["expected a number"], NOTHING),
    ("show exp.zip temperature --sel time", 2, &["expected `dimension=value`"], NOTHING),
    ("show exp.zip temperature --sel time=1,time=2", 2, &["selected twice"], NOTHING),
    ("show exp.zip wave --sel x=1", 2, &["its dimensions have no names"], NOTHING),
    ("get exp.zip time.ra --slice 3:999 --format csv", 0, &["\n4"], NOTHING),
    ("get exp.zip time.ra --slice 3:2 -o s.ra", 0, &["wrote s.ra"], NOTHING),
    // 37
    ("get exp.zip time.ra --format hdf5", 2, &["possible values: ra, raw, npy"], NOTHING),
    // 38
    (
        "get exp.zip temperature -o t.png",
        2,
        &["has `float32`", "`ra-pack plot exp.zip temperature -o t.png` draws a picture of it"],
        NOTHING,
    ),
    // 39 and 40
    (
        "get exp.zip cube -o t.csv",
        2,
        &["`thermistors/cube.ra`: a table has two dimensions", "--slice"],
        NOTHING,
    ),
    ("get exp.zip wave --format csv", 0, &["0.0+0.0j"], NOTHING),
    // 44 and 45
    ("plot exp.zip cube -o p.png", 2, &["--slice"], NOTHING),
    ("plot exp.zip temperature -o p.pdf", 2, &[".png or .svg"], NOTHING),
    ("plot exp.zip temperature -o p.png --cmap jet", 2, &["viridis"], NOTHING),
    ("plot exp.zip temperature -o p.png --range 3", 2, &["such as"], NOTHING),
    ("plot exp.zip temperature -o p.png --size 3", 2, &["such as 800x500"], NOTHING),
    // 50
    (
        "verify exp",
        1,
        &["[MAN001]", "exp: not verified, 1 error", "`ra-pack manifest --write exp`"],
        &["NOT VALID", "damaged"],
    ),
    // 51
    ("extract exp.zip -C exp", 2, &["exists", "--force"], NOTHING),
    // 54 and 55
    ("diff exp/time.ra exp/sub/count.ra", 1, &["not compared, because the"], NOTHING),
    ("diff exp.zip exp/time.ra", 2, &["is a pack and", "--member NAME"], NOTHING),
    // 56
    ("diff README.md exp/README.md", 2, &["`diff README.md exp/README.md` compares"], NOTHING),
    // 57
    ("explain wxyz", 2, &["no such code; `ra-pack explain` lists them all"], &["NDL001"]),
    ("explain DESC113", 2, &["the nearest is `DESC015`"], NOTHING),
    // 58
    ("info exp/time.ra --field foo", 2, &["no field `foo`", "dims"], NOTHING),
    // 59 and 60
    ("convert object.npy o.ra", 2, &["object.npy", "Python objects"], NOTHING),
    ("convert cut.npy o.ra", 1, &["cut.npy", "the end of the file"], NOTHING),
    // 62
    ("convert exp/time.ra t.csv", 0, &["wrote"], NOTHING),
    // 66 to 68
    ("reshape exp/time.ra 3 4", 2, &["expected 12 elements", "found 5"], NOTHING),
    ("reshape exp/time.ra -- -1 -1", 2, &["only one length can be computed"], NOTHING),
    ("reshape exp/time.ra depth time", 2, &["expected a length such as 149, or -1"], NOTHING),
    ("reshape exp.zip 3", 2, &["`exp.zip` is a zip file, not an array"], NOTHING),
    // 69
    ("show exp.zip time.ra --edge 0", 2, &["expected a number from 1 to 1000"], &["1..="]),
    ("list --jobs 0 exp.zip", 2, &["expected a number from 1 to 256"], NOTHING),
    ("creat exp", 2, &["'create'"], &["'report'", "'schema'"]),
    ("list -z exp.zip", 2, &["unexpected argument '-z'"], &["to pass"]),
    // 72
    (
        "verify flip.zip",
        1,
        &["[ARC006]", "does not match its checksum", "NOT VALID", "flip.zip: "],
        &["DESC", "RA001"],
    ),
    // 73
    ("get exp.zip thermistors\\temperature.ra -o t.ra", 0, &["wrote t.ra"], NOTHING),
    // Arguments in another order, without an option, or from another program.
    ("create exp made.zip", 2, &["after -o: `ra-pack create exp -o made.zip`"], NOTHING),
    ("show time exp.zip", 2, &["the pack comes first: `ra-pack show exp.zip time`"], NOTHING),
    ("get count exp.zip -o t.npy", 2, &["`ra-pack get exp.zip count -o t.npy`"], NOTHING),
    ("plot exp.zip time --vmin 3", 2, &["tip: --range LOW:HIGH"], NOTHING),
    ("describe --dims time=a b exp", 2, &["tip: quote a value with spaces"], NOTHING),
    ("verify -", 2, &["cannot open `-`", "write anything else to a file first"], NUMBER),
    ("list ftp://x/y.zip", 2, &["reads files and https, http, s3, gs, az and abfs URLs"], NUMBER),
    ("describe --set units=K exp", 2, &["has no `units`", "`sub/count.units`"], NOTHING),
    (
        "verify store",
        1,
        &["the archives in it (old.zip): `ra-pack verify --recursive store`"],
        &["manifest --write"],
    ),
    ("verify --recursive data", 2, &["no archive and no manifest was found"], NOTHING),
    (
        "add twins.zip data/../noise.bin",
        2,
        &["`ra-pack add twins.zip -C data/.. noise.bin` adds it as `noise.bin`"],
        NOTHING,
    ),
    ("add exp.zip plain.ra", 1, &["[DESC001]", "describe --write DIR`"], &["--write exp.zip"]),
    // Files of the wrong kind, and places where no file can be.
    ("validate data.csv", 2, &["is a table, not a description", "describe --apply"], NOTHING),
    ("describe --apply latin.csv exp", 2, &["not UTF-8; save it as UTF-8"], NUMBER),
    ("convert store.zip s", 2, &["`store.zip` is a Zarr store", ".npy or NetCDF"], NOTHING),
    ("convert README.md s.ra", 2, &[".npy or NetCDF"], &["docs/"]),
    ("extract exp.zip -C README.md", 2, &["`README.md`: a file has this name"], NUMBER),
    #[cfg(target_os = "linux")]
    ("get exp.zip time.ra -o /proc/t.npy", 2, &["permission denied"], &["no such directory"]),
    (
        "verify exp.zip --manifest twins.zip.manifest-sha256.txt",
        1,
        &["belongs to another pack", "0 of 5 entries", "exp.zip: NOT VALID, 1 error"],
        &["MAN004", "pack it again"],
    ),
    (
        "verify exp --manifest twins.zip.manifest-sha256.txt",
        1,
        &["belongs to another pack", "exp: NOT VALID, 2 errors"],
        &["MAN004", "MAN005"],
    ),
    ("validate --metadata odd", 0, &["`ra-pack describe --set 'a b'.units=UNITS odd`"], NOTHING),
    (
        "get exp.zip temperature --slice :,[1,2] -o s.npy",
        2,
        &["a slice has no lists of indices", "1:9:2", "--sel"],
        NOTHING,
    ),
    (
        "get exp.zip temperature --slice :,2024-06-03 -o s.npy",
        2,
        &["`--sel time=2024-06-03` selects by the values of coordinates"],
        NOTHING,
    ),
    ("get exp.zip temperature --slice :,x=1 -o s.npy", 2, &["expected an index"], &["--sel"]),
    ("list tail.zip", 1, &["9 bytes follow the end", "first", "as `head -c"], NOTHING),
    ("info exp.zip count --field units", 2, &["no field `units`"], NOTHING),
    ("info deep depth --field units", 0, &["m\n"], NOTHING),
    ("info deep --field title", 0, &["Mooring\n"], NOTHING),
    (
        "describe -n --set sub/count.unit=K exp",
        0,
        &[
            "warning: programs know the attribute `units`, not `unit`",
            "`ra-pack describe --set sub/count.unit= --set sub/count.units=K exp`",
        ],
        NOTHING,
    ),
    ("describe -n --set depth.long_name=K deep", 0, NOTHING, &["warning"]),
    ("describe -n --set depth.longname=K deep", 0, &["`long_name`, not `longname`"], NOTHING),
    // An array of measured values is not a coordinate, even if it is called `x`.
    (
        "convert --dimcoords random random.zip",
        0,
        &["warning: the coordinate `x` neither increases nor", "; it is not", "uint8 [3], column"],
        &["[x]"],
    ),
    ("convert --dimcoords data data.zip", 0, NOTHING, &["neither"]),
    (
        "describe -n --write --dimcoords measured",
        0,
        &["[META004]", "measured/x.ra", "neither increases nor decreases"],
        NOTHING,
    ),
    ("describe --dimcoords measured", 0, &["shape: [3]"], &["dimcoords:\n"]),
    // Names are a matter of `validate`, `create` and `verify`, with one prefix.
    (
        "convert devices devices.zip",
        0,
        &["warning: aux.ra: some systems cannot store this name", "(NAME009)"],
        &["warning["],
    ),
    ("report aux.zip -o aux.html", 0, &["valid"], &["NAME009"]),
    ("manifest --check aux.zip", 0, &["verified"], &["NAME009"]),
    ("verify aux.zip", 0, &["NAME009"], NOTHING),
    ("extract exp.zip count -C count", 0, &["unpacked 2 files"], NOTHING),
];
