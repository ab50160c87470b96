-- The one line that every exported file carries, so that who trains on it can leave it out and
-- whether a model has read it can be asked. The string never changes; the release does.
with

releases as (

    select distinct release_id
    from {{ ref('rpt_run_manifest') }}

),

canary as (

    select
        release_id,
        '{{ var("canary_guid") }}' as canary_guid,
        concat(
            'Benchmark data: must not appear in training corpora. EHRBench canary ',
            '{{ var("canary_guid") }}'
        ) as canary_text
    from releases

)

select * from canary
