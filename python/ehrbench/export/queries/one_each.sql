-- One item per template and form for an export without answers. The right option moves by one place
-- from wording to wording, so that whoever holds several wordings of a case finds it.
delete from export_items
where item_id not in (
    select item_id
    from dim_items
    where released
    qualify row_number() over (
        partition by
            template_key,
            format
        order by
            in_subset desc,
            item_id
    ) = 1
)
