-- Classes with several ranks, and ranks with several classes: a merged visit finds its class by
-- the highest rank.
select
    visit_class,
    class_rank
from {{ ref('visit_classes') }}
group by visit_class, class_rank
qualify count(*) over (partition by visit_class) > 1
    or count(*) over (partition by class_rank) > 1
