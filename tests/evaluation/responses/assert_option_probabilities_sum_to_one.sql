-- Replies whose probabilities do not add up to one (six digits each, so a few millionths off pass).
with

summed as (

    select
        request_key,
        coalesce(p_a, 0) + coalesce(p_b, 0) + coalesce(p_c, 0)
            + coalesce(p_d, 0) + coalesce(p_e, 0) + coalesce(p_f, 0)
            + coalesce(p_g, 0) as total
    from {{ ref('fct_responses') }}
    where coalesce(p_a, p_b, p_c, p_d, p_e, p_f, p_g) is not null

)

select
    request_key,
    total
from summed
where abs(total - 1) > 0.00001
