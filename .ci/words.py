"""Finds words and openings that the style guide in CONTRIBUTING.md bans.

usage: words.py [--count] [FILE or DIRECTORY]...    all files of the repository by default

It reads Markdown, comments and strings of Rust and Python, and comments of shell and TOML. Help texts are doc comments,
so they are read too. To keep a word, give the reason on the same line, or on the line before the line or paragraph:
`// words: a quotation` in code, `<!-- words: a quotation -->` in Markdown. The exit status is 1 if anything is found.
"""

import bisect
import collections
import io
import pathlib
import re
import subprocess
import sys
import tokenize

# The patterns are the only text that needs the words; the bytes of the sample data are fixed. The text of the two pages
# is checked in the code that they are made from.
LEFT_OUT = (".ci/words.py", "examples/experiment/", "docs/cli.md", "docs/codes.md")
SUFFIXES = (".md", ".py", ".rs", ".toml")
SHELL = (".ci/run", "packaging/build", "packaging/site/build", "packaging/try", "packaging/wheels")

START = r"(?:^|(?<=[.:;!?|] ))(?:[-*|] |\d+\. |\*\*)*"
ADVERBS = "longer|more|less|fewer|later|earlier|larger|greater|smaller|matter|faster|slower|better|worse|one|such"
AMERICAN = "behavior|favor|honor|neighbor|rigor|labeled|labeling|modeled|modeling|canceled|canceling|gray"
ENDINGS = "e|es|ed|er|ing|ation|ations"
STEMS = ("recogni|normali|initiali|seriali|optimi|organi|summari|minimi|maximi|synchroni|finali|generali|speciali|"
         "memori|visuali|quanti|standardi|categori|emphasi|saniti|tokeni|parallel")

# What to write instead, and the pattern.
BANNED = [(advice, re.compile(pattern)) for advice, pattern in [
    ("begin with the subject", START + r"(?:What|Who|Whoever|Whose|Whatever)\b(?![^.!?]*\?)"),
    ("begin with the subject", START + r"Of (?:a|an|the|all|each|several|two|what|these|those|any|every|one)\b"),
    ("`# Errors` names variants and causes", START + r"When it would\b"),
    ("checked against", r"\b(?:held|hold|holds|holding)\b[^.;,]{0,40} against\b"),
    ("is renamed, appears", r"\b(?:get|gets|got) its name\b|\bgiven its name\b"),
    ("reported, shown", r"\btold\b|\btells? (?:of|what|how|who|whether|that|where)\b"),
    ("is, goes, appears, means", r"\b(?:stand|stands|stood|standing) (?:in|at|on|for|behind|before|after|first|last|where|"
                                 r"there|as|between|above|below|by)\b"),
    ("is, is stored", r"\b(?:lie|lies|lay|lying) (?:in|at|on|behind|before|after|between|there|where|above|below|within|"
                      r"next|outside)\b"),
    ("next to, with", r"\bbeside\b"),
    ("is not a", rf"(?<!there )(?<!There )\b(?:is|are|was|were|be) no (?!(?:{ADVERBS})\b)[a-z]"),
    ("after", r"(?<!left )\bbehind\b"),
    ("again", r"\banew\b"),
    ("leave it out", r"\bmeanwhile\b|\bnone the less\b|\bnonetheless\b|\bwhoever\b|\bwhatever\b"),
    ("valid, intact", r"\bsound\b(?! file)|\bat fault\b"),
    ("confirms, repair, hint", r"\bvouch(?:es|ed)?\b|\bmend(?:s|ed|ing)?\b|\bremed(?:y|ies)\b"),
    ("instead of", r"\bin the place of\b|\bin (?:its|their) place\b"),
    ("the known word", r"\bby halves\b|\bbrain floats?\b|\bthe bare work\b|\bso many\b(?! that)"),
    ("NumPy", r"(?<![`./\w-])(?<!import )(?<!from )numpy(?![\w`./(-])(?! as \w)"),
    ("-ize", rf"\b(?:{STEMS})s(?:{ENDINGS})\b"),
]]
# American spellings are names in CSS and in interfaces, so strings may have them.
BANNED_IN_PROSE = [("British spelling", re.compile(rf"\b(?:{AMERICAN})(?:s|ed|ing|al)?\b"))]

CODE_COMMENT = {"rust": "//", "python": "#", "sh": "#", "toml": "#", "yaml": "#", "c": "//"}

RUST = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
    |(?<!\w)b?r(?P<hashes>\#*)"(?P<raw>.*?)"(?P=hashes)
    |"(?P<string>(?:[^"\\]|\\.)*)"
    |'(?:[^'\\\n]|\\[^\n]+?)'
""", re.S | re.X)


class Unit:
    """A paragraph, a comment or a string: pieces of text, each with its line."""

    def __init__(self, pieces, is_prose=True):
        self.starts, self.lines, self.text, self.is_prose = [], [], "", is_prose
        for line, text in pieces:
            self.starts.append(len(self.text))
            self.lines.append(line)
            self.text += text.strip() + " "
        # Code and placeholders are not prose. Their lengths stay, so that offsets agree.
        code = r"`[^`]+`" if is_prose else r"`[^`]+`|\{[^{}\s]*\}"
        self.text = re.sub(code, lambda code: code[0][0] + "_" * (len(code[0]) - 2) + code[0][-1], self.text)

    def line(self, offset):
        return self.lines[bisect.bisect_right(self.starts, offset) - 1]


def paragraphs(pieces):
    """Splits lines of Markdown into units; leaves out code, except for its comments."""
    block, fence = [], None
    for line, text in pieces:
        words = text.strip()
        if words.startswith("```"):
            fence = words[3:] or "rust" if fence is None else None
            words = ""
        elif fence is not None:
            if fence == "text":
                yield Unit([(line, words)])
            elif comment := re.search(rf"(?:^|\s){CODE_COMMENT.get(fence.split(',')[0], '(?!)')} (.*)", text):
                yield Unit([(line, comment[1])])
            continue
        heading = words.startswith(("#", "|"))
        if block and (not words or heading or re.match(r"([-*]|\d+\.) ", words)):
            yield Unit(block)
            block = []
        if words and heading:
            yield Unit([(line, words.lstrip("#"))])
        elif words:
            block.append((line, words.lstrip("> ")))
    if block:
        yield Unit(block)


def string_unit(line, text):
    """A unit of a string of several words."""
    if re.search(r"[a-z]{2}\S* \S", text):
        text = re.sub(r"\\\n\s*", "\n", text).replace(r"\n", " ")
        yield Unit([(line + at, part) for at, part in enumerate(text.split("\n"))], is_prose=False)


def rust_units(text):
    comments, code_ends = [], 0
    for token in RUST.finditer(text):
        line = text.count("\n", 0, token.start()) + 1
        if comment := token["comment"]:
            # A comment after code, or after a gap, begins another paragraph.
            if text[code_ends:token.start()].strip() or text.count("\n", code_ends, token.start()) > 1:
                yield from paragraphs(comments)
                comments = []
            lines = re.sub(r"^//[/!]?|^/\*+|\*/$", "", comment).split("\n")
            comments += [(line + at, part) for at, part in enumerate(lines)]
        else:
            yield from paragraphs(comments)
            comments = []
            words = token["string"] if token["raw"] is None else token["raw"]
            if words:
                yield from string_unit(line, words)
        code_ends = token.end()
    yield from paragraphs(comments)


def python_units(text):
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            comments.append((line, token.string.lstrip("#")))
        elif token.type != tokenize.NL:
            yield from paragraphs(comments)
            comments = []
            if token.type == tokenize.STRING:
                words = re.sub(r'''^\w*("""|'''  "'''" r'''|"|')|("""|'''  "'''" r'''|"|')$''', "", token.string)
                if token.string.startswith('"""'):
                    yield from paragraphs((line + at, part) for at, part in enumerate(words.split("\n")))
                else:
                    yield from string_unit(line, words)
    yield from paragraphs(comments)


def comment_units(text):
    """Comments that begin with `#`, in shell and TOML."""
    block = []
    for number, line in enumerate(text.split("\n"), 1):
        comment = re.match(r"\s*#+ (.*)", line)
        trailing = None if comment else re.search(r"\S\s+# (.*)", line)
        if not comment:
            yield from paragraphs(block)
            block = []
        if comment:
            block.append((number, comment[1]))
        elif trailing:
            yield Unit([(number, trailing[1])])
    yield from paragraphs(block)


def units(file, text):
    if file.suffix == ".rs":
        return rust_units(text)
    if file.suffix == ".py":
        return python_units(text)
    if file.suffix == ".md":
        return paragraphs(enumerate(text.split("\n"), 1))
    return comment_units(text)


def found(file, text):
    """Yields the line, the advice and the words of each banned phrase."""
    lines = [""] + text.split("\n")
    for unit in units(file, text):
        for advice, pattern in BANNED + BANNED_IN_PROSE * unit.is_prose:
            for match in pattern.finditer(unit.text):
                line = unit.line(match.start())
                first = unit.lines[0]
                around = (lines[line], lines[line - 1], lines[first], lines[first - 1])
                if not any(re.search(r"\bwords: \S", other) for other in around):
                    yield line, advice, unit.text[max(0, match.start() - 30):match.end() + 40].strip()


def check_the_check():
    """Fails if the patterns or the readers miss a phrase, or find one where none is."""
    for name, text, expected in [
        ("x.md", "A list.\n\n- What it costs is time.\n- What does it cost?", [3]),
        ("x.md", "| a | b |\n|---|---|\n| c | What d is |", [3]),
        ("x.md", "It was\ntold. `told`\n\n```console\n$ told\n```", [2]),
        ("x.md", "<!-- words: a quotation -->\nA\nwas told.\n\nHe was told.", [5]),
        ("x.rs", "/// A\n/// sound one.\nfn f() {} // was told\nlet a = 'a'; // anew", [2, 3, 4]),
        ("x.rs", 'f("not // a comment, \\"mend\\" it", r#"the "sound" of it"#, \'"\', "x")', [1, 1]),
        ("x.rs", "// There is no file. It is no longer than so many that left behind.\n// It is no file.", [2]),
        ("x.py", '"""Told\n\nThe numpy file."""\nimport numpy as np  # with numpy\nprint("it recognises a")', [3, 4, 5]),
        ("x.rs", 'format!("{told}: {beside:?} is told")', [1]),
        ("x.toml", 'a = 1 # stands for b\nb = "told"', [1]),
        ("x.rs", "// Its behavior.\nlet css = \"color: gray; a b\";", [1]),
    ]:
        lines = [line for line, _, _ in found(pathlib.Path(name), text)]
        assert sorted(lines) == expected, f"{text!r}: found in {lines}"


def files(arguments):
    roots = arguments or ["."]
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *roots],
                            check=True, capture_output=True, text=True).stdout
    for name in sorted(filter(None, listed.split("\0"))):
        file = pathlib.Path(name)
        if file.is_file() and not name.startswith(LEFT_OUT) and (file.suffix in SUFFIXES or name in SHELL):
            yield file


def main():
    check_the_check()
    counts = collections.Counter()
    for file in files([argument for argument in sys.argv[1:] if argument != "--count"]):
        for line, advice, words in found(file, file.read_text()):
            counts[advice] += 1
            if "--count" not in sys.argv:
                print(f"{file}:{line}: {advice}: …{words}…")
    for advice, count in counts.most_common():
        print(f"{count:6} {advice}", file=sys.stderr)
    sys.exit(1 if counts else 0)


main()
