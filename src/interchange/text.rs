//! The text of a header, read from its beginning to its end: the part that the languages of all formats share.

#![expect(clippy::indexing_slicing, reason = "positions come from searches in the same text")]

use super::Error;

/// How deep lists may nest: deeper, hostile text could overflow the stack.
const MAX_DEPTH: usize = 64;

/// How the characters of a text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    /// One byte each.
    Latin1,
    /// UTF-8, which is checked when reading begins.
    Utf8,
}

/// What a language has of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    pub(super) charset: Charset,
    /// The complaint about text that is not in its charset.
    pub(super) not_utf8: &'static str,
    /// Bytes between values.
    pub(super) blanks: &'static [u8],
    /// The word for that which must not nest too deep.
    pub(super) nesting: &'static str,
    /// Whether a comma may follow the last item of a list.
    pub(super) trailing_commas: bool,
    /// What is expected behind the one value.
    pub(super) end: &'static str,
}

/// A place in the text of a header.
pub(super) struct HeaderText<'t> {
    text: &'t [u8],
    at: usize,
    /// The byte of the file at which the text begins.
    base: u64,
    depth: usize,
    language: Language,
}

impl<'t> HeaderText<'t> {
    /// Reads the one value that `text` is by `value`. `base` is the byte of the file at which the text begins.
    pub(super) fn read<T>(
        text: &'t [u8],
        base: u64,
        language: Language,
        value: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut this = Self { text, at: 0, base, depth: 0, language };
        if let (Charset::Utf8, Err(error)) = (language.charset, str::from_utf8(text)) {
            this.at = error.valid_up_to();
            return Err(Error::malformed(this.offset(), language.not_utf8));
        }
        this.blanks();
        let read = value(&mut this)?;
        this.blanks();
        if this.peek().is_some() { Err(this.expected(language.end)) } else { Ok(read) }
    }

    /// The place in the file.
    pub(super) fn offset(&self) -> u64 {
        self.base.saturating_add(self.at as u64) // the base is a claim of the caller
    }

    /// The next byte.
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    /// Everything from here on.
    pub(super) fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// Takes the next byte.
    pub(super) fn next(&mut self) -> Option<u8> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// Takes `word` when it is next.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word.as_bytes());
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    /// Takes the bytes that are such.
    pub(super) fn take_while(&mut self, mut is_such: impl FnMut(u8) -> bool) -> &'t [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|byte| !is_such(*byte)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Takes the bytes that are such, as text.
    pub(super) fn text_while(&mut self, is_such: impl FnMut(u8) -> bool) -> String {
        let bytes = self.take_while(is_such);
        match self.language.charset {
            Charset::Latin1 => bytes.iter().copied().map(char::from).collect(),
            // Cut at ASCII bytes out of what is UTF-8, so nothing is replaced.
            Charset::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
        }
    }

    /// Takes the blanks.
    pub(super) fn blanks(&mut self) {
        let blanks = self.language.blanks;
        self.take_while(|byte| blanks.contains(&byte));
    }

    /// Takes a bracket, has `item` read each item, and takes the bracket `close`. The answer is whether a comma
    /// follows the last item.
    pub(super) fn items(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        if self.depth == MAX_DEPTH {
            let nesting = self.language.nesting;
            let reason = format!("expected {nesting} nested at most {MAX_DEPTH} deep, found more");
            return Err(Error::malformed(self.offset(), reason));
        }
        self.depth += 1;
        self.next();
        let (mut is_first, mut comma) = (true, false);
        loop {
            self.blanks();
            if (is_first || self.language.trailing_commas) && self.take(close) {
                break;
            }
            item(self)?;
            self.blanks();
            (is_first, comma) = (false, self.take(","));
            if !comma && self.take(close) {
                break;
            }
            if !comma {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
        self.depth -= 1;
        Ok(comma)
    }

    /// Takes up to `most` digits and at least `least`, and gives their number.
    pub(super) fn number(
        &mut self,
        radix: u32,
        [least, most]: [usize; 2],
        expected: &str,
    ) -> Result<u32, Error> {
        let mut number = 0_u32;
        for index in 0..most {
            match self.peek().and_then(|byte| char::from(byte).to_digit(radix)) {
                Some(digit) => number = number * radix + digit,
                None if index >= least => break,
                None => return Err(self.expected(expected)),
            }
            self.next();
        }
        Ok(number)
    }

    /// The complaint that something else is here.
    pub(super) fn expected(&self, what: &str) -> Error {
        let letter = match self.language.charset {
            Charset::Latin1 => None,
            Charset::Utf8 => String::from_utf8_lossy(self.rest()).chars().next(),
        };
        let found = match (self.peek(), letter) {
            (None, _) => "the end of the header".to_owned(),
            (Some(plain @ b' '..=b'~'), _) => format!("`{}`", char::from(plain)),
            (Some(b'\t' | b'\n' | b'\r' | 0x80..), Some(letter)) => {
                format!("`{}`", letter.escape_default())
            }
            (Some(byte), _) => format!("the byte {byte:#04x}"),
        };
        Error::malformed(self.offset(), format!("expected {what}, found {found}"))
    }
}

/// A text in backquotes, cut where it becomes long.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
