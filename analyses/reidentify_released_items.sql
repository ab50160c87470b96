-- Can whoever holds the source find the visit of a released item, and read the answer off? Tried
-- for real: up to `guesses` the query reads what a release shows (item_id, source, task, scenario,
-- option texts) and the source's own events with a public mapping of their titles; only
-- `truth` knows the visit and the answer.
-- Run with: dbt show --select reidentify_released_items --limit -1 --vars '{reidentify_items: 500}'
-- One row per source, task and number of first words of every title that the release shows (0: the
-- whole title). share_found: items whose events lead to one visit; share_read_off: those whose
-- visit (px: the next inpatient one) holds exactly one of the options; share_answered: right
-- answers when the option that the matching visits hold most often is taken, ties shared; chance:
-- the same without any look-up.
{%- set words_shown = [0, 3, 1] %}
with options_counted as (
    select item_id, count(*) as n_shown
    from {{ ref('fct_item_options') }}
    group by item_id
),

released as (
    select
        i.item_id,
        i.source,
        i.task,
        i.scenario
    from {{ ref('dim_items') }} as i
    inner join options_counted as o on i.item_id = o.item_id
    where i.released
    qualify row_number() over (
        partition by i.source, i.task, i.scenario
        order by o.n_shown desc, {{ key(["'reidentify'", 'i.item_id']) }}, i.item_id
    ) = 1
),

sampled as (
    select *
    from released
    qualify row_number() over (
        partition by source, task
        order by {{ key(["'reidentify'", 'item_id']) }}, item_id
    ) <= {{ var('reidentify_items') }}
),

widths as (
    select
        shown.n_words,
        case when shown.n_words = 0 then -1 else shown.n_words end as last_word
    from (select unnest([{{ words_shown | join(', ') }}]) as n_words) as shown
),

lines as (
    select
        s.item_id,
        s.source,
        w.event_type,
        regexp_extract(l.line, '^- [^:]+: (.*)$', 1) as title
    from sampled as s
    cross join unnest(string_split(s.scenario, chr(10))) as l (line)
    inner join {{ ref('event_type_words') }} as w
        on regexp_extract(l.line, '^- ([^:]+): ', 1) = w.word
),

wanted as (
    select distinct
        lines.item_id,
        lines.source,
        widths.n_words,
        lines.event_type,
        array_to_string(
            string_split(trim({{ norm_label('lines.title') }}), ' ')[1:widths.last_word], ' '
        ) as part
    from lines
    cross join widths
),

record as (
    select distinct
        e.visit_key,
        e.source,
        widths.n_words,
        e.event_type,
        array_to_string(
            string_split(trim({{ norm_label('e.label') }}), ' ')[1:widths.last_word], ' '
        ) as part
    from {{ ref('fct_visit_events') }} as e
    cross join widths
),

record_asked as (
    select r.*
    from record as r
    semi join wanted as w
        on r.source = w.source
        and r.n_words = w.n_words
        and r.event_type = w.event_type
        and r.part = w.part
),

parts_counted as (
    select source, n_words, event_type, part, count(*) as n_visits
    from record_asked
    group by source, n_words, event_type, part
),

wanted_counted as (
    select
        w.*,
        count(*) over (partition by w.item_id, w.n_words) as n_parts,
        row_number() over (
            partition by w.item_id, w.n_words
            order by p.n_visits nulls first, w.event_type, w.part
        ) = 1 as is_rarest
    from wanted as w
    left join parts_counted as p
        on w.source = p.source
        and w.n_words = p.n_words
        and w.event_type = p.event_type
        and w.part = p.part
),

candidates as (
    select w.item_id, w.n_words, w.n_parts, r.visit_key
    from wanted_counted as w
    inner join record_asked as r
        on w.source = r.source
        and w.n_words = r.n_words
        and w.event_type = r.event_type
        and w.part = r.part
    where w.is_rarest
),

matches as (
    select c.item_id, c.n_words, c.visit_key
    from candidates as c
    inner join wanted_counted as w
        on c.item_id = w.item_id
        and c.n_words = w.n_words
    inner join record_asked as r
        on c.visit_key = r.visit_key
        and w.n_words = r.n_words
        and w.event_type = r.event_type
        and w.part = r.part
    group by c.item_id, c.n_words, c.visit_key, c.n_parts
    having count(*) = c.n_parts
),

matches_looked_up as (
    select
        m.item_id,
        m.n_words,
        m.visit_key,
        case
            when s.task = 'px' then v.next_inpatient_visit_key
            else m.visit_key
        end as answer_visit_key
    from matches as m
    inner join sampled as s
        on m.item_id = s.item_id
    inner join {{ ref('dim_visits') }} as v
        on m.visit_key = v.visit_key
),

visit_concepts as (
    select distinct
        e.visit_key,
        e.event_type,
        {{ render_label('e.label') }} as title,
        b.cui_id
    from {{ ref('fct_visit_events') }} as e
    inner join {{ ref('brg_event_concepts') }} as b
        on e.event_key = b.event_key
    where b.cui_id is not null
),

title_concepts as (
    select distinct title, cui_id
    from visit_concepts
),

option_concepts as (
    select distinct
        s.item_id,
        o.label,
        c.cui_id
    from sampled as s
    inner join {{ ref('fct_item_options') }} as o
        on s.item_id = o.item_id
    inner join title_concepts as c
        on o.label = c.title
),

options_held as (
    select
        m.item_id,
        m.n_words,
        o.label,
        count(distinct m.visit_key) as n_visits
    from matches_looked_up as m
    inner join option_concepts as o
        on m.item_id = o.item_id
    inner join visit_concepts as c
        on m.answer_visit_key = c.visit_key
        and o.cui_id = c.cui_id
    group by m.item_id, m.n_words, o.label
),

best_held as (
    select
        *,
        count(*) over (partition by item_id, n_words) as n_options_held,
        count(*) over (partition by item_id, n_words, n_visits) as n_tied
    from options_held
    qualify n_visits = max(n_visits) over (partition by item_id, n_words)
),

found as (
    select item_id, n_words, count(*) as n_visits, min(visit_key) as visit_key
    from matches
    group by item_id, n_words
),

guesses as (
    select
        sampled.item_id,
        sampled.source,
        sampled.task,
        widths.n_words,
        coalesce(found.n_visits, 0) as n_visits,
        found.visit_key,
        best_held.label,
        best_held.n_options_held,
        best_held.n_tied
    from sampled
    cross join widths
    left join found
        on sampled.item_id = found.item_id
        and widths.n_words = found.n_words
    left join best_held
        on sampled.item_id = best_held.item_id
        and widths.n_words = best_held.n_words
),

truth as (
    select
        i.item_id,
        i.n_options,
        tr.visit_key,
        k.gold_label
    from {{ ref('dim_items') }} as i
    inner join {{ ref('fct_templates') }} as t on i.template_key = t.template_key
    inner join {{ ref('fct_triples') }} as tr on t.triple_id = tr.triple_id
    inner join {{ ref('fct_answer_keys') }} as k on i.item_id = k.item_id
),

judged as (
    select
        g.item_id,
        g.source,
        g.task,
        g.n_words,
        min(1.0 / t.n_options) as chance,
        bool_or(g.n_visits = 1) as is_found,
        bool_or(g.n_visits = 1 and g.visit_key = t.visit_key) as is_found_right,
        bool_or(g.n_visits = 1 and g.n_options_held = 1) as is_read_off,
        bool_or(
            g.n_visits = 1 and g.n_options_held = 1 and g.label = t.gold_label
        ) as is_read_right,
        coalesce(sum(case when g.label = t.gold_label then 1.0 / g.n_tied end),
            case when bool_and(g.label is null) then min(1.0 / t.n_options) else 0 end) as answered
    from guesses as g
    inner join truth as t on g.item_id = t.item_id
    group by g.item_id, g.source, g.task, g.n_words
)

select
    source,
    task,
    n_words as first_words_shown,
    count(*) as n_items,
    {{ share('count(*) filter (where is_found)', 'count(*)') }} as share_found,
    {{ share('count(*) filter (where is_found_right)', 'count(*)') }} as share_found_right,
    {{ share('count(*) filter (where is_read_off)', 'count(*)') }} as share_read_off,
    {{ share('count(*) filter (where is_read_right)', 'count(*)') }} as share_read_right,
    {{ rounded_share('avg(answered)') }} as share_answered,
    {{ rounded_share('avg(chance)') }} as chance
from judged
group by source, task, n_words
order by source, task, n_words
