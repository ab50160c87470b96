"""Codes of the database in plain words, and the terms that a page explains."""

from __future__ import annotations

# What stands in a cell, a filter or a legend instead of a code.
SAID = {
    None: "–",
    "": "–",
    True: "yes",
    False: "no",
    "True": "yes",
    "False": "no",
    "all": "all",
    "dx": "diagnosis (dx)",
    "tx": "treatment (tx)",
    "px": "next visit (px)",
    "mcq": "multiple choice",
    "oeq": "open-ended",
    "choice": "one letter",
    "logprobs": "letter probabilities",
    "free": "free text",
    "free_choice": "free text, then a letter",
    "cloze": "option likelihood",
    "json": "triples as JSON",
    "any": "any",
    "standard": "whole item",
    "none": "none",
    "estimable": "estimated",
    "estimated": "estimated",
    "not_estimable": "too little data",
    "not_assessed": "not assessed",
    "too_few_templates": "too few templates",
    "few_templates": "too few templates",
    "too_few_triples": "too few triples",
    "accepted": "accepted",
    "rejected": "rejected",
    "pass": "pass",
    "fail": "fail",
    "treat_with": "is treated with",
    "coexists_with": "occurs together with",
    "causes": "leads to",
    "adverse_of": "has as a harm",
    "kb_rules": "knowledge-base rules",
    "shuffled_visits": "shuffled visits (null)",
    "all_pairs": "all pairs (tests)",
    "grounded": "in the record",
    "mapped": "has concepts",
    "positive_support": "supported",
    "unambiguous_relation": "unambiguous",
    "no_negative_evidence": "not denied",
    "no_context_conflict": "fits the context",
    "ehr_lift": "frequent enough together",
    "option_probability": "by probability",
    "stated": "stated in the reply",
    "extraction": "proposing triples",
    "answers": "answering items",
    "exact_atom": "code names the concept",
    "gem": "map between ICD-9 and ICD-10",
    "icd_parent": "broader ICD code",
    "procedure_prefix": "broader procedure code",
    "procedure_exact": "procedure concept",
    "name": "drug name",
    "name_without_form": "drug name without form",
    "name_without_salt": "drug name without salt",
    "ndc": "package code (NDC)",
    "part": "part of a combination",
    "no_concept": "no concept known",
    "residual_title": "rest class (“other”)",
    "too_many_concepts": "too many concepts",
    "ambiguous_name": "ambiguous name",
    "no_label": "no title",
    "several_ingredients": "several ingredients",
    "overridden": "decided: no concept",
    "unknown_code_system": "unknown code system",
    "exact": "exact",
    "equivalent": "equivalent",
    "descendant": "narrower",
    "ancestor": "broader",
    "clinical": "clinical codes",
    "weighted": "weighted draw",
    "blocks": "blocks",
    "above": "above",
    "below": "below",
    "level": "level",
    "abstain_rate": "share that abstained",
    "accuracy": "accuracy",
    "selective_accuracy": "accuracy where answered",
    "error_answered": "wrong although abstaining was right",
    "error_abstained": "abstained although sure to be right",
    "aurc": "area under the risk-coverage curve",
    "penalty_0": "score, no penalty",
    "penalty_1": "score, a wrong answer costs 1",
    "penalty_10": "score, a wrong answer costs 10",
    "penalty_chance": "score, guessing earns nothing",
    "consistency": "same option in every order",
    "all_correct": "right in every order",
    "rstd": "spread of recall over letters",
    "accuracy_debiased": "accuracy, letter preference removed",
    "debiasing_gain": "gain by removing it",
    "recall": "found when the answer is here",
    "choice_share": "chosen here",
    "letter_prior": "probability without evidence",
    "time": "admission year",
    "evidence": "articles behind the fact",
    "min_supporting_pmids": "articles that support",
    "min_articles_alone": "articles, nothing else supports",
    "max_negative_share": "share of denials allowed",
    "min_negative_pmids": "denials that reject",
    "strict_negation": "denial as the paper reads it",
    "match_level": "how near the concepts match",
    "support_sources": "what counts as support",
    "ambiguity": "margin of ambiguity",
    "min_ehr_lift": "times more often together than chance",
    "synthetic": "synthetic",
    "demo": "open demo",
    "credentialed": "credentialed",
    "block_broken": "held back with its block",
    "ordered_only": "ordered, not given",
    "administered": "given",
    "unknown": "unknown",
    "subject": "subject",
    "object": "object (the answer)",
    "context": "context",
    "template": "template",
    "item": "item",
    "set": "whole set",
    "structure": "code",
    "quarantine": "quarantine",
    "tag": "tag",
    "warn": "warn",
    "exact_gate": "exact",
    "report": "report",
    "pooled": "all sources",
    "acc_4": "accuracy, 4 options",
    "acc_5": "accuracy, 5 options",
    "acc_6": "accuracy, 6 options",
    "overall": "accuracy over the tasks",
    "rc": "names both ends of the relation",
    "rc_gold": "names the answer",
    "rc_any": "names an answer that the visit supports",
    "rc_answer": "credit for the answer's end",
    "rc_relation": "names both ends of the relation",
    "bertscore": "BERTScore",
    "kendall_w": "agreement of rankings (Kendall's W)",
    "parse_failure_rate": "no letter read",
    "know_or_guess_5": "5 options, if known or guessed",
    "know_or_guess_6": "6 options, if known or guessed",
    "summary": "as its digest states",
    "commentary": "as a commentator read it off",
    "inferred": "follows from other figures",
    "main": "main items",
    "embedding_baselines": "items of the embedding baselines",
    "open_ended": "open-ended items",
    "generator_swap": "items of three generators",
    "accept_rate": "accepted by the active policy",
    "kb_pass_rate": "accepted, wherever the events are from",
    "enrichment": "times as often as shuffled visits",
    "item_overlap": "templates that both have",
    "rank_agreement": "agreement of rankings (Kendall's W)",
    "churn": "items whose answer changes between runs",
    "accuracy_sd": "spread of accuracy between runs",
    "variance_item": "variance between items",
    "variance_run": "variance between runs",
    "variance_residual": "variance that is left",
    "twin": "another patient's scenario",
    "twin_less_standard": "another patient's scenario less own",
    "twin_less_choices_only": "another patient's scenario less options alone",
    "twin_less_chance": "another patient's scenario less chance",
    "later_less_earlier": "later less earlier",
    "slope_per_tenfold": "change per tenfold articles",
    "choices_only": "options alone",
    "shuffled": "shuffled scenario",
    "idk": "abstaining offered",
    "gold_removed": "answer removed",
    "confidence": "confidence asked for",
    "context_size": "number of context events",
    "option_count": "number of options",
    "paraphrase": "wording",
    "generator": "generator of the triples",
    "arm": "what is shown",
    "few_judges": "fewer than two rankings",
    "few_models": "fewer than two models",
    "made_from_another_source": "one source was made from the other",
    "answer_chapter": "ICD chapter of the answer",
    "answer_frequency": "frequency of the answer",
    "anchor_period": "admission period",
    "anchor_year_group": "admission years",
    "visit_length": "length of the visit",
    "not_declared": "no difference declared",
    "precision_of_accepted": "accepted triples that are right",
    "miss_rate_of_rejected": "rejected triples that are right",
    "key_of_items": "items whose key raters choose",
    "unique_of_items": "items with one best option",
    "other_right_of_items": "items with another right option",
    "answerable_of_items": "items that the record answers",
    "leak_of_items": "items whose wording tells",
    "valid_of_items": "items that are valid throughout",
    "corrected": "raters' errors taken out",
    "is_right": "is it right?",
    "is_key": "is the key chosen?",
    "is_unique": "is there one best option?",
    "has_other_right": "is another option right too?",
    "is_answerable": "does the record suffice?",
    "has_leak": "does the wording tell?",
    "is_valid": "is it valid throughout?",
    "as_rated": "as rated",
    "measured": "from the answers",
    "assumed": "before any answer",
    "fixed": "fixed thresholds",
    "verdict": "verdict",
    "parsed": "read",
    "open": "open",
    "unparsed": "no letter found",
    "abstained": "abstained",
    "refused": "declined",
    "ambiguous": "several letters",
    "out_of_range": "a letter that is not offered",
    "truncated": "cut off",
    "empty": "no text",
    "too_long": "too long for the model",
}

# Codes by their tone, for a badge's colour; what is not here is neutral.
TONES = {
    "good": ("accepted", "pass", "released", "done", "yes", "above", "parsed", "clean"),
    "bad": ("rejected", "fail", "failed", "below", "over limit"),
    "warn": ("not_assessed", "quarantine", "not_estimable", "warn", "missing", "partly"),
}

# Terms that a page explains beside a header.
TERMS = {
    "interval": "The range in brackets is a 95 % interval. It accounts for several items coming "
    "from one patient or asking for one answer. Two figures whose ranges overlap widely cannot "
    "be told apart by this set.",
    "rank": "Place by overall accuracy among the models of one mode. The range is the best and "
    "worst place that the models take when patients are drawn anew; models of one tier cannot be "
    "told apart.",
    "task": "dx: which further diagnosis was coded in this visit. tx: which treatment was ordered "
    "or done. px: which diagnosis is newly coded in the next inpatient visit.",
    "mode": "How a model answers: one letter by force, the probabilities of the letters, free text "
    "from which a letter is read, or the likelihood of each option's text.",
    "template": "An accepted triple that became a question. It is rendered as several items: with "
    "four, five or six options, in several wordings, and open-ended.",
    "triple": "Two events of a patient's record and the relation between them, such as a disease "
    "and the drug that treats it.",
    "policy": "Which evidence counts. `paper`: one article supports, one denial rejects. `sound`: "
    "two articles, denials reject by share. `open`: curated relations count as well.",
    "generator": "Who proposed a triple: rules on the knowledge base, a language model, or, as a "
    "null to compare with, visits whose events were swapped between patients.",
    "concept": "An entry of the Metathesaurus (CUI). Codes of different systems for the same thing "
    "share one.",
    "pmid": "Number of an article in PubMed.",
    "support": "Rows of the knowledge base that state the relation: articles, or curated "
    "relations.",
    "match_level": "Whether the evidence is about the two concepts themselves (exact), about the "
    "same thing by another code (equivalent), or one step narrower or broader.",
    "calibration": "Among answers given with a certain confidence, the share that is right. A "
    "calibrated model lies on the diagonal; below it, it is too sure of itself.",
    "lift": "Accuracy less chance, in percentage points. Near zero is what a fair set of items "
    "gives to someone who does not read the case.",
    "chance": "One over the number of options.",
    "leak": "A way in which a question gives its answer away without medicine. Each rule looks "
    "for one of them.",
    "release": "Number made from all inputs of the build. Two builds with one release number hold "
    "the same items.",
    "enrichment": "How many times more often proposed triples pass than triples from visits "
    "swapped between patients. 1 is chance.",
    "persons": "Persons behind the figure. People in two sources count once.",
    "control": "A control answers without reading: constant_answer always names the most frequent "
    "answer, list_everything the twenty most frequent ones. What they reach is not understanding.",
    "credit": "Concepts decide, not wording: the answer, another name of it or a narrower concept "
    "counts; a broader one earns half in the credit for the answer's end.",
    "theirs": "Printed by the authors of the paper for their own items, without intervals. The "
    "items here are others, so the two columns are no replication of each other.",
    "agreement": "Kendall's W: 1 when every ranking orders the models alike, near 0 when they have "
    "nothing in common.",
    "effective": "Answers on one patient or with one answer resemble each other: so many "
    "independent answers are worth as much.",
    "detectable": "The smallest difference between two models that this many items would show in "
    "four of five tries.",
    "waiting": "Asked only when the same model's reply in free text is there.",
    "asked": "Answers scored, and answers that the plan asks for. A missing answer is not counted "
    "as wrong.",
}


def say(value: object) -> str:
    """A code in plain words; what is unknown is said as it stands."""
    try:
        return SAID.get(value, str(value))
    except TypeError:
        return str(value)


def plain(value: object) -> str:
    """The same for columns of codes: a code without words loses its underscores."""
    text = say(value)
    return text.replace("_", " ") if text == value else text


def tone(value: object) -> str:
    """Tone of a code: good, bad, warn or plain."""
    text = say(value) if isinstance(value, bool) else str(value)
    return next((name for name, values in TONES.items() if text in values), "plain")
