"""Rules of the house that a machine can check, over the manifest and the compiled SQL."""

import csv
import re

import duckdb
import jinja2
import pytest
import sqlglot
import yaml
from sqlglot import exp

from ehrbench import pipeline

MARK = re.compile(r"placeholder-until")
NOT_REPEATABLE = re.compile(
    r"\b(random|now|hash|today|get_current_timestamp|uuid|gen_random_uuid)\s*\(|\bcurrent_(date|timestamp)\b",
    re.I,
)


def models(manifest, prefix=""):
    return [
        n for n in manifest["nodes"].values()
        if n["resource_type"] == "model" and n["original_file_path"].startswith(f"models/{prefix}")
    ]


def not_repeatable(sql):
    """Constructs whose result may differ between two runs on the same rows."""
    found = [m.group(0) for m in NOT_REPEATABLE.finditer(sql)]
    for tree in sqlglot.parse(sql, dialect="duckdb"):
        for node in tree.find_all(exp.ArrayAgg, exp.GroupConcat, exp.AnyValue, exp.First, exp.Last):
            if isinstance(node.parent, exp.Window) or node.find(exp.Order):
                continue
            if node.find_ancestor(exp.WithinGroup):
                continue
            found.append(node.sql(dialect="duckdb"))
    return found


def not_portable(sql):
    """Constructs that the portable part must avoid (DESIGN §10)."""
    found = ["::"] if "::" in sql else []
    kinds = (exp.Lambda, exp.Unnest, exp.Explode, exp.StartsWith, exp.ArrayAgg, exp.GroupConcat, exp.AnyValue,
             exp.Struct)
    for tree in sqlglot.parse(sql, dialect="duckdb"):
        found += [node.sql(dialect="duckdb") for node in tree.find_all(*kinds)]
        found += [s.sql() for s in tree.find_all(exp.Star) if s.args.get("except_")]
    return found


def copied_whole(sql):
    """CTEs that import all events, or their concepts, and are read twice: DuckDB copies such a CTE first."""
    found = []
    for tree in sqlglot.parse(sql, dialect="duckdb"):
        read = [table.name for table in tree.find_all(exp.Table)]
        for cte in tree.find_all(exp.CTE):
            tables = [table.name for table in cte.find_all(exp.Table)]
            is_import = len(tables) == 1 and tables[0] in ("fct_visit_events", "brg_event_concepts")
            if is_import and read.count(cte.alias) > 1 and cte.args.get("materialized") is not False:
                found.append(cte.alias)
    return found


def test_lints_see_what_they_forbid():
    assert not_repeatable("select list(a) from t")
    assert not_repeatable("select any_value(a) from t")
    assert not_repeatable("select string_agg(a, ',') from t")
    assert not_repeatable("select random() as r")
    assert not_repeatable("select current_timestamp as r")
    assert not not_repeatable("select string_agg(a, ',' order by a), list(b order by b) from t")
    for bad in ("select a::int from t", "select list_transform(l, x -> x + 1) from t",
                "select starts_with(a, 'b') from t", "select * exclude (a) from t",
                "select unnest(l) from t", "select {'a': 1} as s", "select string_agg(a, ',') from t"):
        assert not_portable(bad), bad
    assert not not_portable("select cast(a as integer) as a, count(*) as n from t group by a")
    twice = "with e as {}(select * from {}) select * from e union all select * from e"
    assert copied_whole(twice.format("", "main.fct_visit_events")) == ["e"]
    assert not copied_whole(twice.format("not materialized ", "main.fct_visit_events"))
    assert not copied_whole(twice.format("", "dim_visits"))
    assert not copied_whole("with e as (select * from brg_event_concepts) select * from e")


def test_only_staging_reads_sources(manifest):
    readers = [n["name"] for n in models(manifest)
               if any(p.startswith("source.") for p in n["depends_on"]["nodes"])
               and not n["original_file_path"].startswith("models/staging/")]
    assert readers == []


def test_staging_is_a_door_only(manifest):
    joined = [n["name"] for n in models(manifest, "staging/")
              if any(p.startswith("model.") for p in n["depends_on"]["nodes"])]
    assert joined == []


def test_every_model_and_mart_column_is_described(manifest):
    bare = [n["name"] for n in models(manifest) if not n["description"].strip()]
    assert bare == []
    for node in models(manifest, "marts/"):
        assert node["config"]["contract"]["enforced"], node["name"]
        assert node["columns"], node["name"]
        for column in node["columns"].values():
            assert column["description"].strip() and column["data_type"], (node["name"], column)


def undocumented(node, rows):
    """What a seed leaves unsaid: itself, columns without a description, numbers of rows without a comment."""
    header, *body = rows
    described = {name for name, column in node["columns"].items() if column["description"].strip()}
    return [
        *([] if node["description"].strip() else ["description"]),
        *(column for column in header if column not in described),
        *(sorted(described.difference(header))),
        *(number for number, row in enumerate(body, start=2)
          if not dict(zip(header, row, strict=True)).get("comment", "").strip()),
    ]


def test_seeds_say_what_they_hold(manifest, project_root):
    node = {"description": "d", "columns": {"a": {"description": "d"}, "comment": {"description": "d"}}}
    assert undocumented(node, [["a", "comment"], ["1", "why"]]) == []
    assert undocumented(node, [["a", "b", "comment"], ["1", "2", " "]]) == ["b", 2]
    assert undocumented({**node, "description": ""}, [["a"], ["1"]]) == ["description", "comment", 2]
    found = {}
    for node in manifest["nodes"].values():
        if node["resource_type"] == "seed":
            with open(project_root / node["original_file_path"], newline="") as lines:
                if unsaid := undocumented(node, list(csv.reader(lines))):
                    found[node["name"]] = unsaid
    assert found == {}


def test_every_policy_of_item_rules_has_its_column(manifest, project_root):
    """rpt_item_quality lists the rules of each policy in a column of its own."""
    with open(project_root / "seeds/leak_rules.csv", newline="") as lines:
        policies = {row["policy"] for row in csv.DictReader(lines) if row["kind"] == "item"}
    columns = manifest["nodes"]["model.ehrbench.rpt_item_quality"]["columns"]
    assert {f"{policy}_rules" for policy in policies} == {name for name in columns if name.endswith("_rules")}


def test_macros_are_documented(manifest):
    bare = [m["name"] for m in manifest["macros"].values()
            if m["package_name"] == "ehrbench" and not m["description"].strip()
            and not m["name"].startswith("test_")]
    assert bare == []


def test_sql_is_repeatable(compiled):
    found = {name: bad for name, sql in compiled.items() if (bad := not_repeatable(sql))}
    assert found == {}


def test_events_are_not_copied_whole(compiled):
    found = {name: copied for name, sql in compiled.items() if (copied := copied_whole(sql))}
    assert found == {}, "write `as not materialized`, or import twice where the model is portable"


def test_portable_models_stay_portable(manifest, compiled):
    tagged = [n["name"] for n in models(manifest) if "portable" in n["tags"]]
    assert len(tagged) >= 10
    found = {name: bad for name in tagged if (bad := not_portable(compiled[name]))}
    assert found == {}


def test_deciding_models_have_unit_tests(manifest):
    """Every intermediate model with a case, a join or a window has a dbt unit test."""
    covered = {u["model"] for u in manifest["unit_tests"].values()}
    wanted = [n["name"] for n in models(manifest, "intermediate/validation/int_check__")]
    assert wanted
    assert [name for name in wanted if name not in covered] == []


def test_no_placeholder_is_left(project_root):
    left = [str(p) for p in project_root.glob("models/**/*.sql") if MARK.search(p.read_text())]
    assert left == []


@pytest.mark.parametrize("folder", ["models", "macros", "seeds", "tests", "python"])
def test_no_machine_paths(project_root, folder):
    pattern = re.compile(r"(^|[^\w.-])/(work|root|home)/")
    bad = [str(p) for p in (project_root / folder).rglob("*")
           if p.suffix in {".sql", ".yml", ".py", ".csv", ".md"} and p.name != "test_house_rules.py"
           and pattern.search(p.read_text(errors="replace"))]
    assert bad == []


def test_fixtures_name_no_patient_of_the_demos(project_root, shared_dir):
    """Invented rows have invented ids, also where real ones would be free to use."""
    files = {"mimic-iv-demo/hosp/admissions.csv.gz": "subject_id, hadm_id",
             "omop-mimic-iv-demo/visit_occurrence.csv": "person_id, visit_occurrence_id"}
    real = set()
    with duckdb.connect() as connection:
        for file, columns in files.items():
            rows = connection.execute(f"select {columns} from read_csv(?, all_varchar = true)",
                                      [f"{shared_dir}/data/{file}"]).fetchall()
            real |= {value for row in rows for value in row}
    assert len(real) > 600
    named = [(str(path), found) for folder in ("models", "tests", "seeds", "python")
             for path in (project_root / folder).rglob("*") if path.suffix in {".yml", ".py", ".csv", ".sql"}
             for found in real.intersection(re.findall(r"-?[0-9]{8,}", path.read_text(errors="replace")))]
    assert named == []


def test_duckdb_spills_beside_the_database(project_root, tmp_path):
    """A clone that has built nothing yet has no folder to spill to but the database's."""
    profile = (project_root / "profiles.yml").read_text(encoding="utf-8")
    for given, wanted in (("", "build/duckdb.tmp"), (str(tmp_path / "x.duckdb"), str(tmp_path / "x.duckdb.tmp"))):
        rendered = jinja2.Environment().from_string(profile).render(
            env_var=lambda name, default, given=given: given if name == "EHRBENCH_DB" else default)
        outputs = yaml.safe_load(rendered)["ehrbench"]["outputs"].values()
        folders = [output["config_options"]["temp_directory"] for output in outputs if output["type"] == "duckdb"]
        assert folders == [wanted] * 3


def rebuilt(manifest, select):
    """Names of the models that a dbt selection of names, some with `+` behind, takes."""
    found, todo = set(), []
    for part in select.split():
        node = f"model.ehrbench.{part.rstrip('+')}"
        found.add(node)
        todo += [node] if part.endswith("+") else []
    while todo:
        new = set(manifest["child_map"][todo.pop()]) - found
        found |= new
        todo += new
    return {node.split(".")[-1] for node in found if node.startswith("model.")}


def not_rebuilt_on_answers(manifest, select):
    """Readers of stored completions that a selection leaves as they are, but for those of triples."""
    done = rebuilt(manifest, select)
    folders = {n["name"]: n["original_file_path"] for n in models(manifest)}
    readers = {
        child.split(".")[-1]
        for name in ("stg_completions__completions", "int_completions_checked", "int_completions_latest")
        for child in manifest["child_map"][f"model.ehrbench.{name}"] if child.startswith("model.")
    }
    return {name for name in readers - done if not folders[name].startswith("models/intermediate/extraction/")}


def test_new_answers_rebuild_all_that_reads_them(manifest):
    select = pipeline.DOWNSTREAM["answers"]
    assert not_rebuilt_on_answers(manifest, select) == set()
    assert "fct_responses" in not_rebuilt_on_answers(manifest, select.replace("int_followup_prompts+", ""))
    assert "dim_items" not in rebuilt(manifest, select)


def test_rows_that_assertions_find_are_kept(manifest):
    """Those of tests of columns only on request (--store-failures): a table each would cost as much again."""
    tests = [n for n in manifest["nodes"].values() if n["resource_type"] == "test"]
    assertions = {n["name"]: n["config"]["store_failures"] for n in tests if n["language"] == "sql"
                  and not n.get("test_metadata")}
    assert len(assertions) > 90 and [name for name, kept in assertions.items() if not kept] == []
    assert not any(n["config"]["store_failures"] for n in tests if n.get("test_metadata"))
