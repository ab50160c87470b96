-- Classes with several ranks, and ranks with several classes: a merged visit finds its class by
-- the highest rank. Nor do the rows of a class differ in how its visits merge.
select
    visit_class,
    class_rank,
    merges_over_gap
from {{ ref('visit_classes') }}
group by visit_class, class_rank, merges_over_gap
qualify count(*) over (partition by visit_class) > 1
    or count(*) over (partition by class_rank) > 1
