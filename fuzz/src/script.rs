//! Decisions from the bytes of the fuzzer: a script for a builder of archives. After its end, every answer is zero, the
//! most ordinary one.

/// The rest of the script.
pub(crate) struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Returns a number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    /// Returns the lowest bit of the next byte.
    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 != 0
    }

    /// Returns one of several values.
    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Returns at most `longest` bytes; their number is read first.
    pub(crate) fn bytes(&mut self, longest: usize) -> &'a [u8] {
        let length = self.below(longest + 1).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    /// Returns the name of a member: an ordinary one, a hostile one, or any bytes.
    pub(crate) fn name(&mut self) -> Vec<u8> {
        const NAMES: [&[u8]; 31] = [
            b"a.txt",
            b"b.bin",
            b"dir/",
            b"dir/c",
            b"dir",
            b"",
            b"/",
            b"./a.txt",
            b"../a",
            b"/abs",
            b"a//b",
            b"dir/../a",
            b"dir/./a",
            b".",
            b"..",
            b"dir\\a",
            b"C:\\a",
            b"C:/a",
            b"nul",
            b"a\0b",
            b"a\nb",
            b" a",
            b"a.",
            b"A.TXT",
            "gr\u{f6}\u{df}e".as_bytes(),
            "gro\u{308}\u{df}e".as_bytes(),
            b"gr\x94\xe1e",
            b"\xff",
            b"\xef\xbb\xbfa",
            b"a.ra",
            b"manifest-sha256.txt",
        ];
        let choice = self.below(NAMES.len() + 2);
        match NAMES.get(choice) {
            Some(name) => name.to_vec(),
            None if choice == NAMES.len() => self.bytes(24).to_vec(),
            None => {
                // Long enough for every representation of names in a tar.
                let length = 90 + self.below(200);
                let mut name = vec![b'n'; length];
                name[length / 2] = b'/';
                name
            }
        }
    }
}

/// Bytes with the offset of each field, so that one field can be changed.
#[derive(Default)]
pub(crate) struct Fields {
    pub(crate) bytes: Vec<u8>,
    pub(crate) places: Vec<(usize, usize)>,
}

impl Fields {
    /// Appends a field.
    pub(crate) fn put(&mut self, field: &[u8]) {
        self.places.push((self.bytes.len(), field.len()));
        self.bytes.extend(field);
    }

    /// Appends all fields of another.
    pub(crate) fn append(&mut self, other: Fields) {
        let at = self.bytes.len();
        self.places.extend(other.places.into_iter().map(|(from, length)| (at + from, length)));
        self.bytes.extend(other.bytes);
    }

    /// Changes one field: another number, a number near it, or one bit. Returns its offset.
    pub(crate) fn mutate(&mut self, script: &mut Script<'_>) -> usize {
        let (at, length) = self.places[usize::from(script.u16()) % self.places.len()];
        let field = &mut self.bytes[at..at + length];
        match script.below(4) {
            0 => {
                if let Some(first) = field.first_mut() {
                    *first = first.wrapping_add(script.byte() as i8 as u8);
                }
            }
            1 => field.fill(script.byte()),
            2 => {
                let value = script.u64().to_le_bytes();
                field.iter_mut().zip(value).for_each(|(byte, new)| *byte = new);
            }
            _ => {
                let bit = usize::from(script.u16());
                if let Some(byte) = field.get_mut(bit / 8 % length.max(1)) {
                    *byte ^= 1 << (bit % 8);
                }
            }
        }
        at
    }
}
