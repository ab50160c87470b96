"""The report: what it may show, that nothing in it runs as code, and that a browser can use it."""

import hashlib
import itertools
import re
import shutil
import subprocess
import sys
import time

import duckdb
import patient_traces
import pytest
from conftest import ROOT, environment

from ehrbench import canary, cli
from ehrbench.errors import EhrbenchError
from ehrbench.folders import replace_folder
from ehrbench import report as report_module
from ehrbench.report import MARKER, environment as templates, write
from ehrbench.report import data as report_data
from ehrbench.report import text as report_text
from ehrbench.report.pages import tables_and_figures
from ehrbench.report.tables import Column, cell

HOSTILE = "<script>alert(1)</script> \x1b[31mred \u202egnp.exe\u202c zero\u200bwidth </span>&amp;"
SCREENSHOTS = ROOT / "build" / "report-screenshots"
PAGES = {
    "index", "leaderboard", "accuracy", "calibration", "open", "behaviour", "yield", "cohort", "leakage", "published",
    "build",
}

def written(database, folder, monkeypatch, **settings):
    monkeypatch.setenv("EHRBENCH_DB", str(database))
    return write("synthetic", folder, **settings)


def digests(folder):
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*")) if file.is_file()
    }


@pytest.fixture(scope="module")
def report(synthetic_build, tmp_path_factory):
    """The report of the synthetic build."""
    folder = tmp_path_factory.mktemp("report") / "report"
    with pytest.MonkeyPatch.context() as patch:
        found = written(synthetic_build.database, folder, patch)
    # Every query finds its tables and columns.
    assert found.notes == []
    return folder


def small_database(file, n_triples=6, data_class="synthetic", label="Acute kidney failure"):
    """A database of nothing but the tables that the explorer reads."""
    with duckdb.connect(str(file)) as made:
        made.execute("set variable label = $label", {"label": label})
        made.execute(f"""
            create table rpt_run_manifest as
            select 'mimic_iv' as source, 'patients' as table_name, 12 as n_rows, 'd' as content_digest,
                '{data_class}' as source_data_class, '{data_class}' as data_class, 'r1' as release_id;
            create table numbers as select cast(range as integer) as i from range({n_triples});
            create table fct_triples as
            select md5(cast(i as varchar)) as triple_id, 'mimic_iv' as source,
                case when i % 3 = 0 then 'dx' else 'tx' end as task,
                md5('v' || i // 8) as visit_key, cast(null as varchar) as target_visit_key,
                md5('p' || i // 8) as patient_key, 's' || i % 97 as subject_event_key,
                'treat_with' as relation, 'o' || i % 89 as object_event_key,
                'C0000001' as subject_cui, 'C0000002' as object_cui, 'c' || i % 50 as claim_key,
                cast(null as boolean) as is_newly_coded
            from numbers;
            create table fct_triple_events as
            select triple_id, 'subject' as role, 1 as position, subject_event_key as event_key from fct_triples
            union all
            select triple_id, 'object', 1, object_event_key from fct_triples;
            create table fct_visit_events as
            select event_key, 'v' as visit_key, 'mimic_iv' as source, 'diagnosis' as event_type,
                'ICD10CM' as code_system, 'N17.' || event_key as source_code,
                'N17' as normalized_code, getvariable('label') || ' ' || event_key as label,
                false as is_status_code, false as is_routine, false as is_residual_title,
                false as is_hindsight, cast(null as varchar) as procedure_role, 'unknown' as administration
            from (select distinct event_key from fct_triple_events);
            create table brg_event_concepts as
            select event_key, 'C0000001' as cui, 1 as rank, 'exact_atom' as mapping_method,
                'exact' as mapping_level, cast(null as varchar) as reason
            from fct_visit_events;
            create table dim_concepts as select 'C0000001' as cui, getvariable('label') as name;
            create table fct_triple_verdicts as
            select triple_id, policy,
                case when i % 2 = 0 then 'accepted' else 'rejected' end as verdict,
                case when i % 2 = 1 then 'no_positive_support' end as failed_reason_codes,
                'exact' as match_level
            from numbers
            inner join fct_triples on fct_triples.triple_id = md5(cast(i as varchar))
            cross join (values ('open'), ('paper')) as policies (policy);
            create table fct_triple_checks as
            select triple_id, 'grounded' as check_name, 'pass' as status,
                cast(null as varchar) as reason_code, 1 as n_supporting_pmids,
                0 as n_supporting_curated, 0 as n_contradicting_pmids
            from fct_triples;
            create table validation_checks as
            select 'grounded' as check_name, 1 as check_order, 'm' as comment;
            create table fct_triple_proposals as
            select triple_id, 'model' as generator, 'k' as request_key, getvariable('label') as why from fct_triples;
            create table fct_triple_claims as
            select triple_id, 1 as rank, claim_key, subject_cui, relation, object_cui from fct_triples;
            create table fct_claim_evidence as
            select distinct claim_key, 'support' as role, 1 as rank, 'strong' as strength,
                'semmeddb' as kb, 'TREATS' as predicate_or_rela, subject_cui, object_cui,
                'exact' as match_level, cast(null as varchar) as sab, '1' || lpad(substr(claim_key, 2), 7, '0') as pmid,
                2020 as year, getvariable('label') as title, 'R' as section, getvariable('label') as sentence
            from fct_triples;
            create table dim_items as
            select triple_id as item_id, triple_id as template_key, source, task, 'oeq' as format,
                cast(null as integer) as n_options, 1 as variant, 2 as n_context, false as context_critical,
                getvariable('label') as scenario, getvariable('label') as question, true as released, true as in_subset
            from fct_triples limit 0;
        """)
    return file


def in_files(folder, pattern):
    """Files whose text a pattern matches, but for the scripts of the package and Plotly's."""
    own = {"plotly.min.js", "report.js", "explorer.js", "report.css"}
    return [
        file.name for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in own and re.search(pattern, file.read_text(encoding="utf-8"))
    ]


# ---------------------------------------------------------------------------------------- text


def test_hidden_characters_are_shown():
    shown = report_text.visible(HOSTILE)
    assert "\x1b" not in shown and "⟨U+001B⟩[31m" in shown
    for code in ("202E", "202C", "200B"):
        assert f"⟨U+{code}⟩" in shown
    assert report_text.visible("ligne é\n漢字") == "ligne é\n漢字"
    assert report_text.in_plot("<b>&") == "&lt;b&gt;&amp;"
    assert "<" not in report_text.script("EHRB.load", "x", HOSTILE)
    assert report_text.script("f", HOSTILE).isascii()


def test_templates_escape_and_show():
    made = templates().from_string("<p title='{{ text }}'>{{ text }}</p>").render(text=HOSTILE)
    assert "<script>" not in made and "&lt;script&gt;" in made
    assert "⟨U+202E⟩" in made and "\u202e" not in made and "\x1b" not in made
    assert "\u200b" not in made


def test_page_scripts_build_no_markup_from_text():
    """Only textContent: a single use of these would make escaping a matter of luck."""
    for file in (ROOT / "python/ehrbench/report/static").glob("*.js"):
        found = re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(",
                           file.read_text(encoding="utf-8"))
        assert found == [], file.name


# --------------------------------------------------------------------------------- what it holds


def test_no_page_names_a_patient_or_a_date(report, synthetic_build):
    patients = patient_traces.of_patients(synthetic_build.synth / "raw")
    # Synthetic articles have numbers of the same length; those of visits are longer.
    patients -= {pmid for (pmid,) in synthetic_build.rows("select distinct pmid from fct_claim_evidence")}
    assert len(patients) > 20_000
    assert patient_traces.in_files([report], patients) == {}


def test_every_page_is_there_and_marked(report, synthetic_build):
    pages = {file.stem for file in report.glob("*.html")}
    assert pages == PAGES | {"explorer"}
    line = canary.text()
    own = {"plotly.min.js"}
    unmarked = [str(f) for f in report.rglob("*") if f.is_file() and f.name not in own
                and line not in f.read_text(encoding="utf-8")]
    assert unmarked == []
    release = synthetic_build.rows("select distinct release_id from rpt_run_manifest")[0][0]
    texts = [file.read_text(encoding="utf-8") for file in report.glob("*.html")]
    assert all(release in text for text in texts)
    # The style hides a column by its place, up to the tenth.
    places = {int(place) for text in texts for place in re.findall(r'data-column="(\d+)"', text)}
    style = (report / "report.css").read_text(encoding="utf-8")
    assert places <= {int(place) for place in re.findall(r"\.without-(\d+) ", style)}


def test_pages_load_nothing_from_a_net(report):
    for page in report.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", text) == [], page.name
        assert "default-src 'none'" in text


def test_same_database_same_bytes(tmp_path, monkeypatch):
    database = small_database(tmp_path / "x.duckdb")
    for name in ("one", "two"):
        written(database, tmp_path / name, monkeypatch)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    # Written again over itself, nothing of the old folder stays.
    (tmp_path / "two" / "data" / "t-99.js").write_text("old")
    written(database, tmp_path / "two", monkeypatch)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


def test_hostile_labels_stay_text(tmp_path, monkeypatch):
    folder = tmp_path / "report"
    written(small_database(tmp_path / "x.duckdb", label=HOSTILE), folder, monkeypatch)
    assert in_files(folder, r"<script>alert") == []
    assert in_files(folder, "[\x1b\u202e\u202c\u200b]") == []
    assert "t-0.js" in in_files(folder, r"\\u003cscript")
    assert "triples.js" in in_files(folder, r"\\u27e8U\+202E\\u27e9")


def test_credentialed_data_give_sums_only(tmp_path, monkeypatch):
    database = small_database(tmp_path / "x.duckdb", data_class="credentialed", label="Secret label")
    closed = written(database, tmp_path / "closed", monkeypatch)
    assert {file.stem for file in (tmp_path / "closed").glob("*.html")} == PAGES
    assert not list((tmp_path / "closed").rglob("t-*.js"))
    assert in_files(tmp_path / "closed", "Secret label|explorer.html") == []
    assert any("--allow-credentialed" in note for note in closed.notes)
    written(database, tmp_path / "opened", monkeypatch, allow_credentialed=True)
    assert "t-0.js" in in_files(tmp_path / "opened", "Secret label")
    # What no one knows to be open is credentialed.
    odd = small_database(tmp_path / "y.duckdb", data_class="something", label="Secret label")
    written(odd, tmp_path / "odd", monkeypatch)
    assert in_files(tmp_path / "odd", "Secret label") == []


HIDDEN = report_data.HIDDEN


@pytest.mark.parametrize(("row", "shown"), [
    ({"n_persons": 12, "n": 74, "share": 0.513}, {"n_persons": 10, "n": 70, "share": 0.6}),
    ({"n_persons": 9, "n": 40, "share": 0.5, "n_options": 4, "theirs": 0.7313},
     {"n_persons": HIDDEN, "n": HIDDEN, "share": HIDDEN, "n_options": 4, "theirs": 0.7313}),
    ({"n_persons": 12, "n_accepted": 3, "n": 400, "share": 0.5},
     {"n_persons": 10, "n_accepted": HIDDEN, "n": 400, "share": HIDDEN}),
    ({"source": "mimic_iv", "n": 44, "share": 0.5}, {"source": "mimic_iv", "n": 40, "share": HIDDEN}),
    ({"n_persons": 0, "n": 0, "share": None}, {"n_persons": 0, "n": 0, "share": None}),
    # Whole numbers are counts unless they are named as none; without its whole no figure is shown.
    ({"completion_tokens": 12345, "rank": 3, "share": 0.5}, {"completion_tokens": 12350, "rank": 3, "share": HIDDEN}),
    # Intervals go outwards, figures above 1 in steps of their size, p upwards; the smaller whole decides.
    ({"n": 1004, "x": 0.5149, "x_low": 0.4851, "x_high": 0.5301},
     {"n": 1000, "x": 0.51, "x_low": 0.48, "x_high": 0.54}),
    ({"n": 1004, "x": 33.3, "x_low": -0.2, "x_high": 40.0}, {"n": 1000, "x": 33.5, "x_low": -0.5, "x_high": 40.0}),
    ({"n": 98765, "p_holm": 0.0451, "p_value": 1e-6, "p_best": 0.33333},
     {"n": 98770, "p_holm": 0.05, "p_value": 0.001, "p_best": 0.333}),
    ({"n": 98765, "null_n": 104, "x": 0.333}, {"n": 98770, "null_n": 100, "x": 0.3}),
    ({"n_templates": 104, "chance": 0.166667, "n_options": 6},
     {"n_templates": 100, "chance": 0.166667, "n_options": 6}),
    ({"n": 104, "reason": "few (m-135M: 44 answers, 1,204 in all)"},
     {"n": 100, "reason": "few (m-135M: … answers, … in all)"}),
])
def test_small_numbers_are_hidden_and_others_rounded(row, shown):
    found = report_data.Data(None, "full", "credentialed", "r", protected=True).protect(row)
    assert found == shown


def test_no_two_figures_of_credentialed_data_differ_by_few(synthetic_build, tmp_path, monkeypatch):
    """Read from the written files: no subtraction of two of their numbers gives a count of 1 to 9."""
    monkeypatch.setattr(report_data.built, "data_class_of", lambda connection: "credentialed")
    columns = {}

    def noted(context):
        found = tables_and_figures(context)
        columns.update({table.id: table.columns for table in found[0]})
        return found

    monkeypatch.setattr(report_module, "tables_and_figures", noted)
    folder = tmp_path / "report"
    written(synthetic_build.database, folder, monkeypatch)
    assert not list(folder.rglob("t-*.js")) and not (folder / "explorer.html").exists()
    counts, hidden, figures = [], 0, {}
    open_to_all = {*report_data.PUBLIC, "chance"}
    for page in PAGES:
        text = (folder / f"{page}.html").read_text(encoding="utf-8")
        counts += re.findall(r"</dt><dd>([\d,]+)</dd>", text) if page == "index" else []
        for table, body in re.findall(r'<table id="([^"]+)">.*?<tbody>(.*?)</tbody>', text, re.DOTALL):
            for line in re.findall(r"<tr.*?</tr>", body, re.DOTALL):
                cells = re.findall(r"<t[dh]([^>]*)>(.*?)</t[dh]>", line, re.DOTALL)
                row = dict(zip([one.name for one in columns[table]], cells, strict=True))
                of_row = {}
                for one in columns[table]:
                    marks, said = row[one.name]
                    if one.kind == "count" and one.name not in report_data.NO_COUNTS:
                        hidden += said == "&lt; 10"
                        of_row[one.name] = re.findall(r"^[\d,]+$", said)
                        counts += [*of_row[one.name], *re.findall(r'data-v="(.*?)"', marks)]
                for one in columns[table]:
                    if one.kind in ("percent", "interval", "points") and one.name not in open_to_all:
                        said = re.sub("<.*?>", "", row[one.name][1]).replace("−", "-")
                        shares = {float(number) / 100 for number in re.findall(r"-?\d+\.\d", said)}
                        names = report_data.OWN_WHOLE.get(one.name, (*report_data.WHOLES, "n_templates"))
                        whole = next((of_row[name][0] for name in names if of_row.get(name)), "10,000")
                        of_whole = (table, one.name, int(whole.replace(",", "")))
                        figures.setdefault(of_whole, set()).update(shares)
    for file in folder.glob("data/plots-*.js"):
        text = file.read_text(encoding="utf-8")
        # What pointing shows, and what stands on bars.
        counts += re.findall(r", n ([\d,]+)", text)
        counts += [n for pair in re.findall(r"([\d,]+) of ([\d,]+) accepted", text) for n in pair]
        on_bars = "text" if file.stem == "plots-cohort" else "customdata"
        counts += [n for bars in re.findall(rf'"{on_bars}":\[((?:"[\d,]+",?)+)\]', text)
                   for n in re.findall(r"[\d,]+", bars.replace('","', " "))]
    numbers = [int(count.replace(",", "")) for count in counts]
    assert [n for n in numbers if n % 10] == []
    assert len(numbers) > 5000 and hidden > 50
    # Shares of one whole differ by ten of it or more, or by what is rounded to 0.1 %.
    for (table, name, whole), shares in figures.items():
        near = [b - a for a, b in itertools.pairwise(sorted(shares))]
        least = min(near, default=1)
        assert least >= max(0.001, 10 / max(whole, 10)) - 1e-9, (table, name, whole, least)
    assert sum(len(shares) for shares in figures.values()) > 500


def test_missing_pieces_say_what_to_run(tmp_path, monkeypatch):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as made:
        made.execute("create table rpt_run_manifest as select 'a' as source, 't' as table_name, 1 as n_rows,"
                     " 'd' as content_digest, null as source_data_class, 'synthetic' as data_class, 'r' as release_id")
    found = written(tmp_path / "x.duckdb", tmp_path / "report", monkeypatch)
    for page in ("leaderboard", "calibration", "accuracy", "behaviour"):
        assert "Too few answers yet" in (tmp_path / "report" / f"{page}.html").read_text(encoding="utf-8")
    assert "ehrbench run" in (tmp_path / "report" / "yield.html").read_text(encoding="utf-8")
    assert any("rpt_leaderboard not built yet" in note for note in found.notes)


def test_errors_are_one_line_with_the_mend(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EHRBENCH_DB", str(tmp_path / "none.duckdb"))
    with pytest.raises(SystemExit):
        cli.main(["report", "--out", str(tmp_path / "report")])
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "run ehrbench run" in said
    duckdb.connect(str(tmp_path / "bare.duckdb")).close()
    with pytest.raises(EhrbenchError, match="no rpt_run_manifest: run ehrbench run"):
        written(tmp_path / "bare.duckdb", tmp_path / "report", monkeypatch)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(EhrbenchError, match="holds other files"):
        written(tmp_path / "bare.duckdb", tmp_path / "mine", monkeypatch)
    assert (tmp_path / "mine" / "thesis.txt").is_file() and not (tmp_path / "mine" / MARKER).exists()


def test_a_locked_database_names_its_process(tmp_path, monkeypatch):
    database = small_database(tmp_path / "x.duckdb", 1)
    code = f"import duckdb, sys; c = duckdb.connect({str(database)!r}); print('open', flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=environment())
    try:
        assert holder.stdout.readline().strip() == b"open"
        with pytest.raises(EhrbenchError, match=f"process {holder.pid} writes it; wait"):
            written(database, tmp_path / "report", monkeypatch)
    finally:
        holder.communicate()


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "made"
    for word in ("first", "second"):
        with replace_folder(folder, "mark.txt") as part:
            (part / "mark.txt").write_text(word)
            (part / word).write_text(word)
    assert {file.name for file in folder.iterdir()} == {"mark.txt", "second"}
    with pytest.raises(ZeroDivisionError), replace_folder(folder, "mark.txt") as part:
        (part / "mark.txt").write_text("third")
        raise ZeroDivisionError
    with pytest.raises(ValueError, match=r"no mark\.txt was written"), replace_folder(folder, "mark.txt"):
        pass
    assert {file.name for file in folder.iterdir()} == {"mark.txt", "second"}
    assert [file.name for file in tmp_path.iterdir()] == ["made"]
    (folder / "mark.txt").unlink()
    with pytest.raises(EhrbenchError, match="holds other files: name an empty folder"):
        replace_folder(folder, "mark.txt").__enter__()
    with pytest.raises(EhrbenchError, match="is a file: name a folder"):
        replace_folder(folder / "second", "mark.txt").__enter__()


def test_counts_of_requests_are_hidden_like_all_others():
    """A stage may ask once per visit: what is planned, missing and done counts visits then."""
    named = re.findall(r"as bigint\) as (\w+)", report_data.query("missing_completions"))
    assert len(named) == 8 and all(name.startswith("n_") for name in named)


def test_what_is_hidden_is_no_figure():
    row = {"n": report_data.HIDDEN, "share": report_data.HIDDEN}
    kinds = {"n": "count", "share": "percent"}
    said = [cell(Column(name, name, kind), row).text for name, kind in kinds.items()]
    assert said == ["< 10", "hidden"]


# ------------------------------------------------------------------------------------ a browser


@pytest.fixture(scope="module")
def browser():
    """The system's Chromium; never a download of the test tool's own."""
    sync = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[test]'")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with sync.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def visit(browser):
    """A function that opens a page of a folder and collects what its console says."""
    contexts, said = [], []

    def opened(folder, name, width=1400, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(("file:", "data:", "blob:"))
                else said.append(f"asks for {request.url}"))
        page.goto((folder / name.partition("#")[0]).as_uri() + name[len(name.partition("#")[0]):])
        return page

    opened.said = said
    yield opened
    for context in contexts:
        context.close()


# Choices whose text has no room beside the arrow.
CUT = """Array.from(document.querySelectorAll('select')).filter(s => s.offsetParent).flatMap(s => {
    const style = getComputedStyle(s), pen = document.createElement('canvas').getContext('2d');
    pen.font = style.font;
    const room = s.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 16;
    return Array.from(s.options).map(o => o.text).filter(text => pen.measureText(text).width > room);
})"""


def until(page, expression, argument=None):
    """Wait for an expression; playwright's own waiting evaluates strings, which the pages forbid."""
    end = time.monotonic() + 30
    while not page.evaluate(expression, argument):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(50)


def test_pages_load_draw_and_fit(report, visit):
    """No error on any page, plots drawn, no sideways scrolling, on a telephone in the dark too."""
    page = visit(report, "index.html")
    for file in sorted(report.glob("*.html")):
        for width, scheme in ((1400, "light"), (390, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            if scheme == "light":
                page.goto(file.as_uri())
            expected = page.locator("[data-plot]").count()
            until(page, "n => document.querySelectorAll('[data-plot] .plot-container').length >= n", expected)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (file.name, width)
            cut = ("Array.from(document.querySelectorAll('[data-plot]:not([hidden])')).filter("
                   "p => p.clientHeight < p.querySelector('svg').getAttribute('height'))"
                   ".map(p => p.dataset.plot)")
            until(page, f"() => {cut}.length === 0")
            dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (dark == "rgb(15, 20, 26)") == (scheme == "dark")
            # No choice is cut off, whatever is chosen.
            assert page.evaluate(CUT) == [], (file.name, width)
            # A table that is wider than its place says so, and is reached and named by keyboard.
            wide = """Array.from(document.querySelectorAll('.scroll')).filter(s => s.scrollWidth > s.clientWidth)
                .map(s => [getComputedStyle(s).backgroundAttachment, s.tabIndex, s.getAttribute('role'),
                           Boolean(document.getElementById(s.getAttribute('aria-labelledby')))])"""
            hinted = page.evaluate(wide)
            assert all(one == ["local, scroll", 0, "region", True] for one in hinted), file.name
            assert hinted or width > 390 or file.stem not in {"leaderboard", "yield"}
            page.screenshot(path=SCREENSHOTS / f"{file.stem}-{width}-{scheme}.png")
    assert visit.said == []


def test_plots_follow_the_theme_and_tables_sort(report, visit):
    page = visit(report, "leaderboard.html")
    ink = "getComputedStyle(document.querySelector('#figure-overall .xtick text')).fill"
    page.wait_for_selector("#figure-overall .xtick text")
    light = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    until(page, f"was => {ink} !== was", light)
    values = ("Array.from(document.querySelectorAll('#board tbody tr:not([hidden])'))"
              ".map(r => Number(r.cells[4].dataset.v))")
    button = page.locator("#board thead th").nth(4).get_by_role("button").first
    button.click()
    assert page.evaluate(values) == sorted(page.evaluate(values), reverse=True)
    button.press("Enter")
    assert page.evaluate(values) == sorted(page.evaluate(values))
    # A column that a filter holds at one value is not shown, and comes back with all values.
    modes = page.locator("#board thead th").nth(2)
    assert "mode" in modes.text_content()
    assert not modes.is_visible()
    page.select_option("form[data-table=board] select >> nth=0", "")
    assert modes.is_visible()
    assert page.locator("#board tbody tr:visible").count() == page.locator("#board tbody tr").count() > 5
    assert visit.said == []


def test_explorer_filters_and_shows_the_evidence(report, synthetic_build, visit):
    triple, pmid, sentence = synthetic_build.rows("""
        select v.triple_id, e.pmid, e.sentence
        from fct_triple_verdicts as v
        inner join fct_triples as t on v.triple_id = t.triple_id
        inner join fct_claim_evidence as e on t.claim_key = e.claim_key and e.role = 'support'
        where v.policy = 'open' and v.verdict = 'accepted' and e.pmid is not null
            and v.triple_id in (select triple_id from fct_templates)
        order by v.triple_id, e.rank limit 1""")[0]
    (wanted,), = synthetic_build.rows("""
        select count(*) from fct_triples as t
        inner join fct_triple_verdicts as v on t.triple_id = v.triple_id and v.policy = 'open'
        where t.task = 'tx' and v.verdict = 'rejected'""")
    page = visit(report, "explorer.html")
    page.wait_for_selector("body[data-ready]")
    page.select_option("select[name=task]", "tx")
    page.select_option("select[name=verdict]", "rejected")
    assert page.locator("#found").inner_text().startswith(f"{wanted:,} of ")
    # One click away from the evidence; every PMID of the claim is there.
    page.get_by_role("button", name="Clear").click()
    page.fill("input[name=text]", triple)
    assert page.locator("#found").inner_text().startswith("1 of ")
    page.locator(".row").first.click()
    page.wait_for_selector(f"#detail[data-id='{triple}']")
    detail = page.locator("#detail").inner_text()
    assert f"PMID {pmid}" in detail and sentence in detail
    for part in ("Raw codes", "Checks", "Evidence", "Verdict under each policy", "Proposed by"):
        assert part in detail
    assert "[object" not in detail and "undefined" not in detail
    page.screenshot(path=SCREENSHOTS / "triple-1400-light.png", full_page=True)
    # Its item: options, the answer marked, distractors with what came of them.
    page.locator("#detail a[href^='#item=']").last.click()
    until(page, "document.querySelector('#detail').innerText.includes('Distractors considered')")
    assert "shown in items of this template" in page.locator("#detail").inner_text()
    page.screenshot(path=SCREENSHOTS / "item-1400-light.png", full_page=True)
    # Back goes to the triple and then to the list, Forward to the triple again; closing is a step as well.
    page.go_back()
    page.wait_for_selector(f"#detail[data-id='{triple}']")
    page.go_back()
    until(page, "location.hash === '' && document.querySelector('#detail').innerText.startsWith('Choose a row')")
    page.go_forward()
    until(page, "id => document.querySelector('#detail').innerText.includes(id)", triple)
    page.evaluate("location.hash = '#triple'")
    page.wait_for_timeout(100)
    assert triple in page.locator("#detail").inner_text()
    # A number of an article finds the triples that rest on it.
    page.keyboard.press("Escape")
    assert page.evaluate("location.hash") == ""
    page.check("input[value=triples]")
    page.fill("input[name=text]", pmid)
    (resting,), = synthetic_build.rows(f"""
        select count(*) from fct_triples where claim_key in
            (select claim_key from fct_claim_evidence where pmid = '{pmid}')""")
    assert page.locator("#found").inner_text().startswith(f"{resting:,} of ")
    assert visit.said == []


def test_explorer_by_keyboard_on_a_telephone(report, visit):
    page = visit(report, "explorer.html", 390, "dark")
    page.wait_for_selector("body[data-ready]")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("input[name=text]")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "list"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#list", "aria-activedescendant") == "row-2"
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail.open h2")
    assert page.evaluate("document.activeElement.id") == "detail"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.screenshot(path=SCREENSHOTS / "triple-390-dark.png")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "list"
    assert page.locator("#detail.open").count() == 0
    page.keyboard.press("End")
    until(page, "document.querySelector('.row.at')")
    page.check("input[value=items]")
    assert page.evaluate(CUT) == []
    assert visit.said == []


def test_ten_thousand_triples_stay_fluent(tmp_path, monkeypatch, visit):
    """Few rows are in the page whatever the list holds, and a filter is far from being felt."""
    folder = tmp_path / "report"
    written(small_database(tmp_path / "x.duckdb", 10_000, label=HOSTILE), folder, monkeypatch)
    page = visit(folder, "explorer.html")
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#found").inner_text() == "10,000 of 10,000 triples"
    for text, count in (("alert n17.s5 ", 1134), ("", 10_000), ("zzz", 0)):
        page.fill("input[name=text]", text)
        assert page.locator("#found").inner_text() == f"{count:,} of 10,000 triples"
        # The bound is ten times what a slow machine takes, so that a busy one does not fail.
        assert float(page.get_attribute("#list", "data-ms")) < 500
        assert page.locator(".row").count() < 40
    page.fill("input[name=text]", "")
    page.select_option("select[name=verdict]", "accepted")
    assert page.locator("#found").inner_text() == "5,000 of 10,000 triples"
    started = time.monotonic()
    page.evaluate("document.getElementById('list').scrollTop = 1e9")
    until(page, "document.querySelector('.row:last-child').getAttribute('aria-posinset') === '5000'")
    assert time.monotonic() - started < 5
    page.locator(".row").last.click()
    page.wait_for_selector("#detail h2")
    assert page.locator("#detail script, #list script").count() == 0
    assert "<script>alert(1)</script>" in page.locator("#detail").inner_text()
    assert visit.said == []
