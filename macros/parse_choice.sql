{#- The chosen letter of a multiple-choice reply, as struct(letter, status, rule): one expression,
    no randomness, no look at the gold. `letter` is null unless `status` is parsed.

    Order of work: reasoning is stripped (never closed: truncated), compatibility letters are made
    plain, mark-up is removed, look-alikes (E. coli, i.e., "the wrong answer") are masked. Then:
      whole_reply   the reply is a single letter with nothing but punctuation around it (a bare list
                    of letters is ambiguous)
      boxed, answer_cue, choice_verb, verdict
                    a letter tied to \boxed{…}, to "answer" or "the correct option" (or its word in
                    other languages), to a verb of choice ("I pick B"), or to a verdict ("B is
                    correct", "Therefore, B."); the last cue in the text wins, a list of letters
                    ("C or maybe D") is ambiguous
      option_form   lines that write an option ("C: metoprolol", "(B) …", a line that is a letter);
                    several distinct letters are ambiguous
    A letter that is an English word is no choice when a word follows ("A patient", "I think"); the
    pronoun leaves the text unless "option" precedes it, so that "I would" is no cue's letter.
    Single-letter tags are mark-up in lower case or as a pair: <B> alone is a letter.
    Statuses: parsed, unparsed, ambiguous, out_of_range, truncated, empty.

    Cues are rewritten in place to marks such as ⟦answer_cue:B⟧ (⟦answer_cue:?⟧ for a list; where
    one pattern reads both, the list itself), which keeps cues of different kinds in the order of
    the text. -#}
{% macro parse_choice(text, n_options) -%}

{#- Between a cue and its letter: punctuation that ends no sentence, and small words. -#}
{%- set gap -%} (?:[\s:=>,;"''(\[{<$|#/\\“”‘’«»【】「」…–—-]|\.{2,}){0,12} {%- endset -%}
{%- set small_words = [
    'is', 'are', 'was', 'would', 'will', 'should', 'could', 'must', 'might', 'may', 'be', 's',
    'seems?', 'appears?', 'to', 'most', 'more', 'very', 'likely', 'probably', 'clearly', 'thus',
    'definitely', 'certainly', 'surely', 'therefore', 'hence', 'simply', 'indeed', 'still', 'the',
    'options?', 'choice', 'letter', 'answer', 'number', 'correct', 'right', 'best', 'final', 'one',
    'it', 'my', 'both', 'either', 'only', 'for', 'this', 'that', 'question', 'actually',
    'obviously', 'ist', 'lautet', 'sind', 'die', 'der', 'das', 'es', 'est', 'la', 'le', 'el', 'lo',
] | join('|') -%}
{%- set small_others = [
    '은', '는', '이', '가', '是', '为', '為', 'は', 'が', '選項', '选项', '选', '選', 'è', 'é', 'это',
] | join('|') -%}
{%- set between -%}
{{ gap }}(?:(?:(?i:{{ small_words }})\b|{{ small_others }}){{ gap }}){0,10}
{%- endset -%}

{#- After a letter that stands alone. A hyphen needs a space: A-fib and B-cell are no choices. -#}
{%- set joiners = [
    'because', 'since', 'as', 'for', 'due to', 'which', 'and', 'or', 'but', 'so', 'if', 'when',
    'where', 'with', 'in', 'on', 'from', 'by', 'at', 'based on', 'it', 'this', 'here', 'weil', 'da',
    'denn', 'porque', 'parce', 'car',
] | join('|') -%}
{%- set stop -%} \s*$|\s*\n|\s*-(?:\s|$)|[''’](?:\W|$)|\s*[^\w\s''’-] {%- endset -%}
{%- set cue_end -%}
(?:{{ stop }}|\s+(?:{{ joiners }}|is|was|would|seems)\b)
{%- endset -%}
{%- set verb_end -%} (?:{{ stop }}|\s+(?:{{ joiners }})\b) {%- endset -%}
{%- set list_end -%}
(?:{{ stop }}|\s+(?:{{ joiners }}|are|were|both|together|could|would|might|may|seem)\b)
{%- endset -%}

{#- Letters: a list, one in brackets, one alone. -#}
{%- set and_words -%} (?i:and/or|and|or|as well as|und|oder|et|ou|y|o) {%- endset -%}
{%- set hedges = [
    'maybe', 'perhaps', 'possibly', 'probably', 'potentially', 'conceivably', 'alternatively',
    '(?:less|more|also|very) likely', '(?:it )?(?:could|might|may) (?:also |even )?be',
] | join('|') -%}
{%- set joined -%} [,/&+]\s*(?i:and\s+|or\s+)?|\s[(\[]?{{ and_words }},?\s|와|과|和|및 {%- endset -%}
{%- set hedged -%} [\s,;(?–—-]\s*(?i:(?:but\s+)?(?:{{ hedges }}))\b,? {%- endset -%}
{%- set and_between -%}
\s*[)\]>]?\s*(?:{{ joined }}|{{ hedged }})\s*
{%- endset -%}
{%- set and_between -%}
{{ and_between }}(?:(?i:{{ hedges }}|even|also|else|then)\b,?\s*){0,3}(?i:options?\s+)?[(\[<]?
{%- endset -%}
{%- set letters -%}
(?:(?:[A-Z]{{ and_between }})+[A-Z]|(?:[a-z]{{ and_between }})+[a-z])
{%- endset -%}
{%- set bracketed -%} [(\[{<]\s*([A-Za-z])\s*[)\]}>] {%- endset -%}
{%- set before_word -%} ([B-HJ])(\s+\w) {%- endset -%}
{%- set before_title -%}
([AI])(\s+[A-Z][a-z]{2,}(?:\s+[A-Z][a-z]+)*\s*(?:[.,;:(\n]|$))
{%- endset -%}

{#- Cues. -#}
{%- set answer_words = [
    'answers?', 'ans', 'antwort', 'antwoord', 'respuesta', 'r[ée]ponse', 'risposta', 'resposta',
] | join('|') -%}
{%- set answer_others = [
    '정답', '답', '答案', '答え', '答', '正解', '[Оо]твет', 'الإجابة', 'उत्तर',
] | join('|') -%}
{%- set named_choice -%}
(?:correct|best|right|final|my)\s+(?:option|choice|selection|letter)
{%- endset -%}
{%- set answer_names = answer_words ~ '|' ~ named_choice -%}
{#- Names of a speaker or a section, with a colon. -#}
{%- set labels = [
    'assistant', 'ai', 'bot', 'model', 'reply', 'output', 'solution', 'prediction', 'decision',
    'conclusion',
] | join('|') -%}
{%- set answer_word -%}
(?:(?i:\b(?:(?:{{ answer_names }})\b|(?:{{ labels }})\s*[:=]))|{{ answer_others }})
{%- endset -%}
{%- set nouns = [
    answer_words, 'option', 'choice', 'selection', 'letter', 'response', 'diagnosis', 'treatment',
    'medication', 'drug', 'therapy', 'procedure', 'condition', 'outcome', 'complication',
] | join('|') -%}
{%- set copula -%}
(?:(?i:\b(?:is|ist|est|es|(?:would|should|will|must)\s+be)\b)|[:=])
{%- endset -%}
{%- set noun_is -%} (?i:\b(?:{{ nouns }})\b)[^.:!?\n⟦]{0,120}?{{ copula }} {%- endset -%}
{%- set answer_cue -%} (?:{{ answer_word }}|{{ noun_is }}){{ between }} {%- endset -%}
{%- set answer_label -%}
{{ noun_is }}[^.!?\n⟦]{0,120}?\((?i:option\s+|choice\s+)?([A-Z])\)
{%- endset -%}
{%- set verbs = [
    'pick', 'choose', 'select', 'chose', 'picked', 'selected', 'choosing', 'picking', 'selecting',
    'go with', 'going with', 'opt for', 'settle on', 'vote for', 'recommend', 'suggest', 'prefer',
    'favou?r', 'guess', 'think', 'believe', 'say', 'conclude', 'it is', 'it must be',
    'it should be', "it[''’]s",
] | join('|') -%}
{%- set choice_verb -%} (?i:\b(?:{{ verbs }})\b){{ between }} {%- endset -%}
{%- set named_lower -%} (?i:option|choice|letter)\s+([a-z]) {%- endset -%}
{%- set verdict_lead_ins = [
    'options?', 'choices?', 'answer', 'letter', 'so', 'thus', 'therefore', 'hence', 'and', 'but',
    'that', 'think', 'believe', 'while', 'because', 'since',
] | join('|') -%}
{%- set before_verdict -%}
((?:^|[.!?;:,(\n]\s*|\b(?i:{{ verdict_lead_ins }})\s+)[(\["<]?)
{%- endset -%}
{%- set verdict_fillers = [
    'to', 'be', 'the', 'clearly', 'definitely', 'therefore', 'most', 'more', 'only', 'indeed',
    'single', 'probably', 'obviously', 'my', 'likely', 'both', 'all', 'equally', 'also',
] | join('|') -%}
{%- set verdicts = [
    'correct', 'right', 'best', 'appropriate', 'suitable', 'accurate', 'preferred', 'answers?',
    'likely (?:answer|option|choice|diagnosis|treatment|outcome)', 'likeliest',
    '(?:only |my |of )choice',
] | join('|') -%}
{#- "B is the most likely", but not "the most likely to harm" or "most likely wrong". -#}
{%- set after_likely = [
    joiners, nouns, 'given', 'here', 'than', 'of', 'to be', 'to explain', 'while', 'whereas',
    'cause', 'explanation', 'mechanism', 'organism', 'pathogen', 'finding', 'agent', 'one',
] | join('|') -%}
{%- set superlative -%}
(?i:(?:most|more)\s+(?:likely|probable|plausible|reasonable|consistent|effective|fitting))
{%- endset -%}
{%- set superlative -%}
{{ superlative }}(?:\s*(?:[.,;:!)"\n–—]|\s-\s|$)|\s+(?i:{{ after_likely }})\b)
{%- endset -%}
{%- set singular -%} (?i:is|was|seems|appears|looks|(?:would|must|should)\s+be) {%- endset -%}
{%- set plural = [
    'is', 'was', 'are', 'were', 'seem', 'appear', 'look',
    '(?:can|could|would|might|may|must|should)\\s+(?:both\\s+|all\\s+)?be',
] | join('|') -%}
{%- set judged -%}
\s+(?:(?i:{{ verdict_fillers }})\s+){0,6}(?:(?i:{{ verdicts }})\b|{{ superlative }})
{%- endset -%}
{%- set several -%}
(?i:(?:both|either|options?|choices?)\s+){0,2}[(\[<]?({{ letters }})[)\].:">]?\s+(?i:{{ plural }})
{%- endset -%}
{%- set verdict -%}
{{ before_verdict }}(?:{{ several }}|([A-Za-z])[)\].:">]?\s+{{ singular }}){{ judged }}
{%- endset -%}

{#- A conclusion that is no more than its letter: "Therefore, C.", but not "So A is wrong". -#}
{%- set conclude = [
    'therefore', 'thus', 'hence', 'so', 'consequently', 'accordingly', 'ergo', 'finally',
    'overall', 'ultimately', 'in (?:conclusion|summary|short)', 'to (?:conclude|sum up)', 'as such',
    'daher', 'somit', 'folglich', 'donc',
] | join('|') -%}
{%- set conclude_fillers = [
    'the', 'my', 'final', 'correct', 'best', 'right', 'options?', 'choices?', 'letter', 'both',
    'either', 'probably', 'likely', 'clearly', 'definitely', 'most likely',
] | join('|') -%}
{%- set conclude_end = [
    '\\s*$', '\\s*\\n', '[.!](?:\\W|$)', '\\s*:\\s', '\\s+[–—-]\\s',
    '\\s*\\([^()\\n]*\\)[ .]*$', ',?\\s+(?:because|since|as|given|due to)\\b',
] | join('|') -%}
{%- set conclusion -%}
\b(?i:{{ conclude }})(?:\s*[,:–—]\s*|\s+)(?:(?i:{{ conclude_fillers }})\s+){0,4}[(\[<"]?
{%- endset -%}
{%- set conclusion -%}
{{ conclusion }}({{ letters }}|[A-Za-z])(?:[)\]>"](?:\s[A-Za-z-]+)?)?({{ conclude_end }})
{%- endset -%}

{#- Lines that write an option; edges are ASCII and typographic punctuation, no other letters. -#}
{%- set edge -%} [ \t!-/:-@\[-`{-~“”‘’«»【】「」。·•→✓✅] {%- endset -%}
{%- set label_ends -%} [ \t]*\([^()\n]*\)[ \t.]*$ {%- endset -%}
{%- set line_ends -%}
[)\]>](?:\W|$)|[:.](?:\s|$)|\s+[-–—]\s|,?\s(?:because|since)\b|{{ edge }}*$|{{ label_ends }}
{%- endset -%}
{%- set line_form -%}
(?m)^{{ edge }}*(?i:(?:option|choice|letter){{ edge }}+)?([A-Za-z])(?:{{ line_ends }})
{%- endset -%}
{%- set two_forms -%} (?m)^.*\b[A-Z][):]\s.*\b[A-Z][):]\s {%- endset -%}
{%- set whole_reply -%}
^(?:{{ edge }}|\n)*(?i:(?:option|choice|letter){{ edge }}+)?([A-Za-z])(?:{{ edge }}|\n)*$
{%- endset -%}

{%- set whole_list -%}
^(?:{{ edge }}|\n)*(?i:both\s+|either\s+|options?\s+)?{{ letters }}(?:{{ edge }}|\n)*$
{%- endset -%}

{#- Where a single letter or a cue means something else. -#}
{%- set genera = [
    'C\\.?\\s?(?:difficile|diff|albicans)', 'E\\.?\\s?(?:coli|faecalis|faecium)', 'H\\.?\\s?pylori',
    'S\\.?\\s?(?:aureus|epidermidis|pneumoniae)', 'K\\.?\\s?pneumoniae', 'P\\.?\\s?aeruginosa',
    'B\\.?\\s?(?:fragilis|cereus)', 'A\\.?\\s?(?:baumannii|fumigatus)',
] | join('|') -%}
{%- set letter_terms -%} [A-Z]\s(?:cells?|dimers?|reactive|rays?|waves?|sections?) {%- endset -%}
{%- set look_alike -%}
\b(?:{{ genera }}|{{ letter_terms }}|(?i:i\.\s?e\.|e\.\s?g\.))
{%- endset -%}
{#- "The least likely answer", but not "the least harmful". -#}
{%- set least -%}
least\s+(?:likely|probable|plausible|appropriate|suitable|consistent)
{%- endset -%}
{%- set wrong -%} (?i:incorrect|wrong|worst|unlikely|{{ least }}) {%- endset -%}
{%- set negation -%}
(?i:not|never|cannot|(?:ca|do|would|could|did|should|wo|is)n[''’]t)
{%- endset -%}
{%- set wrong_cue -%}
\b(?:{{ wrong }}\s+(?i:(?:{{ nouns }})s?)|{{ negation }}\s+(?i:be|{{ verbs }}))\b
{%- endset -%}
{%- set wrong_clause -%}
\b(?i:answer|option|choice)s?\s+(?i:that|which)\s+(?i:is|are)\s*(?:{{ negation }}|{{ wrong }})\b
{%- endset -%}
{%- set wrong_noun -%}
\b(?i:(?:{{ nouns }})\s+(?:is|was|would\s+be))\s+(?i:not|never|neither)\b
{%- endset -%}
{%- set pronoun_verbs = [
    'would', 'could', 'might', 'may', 'should', 'must', 'will', 'can', 'was', 'were', 'am', 'have',
    'think', 'believe', 'recommend', 'suggest', 'prefer', 'agree', 'need',
] | join('|') -%}
{%- set pronoun_others = [
    'as', 'for', 'with', 'in', 'on', 'from', 'by', 'at', 'it', 'this', 'here', 'so',
    '(?:and|or) (?:my|our|the|we|others?)',
] | join('|') -%}
{%- set pronoun -%}
\b((?i:options?|choices?|letter) [Ii])\b|\b[Ii]((?i:,? (?:as an?|for one|personally|too|like)
{%- endset -%}
{%- set pronoun -%} {{ pronoun }}| (?:{{ pronoun_verbs }}|{{ pronoun_others }}))\b) {%- endset -%}
{%- set placeholder_list -%} [(\[]\s*A\s*(?:[/,|–-]\s*(?i:or\s+)?[B-Z]\s*)+[)\]] {%- endset -%}
{%- set options_head -%} (?i)\b(?:answer\s+)?(?:choices|options)\s*(?:are\s*)?: {%- endset -%}

{%- set closed -%} (?i)(?:</[a-z]+\s*>|#\s*final response[ \t:*]*)\s*$ {%- endset -%}
{%- set markup -%}
(?i)<\|[^|>\n]*\|>|</?(?:(?-i:[sbiup])|em|strong|br|code|pre|span)\s*/?>
{%- endset -%}
{%- set paired -%}
(?:(?:<[SBIUP]\s*>\s*)+([^<]*))?(?:</[SBIUP]\s*>\s*)+|<[SBIUP]\s*>([(\[]?[A-Za-z]\b)
{%- endset -%}
{%- set tex_text -%} \\(?:text|textbf|textit|mathrm|mathbf|bf|rm)\s*\{([^{}]*)\} {%- endset -%}
{%- set boxed -%} \\boxed\s*\{\s*[(\[]?([A-Za-z])(?:[)\].:][^{}]*)?\s*\} {%- endset -%}
{%- set boxed_list -%} \\boxed\s*\{\s*[(\[]?{{ letters }}[)\]]?\s*\} {%- endset -%}

{#- The reply without mark-up and look-alikes, then with its cues as marks. -#}
{%- set plain = namespace(sql=nfkc_ascii('reply')) -%}
{%- for pattern, replacement in [
    ('[⟦⟧*`]', ''), ('[_ \\t]+', ' '), (markup, ' '),
    (paired, ' \\1\\2 '), (pronoun, '\\1\\2'), (tex_text, '\\1'), (placeholder_list, ''),
    (options_head, 'list'), (look_alike, 'term'), (wrong_clause, 'distractor'),
    (wrong_noun, 'distractor'), (wrong_cue, 'distractor'),
] -%}
    {%- set plain.sql -%}
    regexp_replace({{ plain.sql }}, '{{ pattern }}', '{{ replacement }}', 'g')
    {%- endset -%}
{%- endfor -%}
{%- set marked = namespace(sql='plain') -%}
{%- for pattern, replacement in [
    (boxed_list, '⟦boxed:?⟧'),
    (boxed, '⟦boxed:\\1⟧'),
    (answer_cue ~ '[(\\[<]?' ~ letters ~ '[)\\]>]?(' ~ list_end ~ ')', '⟦answer_cue:?⟧\\1'),
    (answer_cue ~ '(?:' ~ bracketed ~ '|([A-Za-z])(' ~ cue_end ~ ')|' ~ before_word ~ '|'
        ~ before_title ~ ')', '⟦answer_cue:\\1\\2\\4\\6⟧\\3\\5\\7'),
    (answer_label, '⟦answer_cue:\\1⟧'),
    (choice_verb ~ '[(\\[<]?' ~ letters ~ '[)\\]>]?(' ~ list_end ~ ')', '⟦choice_verb:?⟧\\1'),
    (choice_verb ~ '(?:' ~ bracketed ~ '|(?:([A-Z])|' ~ named_lower ~ ')(' ~ verb_end ~ '))',
        '⟦choice_verb:\\1\\2\\3⟧\\4'),
    (verdict, '\\1⟦verdict:\\2\\3⟧'),
    (conclusion, '⟦verdict:\\1⟧\\2'),
] -%}
    {%- set marked.sql -%}
    regexp_replace({{ marked.sql }}, '{{ pattern }}', '{{ replacement }}', 'g')
    {%- endset -%}
{%- endfor -%}

{#- From here on: text -> reply -> plain -> found (rule and letter, or `?`) -> struct. -#}
list_transform(
    [{{ strip_reasoning(text) }}],
    lambda reply: list_transform(
        [case when regexp_matches(reply, '^[A-Z]$') then reply else {{ plain.sql }} end],
        lambda plain: list_transform(
            [case
                when regexp_matches({{ text }}, '\S') is not true then ['empty', '']
                when regexp_matches(reply, '\S') is not true
                    then [
                        if(regexp_matches({{ text }}, '{{ closed }}'), 'empty', 'open_reasoning'),
                        ''
                    ]
                when regexp_matches(plain, '{{ whole_reply }}')
                    then ['whole_reply', regexp_extract(plain, '{{ whole_reply }}', 1)]
                when regexp_matches(plain, '{{ whole_list }}') then ['whole_reply', '?']
                else coalesce(
                    string_split(
                        regexp_extract_all({{ marked.sql }}, '⟦([a-z_]+:[^⟦⟧]+)⟧', 1)[-1],
                        ':'
                    ),
                    list_transform(
                        [list_distinct(list_transform(
                            regexp_extract_all(plain, '{{ line_form }}', 1),
                            lambda letter: upper(letter)
                        ))],
                        lambda forms: case
                            when len(forms) > 0 and regexp_matches(plain, '{{ two_forms }}')
                                then ['option_form', '?']
                            when len(forms) = 1 then ['option_form', forms[1]]
                            when len(forms) > 1 then ['option_form', '?']
                        end
                    )[1],
                    ['none', '']
                )
            end],
            lambda found: {
                'letter': case
                    when length(found[2]) = 1 and found[2] <> '?'
                        and ascii(upper(found[2])) - 64 <= coalesce({{ n_options }}, 26)
                        then upper(found[2])
                end,
                'status': case
                    when found[1] = 'empty' then 'empty'
                    when found[1] = 'open_reasoning' then 'truncated'
                    when found[1] = 'none' then 'unparsed'
                    when found[2] = '?' or length(found[2]) > 1 then 'ambiguous'
                    when ascii(upper(found[2])) - 64 > {{ n_options }} then 'out_of_range'
                    else 'parsed'
                end,
                'rule': found[1]
            }
        )[1]
    )[1]
)[1]
{%- endmacro %}
