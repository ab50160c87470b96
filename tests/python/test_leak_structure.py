"""Leakage by structure: what may know the answer, what text is made of, and that requests are alone."""

import csv
import hashlib
import itertools
import re

import pytest
from canned_engine import CannedEngine
from conftest import Plan
from lineage import Lineage

from ehrbench import engines, generate
from ehrbench.engines import Completion, Request, complete

# Gold by role: columns that say or point at the answer.
GOLD = re.compile(
    r"(^|_)(gold|rationale|why|correct)(_|$)|^(is_)?answer(_(event_key|option_key|cui|cui_id|code|words))?$"
    r"|^object_(event_key|cui|cui_id|label)$"
)
# By value nothing of an object, answer or evidence at all may reach a text.
GOLD_VALUE = re.compile(r"(^|_)(object|answer|gold|rationale|evidence|why|correct)(_|$)")
TEXT = re.compile(r"^(scenario|question|messages|line)(_words)?$")
# Where items are made; triples and checks before them are about answers by nature.
ITEM_LAYER = ("models/intermediate/items/", "models/intermediate/leakage/", "models/intermediate/evaluation/",
              "models/marts/benchmark/", "models/marts/evaluation/")

# The one list of models that may join gold to item text, with the reason. Those that make text are
# looked at column by column below; everything under `leakage` judges and feeds no text.
MAY_JOIN_GOLD_TO_TEXT = {
    "int_form_scenario": "takes the template's triple, writes the events shown",
    "int_template_texts": "takes the template's number, writes the scenario",
    "int_rendered_items": "takes the template's needs_completion, writes items",
    "int_arm_option_keys": "puts a spare distractor in the answer's place; holds no text",
    "int_context_sizes": "says who may be asked with more context; holds no text",
    "int_arm_scenarios": "takes person and subject of the template, writes scenarios of other arms",
    "int_scenario_concepts": "concepts of scenario events; holds no text",
    "int_context_critical_pairs": "options ruled out by context events; holds no text",
    "int_item_subset": "draws templates; holds no text",
    "int_template_attrition": "counts items; holds no text",
    "int_cooccurrence_scores": "counts visits of other persons; takes person and task of the template",
    "int_texts_to_embed": "names whose vectors baseline B6 compares",
    "int_text_similarities": "baseline B6",
    "fct_templates": "lists the scenario's events beside the answer; never released",
    "fct_answer_keys": "the answer key itself",
    "fct_scores": "compares replies with the key",
    "int_texts_to_score": "sets replies beside the answer and its rationale; read by scores alone",
    "int_subset_templates": "names templates, persons and answers; holds no text",
    "int_pooled_sources": "names the sources that scores are pooled over",
    "rpt_accuracy": "counts scores and requests by source, which items name",
    "rpt_source_consistency": "compares scores of sources",
    "rpt_distractor_analysis": "counts who chose an option, and says which is the answer; holds no text",
    "rpt_leak_rules": "counts units",
    "rpt_exposure": "counts answers and distractors",
    "rpt_stem_anonymity": "counts persons behind a stem",
}
JUDGES = "models/intermediate/leakage/"

# Which templates there are depends on their answers by nature; what they look like must not.
TEMPLATE_MODELS = {"int_template_candidates", "int_templates_capped", "int_templates"}
# Letters come from the models that know place and answer together and hold no text: the items' and
# that of the arms whose options are not the item's.
ORDER_MODEL, ARM_ORDER_MODEL = "int_item_options_ordered", "int_arm_option_keys"
OPTION_COLUMNS = ("option_key", "label", "cui", "event_type")
TEXTS = [("dim_items", "scenario"), ("dim_items", "question"), ("fct_prompts", "messages"), ("fct_prompts", "options"),
         *((model, column) for model in ("fct_item_options", "int_arm_options") for column in OPTION_COLUMNS)]
ABSTENTION = {("answer_prompts", "text"), (ARM_ORDER_MODEL, "option_key")}
MESSAGE_PARTS = {
    ("dim_items", "scenario"), ("dim_items", "question"), ("dim_items", "format"),
    ("int_arm_scenarios", "scenario"), ("fct_item_options", "label"), ("fct_item_options", "option_letter"),
    ("int_arm_options", "label"), ("int_arm_options", "option_letter"), ("prompt_arms", "options"),
    ("answer_prompts", "text"), ("answer_prompts", "part"), ("prompt_arms", "scenario"),
    ("int_question_texts", "question_unlisted"),
}


def sql_models(manifest):
    return {node["name"]: node for node in manifest["nodes"].values()
            if node["resource_type"] == "model" and node["language"] == "sql"}


@pytest.fixture(scope="module")
def lineage(manifest, unqualified, project_root):
    columns = {}
    for node in manifest["nodes"].values():
        if node["resource_type"] == "seed":
            with open(project_root / node["original_file_path"], newline="") as lines:
                columns[node["name"]] = next(csv.reader(lines))
        elif node["resource_type"] == "model" and node["language"] != "sql":
            columns[node["name"]] = list(node["columns"])
    return Lineage({name: unqualified[name] for name in sql_models(manifest)}, columns)


@pytest.fixture(scope="module")
def item_layer(manifest):
    return {name for name, node in sql_models(manifest).items()
            if node["original_file_path"].startswith(ITEM_LAYER)}


def ancestors(manifest, name):
    """Names of everything upstream of a model."""
    found, todo = set(), [node_id for node_id, node in manifest["nodes"].items()
                          if node["resource_type"] == "model" and node["name"] == name]
    while todo:
        new = set(manifest["parent_map"][todo.pop()]) - found
        found |= new
        todo += new
    return {node_id.split(".")[-1] for node_id in found}


# ------------------------------------------------------------------------- what may know gold


@pytest.mark.parametrize("model", ["dim_items", "fct_item_options", "fct_prompts", "int_requests_pending"])
def test_answer_keys_are_behind_no_item_or_prompt(manifest, model):
    upstream = ancestors(manifest, model)
    assert "int_templates" in upstream
    assert not upstream & {"fct_answer_keys", "fct_templates", "int_template_rationales", "fct_scores"}


def joiners(lineage, item_layer):
    """Models of the item layer that read (or hold) both gold columns and item text."""
    layer = item_layer | {"fct_triples", "fct_triple_events", "fct_triple_proposals"}
    gold = {name for name in layer if any(map(GOLD.search, lineage.columns(name)))}
    text = {name for name in item_layer if any(map(TEXT.search, lineage.columns(name)))}
    text |= {"fct_item_options"} - gold
    found = set()
    for name in item_layer:
        tables = lineage.tables(name) | {name}
        if "fct_answer_keys" in tables or (tables & gold and tables & text):
            found.add(name)
    return found


def judges(manifest):
    return {name for name, node in sql_models(manifest).items()
            if node["original_file_path"].startswith(JUDGES)}


def test_only_listed_models_join_gold_to_text(manifest, lineage, item_layer):
    found = joiners(lineage, item_layer)
    assert sorted(found - judges(manifest) - MAY_JOIN_GOLD_TO_TEXT.keys()) == []
    assert sorted(MAY_JOIN_GOLD_TO_TEXT.keys() - found) == [], "no longer needed on the list"
    assert {"fct_answer_keys", "int_templates"} <= {n for n in item_layer if any(map(GOLD.search, lineage.columns(n)))}


def test_a_new_joiner_is_seen(lineage, item_layer):
    other = lineage.changed({"rpt_item_quality": (
        'select items.item_id, items.scenario, templates.answer_cui_id from "dim_items" as items '
        'inner join "int_templates" as templates on items.template_key = templates.template_key')})
    assert joiners(other, item_layer) - joiners(lineage, item_layer) == {"rpt_item_quality"}


# ------------------------------------------------------------------------- what text is made of


def problems(lineage, item_layer):
    """What is wrong with where the texts, options and letters come from."""
    found = []
    for model, column in TEXTS:
        values, conditions = lineage.trace(model, column, frozenset({ORDER_MODEL, ARM_ORDER_MODEL}))
        found += [f"{model}.{column} cannot be read: {table}.*" for table, name in values if name == "*"]
        found += [f"{model}.{column} derives from {table}.{name}" for table, name in values
                  if GOLD_VALUE.search(name)]
        found += [f"{model}.{column} is selected by {table}.{name} in {owner}"
                  for owner, table, name in conditions
                  if owner in item_layer - TEMPLATE_MODELS and GOLD.search(name)]
    strange = lineage.origins("fct_prompts", "messages")[0] - MESSAGE_PARTS
    found += [f"fct_prompts.messages holds {table}.{name}" for table, name in strange]
    for model, order_model in (("fct_item_options", ORDER_MODEL), ("int_arm_options", ARM_ORDER_MODEL)):
        for column in OPTION_COLUMNS:
            # The option to abstain, which has no key, is the one label that a seed words.
            if lineage.origins(model, column)[0] - ABSTENTION != {("int_option_labels", column)}:
                found.append(f"{model}.{column} is not that of int_option_labels")
        if lineage.origins(model, "option_letter")[0] != {(order_model, "option_letter")}:
            found.append(f"{model}.option_letter is not that of {order_model}")
    return sorted(found)


def of_texts(found, *models):
    return [problem for problem in found if problem.startswith(models)]


def test_prompt_text_derives_from_scenario_question_and_options(lineage, item_layer):
    """Rule L16, and the column lineage that DESIGN asks for."""
    assert of_texts(problems(lineage, item_layer), "dim_items", "fct_prompts") == []
    # The walk does reach the raw files, so an empty list is no blindness.
    values, _ = lineage.trace("dim_items", "scenario")
    assert {("int_form_scenario", "line"), ("fct_visit_events", "label")} <= values
    assert any(table.startswith("stg_mimic_iv__") for table, _ in values)
    assert lineage.trace("dim_items", "question")[0] == {
        ("int_rendered_items", "question"), ("int_question_texts", "question"), ("question_paraphrases", "text")}


def test_options_and_letters_have_one_origin_each(manifest, lineage, item_layer):
    """Rule L31: nothing derived from the answer makes, orders or letters an option, but the order model."""
    assert of_texts(problems(lineage, item_layer), "fct_item_options", "int_arm_options") == []
    readers = {name for name in item_layer if ORDER_MODEL in lineage.tables(name)}
    assert readers - judges(manifest) == {"int_rendered_items", "fct_item_options", "fct_answer_keys"}
    assert not any(map(TEXT.search, lineage.columns(ORDER_MODEL))) and "label" not in lineage.columns(ORDER_MODEL)
    # The order in which options are stored and printed: by letter.
    assert lineage.sql["fct_item_options"].rstrip().endswith("order by item_id, option_letter")
    orders = re.findall(r"order by (\w+)", lineage.sql["fct_prompts"])
    assert set(orders) == {"option_letter"}


def add(column, expression, joins="", ending=""):
    """SQL that replaces one column of a model, with tables joined to it."""
    return (f"select base.* exclude ({column}), {expression} as {column} "
            f"from ({{base}}) as base {joins} {ending}")


BY_KEYS = 'inner join "fct_answer_keys" as keys on base.item_id = keys.item_id'
BY_TEMPLATE = 'inner join "int_templates" as templates on base.template_key = templates.template_key'
PLANTED = {
    "the answer's concept in the scenario": {
        "int_template_texts": add("scenario", "concat(base.scenario, templates.answer_cui_id)", BY_TEMPLATE)},
    "the answer's title by a join on its option": {
        "int_template_texts": add(
            "scenario", "concat(base.scenario, labels.label)",
            f'{BY_TEMPLATE} inner join "int_option_labels" as labels '
            "on templates.answer_option_key = labels.option_key")},
    "the rationale in the messages": {
        "fct_prompts": add("messages", "concat(base.messages, keys.rationale)", BY_KEYS)},
    "an evidence sentence through a renaming model": {
        "int_template_onset": 'select template_key, evidence as onset_class from "int_template_rationales"',
        "int_template_texts": add(
            "scenario", "concat(base.scenario, notes.onset_class)",
            'inner join "int_template_onset" as notes on base.template_key = notes.template_key')},
    "a label picked by is_gold": {
        "int_template_texts": add(
            "scenario", "(select max(options.event_type) filter (where options.is_gold) "
            'from "int_leak_options" as options where options.template_key = base.template_key)')},
    "rows picked by is_gold": {
        "int_template_texts": add(
            "scenario", "base.scenario", "",
            'where base.template_key in (select template_key from "int_leak_options" where is_gold)')},
    "a case on gold": {
        "dim_items": add("question", "case when keys.gold_letter = 'A' then base.question else 'Which?' end",
                         BY_KEYS)},
    "an order by gold": {
        "dim_items": add("scenario", "first_value(base.scenario) over (order by keys.gold_cui)", BY_KEYS)},
    "a branch of a union": {
        "int_question_texts": "with base as ({base}) select task, question, question_unlisted from base "
                              'union all select task, answer_event_key, null from "int_templates"'},
    "an unlisted question that holds the answer": {
        "int_question_texts": "with base as ({base}) select task, question, question_unlisted from base "
                              'union all select task, null, answer_event_key from "int_templates"'},
    "a star over a CTE with gold": {
        "int_template_texts": 'with wide as (select base.* exclude (scenario), t.answer_event_key as scenario '
                              'from ({base}) as base inner join "int_templates" as t '
                              "on base.template_key = t.template_key), final as (select * from wide) "
                              "select * from final"},
    "a filter on the extractor's explanation": {
        "int_arm_scenarios": add("scenario", "base.scenario", "",
                                 "where exists (select 1 from \"fct_triple_proposals\" as p where p.why <> '')")},
    "a marked label": {
        "fct_item_options": add(
            "label", "concat(base.label, case when keys.gold_option_key = base.option_key then '.' end)", BY_KEYS)},
    "the arms' option labelled by the key": {
        "int_arm_options": add("label", "concat(base.label, keys.gold_letter)", BY_KEYS)},
    "a letter that the key says": {"fct_item_options": add("option_letter", "keys.gold_letter", BY_KEYS)},
    "another column in the messages": {
        "fct_prompts": add("messages", "concat(base.messages, items.template_key)",
                           'inner join "dim_items" as items on base.item_id = items.item_id')},
}


@pytest.mark.parametrize("what", PLANTED)
def test_the_walk_sees(lineage, item_layer, what):
    sound = problems(lineage, item_layer)
    changes = {name: sql.replace("{base}", lineage.sql[name]) for name, sql in PLANTED[what].items()}
    assert set(problems(lineage.changed(changes), item_layer)) - set(sound)


# ------------------------------------------------------------------------- requests stand alone


def test_a_request_key_knows_no_order(lineage):
    for model in ("int_answer_plan", "int_extraction_requests"):
        made_of = lineage.origins(model, "request_key")[0]
        assert {table for table, _ in made_of} <= {
            "int_answer_prompts", "int_extraction_prompts", "run_plan", "models"}
        assert {name for _, name in made_of} == {
            "prompt_key", "model", "revision", "chat_template", "mode", "sampling", "repetition"}
    assert lineage.origins("int_answer_requests", "request_key")[0] == {
        ("int_answer_plan", "request_key"), ("int_followup_prompts", "plan_key"),
        ("int_followup_prompts", "prompt_key")}


class ReadsAll(CannedEngine):
    """Answers by a hash of all it is sent, and with `memory` of all it was ever sent."""

    def __init__(self, memory=False):
        super().__init__()
        self.memory, self.sent, self.past = memory, [], []

    def answer(self, request, text):
        self.sent.append(request.messages)
        self.past = [*(self.past if self.memory else []), request.messages]
        letter = "ABCD"[hashlib.md5(repr(self.past).encode()).digest()[0] % 4]
        return Completion(text=letter, finish_reason="stop", latency_ms=1)


def answers(folder, monkeypatch, groups, memory):
    """request_key -> text after requests went out in the order of `groups`, and what was sent."""
    plan, engine = Plan(folder), ReadsAll(memory)
    monkeypatch.setitem(engines._FACTORIES, "reads_all", lambda spec, options: engine)
    plan.add_model("tiny")
    for number, group in enumerate(groups):
        plan.add(f"k{number}", prefix_group=f"{group:02}", messages=turns(number))
    generate.generate(target="synthetic", stage="answers", model="tiny", engine="reads_all",
                      database=plan.database, store=plan.store, batch=3)
    return {row["request_key"]: row["text"] for row in plan.stored()}, engine.sent


def turns(number):
    return [{"role": "system", "content": "Answer with one letter."},
            {"role": "user", "content": f"Question {number}"}]


def test_answers_do_not_depend_on_the_order_of_requests(tmp_path, monkeypatch):
    """Rule L33: two orders, the same answers; a model that remembers would be seen."""
    orders = list(range(12)), list(range(12))[::-1]
    found = {memory: [answers(tmp_path / f"{memory}{n}", monkeypatch, order, memory)
                      for n, order in enumerate(orders)] for memory in (False, True)}
    (first, sent), (second, sent_reversed) = found[False]
    assert first == second and len(first) == 12
    assert sent == [turns(n) for n in range(12)] and sent_reversed == sent[::-1]
    assert found[True][0][0] != found[True][1][0]


@pytest.mark.engine
def test_a_real_engine_carries_nothing_over(tiny_engine):
    def ask(number):
        return Request(f"k{number}", "answers", "choice", turns(number), n_options=4)

    batch = [ask(number) for number in range(6)]
    first = [answer.text for answer in complete(tiny_engine, batch)]
    again = [answer.text for answer in complete(tiny_engine, batch[::-1])]
    assert again == first[::-1]


# ------------------------------------------------------------------------- every rule is proven


@pytest.fixture(scope="module")
def rules(project_root):
    with open(project_root / "seeds/leak_rules.csv", newline="") as lines:
        return list(csv.DictReader(lines))


def model_of(rule):
    return f"int_leak__{rule['rule_id'].lower()}_{rule['name']}"


def decides_on_rows(rule, manifest):
    """Rules with a model: all but structure rules without a set model."""
    return rule["kind"] != "structure" or model_of(rule) in sql_models(manifest)


def upstream(manifest, name):
    node = sql_models(manifest)[name]
    return {parent.split(".")[-1] for parent in node["depends_on"]["nodes"]}


def test_there_are_forty_rules(rules):
    assert [rule["rule_id"] for rule in rules] == [f"L{number:02}" for number in range(1, 41)]
    assert [rule["rule_id"] for rule in rules if not rule["question"] or not rule["reference"]] == []


def test_each_rule_is_asked_where_it_decides(manifest, rules):
    template = {model_of(r) for r in rules if r["kind"] == "item" and r["scope"] == "template"}
    option = {model_of(r) for r in rules if r["kind"] == "item" and r["scope"] != "template"}
    on_set = {model_of(r) for r in rules if r["kind"] != "item" and decides_on_rows(r, manifest)}
    assert {model_of(r) for r in rules if r["kind"] == "set"} <= on_set
    assert upstream(manifest, "int_leaking_templates") == template | {"leak_rules"}
    assert upstream(manifest, "fct_leak_findings") == template | option | {"int_template_forms"}
    assert upstream(manifest, "int_leak_set_results") == on_set


def test_each_rule_has_a_positive_and_a_near_miss(manifest, rules):
    named = {}
    for test in manifest["unit_tests"].values():
        named.setdefault(test["model"], []).append(test["name"])
    missing = [f"{rule['rule_id']} {kind}" for rule, kind in itertools.product(rules, ("positive", "near_miss"))
               if decides_on_rows(rule, manifest)
               and not any(name.startswith(f"{rule['rule_id'].lower()}_{kind}")
                           for name in named.get(model_of(rule), []))]
    assert missing == []


def test_each_fail_rule_has_a_test_on_released_items(manifest, rules):
    tests = [node["name"] for node in manifest["nodes"].values()
             if node["resource_type"] == "test" and node["original_file_path"].startswith("tests/leakage/")
             and node["config"]["severity"].lower() == "error"]
    missing = [rule["rule_id"] for rule in rules if rule["policy"] == "fail" and rule["kind"] != "structure"
               and not any(name.startswith(f"assert_{rule['rule_id'].lower()}_") for name in tests)]
    assert missing == []


def test_each_structure_rule_names_its_pytest(project_root, rules):
    with open(project_root / "seeds/leak_structure_tests.csv", newline="") as lines:
        named = list(csv.DictReader(lines))
    assert {row["rule_id"] for row in named} == {r["rule_id"] for r in rules if r["kind"] == "structure"}
    for row in named:
        file, name = row["test"].split("::")
        assert f"\ndef {name}(" in (project_root / file).read_text(encoding="utf-8"), row


def test_each_input_is_known_and_counted(compiled, project_root, rules):
    with open(project_root / "seeds/leak_inputs.csv", newline="") as lines:
        inputs = {row["needs"] for row in csv.DictReader(lines)}
    assert {rule["needs"] for rule in rules} - {""} == inputs
    assert inputs == set(re.findall(r"select '(\w+)'", compiled["int_leak_inputs"]))


def test_what_the_leakage_command_builds(manifest):
    """`dbt build --select tag:leakage`: the rules, their reports and the tests on released items."""
    tagged = {node["name"] for node in manifest["nodes"].values() if "leakage" in node["tags"]}
    wanted = {"fct_leak_findings", "rpt_leak_rules", "rpt_item_quality", "rpt_surface_baselines",
              "rpt_surface_gates", "rpt_distractor_support", "rpt_stem_anonymity", "int_text_similarities"}
    wanted |= {node["name"] for node in manifest["nodes"].values()
               if node["original_file_path"].startswith(("models/intermediate/leakage/int_", "tests/leakage/"))}
    assert sorted(wanted - tagged) == []
