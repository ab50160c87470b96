{#- CTEs of one pass of the search for blocks of `size` templates; the last one is called
    <name>_members with the columns template_number, first_number (the lowest member: the block) and
    size. Reads the CTEs `matchable` (template_number, pool_number, n_pool_templates, person_group,
    answer_cui_id), `candidates` (template_number, cui_id) and those of the passes before,
    pass_1_members, .. A block is taken when all its templates name it, that is when none of them is
    in an open block that comes earlier. -#}
{% macro match_blocks(name, passed, size, n_templates, n_halves_from, n_mates, n_groups,
    n_rounds) -%}
{%- set members = [] -%}
{%- for number in range(1, size + 1) %}{% do members.append('m' ~ number) %}{% endfor -%}
{{ name }}_left as (

    select
        matchable.*,
        (count(*) over (partition by matchable.pool_number) + {{ n_templates }} - 1)
            // {{ n_templates }} as n_parts
    from matchable
    {%- for pass in range(1, passed + 1) %}
    anti join pass_{{ pass }}_members
        on matchable.template_number = pass_{{ pass }}_members.template_number
    {%- endfor %}

),

-- In a large pool parts lie within patient halves: one half then says nothing about the other.
{{ name }}_parts as materialized (

    select
        template_number,
        pool_number,
        answer_cui_id,
        case
            when n_pool_templates < {{ n_halves_from }}
                then {{ md5_integer(key(['person_group', "'" ~ name ~ "'"])) }} % n_parts
            else {{ patient_half('person_group') }} + 2 * (
                {{ md5_integer(key(['person_group', "'" ~ name ~ "'"])) }}
                    % ((n_parts + 1) // 2)
            )
        end as part_number
    from {{ name }}_left

),

{{ name }}_shown as materialized (

    select
        candidates.template_number,
        partners.template_number as partner_number
    from candidates
    inner join {{ name }}_parts as parts
        on candidates.template_number = parts.template_number
    inner join {{ name }}_parts as partners
        on parts.pool_number = partners.pool_number
        and parts.part_number = partners.part_number
        and candidates.cui_id = partners.answer_cui_id

),

{{ name }}_mutual as materialized (

    select shown.*
    from {{ name }}_shown as shown
    semi join {{ name }}_shown as reverse
        on shown.template_number = reverse.partner_number
        and shown.partner_number = reverse.template_number

),

{{ name }}_partners_counted as (

    select
        template_number,
        count(*) as n_partners
    from {{ name }}_mutual
    group by template_number

),

-- The partners that have fewest themselves. In a dense part there would be too many groups, hence
-- this limit and that on groups with one lowest member.
{{ name }}_mates as (

    select
        mutual.template_number,
        mutual.partner_number
    from {{ name }}_mutual as mutual
    inner join {{ name }}_partners_counted as counted
        on mutual.partner_number = counted.template_number
    qualify row_number() over (
        partition by mutual.template_number
        order by counted.n_partners, mutual.partner_number
    ) <= {{ n_mates }}

),

{{ name }}_of_2 as materialized (

    select distinct
        least(template_number, partner_number) as m1,
        greatest(template_number, partner_number) as m2
    from {{ name }}_mates

),

-- A group grows by what another group, cut off or not, holds in place of its highest member: that
-- the two are partners is all that is left to ask.
{% for number in range(3, size + 1) -%}
{%- set smaller = name ~ '_of_' ~ (number - 1) %}
{%- set highest = 'm' ~ (number - 1) -%}
{{ name }}_all_of_{{ number }} as materialized (

    select
        smaller.{{ members[:number - 1] | join(',\n        smaller.') }},
        later.{{ highest }} as m{{ number }},
        row_number() over (
            partition by smaller.m1
            order by
                {{ md5_integer("concat_ws('|', smaller." ~ members[:number - 1] | join(', smaller.')
                    ~ ', later.' ~ highest ~ ')') }},
                smaller.{{ members[1:number - 1] | join(', smaller.') }},
                later.{{ highest }}
        ) as group_rank
    from {{ smaller }} as smaller
    inner join {{ smaller if number == 3 else name ~ '_all_of_' ~ (number - 1) }} as later
        on smaller.{{ highest }} < later.{{ highest }}
        {%- for shared in members[:number - 2] %}
        and smaller.{{ shared }} = later.{{ shared }}
        {%- endfor %}
    semi join {{ name }}_of_2 as closing
        on smaller.{{ highest }} = closing.m1
        and later.{{ highest }} = closing.m2

),

{{ name }}_of_{{ number }} as materialized (

    select {{ members[:number] | join(', ') }}
    from {{ name }}_all_of_{{ number }}
    where group_rank <= {{ n_groups }}

),

{% endfor -%}
{{ name }}_scarcity as (

    select
        template_number,
        row_number() over (order by count(*), template_number) as scarcity_rank
    from (
        {%- for member in members %}
        select {{ member }} as template_number from {{ name }}_of_{{ size }}
        {%- if not loop.last %}
        union all
        {%- endif %}
        {%- endfor %}
    ) as ends
    group by template_number

),

{{ name }}_open_0 as materialized (

    select
        blocks.*,
        row_number() over (
            order by
                {% for member in members %}scarcity_{{ member }}.scarcity_rank
                {%- if not loop.last %} + {% endif %}{% endfor %},
                blocks.{{ members | join(', blocks.') }}
        ) as place
    from {{ name }}_of_{{ size }} as blocks
    {%- for member in members %}
    inner join {{ name }}_scarcity as scarcity_{{ member }}
        on blocks.{{ member }} = scarcity_{{ member }}.template_number
    {%- endfor %}

),

{% for round in range(1, n_rounds + 1) -%}
{%- set open = name ~ '_open_' ~ (round - 1) %}
{%- set new = name ~ '_new_' ~ round %}
{{ name }}_named_{{ round }} as (

    select
        template_number,
        min(place) as place
    from (
        {%- for member in members %}
        select {{ member }} as template_number, place from {{ open }}
        {%- if not loop.last %}
        union all
        {%- endif %}
        {%- endfor %}
    ) as ends
    group by template_number

),

{{ name }}_agreed_{{ round }} as (

    select place
    from {{ name }}_named_{{ round }}
    group by place
    having count(*) = {{ size }}

),

{{ new }} as materialized (

    {% for member in members -%}
    select {{ member }} as template_number, m1 as first_number
    from {{ open }}
    semi join {{ name }}_agreed_{{ round }} as agreed
        on {{ open }}.place = agreed.place
    {% if not loop.last %}union all
    {% endif %}
    {%- endfor %}

),

{%- if not loop.last %}

{{ name }}_open_{{ round }} as materialized (

    select {{ open }}.*
    from {{ open }}
    {%- for member in members %}
    anti join {{ new }} as used_{{ member }}
        on {{ open }}.{{ member }} = used_{{ member }}.template_number
    {%- endfor %}

),
{%- endif %}

{% endfor -%}
{{ name }}_members as materialized (

    {% for round in range(1, n_rounds + 1) -%}
    select template_number, first_number, {{ size }} as size from {{ name }}_new_{{ round }}
    {% if not loop.last %}union all
    {% endif %}
    {%- endfor %}

)
{%- endmacro %}
