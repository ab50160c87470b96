with

rendered as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

release as (

    select * from {{ ref('int_item_release') }}

),

subset as (

    select * from {{ ref('int_item_subset') }}

),

distractors as (

    select * from {{ ref('int_distractors') }}

),

critical_pairs as (

    select * from {{ ref('int_context_critical_pairs') }}

),

-- An item shows the first ranks of its template's distractors.
critical_ranks as (

    select
        distractors.template_key,
        min(distractors.rank) as first_rank
    from distractors
    inner join critical_pairs
        on distractors.template_key = critical_pairs.template_key
        and distractors.cui_id = critical_pairs.cui_id
    group by all

),

final as (

    select
        ---------- ids
        rendered.item_id,
        rendered.template_key,

        ---------- form
        rendered.source,
        rendered.task,
        rendered.format,
        rendered.n_options,
        rendered.variant,
        rendered.n_context,
        coalesce(rendered.format = 'mcq' and critical_ranks.first_rank < rendered.n_options, false)
            as context_critical,

        ---------- text
        rendered.scenario,
        rendered.question,

        ---------- use
        coalesce(release.released, false) as released,
        coalesce(release.released, false) and subset.item_id is not null as in_subset
    from rendered
    left join release
        on rendered.item_id = release.item_id
    left join subset
        on rendered.item_id = subset.item_id
    left join critical_ranks
        on rendered.template_key = critical_ranks.template_key

)

select * from final
