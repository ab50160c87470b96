"""General tests: two templates, of which k1 is released with an item of four options."""

SOUND = """
create table leak_rules as select * from (values
    ('L01', 'item', 'template', 'fail'), ('L26', 'item', 'template', 'tag'),
    ('L24', 'item', 'option', 'quarantine'), ('L34', 'item', 'item', 'fail'))
    as v(rule_id, kind, scope, policy);
create table rpt_leak_rules(rule_id varchar, name varchar, kind varchar, policy varchar, assessed boolean,
    reason varchar, n_checked bigint, n_found bigint, rate decimal(9, 6), allowed_rate decimal(9, 6));
insert into rpt_leak_rules values
    ('L01', 'answer_text', 'item', 'fail', true, null, 2, 1, 0.5, 0.0),
    ('L26', 'near_duplicates', 'item', 'tag', true, null, 2, 1, 0.5, 0.5),
    ('L24', 'distractor_also_right', 'item', 'quarantine', true, null, 100, 1, 0.01, 0.02),
    ('L02', 'answer_synonyms', 'item', 'fail', false, 'no names', null, null, null, 0.0),
    ('L34', 'answer_count', 'item', 'fail', true, null, 2, 0, 0.0, 0.0),
    ('L33', 'carried_state', 'structure', 'fail', true, 'a test', null, null, null, 0.0);
create table int_templates as select * from (values ('k1'), ('k2')) as v(template_key);
create table dim_items as select * from (values
    ('i4', 'k1', 's', 4, true), ('i5', 'k1', 's', 5, false), ('i2', 'k2', 's', 4, false))
    as v(item_id, template_key, source, n_options, released);
create table rpt_item_quality(source varchar, released boolean, fail_rules varchar, quarantine_rules varchar,
    reason varchar);
insert into rpt_item_quality values
    ('s', true, null, null, null), ('s', false, null, 'L24', 'L24'), ('s', false, 'L01', null, 'L01');
create table rpt_cohort_attrition as select * from (values
    ('s', 601, 'triples', 5), ('s', 602, 'triples', 2), ('s', 641, 'items', 4), ('s', 642, 'items', 3),
    ('s', 1011, 'templates', 1), ('s', 1012, 'templates', 1), ('s', 1013, 'items', 1), ('s', 1014, 'items', 1),
    ('s', 1021, 'templates', 0), ('s', 1022, 'templates', 0), ('s', 1023, 'items', 0), ('s', 1024, 'items', 0),
    ('s', 1241, 'templates', 1), ('s', 1242, 'templates', 0), ('s', 1243, 'items', 1), ('s', 1244, 'items', 1),
    ('s', 1341, 'templates', 0), ('s', 1342, 'templates', 0), ('s', 1343, 'items', 0), ('s', 1344, 'items', 0),
    ('s', 1999, 'items', 0), ('s', 2001, 'templates', 1), ('s', 2002, 'items', 1),
    ('empty', 642, 'items', 0), ('empty', 2002, 'items', 0))
    as v(source, step_number, unit, n);
create table int_leak_options as select * from (values
    ('k1', 'a'), ('k1', 'b'), ('k1', 'c'), ('k1', 'd'), ('k1', 'e')) as v(template_key, option_key);
create table fct_item_options as select * from (values
    ('i4', 'a'), ('i4', 'b'), ('i4', 'c'), ('i4', 'd'),
    ('i5', 'a'), ('i5', 'b'), ('i5', 'c'), ('i5', 'd'), ('i5', 'e')) as v(item_id, option_key);
create table fct_leak_findings(rule_id varchar, scope varchar, template_key varchar, item_id varchar,
    option_key varchar, evidence varchar);
insert into fct_leak_findings values
    ('L01', 'template', 'k2', null, null, 'asthma'),
    ('L26', 'template', 'k1', null, null, 'k2'),
    ('L24', 'option', 'k1', null, 'e', 'C0000001');
"""

BROKEN = [
    ("assert_leak_rates_within_allowed", "update rpt_leak_rules set rate = 0.51 where rule_id = 'L26'"),
    ("assert_leak_rates_within_allowed",
     "update rpt_leak_rules set rate = 0.025 where rule_id = 'L24'"),
    ("assert_released_items_have_no_findings", "update dim_items set released = true where item_id = 'i5'"),
    ("assert_released_items_have_no_findings", "update dim_items set released = true where item_id = 'i2'"),
    ("assert_released_items_have_no_findings",
     "insert into fct_leak_findings values ('L34', 'item', null, 'i4', null, '2 answers')"),
    ("assert_released_items_have_no_findings",
     "insert into fct_leak_findings values ('L24', 'option', 'k1', null, 'd', 'C0000002')"),
    ("assert_findings_name_their_unit", "update fct_leak_findings set rule_id = 'L99' where rule_id = 'L01'"),
    ("assert_findings_name_their_unit", "update fct_leak_findings set scope = 'item' where rule_id = 'L01'"),
    ("assert_findings_name_their_unit", "update fct_leak_findings set item_id = 'i4' where rule_id = 'L01'"),
    ("assert_findings_name_their_unit", "update fct_leak_findings set option_key = null where rule_id = 'L24'"),
    ("assert_findings_name_their_unit", "update fct_leak_findings set option_key = 'z' where rule_id = 'L24'"),
    ("assert_findings_name_their_unit", "update fct_leak_findings set template_key = 'k3' where rule_id = 'L01'"),
    ("assert_findings_name_their_unit", "update fct_leak_findings set evidence = null where rule_id = 'L01'"),
    ("assert_findings_name_their_unit",
     "insert into fct_leak_findings values ('L34', 'item', null, 'i9', null, '2 answers')"),
    ("assert_findings_name_their_unit",
     "insert into fct_leak_findings select * replace ('other' as evidence) from fct_leak_findings"),
    ("assert_leak_rules_count_every_finding", "delete from fct_leak_findings where rule_id = 'L24'"),
    ("assert_leak_rules_count_every_finding", "update rpt_leak_rules set n_found = null where rule_id = 'L01'"),
    ("assert_leak_rules_count_every_finding", "update rpt_leak_rules set n_checked = 0 where rule_id = 'L34'"),
    ("assert_leak_rules_count_every_finding", "update rpt_leak_rules set reason = null where rule_id = 'L02'"),
    ("assert_leak_rules_count_every_finding", "update rpt_leak_rules set reason = null where rule_id = 'L33'"),
    ("assert_leak_rules_count_every_finding", "update rpt_leak_rules set rate = 0 where rule_id = 'L02'"),
    ("assert_leak_rules_count_every_finding",
     "insert into fct_leak_findings values ('L02', 'template', 'k1', null, null, 'wheeze')"),
    ("assert_attrition_accounts_for_every_item", "update rpt_cohort_attrition set n = 3 where step_number = 602"),
    ("assert_attrition_accounts_for_every_item", "update rpt_cohort_attrition set n = 4 where step_number = 642"),
    ("assert_attrition_accounts_for_every_item", "update rpt_cohort_attrition set n = 1 where source = 'empty'"),
    ("assert_attrition_accounts_for_every_item", "delete from rpt_cohort_attrition where step_number = 2002"),
    ("assert_attrition_accounts_for_every_item", "update rpt_cohort_attrition set n = 0 where step_number = 1243"),
    ("assert_attrition_accounts_for_every_item", "update rpt_cohort_attrition set n = 1 where step_number = 1343"),
    ("assert_attrition_accounts_for_every_item", "update rpt_cohort_attrition set n = 1 where step_number = 1999"),
    ("assert_attrition_accounts_for_every_item",
     "update rpt_item_quality set reason = 'block_broken' where reason = 'L24'"),
    ("assert_attrition_accounts_for_every_item",
     "update rpt_item_quality set fail_rules = 'L01,L34' where fail_rules = 'L01'"),
]
