-- The option whose name lies nearest to, or farthest from, the scenario or the other options, by
-- the cosines of an embedding model. Against unit vectors the sum of cosines orders options as the
-- cosine with their mean does, so a scenario is the mean of its lines and no centroid is computed.
-- A template counts where every text has a vector.
{%- set picks = [
    ('nearest_stem', 'stem_similarity'),
    ('farthest_stem', '-stem_similarity'),
    ('nearest_options', 'option_similarity'),
    ('farthest_options', '-option_similarity'),
] %}
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

leak_options as (

    select * from {{ ref('int_leak_options') }}

),

option_labels as (

    select * from {{ ref('int_option_labels') }}

),

lines as (

    select
        template_key,
        md5(label) as text_key
    from {{ ref('int_template_scenario') }}

),

similarities as (

    select * from {{ ref('int_text_similarities') }}

),

options as (

    select
        leak_options.template_key,
        leak_options.rank,
        leak_options.is_gold,
        md5(option_labels.label) as text_key
    from leak_options
    inner join option_labels
        on leak_options.option_key = option_labels.option_key

),

lines_counted as (

    select
        template_key,
        count(*) as n_lines
    from lines
    group by template_key

),

near_stem as (

    select
        similarities.model,
        options.template_key,
        options.rank,
        count(*) as n_lines,
        sum(similarities.similarity) as stem_similarity
    from options
    inner join lines
        on options.template_key = lines.template_key
    inner join similarities
        on least(options.text_key, lines.text_key) = similarities.text_key
        and greatest(options.text_key, lines.text_key) = similarities.other_text_key
    group by
        similarities.model,
        options.template_key,
        options.rank

),

near_stem_whole as (

    select
        near_stem.model,
        near_stem.template_key,
        near_stem.rank,
        near_stem.stem_similarity
    from near_stem
    inner join lines_counted
        on near_stem.template_key = lines_counted.template_key
        and near_stem.n_lines = lines_counted.n_lines

),

option_pairs as (

    select
        similarities.model,
        options.template_key,
        options.rank,
        others.rank as other_rank,
        similarities.similarity
    from options
    inner join options as others
        on options.template_key = others.template_key
        and options.rank <> others.rank
    inner join similarities
        on least(options.text_key, others.text_key) = similarities.text_key
        and greatest(options.text_key, others.text_key) = similarities.other_text_key

),

near_options as (

    select
        option_pairs.model,
        templates.template_key,
        templates.n_options,
        option_pairs.rank,
        sum(option_pairs.similarity) as option_similarity
    from templates
    inner join option_pairs
        on templates.template_key = option_pairs.template_key
        and option_pairs.rank < templates.n_options
        and option_pairs.other_rank < templates.n_options
    group by
        option_pairs.model,
        templates.template_key,
        templates.n_options,
        option_pairs.rank
    having count(*) = templates.n_options - 1

),

scored as (

    select
        near_options.model,
        near_options.template_key,
        near_options.n_options,
        options.is_gold,
        {%- for _, score in picks %}
        {{ score }} as score_{{ loop.index }}{{ ',' if not loop.last }}
        {%- endfor %}
    from near_options
    inner join near_stem_whole
        on near_options.model = near_stem_whole.model
        and near_options.template_key = near_stem_whole.template_key
        and near_options.rank = near_stem_whole.rank
    inner join options
        on near_options.template_key = options.template_key
        and near_options.rank = options.rank

),

answers_scored as (

    select * from scored
    where is_gold

),

compared as (

    select
        scored.model,
        scored.template_key,
        scored.n_options,
        {%- for _ in picks %}
        count(*) filter (
            where scored.score_{{ loop.index }} < answers_scored.score_{{ loop.index }}
        ) as n_below_{{ loop.index }},
        count(*) filter (
            where scored.score_{{ loop.index }} > answers_scored.score_{{ loop.index }}
        ) as n_above_{{ loop.index }},
        count(*) filter (
            where scored.score_{{ loop.index }} = answers_scored.score_{{ loop.index }}
        ) as n_equal_{{ loop.index }}{{ ',' if not loop.last }}
        {%- endfor %}
    from scored
    inner join answers_scored
        on scored.model = answers_scored.model
        and scored.template_key = answers_scored.template_key
        and scored.n_options = answers_scored.n_options
    group by
        scored.model,
        scored.template_key,
        scored.n_options
    having count(*) = scored.n_options

),

picked as (

    {%- for pick, _ in picks %}
    select
        cast('B6' as varchar) as baseline,
        cast('{{ pick }}' as varchar) as pick,
        model,
        template_key,
        n_options,
        cast(null as integer) as variant,
        cast(case when n_above_{{ loop.index }} = 0 then 1 / n_equal_{{ loop.index }} else 0 end
            as decimal(9, 6)) as n_correct,
        cast(1 as integer) as n_answered,
        cast((2 * n_below_{{ loop.index }} + n_equal_{{ loop.index }} - 1)
            / (2 * (n_options - 1)) as decimal(9, 6)) as concordance
    from compared
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}

)

select * from picked
