select
    chosen.place,
    responses.model,
    responses.mode,
    responses.arm,
    responses.repetition,
    responses.parsed_letter,
    case when responses.abstained = 1 then 'abstained' else responses.parse_status end
        as parse_status,
    coalesce(scores.correct, open_scores.rc_gold) as correct,
    open_scores.match_level,
    responses.stated_confidence,
    -- No more than is shown: a reply may have a million characters.
    left(responses.raw_completion, $most) as reply,
    length(responses.raw_completion) as reply_length
from chosen_items as chosen
inner join fct_responses as responses
    on chosen.item_id = responses.item_id
left join fct_scores as scores
    on responses.request_key = scores.request_key
left join fct_open_scores as open_scores
    on responses.request_key = open_scores.request_key
order by
    chosen.place,
    responses.arm <> 'standard',
    responses.arm,
    responses.model,
    responses.mode,
    responses.repetition,
    responses.request_key
