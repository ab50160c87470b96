-- One row per released item, with what is exported of it and nothing else: no key of a template,
-- an event or a patient, no concept, no rationale. `answer` and `aliases` alone know what is right;
-- aliases are names by which released items show the answer's concept elsewhere, so that nothing of
-- a licensed vocabulary is passed on that the items do not show.
with

items as (

    select * from dim_items
    where released

),

quality as (

    select * from rpt_item_quality
    where released

),

prompts as (

    select * from fct_prompts
    where arm = 'standard'

),

options as (

    select
        fct_item_options.item_id,
        fct_item_options.option_letter,
        fct_item_options.label
    from fct_item_options
    inner join items
        on fct_item_options.item_id = items.item_id

),

answer_keys as (

    select * from fct_answer_keys

),

sources as (

    select * from int_pooled_sources

),

mappings as (

    select * from brg_event_concepts
    where mapping_level = 'exact'
        and rank = 1

),

template_halves as (

    select distinct
        template_key,
        split_half
    from int_surface_templates

),

options_listed as (

    select
        item_id,
        list(label order by option_letter) as labels,
        list(option_letter order by option_letter) as letters
    from options
    group by item_id

),

shown_events as (

    select distinct
        int_template_scenario.event_key,
        int_template_scenario.label
    from int_template_scenario
    inner join items
        on int_template_scenario.template_key = items.template_key

),

names_listed as (

    select
        mappings.cui,
        list(distinct shown_events.label order by shown_events.label) as names
    from shown_events
    inner join mappings
        on shown_events.event_key = mappings.event_key
    group by mappings.cui

),

final as (

    select
        ---------- what it is
        items.item_id,
        items.task,
        items.source,
        items.format,
        items.n_options,
        items.variant,
        items.n_context,

        ---------- what is known of it
        quality.draw,
        items.in_subset,
        sources.is_pooled as pooled,
        items.context_critical,
        coalesce(string_split(quality.tag_rules, ','), []) as tags,
        template_halves.split_half as half,
        md5(concat_ws('|', items.source, items.task, items.scenario)) as stem,

        ---------- what is shown
        items.scenario,
        items.question,
        coalesce(options_listed.labels, []) as options,
        coalesce(options_listed.letters, []) as letters,
        json_extract_string(prompts.messages, '$[0].content') as system,
        json_extract_string(prompts.messages, '$[1].content') as prompt,

        ---------- what is right
        case
            when items.format = 'mcq' then answer_keys.gold_letter
            else answer_keys.gold_label
        end as answer,
        case
            when items.format = 'mcq' then []
            else list_filter(
                coalesce(names_listed.names, []), lambda name: name <> answer_keys.gold_label
            )
        end as aliases
    from items
    inner join quality
        on items.item_id = quality.item_id
    inner join prompts
        on items.item_id = prompts.item_id
    inner join answer_keys
        on items.item_id = answer_keys.item_id
    inner join sources
        on items.source = sources.source
    left join options_listed
        on items.item_id = options_listed.item_id
    left join names_listed
        on answer_keys.gold_cui = names_listed.cui
    left join template_halves
        on items.template_key = template_halves.template_key

)

select * from final
