-- One row per released template x option of its largest item, with what a reader without the
-- scenario could go by. Popularity is what the other split_half says, in millionths.
{%- set largest = var('item_option_counts') | max %}
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

leak_options as (

    select * from {{ ref('int_leak_options') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

-- One regular expression per kind of mark.
marks as (

    select
        string_agg(pattern, '|' order by marker) filter (where counted_as = 'mark') as mark,
        string_agg(pattern, '|' order by marker) filter (where counted_as = 'digit') as digit
    from {{ ref('label_markers') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where rank = 1
        and cui_id is not null

),

edges as (

    select * from {{ ref('int_edges') }}
    where not is_negated

),

curated_edges as (

    select * from {{ ref('int_curated_edges') }}

),

largest_items as (

    select
        template_number,
        template_key,
        pool_number,
        source,
        task,
        person_group,
        patient_half,
        split_half,
        answer_cui_id,
        max(n_options) as n_options
    from templates
    group by all

),

options as (

    select
        largest_items.template_number,
        largest_items.template_key,
        largest_items.pool_number,
        largest_items.source,
        largest_items.task,
        largest_items.person_group,
        largest_items.patient_half,
        largest_items.split_half,
        largest_items.answer_cui_id,
        leak_options.event_type,
        leak_options.rank,
        leak_options.is_gold,
        leak_options.option_key,
        leak_options.cui_id
    from largest_items
    inner join leak_options
        on largest_items.template_key = leak_options.template_key
        and leak_options.rank < largest_items.n_options

),

concepts as (

    select distinct
        source,
        event_type,
        cui_id
    from options

),

visits_counted as (

    select
        concepts.source,
        concepts.event_type,
        concepts.cui_id,
        count(distinct events.visit_key) as n_visits
    from mappings
    inner join events
        on mappings.event_key = events.event_key
    inner join visits
        on events.visit_key = visits.visit_key
    inner join concepts
        on mappings.cui_id = concepts.cui_id
        and events.event_type = concepts.event_type
        and visits.source = concepts.source
    group by
        concepts.source,
        concepts.event_type,
        concepts.cui_id

),

labels_described as (

    select
        labels.option_key,
        cast(length(labels.label) as integer) as n_characters,
        cast(len(string_split(trim(labels.label_words), ' ')) as integer) as n_words,
        cast(len(regexp_extract_all(labels.label, marks.mark)) as integer) as n_marks,
        cast(len(regexp_extract_all(labels.label, marks.digit)) as integer) as n_digits
    from labels
    cross join marks
    where labels.option_key in (select option_key from options)

),

-- A statement counts for both of its ends, once where they are one concept.
statement_ends as (

    select subject_cui_id as cui_id from edges
    union all
    select object_cui_id as cui_id from edges
    where object_cui_id <> subject_cui_id
    union all
    select subject_cui_id as cui_id from curated_edges
    union all
    select object_cui_id as cui_id from curated_edges
    where object_cui_id <> subject_cui_id

),

statements_counted as (

    select
        cui_id,
        count(*) as n_statements
    from statement_ends
    where cui_id in (select cui_id from concepts)
    group by cui_id

),

shown_counted as (

    select
        pool_number,
        cui_id,
        split_half,
        count(*) as n_shown,
        count(*) filter (where is_gold) as n_gold
    from options
    group by
        pool_number,
        cui_id,
        split_half

),

described as (

    select
        options.*,
        labels_described.n_characters,
        labels_described.n_words,
        labels_described.n_marks,
        labels_described.n_digits,
        cast(coalesce(visits_counted.n_visits, 0) as integer) as n_visits,
        cast(coalesce(statements_counted.n_statements, 0) as integer) as n_statements,
        -- one answer in `largest` showings is what a concept starts from
        cast(
            1000000 * (coalesce(other_half.n_gold, 0) + 1)
                // (coalesce(other_half.n_shown, 0) + {{ largest }}) as integer
        ) as popularity
    from options
    inner join labels_described
        on options.option_key = labels_described.option_key
    left join visits_counted
        on options.source = visits_counted.source
        and options.event_type = visits_counted.event_type
        and options.cui_id = visits_counted.cui_id
    left join statements_counted
        on options.cui_id = statements_counted.cui_id
    left join shown_counted as other_half
        on options.pool_number = other_half.pool_number
        and options.cui_id = other_half.cui_id
        and other_half.split_half = 1 - options.split_half

)

select * from described
