"""Every format the folder corpus reads, from real files, and every reason for which it skips one."""

import os
from pathlib import Path

import pytest
from support.documents import docx, paragraph, pdf

from filesystem import FolderCorpus, Passage


async def opened(folder: Path, tmp_path: Path) -> FolderCorpus:
    return await FolderCorpus.open([folder], tmp_path / "index.db")


async def first(corpus: FolderCorpus, query: str) -> Passage:
    return (await corpus.search(query)).hits[0].passage


async def test_markdown_has_heading_paths_and_lines(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    filler = " ".join(["filler"] * 60)
    (docs / "a.md").write_text(
        f"# Pumps\n\n{filler}\n\n## Care\n\nOil the valve weekly.\n\n```\n# no heading\n```\n"
    )
    passage = await first(await opened(docs, tmp_path), "valve oil")
    assert passage.heading == "Pumps > Care"
    assert passage.place == "lines 5-11"
    assert passage.source == "a.md"
    assert passage.text.startswith("## Care\n\nOil the valve weekly.")


async def test_restructuredtext_levels_follow_first_use(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    body = " ".join(["word"] * 60)
    (docs / "a.rst").write_text(
        f"=====\nGuide\n=====\n\n{body}\n\nSetup\n-----\n\n{body}\n\nLinux\n~~~~~\n\nUse the zeppelin.\n"
    )
    passage = await first(await opened(docs, tmp_path), "zeppelin")
    assert passage.heading == "Guide > Setup > Linux"


async def test_html_drops_what_is_not_read_and_keeps_lines(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "page.html").write_text(
        "<!doctype html><title>Depot</title><script>var secretword = 1 < 2;</script>\n"
        "<style>.styleword{}</style><nav>navword</nav>\n"
        "<h1>Depot &amp; yard</h1>\n<p>The <b>crane</b> lifts\nforty tonnes.</p>\n"
        "<table><tr><th>Crane<th>Load</tr>\n<tr><td><p>North</p></td><td>40&nbsp;t</td></tr></table>"
    )
    corpus = await opened(docs, tmp_path)
    text = await corpus.text("page.html")
    assert text is not None
    assert "secretword" not in text
    assert "styleword" not in text
    assert "navword" not in text
    assert "The crane lifts\nforty tonnes." in text
    assert "North | 40" in text
    passage = await first(corpus, "crane tonnes")
    assert passage.heading == "Depot & yard"
    assert passage.place == "lines 3-7"


async def test_an_unclosed_element_does_not_hide_the_page(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "page.html").write_text("<nav>menu <p>The turbine stands still.</p>")
    assert "turbine" in (await first(await opened(docs, tmp_path), "turbine")).text


async def test_pdf_pages_are_places(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.pdf").write_bytes(pdf("Harbour dues rose.", "Pilotage fell by half."))
    corpus = await opened(docs, tmp_path)
    assert (await first(corpus, "pilotage")).place == "page 2"
    assert await corpus.find_quote("a.pdf", "Harbour dues rose.") == "page 1"
    assert await corpus.find_quote("a.pdf", "dues rose. Pilotage fell") == "pages 1-2"


async def test_docx_headings_tables_and_deleted_text(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    cells = "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in ("Boiler", "12 bar"))
    styles = (
        '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
    )
    body = (
        paragraph("Plant", "berschrift1")
        + paragraph("Pressure", "berschrift2")
        + "<w:p><w:del><w:r><w:t>deletedword</w:t></w:r></w:del></w:p>"
        + f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
    )
    (docs / "a.docx").write_bytes(docx(body, styles))
    corpus = await opened(docs, tmp_path)
    assert await corpus.text("a.docx") == "Plant\nPressure\n\nBoiler | 12 bar"
    assert (await first(corpus, "boiler")).heading == "Plant"


@pytest.mark.parametrize(
    ("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t"), ("semicolon.csv", ";")]
)
async def test_tables_are_rows_under_their_column_names(
    tmp_path: Path, name: str, delimiter: str
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    rows = [("Round", "Lead"), ("Seed", '"Forward\nOne"'), ("Series C", "Meridian")]
    (docs / name).write_text("\n".join(delimiter.join(row) for row in rows))
    corpus = await opened(docs, tmp_path)
    assert await corpus.text(name) == "Round | Lead\nSeed | Forward One\nSeries C | Meridian"
    passage = await first(corpus, "meridian")
    assert passage.heading == "Round | Lead"
    assert passage.place == "lines 1-4"


async def test_json_strings_are_decoded_in_place(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.jsonl").write_text(
        '{"title": "Stra\\u00dfe", "text": "one\\ntwo"}\n{"title": "\\u6771\\u4eac", "n": 5}\n'
        '{"blob": "' + "QUJD" * 500 + '"}\n'
    )
    (docs / "broken.json").write_text('{"name": "unfinished lighthouse')
    corpus = await opened(docs, tmp_path)
    text = await corpus.text("a.jsonl")
    assert text is not None
    assert '"Straße"' in text
    assert "QUJDQUJD" not in text
    assert (await first(corpus, "東京")).place == "lines 1-3"
    assert (await first(corpus, "lighthouse")).source == "broken.json"


async def test_source_code_is_found_by_definition_and_by_parts_of_names(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "pump.py").write_text("def startPumpMotor(v):\n    return v\n")
    (docs / "Makefile").write_text("all:\n\techo building\n")
    corpus = await opened(docs, tmp_path)
    assert (await first(corpus, "pump motor")).heading == "startPumpMotor"
    assert (await first(corpus, "building")).source == "Makefile"


@pytest.mark.parametrize(
    ("encoding", "text", "query"),
    [
        ("utf-8-sig", "Die Straße ist gesperrt.", "Straße"),
        ("utf-16", "Die Straße ist gesperrt.", "Straße"),
        ("utf-16-le", "The bridge is closed for repairs this winter.", "bridge"),
        ("utf-32", "Die Straße ist gesperrt.", "Straße"),
        ("cp1252", "Die Straße ist gesperrt – für „alle“.", "Straße"),
        ("latin-1", "Le café est fermé.", "café"),
        ("cp932", "東京タワーの高さは三百三十三メートルである。", "タワー"),
        ("euc_kr", "서울은 대한민국의 수도이며 가장 큰 도시이다.", "수도"),
        ("gb18030", "长江大桥是中国第一座跨越长江的公路铁路两用桥。", "大桥"),
        ("cp1251", "В городе открыли новую библиотеку и старинный музей.", "библиотека"),
    ],
)
async def test_other_encodings(tmp_path: Path, encoding: str, text: str, query: str) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_bytes(text.encode(encoding))
    corpus = await opened(docs, tmp_path)
    assert await corpus.text("a.txt") == text
    assert (await corpus.search(query)).hits


async def test_a_declared_charset_is_believed(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    page = '<html><meta charset="iso-8859-7"><p>Η Αθήνα είναι πρωτεύουσα.</p></html>'
    (docs / "a.html").write_bytes(page.encode("iso-8859-7"))
    assert "Αθήνα" in (await first(await opened(docs, tmp_path), "αθηνα")).text


SKIPPED = {
    "junk.bin": (bytes(range(256)) * 40, "binary"),
    "photo.png": (b"\x89PNG\r\n\x1a\n\x00\x00", "picture"),
    "sheet.xlsx": (b"PK\x03\x04\x00\x00", "not supported"),
    "empty.md": (b"", "empty"),
    "blank.txt": (b" \n\n --- \n", "no text"),
    "broken.pdf": (b"%PDF-1.7\nnothing of use", "broken PDF"),
    "not.pdf": (b"hello", "broken PDF"),
    "scan.pdf": (pdf(""), "no text"),
    "not.docx": (b"hello", "broken DOCX"),
    "old.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "encrypted"),
    "cut.docx": (docx(paragraph("x"))[:-40], "broken DOCX"),
    "bomb.docx": (docx(paragraph("a" * 30_000_000)), "zip bomb"),
    "entities.docx": (
        docx(paragraph("&a;"), head='<!DOCTYPE d [<!ENTITY a "aaaa">]>'),
        "document type",
    ),
}


async def test_every_skipped_file_has_its_reason(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "good.md").write_text("Readable.")
    for name, (data, _) in SKIPPED.items():
        (docs / name).write_bytes(data)
    with (docs / "huge.txt").open("wb") as file:
        file.truncate(200_000_000)
    os.mkfifo(docs / "pipe.txt")
    corpus = await opened(docs, tmp_path)
    reasons = {each.source: each.reason for each in corpus.report.skipped}
    for name, (_, reason) in SKIPPED.items():
        assert reason in reasons.pop(name), name
    assert "too large: 200 MB" in reasons.pop("huge.txt")
    assert "not a regular file" in reasons.pop("pipe.txt")
    assert reasons == {}
    assert corpus.report.files == len(SKIPPED) + 3
    again = await opened(docs, tmp_path)
    assert again.report.skipped == corpus.report.skipped
    assert (again.report.indexed, again.report.unchanged) == (0, 1)


async def test_an_encrypted_pdf_is_named_as_such(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "good.md").write_text("Readable.")
    lock = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00><00>]" % (
        b"ab" * 32,
        b"cd" * 32,
    )
    (docs / "locked.pdf").write_bytes(pdf("secret", extra=lock))
    (skipped,) = (await opened(docs, tmp_path)).report.skipped
    assert skipped.reason == "encrypted PDF: it needs a password"


async def test_one_huge_line_and_text_without_spaces_are_cut(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "line.txt").write_text("alpha beta gamma " * 5_000)
    (docs / "min.js").write_text("x" * 60_000)
    (docs / "zh.txt").write_text("长江大桥建成通车" * 2_000)
    corpus = await opened(docs, tmp_path)
    result = await corpus.search("alpha 大桥", 50)
    assert {hit.passage.source for hit in result.hits} == {"line.txt", "zh.txt"}
    assert max(len(hit.passage.text) for hit in result.hits) < 2_500
    for name in ("line.txt", "min.js", "zh.txt"):
        assert await corpus.text(name) == (docs / name).read_text()


HOSTILE = {
    "tags.html": b"text " + b"<a " * 60_000,
    "quotes.html": b"text " + b"<a '\"> " * 60_000,
    "comments.html": b"text " + b"<!--" * 60_000,
    "strings.json": b"text " + b'"\\' * 60_000,
    "links.md": b"text\n# " + b"[" * 60_000,
    "blanks.md": b"text" + b"\n \t" * 60_000,
    "rules.txt": b"text\n" + b"=" * 60_000,
    "stops.txt": b"text " + b'.)"' * 60_000,
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_files_take_linear_time(tmp_path: Path, name: str) -> None:
    """No time is asserted: a quadratic loader would take minutes here and hang the tests."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / name).write_bytes(HOSTILE[name])
    corpus = await opened(docs, tmp_path)
    assert corpus.report.indexed == 1
    assert (await corpus.search("text")).hits
