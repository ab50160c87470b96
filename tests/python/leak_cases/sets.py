"""Rules on the released set and the gates: 104 templates, each with an item of four options."""

SOUND = """
create table dim_items as select concat('i', range) as item_id, concat('k', range) as template_key,
    'dx' as task, 'mcq' as format, 4 as n_options, 1 as variant, true as released from range(104);
create table fct_answer_keys as select concat('i', range) as item_id,
    chr(cast(65 + range % 4 as integer)) as gold_letter from range(104);
create table int_templates as select range as template_number, concat('k', range) as template_key,
    case when range < 100 then 1 else 2 end as pool_number from range(104);
create table int_pool_draws as select * from (values (1, 'blocks'), (2, 'weighted')) as v(pool_number, draw);
create table int_matched_blocks as select range as template_number, range // 4 as block_number from range(104);
create table fct_item_options as select concat('i', items.range) as item_id,
    concat('o', items.range // 4 * 4 + options.range) as option_key
    from range(104) as items, range(4) as options;
alter table fct_answer_keys add column gold_option_key varchar;
update fct_answer_keys set gold_option_key = concat('o', substr(item_id, 2));
update fct_item_options set option_key = 'weighted' where item_id = 'i101' and option_key = 'o102';
create table int_leak__l19_label_length as select * from (values
    ('L19', 'longest', false), ('L19', 'shortest', null)) as v(rule_id, stratum, is_found);
create table int_leak__l39_id_order as select * from (values
    ('L39', 'option_key', false), ('L39', 'option_letter', null)) as v(rule_id, stratum, is_found);
create table rpt_surface_gates as select * from (values
    ('B1', 'longest', 'pass'), ('B3', 'most_frequent', 'not_assessed'), ('B6', 'nearest_stem', 'warn'))
    as v(baseline, pick, status);
"""

BROKEN = [
    ("assert_l19_label_length", "update int_leak__l19_label_length set is_found = true where stratum = 'longest'"),
    ("assert_l39_id_order", "update int_leak__l39_id_order set is_found = true where stratum = 'option_key'"),
    ("assert_surface_gates_hold", "update rpt_surface_gates set status = 'fail' where baseline = 'B3'"),
    # an item missing; an answer asked twice; an option that another item of the block does not show
    ("assert_block_items_share_their_options", "update dim_items set released = false where item_id = 'i1'"),
    ("assert_block_items_share_their_options", "update fct_answer_keys set gold_option_key = 'o0' where item_id = 'i1'"),
    (
        "assert_block_items_share_their_options",
        "update fct_item_options set option_key = 'other' where item_id = 'i1' and option_key = 'o2'",
    ),
    # half of the answers at A; no answer at D
    ("assert_l20_answer_position", "update fct_answer_keys set gold_letter = 'A' where item_id < 'i4'"),
    ("assert_l20_answer_position", "update fct_answer_keys set gold_letter = 'A' where gold_letter = 'D'"),
    # only released items count: of these, most answers are at A
    (
        "assert_l20_answer_position",
        "update dim_items set released = cast(substr(item_id, 2) as integer) % 4 = 0 or item_id < 'i2'",
    ),
]
