-- Cells in which blind guessing is more than four standard errors from chance: gold positions or
-- the baseline itself would be off. A warning, since one cell in 16,000 does so by luck.
{{ config(severity='warn') }}

select *
from {{ ref('rpt_accuracy') }}
where model = 'random'
    and abs(accuracy - chance) > 4 * sqrt(chance * (1 - chance) / n)
