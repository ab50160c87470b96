-- Support under sound (more articles, nothing inherited, nothing curated) is support under open.
select
    sound.triple_id
from {{ ref('int_triple_policy_reasons') }} as sound
inner join {{ ref('int_triple_policy_reasons') }} as open_policy
    on sound.triple_id = open_policy.triple_id
    and open_policy.policy = 'open'
where sound.policy = 'sound'
    and sound.reason_positive_support is null
    and open_policy.reason_positive_support is not null
