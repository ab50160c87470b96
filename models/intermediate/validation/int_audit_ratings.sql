with

ratings as (

    select * from {{ ref('stg_completions__audit_ratings') }}

),

audit_sample as (

    select triple_id
    from {{ ref('fct_audit_sample') }}

),

decided as (

    select
        ratings.source_row,
        ratings.rater,
        ratings.triple_id,
        ratings.is_right,
        case
            when ratings.rater is null or ratings.rater = '' then 'no_rater'
            when audit_sample.triple_id is null then 'not_in_the_sample'
            when ratings.is_unsure then 'unsure'
            when ratings.is_right is null then 'unreadable_answer'
            -- A rater who changed their mind writes another row; the last one counts.
            when row_number() over (
                partition by ratings.rater, ratings.triple_id
                order by
                    case when ratings.is_right is null then 1 else 0 end,
                    ratings.source_row desc
            ) > 1 then 'replaced_by_a_later_row'
        end as reason
    from ratings
    left join audit_sample
        on ratings.triple_id = audit_sample.triple_id

)

select * from decided
