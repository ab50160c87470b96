"""Text of models, raters and raw files that would act on whoever shows it: a terminal, a browser, a
spreadsheet, a template. It is stored as it came and stays text wherever it is shown."""

import io
import json
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from html.parser import HTMLParser

import duckdb
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook
from test_parse_choice import render

from ehrbench import cli, completions, pipeline
from ehrbench.progress import console
from ehrbench.report import explorer
from ehrbench.text import is_hidden, json_text, visible

PAYLOADS = {
    "sql": "'; drop table fct_responses; --",
    "script": "<script>alert(1)</script>",
    "image": "<img src=x onerror=alert(2)>",
    "drawing": "<svg/onload=alert(3)><iframe srcdoc='<script>alert(3)</script>'>",
    "attribute": "\" onmouseover=\"alert(4)\" x='",
    "end of script": "</script></textarea></title>--><script>alert(5)</script><!--",
    "end of call": "\"); alert(6); (\"\\",
    "template": "{{ 7 * 7 }}{% raw %}${7 * 7}#{7 * 7}<%= 7 * 7 %>{{ cycler.__init__ }}",
    "Markdown": "[x](javascript:alert(7)) ![x](http://127.0.0.1:9/x) | `x` | **x**",
    "mark-up of rich": "[red]x[/red] [/] [link=http://127.0.0.1:9/]x[/link] :warning:",
    "formula": "=cmd|' /C calc'!A0",
    "formula of a link": '=HYPERLINK("http://127.0.0.1:9/","x")',
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(1,1)",
    "tab and formula": "\t=1+1",
    "escape of a cell": "_x003C_b_x003E_",
    "colours": "\x1b[2J\x1b[31mred\x1b]0;title\x07\x1b]8;;http://127.0.0.1:9/\x07x",
    "controls of 8 bits": "\x9b31m\x9d0;title\x9c\x85\x7f\x08\x0c",
    "carriage return": "held back\raccepted",
    "NUL": "before\x00after",
    "right to left": "\u202egnp.exe\u202c \u2066x\u2069 \u061c\u200e",
    "no width": "in\u200bsu\u200dlin\u2060\ufeff\u00ad\u034f\ufe0f\u3164",
    "tags": "\U000e0001\U000e0041\U000e007f",
    "line separators": "one\u2028two\u2029three\u0085four",
    "no characters": "\ufffe\uffff\ufdd0\U0001fffe",
    "private": "\ue000\U00100000",
    "half a pair": "\ufffd \\ud800 \\udfff",
    "names of JavaScript": "__proto__ constructor toString",
    "JSON": '{"a": NaN, "a": 1e999, "b": [[[[',
    "new line": "one\nVERDICTS accepted\n| x | y |\n---\n# x",
}
# Tables and their columns that hold text of raw files, of the knowledge base, or of models.
PLANTED = {
    "fct_visit_events": ("label", "source_code", "normalized_code"),
    "dim_concepts": ("name",),
    "dim_items": ("scenario", "question"),
    "fct_item_options": ("label",),
    "fct_answer_keys": ("gold_label", "rationale", "evidence"),
    "fct_leak_findings": ("evidence",),
    "fct_responses": ("raw_completion",),
    "fct_templates": ("rationale",),
    "fct_triple_proposals": ("why",),
    "fct_claim_evidence": ("title", "section", "sentence"),
    "fct_context_conflicts": ("sentence",),
    "fct_audit_sample": ("subject_label", "object_label", "context_labels"),
    "int_distractors": ("label",),
    "int_answer_vocabulary": ("label",),
    "rpt_exposure": ("label",),
    "rpt_unmapped_codes": ("label",),
}
# Of the scripts in the report, those that are not made of data.
OWN_FILES = {"plotly.min.js", "report.js", "explorer.js", "report.css"}
VOID_OF_PAYLOADS = re.compile(r"alert\(|127\.0\.0\.1:9|7 \* 7|drop table|VERDICTS accepted")


def plant(database, payloads):
    """Put the payloads before the texts of every table, in turn; returns rows changed."""
    changed = 0
    with duckdb.connect(str(database)) as made:
        made.execute("set variable payloads = $payloads", {"payloads": list(payloads.values())})
        for table, names in PLANTED.items():
            texts = ", ".join(
                f"{name} = concat(getvariable('payloads')[1 + (rowid + {place}) % "
                f"{len(payloads)}], ' ', {name})"
                for place, name in enumerate(names)
            )
            changed += made.execute(f"update {table} set {texts}").fetchone()[0]
        # A conversation is JSON: its content is planted, its form stays.
        prompts = made.execute("select rowid, messages from fct_prompts order by 1").fetchall()
        words = list(payloads.values())
        planted = []
        for number, (row, messages) in enumerate(prompts):
            told = json.loads(messages)
            told[-1]["content"] = f"{words[number % len(words)]} {told[-1]['content']}"
            planted.append((row, json.dumps(told)))
        made.execute("create temp table planted (place bigint, messages varchar)")
        # In one list: row by row takes minutes.
        made.execute(
            "insert into planted select unnest($places), unnest($messages)",
            {"places": [row for row, _ in planted], "messages": [text for _, text in planted]},
        )
        made.execute(
            "update fct_prompts set messages = planted.messages from planted "
            "where fct_prompts.rowid = planted.place"
        )
        made.execute("delete from rpt_audit_agreement")
        for name in words:
            made.execute(
                "insert into rpt_audit_agreement (question, rater_a, rater_b, n, agreement) "
                "values ('is_right', ?, ?, 12, 0.5)",
                [name, name],
            )
    return changed + len(planted) + len(words)


def hidden_in(text, kept="\n"):
    """Characters of a text that are not seen or act on a terminal."""
    return {f"U+{ord(one):04X}" for one in set(text) if one not in kept and is_hidden(one)}


def strings_in(value):
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in pairs:
            yield str(key)
            yield from strings_in(one)


class Tags(HTMLParser):
    """What a page is made of: tags, and attributes that run or load something."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.live = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        for name, value in attributes:
            loads = name in ("src", "href", "action", "srcdoc", "data", "formaction")
            is_icon = (tag, value) == ("link", "data:,")
            away = loads and not is_icon and re.match(r"\s*(javascript|data|https?):", value)
            if name.startswith("on") or away:
                self.live.append((tag, name, value))


@pytest.fixture(scope="module")
def small_explorer():
    """Fewer chunks: each payload is in the first of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explorer, "MOST_TRIPLES", 400)
        patch.setattr(explorer, "MOST_ITEMS", 400)
        yield


@pytest.fixture(scope="module")
def planted(synthetic_build, tmp_path_factory, small_explorer):
    """A copy of the synthetic build full of payloads, in use by the commands of this module."""
    folder = tmp_path_factory.mktemp("hostile")
    database = folder / "synthetic.duckdb"
    shutil.copyfile(synthetic_build.database, database)
    assert plant(database, PAYLOADS) > 100_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EHRBENCH_DB", str(database))
        patch.setenv("EHRBENCH_COMPLETIONS_DIR", str(synthetic_build.store))
        yield database


@pytest.fixture(scope="module")
def written(planted):
    """Folder of a report, an export and sheets of the planted database, and what was said."""
    folder, said = planted.parent, io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", said)
        cli.cli.main(["report", "--out", str(folder / "report")], standalone_mode=False)
        export = ["export", "--format", "jsonl", "--format", "parquet"]
        cli.cli.main([*export, "--out", str(folder / "export")], standalone_mode=False)
        sample = ["audit", "sample", "--raters", "1", "--out", str(folder / "audit")]
        cli.cli.main(sample, standalone_mode=False)
    assert not hidden_in(said.getvalue())
    return folder


def rows(database, sql):
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(sql).fetchall()


# ---------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_is_visible_and_the_same_json(name):
    text = PAYLOADS[name]
    assert not hidden_in(visible(text), kept="\n\t")
    line = json_text({"text": text})
    assert not hidden_in(line) and len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text}


def test_what_is_seen_stays_as_it_is():
    text = "Ménière’s disease, 5 µg/ml – 漢字 \u00a0 😀 ≥ ñ"
    assert visible(text) == text and json_text(text) == f'"{text}"'


# ----------------------------------------------------------------------------------- the store


def test_the_store_keeps_text_as_it_came(tmp_path):
    texts = {**PAYLOADS, "long": "=cmd\x1b" * 200_000, "half": "a\ud83db\udc00", "pair": "\ud83d\ude00"}
    made = [
        {"request_key": name, "attempt": 1, "stage": "answers", "model": "m", "text": text}
        for name, text in texts.items()
    ]
    file = completions.write_shard(tmp_path, made)
    with duckdb.connect() as connection:
        found = dict(connection.execute(f"select request_key, text from '{file}'").fetchall())
    # Half a surrogate pair is no text in UTF-8, and a pair is one character.
    assert found == {**texts, "half": "a\ufffdb\ufffd", "pair": "\U0001f600"}


LONG = ["the answer is A or maybe B ", "<think>", "the diagnosis ", "\u200b"]


def test_replies_of_a_megabyte_are_read():
    """With patterns that take the square of a text's length this would never end."""
    call = render("parse_choice('completion', 'n_options')")
    with duckdb.connect() as connection:
        connection.execute("create table t (number int, completion varchar, n_options int)")
        texts = [(text * (1_000_000 // len(text)) + "\nAnswer: B") for text in LONG]
        made = [(number, text, 4) for number, text in enumerate(texts)]
        connection.executemany("insert into t values (?, ?, ?)", made)
        read = connection.execute(f"select {call} from t order by number").fetchall()
    found = [row["letter"] for (row,) in read]
    # A thought that never ends holds no answer.
    assert found == [None if text == "<think>" else "B" for text in LONG]


# ------------------------------------------------------------------------- replies that are JSON

TRIPLE = '{"subject": 1, "relation": "treat_with", "object": 2, "why": "x"}'
MANY = 20_000
REPLIES = [
    ("deep", "[" * 100_000, "not_json", 0),
    ("deep and whole", "[" * 100_000 + "]" * 100_000, "parsed", 1),
    ("deep in its place", '{"triples": ' + "[" * 50_000 + "]" * 50_000 + "}", "parsed", 1),
    ("deep objects", '{"a": ' * 100_000 + "1" + "}" * 100_000, "salvaged", 1),
    ("braces", "{" * 1_000_000, "not_json", 0),
    ("brackets", "{}" * 500_000, "salvaged", 500_000),
    ("a key twice", f'{{"triples": [{TRIPLE}], "triples": []}}', "parsed", 1),
    ("numbers without end", f'{{"triples": [{{"subject": 1e999, "object": {"9" * 400}}}]}}', "parsed", 1),
    ("no numbers", '{"triples": [{"subject": NaN, "object": -Infinity}]}', "parsed", 1),
    ("a long reason", '{"triples": [' + TRIPLE.replace("x", "x" * 1_000_000) + "]}", "parsed", 1),
    ("many", '{"triples": [' + ", ".join([TRIPLE] * MANY) + "]}", "parsed", MANY),
    ("NUL escaped", '{"triples": [' + TRIPLE.replace("x", "a\\u0000b") + "]}", "parsed", 1),
    ("NUL", '{"triples": [' + TRIPLE.replace("x", "a\0b") + "]}", "not_json", 0),
    ("half a pair", '{"triples": [' + TRIPLE.replace("x", "\\ud800") + "]}", "not_json", 0),
    ("of any kind", '[3, null, "x", [], {"subject": {"a": 1}, "relation": [], "object": "2. y"}]', "parsed", 5),
    ("no list", '{"triples": "x"}', "salvaged", 1),
    ("blanks", " " * 1_000_000, "empty_reply", 0),
    ("markup", f"<script>alert(1)</script> {{{{ 7 * 7 }}}} {TRIPLE}", "salvaged", 1),
]


def test_extraction_replies_of_any_kind_are_read_once(unqualified):
    with duckdb.connect() as made:
        # One by one the triples of a long reply would take gigabytes.
        made.execute("set memory_limit = '1GB'; set threads = 1; set max_temp_directory_size = '0MB'")
        made.execute(
            """
            create table models as select 'm' as model, null::varchar as strip_markers;
            create table replies (request_key varchar, text varchar);
            create table int_extraction_prompts as
            select 'p' as prompt_key, 's' as source, 'tx' as task, 'tx' as prompt_task,
                'v' as visit_key, null::varchar as target_visit_key;
            create table int_task_events as
            select 'v' as visit_key, null::varchar as target_visit_key, 'tx' as prompt_task, n as event_number,
                concat('e', n) as event_key, kind as event_type, role as role_allowed, true as is_offered
            from (values (1, 'diagnosis', 'subject'), (2, 'medication', 'object')) as v(n, kind, role);
            create table relations as
            select 'tx' as prompt_task, 'treat_with' as relation, 'diagnosis' as subject_type,
                'medication' as object_type;
            create table brg_event_concepts as
            select 'e1' as event_key, 1 as cui_id, 'exact' as mapping_level;
            """
        )
        made.executemany("insert into replies values (?, ?)", [row[:2] for row in REPLIES])
        made.execute(
            """
            create table int_extraction_requests as
            select request_key, 'p' as prompt_key, 'm' as model from replies;
            create table int_completions_latest as
            select request_key, text, 'extraction' as stage, 'stop' as finish_reason,
                null::varchar as error from replies;
            """
        )
        for name in ("int_extraction_replies", "int_extraction_reply_triples"):
            made.execute(f"create table {name} as {unqualified[name]}")
        found = made.execute(
            "select request_key, reply_status, n_triples from int_extraction_replies"
        ).fetchall()
        assert sorted(found) == sorted((name, *rest) for name, _, *rest in REPLIES)
        kept = made.execute(
            "select request_key, count(*), count(*) filter (where reject_reason is null) "
            "from int_extraction_reply_triples group by 1"
        ).fetchall()
    good = {"a key twice", "a long reason", "many", "NUL escaped", "markup"}
    assert {name: (n, n_good) for name, n, n_good in kept} == {
        name: (n, int(name in good)) for name, _, _, n in REPLIES if n
    }


# ---------------------------------------------------------------------------------- the report


def test_the_report_is_text(written):
    tags, plain = set(), 0
    for file in sorted((written / "report").rglob("*")):
        if not file.is_file() or file.name in OWN_FILES:
            continue
        text = file.read_text(encoding="utf-8")
        assert not hidden_in(text, kept="\n\t"), file.name
        if file.suffix == ".html":
            page = Tags(text)
            assert page.live == [], file.name
            tags |= page.tags
        if file.suffix == ".js":
            call = text.split("\n", 1)[1]
            assert "<" not in call, file.name
            # What the page will show: the arguments of the one call of the file.
            shown = "".join(strings_in(json.loads(f"[{call[call.index('(') + 1 : -3]}]")))
            assert not hidden_in(shown, kept="\n\t"), file.name
            plain += len(VOID_OF_PAYLOADS.findall(shown))
    assert not tags & {"iframe", "img", "object", "embed", "textarea", "base"}
    assert plain > 100


@pytest.mark.soak
def test_a_browser_runs_nothing_of_it(written):
    sync = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[test]'")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    bad, asked = [], []
    with sync.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("dialog", lambda dialog: (bad.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: bad.append(str(error)))
        page.on("console", lambda line: bad.append(line.text) if line.type == "error" else None)
        page.on("request", lambda request: asked.append(request.url))
        elements = set()
        injected = """() => {
            const all = Array.from(document.querySelectorAll("*"));
            return all
                .filter((one) => one.getAttributeNames().some((name) => name.startsWith("on"))
                    || ["IFRAME", "IMG", "TEXTAREA", "OBJECT", "EMBED"].includes(one.tagName)
                    || (one.href && !/^(file:|data:,$|#)/.test(one.href.baseVal ?? one.href)))
                .map((one) => one.outerHTML.slice(0, 200));
        }"""
        for file in sorted((written / "report").glob("*.html")):
            page.goto(file.as_uri())
            page.wait_for_load_state("load")
            elements.update(page.evaluate(injected))
        shown = ""
        for kind in ("triples", "items"):
            page.goto((written / "report" / "explorer.html").as_uri())
            page.locator(f"input[name=kind][value={kind}], [data-kind={kind}]").first.click()
            for place in range(0, 12):
                page.locator("#list .row").nth(place % 6).click()
                page.wait_for_timeout(30)
                page.locator("#list").press("ArrowDown")
                elements.update(page.evaluate(injected))
                shown += page.locator("#detail").inner_text()
        browser.close()
    assert bad == [] and elements == set()
    assert {url.split(":", 1)[0] for url in asked} == {"file"}
    assert not hidden_in(shown, kept="\n\t\u00a0") and "⟨U+" in shown


# ---------------------------------------------------------------------------------- the export


def test_exports_hold_the_very_text_and_no_raw_control(written, planted):
    scenarios = dict(rows(planted, "select item_id, scenario from dim_items where released"))
    seen = 0
    for file in sorted((written / "export").rglob("*")):
        if file.suffix == ".jsonl":
            text = file.read_bytes().decode("utf-8")
            assert not hidden_in(text), file.name
            items = [json.loads(line) for line in text.splitlines()]
            assert len(items) == text.count("\n")
            for item in items:
                if "scenario" in item:
                    assert item["scenario"] == scenarios[item["item_id"]]
                    seen += 1
        elif file.suffix == ".parquet":
            table = pq.read_table(file).to_pydict()
            if "scenario" in table:
                pairs = zip(table["item_id"], table["scenario"], strict=True)
                assert all(scenarios[item] == scenario for item, scenario in pairs)
        elif file.is_file():
            text = file.read_text(encoding="utf-8")
            assert not hidden_in(text, kept="\n\t"), file.name
            if file.name != "parse_choice.sql":
                assert not VOID_OF_PAYLOADS.search(text), file.name
    assert seen == len(scenarios) > 1000


# ---------------------------------------------------------------------------------- the sheets


def test_sheets_hold_no_formula(written):
    file = written / "audit" / "rater-1.xlsx"
    with zipfile.ZipFile(file) as parts:
        assert not [name for name in parts.namelist() if "external" in name.lower()]
        for name in parts.namelist():
            made = ElementTree.fromstring(parts.read(name))
            kinds = {one.tag.rsplit("}", 1)[-1] for one in made.iter()}
            assert not kinds & {"f", "hyperlink"}, name
    cells = [cell for page in load_workbook(file) for row in page.iter_rows() for cell in row]
    texts = [cell.value for cell in cells if isinstance(cell.value, str)]
    assert {cell.data_type for cell in cells if isinstance(cell.value, str)} == {"s"}
    assert not hidden_in("".join(texts), kept="\n\t")
    assert sum("=cmd|" in text for text in texts) > 3 and sum("⟨U+" in text for text in texts) > 30


# -------------------------------------------------------------------------------- the terminal


def said_by(capsys, *arguments):
    """What a command prints, on both streams."""
    try:
        cli.main(list(arguments))
    except SystemExit as stopped:
        # 2 for what looks like an option.
        assert stopped.code in (0, 1, 2)
    said = capsys.readouterr()
    return said.out, said.err


def test_explanations_are_text(planted, capsys):
    ids = rows(
        planted,
        """
        (select triple_id from fct_triple_verdicts order by md5(triple_id) limit 1)
        union all
        (select min(item_id) from dim_items where not released and contains(scenario, chr(27)))
        union all
        (select min(item_id) from fct_prompts where arm = 'standard' and contains(messages, '001b[2J'))
        """,
    )
    seen = ""
    for (id,) in ids:
        out, err = said_by(capsys, "explain", id, "--target", "synthetic")
        assert not err and not hidden_in(out)
        seen += out
    assert len(ids) == 3 and seen.count("│ ⟨U+001B⟩[2J") == 2
    out, _ = said_by(capsys, "explain", id, "--target", "synthetic", "--format", "json")
    assert not hidden_in(out) and json.loads(out)["kind"] == "item"


def test_what_a_person_gives_is_text_too(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("EHRBENCH_DB", str(tmp_path / "none.duckdb"))
    monkeypatch.setattr("ehrbench.pipeline.synthesise", lambda *given: given[-1])
    # No command line can hold a NUL.
    for text in (payload.replace("\0", "") for payload in PAYLOADS.values()):
        for command in (["explain", text], ["generate", "--stage", text], [text], ["synth", "--out", text]):
            out, err = said_by(capsys, *command)
            assert not hidden_in(out + err, kept="\n\t")
            assert err.count("\n") <= 1


def test_tables_of_a_run_are_text(planted, capsys):
    with duckdb.connect(str(planted)) as made:
        model = made.execute("select min(model) from rpt_leaderboard").fetchone()[0]
        for place, payload in enumerate(PAYLOADS.values()):
            made.execute(
                "insert into rpt_leaderboard (model, mode, overall) values (?, ?, 0.5)",
                [payload, f"m{place}"],
            )
    try:
        pipeline.leaderboard(planted)
        phases = pipeline.Phases()
        for payload in PAYLOADS.values():
            with phases.phase(payload) as said:
                said.append(payload)
        phases.show()
    finally:
        with duckdb.connect(str(planted)) as made:
            made.execute("delete from rpt_leaderboard where regexp_matches(mode, '^m[0-9]+$')")
    out = capsys.readouterr().out
    assert model in out and "[red]x[/red]" in out and not hidden_in(out, kept="\n\t")


def test_a_mistake_of_the_program_writes_no_text_of_data(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cli.paths, "project_root", lambda: tmp_path)
    text = "".join(PAYLOADS.values())

    def broken(*_):
        raise RuntimeError(text)

    monkeypatch.setattr("ehrbench.doctor.examine", broken)
    out, err = said_by(capsys, "doctor", "--target", "synthetic")
    log = (tmp_path / "build" / "error.log").read_text(encoding="utf-8")
    assert not hidden_in(out + err + log)
    assert not VOID_OF_PAYLOADS.search(out + err + log) and "RuntimeError" in log
    assert console().file is sys.stdout
