-- Which option do other items show beside the same options? A score of the released items alone, no
-- key needed: over the other options of an item, the number of other templates of its source and
-- task that show both at the same option count; also over the showings of the option.
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

surface_options as (

    select * from {{ ref('int_surface_options') }}

),

shown as (

    select
        templates.template_number,
        templates.template_key,
        templates.source,
        templates.task,
        templates.n_options,
        surface_options.rank,
        surface_options.is_gold,
        surface_options.cui_id
    from templates
    inner join surface_options
        on templates.template_key = surface_options.template_key
        and surface_options.rank < templates.n_options

),

shown_together as (

    select
        one.template_number,
        one.source,
        one.task,
        one.n_options,
        one.cui_id,
        other.cui_id as other_cui_id
    from shown as one
    inner join shown as other
        on one.template_number = other.template_number
        and one.n_options = other.n_options
        and one.rank <> other.rank

),

pairs_counted as (

    select
        source,
        task,
        n_options,
        cui_id,
        other_cui_id,
        count(*) as n_templates
    from shown_together
    group by
        source,
        task,
        n_options,
        cui_id,
        other_cui_id

),

concepts_counted as (

    select
        source,
        task,
        n_options,
        cui_id,
        count(*) as n_shown
    from shown
    group by
        source,
        task,
        n_options,
        cui_id

),

-- The item itself does not count.
options_paired as (

    select
        shown_together.template_number,
        shown_together.n_options,
        shown_together.cui_id,
        sum(pairs_counted.n_templates - 1) as n_pairs
    from shown_together
    inner join pairs_counted
        on shown_together.source = pairs_counted.source
        and shown_together.task = pairs_counted.task
        and shown_together.n_options = pairs_counted.n_options
        and shown_together.cui_id = pairs_counted.cui_id
        and shown_together.other_cui_id = pairs_counted.other_cui_id
    group by
        shown_together.template_number,
        shown_together.n_options,
        shown_together.cui_id

),

options as (

    select
        shown.template_key,
        shown.n_options,
        shown.rank,
        shown.is_gold,
        options_paired.n_pairs,
        1000000 * options_paired.n_pairs // greatest(concepts_counted.n_shown - 1, 1) as pair_share
    from shown
    inner join options_paired
        on shown.template_number = options_paired.template_number
        and shown.n_options = options_paired.n_options
        and shown.cui_id = options_paired.cui_id
    inner join concepts_counted
        on shown.source = concepts_counted.source
        and shown.task = concepts_counted.task
        and shown.n_options = concepts_counted.n_options
        and shown.cui_id = concepts_counted.cui_id

),

{{ baseline_picks('B4', [
    ('pair_most', 'n_pairs'),
    ('pair_fewest', '-n_pairs'),
    ('pair_share_most', 'pair_share'),
    ('pair_share_fewest', '-pair_share'),
], by_count=true) }}

select * from picked
