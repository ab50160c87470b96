-- One row per kept item: released when no leak rule of policy fail or quarantine touches it, else
-- with the rules that do. The items of a block with one option count and one wording are released
-- together or not at all (block_broken): where one is missing, its answer is right in none of the
-- others, and that can be counted. Open-ended items show no options and stand alone.
with

items as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

findings as (

    select * from {{ ref('int_item_findings') }}

),

rules as (

    select * from {{ ref('leak_rules') }}
    where policy in ('fail', 'quarantine')

),

block_templates as (

    select * from {{ ref('int_templates_balanced') }}
    where block_number is not null

),

held_back as (

    select
        findings.item_id,
        string_agg(findings.rule_id, ',' order by findings.rule_id) as reason
    from findings
    inner join rules
        on findings.rule_id = rules.rule_id
    group by findings.item_id

),

-- A block has one item per option; one that reads like another item is not kept and missing, too.
whole_blocks as (

    select
        block_templates.block_number,
        items.n_options,
        items.variant
    from items
    inner join block_templates
        on items.template_key = block_templates.template_key
    anti join held_back
        on items.item_id = held_back.item_id
    where items.format = 'mcq'
    group by
        block_templates.block_number,
        items.n_options,
        items.variant
    having count(*) = items.n_options

),

reasoned as (

    select
        items.item_id,
        coalesce(
            held_back.reason,
            case
                when items.format = 'mcq'
                    and block_templates.block_number is not null
                    and whole_blocks.block_number is null
                    then 'block_broken'
            end
        ) as reason
    from items
    left join held_back
        on items.item_id = held_back.item_id
    left join block_templates
        on items.template_key = block_templates.template_key
    left join whole_blocks
        on block_templates.block_number = whole_blocks.block_number
        and items.n_options = whole_blocks.n_options
        and items.variant = whole_blocks.variant

),

decided as (

    select
        item_id,
        reason is null as released,
        reason
    from reasoned

)

select * from decided
