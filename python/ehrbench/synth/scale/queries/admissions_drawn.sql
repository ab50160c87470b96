-- One row per admission. Twenty patients of a cycle have 49 admissions between them, as the
-- 223,452 patients with a hospital stay of MIMIC-IV have 2.44 each.
create or replace temp table admissions_drawn as
with

visits as (

    select
        h,
        h // 49 * 20 + [
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 16,
            17, 17, 17, 17, 18, 18, 18, 18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19,
            19, 19, 19, 19, 19
        ][h % 49 + 1] as p,
        [
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2,
            0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
            11, 12, 13, 14, 15
        ][h % 49 + 1] as visit,
        draw('admission', getvariable('seed'), h) as m
    from range(cast(getvariable('first') as bigint), cast(getvariable('beyond') as bigint)) as numbers(h)

),

timed as (

    select
        *,
        draw('patient', getvariable('seed'), p) as own
    from visits

),

dated as (

    select
        h,
        p,
        visit,
        m,
        make_timestamp(2110, 1, 1, 0, 0, 0.0)
            + to_days(cast(
                floor(part(own, 0) * 29000) + visit * (20 + floor(part(own, 1) * 200))
                + floor(part(m, 0) * 8) as integer
            ))
            + to_minutes(cast(floor(part(m, 1) * 1440) as integer)) as admitted,
        to_hours(cast(20 + floor(part(m, 2) * 220) as integer)) as stay,
        -- Years before and after October 2015 cannot be told apart in shifted dates, so the
        -- version is drawn by patient and visit.
        case when part(own, 2) + visit * 0.05 < 0.5 then 9 else 10 end as icd_version,
        4 + m % 16 + cast(m % 20 < 3 as integer) as n_diagnoses,
        m // 16 % 4 + cast(m // 64 % 1000 < 74 as integer) as n_procedures,
        5 + m // 64 % 65 + cast(m // 4160 % 100 < 17 as integer) as n_orders,
        common(
            getvariable('diagnoses_known'),
            part(draw('main', getvariable('seed'), h), 0), 3
        ) as main_diagnosis
    from timed

),

followed as (

    select
        *,
        lag(main_diagnosis) over (partition by p order by visit) as earlier_main
    from dated

)

select
    *,
    list_transform(
        range(cast(n_diagnoses as bigint)),
        lambda k: case
            when k = 0 then main_diagnosis
            when part(draw('diagnosis', getvariable('seed'), h * 100 + k), 0) < 0.35
                then companion(
                    main_diagnosis,
                    floor(part(draw('diagnosis', getvariable('seed'), h * 100 + k), 1) * 8)
                )
            when part(draw('diagnosis', getvariable('seed'), h * 100 + k), 0) < 0.50
                and earlier_main is not null
                then complication(
                    earlier_main,
                    floor(part(draw('diagnosis', getvariable('seed'), h * 100 + k), 1) * 6)
                )
            else common(
                getvariable('diagnoses_known'),
                part(draw('diagnosis', getvariable('seed'), h * 100 + k), 2), 3
            )
        end
    ) as diagnoses
from followed
order by h;

-- The orders or procedures of the admissions, `n` each, with a draw of their own.
create or replace macro drawn_in_visits(kind, step, n) as table
    select * replace (draw(kind, getvariable('seed'), h * step + k) as m)
    from (
        select
            *,
            unnest(range(cast(n as bigint))) as k
        from admissions_drawn
    );
