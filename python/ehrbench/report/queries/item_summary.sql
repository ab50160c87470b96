select
    mode,
    task,
    n,
    n_asked,
    n_models,
    n_templates,
    kr20,
    kr20_low,
    kr20_high,
    n_analysed,
    n_all_miss,
    n_all_solve,
    n_negative_discrimination,
    n_distractors,
    n_non_functioning,
    status
from rpt_item_summary
order by
    mode,
    task <> 'all',
    task
