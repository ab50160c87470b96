-- What the leak rules say of each item, and how its distractors were found. An analyst who wants the
-- cleanest items takes those of blocks without tags; released is what exports and prompts go by.
with

items as (

    select * from {{ ref('dim_items') }}

),

findings as (

    select * from {{ ref('int_item_findings') }}

),

rules as (

    select * from {{ ref('leak_rules') }}

),

release as (

    select * from {{ ref('int_item_release') }}

),

balanced as (

    select * from {{ ref('int_templates_balanced') }}

),

findings_listed as (

    select
        findings.item_id,
        count(*) as n_findings,
        {%- for policy in ['fail', 'quarantine', 'tag'] %}
        string_agg(findings.rule_id, ',' order by findings.rule_id)
            filter (where rules.policy = '{{ policy }}')
            as {{ policy }}_rules{{ ',' if not loop.last }}
        {%- endfor %}
    from findings
    inner join rules
        on findings.rule_id = rules.rule_id
    group by findings.item_id

),

final as (

    select
        items.item_id,
        items.source,
        items.task,
        case when items.format = 'mcq' then balanced.draw end as draw,
        cast(coalesce(findings_listed.n_findings, 0) as integer) as n_findings,
        findings_listed.fail_rules,
        findings_listed.quarantine_rules,
        findings_listed.tag_rules,
        items.released,
        release.reason
    from items
    left join release
        on items.item_id = release.item_id
    left join balanced
        on items.template_key = balanced.template_key
    left join findings_listed
        on items.item_id = findings_listed.item_id

)

select * from final
