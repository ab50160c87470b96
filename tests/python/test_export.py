"""Exports: only released items, nothing of a patient in any file, and harnesses that score as we do."""

import functools
import hashlib
import importlib.util
import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import click
import duckdb
import pyarrow.parquet as pq
import pytest
import yaml
from conftest import IN_CI, ROOT, environment
from test_parse_choice import OWN_CASES, shared_cases

from ehrbench import canary, cli, export, paths
from ehrbench.errors import EhrbenchError
from ehrbench.export.items import COLUMNS, query

HARNESS = Path(__file__).with_name("run_harness.py")
MODEL = "SmolLM2-135M-Instruct"
# Ids of a source's rows are long numbers; dates as they are written in data and in prose.
LONG_NUMBER = re.compile(r"(?<![0-9a-f])\d{6,}(?![0-9a-f])")
HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
DATE = re.compile(
    r"\b(?:1[89]|2[01])\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])\b"
    r"|\b\d{1,2}[/.]\d{1,2}[/.](?:1[89]|2[01])\d\d\b|\b\d\d:\d\d:\d\d\b"
    r"|\b(?:January|February|March|April|June|July|August|September|October|November|December)"
    r" \d{1,2}\b"
)
# Keys of rows of the database and ids of rows of the sources.
KEYS = {
    "dim_patients": ("patient_key", "person_group"),
    "dim_visits": ("visit_key", "patient_key", "person_group"),
    "fct_visit_events": ("event_key", "visit_key"),
    "fct_templates": ("template_key", "triple_id", "patient_key"),
    "stg_mimic_iv__admissions": ("subject_id", "hadm_id"),
    "stg_mimic_iii__admissions": ("subject_id", "hadm_id"),
    "stg_omop__visit_occurrence": ("visit_occurrence_id", "person_id"),
}

if not IN_CI and not all(map(importlib.util.find_spec, ("datasets", "lm_eval", "inspect_ai"))):
    pytest.skip("the extra evals is not installed: pip install -e '.[evals]'", allow_module_level=True)


def written(database, folder, **settings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EHRBENCH_DB", str(database))
        return export.write("synthetic", folder, **settings)


@pytest.fixture(scope="module")
def exported(synthetic_build, tmp_path_factory):
    """All formats of the synthetic build."""
    folder = tmp_path_factory.mktemp("export") / "export"
    written(synthetic_build.database, folder)
    return folder


@pytest.fixture(scope="module")
def items(exported, begun):
    """Every item of the JSON lines, by file."""
    return {
        file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for file in sorted((exported / "jsonl").iterdir())
    }


def files_of(folder):
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*")) if file.is_file()
    }


# ------------------------------------------------------------------------------------- content


def test_released_items_and_no_others_with_what_the_marts_hold(synthetic_build, items):
    found = {item["item_id"]: item for rows in items.values() for item in rows}
    assert sum(map(len, items.values())) == len(found)
    wanted = synthetic_build.rows("""
        select i.item_id, i.task, i.source, i.format, i.scenario, i.question, i.in_subset, q.draw,
            p.messages, case when i.format = 'mcq' then k.gold_letter else k.gold_label end,
            (select list(o.label order by o.option_letter) from fct_item_options as o where o.item_id = i.item_id)
        from dim_items as i
        inner join rpt_item_quality as q on i.item_id = q.item_id and q.released
        inner join fct_prompts as p on i.item_id = p.item_id and p.arm = 'standard'
        inner join fct_answer_keys as k on i.item_id = k.item_id
        where i.released
    """)
    (held_back,), = synthetic_build.rows("select count(*) from dim_items where not released")
    assert held_back > 0
    assert set(found) == {row[0] for row in wanted}
    for key, task, source, form, scenario, question, in_subset, draw, messages, answer, labels in wanted:
        item = found[key]
        assert (item["task"], item["source"], item["format"]) == (task, source, form)
        assert (item["scenario"], item["question"]) == (scenario, question)
        assert (item["in_subset"], item.get("draw")) == (in_subset, draw)
        assert [item["system"], item["prompt"]] == [part["content"] for part in json.loads(messages)]
        assert (item["answer"], item.get("options")) == (answer, labels)
    for name, rows in items.items():
        assert {f"{item['task']}_{item['format']}" for item in rows} == {name}
        assert [item["item_id"] for item in rows] == sorted(item["item_id"] for item in rows)


def test_all_formats_hold_the_same_rows(exported, items, offline, monkeypatch):
    for name, value in offline.items():
        monkeypatch.setenv(name, value)
    import datasets

    folder = exported / "datasets"
    assert set(datasets.get_dataset_config_names(str(folder))) == {"mcq", "oeq", *items}
    for name, rows in items.items():
        opened = datasets.load_dataset(str(folder), name, split="test", cache_dir=offline["HF_HOME"])
        assert opened.to_list() == rows
        assert pq.read_table(exported / "parquet" / f"{name}.parquet").to_pylist() == rows
    pooled = datasets.load_dataset(str(folder), cache_dir=offline["HF_HOME"])
    assert list(pooled) == ["test"]
    together = [item for name in sorted(items) if name.endswith("_mcq") for item in items[name]]
    assert pooled["test"].to_list() == together
    for name in ("dx", "tx", "px"):
        table = pq.read_table(exported / "lm-eval" / "items" / f"{name}.parquet").to_pylist()
        lines = (exported / "inspect-ai" / "items" / f"{name}.jsonl").read_text(encoding="utf-8")
        asked = [json.loads(line) for line in lines.splitlines()]
        assert asked == table == [{key: item[key] for key in asked[0]} for item in items[f"{name}_mcq"]]


def leaks(text, keys):
    """What a text says of a patient: keys and ids of rows, dates."""
    said = set(HASH.findall(text)) | set(LONG_NUMBER.findall(text))
    return sorted(said & keys) + sorted(set(DATE.findall(text)))


def test_no_file_names_a_patient_a_visit_a_date_or_a_row(synthetic_build, exported, items):
    keys = {
        str(value)
        for table, columns in KEYS.items()
        for column in columns
        for (value,) in synthetic_build.rows(f"select distinct {column} from {table}")
    }
    assert len(keys) > 10_000
    a_key, an_id = min(key for key in keys if len(key) == 32), min(key for key in keys if key.isdigit())
    for said in (f"({a_key})", f"id {an_id},", "on 2150-03-04", "4/12/2101", "March 3"):
        assert leaks(f"Seen {said} twice", keys), said
    texts = {
        name: content.decode("utf-8") for name, content in files_of(exported).items()
        if not name.endswith(".parquet") and not name.startswith("inspect-ai/items/")
    }
    assert {name: found for name, text in texts.items() if (found := leaks(text, keys))} == {}
    # The other files of items hold the rows of the JSON lines (above) and nothing beside them.
    allowed = {column.name for column in COLUMNS} | {"canary"}
    for file in exported.rglob("*.parquet"):
        schema = pq.read_schema(file)
        assert set(schema.names) <= allowed
        assert set(schema.metadata) == {canary.KEY.encode()}
    for rows in items.values():
        assert {name for item in rows for name in item} <= allowed


def test_what_is_right_stands_in_its_columns_only(items):
    for name, rows in items.items():
        for item in rows:
            shown = item["prompt"]
            if name.endswith("_mcq"):
                assert item["answer"] in item["letters"]
                lines = [f"{letter}. {text}" for letter, text in zip(item["letters"], item["options"], strict=True)]
                assert "\n".join(lines) in shown
                shown = shown.replace("\n".join(lines), "")
                right = item["options"][item["letters"].index(item["answer"])]
            else:
                right = item["answer"]
                assert right not in item["aliases"]
            assert right.casefold() not in (shown + item["system"]).casefold()


def test_without_answers_nothing_is_right(synthetic_build, exported, items, tmp_path):
    blind = tmp_path / "blind"
    written(synthetic_build.database, blind, with_answers=False)
    assert {path.name for path in blind.iterdir()} == {
        "DATA_CARD.md", "manifest.json", "jsonl", "parquet", "datasets"
    }
    # Several wordings of a template would tell the answer by how it moves.
    templates = dict(synthetic_build.rows("select item_id, template_key from dim_items where released"))
    for name, rows in items.items():
        lines = (blind / "jsonl" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        kept = {json.loads(line)["item_id"] for line in lines}
        of = [templates[item_id] for item_id in kept]
        assert len(of) == len(set(of)) == len({templates[item["item_id"]] for item in rows})
        asked = {templates[item["item_id"]] for item in rows if item["in_subset"]}
        assert asked == {templates[item["item_id"]] for item in rows if item["in_subset"] and item["item_id"] in kept}
        hidden = [
            {key: item[key] for key in item if key not in ("answer", "aliases")}
            for item in rows if item["item_id"] in kept
        ]
        assert [json.loads(line) for line in lines] == hidden
        for folder in ("parquet", "datasets/data"):
            assert pq.read_table(blind / folder / f"{name}.parquet").to_pylist() == hidden
    told, open_told = (json.loads((folder / "manifest.json").read_bytes()) for folder in (blind, exported))
    assert (told["answers"], told["version"]) == (False, open_told["version"])
    with pytest.raises(EhrbenchError, match="^lm-eval cannot score without answers"):
        written(synthetic_build.database, blind, with_answers=False, formats=["lm-eval"])


def test_aliases_are_names_that_released_items_show(items):
    shown = {
        line.split(": ", 1)[1]
        for rows in items.values() for item in rows for line in item["scenario"].split("\n")
    }
    aliases = {name for rows in items.values() for item in rows for name in item.get("aliases", ())}
    assert aliases
    assert aliases <= shown


# -------------------------------------------------------------------------- version and manifest


def test_every_file_carries_the_canary(exported):
    line = canary.text().encode()
    assert {name for name, content in files_of(exported).items() if line not in content} == set()
    for file in exported.rglob("*.parquet"):
        assert pq.read_schema(file).metadata[canary.KEY.encode()] == line


def test_the_manifest_lists_every_file_with_its_hash(synthetic_build, exported, items):
    found = files_of(exported)
    manifest = json.loads(found.pop("manifest.json"))
    assert {name: entry["sha256"] for name, entry in manifest["files"].items()} == {
        name: hashlib.sha256(content).hexdigest() for name, content in found.items()
    }
    assert {name: entry["bytes"] for name, entry in manifest["files"].items()} == {
        name: len(content) for name, content in found.items()
    }
    rows = {name: entry["rows"] for name, entry in manifest["files"].items() if "rows" in entry}
    for name in items:
        assert rows[f"jsonl/{name}.jsonl"] == rows[f"parquet/{name}.parquet"] == len(items[name])
    (release, data_class), = synthetic_build.rows("select distinct release_id, data_class from rpt_run_manifest")
    assert (manifest["release_id"], manifest["data_class"]) == (release, data_class)
    assert manifest["policy"] == ["open"]
    assert re.fullmatch("[0-9a-f]{12}", manifest["version"])


def test_the_same_database_gives_the_same_bytes(synthetic_build, exported, tmp_path):
    again = tmp_path / "again"
    written(synthetic_build.database, again)
    assert files_of(again) == files_of(exported)


def test_the_version_changes_with_the_items_and_not_with_their_order():
    def version(*rows):
        with duckdb.connect() as connection:
            connection.execute("create table export_items (item_id varchar, prompt varchar, answer varchar)")
            connection.executemany("insert into export_items values (?, ?, ?)", rows)
            return connection.execute(query("version")).fetchone()[0]

    one, two = ("i1", "What?", "A"), ("i2", "Which?", "B")
    assert version(one, two) == version(two, one)
    others = [
        version(one), version(one, ("i2", "Which?", "A")), version(one, ("i2", "Which one?", "B")),
        version(one, ("i3", "Which?", "B")), version(("i1", "What?A", ""), two),
    ]
    assert len({version(one, two), *others}) == 6


def test_the_card_says_what_is_in_it(exported, items):
    card = (exported / "DATA_CARD.md").read_text(encoding="utf-8")
    counted = Counter(
        (item["task"], item["source"], item["format"], item.get("n_options"))
        for rows in items.values() for item in rows
    )
    for (task, source, form, k), n in counted.items():
        assert f"| {task} | {source} | {form} | {k or ''} | {n:,} |" in card
    manifest = json.loads((exported / "manifest.json").read_bytes())
    for said in (manifest["version"], manifest["release_id"], "not best care", "Apache-2.0", "--without-answers"):
        assert said in card
    for column in COLUMNS:
        assert f"| `{column.name}` |" in card
    front = (exported / "datasets/README.md").read_text(encoding="utf-8").split("---\n")[1]
    assert yaml.safe_load(front)["license"] == "apache-2.0"
    assert not re.search(r"\{[{%]|None|Undefined", card)


# ------------------------------------------------------------------------------------- refusals


def test_credentialed_items_are_refused_without_the_flag(synthetic_build, tmp_path):
    database = tmp_path / "credentialed.duckdb"
    shutil.copyfile(synthetic_build.database, database)
    with duckdb.connect(str(database)) as connection:
        connection.execute("update rpt_run_manifest set data_class = 'credentialed'")
    with pytest.raises(EhrbenchError, match="credentialed: an export is written only with --allow-credentialed"):
        written(database, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    written(database, tmp_path / "out", allow_credentialed=True, formats=["datasets"])
    card = (tmp_path / "out" / "DATA_CARD.md").read_text(encoding="utf-8")
    assert "data use agreement" in card
    front = (tmp_path / "out/datasets/README.md").read_text(encoding="utf-8").split("---\n")[1]
    assert yaml.safe_load(front)["license"] == "other"


def test_a_database_without_released_items_is_one_line(synthetic_build, tmp_path):
    database = tmp_path / "empty.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"attach '{synthetic_build.database}' as built (read_only)")
        connection.execute("create table rpt_run_manifest as from built.main.rpt_run_manifest")
    with pytest.raises(EhrbenchError, match="holds no items of this version: run ehrbench run first"):
        written(database, tmp_path / "out")
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"attach '{synthetic_build.database}' as built (read_only)")
        for name in duckdb.get_table_names(query("items")):
            connection.execute(f"create table {name} as from built.main.{name}")
        connection.execute("update dim_items set released = false")
    with pytest.raises(EhrbenchError, match="no item is released"):
        written(database, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_of_others_are_left_alone(synthetic_build, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    # What dbt leaves behind has a manifest.json of its own.
    (foreign / "manifest.json").write_text("mine", encoding="utf-8")
    with pytest.raises(EhrbenchError, match="holds other files"):
        written(synthetic_build.database, foreign)
    assert files_of(foreign) == {"manifest.json": b"mine"}
    written(synthetic_build.database, tmp_path / "out", formats=["jsonl"])
    written(synthetic_build.database, tmp_path / "out", formats=["parquet"])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"DATA_CARD.md", "manifest.json", "parquet"}


def test_the_command_line(synthetic_build, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EHRBENCH_DB", str(synthetic_build.database))
    assert cli.EXPORT_FORMATS == export.FORMATS
    cli.main(["export", "--target", "synthetic", "--out", str(tmp_path / "out"), "--format", "lm-eval"])
    said = capsys.readouterr().out
    assert re.search(r"export: \d+/\d+ in ", said)
    version = json.loads((tmp_path / "out/manifest.json").read_bytes())["version"]
    assert f"version {version}: " in said
    with pytest.raises(SystemExit) as stopped:
        cli.main(["export", "--format", "inspect-ai", "--without-answers"])
    assert stopped.value.code == 2
    assert "inspect-ai cannot score without answers" in capsys.readouterr().err
    help_text = click.Context(cli.export).get_help()
    assert "ehrbench export --target synthetic --out build/export" in help_text


# ------------------------------------------------------------------------------------ harnesses


@pytest.fixture(scope="module")
def offline(tmp_path_factory):
    """Caches in a folder of the session, and no look at any hub."""
    folder = tmp_path_factory.mktemp("caches")
    names = ("HF_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "INSPECT_LOG_DIR", "HOME")
    return {
        **{name: str(folder / name.lower()) for name in names},
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "TQDM_DISABLE": "1",
    }


def started(harness, folder, runs, offline, work):
    """A harness at work on the exported folder, and where its result will be."""
    work.mkdir(parents=True, exist_ok=True)
    (work / "runs.json").write_text(json.dumps(runs), encoding="utf-8")
    arguments = [sys.executable, HARNESS, harness, folder, work / "runs.json", work / "result.json"]
    with open(work / "said.log", "w", encoding="utf-8") as said:
        return subprocess.Popen(
            list(map(str, arguments)), cwd=work, env=environment(**offline), stdout=said,
            stderr=subprocess.STDOUT,
        )


def result_of(process, work, timeout=600):
    code = process.wait(timeout=timeout)
    assert code == 0, (work / "said.log").read_text(encoding="utf-8")[-3000:]
    return json.loads((work / "result.json").read_text(encoding="utf-8"))


# Replies to an item of four options, and the letter that they name.
REPLIES = {
    "B": "B", "(c).": "C", "**D**": "D", "B. Cellulitis": "B", "The answer is C.": "C", "E": None, "": None,
    "Answer: A\nNo, the answer is B": "B", "<think>A. no</think>C": "C", "A. yes\nB. no": None,
    "I would think of sepsis": None, "A patient with a stroke": None,
}
MORE_REPLIES = {
    "answer: (c)": "C", "Answer: (c)": "C", "(d)": "D", "b)": "B", "\u200bB\u200b": "B", "Answer:\u00a0B": "B",
    "\ufeffAnswer: D": "D", "A, B": None, "Answer: A or B": None, "answer: a and c": None, "Answer: G": None,
}
SCORES = """
    select s.item_id, s.task, s.n_options, s.correct, r.raw_completion, r.parsed_letter, p.messages,
        p.n_options as n_letters, c.option_logprobs
    from fct_scores as s
    inner join fct_responses as r on s.request_key = r.request_key
    inner join fct_prompts as p on s.item_id = p.item_id and p.arm = 'standard'
    inner join int_pooled_sources as u on s.source = u.source and u.is_pooled
    left join int_completions_latest as c on s.request_key = c.request_key
    where s.arm = 'standard' and s.model = '{model}' and s.mode = '{mode}' and s.repetition = 1
    order by s.item_id
"""


def our_accuracy(rows):
    """Accuracy by lm-eval's names of tasks and groups."""
    found = {}
    for row in rows:
        for name in ("ehrbench", f"ehrbench_{row[1]}", f"ehrbench_{row[1]}_{row[2]}"):
            found.setdefault(name, []).append(row[3])
    return {name: sum(values) / len(values) for name, values in found.items()}


def letters_of(row):
    return [chr(ord("A") + place) for place in range(row[7])]


@pytest.fixture(scope="module")
def places(load, exported):
    """Items (ids) by leaf task of lm-eval, as their places among what it loads."""
    return functools.partial(load("harness").places, exported / "lm-eval")


@pytest.fixture(scope="module")
def begun(synthetic_build, exported, places, offline, tmp_path_factory):
    """Both harnesses at work on our recorded answers, beside the tests of this file."""
    work = tmp_path_factory.mktemp("harnesses")
    counted = synthetic_build.rows(SCORES.format(model="cooccurrence", mode="choice"))
    asked = synthetic_build.rows(SCORES.format(model=MODEL, mode="logprobs"))
    chosen = [
        row for row in synthetic_build.rows(SCORES.format(model=MODEL, mode="choice")) if row[1] == "px"
    ]
    free = synthetic_build.rows(f"""
        select r.raw_completion, r.parsed_letter, p.n_options
        from fct_responses as r
        inner join fct_prompts as p on r.item_id = p.item_id and r.arm = p.arm
        where r.model = '{MODEL}' and r.format = 'mcq' and r.arm = 'standard' and r.mode like 'free%'
        order by r.request_key
        limit 40
    """)
    assert len(counted) > 500 and len(asked) > 300 and len(chosen) > 50
    picked = {
        json.dumps(json.loads(row[6])): {
            letter: 0.0 if letter == row[5] else -1.0 for letter in letters_of(row)
        }
        for row in counted
    }
    logprobs = {
        "\n\n".join(part["content"] for part in json.loads(row[6])): json.loads(row[8]) for row in asked
    }
    processes = {
        "lm-eval": started("lm-eval", exported, [
            {"model": "recorded", "group": "ehrbench", "chat": True, "answers": picked},
            {"model": "recorded", "group": "ehrbench_plain", "chat": False, "answers": logprobs,
             "samples": places({row[0] for row in asked})},
            {"model": "dummy", "group": "ehrbench_all", "chat": False, "limit": 30},
        ], offline, work / "lm-eval"),
        "inspect-ai": started("inspect-ai", exported, [
            {"only": "px", "ids": [row[0] for row in chosen],
             "answers": {json.loads(row[6])[1]["content"]: row[4] for row in chosen},
             "replies": [*((row[0], row[2]) for row in free), *((text, 4) for text in REPLIES)]},
        ], offline, work / "inspect-ai"),
    }
    yield (counted, asked, chosen), free, processes, work
    for process in processes.values():
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def harnesses(begun):
    """The scores that both were given, and what they made of them."""
    rows, free, processes, work = begun
    found = {name: result_of(process, work / name) for name, process in processes.items()}
    return {"rows": rows, "free": free, **found}


def test_lm_eval_scores_recorded_answers_as_we_do(exported, harnesses):
    counted, asked, _ = harnesses["rows"]
    by_letter, by_logprob, _ = harnesses["lm-eval"]
    assert by_letter["accuracy"] == pytest.approx(our_accuracy(counted), abs=1e-9)
    ours = our_accuracy(asked)
    theirs = {name: by_logprob["accuracy"][name] for name in ours if name.count("_") == 2}
    assert theirs == pytest.approx({name: ours[name] for name in theirs}, abs=1e-9)
    assert by_logprob["accuracy"]["ehrbench_plain"] == pytest.approx(ours["ehrbench"], abs=1e-9)
    for rows, result in ((counted, by_letter), (asked, by_logprob)):
        assert {item["item_id"]: item["accuracy"] for item in result["items"]} == {row[0]: row[3] for row in rows}
    assert by_letter["version"] == [json.loads((exported / "manifest.json").read_bytes())["version"]]


def test_lm_eval_completes_with_its_dummy_model_and_finds_every_released_item(exported, items, harnesses):
    dummy = harnesses["lm-eval"][2]
    pooled = Counter(
        f"ehrbench_{item['task']}_{item['n_options']}"
        for name, rows in items.items() if name.endswith("_mcq") for item in rows if item["pooled"]
    )
    assert dummy["n"] == pooled
    assert len(dummy["items"]) == sum(min(n, 30) for n in pooled.values())
    assert 0 < dummy["accuracy"]["ehrbench_all"] < 1


def test_inspect_scores_recorded_answers_as_we_do(exported, harnesses):
    rows = harnesses["rows"][2]
    (result,) = harnesses["inspect-ai"]
    assert (result["status"], result["error"], result["n"]) == ("success", None, len(rows))
    ours = our_accuracy(rows)
    metrics = result["metrics"]
    assert metrics["accuracy"] == metrics["px"] == pytest.approx(ours["ehrbench"], abs=1e-9)
    for k in sorted({row[2] for row in rows}):
        assert metrics[f"{k} options"] == pytest.approx(ours[f"ehrbench_px_{k}"], abs=1e-9)
    assert metrics["stderr"] > 0
    assert result["version"] == json.loads((exported / "manifest.json").read_bytes())["version"]


def test_inspect_reads_replies_as_we_do(harnesses):
    """Those that a model wrote, and those above."""
    (result,) = harnesses["inspect-ai"]
    ours = [row[1] for row in harnesses["free"]]
    assert len(ours) == 40
    assert result["letters"] == [*ours, *REPLIES.values()]


def test_the_expression_of_the_inspect_task_reads_every_case(exported):
    """The cases of parse_choice, and some that a regular expression in Python reads otherwise."""
    cases = [
        *((case["completion"], int(case["n_options"]), case["expected_letter"] or None)
          for case in shared_cases()),
        *((text, n, letter) for text, n, letter, _, _ in OWN_CASES),
        *((text, 4, letter) for text, letter in MORE_REPLIES.items()),
    ]
    expression = (exported / "inspect-ai/parse_choice.sql").read_text(encoding="utf-8")
    with duckdb.connect() as connection:
        connection.execute("create table cases (place integer, completion varchar, n_options integer)")
        connection.executemany(
            "insert into cases values (?, ?, ?)",
            [(place, *case[:2]) for place, case in enumerate(cases)],
        )
        read = connection.execute(f"select ({expression}).letter from cases order by place").fetchall()
    wrong = [(case, letter) for case, (letter,) in zip(cases, read, strict=True) if letter != case[2]]
    assert len(cases) > 250 and wrong == []


# ----------------------------------------------------------------------------------------- soak


@pytest.mark.soak
def test_the_dummy_model_of_the_lm_eval_command(exported, offline, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--tasks", "ehrbench",
         "--include_path", str(exported / "lm-eval"), "--output_path", str(tmp_path / "out")],
        cwd=tmp_path, env=environment(**offline), capture_output=True, text=True, check=False, timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"ehrbench_px_6\s*\|", done.stdout)


@pytest.mark.soak
@pytest.mark.engine
def test_lm_eval_with_real_weights_scores_as_our_engine_did(
    synthetic_build, exported, places, offline, tmp_path
):
    """Recorded: vLLM, mode logprobs. Here: transformers, in lm-eval, on some items of every task."""
    for package in ("torch", "transformers"):
        pytest.importorskip(package)
    weights = paths.model_weights(MODEL, MODEL)
    if weights is None:
        pytest.skip(f"no weights of {MODEL} below {paths.models_dir()}: ehrbench convert embedded-model")
    rows = synthetic_build.rows(SCORES.format(model=MODEL, mode="logprobs"))
    some = {row[0] for row in rows[: 150]}
    runs = [{"model": str(weights), "group": "ehrbench", "chat": True, "samples": places(some)}]
    (found,) = result_of(
        started("lm-eval", exported, runs, offline, tmp_path / "work"), tmp_path / "work", 1800
    )
    ours = {row[0]: row for row in rows if row[0] in some}
    assert {item["item_id"] for item in found["items"]} == some
    n_close = 0
    for item in found["items"]:
        recorded = json.loads(ours[item["item_id"]][8])
        for letter, logprob in zip(item["letters"], item["logprobs"], strict=True):
            assert math.isclose(logprob, recorded[letter], abs_tol=5e-3), (item, recorded)
        best, second = sorted(recorded.values(), reverse=True)[:2]
        if best - second < 1e-2:
            n_close += 1  # Another processor may turn these round.
        else:
            assert item["accuracy"] == ours[item["item_id"]][3]
    assert n_close < len(some) / 10
    leaves = our_accuracy(ours.values())
    assert set(leaves) <= set(found["accuracy"])
    assert math.isclose(found["accuracy"]["ehrbench"], leaves["ehrbench"], abs_tol=n_close / len(some) + 1e-9)
