-- Only SY says that the two are the same concept; broader, narrower and deleted CUIs stay as they
-- are. A chain of replacements is followed to its end; one that comes back to itself has none. A
-- row without a sound replacement is set aside and does not count.
with recursive retired as (

    select
        {{ cui_id('cui') }} as cui_id,
        min({{ cui_id('replacement_cui') }}) as replacement_cui_id,
    from {{ ref('stg_umls__retired_cuis') }}
    where
        rel = 'SY'
        and {{ cui_id('replacement_cui') }} is not null
    group by all

),

chains as (

    select
        cui_id,
        replacement_cui_id,
    from retired
    where cui_id is not null
    union
    select
        chains.cui_id,
        retired.replacement_cui_id,
    from chains
    inner join retired
        on chains.replacement_cui_id = retired.cui_id

),

ended as (

    select chains.*
    from chains
    left join retired
        on chains.replacement_cui_id = retired.cui_id
    where retired.cui_id is null

)

select * from ended
