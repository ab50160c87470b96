-- The option that shares the most, or the fewest, words with the scenario: shared words weighed by
-- how few labels hold them. Needs no model.
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

    select * from {{ ref('int_template_scenario') }}

),

texts as (

    select * from {{ ref('int_texts_to_embed') }}

),

text_words as (

    select distinct
        text_key,
        unnest(string_split(trim({{ leak_words('text') }}), ' ')) as word
    from texts

),

-- Thousandths of the logarithm, as whole numbers: sums do not depend on their order.
word_weights as (

    select
        word,
        cast(round(1000 * ln((select count(*) from texts) / count(*))) as bigint) as weight
    from text_words
    where word <> ''
    group by word

),

scenario_words as (

    select distinct
        lines.template_key,
        text_words.word
    from lines
    inner join text_words
        on md5(lines.label) = text_words.text_key

),

options_released as (

    select
        leak_options.template_key,
        leak_options.rank,
        leak_options.is_gold,
        md5(option_labels.label) as text_key
    from leak_options
    inner join option_labels
        on leak_options.option_key = option_labels.option_key
    where leak_options.template_key in (select template_key from templates)

),

shared as (

    select
        options_released.template_key,
        options_released.rank,
        sum(word_weights.weight) as weight
    from options_released
    inner join text_words
        on options_released.text_key = text_words.text_key
    inner join scenario_words
        on options_released.template_key = scenario_words.template_key
        and text_words.word = scenario_words.word
    inner join word_weights
        on text_words.word = word_weights.word
    group by
        options_released.template_key,
        options_released.rank

),

options as (

    select
        options_released.template_key,
        options_released.rank,
        options_released.is_gold,
        coalesce(shared.weight, 0) as shared_weight
    from options_released
    left join shared
        on options_released.template_key = shared.template_key
        and options_released.rank = shared.rank

),

{{ baseline_picks('B6', [
    ('most_shared_words', 'shared_weight'),
    ('fewest_shared_words', '-shared_weight'),
]) }}

select * from picked
