select
    figures.model,
    figures.mode,
    figures.arm,
    arms.shows,
    figures.figure,
    figures.n,
    figures.n_asked,
    figures.n_templates,
    figures.n_clusters,
    figures.estimate,
    figures.estimate_low,
    figures.estimate_high,
    figures.status,
    figures.reason
from rpt_abstention as figures
left join prompt_arms as arms
    on figures.arm = arms.arm
where figures.n > 0
order by
    figures.model,
    figures.mode,
    figures.arm,
    figures.figure
