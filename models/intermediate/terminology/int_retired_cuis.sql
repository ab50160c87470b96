-- Only SY says that the two are the same concept; broader, narrower and deleted CUIs stay as they
-- are. A chain of replacements is followed to its end.
with recursive retired as (

    select
        {{ cui_id('cui') }} as cui_id,
        min({{ cui_id('replacement_cui') }}) as replacement_cui_id,
    from {{ ref('stg_umls__retired_cuis') }}
    where rel = 'SY'
    group by all

),

chains as (

    select
        cui_id,
        replacement_cui_id,
    from retired
    where
        cui_id is not null
        and replacement_cui_id is not null
    union
    select
        chains.cui_id,
        retired.replacement_cui_id,
    from chains
    inner join retired
        on chains.replacement_cui_id = retired.cui_id
    where retired.replacement_cui_id is not null

),

ended as (

    select chains.*
    from chains
    left join retired
        on chains.replacement_cui_id = retired.cui_id
    where retired.cui_id is null

)

select * from ended
