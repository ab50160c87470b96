-- One row per template in a block. A block is four to six templates of one pool of which each may
-- show the answers of all others. At every option count the items of a block show the same options
-- and each option is the answer of one of them. So nothing that is a function of the options alone
-- tells the answer: its chance is exact. Blocks are looked for within random parts of a pool (of a
-- patient half in large pools), large ones first, what is left over again in other parts; a block
-- of templates that are in few blocks goes first. An item of n options shows the first n members
-- by place, so a template has items only from its place on (smallest_size).
with

matchable as (

    select
        *,
        count(*) over (partition by pool_number) as n_pool_templates
    from {{ ref('int_matchable_templates') }}

),

candidates as (

    select * from {{ ref('int_distractor_candidates') }}

),

{% for size, n_templates in var('block_passes') -%}
{{ match_blocks('pass_' ~ loop.index, loop.index0, size, n_templates, var('block_halves_from'),
    var('block_mates'), var('block_groups'), var('block_rounds')) }},

{% endfor -%}
taken as (

    {% for _ in var('block_passes') -%}
    select * from pass_{{ loop.index }}_members
    {% if not loop.last %}union all
    {% endif %}
    {%- endfor %}

),

placed as (

    select
        taken.template_number,
        cast(dense_rank() over (order by taken.first_number) as integer) as block_number,
        cast(row_number() over (
            partition by taken.first_number
            order by {{ key(['matchable.template_key', "'place'"]) }}, taken.template_number
        ) as integer) as place
    from taken
    inner join matchable
        on taken.template_number = matchable.template_number

),

members as (

    select
        template_number,
        block_number,
        place,
        cast(greatest(place, {{ var('item_option_counts') | min }}) as integer) as smallest_size
    from placed

)

select * from members
