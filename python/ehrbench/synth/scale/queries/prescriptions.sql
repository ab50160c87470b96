select
    cast(40000000 + p as varchar) as subject_id,
    cast(50000000 + h as varchar) as hadm_id,
    cast(h * 100 + k + 10000000 as varchar) as pharmacy_id,
    40000000 + p || '-' || k + 1 as poe_id,
    k + 1 as poe_seq,
    'P' || m % 1000 || 'SYN' as order_provider_id,
    strftime(admitted + to_minutes(cast(floor(part(m, 3) * 1100) as integer)), '%Y-%m-%d %H:00:00')
        as starttime,
    strftime(admitted + stay, '%Y-%m-%d %H:00:00') as stoptime,
    case when m % 100 < 86 then 'MAIN' else 'BASE' end as drug_type,
    case when m % 100 < 86 then drug_name(ordered) else 'Vial' end as drug,
    upper(word(ordered)) as formulary_drug_cd,
    lpad(cast(ordered * 4 as varchar), 6, '0') as gsn,
    case when m % 100 < 86 then ndc(ordered, m % 4) else '0' end as ndc,
    (m % 20 + 1) * 25 || 'mg Tab' as prod_strength,
    cast(null as varchar) as form_rx,
    cast((m % 20 + 1) * 25 as varchar) as dose_val_rx,
    'mg' as dose_unit_rx,
    '1' as form_val_disp,
    'TAB' as form_unit_disp,
    cast(m % 4 + 1 as varchar) as doses_per_24_hrs,
    ['PO', 'PO', 'IV', 'SC'][cast(m // 4 % 4 + 1 as integer)] as route
from (
    select
        *,
        case
            when part(m, 0) < 0.5
                then remedy(
                    diagnoses[cast(1 + m % len(diagnoses) as integer)], floor(part(m, 1) * 6)
                )
            else common(getvariable('drugs_known'), part(m, 2), 4)
        end as ordered
    from drawn_in_visits('order', 100, n_orders)
)
