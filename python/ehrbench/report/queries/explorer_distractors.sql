-- What came of the concepts of the pool as distractors, of each template in the explorer.
select
    template_key,
    outcome,
    list(label order by label, option_key) as labels
from int_distractor_outcomes
where template_key in (select template_key from chosen_items)
group by
    template_key,
    outcome
order by
    template_key,
    outcome
