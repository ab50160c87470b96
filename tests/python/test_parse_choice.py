"""parse_choice over case tables: the shared one and more of our own, in one query each."""

from __future__ import annotations

import csv
import string
import unicodedata
from pathlib import Path

import duckdb
import jinja2
import pytest

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "fixtures" / "cases" / "mcq_extraction_cases.csv"
MACROS = (
    "nfkc_ascii", "norm_label", "leak_words", "strip_reasoning", "mark_reasoning", "parse_choice",
    "parse_confidence", "says_phrase",
)


def render(call: str) -> str:
    """SQL of a macro call, by the macro files themselves."""
    environment = jinja2.Environment(extensions=["jinja2.ext.do"])
    source = "\n".join((ROOT / "macros" / f"{name}.sql").read_text("utf-8") for name in MACROS)
    return environment.from_string(f"{source}\n{{{{ {call} }}}}").render().strip()


def parse(rows: list[tuple[str | None, int | None]]) -> list[tuple[str | None, str, str]]:
    """(letter, status, rule) of each (completion, n_options)."""
    with duckdb.connect() as connection:
        connection.execute("create table cases (n integer, completion varchar, n_options integer)")
        connection.executemany(
            "insert into cases values (?, ?, ?)",
            [(number, *row) for number, row in enumerate(rows)],
        )
        call = render("parse_choice('completion', 'n_options')")
        found = connection.execute(f"select {call} from cases order by n").fetchall()
    return [(row["letter"], row["status"], row["rule"]) for (row,) in found]


def shared_cases() -> list[dict[str, str]]:
    with CASES.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def test_shared_case_table() -> None:
    """Every row, the optional non-English ones too."""
    cases = shared_cases()
    assert len(cases) >= 20
    found = parse([(case["completion"], int(case["n_options"])) for case in cases])
    wrong = [
        (case["completion"], case["expected_letter"], case["expected_status"], letter, status, rule)
        for case, (letter, status, rule) in zip(cases, found, strict=True)
        if (letter or "", status) != (case["expected_letter"], case["expected_status"])
    ]
    assert not wrong


# completion, n_options, letter (None unless parsed), status, rule
OWN_CASES = [
    # the whole reply
    ("B.", 4, "B", "parsed", "whole_reply"),
    (" **b** \n", 4, "B", "parsed", "whole_reply"),
    ("Option C", 4, "C", "parsed", "whole_reply"),
    ("[D]<|im_end|>", 4, "D", "parsed", "whole_reply"),
    ("$B$", 4, "B", "parsed", "whole_reply"),
    ("Ⓒ", 4, "C", "parsed", "whole_reply"),
    ("\u200b𝐁\ufeff", 4, "B", "parsed", "whole_reply"),
    ("\u202aD\u202c", 4, "D", "parsed", "whole_reply"),
    ("\u2067\u2066C\u2069\u2069", 4, "C", "parsed", "whole_reply"),
    ("F", 6, "F", "parsed", "whole_reply"),
    ("F", 5, None, "out_of_range", "whole_reply"),
    ("I", 10, "I", "parsed", "whole_reply"),
    ("7", 4, None, "unparsed", "none"),
    ("BB", 4, None, "unparsed", "none"),
    ("A and C", 4, None, "ambiguous", "whole_reply"),
    ("(A), (B)", 4, None, "ambiguous", "whole_reply"),
    ("A, B, C, D", 4, None, "ambiguous", "whole_reply"),
    # nothing there
    ("   \n\t ", 4, None, "empty", "empty"),
    (None, 4, None, "empty", "empty"),
    ("...", 4, None, "unparsed", "none"),
    # answer cues
    ("answer: b", 4, "B", "parsed", "answer_cue"),
    ("**Answer:** B", 4, "B", "parsed", "answer_cue"),
    ("__Answer__: __B__", 4, "B", "parsed", "answer_cue"),
    ("Final Answer:\n\n(C)", 4, "C", "parsed", "answer_cue"),
    ("Answer:\r\nD", 4, "D", "parsed", "answer_cue"),
    ('{"answer": "C"}', 4, "C", "parsed", "answer_cue"),
    ('{"reason": "A is weak", "final_answer": "B", "confidence": 0.9}', 4, "B", "parsed",
     "answer_cue"),
    ("<answer>B</answer>", 4, "B", "parsed", "answer_cue"),
    ("The answer's B.", 4, "B", "parsed", "answer_cue"),
    ("The answer is clearly option (D).", 4, "D", "parsed", "answer_cue"),
    ("So the most likely answer would be B) Metformin", 4, "B", "parsed", "answer_cue"),
    ("The best answer for this patient is C.", 4, "C", "parsed", "answer_cue"),
    ("The most likely diagnosis is B.", 4, "B", "parsed", "answer_cue"),
    ("The correct choice is: D", 4, "D", "parsed", "answer_cue"),
    ("Answer: B Metformin", 4, "B", "parsed", "answer_cue"),
    ("Answer: A Metformin", 4, "A", "parsed", "answer_cue"),
    ("Answer: A - Metformin", 4, "A", "parsed", "answer_cue"),
    ("Answer: A (Metformin)", 4, "A", "parsed", "answer_cue"),
    ("Answer: a.", 4, "A", "parsed", "answer_cue"),
    ("Answer (A/B/C/D): B", 4, "B", "parsed", "answer_cue"),
    ("Answer: G", 6, None, "out_of_range", "answer_cue"),
    ("The answer is C, not A.", 4, "C", "parsed", "answer_cue"),
    ("The answer isn't A; the answer is C.", 4, "C", "parsed", "answer_cue"),
    ("The wrong answer is A. The right answer is B.", 4, "B", "parsed", "answer_cue"),
    ("Answer: B, i.e. the beta blocker", 4, "B", "parsed", "answer_cue"),
    ("Answer: D, I think.", 4, "D", "parsed", "answer_cue"),
    ("Answer: B, A is wrong", 4, "B", "parsed", "answer_cue"),
    ("Is the answer A? No. Answer: B", 4, "B", "parsed", "answer_cue"),
    ("Answer:  Ｂ） Metformin", 4, "B", "parsed", "answer_cue"),
    ("Die richtige Antwort ist B.", 4, "B", "parsed", "answer_cue"),
    ("La respuesta correcta es C.", 4, "C", "parsed", "answer_cue"),
    ("La réponse est D.", 4, "D", "parsed", "answer_cue"),
    ("答案是B", 4, "B", "parsed", "answer_cue"),
    ("答案：Ｃ", 4, "C", "parsed", "answer_cue"),
    ("정답은 C입니다.", 5, "C", "parsed", "answer_cue"),
    ("Ответ: D", 4, "D", "parsed", "answer_cue"),
    ("The answer is **B. Insulin**.", 4, "B", "parsed", "answer_cue"),
    ("The answer is neither A nor B, it is C.", 4, "C", "parsed", "choice_verb"),
    ("The answer is not A; it is C.", 4, "C", "parsed", "choice_verb"),
    ("The answer is not Metformin (A).", 4, None, "unparsed", "none"),
    ("The correct answer is Metformin (B).", 4, "B", "parsed", "answer_cue"),
    ("The answer is insulin (option D).", 4, "D", "parsed", "answer_cue"),
    ("Answer: A, Metformin", 4, "A", "parsed", "answer_cue"),
    ("The answer is A and B is wrong", 4, "A", "parsed", "answer_cue"),
    ("Answer: All of the above", 4, None, "unparsed", "none"),
    ("Answer: Neither A nor B", 4, None, "unparsed", "none"),
    ("答案：B、因为", 4, "B", "parsed", "answer_cue"),
    ("Réponse correcte : B", 4, "B", "parsed", "answer_cue"),
    # boxes
    (r"Thus $\boxed{B}$.", 4, "B", "parsed", "boxed"),
    (r"\boxed{\text{(C)}}", 4, "C", "parsed", "boxed"),
    (r"\boxed{\textbf{D. Insulin}}", 4, "D", "parsed", "boxed"),
    (r"\boxed{A, C}", 4, None, "ambiguous", "boxed"),
    (r"Answer: A. Corrected: \boxed{B}", 4, "B", "parsed", "boxed"),
    (r"\boxed{42}", 4, None, "unparsed", "none"),
    # verbs of choice and verdicts
    ("I choose option C.", 4, "C", "parsed", "choice_verb"),
    ("I'd go with (B) here.", 4, "B", "parsed", "choice_verb"),
    ("I think it's B.", 4, "B", "parsed", "choice_verb"),
    ("I would not pick A. I would pick D.", 4, "D", "parsed", "choice_verb"),
    ("I wouldn't choose A", 4, None, "unparsed", "none"),
    ("B is correct.", 4, "B", "parsed", "verdict"),
    ("Option A is wrong. Option C is the best choice.", 4, "C", "parsed", "verdict"),
    ("Therefore, (B) is the most appropriate.", 4, "B", "parsed", "verdict"),
    ("A is correct", 4, "A", "parsed", "verdict"),
    ("**B** is the answer", 4, "B", "parsed", "verdict"),
    ("Option B would be the most appropriate.", 4, "B", "parsed", "verdict"),
    ("B is incorrect.", 4, None, "unparsed", "none"),
    ("B is not correct.", 4, None, "unparsed", "none"),
    # the last cue wins, whatever its kind
    ("Answer: A\nOn reflection I choose C.", 4, "C", "parsed", "choice_verb"),
    ("I pick A at first. Answer: D", 4, "D", "parsed", "answer_cue"),
    ("Answer: A and C\nOnly one is allowed. Answer: C", 4, "C", "parsed", "answer_cue"),
    ("Answer: C\nAnswer: A or B", 4, None, "ambiguous", "answer_cue"),
    # lists
    ("Answer: A or B.", 4, None, "ambiguous", "answer_cue"),
    ("Answer: A, C", 4, None, "ambiguous", "answer_cue"),
    ("Answer: A/C", 4, None, "ambiguous", "answer_cue"),
    ("Answer: (A) and (C)", 4, None, "ambiguous", "answer_cue"),
    ("Answer: A, B, and D", 4, None, "ambiguous", "answer_cue"),
    ("The answer is both B and C because of the labs", 4, None, "ambiguous", "answer_cue"),
    ("answer: a and c", 4, None, "ambiguous", "answer_cue"),
    ("Choose one: A, B, C, or D", 4, None, "ambiguous", "choice_verb"),
    # forms of an option
    ("(B) Metformin", 4, "B", "parsed", "option_form"),
    ("B) Metformin", 4, "B", "parsed", "option_form"),
    ("A. Metformin", 4, "A", "parsed", "option_form"),
    ("**C. Insulin**", 4, "C", "parsed", "option_form"),
    ("B (Metformin)", 4, "B", "parsed", "option_form"),
    ("- D: furosemide", 4, "D", "parsed", "option_form"),
    ("Given the labs:\n\n(B) Metformin\n\nIt lowers glucose.", 4, "B", "parsed", "option_form"),
    ("C\n\nBecause the ejection fraction is low.", 4, "C", "parsed", "option_form"),
    ("A. Metformin\nB. Insulin\nC. Heparin\nD. Aspirin", 4, None, "ambiguous", "option_form"),
    ("A. Metformin\nB. Insulin\n\nAnswer: B", 4, "B", "parsed", "answer_cue"),
    ("Answer choices:\nA. Metformin\nB. Insulin", 4, None, "ambiguous", "option_form"),
    ("C, because the ejection fraction is low", 4, "C", "parsed", "option_form"),
    ("B because it lowers glucose", 4, "B", "parsed", "option_form"),
    ("A: 10%, B: 80%, C: 5%, D: 5%", 4, None, "ambiguous", "option_form"),
    ("A) Metformin is wrong, B) insulin is right", 4, None, "ambiguous", "option_form"),
    ("A, B, and C are wrong", 4, None, "unparsed", "none"),
    ("B\nB\nB", 4, "B", "parsed", "option_form"),
    ("G. Something", 4, None, "out_of_range", "option_form"),
    # letters that are no choice
    ("A beta blocker is the treatment of choice.", 4, None, "unparsed", "none"),
    ("The answer is a beta blocker.", 4, None, "unparsed", "none"),
    ("Answer: A patient with CHF needs furosemide.", 4, None, "unparsed", "none"),
    ("Answer: A CT scan of the chest", 4, None, "unparsed", "none"),
    ("Answer: I think the patient needs insulin", 10, None, "unparsed", "none"),
    ("The answer is vitamin D.", 4, None, "unparsed", "none"),
    ("The diagnosis is hepatitis B.", 4, None, "unparsed", "none"),
    ("Hepatitis B is the most likely diagnosis.", 4, None, "unparsed", "none"),
    ("Answer: A-fib with rapid response", 4, None, "unparsed", "none"),
    ("Answer: B-cell lymphoma", 4, None, "unparsed", "none"),
    ("Answer: D-dimer", 4, None, "unparsed", "none"),
    ("Answer: C. difficile colitis", 4, None, "unparsed", "none"),
    ("Answer: E. coli", 6, None, "unparsed", "none"),
    ("Answer: A1c monitoring", 4, None, "unparsed", "none"),
    ("Answer: B12 deficiency", 4, None, "unparsed", "none"),
    ("That is my answer. A patient like this may bleed.", 4, None, "unparsed", "none"),
    ("None of the above", 4, None, "unparsed", "none"),
    ("Answer: None", 4, None, "unparsed", "none"),
    ("I cannot answer this question.", 4, None, "unparsed", "none"),
    ("Answer with one letter: [A/B/C/D]", 4, None, "unparsed", "none"),
    # the pronoun
    ("Answer: I would say furosemide", 4, None, "unparsed", "none"),
    ("answer: i would say furosemide", 10, None, "unparsed", "none"),
    ("Answer: I as a physician would treat", 10, None, "unparsed", "none"),
    ("Answer: I, as an AI, cannot say", 4, None, "unparsed", "none"),
    ("Answer: I Think Furosemide.", 10, None, "unparsed", "none"),
    ("The answer is I and my team would treat", 10, None, "unparsed", "none"),
    ("I was right.", 4, None, "unparsed", "none"),
    ("Answer: I would say C.", 4, "C", "parsed", "choice_verb"),
    ("Answer: D, I would say.", 4, "D", "parsed", "answer_cue"),
    ("Answer: I", 10, "I", "parsed", "answer_cue"),
    ("Answer: I.", 4, None, "out_of_range", "answer_cue"),
    ("The answer is I because it is safe.", 10, "I", "parsed", "answer_cue"),
    ("Answer: I Metformin", 10, "I", "parsed", "answer_cue"),
    ("Option I would be the best.", 10, "I", "parsed", "verdict"),
    ("(I) is correct", 10, "I", "parsed", "verdict"),
    # a letter in angle brackets, and mark-up
    ("<B>", 4, "B", "parsed", "whole_reply"),
    ("Answer: <B>", 4, "B", "parsed", "answer_cue"),
    ("Answer: <A>", 4, "A", "parsed", "answer_cue"),
    ("<I>", 10, "I", "parsed", "whole_reply"),
    ("＜Ｂ＞", 4, "B", "parsed", "whole_reply"),
    ("<B> is correct.", 4, "B", "parsed", "verdict"),
    ("<B> Metformin", 4, "B", "parsed", "option_form"),
    ("I pick <B>.", 4, "B", "parsed", "choice_verb"),
    ("<b>Answer:</b> <B>", 4, "B", "parsed", "answer_cue"),
    ("<b>B</b>", 4, "B", "parsed", "whole_reply"),
    ("<b>C</b>", 4, "C", "parsed", "whole_reply"),
    ("<B>C</B>", 4, "C", "parsed", "whole_reply"),
    ("<B>B</B>", 4, "B", "parsed", "whole_reply"),
    ("<B><I>C</I></B>", 4, "C", "parsed", "whole_reply"),
    ("Answer: <B><U>D</U></B>", 4, "D", "parsed", "answer_cue"),
    ("<B>Answer: C</B>", 4, "C", "parsed", "answer_cue"),
    ("Answer: <B>C. Insulin", 4, "C", "parsed", "answer_cue"),
    ("Answer: C</B>", 4, "C", "parsed", "answer_cue"),
    ("<p>Answer: <i>A</i></p>", 4, "A", "parsed", "answer_cue"),
    ("<s>D</s>", 4, "D", "parsed", "whole_reply"),
    ("Answer: <b>", 4, None, "unparsed", "none"),
    # two letters, one perhaps hedged
    ("Both A and B are correct", 4, None, "ambiguous", "verdict"),
    ("A and C are both correct.", 4, None, "ambiguous", "verdict"),
    ("Options (A) and (C) are right.", 4, None, "ambiguous", "verdict"),
    ("A, B, and D are all correct", 4, None, "ambiguous", "verdict"),
    ("Either A or B is correct", 4, None, "ambiguous", "verdict"),
    ("Both A and B could be the answer", 4, None, "ambiguous", "verdict"),
    ("Both option A and option B are the most likely.", 4, None, "ambiguous", "verdict"),
    ("<A> and <B> are correct", 4, None, "ambiguous", "verdict"),
    ("Answer: C or maybe D", 4, None, "ambiguous", "answer_cue"),
    ("Answer: C, or perhaps even D.", 4, None, "ambiguous", "answer_cue"),
    ("Answer: C (or D)", 4, None, "ambiguous", "answer_cue"),
    ("Answer: C, possibly D", 4, None, "ambiguous", "answer_cue"),
    ("Answer: C but maybe D", 4, None, "ambiguous", "answer_cue"),
    ("Answer: C or it could be D", 4, None, "ambiguous", "answer_cue"),
    ("Answer: C or, less likely, option D", 4, None, "ambiguous", "answer_cue"),
    ("I pick C or maybe D.", 4, None, "ambiguous", "choice_verb"),
    ("C or maybe D", 4, None, "ambiguous", "whole_reply"),
    (r"\boxed{C or maybe D}", 4, None, "ambiguous", "boxed"),
    ("Therefore, C or D.", 4, None, "ambiguous", "verdict"),
    ("Both A and B are correct, but the best answer is B.", 4, "B", "parsed", "answer_cue"),
    ("Both A and B are incorrect", 4, None, "unparsed", "none"),
    ("Both A and B are not correct", 4, None, "unparsed", "none"),
    ("Both A and B are wrong. Answer: C", 4, "C", "parsed", "answer_cue"),
    ("Hepatitis A and B are the most likely.", 4, None, "unparsed", "none"),
    ("Answer: C or maybe a diuretic", 4, "C", "parsed", "answer_cue"),
    ("Answer: C, maybe because of the labs", 4, "C", "parsed", "answer_cue"),
    ("Answer: C, D is possible too", 4, "C", "parsed", "answer_cue"),
    # conclusions, speakers, lower case, superlatives
    ("Therefore, C.", 4, "C", "parsed", "verdict"),
    ("The ejection fraction is low, so C", 4, "C", "parsed", "verdict"),
    ("Thus: (D)", 4, "D", "parsed", "verdict"),
    ("Hence option b.", 4, "B", "parsed", "verdict"),
    ("In conclusion, A - Metformin", 4, "A", "parsed", "verdict"),
    ("So the correct option: B) Metformin.", 4, "B", "parsed", "answer_cue"),
    ("Therefore, B) Metformin.", 4, "B", "parsed", "verdict"),
    ("Therefore, C because the EF is low", 4, "C", "parsed", "verdict"),
    ("Answer: A. On reflection it fails. Therefore, C.", 4, "C", "parsed", "verdict"),
    ("Therefore, C. No: the answer is D.", 4, "D", "parsed", "answer_cue"),
    ("Therefore, a diuretic", 4, None, "unparsed", "none"),
    ("Therefore, A diuretic is best.", 4, None, "unparsed", "none"),
    ("Therefore, I would give furosemide.", 10, None, "unparsed", "none"),
    ("So A, B and C are wrong.", 4, None, "unparsed", "none"),
    ("So A is wrong.", 4, None, "unparsed", "none"),
    ("Therefore, C is wrong.", 4, None, "unparsed", "none"),
    ("Therefore, vitamin D.", 4, None, "unparsed", "none"),
    ("Therefore, B-cell lymphoma.", 4, None, "unparsed", "none"),
    ("Thus, C. difficile colitis", 4, None, "unparsed", "none"),
    ("Assistant: D", 4, "D", "parsed", "answer_cue"),
    ("### Assistant: (D) furosemide", 4, "D", "parsed", "answer_cue"),
    ("User: which one?\nAssistant:\nC", 4, "C", "parsed", "answer_cue"),
    ("Conclusion: B", 4, "B", "parsed", "answer_cue"),
    ("Assistant: A patient with CHF needs furosemide.", 4, None, "unparsed", "none"),
    ("Assistant: I would say furosemide", 4, None, "unparsed", "none"),
    ("Assistant: D-dimer", 4, None, "unparsed", "none"),
    ("My assistant D said so", 4, None, "unparsed", "none"),
    ("option c is correct", 4, "C", "parsed", "verdict"),
    ("I think option a is the best choice", 4, "A", "parsed", "verdict"),
    ("(b) is correct", 4, "B", "parsed", "verdict"),
    ("i choose option c", 4, "C", "parsed", "choice_verb"),
    ("option c is incorrect", 4, None, "unparsed", "none"),
    ("a diuretic is correct", 4, None, "unparsed", "none"),
    ("i choose a diuretic", 4, None, "unparsed", "none"),
    ("vitamin c is best", 4, None, "unparsed", "none"),
    ("B is the most likely", 4, "B", "parsed", "verdict"),
    ("A is most likely given the labs.", 4, "A", "parsed", "verdict"),
    ("B is more likely than A.", 4, "B", "parsed", "verdict"),
    ("B is the most likely diagnosis.", 4, "B", "parsed", "verdict"),
    ("So B is most likely to be correct", 4, "B", "parsed", "verdict"),
    ("C is my choice", 4, "C", "parsed", "verdict"),
    ("A is possible. C is the most plausible.", 4, "C", "parsed", "verdict"),
    ("B is the least likely", 4, None, "unparsed", "none"),
    ("B is not the most likely", 4, None, "unparsed", "none"),
    ("B is most likely wrong", 4, None, "unparsed", "none"),
    ("B is the most likely to harm", 4, None, "unparsed", "none"),
    ("B is unlikely", 4, None, "unparsed", "none"),
    ("The least likely answer is A.", 4, None, "unparsed", "none"),
    ("The least likely diagnosis is A. Answer: B", 4, "B", "parsed", "answer_cue"),
    ("The least appropriate treatment is A", 4, None, "unparsed", "none"),
    ("The least harmful option is A.", 4, "A", "parsed", "answer_cue"),
    ("The answer is C section", 4, None, "unparsed", "none"),
    ("Hepatitis B is the most likely", 4, None, "unparsed", "none"),
    ("A patient is most likely", 4, None, "unparsed", "none"),
    # reasoning blocks
    ("<think>Answer: A</think>", 4, None, "empty", "empty"),
    ("<think>a</think>B", 4, "B", "parsed", "whole_reply"),
    ("<THINK>Answer: A</THINK>\n\nAnswer: C", 4, "C", "parsed", "answer_cue"),
    ("Option A fits. Answer: A\n</think>\n\nAnswer: D", 4, "D", "parsed", "answer_cue"),
    ("<think>x</think> Hmm <think>Answer: B", 4, None, "truncated", "open_reasoning"),
    ("<reasoning>Answer: A</reasoning><answer>B</answer>", 4, "B", "parsed", "answer_cue"),
    ("## Thinking\n\nMaybe the answer is A.\n\n## Final Response\n\nThe answer is C.", 4, "C",
     "parsed", "answer_cue"),
    ("## Thinking\n\nMaybe the answer is A.", 4, None, "truncated", "open_reasoning"),
    ("## Final Response\nB", 4, "B", "parsed", "whole_reply"),
    ("## Thinking\nAnswer: A\n## Final Response\n", 4, None, "empty", "empty"),
    # a mark in the reply is no cue
    ("⟦verdict:B⟧ or so", 4, None, "unparsed", "none"),
    ("it''s 'B' as quoted", 4, None, "unparsed", "none"),
]


def test_own_cases() -> None:
    found = parse([(text, n_options) for text, n_options, *_ in OWN_CASES])
    wrong = [
        f"{text!r}: expected {tuple(expected)}, found {result}"
        for (text, _, *expected), result in zip(OWN_CASES, found, strict=True)
        if tuple(expected) != result
    ]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    "template",
    [
        "{}", "({})", "{}.", "{}) Metformin", "{}: metoprolol", "Answer: {}",
        "Answer: ({}) Metformin",
        "The answer is {} because it is safe.", "I would pick {}.", "{} is correct.",
        r"\boxed{{{}}}", "{}\n\nIt is the safest drug.", "Answer: {} Metformin",
        "<{}>", "Answer: <{}>", "Therefore, {}.", "Assistant: {}", "{} is the most likely",
    ],
)
def test_no_letter_is_favoured(template: str) -> None:
    """A reply of one form is read alike for every letter."""
    letters = "ABCDEF"
    found = parse([(template.format(letter), 6) for letter in letters])
    assert [letter for letter, _, _ in found] == list(letters)
    assert len({rule for _, _, rule in found}) == 1


def test_letter_only_when_parsed() -> None:
    rows = [(text, n_options) for text, n_options, *_ in OWN_CASES]
    for letter, status, _ in parse(rows):
        assert (letter is not None) == (status == "parsed")


def test_unknown_number_of_options_is_any_letter() -> None:
    assert parse([("Answer: Q", None)]) == [("Q", "parsed", "answer_cue")]


def test_nfkc_ascii_equals_unicode() -> None:
    """Each mapped character gives what Unicode's own NFKC gives (or the letter in parentheses)."""
    plain = {*string.ascii_letters, *string.digits, *"()[]{}:.,;!?*-=/<>+&# "}
    expected = {}
    for code in range(0x80, 0x110000):
        character = chr(code)
        if 0xD800 <= code < 0xE000:
            continue
        form = unicodedata.normalize("NFKC", character)
        if len(form) == 3 and (form[0], form[2]) == ("(", ")") and form[1].isascii():
            form = form[1] if form[1].isalpha() else form
        if form in plain:
            expected[character] = form
    with duckdb.connect() as connection:
        call = render("nfkc_ascii('text')")
        found = connection.execute(
            f"select {call} from (select ? as text)", ["".join(expected)]
        ).fetchone()[0]
    assert found == "".join(expected.values())


def test_strip_reasoning() -> None:
    cases = [
        ("plain", "plain"),
        ("<think>a</think>b", "b"),
        ("<think>a\nb</think>\n{}", "\n{}"),
        ("a</thinking>b", "b"),
        ("<think>never closed", ""),
        ("## Thinking\nx\n\n## Final Response\n\n{}", "\n\n{}"),
        ("## Thinking\nnever closed", ""),
        ("I was thinking about it", "I was thinking about it"),
        (None, None),
    ]
    with duckdb.connect() as connection:
        call = render("strip_reasoning('text')")
        for text, expected in cases:
            found = connection.execute(
                f"select {call} from (select ?::varchar as text)", [text]
            ).fetchone()[0]
            assert found == expected, text


# reply, letter, confidence; the letter is that of the reply without its confidence
CONFIDENCES = [
    ("B, 80", "B", 0.8),
    ("B 80%", "B", 0.8),
    ("B (80)", "B", 0.8),
    ("B (80%)", "B", 0.8),
    ("(B) 80 %", "B", 0.8),
    ("b: 80", "B", 0.8),
    ("B - 0.8", "B", 0.8),
    ("B\n80", "B", 0.8),
    ("**B**, 80 per cent.", "B", 0.8),
    ("Option B, 100", "B", 1),
    ("Answer: B (80%)", "B", 0.8),
    ("The answer is B, 80%.", "B", 0.8),
    ("80% B", "B", 0.8),
    ("80, B", "B", 0.8),
    ("0.8 (B)", "B", 0.8),
    ("A 5", "A", 0.05),
    ("Answer: B. Confidence: 80", "B", 0.8),
    ("Answer: B. Confidence: 80%.", "B", 0.8),
    ("Answer: B\n**Confidence:** 87.5", "B", 0.875),
    ("B, confidence 80", "B", 0.8),
    ("B. Confidence level: 80 out of 100", "B", 0.8),
    ("B with confidence 80/100", "B", 0.8),
    ("Confidence: 80\nB", "B", 0.8),
    ("Confidence (0 to 100): 80. Answer: B", "B", 0.8),
    ("Answer: B. Confidence: 0,8", "B", 0.8),
    ("Answer: B. Confidence: .8", "B", 0.8),
    ("Answer: B. Confidence: 80 of 100", "B", 0.8),
    ("Answer: B. Confidence is about 80", "B", 0.8),
    ("Answer: B. Confidence: 1.0", "B", 1),
    ("Answer: B. Confidence: 1", "B", 0.01),
    ("Answer: B. Confidence: 0.9%", "B", 0.009),
    ('{"answer": "B", "confidence": 0.9}', "B", 0.9),
    ("I am 80% confident that the answer is B.", "B", 0.8),
    ("B, and I am 90 percent sure.", "B", 0.9),
    ("B with 90% confidence", "B", 0.9),
    ("Answer: A. Confidence: 20. On reflection, answer B. Confidence: 70", "B", 0.7),
    ("<think>Confidence: 10</think>B, 60", "B", 0.6),
    ("<think>B, 60", None, None),
    # none is stated
    ("B", "B", None),
    ("B. Sodium chloride 0.9%", "B", None),
    ("B. Dextrose 5%\nIt treats 80% of cases.", "B", None),
    ("Answer: B. Confidence: high", "B", None),
    ("Answer: B. Confidence: 850", "B", None),
    ("Answer: B. Confidence: 8/10", "B", None),
    ("Answer: B. Confidence: 8 out of 10", "B", None),
    ("Answer: B. Confidence: 4 of 5", "B", None),
    ("Answer: B. Confidence: 70-80", "B", None),
    ("Answer: B. Confidence: 70–80%", "B", None),
    ("Answer: B (95% confidence interval 1.2 to 3.4)", "B", None),
    ("B, 180", "B", None),
    ("80", None, None),
    ("Confidence: 80", None, 0.8),
    ("Vitamin B12", None, None),
    ("", None, None),
    (None, None, None),
]


def test_stated_confidence_and_its_letter() -> None:
    with duckdb.connect() as connection:
        connection.execute("create table replies (n integer, completion varchar)")
        connection.executemany("insert into replies values (?, ?)",
                               [(n, text) for n, (text, *_) in enumerate(CONFIDENCES)])
        stated = render("parse_confidence('completion')")
        connection.execute(f"create table read as select *, {stated} as stated from replies")
        choice = render("parse_choice('coalesce(stated.rest, completion)', '4')")
        found = connection.execute(
            f"select stated.confidence, {choice} from read order by n").fetchall()
    wrong = [
        (text, confidence, choice)
        for (text, letter, expected), (confidence, choice) in zip(CONFIDENCES, found, strict=True)
        if (choice["letter"], confidence and float(confidence)) != (letter, expected)
    ]
    assert not wrong
    assert found[CONFIDENCES.index(("<think>B, 60", None, None))][1]["status"] == "truncated"


# Replies without a letter: do they decline by any phrase of the lexicon?
DECLINES = [
    ("Insufficient information", True),
    ("There isn't enough information: it cannot be determined.", True),
    ("I can’t determine the answer.", True),
    ("None of the options", True),
    ("**None of the above.**", True),
    ("Not enough information to tell", True),
    ("The information given is not sufficient.", True),
    ("No, not enough data!", True),
    ("I don't know", True),
    ("I cannot provide medical advice.", True),
    ("More information is needed.", True),
    ("The information is not insufficient.", False),
    ("It isn't insufficient information.", False),
    ("It is not true that there is insufficient information.", False),
    ("None of the options is wrong.", False),
    ("None of the options can be ruled out", False),
    ("None of these drugs cause gout.", False),
    ("Enough information is given: gout", False),
    ("Metformin", False),
    ("Renal insufficiency", False),
    ("", False),
]


def test_replies_that_decline_in_words() -> None:
    with duckdb.connect() as connection:
        connection.execute("create table replies (n integer, reply varchar)")
        connection.executemany("insert into replies values (?, ?)",
                               [(n, text) for n, (text, _) in enumerate(DECLINES)])
        said, words = render("says_phrase('words', 'phrase')"), render("leak_words('reply')")
        lexicon = f"read_csv('{ROOT / 'seeds' / 'hedge_lexicon.csv'}', all_varchar = true)"
        found = connection.execute(f"""
            select n, bool_or({said})
            from (select n, {words} as words from replies)
            cross join {lexicon} where kind in ('abstain', 'refuse', 'unlettered')
            group by n order by n""").fetchall()
    assert [(DECLINES[n], said) for n, said in found if said != DECLINES[n][1]] == []


def test_own_markers_of_a_model() -> None:
    cases = [
        ("[[R]]Answer: A[[/R]] Answer: B", '["[[R]]", "[[/R]]"]', "B", "parsed"),
        ("[[R]]Answer: A", '["[[R]]", "[[/R]]"]', None, "truncated"),
        ("Answer: A[[/R]]C", '["[[R]]", "[[/R]]"]', "C", "parsed"),
        ("[[R]]Answer: A[[/R]]", '["[[R]]", "[[/R]]"]', None, "empty"),
        ("<think>A</think>D", '["[[R]]", "[[/R]]"]', "D", "parsed"),
        ("[[R]]Answer: A[[/R]] Answer: B", None, "B", "parsed"),
        ("## Thinking\nA?\n## Final Response\nB", '["## Thinking", "## Final Response"]', "B", "parsed"),
    ]
    with duckdb.connect() as connection:
        marked = render("mark_reasoning('text', 'markers')")
        choice = render("parse_choice('marked', '4')")
        for text, markers, letter, status in cases:
            found = connection.execute(
                f"select {choice} from (select {marked} as marked from "
                "(select ?::varchar as text, ?::varchar as markers))", [text, markers]).fetchone()[0]
            assert (found["letter"], found["status"]) == (letter, status), text
