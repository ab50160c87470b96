-- How well each option goes with the scenario in the visits of other persons: what counting alone
-- can say. For an option o and the scenario's concepts c, out of N visits of other persons,
--     score = sum over c of ln((n(c, o) + s) / (e(c, o) + s)),   e(c, o) = n(c) n(o) / N,
-- which is ln P(scenario | o) up to what all options share, each ratio of observed to expected
-- visits drawn to 1 by s (variable cooccurrence_smoothing): a pair too rare to be expected says
-- nothing by its absence. By Bayes that is also ln P(o is the answer | scenario, options), since an
-- option is drawn into items in proportion to how often it is an answer, so before the scenario is
-- read all options of an item are as likely; how often o is coded at all is no part of it. Concepts
-- of a scenario count as if independent. px counts pairs of an index visit and the next one, and o
-- only where no visit up to the index one has it. Grain: template of the subset x option.
{%- set s = var('cooccurrence_smoothing') %}
{%- set columns_of = {
    'visits': [], 'scenario': ['scenario_cui_id'], 'option': ['cui_id'],
    'pair': ['scenario_cui_id', 'cui_id'],
} %}

with

items as (

    select * from {{ ref('dim_items') }}
    where in_subset
        and format = 'mcq'

),

item_options as (

    select * from {{ ref('fct_item_options') }}

),

templates as (

    select
        template_number,
        template_key,
        source,
        task,
        person_group
    from {{ ref('int_templates') }}

),

scenario_concepts as (

    select * from {{ ref('int_scenario_concepts') }}

),

pair_visits as (

    select * from {{ ref('int_pair_visits') }}

),

visits as (

    select
        dim_visits.source,
        dim_visits.patient_key,
        dim_visits.visit_number,
        visit_ids.visit_id
    from {{ ref('dim_visits') }} as dim_visits
    inner join {{ ref('int_visit_ids') }} as visit_ids
        on dim_visits.visit_key = visit_ids.visit_key

),

visit_concepts as (

    select * from {{ ref('int_visit_concepts') }}

),

options as (

    select distinct
        templates.template_number,
        templates.template_key,
        templates.source,
        case when templates.task = 'px' then 'next_visit' else 'same_visit' end as pair_window,
        templates.person_group,
        item_options.option_key,
        {{ cui_id('item_options.cui') }} as cui_id
    from items
    inner join item_options
        on items.item_id = item_options.item_id
    inner join templates
        on items.template_key = templates.template_key

),

asked_persons as (

    select
        person_group,
        row_number() over (order by person_group) as person
    from options
    group by person_group

),

-- Integer handles, as every visit meets many concepts: cell is source and window, person is that of
-- a template, null for everybody else.
pairs_numbered as (

    select
        pair_visits.source,
        pair_visits.pair_window,
        pair_visits.subject_visit_id,
        pair_visits.object_visit_id,
        asked_persons.person,
        cast(row_number() over (
            order by pair_visits.pair_window, pair_visits.subject_visit_id
        ) as integer) as pair_number,
        cast(dense_rank() over (
            order by pair_visits.source, pair_visits.pair_window
        ) as integer) as cell
    from pair_visits
    left join asked_persons
        on pair_visits.person_group = asked_persons.person_group

),

cells as (

    select distinct
        source,
        pair_window,
        cell
    from pairs_numbered

),

asked as (

    select
        options.template_key,
        options.option_key,
        cells.cell,
        asked_persons.person,
        options.cui_id,
        scenario_concepts.cui_id as scenario_cui_id
    from options
    inner join scenario_concepts
        on options.template_number = scenario_concepts.template_number
    inner join asked_persons
        on options.person_group = asked_persons.person_group
    left join cells
        on options.source = cells.source
        and options.pair_window = cells.pair_window

),

asked_pairs as (

    select distinct
        cell,
        scenario_cui_id,
        cui_id
    from asked

),

with_scenario as (

    select
        pairs_numbered.pair_number,
        pairs_numbered.cell,
        pairs_numbered.person,
        visit_concepts.cui_id as scenario_cui_id
    from pairs_numbered
    inner join visit_concepts
        on pairs_numbered.subject_visit_id = visit_concepts.visit_id
    semi join asked_pairs
        on pairs_numbered.cell = asked_pairs.cell
        and visit_concepts.cui_id = asked_pairs.scenario_cui_id

),

option_visits as (

    select
        visits.visit_id,
        visits.visit_number,
        visit_concepts.cui_id,
        min(visits.visit_number) over (
            partition by visits.source, visits.patient_key, visit_concepts.cui_id
        ) as first_visit_number
    from visit_concepts
    inner join visits
        on visit_concepts.visit_id = visits.visit_id
    where visit_concepts.cui_id in (select cui_id from asked_pairs)

),

with_option as (

    select
        pairs_numbered.pair_number,
        pairs_numbered.cell,
        pairs_numbered.person,
        option_visits.cui_id
    from pairs_numbered
    inner join option_visits
        on pairs_numbered.object_visit_id = option_visits.visit_id
    inner join visits
        on pairs_numbered.subject_visit_id = visits.visit_id
    semi join asked_pairs
        on pairs_numbered.cell = asked_pairs.cell
        and option_visits.cui_id = asked_pairs.cui_id
    where pairs_numbered.pair_window = 'same_visit'
        or option_visits.first_visit_number > visits.visit_number

),

-- Sums over all persons, and for those of the templates their own part of them.
{% for part, columns in columns_of.items() -%}
{%- for kind in ['all', 'own'] -%}
{{ part }}_{{ kind }} as (

    select
        pairs.cell,
        {%- if kind == 'own' %}
        pairs.person,
        {%- endif %}
        {%- for column in columns %}
        {{ 'with_option' if part == 'pair' and column == 'cui_id' else 'pairs' }}.{{ column }},
        {%- endfor %}
        count(*) as n_visits
    from {{ {'visits': 'pairs_numbered', 'option': 'with_option'}.get(part, 'with_scenario') }}
        as pairs
    {%- if part == 'pair' %}
    inner join with_option
        on pairs.pair_number = with_option.pair_number
    semi join asked_pairs
        on pairs.cell = asked_pairs.cell
        and pairs.scenario_cui_id = asked_pairs.scenario_cui_id
        and with_option.cui_id = asked_pairs.cui_id
    {%- endif %}
    {%- if kind == 'own' %}
    where pairs.person is not null
    {%- endif %}
    group by all

),

{% endfor -%}
{%- endfor -%}
counted as (

    select
        asked.template_key,
        asked.option_key,
        {%- for part in columns_of %}
        coalesce({{ part }}_all.n_visits, 0) - coalesce({{ part }}_own.n_visits, 0)
            as n_{{ part }}{{ ',' if not loop.last }}
        {%- endfor %}
    from asked
    {%- for part, columns in columns_of.items() %}
    {%- for kind in ['all', 'own'] %}
    left join {{ part }}_{{ kind }}
        on asked.cell = {{ part }}_{{ kind }}.cell
        {%- for column in columns %}
        and asked.{{ column }} = {{ part }}_{{ kind }}.{{ column }}
        {%- endfor %}
        {%- if kind == 'own' %}
        and asked.person = {{ part }}_{{ kind }}.person
        {%- endif %}
    {%- endfor %}
    {%- endfor %}

),

-- In millionths, so that the order of a sum decides nothing.
scored as (

    select
        template_key,
        option_key,
        cast(sum(cast(round(
            1000000 * ln(
                (n_pair + {{ s }})
                / (cast(n_scenario as double) * n_option / greatest(n_visits, 1) + {{ s }})
            )
        ) as bigint)) as bigint) as score
    from counted
    group by
        template_key,
        option_key

)

select * from scored
