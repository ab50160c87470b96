-- The option whose name lies nearest to, or farthest from, the scenario or the other options, by
-- the cosines of an embedding model. Against unit vectors the sum of cosines orders options as the
-- cosine with their mean does, so a scenario is the mean of its lines and no centroid is computed.
-- A template counts where every text has a vector.
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

texts as (

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
        texts.template_key,
        texts.rank,
        count(*) as n_lines,
        sum(similarities.similarity) as stem_similarity
    from texts
    inner join lines
        on texts.template_key = lines.template_key
    inner join similarities
        on least(texts.text_key, lines.text_key) = similarities.text_key
        and greatest(texts.text_key, lines.text_key) = similarities.other_text_key
    group by
        similarities.model,
        texts.template_key,
        texts.rank

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
        texts.template_key,
        texts.rank,
        others.rank as other_rank,
        similarities.similarity
    from texts
    inner join texts as others
        on texts.template_key = others.template_key
        and texts.rank <> others.rank
    inner join similarities
        on least(texts.text_key, others.text_key) = similarities.text_key
        and greatest(texts.text_key, others.text_key) = similarities.other_text_key

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

options as (

    select
        near_options.model,
        near_options.template_key,
        near_options.n_options,
        near_options.rank,
        texts.is_gold,
        near_stem_whole.stem_similarity,
        near_options.option_similarity
    from near_options
    inner join near_stem_whole
        on near_options.model = near_stem_whole.model
        and near_options.template_key = near_stem_whole.template_key
        and near_options.rank = near_stem_whole.rank
    inner join texts
        on near_options.template_key = texts.template_key
        and near_options.rank = texts.rank
    qualify count(*) over (
        partition by near_options.model, near_options.template_key, near_options.n_options
    ) = near_options.n_options

),

{{ baseline_picks('B6', [
    ('nearest_stem', 'stem_similarity'),
    ('farthest_stem', '-stem_similarity'),
    ('nearest_options', 'option_similarity'),
    ('farthest_options', '-option_similarity'),
], by_count=true, by_model=true) }}

select * from picked
