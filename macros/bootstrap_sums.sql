{#- CTEs of counts in replicates of a Poisson bootstrap over persons: every person of a replicate
    counts 0, 1, 2, … times, by the md5 of seed, replicate and person, so that all strata see the
    same draw. With more than bootstrap_groups persons, md5 deals them into that many groups,
    which are drawn in their place: groups of independent persons are independent, and the cost
    stays that of so many persons. Replicate 0 counts everybody once: the data themselves.

    `rows` names a CTE with the `strata` columns, person_group, n and hits (integers, hits at most
    n, n less than 2^26 in all). The last CTE is called `name`: replicate, strata, n, hits
    (bigint). Counts are packed into one whole number (hits × 2^26 + n): a replicate is one inner
    product of the counts of all groups with their weights, exact in doubles whatever the order.
    -#}
{% macro bootstrap_sums(name, rows, strata) -%}
{%- set columns = strata | join(', ') -%}
{#- Distribution function of Poisson(1); nine and more are as good as never. -#}
{%- set poisson = [
    0.36787944117144233, 0.7357588823428847, 0.9196986029286058, 0.9810118431238462,
    0.9963401531726563, 0.9994058151824183, 0.9999167588507119, 0.9999897508033253,
    0.9999988747974020,
] -%}
{%- set shift = 67108864 -%}
{{ name }}_persons as (

    select
        person_group,
        count(*) over () as n_persons
    from {{ rows }}
    group by person_group

),

{{ name }}_dealt as (

    select
        person_group,
        case
            when n_persons <= {{ var('bootstrap_groups') }} then cast(person_group as varchar)
            else cast(
                {{ md5_integer("concat_ws('|', '" ~ var('bootstrap_seed') ~ "', person_group)") }}
                % {{ var('bootstrap_groups') }} as varchar
            )
        end as group_key
    from {{ name }}_persons

),

{{ name }}_groups as (

    select
        group_key,
        row_number() over (order by group_key) as group_number
    from {{ name }}_dealt
    group by group_key

),

{{ name }}_numbered as (

    select
        dealt.person_group,
        groups.group_number
    from {{ name }}_dealt as dealt
    inner join {{ name }}_groups as groups
        on dealt.group_key = groups.group_key

),

{{ name }}_draws as (

    select
        replicates.replicate,
        groups.group_number,
        ({{ md5_integer(
            "concat_ws('|', '" ~ var('bootstrap_seed') ~ "', replicates.replicate, groups.group_key)"
        ) }} >> 11) / 9007199254740992.0 as draw
    from range(1, {{ var('bootstrap_replicates') }} + 1) as replicates(replicate)
    cross join {{ name }}_groups as groups

),

{{ name }}_weights as (

    select
        replicate,
        list(cast(
            case
                {%- for probability in poisson %}
                when draw < {{ probability }} then {{ loop.index0 }}
                {%- endfor %}
                else {{ poisson | length }}
            end as double
        ) order by group_number) as weights
    from {{ name }}_draws
    group by replicate

    union all

    select
        0 as replicate,
        list(cast(1 as double) order by group_number) as weights
    from {{ name }}_groups
    having count(*) > 0

),

{{ name }}_counted as (

    select
        {% for column in strata -%}
        counted.{{ column }},
        {% endfor -%}
        numbered.group_number,
        sum(counted.hits) * {{ shift }} + sum(counted.n) as packed
    from {{ rows }} as counted
    inner join {{ name }}_numbered as numbered
        on counted.person_group = numbered.person_group
    group by
        {% for column in strata -%}
        counted.{{ column }},
        {% endfor -%}
        numbered.group_number

),

{{ name }}_strata as (

    select distinct {{ columns }}
    from {{ name }}_counted

),

{{ name }}_lists as (

    select
        {% for column in strata -%}
        strata.{{ column }},
        {% endfor -%}
        list(cast(coalesce(counted.packed, 0) as double) order by groups.group_number) as packed
    from {{ name }}_strata as strata
    cross join {{ name }}_groups as groups
    left join {{ name }}_counted as counted
        on groups.group_number = counted.group_number
        {%- for column in strata %}
        and strata.{{ column }} = counted.{{ column }}
        {%- endfor %}
    group by {% for column in strata %}strata.{{ column }}{{ ', ' if not loop.last }}{% endfor %}

),

{{ name }}_drawn as (

    select
        weights.replicate,
        {% for column in strata -%}
        lists.{{ column }},
        {% endfor -%}
        cast(list_inner_product(weights.weights, lists.packed) as bigint) as packed
    from {{ name }}_weights as weights
    cross join {{ name }}_lists as lists

),

{{ name }} as (

    select
        replicate,
        {{ columns }},
        packed % {{ shift }} as n,
        packed // {{ shift }} as hits
    from {{ name }}_drawn

)
{%- endmacro %}
