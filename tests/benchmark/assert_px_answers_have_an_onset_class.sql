{{ config(severity='warn') }}
-- Answers of px that no rule of onset_classes covers: they stay out of the headline.
select
    template_key,
    answer_event_key
from {{ ref('fct_templates') }}
where task = 'px'
    and onset_class is null
