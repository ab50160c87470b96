with

answers as (

    select * from {{ ref('int_audit_answers') }}

),

pairs as (

    select
        firsts.question,
        firsts.rater as rater_a,
        seconds.rater as rater_b,
        count(*) as n,
        count(*) filter (where firsts.answer and seconds.answer) as n_both,
        count(*) filter (where firsts.answer and not seconds.answer) as n_only_a,
        count(*) filter (where not firsts.answer and seconds.answer) as n_only_b,
        count(*) filter (where not firsts.answer and not seconds.answer) as n_neither
    from answers as firsts
    inner join answers as seconds
        on firsts.audited_id = seconds.audited_id
        and firsts.question = seconds.question
        and firsts.rater < seconds.rater
    group by
        firsts.question,
        firsts.rater,
        seconds.rater

),

shares as (

    select
        *,
        (n_both + n_neither) / cast(n as double) as agreement,
        (n_both + n_only_a) / cast(n as double) as yes_a,
        (n_both + n_only_b) / cast(n as double) as yes_b
    from pairs

),

-- Agreement by chance: kappa takes each rater's own share of yes, AC1 how hard they are to tell
-- apart, so that AC1 stays sound where nearly every answer is the same.
by_chance as (

    select
        *,
        yes_a * yes_b + (1 - yes_a) * (1 - yes_b) as kappa_chance,
        (yes_a + yes_b) * (1 - (yes_a + yes_b) / 2) as ac1_chance
    from shares

),

coefficients as (

    select
        *,
        case when kappa_chance < 1 then (agreement - kappa_chance) / (1 - kappa_chance) end
            as exact_kappa,
        (agreement - ac1_chance) / (1 - ac1_chance) as exact_ac1
    from by_chance

),

-- Linearised variance (Gwet 2008): what each of the four kinds of pair adds, and their number.
{%- set cells = [
    ('n_both', '1', '(yes_a + yes_b) / 2', '1 - (yes_a + yes_b) / 2'),
    ('n_only_a', '0', '(1 - yes_a + yes_b) / 2', '0.5'),
    ('n_only_b', '0', '(1 - yes_b + yes_a) / 2', '0.5'),
    ('n_neither', '1', '1 - (yes_a + yes_b) / 2', '(yes_a + yes_b) / 2'),
] %}

varied as (

    select
        *,
        {%- for name, place in [('kappa', 2), ('ac1', 3)] %}
        sqrt((
            {%- for cell in cells %}
            {{ '+ ' if not loop.first }}{{ cell[0] }} * pow(
                ({{ cell[1] }} - {{ name }}_chance) / (1 - {{ name }}_chance)
                - 2 * (1 - exact_{{ name }}) * (({{ cell[place] }}) - {{ name }}_chance)
                / (1 - {{ name }}_chance)
                - exact_{{ name }}, 2)
            {%- endfor %}
        ) / (cast(n as double) * nullif(n - 1, 0))) as {{ name }}_error{{ ',' if not loop.last }}
        {%- endfor %}
    from coefficients

),

-- Without any disagreement the variance is nought, which would claim too much: there the lower
-- end is that of Wilson's interval of the agreement.
bounded as (

    select
        *,
        {%- for name in ['kappa', 'ac1'] %}
        case
            when n_only_a + n_only_b = 0
                then ({{ wilson_bound('n', 'n', 'low') }} - {{ name }}_chance)
                / nullif(1 - {{ name }}_chance, 0)
            else exact_{{ name }} - {{ var('interval_z') }} * {{ name }}_error
        end as {{ name }}_from,
        exact_{{ name }} + {{ var('interval_z') }} * {{ name }}_error as {{ name }}_to
        {{- ',' if not loop.last }}
        {%- endfor %}
    from varied

)

select
    question,
    rater_a,
    rater_b,
    cast(n as bigint) as n,
    cast(n_both as bigint) as n_both,
    cast(n_only_a as bigint) as n_only_a,
    cast(n_only_b as bigint) as n_only_b,
    cast(n_neither as bigint) as n_neither,
    {{ rounded_share('agreement') }} as agreement,
    {%- for name in ['kappa', 'ac1'] %}
    {{ rounded_share('exact_' ~ name) }} as {{ name }},
    case when {{ name }}_from is not null
        then {{ rounded_share('greatest(-1, ' ~ name ~ '_from)') }} end as {{ name }}_low,
    case when {{ name }}_to is not null
        then {{ rounded_share('least(1, ' ~ name ~ '_to)') }} end as {{ name }}_high
    {{- ',' if not loop.last }}
    {%- endfor %}
from bounded
