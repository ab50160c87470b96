-- One row per surface baseline x pick x model x released template x option count (x wording, for
-- those that differ by it). Whole millionths: points, points by chance. is_drawn marks the one row
-- of a template that figures over all option counts take.
with

picked as (

    {% for model in baseline_models() -%}
    select * from {{ ref(model) }}
    {% if not loop.last %}union all by name
    {% endif %}
    {%- endfor %}

),

templates as (

    select * from {{ ref('int_surface_templates') }}

),

joined as (

    select
        picked.baseline,
        picked.pick,
        picked.model,
        picked.template_key,
        templates.source,
        templates.task,
        templates.person_group,
        templates.answer_cui_id,
        templates.draw,
        picked.n_options,
        picked.variant,
        templates.is_pooled,
        templates.is_drawn,
        cast(picked.n_answered as bigint) as n,
        cast(picked.n_correct * 1000000 as bigint) as points,
        cast(picked.n_answered * 1000000 // picked.n_options as bigint) as chance_points,
        cast(picked.concordance * 1000000 as bigint) as concordance
    from picked
    inner join templates
        on picked.template_key = templates.template_key
        and picked.n_options = templates.n_options

),

-- Baselines without wordings have a row for every option count, so for the drawn one as well.
results as (

    select * from joined
    where variant is null

    union all

    select
        * replace (
            row_number() over (
                partition by baseline, pick, model, template_key
                order by
                    is_drawn desc,
                    {{ key(['template_key', 'n_options', 'variant']) }},
                    n_options,
                    variant
            ) = 1 as is_drawn
        )
    from joined
    where variant is not null

)

select * from results
