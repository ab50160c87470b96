-- Hash of all that is exported of the released items, answers included, in the order of their ids.
-- The first 12 digits are the version: the same items have it whatever build they come from.
select left(
    sha256(
        string_agg(
            sha256(cast(to_json(export_items) as varchar)), chr(10) order by item_id
        )
    ),
    12
) as version
from export_items
