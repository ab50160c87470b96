-- Cosine of every pair of texts that stand together in a released template: options with the lines
-- of its scenario, and options with each other. Pairs are compared once, in the order of their
-- keys.
with

templates as (

    select
        template_key,
        max(n_options) as n_options
    from {{ ref('int_surface_templates') }}
    group by template_key

),

leak_options as (

    select * from {{ ref('int_leak_options') }}

),

option_labels as (

    select * from {{ ref('int_option_labels') }}

),

lines as (

    select * from {{ ref('int_template_scenario') }}

),

vectors as (

    select * from {{ ref('int_text_vectors') }}

),

options as (

    select
        templates.template_key,
        leak_options.rank,
        md5(option_labels.label) as text_key
    from templates
    inner join leak_options
        on templates.template_key = leak_options.template_key
        and leak_options.rank < templates.n_options
    inner join option_labels
        on leak_options.option_key = option_labels.option_key

),

pairs as (

    select
        least(options.text_key, md5(lines.label)) as text_key,
        greatest(options.text_key, md5(lines.label)) as other_text_key
    from options
    inner join lines
        on options.template_key = lines.template_key

    union

    select
        least(options.text_key, others.text_key) as text_key,
        greatest(options.text_key, others.text_key) as other_text_key
    from options
    inner join options as others
        on options.template_key = others.template_key
        and options.rank < others.rank

),

compared as (

    select
        vectors.model,
        pairs.text_key,
        pairs.other_text_key,
        -- Dot products of whole numbers are exact; the digits after the sixth decide nothing.
        cast(round(
            1000000 * list_dot_product(vectors.vector, others.vector)
            / sqrt(vectors.squared_length * others.squared_length)
        ) as integer) as similarity
    from pairs
    inner join vectors
        on pairs.text_key = vectors.text_key
    inner join vectors as others
        on pairs.other_text_key = others.text_key
        and vectors.model = others.model

)

select * from compared
