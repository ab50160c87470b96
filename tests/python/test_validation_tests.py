"""Each dbt test of tests/validation stays green on sound tables and turns red on broken ones."""

import duckdb
import pytest

# Two triples: t1 is accepted under both policies, t2 comes from shuffled visits and fails grounded.
SOUND = """
create table relations as select 'causes' as relation;
create table evidence_policies as select * from (values ('open'), ('sound')) as v(policy);
create table conflict_rules as select * from (values
    ('fixed', 'excludes1'), ('open', 'excludes1'), ('sound', 'excludes1')) as v(policy, rule);
create table predicate_map as select * from (values
    ('causes', 'semmeddb', 'CAUSES', 'same', 'support', 'strong'),
    ('causes', 'semmeddb', 'CAUSES', 'reversed', 'reverse_support', 'strong'),
    ('causes', 'semmeddb', 'NEG_CAUSES', 'same', 'contradict', 'strong'),
    ('causes', 'umls', 'cause_of', 'same', 'support', 'strong'))
    as v(relation, kb, predicate_or_rela, direction, role, strength);
create table curated_relations as select 'cause_of' as canonical_rela;
create table fct_triples as select * from (values ('t1', 'c1'), ('t2', null)) as v(triple_id, claim_key);
create table fct_triple_proposals as select * from (values
    ('t1', 'kb_rules'), ('t1', 'shuffled_visits'), ('t2', 'shuffled_visits')) as v(triple_id, generator);
create table int_check_index as select triple_id, check_name from fct_triples, (values
    ('grounded'), ('positive_support'), ('unambiguous_relation'), ('no_negative_evidence')) as v(check_name);
create table fct_triple_checks as select
    triple_id, check_name, 'pass' as status, cast(null as varchar) as reason_code from int_check_index;
update fct_triple_checks set status = 'fail', reason_code = 'shuffled_donor'
    where triple_id = 't2' and check_name = 'grounded';
update fct_triple_checks set status = 'fail', reason_code = 'negative_evidence'
    where triple_id = 't2' and check_name = 'no_negative_evidence';
create table fct_triple_verdicts as select * from (values
    ('t1', 'open', 'accepted', 'accepted', null), ('t1', 'sound', 'accepted', 'accepted', null),
    ('t2', 'open', 'rejected', 'accepted', 'shuffled_donor'),
    ('t2', 'sound', 'rejected', 'rejected', 'shuffled_donor,no_positive_support'))
    as v(triple_id, policy, verdict, kb_verdict, failed_reason_codes);
create table int_triple_policy_reasons as select * from (values
    ('t1', 'open', null, null), ('t1', 'sound', null, null),
    ('t2', 'open', null, 'context_conflict_dominant_hazard'),
    ('t2', 'sound', 'no_positive_support', 'context_conflict_dominant_hazard'))
    as v(triple_id, policy, reason_positive_support, reason_no_context_conflict);
create table int_context_conflicts as select * from (values
    ('t2', 'dominant_hazard', 'e1'), ('t2', 'excludes1', 'e1')) as v(triple_id, rule, context_event_key);
create table fct_context_conflicts as select * from (values
    ('t2', 'dominant_hazard', 'e1', 'C1', 1, 'semmeddb', '7', 1),
    ('t2', 'dominant_hazard', 'e1', 'C1', 2, 'umls', null, null),
    ('t2', 'excludes1', 'e1', null, 1, 'icd10cm', null, null))
    as v(triple_id, rule, context_event_key, context_cui, rank, kb, pmid, sentence_id);
create table int_triple_claims as select * from (values ('t1', 'c1'), ('t2', 'c2')) as v(triple_id, claim_key);
create table fct_triple_claims as select *, 1 as rank from int_triple_claims;
insert into fct_triple_claims values ('t1', 'c3', 2);
create table fct_claim_evidence as select * from (values
    ('c1', 'support', 1, 'semmeddb', '7', 1), ('c1', 'support', 2, 'umls', null, null),
    ('c2', 'support', 1, 'semmeddb', '8', 2), ('c2', 'contradict', 1, 'semmeddb', '9', 3))
    as v(claim_key, role, rank, kb, pmid, sentence_id);
create table stg_semmeddb__predications as select range as predication_id from range(5);
create table int_predications_cleaned as select range as predication_id from range(3);
create table int_predications_quarantined as select * from (values ('torn_line', 2)) as v(reason, n_rows);
create table int_audit_ratings as select * from (values
    (1, 'ann', 't1', 'replaced_by_a_later_row'), (2, 'ann', 't1', null), (3, 'bob', 't1', 'unsure'))
    as v(source_row, rater, triple_id, reason);
create table int_audit_item_ratings as select * from (values
    (1, 'ann', 'i1', 'replaced_by_a_later_row'), (2, 'ann', 'i1', null))
    as v(source_row, rater, item_id, reason);
"""

BROKEN = [
    ("assert_checks_match_index", "delete from fct_triple_checks where check_name = 'grounded'"),
    ("assert_checks_match_index", "delete from int_check_index where triple_id = 't1'"),
    ("assert_checks_match_index", "insert into fct_triple_checks select * from fct_triple_checks limit 1"),
    ("assert_checks_match_index", "delete from fct_triple_checks"),
    ("assert_reasons_go_with_status", "update fct_triple_checks set reason_code = null"),
    ("assert_reasons_go_with_status", "update fct_triple_checks set reason_code = 'x'"),
    ("assert_verdicts_cover_policies", "delete from fct_triple_verdicts where policy = 'sound'"),
    ("assert_verdicts_cover_policies", "insert into evidence_policies values ('new')"),
    ("assert_verdicts_cover_policies", "insert into fct_triple_verdicts select * from fct_triple_verdicts limit 1"),
    ("assert_verdicts_cover_policies", "update fct_triple_verdicts set verdict = 'accepted'"),
    ("assert_verdicts_cover_policies", "update fct_triple_verdicts set failed_reason_codes = null"),
    ("assert_kb_verdict_leaves_out_grounded", "update fct_triple_verdicts set verdict = 'accepted'"),
    ("assert_kb_verdict_leaves_out_grounded", "update fct_triple_verdicts set kb_verdict = 'rejected'"),
    ("assert_shuffled_triples_are_never_accepted", "update fct_triple_verdicts set verdict = 'accepted'"),
    ("assert_decided_checks_have_evidence", "delete from fct_claim_evidence where role = 'support'"),
    ("assert_decided_checks_have_evidence", "delete from fct_claim_evidence where role = 'contradict'"),
    ("assert_decided_checks_have_evidence", "delete from int_triple_claims where triple_id = 't1'"),
    (
        "assert_decided_checks_have_evidence",
        "update fct_triple_checks set status = 'fail' where check_name = 'unambiguous_relation'",
    ),
    ("assert_accepted_triples_have_support", "delete from fct_claim_evidence where claim_key = 'c1'"),
    ("assert_accepted_triples_have_support", "update fct_claim_evidence set role = 'conflict'"),
    ("assert_accepted_triples_have_support", "delete from fct_triple_claims where triple_id = 't1'"),
    ("assert_accepted_triples_have_support", "insert into fct_triple_verdicts values "
     "('t3', 'open', 'accepted', 'accepted', null)"),
    ("assert_context_conflicts_are_shown", "delete from fct_context_conflicts where rule = 'excludes1'"),
    ("assert_context_conflicts_are_shown", "delete from int_context_conflicts where rule = 'excludes1'"),
    ("assert_context_conflicts_are_shown", "delete from fct_context_conflicts where kb = 'semmeddb'"),
    ("assert_context_conflicts_are_shown", "update fct_context_conflicts set rank = 3 where rank = 2"),
    ("assert_context_conflicts_are_shown", "insert into fct_context_conflicts select 't2', 'dominant_hazard', 'e1', "
     "'C1', range + 3, 'umls', null, null from range(9)"),
    ("assert_context_conflicts_are_shown", "update fct_context_conflicts set pmid = null"),
    ("assert_context_conflicts_are_shown", "update fct_context_conflicts set sentence_id = 4"),
    ("assert_context_conflicts_are_shown", "update fct_context_conflicts set context_cui = 'C2'"),
    ("assert_context_rejections_are_shown", "delete from fct_context_conflicts where rule = 'dominant_hazard'"),
    ("assert_context_rejections_are_shown", "update fct_context_conflicts set triple_id = 't1'"),
    ("assert_triples_name_their_first_claim", "update fct_triples set claim_key = 'c3'"),
    ("assert_triples_name_their_first_claim", "update fct_triple_claims set rank = 3 - rank"),
    ("assert_triples_name_their_first_claim", "delete from fct_triple_claims where rank = 1"),
    ("assert_evidence_sentences_are_found", "update fct_claim_evidence set pmid = null"),
    ("assert_evidence_sentences_are_found", "update fct_claim_evidence set sentence_id = 4"),
    ("assert_evidence_sentences_are_found", "delete from fct_claim_evidence where rank = 1"),
    ("assert_evidence_sentences_are_found", "insert into fct_claim_evidence select 'c3', 'support', range + 1, "
     "'umls', null, null from range(9)"),
    ("assert_predications_are_conserved", "delete from int_predications_quarantined"),
    ("assert_predications_are_conserved", "delete from int_predications_cleaned where predication_id = 1"),
    ("assert_predicate_map_is_sane", "insert into predicate_map values "
     "('causes', 'semmeddb', 'CAUSES', 'either', 'hazard', 'strong')"),
    ("assert_predicate_map_is_sane", "insert into predicate_map values "
     "('causes', 'semmeddb', 'NEG_PREVENTS', 'same', 'support', 'weak')"),
    ("assert_predicate_map_is_sane", "insert into predicate_map values "
     "('causes', 'semmeddb', 'PREVENTS', 'same', 'contradict', 'strong')"),
    ("assert_predicate_map_is_sane", "insert into predicate_map values "
     "('causes', 'semmeddb', 'ISA', 'same', 'support', 'weak')"),
    ("assert_predicate_map_is_sane", "insert into relations values ('treat_with')"),
    ("assert_predicate_map_is_sane", "delete from curated_relations"),
    ("assert_predicate_map_is_sane", "insert into curated_relations values ('induces')"),
    ("assert_predicate_map_is_sane", "delete from predicate_map where role = 'contradict'"),
    ("assert_predicate_map_is_sane", "update predicate_map set direction = 'reversed' where role = 'contradict'"),
    ("assert_conflict_rules_cover_policies", "delete from conflict_rules where policy = 'fixed'"),
    ("assert_conflict_rules_cover_policies", "insert into conflict_rules values ('gone', 'excludes1')"),
    ("assert_conflict_rules_cover_policies", "insert into evidence_policies values ('new')"),
    ("assert_audit_ratings_count", "update int_audit_ratings set reason = 'no_rater' where source_row = 2"),
    ("assert_audit_ratings_count", "insert into int_audit_ratings values (4, 'bob', 't9', 'not_in_the_sample')"),
    ("assert_audit_ratings_count", "update int_audit_item_ratings set reason = 'unreadable_answer' where source_row = 2"),
    (
        "assert_policies_grow_stricter",
        "update int_triple_policy_reasons set reason_positive_support = 'no_positive_support' where policy = 'open'",
    ),
]


@pytest.fixture(scope="module")
def validation_tests(manifest, unqualified):
    """Name -> compiled SQL of the singular tests of tests/validation, tables unqualified."""
    return {
        node["name"]: unqualified[node["name"]]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "test"
        and node["original_file_path"].startswith("tests/validation/")
        and "/reports/" not in node["original_file_path"]  # those are in test_policies.py
    }


def found(sql, *changes):
    """Rows that a test returns on the sound tables after some changes."""
    with duckdb.connect() as connection:
        for statement in (SOUND, *changes):
            connection.execute(statement)
        return connection.execute(sql).fetchall()


def test_every_validation_test_has_a_broken_case(validation_tests):
    assert validation_tests.keys() == {name for name, _ in BROKEN}


@pytest.mark.parametrize("name", sorted({name for name, _ in BROKEN}))
def test_green_on_sound_tables(validation_tests, name):
    assert found(validation_tests[name]) == []


@pytest.mark.parametrize(("name", "change"), BROKEN)
def test_red_on_broken_tables(validation_tests, name, change):
    assert found(validation_tests[name], change)
