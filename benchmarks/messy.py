"""Sixty tables as people have them, each read by one command.

All hold the same facts in different clothes, 400 rows each: `match` is yes where `colour` and `shape` go
together (an exclusive-or: no two of the three columns show anything), and `amount`, a number, depends on
`region`. A file is read right when `xordal learn FILE` finds these links and no others. Where it cannot be
known how a file is meant, the message names the option, and the command with that option is run.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from benchmarks.recovery.study import markdown

LINKS = {
    frozenset(pair)
    for pair in (("colour", "shape"), ("colour", "match"), ("shape", "match"), ("region", "amount"))
}
N_ROWS = 400
Rows = list[list[str]]
HEADER = ["colour", "shape", "match", "region", "amount"]


@dataclass(frozen=True)
class Case:
    """A file, and the options that its message names, if it needs any."""

    name: str
    file: str
    content: bytes
    options: tuple[str, ...] = ()
    named: str = ""


def base(seed: int = 0) -> Rows:
    """Return the rows of the plain table, amounts with two decimals."""
    generator = np.random.default_rng(seed)
    colour, shape = generator.integers(0, 2, (2, N_ROWS))
    region = generator.integers(0, 3, N_ROWS)
    amount = 1500 + 900 * region + generator.normal(0, 400, N_ROWS)
    colours, shapes, regions = ("red", "blue"), ("round", "square"), ("north", "south", "west")
    return [
        [colours[c], shapes[s], ("no", "yes")[c ^ s], regions[r], f"{a:.2f}"]
        for c, s, r, a in zip(colour, shape, region, amount, strict=True)
    ]


def text(rows: Rows, header: list[str] | None = None, delimiter: str = ",", **how: object) -> str:
    """Return rows as a text file."""
    made = io.StringIO()
    writer = csv.writer(made, delimiter=delimiter, lineterminator="\n", **how)  # type: ignore[arg-type]
    writer.writerows([header or HEADER, *rows])
    return made.getvalue()


def amounts(told: Callable[[float], str], shift: float = 0.0) -> Rows:
    """Return the rows with amounts written in another way."""
    return [[*row[:4], told(float(row[4]) - shift)] for row in base()]


def more(name: str, value: Callable[[int], str]) -> tuple[Rows, list[str]]:
    """Return the rows with one more column in front, and their header."""
    return [[value(n), *row] for n, row in enumerate(base())], [name, *HEADER]


def holes(share: float, token: str, columns: range = range(5)) -> Rows:
    """Return the rows with some cells missing."""
    generator = np.random.default_rng(1)
    return [
        [token if v in columns and generator.random() < share else cell for v, cell in enumerate(row)]
        for row in base()
    ]


def workbook(sheets: dict[str, Rows]) -> bytes:
    """Return an Excel workbook, by hand: cells that read as plain numbers are numbers."""
    made = io.BytesIO()
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbers = range(1, len(sheets) + 1)
    with zipfile.ZipFile(made, "w") as archive:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{kind}.worksheet+xml"/>'
            for n in numbers
        )
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
            f'PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>{parts}</Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        named = "".join(
            f'<sheet name="{s}" sheetId="{n}" r:id="s{n}"/>' for n, s in zip(numbers, sheets, strict=True)
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{space}" xmlns:r="{relations}"><sheets>{named}</sheets></workbook>',
        )
        targets = "".join(
            f'<Relationship Id="s{n}" Type="{relations}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in numbers
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{targets}</Relationships>',
        )
        for n, rows in zip(numbers, sheets.values(), strict=True):
            body = "".join(
                f'<row r="{at}">{"".join(_cells(row, at))}</row>' for at, row in enumerate(rows, start=1)
            )
            archive.writestr(
                f"xl/worksheets/sheet{n}.xml",
                f'<worksheet xmlns="{space}"><sheetData>{body}</sheetData></worksheet>',
            )
    return made.getvalue()


def _cells(row: list[str], at: int) -> Iterator[str]:
    for place, value in enumerate(row):
        where = f'r="{chr(65 + place)}{at}"'
        try:
            yield f"<c {where}><v>{float(value)}</v></c>" if value else ""
        except ValueError:
            yield f'<c {where} t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def open_document(rows: Rows) -> bytes:
    """Return an OpenDocument spreadsheet, by hand."""
    table = "urn:oasis:names:tc:opendocument:xmlns:"
    body = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{escape(cell)}</text:p></table:table-cell>'
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    content = (
        f'<office:document-content xmlns:office="{table}office:1.0" xmlns:table="{table}table:1.0" '
        f'xmlns:text="{table}text:1.0"><office:body><office:spreadsheet><table:table table:name="Sheet1">{body}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    entry = '<m:file-entry m:full-path="/" m:media-type="x"/>'
    manifest = f'<m:manifest xmlns:m="{table}manifest:1.0">{entry}</m:manifest>'
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)
    return made.getvalue()


def zipped(files: dict[str, str]) -> bytes:
    """Return a zip archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def _frames() -> Iterator[Case]:
    import pyarrow as pa
    from pyarrow import feather, parquet

    columns = list(zip(*base(), strict=True))
    table = pa.table({**dict(zip(HEADER, columns, strict=True)), "amount": [float(a) for a in columns[4]]})
    for name, write in (("Feather", feather.write_feather), ("Parquet", parquet.write_table)):
        made = io.BytesIO()
        write(table, made)
        yield Case(name, f"t.{name.lower()}", made.getvalue())
    packed = pa.compress(text(base()).encode(), codec="zstd", asbytes=True)
    yield Case("zstd", "t.csv.zst", packed)


def separators() -> Iterator[Case]:
    """Yield what stands between values, and around them."""
    plain = text(base())
    yield Case("commas", "t.csv", plain.encode())
    yield Case("semicolons", "t.csv", text(base(), delimiter=";").encode())
    yield Case("tabs", "t.tsv", text(base(), delimiter="\t").encode())
    yield Case("blanks", "t.txt", text(base(), delimiter=" ").encode())
    aligned = "\n".join("".join(f"{cell:<12}" for cell in row) for row in [HEADER, *base()])
    yield Case("aligned by blanks", "t.dat", aligned.encode())
    yield Case("Excel's hint sep=;", "t.csv", ("sep=;\n" + text(base(), delimiter=";")).encode())
    yield Case("all values quoted", "t.csv", text(base(), quoting=csv.QUOTE_ALL).encode())
    yield Case("line ends of Windows", "t.csv", plain.replace("\n", "\r\n").encode())
    yield Case("line ends of old Macs", "t.csv", plain.replace("\n", "\r").encode())
    noted, names = more("note", lambda n: ("first line\nsecond line", "one, two", 'says "so"')[n * 7 % 3])
    yield Case("newlines, commas and quotes in values", "t.csv", text(noted, names).encode())
    yield Case("a delimiter at the end of lines", "t.csv", plain.replace("\n", ",\n").encode())
    yield Case("three empty columns at the end", "t.csv", plain.replace("\n", ",,,\n").encode())
    yield Case("blank lines", "t.csv", plain.replace("\n", "\n\n").encode())
    yield Case("tildes", "t.txt", text(base(), delimiter="~").encode(), ("--delimiter", "~"), "--delimiter")


def encodings() -> Iterator[Case]:
    """Yield how letters are written."""
    accented = text(base()).replace("north", "Århus").replace("west", "Genève")
    yield Case("UTF-8 with a mark", "t.csv", text(base()).encode("utf-8-sig"))
    yield Case("UTF-16 with a mark", "t.csv", accented.encode("utf-16"))
    yield Case("UTF-16 without a mark", "t.csv", accented.encode("utf-16-le"))
    yield Case("Latin-1", "t.csv", accented.encode("latin-1"))
    yield Case("Windows-1252, euros", "t.csv", text(amounts(lambda a: f"{a:.2f} €")).encode("cp1252"))
    cyrillic = text(base()).replace("north", "Москва").replace("west", "Тула").replace("south", "Казань")
    yield Case(
        "Cyrillic, Windows-1251", "t.csv", cyrillic.encode("cp1251"), ("--encoding", "cp1251"), "--encoding"
    )


def headings() -> Iterator[Case]:
    """Yield what stands above, below and beside a table."""
    plain = text(base())
    yield Case("a title", "t.csv", ("Sales by region\n" + plain).encode())
    yield Case(
        "three title lines and a blank one", "t.csv", ("Sales\nby region, 2024\nOffice\n\n" + plain).encode()
    )
    yield Case("a title padded with commas", "t.csv", ("Sales 2024,,,,\n,,,,\n" + plain).encode())
    yield Case("a source below", "t.csv", (plain + "Source: the office\n").encode())
    yield Case("two columns of one name", "t.csv", text(*_twice()).encode())
    numbered, names = more("", str)
    yield Case("pandas' row index", "t.csv", text(numbered, names).encode())
    r_rows = [[str(n + 1), *row] for n, row in enumerate(base())]
    r_text = text(r_rows, HEADER, delimiter=" ", quoting=csv.QUOTE_NONNUMERIC)
    yield Case("R's write.table", "t.txt", r_text.encode())
    yield Case("blanks around names", "t.csv", plain.replace("colour,shape", " colour , shape").encode())


def _twice() -> tuple[Rows, list[str]]:
    generator = np.random.default_rng(2)
    return [[*row, str(generator.integers(0, 2))] for row in base()], [*HEADER[:4], "amount", "shape"]


def numbers() -> Iterator[Case]:
    """Yield numbers as people write them."""

    def german(a: float) -> str:
        return f"{a:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")

    ways: dict[str, Callable[[float], str]] = {
        "decimal commas": lambda a: f"{a:.2f}".replace(".", ","),
        "1.585,22": german,
        "1,234.50": lambda a: f"{a:,.2f}",
        "1 234,50": lambda a: f"{a:,.2f}".replace(",", " ").replace(".", ","),
        "1'234.50": lambda a: f"{a:,.2f}".replace(",", "'"),
        "$1,234.50": lambda a: f"${a:,.2f}",
        "1.234,50 €": lambda a: german(a) + " €",
        "44.9%": lambda a: f"{a / 50:.1f}%",
        "whole numbers with thousands": lambda a: f"{a:,.0f}",
    }
    for name, told in ways.items():
        yield Case(f"numbers: {name}", "t.csv", text(amounts(told)).encode())
    shifted = amounts(lambda a: f"({-a:,.2f})" if a < 0 else f"{a:,.2f}", shift=2400)
    yield Case("numbers: (123.45) for negative ones", "t.csv", text(shifted).encode())
    dashed = [[*row[:4], "-" if n % 40 == 0 else row[4]] for n, row in enumerate(base())]
    yield Case("numbers: a dash where there is none", "t.csv", text(dashed).encode())
    refused = [[*row[:4], "refused" if n % 40 == 0 else row[4]] for n, row in enumerate(base())]
    token = ("--missing-tokens", "NA,refused")
    yield Case(
        "numbers: a word among them", "t.csv", text(refused).encode(), token, "--missing-tokens NA,refused"
    )


def other_columns() -> Iterator[Case]:
    """Yield dates, identifiers, weights, missing values."""
    for name, value in {
        "dates: 2024-03-25": lambda n: f"2024-{n % 12 + 1:02}-{n * 7 % 28 + 1:02}",
        "dates: 25.03.2024": lambda n: f"{n * 7 % 28 + 1:02}.{n % 12 + 1:02}.2024",
        "dates: 03/25/2024 14:30": lambda n: f"{n % 12 + 1:02}/{n * 7 % 28 + 1:02}/2024 {n % 24}:30",
        "an identifier": lambda n: f"A-{n * 7919 % 10007:05}",
        "numbers of rows": lambda n: str(1000 + n),
    }.items():
        rows, names = more(name.partition(":")[0], value)
        yield Case(name, "t.csv", text(rows, names).encode())
    people, names = more("person_id", lambda n: f"P{n % 40:02}")
    yield Case("40 people with 10 rows each", "t.csv", text(people, names).encode())
    yield Case("2 % of cells NA", "t.csv", text(holes(0.008, "NA")).encode())
    yield Case("8 % of cells empty", "t.csv", text(holes(0.08, "")).encode())
    empty, names = more("comment", lambda n: "")
    yield Case("a column without values", "t.csv", text(empty, names).encode())
    weighted, names = more("wt", lambda n: f"{0.5 + n * 37 % 100 / 100:.2f}")
    yield Case("survey weights", "t.csv", text(weighted, names).encode(), ("--weights", "wt"), "--weights wt")


def files() -> Iterator[Case]:
    """Yield kinds of files."""
    plain, rows = text(base()), [HEADER, *base()]
    yield Case("Excel", "t.xlsx", workbook({"Data": rows}))
    titled = {"Notes": [["Read me"]], "Data": [["Sales 2024"], [], *rows]}
    yield Case("Excel: notes on the first sheet, a title", "t.xlsx", workbook(titled))
    yield Case("OpenDocument", "t.ods", open_document(rows))
    objects = [dict(zip(HEADER, [*row[:4], float(row[4])], strict=True)) for row in base()]
    yield Case("JSON Lines", "t.jsonl", "\n".join(map(json.dumps, objects)).encode())
    yield from _frames()
    yield Case("gzip", "t.csv.gz", gzip.compress(plain.encode(), mtime=0))
    yield Case("bzip2", "t.csv.bz2", bz2.compress(plain.encode()))
    yield Case("zip", "t.zip", zipped({"__MACOSX/._t.csv": "x", "t.csv": plain}))


def cases() -> list[Case]:
    """Return all files."""
    groups = (separators, encodings, headings, numbers, other_columns, files)
    return [case for group in groups for case in group()]


def is_right(case: Case, folder: Path, run: Callable[[list[str]], tuple[int, str, str]]) -> tuple[bool, str]:
    """Return whether a file is read right, and by which options; a message must name those it needs."""
    path = folder / case.file
    path.write_bytes(case.content)
    code, out, told = run(["learn", str(path), "-q"])
    if case.options:
        if case.named not in " ".join(told.split()):
            return False, f"the message does not name {case.named}"
        code, out, told = run(["learn", str(path), "-q", *case.options])
    found = {frozenset(line.split(" - ")) for line in out.splitlines() if " - " in line}
    return code == 0 and found == LINKS, " ".join(case.options) or "none"


def main() -> None:
    """Write the files, read them, and print the table of what became of each."""
    from tests.commands import call

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        def run(arguments: list[str]) -> tuple[int, str, str]:
            done = call(arguments, cwd=folder)
            return done.returncode, done.stdout.decode(), done.stderr.decode()

        rows = []
        for case in cases():
            right, options = is_right(case, folder, run)
            rows.append((case.name, f"`{options}`" if case.options else "none", "yes" if right else "**no**"))
            print(*rows[-1], sep=" | ", flush=True)
    plain = sum(row[1] == "none" and row[2] == "yes" for row in rows)
    n_right = sum(row[2] == "yes" for row in rows)
    total = f"{n_right} of {len(rows)} files are read right, {plain} of them without an option."
    table = markdown(("the file", "options", "right"), rows)
    print(total)
    if len(sys.argv) > 1:
        story = f"# Messy files\n\n{__doc__}\n{total}\n\n{table}\nMade by `python -m benchmarks.messy FILE`.\n"
        Path(sys.argv[1]).write_text(story, encoding="utf-8")


if __name__ == "__main__":
    main()
