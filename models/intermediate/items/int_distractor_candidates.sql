-- One row per template x concept that may stand beside its answer. The exponential is minus the
-- logarithm of a uniform number made of the two keys, as an integer.
with

judged as (

    select * from {{ ref('int_distractor_reasons') }}

),

with_exponential as (

    select
        template_number,
        pool_number,
        cui_id,
        is_critical,
        cast(round(-100000000 * ln((
            cast(md5_number_lower({{ key(['template_key', 'cui_id', "'distractor'"]) }}) >> 11
                as double) + 0.5
        ) / 9007199254740992)) as bigint) as exponential
    from judged
    where reason is null

),

candidates as (

    select
        template_number,
        pool_number,
        cui_id,
        exponential
    from with_exponential
    qualify not is_critical
        or row_number() over (
            partition by template_number, is_critical
            order by exponential, cui_id
        ) <= {{ var('max_context_critical') }}

)

select * from candidates
