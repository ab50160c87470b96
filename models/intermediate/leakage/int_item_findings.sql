-- One row per kept item x leak rule that touches it: by its template, by itself, or by an option
-- that it shows.
with

findings as (

    select * from {{ ref('fct_leak_findings') }}

),

items as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

options as (

    select * from {{ ref('int_leak_options') }}

),

template_findings as (

    select distinct
        rule_id,
        template_key
    from findings
    where scope = 'template'

),

-- The smallest item of a template that shows an option with a finding.
option_findings as (

    select
        findings.rule_id,
        findings.template_key,
        min(options.rank) as rank
    from findings
    inner join options
        on findings.template_key = options.template_key
        and findings.option_key = options.option_key
    where findings.scope = 'option'
    group by
        findings.rule_id,
        findings.template_key

),

touched as (

    select
        items.item_id,
        template_findings.rule_id
    from template_findings
    inner join items
        on template_findings.template_key = items.template_key

    union

    select
        items.item_id,
        option_findings.rule_id
    from option_findings
    inner join items
        on option_findings.template_key = items.template_key
        and option_findings.rank < items.n_options

    union

    select
        item_id,
        rule_id
    from findings
    where scope = 'item'

)

select * from touched
