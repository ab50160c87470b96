{{ config(severity='warn') }}
-- Concepts shown as distractors much more or much less often than their share of answers asks.
select *
from {{ ref('rpt_exposure') }}
where n_pool_answers >= {{ var('exposure_min_answers') }}
    and abs(share_difference) > {{ var('exposure_tolerance') }}
