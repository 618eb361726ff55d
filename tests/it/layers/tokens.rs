//! The words and signs of a Rust source, without its comments and literals.

/// A word, a sign, or `"` for any literal in quotes.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) line: usize,
    pub(super) text: String,
}

/// Whether this is an identifier, a keyword or a number.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Splits a source into words, `::`, arrows and single characters; a literal becomes `"`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let (mut i, mut line) = (0, 1);
    while i < chars.len() {
        let start = i;
        let token = match (at(i), at(i + 1)) {
            (c, _) if c.is_whitespace() => {
                i += 1;
                None
            }
            ('/', '/') => {
                i = (i..chars.len()).find(|&j| at(j) == '\n').unwrap_or(chars.len());
                None
            }
            ('/', '*') => {
                i = end_of_block_comment(&chars, i);
                None
            }
            ('"', _) => {
                i = end_of_quoted(&chars, i);
                Some("\"".to_owned())
            }
            ('\'', next) if next == '\\' || at(i + 2) == '\'' => {
                i = end_of_quoted(&chars, i);
                Some("\"".to_owned())
            }
            ('\'', _) => {
                // A lifetime or a label.
                i = end_of_word(&chars, i + 1);
                None
            }
            (':', ':') | ('-' | '=', '>') => {
                i += 2;
                Some(chars[start..i].iter().collect())
            }
            (c, _) if c.is_alphanumeric() || c == '_' => {
                i = end_of_word(&chars, i);
                let word: String = chars[start..i].iter().collect();
                let hashes = chars[i..].iter().take_while(|c| **c == '#').count();
                match (word.as_str(), at(i + hashes)) {
                    ("r" | "br" | "cr", '"') => {
                        i = end_of_raw_string(&chars, i + hashes, hashes);
                        Some("\"".to_owned())
                    }
                    ("b" | "c", '"' | '\'') if hashes == 0 => {
                        i = end_of_quoted(&chars, i);
                        Some("\"".to_owned())
                    }
                    ("r", _) if hashes == 1 => {
                        let name = i + 1;
                        i = end_of_word(&chars, name);
                        Some(chars[name..i].iter().collect())
                    }
                    _ => Some(word),
                }
            }
            (c, _) => {
                i += 1;
                Some(c.to_string())
            }
        };
        tokens.extend(token.map(|text| Token { line, text }));
        line += chars[start..i].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

fn end_of_word(chars: &[char], start: usize) -> usize {
    let rest = &chars[start..];
    start + rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count()
}

/// `start` is at the opening quote, double or single.
fn end_of_quoted(chars: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != chars[start] {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// `quote` is at the opening quote, after `hashes` hashes.
fn end_of_raw_string(chars: &[char], quote: usize, hashes: usize) -> usize {
    let closes = |i: &usize| {
        chars[*i] == '"' && chars[i + 1..].iter().take_while(|c| **c == '#').count() >= hashes
    };
    (quote + 1..chars.len()).find(closes).map_or(chars.len(), |i| i + 1 + hashes)
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let (mut i, mut depth) = (start + 2, 1);
    while i < chars.len() && depth > 0 {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (i, depth) = (i + 2, depth + 1),
            ('*', Some('/')) => (i, depth) = (i + 2, depth - 1),
            _ => i += 1,
        }
    }
    i
}

/// One past the bracket that closes the one at `open`.
pub(super) fn end_of_group(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}
