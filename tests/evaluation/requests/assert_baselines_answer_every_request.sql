-- Requests of baselines that need no vectors and yet have no answer. A baseline that compares vectors
-- (seed models, column weights) answers where every text has one.
select
    requests.request_key,
    requests.model
from {{ ref('int_answer_requests') }} as requests
inner join {{ ref('models') }} as models
    on requests.model = models.model
left join {{ ref('int_baseline_completions') }} as completions
    on requests.request_key = completions.request_key
where requests.engine = 'sql'
    and models.weights is null
    and completions.request_key is null
