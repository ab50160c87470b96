"""ehrbench explain: what it prints and what the tables say, one id at a time."""

from __future__ import annotations

import io
import json
import re
import sys

import duckdb
import pytest
from ehrbench import cli, explain
from ehrbench.errors import EhrbenchError
from ehrbench.explain import printed
from rich.cells import cell_len

ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def reader(synthetic_build):
    with explain.open_database(synthetic_build.database, "synthetic", False) as found:
        yield found


def one(reader, sql: str, *values: object):
    """First value of a query that must find something."""
    row = reader.connection.execute(sql, list(values)).fetchone()
    assert row is not None
    return row[0]


def values(reader, sql: str, *given: object) -> list:
    return [row[0] for row in reader.connection.execute(sql, list(given)).fetchall()]


def in_text(found: dict, width: int = 100) -> str:
    """What is printed of an explanation."""
    stream = io.StringIO()
    console = printed.Console(
        file=stream, width=width, markup=False, highlight=False, emoji=False, soft_wrap=False
    )
    printed.print_explanation(found, console)
    return stream.getvalue()


def one_line(text: str) -> str:
    """Text without its wrapping."""
    return re.sub(r"\s+", " ", text)


ACTIVE = "(select min(policy) from fct_templates)"
# A triple with evidence for and against, and a context event against it as well.
REJECTED = f"""
    select v.triple_id
    from fct_triple_verdicts as v
    inner join fct_triple_claims as c on v.triple_id = c.triple_id
    inner join fct_claim_evidence as e on c.claim_key = e.claim_key
    inner join fct_context_conflicts as x on v.triple_id = x.triple_id
    where v.policy = {ACTIVE} and v.verdict = 'rejected'
    group by v.triple_id
    having count(distinct e.role) = 3
    order by v.triple_id
    limit 1"""
ACCEPTED = """
    select triple_id from fct_templates
    where answer_cui is not null and triple_id in (
        select triple_id from fct_triple_verdicts where policy = 'sound' and verdict = 'accepted'
    )
    order by triple_id limit 1"""
RELEASED = """
    select item_id from dim_items
    where released and format = 'mcq' and n_options = 5 order by item_id limit 1"""
HELD_BACK = """
    select item_id from rpt_item_quality
    where not released and reason like '%,%' order by item_id limit 1"""


# ----------------------------------------------------------------------------------- triples


@pytest.mark.parametrize("sql", [REJECTED, ACCEPTED], ids=["rejected", "accepted"])
def test_a_triple_is_shown_as_the_tables_have_it(reader, sql):
    triple_id = one(reader, sql)
    found = reader.explain(triple_id, "synthetic")
    text = one_line(in_text(found))

    verdicts = reader.connection.execute(
        "select policy, verdict, failed_reason_codes from fct_triple_verdicts "
        "where triple_id = ? order by policy",
        [triple_id],
    ).fetchall()
    assert len(verdicts) >= 3
    assert verdicts == [
        (
            row["policy"], row["verdict"],
            ",".join(reason["reason_code"] for reason in row["reasons"]) or None,
        )
        for row in found["verdicts"]
    ]
    for policy, verdict, codes in verdicts:
        assert f"{verdict} under {policy}" in text
        for code in (codes or "").split(","):
            assert code in text
    for row in found["verdicts"]:
        for reason in row["reasons"]:
            assert reason["meaning"] and f"{reason['meaning']}." in text

    checks = reader.connection.execute(
        "select check_name, status from fct_triple_checks where triple_id = ? order by all",
        [triple_id],
    ).fetchall()
    assert sorted((row["check_name"], row["status"]) for row in found["checks"]) == checks
    for check_name, status in checks:
        assert f"{status} {check_name}" in text

    pmids = values(
        reader,
        "select e.pmid from fct_claim_evidence as e inner join fct_triple_claims as c "
        "on e.claim_key = c.claim_key where c.triple_id = ? and e.pmid is not null",
        triple_id,
    )
    assert pmids and sorted(pmids) == sorted(
        row["pmid"] for row in found["evidence"] if row["pmid"]
    )
    for row in [*found["evidence"], *found["conflicts"]]:
        if row["pmid"]:
            assert f"PMID {row['pmid']}" in text
            assert row["sentence"] is None or one_line(row["sentence"]) in text


def test_every_event_is_shown_with_its_codes_and_concepts(reader):
    unmapped = one(
        reader,
        "select e.triple_id from fct_triple_events as e inner join brg_event_concepts as b "
        "on e.event_key = b.event_key where b.cui is null and e.role = 'context' "
        "order by e.triple_id limit 1",
    )
    found = reader.explain(unmapped, "synthetic")
    text = one_line(in_text(found))
    rows = reader.connection.execute(
        "select e.role, v.source_code, v.normalized_code, b.cui, b.mapping_method, "
        "b.mapping_level, b.reason from fct_triple_events as e "
        "inner join fct_visit_events as v on e.event_key = v.event_key "
        "inner join brg_event_concepts as b on e.event_key = b.event_key where e.triple_id = ?",
        [unmapped],
    ).fetchall()
    shown = [
        (
            event["role"], event["source_code"], event["normalized_code"], concept["cui"],
            concept["method"], concept["level"], concept["reason"],
        )
        for event in found["events"]
        for concept in event["concepts"]
    ]
    assert sorted(shown, key=str) == sorted(rows, key=str)
    for _, source_code, code, cui, method, level, reason in rows:
        assert one_line(f"{source_code} → {code}") in text
        assert f"({method}, {level})" in text if cui else f"no concept ({reason})" in text


def test_a_visit_is_shown_by_its_place_and_nothing_else(reader):
    triple_id = one(
        reader, "select triple_id from fct_triples where task = 'px' order by triple_id limit 1"
    )
    found = reader.explain(triple_id, "synthetic")
    place, n_visits, days = reader.connection.execute(
        "select v.visit_number, p.n_visits, v.days_to_next_inpatient from fct_triples as t "
        "inner join dim_visits as v on t.visit_key = v.visit_key "
        "inner join dim_patients as p on t.patient_key = p.patient_key where t.triple_id = ?",
        [triple_id],
    ).fetchone()
    text = one_line(in_text(found))
    assert f"visit {place} of {n_visits}" in text and f"{days} day" in text
    ids = reader.connection.execute(
        "select a.patient_id, a.admission_id, a.admitted_at from fct_triples as t "
        "inner join int_admissions_merged as a on t.patient_key = a.patient_key "
        "where t.triple_id = ?",
        [triple_id],
    ).fetchall()
    everything = text + explain.as_json(found)
    for patient_id, admission_id, admitted_at in ids:
        assert str(patient_id) not in everything and str(admission_id) not in everything
        assert str(admitted_at.date()) not in everything


def test_what_became_of_an_accepted_triple(reader):
    for reason in ("cap_exposure", "too_few_distractors"):
        triple_id = one(
            reader,
            "select min(triple_id) from int_template_attrition where reason = ?", reason,
        )
        found = reader.explain(triple_id, "synthetic")
        text = one_line(in_text(found))
        assert found["outcome"]["reason"] == reason and not found["items"]
        assert f"Lost at {reason}: it is not one {found['outcome']['kept_are']}" in text
    with_items = reader.explain(one(reader, ACCEPTED), "synthetic")
    assert with_items["outcome"]["reason"] is None and with_items["items"]


# ------------------------------------------------------------------------------------- items


def test_a_released_item_shows_its_prompt_word_for_word(reader):
    item_id = one(reader, RELEASED)
    found = reader.explain(item_id, "synthetic")
    text = in_text(found)
    messages = json.loads(
        one(
            reader, "select messages from fct_prompts where item_id = ? and arm = 'standard'",
            item_id,
        )
    )
    assert found["prompt"] == messages
    said = one_line(text.replace("│", " "))
    for message in messages:
        assert one_line(message["content"]) in said
    gold = one(reader, "select gold_letter from fct_answer_keys where item_id = ?", item_id)
    assert re.findall(r"✔ (\w)\.", text) == [gold]
    assert len(found["options"]) == 5
    assert "released" in text.splitlines()[0]
    assert found["triple"]["triple_id"] == found["item"]["triple_id"] and "VERDICTS" in text


def test_a_held_back_item_names_its_rules(reader):
    item_id = one(reader, HELD_BACK)
    found = reader.explain(item_id, "synthetic")
    text = one_line(in_text(found))
    reason, comments = found["item"]["reason"], {}
    for rule, question, comment in reader.connection.execute(
        "select rule_id, question, comment from leak_rules"
    ).fetchall():
        comments[rule] = (question, comment)
    assert found["prompt"] is None and "none is made of an item that is held back" in text
    for rule in reason.split(","):
        question, comment = comments[rule]
        assert f"Held back by leak rule {rule}: {question}" in text and one_line(comment) in text
    touched = values(
        reader, "select distinct rule_id from int_item_findings where item_id = ? order by 1",
        item_id,
    )
    assert sorted({row["rule_id"] for row in found["findings"]}) == touched


def test_a_block_shows_each_option_as_the_answer_of_one_item(reader):
    item_id = one(
        reader,
        "select i.item_id from dim_items as i inner join int_templates_balanced as b "
        "on i.template_key = b.template_key where b.block_number is not null and i.released "
        "and i.format = 'mcq' order by i.item_id limit 1",
    )
    found = reader.explain(item_id, "synthetic")
    answers = sorted(row["gold_label"] for row in found["block"])
    assert answers == sorted(row["label"] for row in found["options"])
    assert [row["item_id"] for row in found["block"] if row["is_this_item"]] == [item_id]
    broken = {**found, "item": {**found["item"], "released": False, "reason": "block_broken"}}
    assert "an item of its block is held back or missing" in one_line(in_text(broken))


# What only a query on one template or item knows of an outcome of int_distractor_outcomes.
FINER = {"in_other_items": "shown", "near_drawn": "not_drawn"}


@pytest.mark.parametrize("draw", ["blocks", "weighted"])
def test_distractors_are_what_the_model_says_of_them(reader, draw):
    templates = reader.connection.execute(
        "select t.triple_id, t.template_number from int_templates as t "
        "inner join int_templates_balanced as b on t.template_key = b.template_key "
        "where b.draw = ? order by md5(t.template_key) limit 12",
        [draw],
    ).fetchall()
    outcomes = set()
    for triple_id, number in templates:
        rows = reader.distractors(triple_id)
        decided = reader.connection.execute(
            "select cui, outcome from int_distractor_outcomes where template_number = ?", [number]
        ).fetchall()
        assert len(rows) == len(decided) > 0
        assert {row["cui"]: FINER.get(row["outcome"], row["outcome"]) for row in rows} == dict(
            decided
        )
        outcomes |= {row["outcome"] for row in rows}
    assert outcomes <= set(printed.OUTCOMES)
    assert {"linked", "in_record", "not_drawn", "shown"} <= outcomes


def test_distractors_of_an_item_are_its_options(reader):
    found = reader.explain(one(reader, RELEASED), "synthetic")
    shown = {row["option_letter"]: row["label"] for row in found["distractors"]
             if row["outcome"] == "shown"}
    wrong = {row["option_letter"]: row["label"] for row in found["options"]
             if not row["is_answer"]}
    assert shown == wrong
    text = one_line(in_text(found))
    for letter, label in shown.items():
        assert f"{letter}. {label}" in text.split("DISTRACTORS CONSIDERED")[1]


# ------------------------------------------------------------------------------- ids, errors


def run(monkeypatch, capsys, database, *arguments: str) -> tuple[int, str, str]:
    """The command in this process: exit code, standard output, standard error."""
    monkeypatch.setenv("EHRBENCH_DB", str(database))
    monkeypatch.setattr(sys, "argv", ["ehrbench"])
    try:
        cli.main(["explain", *arguments, "--target", "synthetic"])
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_first_letters_of_an_id_do(reader):
    triple_id = one(reader, REJECTED)
    n = next(
        n for n in range(6, 33)
        if one(
            reader,
            "select count(*) from (select triple_id as id from fct_triples union all "
            "select item_id from dim_items) where starts_with(id, ?)", triple_id[:n],
        ) == 1
    )
    assert reader.resolve(f" {triple_id[:n].upper()}") == ("triple", triple_id)


def test_an_ambiguous_id_is_one_line_with_two_of_them(reader, monkeypatch):
    triple_id, item_id = "0123456789abcdef", "012345fedcba9876"
    monkeypatch.setattr(
        reader, "rows", lambda *_, **__: [
            {"kind": "triple", "id": triple_id, "n_found": 2},
            {"kind": "item", "id": item_id, "n_found": 2},
        ]
    )
    with pytest.raises(EhrbenchError) as stop:
        reader.resolve("012345")
    assert str(stop.value) == (
        f"'012345' begins 2 ids, as triple {triple_id} and item {item_id}: give more of its letters"
    )


def test_ids_that_begin_alike_are_all_found(reader):
    begin, n = reader.connection.execute(
        "select substr(id, 1, 2) as begin, count(*) from (select triple_id as id from fct_triples "
        "union all select item_id from dim_items) group by 1 order by 1 limit 1"
    ).fetchone()
    rows = reader.rows("find", given=begin)
    assert rows[0]["n_found"] == n and len(rows) == 3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("zzzzzzzz", "no triple or item has the id 'zzzzzzzz'"),
        ("0", "is too short: give 6 letters of the id or more"),
        ("%%%%%%%%", "no triple or item has the id"),
        ("abc\x1b[31mdef\n\u202e", "⟨U+001B⟩"),
    ],
)
def test_an_id_that_is_none_is_one_line_with_the_mend(
    given, says, synthetic_build, monkeypatch, capsys
):
    code, out, err = run(monkeypatch, capsys, synthetic_build.database, given)
    assert (code, out) == (1, "")
    assert err.startswith("error: ") and says in err and err.count("\n") == 1
    assert "ehrbench explain without an id lists some" in err and ESCAPE not in err


def test_without_an_id_it_lists_what_there_is(reader, synthetic_build, monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, synthetic_build.database)
    assert code == 0 and "TRIPLES" in out and "ITEMS" in out
    listed = re.findall(r"[0-9a-f]{32}", out)
    rows = reader.examples()
    assert listed == [row["id"] for row in rows]
    counted = {kind: sum(row["n"] for row in rows if row["kind"] == kind)
               for kind in ("triple", "item")}
    assert counted == {
        "triple": one(reader, "select count(*) from fct_triples"),
        "item": one(reader, "select count(*) from dim_items"),
    }
    assert reader.resolve(listed[0])[1] == listed[0]


def test_json_is_what_the_text_is_made_of(reader, synthetic_build, monkeypatch, capsys):
    item_id = one(reader, RELEASED)
    code, out, _ = run(
        monkeypatch, capsys, synthetic_build.database, item_id, "--format", "json"
    )
    found = json.loads(out)
    assert code == 0 and out.isascii()
    assert found == json.loads(explain.as_json(reader.explain(item_id, "synthetic")))
    assert (found["kind"], found["id"], found["data_class"]) == ("item", item_id, "synthetic")
    assert "must not appear in training corpora" in found["canary"]


@pytest.mark.parametrize("tables", [[], ["rpt_run_manifest"]], ids=["nothing", "no marts"])
def test_a_database_that_is_not_built_is_one_line(tmp_path, monkeypatch, capsys, tables):
    database = tmp_path / "empty.duckdb"
    with duckdb.connect(str(database)) as connection:
        for table in tables:
            connection.execute(
                f"create table {table} as select 'synthetic' as data_class, 'r' as release_id"
            )
    code, out, err = run(monkeypatch, capsys, database, "0123456789")
    assert (code, out) == (1, "")
    assert err.startswith("error: ") and "run ehrbench run" in err and err.count("\n") == 1
    code, _, err = run(monkeypatch, capsys, tmp_path / "none.duckdb", "0123456789")
    assert code == 1 and "is not there: run ehrbench run" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "manifest",
    ["select 'credentialed' as data_class, 'r' as release_id", "select 'new', 'r'",
     "select null, 'r'", "select 'synthetic', 'r' limit 0"],
)
def test_data_of_no_open_class_need_a_flag_where_no_terminal_reads(
    tmp_path, monkeypatch, capsys, manifest
):
    database = tmp_path / "full.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            f"create table rpt_run_manifest (data_class, release_id) as {manifest}"
        )
    code, out, err = run(monkeypatch, capsys, database, "0123456789")
    assert (code, out) == (1, "")
    assert "--allow-credentialed" in err and "a file or pipe" in err and err.count("\n") == 1
    # Let through, it gets as far as the tables that this database lacks.
    code, _, err = run(monkeypatch, capsys, database, "0123456789", "--allow-credentialed")
    assert code == 1 and "lacks what explain reads" in err
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, _, err = run(monkeypatch, capsys, database, "0123456789")
    assert code == 1 and "lacks what explain reads" in err
    assert "credentialed" in explain.HOLDS["credentialed"]


# ------------------------------------------------------------------------- hostile characters


def test_characters_that_act_on_a_terminal_are_made_visible(synthetic_build):
    hostile = f"{ESCAPE}[2Jgone\u202e\u200b\x9b31m\nVERDICTS accepted [red]"
    with explain.open_database(synthetic_build.database, "synthetic", False) as reader:
        ids = [one(reader, sql) for sql in (REJECTED, RELEASED, HELD_BACK)]
        schema = one(reader, "select current_database() || '.' || current_schema()")
        for table, column in {
            "fct_visit_events": "label",
            "fct_claim_evidence": "sentence",
            "fct_context_conflicts": "sentence",
            "fct_item_options": "label",
            "fct_triple_proposals": "why",
            "dim_items": "scenario",
        }.items():
            text = hostile.replace("'", "''")
            reader.connection.execute(
                f"create temp view {table} as select * replace ('{text}' as {column}) "
                f"from {schema}.{table}"
            )
        for given in ids:
            found = reader.explain(given, "synthetic")
            text = in_text(found)
            assert not set(text) & {ESCAPE, "\u202e", "\u200b", "\x9b"}
            seen = "⟨U+001B⟩[2Jgone⟨U+202E⟩⟨U+200B⟩⟨U+009B⟩31m⟨U+000A⟩VERDICTS"
            assert seen in text
            assert "[red]" in text
            assert sum(line.strip() == "VERDICTS" for line in text.splitlines()) == 1
            assert explain.as_json(found).isascii()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("no_color", [False, True])
def test_a_terminal_gets_colour_and_no_line_that_is_too_long(
    reader, monkeypatch, columns, no_color
):
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    printed.print_explanation(
        reader.explain(one(reader, HELD_BACK), "synthetic"), printed.console()
    )
    text = stream.getvalue()
    coloured = re.findall(r"\x1b\[[0-9;]*3[0-7]m", text)
    assert bool(coloured) is not no_color
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(cell_len(line) for line in plain.splitlines()) <= min(120, max(60, columns))


def test_a_pipe_gets_plain_lines(synthetic_build, reader, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, synthetic_build.database, one(reader, REJECTED))
    assert (code, err) == (0, "") and ESCAPE not in out
    assert max(cell_len(line) for line in out.splitlines()) <= printed.WIDTH_IN_FILE
    assert not any(line.endswith(" ") for line in out.splitlines())
    again = run(monkeypatch, capsys, synthetic_build.database, one(reader, REJECTED))[1]
    assert again == out
