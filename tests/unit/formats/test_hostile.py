"""Files that are wrong, by accident or by intent: one clear error, in little time and memory."""

from __future__ import annotations

import random
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tests.bayesian import random_network
from xordal import BayesianNetwork, DataError, ModelFileError, read_network
from xordal.formats import bif, checked, draft, hugin_net, tokens, uai
from xordal.formats.network_files import network_text
from xordal.model.directed import Family

FORMATS = ("bif", "xmlbif", "net", "uai", "json")
SECONDS, MEGABYTES = 15.0, 300  # of the processor; far more than any needs, far less than a bomb takes


def read(content: str | bytes, folder: Path) -> object:
    """Read and use a file; any error but ours fails the test."""
    path = folder / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    network = read_network(path)
    return network.to_markov() if isinstance(network, BayesianNetwork) else network


def refused(content: str | bytes, folder: Path, words: str) -> None:
    """The file is refused in these words, in bounded time and memory."""
    tracemalloc.start()
    try:
        started = time.process_time()
        with pytest.raises(DataError, match=words):
            read(content, folder)
        assert time.process_time() - started < SECONDS
        assert tracemalloc.get_traced_memory()[1] < MEGABYTES * 2**20
    finally:
        tracemalloc.stop()


VARIABLE = "variable a { type discrete [ 2 ] { u, v }; }\n"
ROW = "probability ( a ) { table 0.5, 0.5; }\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (VARIABLE, "line 2: there are no probabilities of 'a'"),
        (VARIABLE + ROW[:-4], "ends in the middle|there must be"),
        (VARIABLE + VARIABLE + ROW, "line 2: .*second time"),
        (VARIABLE + ROW + ROW, "second time"),
        (VARIABLE + "probability ( b ) { table 0.5, 0.5; }", "no variable 'b'"),
        (VARIABLE + "probability ( a | a ) { table 0.5, 0.5; }", "distinct"),
        (VARIABLE + "probability ( a ) { table 0.5, 0.6; }", r"sum to 1\.1 instead of 1"),
        (VARIABLE + "probability ( a ) { table 0.5; }", "there are 1 probabilities"),
        (VARIABLE + "probability ( a ) { table nan, 0.5; }", "numbers from 0 to 1"),
        (VARIABLE + "probability ( a ) { table inf, 0.5; }", "numbers from 0 to 1"),
        (VARIABLE + "probability ( a ) { table -0.5, 1.5; }", "numbers from 0 to 1"),
        (VARIABLE + "probability ( a ) { table x, 0.5; }", "'x' is no number"),
        (VARIABLE + "probability ( a ) { table 0_1, 0.5; }", "is no number"),
        (VARIABLE + "probability ( a ) { (u) 0.5, 0.5; }", "levels for the parents"),
        (VARIABLE + "probability ( a ) { table 0.5, 0.5; table 0.5, 0.5; }", "second time"),
        (VARIABLE + "probability ( a ) { table 0.5, 0.5, 0.5; }", "more than 2 probabilities of 'a'"),
        (VARIABLE + "probability ( a ) { property {{ ;", "there must be|ends in the middle"),
        ("variable a { type discrete [ 2 ] { u, v, w }; }", "more than 2 levels of 'a'"),
        ("variable a { type discrete [ 3 ] { u, v }; }", "2 levels and not '3'"),
        ("variable a { type discrete [ 999999999999 ] { u, v }; }", "levels and not"),
        ("variable a { type discrete [ 2 ] { u, u }; }", "twice"),
        ("variable a { }", "no levels"),
        ('network "a { }', "not closed"),
        ("network a { /* }", "not closed"),
        ("network a { }", "at least one variable"),
        ("network " + "{" * 100_000, "ends in the middle"),
        ("variable " + "x" * 1_000_000, "the file ends in the middle"),
    ],
)
def test_wrong_bif(text: str, words: str, tmp_path: Path) -> None:
    refused(text, tmp_path, words)


MANY = 4_000_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"<BIF><NETWORK>{'x' * MANY}</NETWORK></BIF>", "at least one variable"),
        ("<BIF><NETWORK>" + "x\n" * MANY + "</NETWORK></BIF>", "at least one variable"),
        ("<BIF " + "x" * MANY, "a tag or a comment is too long"),
        ("<BIF><!--" + "x" * MANY + "--></BIF>", "a tag or a comment is too long"),
        (VARIABLE + "probability ( a ) { table " + "0.5 " * MANY + "; }", "more than 2 probabilities"),
        (VARIABLE + "probability ( a ) { table " + "," * MANY + "; }", "there are 0 probabilities"),
        ("network " + "{" * MANY, "ends in the middle"),
        ('network "' + "\\a" * MANY, "not closed"),
        ("%\n" * MANY, "is no network"),
        ("net {" + ";" * MANY, "the file ends in the middle"),
        ("a,b\n" * MANY, "looks like a table"),
        ("".join(f"variable v{v} {{ type discrete [ 2 ] {{ u, w }}; }}\n" for v in range(2000))
         + f"probability ( v0 | {', '.join(f'v{v}' for v in range(1, 2000))} ) {{ default 1; }}",
         r"has 1e\+602 cells"),
    ],
    ids=lambda text: text[:12].replace("\n", " ") if len(text) > 60 else None,
)  # fmt: skip
def test_long_files(text: str, words: str, tmp_path: Path) -> None:
    """Millions of the same: refused in some seconds, in a few times the memory of the file."""
    refused(text, tmp_path, words)


@pytest.mark.parametrize(
    "text", ["node a {" + ";" * 900, "net { }\n" * 900, VARIABLE.replace("};", "};" + " property;" * 900, 1)]
)
def test_a_file_of_too_many_properties_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is passed over in a microsecond or two: of 250 million, that would be minutes."""
    monkeypatch.setattr(tokens, "MOST_PASSED", 800)
    refused(text, tmp_path, "more than 800 properties")


def test_lists_levels_and_objects_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty lists and short names take many times their length in memory."""
    monkeypatch.setattr(checked, "MOST_BRACKETS", 900)
    refused('{"format": "xordal network", "a": [' + "[]," * 900 + "1]}", tmp_path, "more than 900 lists")
    for module in (bif, hugin_net, draft):
        monkeypatch.setattr(module, "MOST_LEVELS", 900)
    levels = " ".join(f"u{v}" for v in range(901))
    refused(f"variable a {{ type discrete [ 901 ] {{ {levels} }}; }}", tmp_path, "more than 900 levels of 'a'")
    refused(f"node a {{ states = ({levels}); }}", tmp_path, "more than 900 levels of 'a'")
    refused(f"BAYES 1 901 1 1 0 901 {'0 ' * 900} 1", tmp_path, "'x0' has more than 900 levels")


def test_a_cycle_and_missing_rows(tmp_path: Path) -> None:
    two = VARIABLE + VARIABLE.replace(" a ", " b ")
    rows = "{ (u) 0.5, 0.5; (v) 0.5, 0.5; }\n"
    refused(f"{two}probability ( a | b ) {rows}probability ( b | a ) {rows}", tmp_path, "cycle")
    refused(f"{two}{ROW}probability ( b | a ) {{ (u) 0.5, 0.5; }}", tmp_path, "1 rows of 'b' are missing")


@pytest.mark.slow
def test_a_short_file_cannot_claim_large_tables(tmp_path: Path) -> None:
    names = [f"v{v}" for v in range(60)]
    text = "".join(f"variable {name} {{ type discrete [ 2 ] {{ u, v }}; }}\n" for name in names)
    for v, name in enumerate(names):
        given = f" | {', '.join(names[max(0, v - 22) : v])}" if v else ""
        text += f"probability ( {name}{given} ) {{ default 0.5, 0.5; }}\n"
    refused(text, tmp_path, "cells in all")
    wide = text.replace(", ".join(names[1:23]), ", ".join(names[1:23] + names[24:40]))
    refused(wide, tmp_path, "cells; the most are|cells in all|cycle")


def test_many_parents_of_one_level_are_too_many(tmp_path: Path) -> None:
    names = [f"v{v}" for v in range(70)]
    bif = "".join(f"variable {name} {{ type discrete [ 1 ] {{ u }}; }}\n" for name in names)
    bif += "".join(f"probability ( {name} ) {{ table 1; }}\n" for name in names[:-1])
    refused(bif + f"probability ( v69 | {', '.join(names[:-1])} ) {{ default 1; }}\n", tmp_path, "69 parents")
    uai = f"BAYES\n70\n{'1 ' * 70}\n1\n70 {' '.join(map(str, range(70)))}\n\n1\n1\n"
    refused(uai, tmp_path, "70 variables; the most are 32")


def test_the_level_that_is_there_twice_is_found_at_once(tmp_path: Path) -> None:
    levels = ", ".join([*(f"u{v}" for v in range(50_000)), "u7"])
    refused(f"variable a {{ type discrete [ 50001 ] {{ {levels} }}; }}", tmp_path, "'u7' twice")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("BAYES\n99999999999\n", "whole number"),
        ("BAYES\n99999\n2 2\n", "the file ends before"),
        ("MARKOV\n2\n16000000 16000000\n0\n", "fewer numbers"),
        ("BAYES\n1\n2\n1\n1 0\n16777216\n0.5 0.5\n", "the file ends before"),
        ("BAYES\n1\n2\n1\n1 0\n2\n0.5 nan\n", "no number"),
        ("BAYES\n1\n2\n1\n1 7\n2\n0.5 0.5\n", "whole number"),
        ("BAYES\n1\n2\n1\n1 0\n2\n0.5 0.5 0.5\n", "more after"),
        ("BAYES\n1\n2\n1\n1 0\n2\n0.5 0.6\n", "sum to"),
        ("BAYES\n1\n2\n1\n1 0\n2\n0.5\n", "the file ends before"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n-1 1\n", "negative"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n0 0\n", "file: The tables .* nothing possible"),
        ("BAYES " + "9" * 100_000, "whole number"),
    ],
)
def test_wrong_uai(text: str, words: str, tmp_path: Path) -> None:
    refused(text, tmp_path, words)


def test_a_uai_file_of_too_many_numbers_is_refused_before_they_are_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each word takes some twenty times its length: of 256 MB that would be gigabytes."""
    text = "BAYES\n1\n2\n1\n1 0\n2\n0.5 0.5\n"
    read(text, tmp_path)
    monkeypatch.setattr(uai, "MOST_WORDS", len(text.split()))
    read(text, tmp_path)
    refused(text + "10 " * 1_000_000, tmp_path, "more than 9 numbers")


NODE = 'node a { states = ("u" "v"); }\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NODE + "potential ( a ) { data = (0.5 0.6); }", "sum to"),
        (NODE + "potential ( a ) { data = " + "(" * 200_000, "nested too deeply"),
        (NODE + "potential ( a ) { data = (()()); }", "hold nothing"),
        (NODE + "potential ( a ) { data = (0.5 0.5 0.5 0.5); }", "more than 2 probabilities of 'a'"),
        (NODE + "potential ( a ) { data = (0.5 0.5)", "ends in the middle|there must be"),
        (NODE + "potential ( a ) { data = (0.5 0.5)); }", "not opened"),
        (NODE + "potential ( a ) { data = ((0.5 0.5); }", "not closed"),
        (NODE + "potential ( a ) { model_data = (0.5 0.5); }", "formula"),
        ("net {} continuous node a { }", "only discrete"),
        ("node a { states = (); }", "no levels"),
    ],
)
def test_wrong_net(text: str, words: str, tmp_path: Path) -> None:
    refused(text, tmp_path, words)


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE BIF [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(12))
    + "]><BIF><NETWORK><NAME>&m;</NAME></NETWORK></BIF>"
)
MANY_ATTRIBUTES = "".join(f'<!ATTLIST X a{number} CDATA "z">' for number in range(20_000))
"""Every X would have all of them: 9 seconds for 0.6 MB, were they not refused."""
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE BIF [<!ENTITY x SYSTEM "file:///etc/passwd">]><BIF><NETWORK>&x;</NETWORK></BIF>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "declares an entity"),
        (OUTSIDE, "declares an entity"),
        (f"<!DOCTYPE BIF [{MANY_ATTRIBUTES}]><BIF>{'<X/>' * 5000}</BIF>", "too many attributes, or too long"),
        (f'<!DOCTYPE BIF [<!ATTLIST X a CDATA "{"z" * 5000}">]><BIF/>', "too many attributes, or too long"),
        ("<BIF>" * 100_000, "nested too deeply"),
        ("<BIF><NETWORK>", "no XML, or is cut short"),
        ("<html><body/></html>", "is a web page, no network"),
        ("<note><body/></note>", "no XMLBIF"),
        ("<BIF></BIF>", "one NETWORK"),
        ("<BIF><NETWORK></NETWORK></BIF>", "at least one variable"),
        ("<BIF><NETWORK><VARIABLE><NAME></NAME></VARIABLE></NETWORK></BIF>", "the name of a variable"),
        ('<?xml version="1.0" encoding="klingon"?><BIF/>', "encoding"),
        (b"<BIF>\xff\xfe</BIF>", "no XML"),
    ],
)
def test_wrong_xml(text: str | bytes, words: str, tmp_path: Path) -> None:
    refused(text, tmp_path, words)


DECLARED = (
    "<!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> "
    '<!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">'
)
"""As the description of XMLBIF has it."""


def test_a_document_type_without_entities_is_fine(tmp_path: Path) -> None:
    text = "".join(network_text(random_network([2, 2], 0), "xmlbif"))
    typed = text.replace("<BIF VERSION", f"<!DOCTYPE BIF [ {DECLARED} ]>\n<BIF VERSION")
    read(typed, tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"version": 1', '"version": 99'), "version 99"),
        (('"chances": [', '"chances": [0.5, '), "there must be"),
        (('"families"', '"families_"'), "families"),
        (('"parents": []', '"parents": ["v0", "v1", "zebra"]'), "zebra"),
    ],
)
def test_wrong_json(change: tuple[str, str], words: str, tmp_path: Path) -> None:
    text = "".join(network_text(random_network([2, 3, 2], 1), "json"))
    assert change[0] in text
    refused(text.replace(*change), tmp_path, words)
    refused("[" * 100_000, tmp_path, "nested too deeply")
    refused('{"format": "xordal bayesian network", "a": ' + "[" * 100_000, tmp_path, "nested|cut short")


def test_a_network_too_large_to_be_asked_is_still_converted(tmp_path: Path) -> None:
    network = random_network([2] * 60, 5, n_parents=8)
    (tmp_path / "net.bif").write_text("".join(network_text(network, "bif")))
    assert isinstance(read_network(tmp_path / "net.bif"), BayesianNetwork)
    with pytest.raises(DataError, match="can be converted, and not be asked"):
        network.to_markov()


@pytest.mark.slow
def test_a_markov_network_too_large_to_be_asked_is_not_read(tmp_path: Path) -> None:
    """Its tables are no families, so that it cannot be written in any other format either."""
    side = 30
    pairs = [(v, v + 1) for v in range(side**2) if (v + 1) % side] + [
        (v, v + side) for v in range(side**2 - side)
    ]
    lines = ["MARKOV", str(side**2), " ".join(["2"] * side**2), str(len(pairs))]
    lines += [f"2 {u} {v}" for u, v in pairs]
    text = "\n".join([*lines, *["4 1 2 2 1"] * len(pairs)])
    refused(text, tmp_path, "can then be neither asked nor converted")


def even(parents: list[tuple[int, ...]]) -> BayesianNetwork:
    """A network of two levels each in which every table is even."""
    names = tuple(f"v{v}" for v in range(len(parents)))
    families = [Family(v, above, np.full((2,) * (len(above) + 1), 0.5)) for v, above in enumerate(parents)]
    return BayesianNetwork(names, (("u", "w"),) * len(names), tuple(families))


@pytest.mark.slow
def test_a_hub_of_many_children_is_asked_at_once() -> None:
    """Each child has the hub and the child before as parents: 3,000 links to one variable."""
    network = even([(), (0,), *((0, v - 1) for v in range(2, 3000))])
    assert network.to_markov().query("v7", given={"v9": "u"}) == pytest.approx({"u": 0.5, "w": 0.5})


@pytest.mark.parametrize(
    ("n_parents", "reach", "words"),
    [(14, 16, r"cliques .* would have [\d,]{10,} cells together"), (3, 600, "clique of 4. variables .* cells")],
    ids=["many cliques", "a wide one"],
)  # fmt: skip
@pytest.mark.slow
def test_tables_that_are_too_large_are_refused_before_they_are_made(
    n_parents: int, reach: int, words: str
) -> None:
    """The tables that are given have 2**13 cells and less, those of the cliques 2**25 and more together."""
    generator = np.random.default_rng(0)
    parents = [
        tuple(sorted({int(u) for u in generator.integers(max(0, v - reach), v, n_parents)})) if v else ()
        for v in range(600)
    ]
    network = even(parents)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=words):
            network.to_markov()
        assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    finally:
        tracemalloc.stop()


def fuzzed(text: str, chance: random.Random) -> bytes:
    """A valid file with a few things wrong: cut, repeated, moved, exchanged or made up."""
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice([1, 2, 8, 64, 512]))
        what = chance.randrange(6)
        if what == 0:
            del data[start:]
        elif what == 1:
            del data[start:end]
        elif what == 2:
            data[start:start] = data[start:end] * chance.choice([1, 2, 50])
        elif what == 3:
            data[start:end] = bytes(chance.randrange(256) for _ in range(end - start))
        elif what == 4:
            data[start:start] = chance.choice(
                [b"99999999999999999999", b"nan", b"-1", b"1e999", b"{", b"}", b"(", b'"', b";", b"&a;", b"<",
                 b"\x00", b"_x110000_", b"/*", b"[" * 999, b"variable", b"#", "\u2028".encode()]
            )  # fmt: skip
        else:
            data[start:end] = bytes(reversed(data[start:end]))
    return bytes(data)


def check_fuzzed(n_files: int, folder: Path) -> None:
    """Each file is read, or refused with an error of ours; never anything else, and never for long."""
    chance = random.Random(20)
    n_read = 0
    for number in range(n_files):
        to = FORMATS[number % len(FORMATS)]
        network = random_network([chance.randint(1, 3) for _ in range(chance.randint(1, 6))], number)
        content = fuzzed("".join(network_text(network, to)), chance)
        started = time.process_time()
        try:
            read(content, folder)
            n_read += 1
        except DataError as error:
            assert 10 < len(str(error)) < 2000, content
        assert time.process_time() - started < SECONDS, content
    assert 0.01 * n_files < n_read < 0.9 * n_files  # neither all broken nor all whole


def test_500_fuzzed_files(tmp_path: Path) -> None:
    check_fuzzed(500, tmp_path)


@pytest.mark.long
def test_10000_fuzzed_files(tmp_path: Path) -> None:
    check_fuzzed(10_000, tmp_path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_told(encoding: str, tmp_path: Path) -> None:
    text = 'net {} node a { label = "été"; states = ("u" "v"); } potential ( a ) { data = (0.5 0.5); }'
    refused(text.encode(encoding), tmp_path, "no text in UTF-8.* save it in that encoding")


def test_errors_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "broken.bif").write_text("network a { }\nvariable a { type discrete [ 2 ] { u v }; }\n")
    with pytest.raises(ModelFileError, match=r"broken\.bif, line 3: there are no probabilities of 'a'"):
        read_network(tmp_path / "broken.bif")


def test_long_names_make_no_long_message(tmp_path: Path) -> None:
    long = VARIABLE.replace(" a ", f" {'A' * 5000} ")
    with pytest.raises(DataError, match="no variable 'zebra'") as caught:
        read(long + "probability ( zebra ) { table 0.5, 0.5; }", tmp_path)
    assert len(str(caught.value)) < 300


def test_any_number_of_variables_with_one_level_can_be_asked(tmp_path: Path) -> None:
    """Their cliques would have one cell and more axes than an array can have."""
    n = 400
    pairs = [(v, (v * 7 + step) % n) for v in range(n) for step in (1, 5, 11) if v != (v * 7 + step) % n]
    lines = ["MARKOV", str(n), " ".join(["1"] * n), str(len(pairs)), *(f"2 {u} {v}" for u, v in pairs)]
    path = tmp_path / "one.uai"
    path.write_text("\n".join([*lines, *["1 1.0"] * len(pairs)]) + "\n")
    network = read_network(path)
    assert not isinstance(network, BayesianNetwork)
    assert network.n_levels == (1,) * n
    assert network.entropy() == 0.0
