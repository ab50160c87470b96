-- What became of an accepted triple on its way to items; no row when it was rejected.
select
    attrition.step,
    attrition.reason,
    steps.step as kept_are,
    steps.comment as decided_by,
    attrition.reason_detail,
    attrition.n_distractors,
    attrition.n_items
from int_template_attrition as attrition
left join attrition_steps as steps
    on attrition.reason = steps.measure
    and steps.part = 'loss'
where attrition.triple_id = $triple_id
