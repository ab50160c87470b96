{{ config(severity='warn') }}

-- The firewall: models whose accuracy differs, after Holm, between two sources that share nobody. One
-- of the two may have been read in training; where a baseline of rpt_source_consistency differs too,
-- it may be its items that are easier.
select
    model,
    mode,
    first_source,
    second_source,
    difference,
    p_holm
from {{ ref('rpt_source_consistency') }}
where status = 'estimable'
    and not is_baseline
    and p_holm <= {{ var('tier_alpha') }}
