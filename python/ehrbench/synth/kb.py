"""The synthetic knowledge base in UMLS and SemMedDB file layouts.

Everything is made from the catalogue and a seed, never from patients. PMIDs lie between 90,000,000
and 99,999,999, where PubMed has none; every sentence starts with "Synthetic:".
"""

from __future__ import annotations

from pathlib import Path

from ehrbench.synth import codes
from ehrbench.synth.catalogue import SEMANTIC_TYPES, Catalogue, split
from ehrbench.synth.facts import Statement, digest, generator
from ehrbench.synth.files import NULL, dump_row, gzip_text, write_lines
from ehrbench.synth.references import substances, write_atc, write_drugbank, write_pubmed

FIRST_PMID = 90_000_001
LAST_PMID = 99_999_999
RETIRED_KEY = "cdiff"
RETIRED_CUI, RETIRED_EARLIER = "C9999001", "C9999002"  # the earlier one was replaced by the other
GENERIC_KEYS = ("patients", "disease", "therapy", "pharma")
TIMESTAMP = "2024-01-01 00:00:00"

TEMPLATES = {
    "TREATS": (
        "{s} improved the outcome of {o}.",
        "Patients with {o} were given {s}.",
        "We studied {s} for {o}.",
        "In {o}, {s} was effective.",
    ),
    "COEXISTS_WITH": (
        "{s} is often seen together with {o}.",
        "Many patients had both {s} and {o}.",
        "{o} was common among those with {s}.",
    ),
    "CAUSES": ("{s} led to {o}.", "{o} was brought about by {s}.", "{s} can result in {o}."),
    "PREDISPOSES": ("{s} raises the risk of {o}.", "{s} was a risk factor for {o}."),
    "PRECEDES": ("{s} came before {o}.", "{o} followed {s} within a year."),
    "COMPLICATES": ("{s} complicated {o}.", "{o} was complicated by {s}."),
    "MANIFESTATION_OF": ("{s} was a sign of {o}.", "{s} is a manifestation of {o}."),
    "PREVENTS": ("{s} prevented {o}.", "Fewer cases of {o} were seen with {s}."),
    "ISA": ("{s} is a kind of {o}.",),
    "compared_with": ("{s} was compared with {o}.",),
}
PLAIN_TEMPLATES = ("{s} was examined in relation to {o}.", "{s} and {o} were reported.")
NEGATED_TEMPLATES = {
    "TREATS": ("{s} did not improve {o}.", "{s} was no better than placebo in {o}."),
}
PLAIN_NEGATED = ("No relation between {s} and {o} was found.", "{s} was not linked to {o}.")

MRSAB = (
    ("MTH", "UMLS Metathesaurus names"),
    ("RXNORM", "RxNorm names"),
    ("ICD10CM", "ICD-10-CM titles"),
    ("ICD9CM", "ICD-9-CM titles"),
    ("MED-RT", "MED-RT relations"),
    ("SNOMEDCT_US", "SNOMED CT names"),
    ("DRUGBANK", "DrugBank names"),
    ("MSHSPA", "Spanish names"),
)

# Precedence of preferred names, best first.
NAME_RANKS = (
    ("MTH", "PN"),
    ("RXNORM", "MIN"),
    ("RXNORM", "IN"),
    ("RXNORM", "PIN"),
    ("SNOMEDCT_US", "PT"),
    ("DRUGBANK", "IN"),
    ("ICD10CM", "PT"),
    ("ICD10CM", "HT"),
    ("ICD9CM", "PT"),
    ("ICD9CM", "HT"),
    ("RXNORM", "SY"),
    ("MTH", "SY"),
    ("MSHSPA", "SY"),
)


def _atoms(catalogue: Catalogue) -> list[tuple]:
    """Atoms (cui, sab, tty, code, text, language, suppress), unsorted."""
    rows = []
    for concept in catalogue.concepts.values():
        rows.append((concept.cui, "MTH", "PN", "NOCODE", concept.name, "ENG", "N"))
        if concept.kind != "drug":
            for text in concept.synonyms:
                rows.append((concept.cui, "MTH", "SY", "NOCODE", text, "ENG", "N"))
    for row in catalogue.drugs.values():
        cui, code = row["cui"], row["rxcui"]
        rows.append((cui, "RXNORM", row["tty"], code, row["name"], "ENG", "N"))
        for text in split(row["synonyms"]):
            rows.append((cui, "RXNORM", "SY", code, text, "ENG", "N"))
    for table, tty in (("drug_forms", "PIN"), ("drug_parts", "IN")):
        for row in catalogue.tables[table]:
            rows.append((row["cui"], "RXNORM", tty, row["rxcui"], row["name"], "ENG", "N"))
            rows.append((row["cui"], "MTH", "PN", "NOCODE", row["name"], "ENG", "N"))
    for row in codes.diagnosis_codes(catalogue):
        cuis = (row["cui"],) if row["level"] == "exact" else row.get("cuis", ())
        for cui in cuis:
            rows.append((cui, row["code_system"], "PT", row["code"], row["title"], "ENG", "N"))
    for table in ("diagnoses", "procedures"):
        for row in catalogue.tables[table]:
            code = codes.snomed(row["cui"])
            rows.append((row["cui"], "SNOMEDCT_US", "PT", code, row["name"], "ENG", "N"))
    for drug in substances(catalogue):
        name, code = drug["name"], drug["drugbank_id"]
        rows.append((drug["cui"], "DRUGBANK", "IN", code, name.capitalize(), "ENG", "N"))
    for row in catalogue.tables["icd_parents"]:
        if row["concept"]:
            cui = catalogue.concepts[row["concept"]].cui
            rows.append((cui, row["code_system"], "HT", row["code"], row["title"], "ENG", "N"))
    known = {row[0] for row in rows if row[1] == "MTH"}
    for row in catalogue.tables["extra_codes"]:
        for cui in split(row["cuis"]):
            if cui not in known:
                rows.append((cui, "MTH", "PN", "NOCODE", row["title10"], "ENG", "N"))
    # Traps: a suppressed atom of a code without a concept, and names in another language.
    concepts = catalogue.concepts
    rows.append((concepts["fever"].cui, "ICD10CM", "PT", "R68.89", "Malaise", "ENG", "O"))
    rows.append((concepts["aspirin"].cui, "RXNORM", "SY", "1191", "docusate sodium", "ENG", "O"))
    rows.append((concepts["htn"].cui, "MSHSPA", "SY", "D006973", "Hipertensión", "SPA", "N"))
    rows.append((concepts["pna"].cui, "MSHSPA", "SY", "D011014", "Neumonía", "SPA", "N"))
    rows.append(("C0025281", "MTH", "PN", "NOCODE", "Ménière disease", "ENG", "N"))
    return sorted(set(rows), key=lambda r: (r[0], r[1] != "MTH" or r[2] != "PN", r))


def _write_umls(catalogue: Catalogue, rows: list[Statement], folder: Path) -> dict[str, int]:
    counts = {}
    lines, first_atom, last = [], {}, None
    atoms = _atoms(catalogue)
    for number, (cui, sab, tty, code, text, language, suppress) in enumerate(atoms, start=1):
        first = cui != last
        last = cui
        atom = f"A{90_000_000 + number}"
        first_atom.setdefault(cui, atom)
        lines.append(
            f"{cui}|{language}|{'P' if first else 'S'}|L{90_000_000 + number}|PF"
            f"|S{90_000_000 + number}|{'Y' if first else 'N'}|{atom}||||{sab}|{tty}|{code}|{text}"
            f"|0|{suppress}||"
        )
    counts["MRCONSO.RRF"] = write_lines(folder / "MRCONSO.RRF", lines)

    types = {}
    for concept in catalogue.concepts.values():
        types[concept.cui] = concept.tuis
    for table in ("drug_forms", "drug_parts"):
        for row in catalogue.tables[table]:
            types[row["cui"]] = ("T109", "T121")
    types["C0025281"] = ("T047",)
    for row in catalogue.tables["extra_codes"]:
        for cui in split(row["cuis"]):
            types.setdefault(cui, ("T047",))
    lines = []
    for cui in sorted(types):
        for tui in types[cui]:
            _, name, tree = SEMANTIC_TYPES[tui]
            lines.append(f"{cui}|{tui}|{tree}|{name}|AT{80_000_001 + len(lines)}|256|")
    counts["MRSTY.RRF"] = write_lines(folder / "MRSTY.RRF", lines)

    lines = []
    for row in catalogue.tables["definitions"]:
        cui = catalogue.concepts[row["concept"]].cui
        lines.append(
            f"{cui}|{first_atom[cui]}|AT{70_000_001 + len(lines)}||MTH|{row['definition']}|N||"
        )
    counts["MRDEF.RRF"] = write_lines(folder / "MRDEF.RRF", sorted(lines))

    relations: list[tuple] = []  # (cui1, rel, cui2, rela, sab): reads "cui2 rela cui1"
    concepts = catalogue.concepts

    def both(cui1: str, rel: str, cui2: str, rela: str, back: str, sab: str) -> None:
        turned = {"PAR": "CHD", "CHD": "PAR"}.get(rel, rel)
        relations.append((cui1, rel, cui2, rela, sab))
        relations.append((cui2, turned, cui1, back, sab))

    for row in catalogue.tables["hierarchy"]:
        child, parent = concepts[row["child"]].cui, concepts[row["parent"]].cui
        icd = row["source"] == "ICD10CM"
        names = ("", "") if icd else ("isa", "inverse_isa")
        both(parent, "CHD", child, *names, row["source"])
    for row in catalogue.tables["drug_forms"]:
        both(concepts[row["drug"]].cui, "RO", row["cui"], "form_of", "has_form", "RXNORM")
    for row in catalogue.tables["drug_parts"]:
        both(row["cui"], "RO", concepts[row["drug"]].cui, "has_part", "part_of", "RXNORM")
    back_names = {
        "may_treat": "may_be_treated_by",
        "may_prevent": "may_be_prevented_by",
        "induces": "induced_by",
        "contraindicated_with_disease": "has_contraindicated_drug",
    }
    for row in rows:
        if row.kb == "umls":
            drug, disease = concepts[row.subject].cui, concepts[row.object].cui
            both(disease, "RO", drug, row.predicate, back_names[row.predicate], "MED-RT")
    lines = []
    for cui1, rel, cui2, rela, sab in sorted(set(relations)):
        lines.append(
            f"{cui1}|{first_atom[cui1]}|AUI|{rel}|{cui2}|{first_atom[cui2]}|AUI|{rela}"
            f"|R{90_000_001 + len(lines)}||{sab}|{sab}||Y|N||"
        )
    counts["MRREL.RRF"] = write_lines(folder / "MRREL.RRF", lines)

    # A chain of two replacements; a deleted concept and one with a broader one only have none.
    retired = [
        f"{RETIRED_CUI}|2020AA|SY|||{concepts[RETIRED_KEY].cui}|Y|",
        f"{RETIRED_EARLIER}|2016AB|SY|||{RETIRED_CUI}|Y|",
        "C9999003|2018AA|DEL|||||",
        f"C9999004|2019AB|RB|||{concepts['infect'].cui}|Y|",
    ]
    counts["MRCUI.RRF"] = write_lines(folder / "MRCUI.RRF", retired)

    lines = []
    for row in sorted(catalogue.drugs.values(), key=lambda r: r["cui"]):
        lines.append(
            f"{row['cui']}|||{first_atom[row['cui']]}|AUI||AT{60_000_001 + len(lines)}||NDC|RXNORM"
            f"|{row['ndc']}|N||"
        )
    counts["MRSAT.RRF"] = write_lines(folder / "MRSAT.RRF", lines)

    ranks = [f"{900 - place:04d}|{sab}|{tty}|N|" for place, (sab, tty) in enumerate(NAME_RANKS)]
    counts["MRRANK.RRF"] = write_lines(folder / "MRRANK.RRF", ranks)

    lines = []
    for sab, name in MRSAB:
        number = sum(1 for atom in atoms if atom[1] == sab)
        language = "SPA" if sab.endswith("SPA") else "ENG"
        lines.append(
            f"||{sab}_SYNTHETIC|{sab}|{name}, synthetic extract||2024|||||||0|{number}|{number}"
            f"||||{language}|UTF-8|Y|Y|{name}, synthetic extract|Synthetic data|"
        )
    counts["MRSAB.RRF"] = write_lines(folder / "MRSAB.RRF", lines)
    return counts


def _spread(catalogue: Catalogue, rows: list[Statement], seed: int) -> list[tuple]:
    """Predications (pmid, statement, number within it) in the order of the dump.

    PMIDs are drawn without replacement within a statement; one PMID may serve several statements.
    """
    semmed = [row for row in rows if row.kb == "semmeddb"]
    total = sum(row.n_pmids for row in semmed)
    pool = max(500, int(total * 0.7))
    if FIRST_PMID + pool > LAST_PMID:
        raise ValueError("the knowledge base needs more PMIDs than the synthetic range holds")
    found = []
    for row in semmed:
        rng = generator(seed, "pmids of", row.subject, row.predicate, row.negated, row.object)
        for number, offset in enumerate(sorted(rng.sample(range(pool), row.n_pmids))):
            found.append((FIRST_PMID + offset, row, number))
    return sorted(
        found,
        key=lambda r: (r[0], digest(seed, r[0], r[1].subject, r[1].predicate, r[1].object)),
    )


def _sentence(catalogue: Catalogue, row: Statement, rng) -> str:
    names = {"s": catalogue.concepts[row.subject].name, "o": catalogue.concepts[row.object].name}
    if row.negated:
        choices = NEGATED_TEMPLATES.get(row.predicate, PLAIN_NEGATED)
    else:
        choices = TEMPLATES.get(row.predicate, PLAIN_TEMPLATES)
    return "Synthetic: " + rng.choice(choices).format(**names)


def _write_semmeddb(
    catalogue: Catalogue, rows: list[Statement], seed: int, folder: Path, pubmed: Path
) -> tuple[dict[str, int], dict[str, int]]:
    concepts = catalogue.concepts
    generic = {concepts[key].cui for key in GENERIC_KEYS}
    retired = concepts[RETIRED_KEY].cui

    def cui_of(key: str, row: Statement) -> str:
        # Half of the statements about one concept still carry a retired CUI, all rows of each.
        draw = digest(seed, row.subject, row.object) % 4
        if concepts[key].cui == retired and draw % 2 == 0:
            return RETIRED_EARLIER if draw == 2 else RETIRED_CUI
        return concepts[key].cui

    stem = folder / "semmedVER43_2024_R_"
    counts = {}
    pmids: dict[int, str] = {}
    with (
        gzip_text(Path(f"{stem}PREDICATION.csv.gz"), "latin-1") as predications,
        gzip_text(Path(f"{stem}PREDICATION_AUX.csv.gz"), "latin-1") as aux,
        gzip_text(Path(f"{stem}SENTENCE.csv.gz"), "utf-8") as sentences,
    ):
        number = aux_number = 0
        for pmid, row, place in _spread(catalogue, rows, seed):
            number += 1
            rng = generator(seed, "row", pmid, row.subject, row.predicate, row.negated, row.object)
            subject, obj = concepts[row.subject], concepts[row.object]
            predicate = ("NEG_" if row.negated else "") + row.predicate
            text = _sentence(catalogue, row, rng)
            pmids.setdefault(pmid, f"Synthetic: a study of {subject.name} and {obj.name}.")
            start = rng.randrange(15, 1500)
            section = rng.choice(("", "", "RESULTS", "CONCLUSIONS"))
            kind, place_in = ("ti", 1) if rng.random() < 0.2 else ("ab", rng.randrange(1, 12))
            sentences.write(
                dump_row(
                    [
                        number,
                        str(pmid),
                        kind,
                        place_in,
                        start,
                        text,
                        start + len(text),
                        section if kind == "ab" else "",
                        section if kind == "ab" else "",
                    ]
                )
            )
            ends = []
            for key, concept in ((row.subject, subject), (row.object, obj)):
                cui = cui_of(key, row)
                ends += [cui, concept.name, concept.semtype, int(cui not in generic)]
            predications.write(
                dump_row([number, number, str(pmid), predicate, *ends, NULL, NULL, NULL])
            )
            if rng.random() < 0.95:
                aux_number += 1
                at = [start + max(0, text.find(name)) for name in (subject.name, obj.name)]
                aux.write(
                    dump_row(
                        [
                            aux_number,
                            number,
                            subject.name,
                            1,
                            2,
                            at[0],
                            at[0] + len(subject.name),
                            rng.choice((1000, 888, 861)),
                            rng.choice(("VERB", "VERB", "PREP", "NOM", "MOD/HEAD", "INFER")),
                            start + 11,
                            start + len(text),
                            obj.name,
                            1,
                            2,
                            at[1],
                            at[1] + len(obj.name),
                            rng.choice((1000, 888, 861)),
                            TIMESTAMP,
                        ]
                    )
                )
        # Oddities of the real dump: piped gene ids, escapes, a latin-1 name, shifted fields.
        aspirin, asthma = concepts["aspirin"], concepts["asthma"]
        odd = [
            ("INHIBITS", aspirin.cui, aspirin.name, "phsu", "C1414968|2597", "GAPDH gene|GAPDH"),
            ("INTERACTS_WITH", "C0757738||1003", "AAA1|None|AAA1", "gngm", "C0033684", "Proteins"),
            ("TREATS", "C0000001", 'Therapeutic "mix" \\ X', "topp", asthma.cui, asthma.name),
            ("COEXISTS_WITH", "C0025281", "Ménière Disease", "dsyn", "C0040264", "Tinnitus"),
            ("ISA", "C0010346", "Crohn's disease", "dsyn", "C0021390", "bowel diseases,"),
            ("TREATS", aspirin.cui, aspirin.name, "phsu", "1|medd", "1"),
            ("PROCESS_OF", "C0012634", "Disease", "dsyn", "235|Patients", "Patients"),
            ("CAUSES", "2597", "GAPDH", "gngm", "C0012634", "Disease"),
        ]
        for predicate, cui1, name1, semtype1, cui2, name2 in odd:
            number += 1
            pmid = FIRST_PMID + number
            pmids.setdefault(pmid, f"Synthetic: notes on {name1}.")
            text = f"Synthetic: {name1} and {name2} were reported."
            sentences.write(
                dump_row([number, str(pmid), "ab", 1, 20, text, 20 + len(text), "", ""])
            )
            predications.write(
                dump_row(
                    [number, number, str(pmid), predicate, cui1, name1, semtype1, 1]
                    + [cui2, name2, "dsyn", int(cui2 not in generic), NULL, NULL, NULL]
                )
            )
        counts["PREDICATION"] = counts["SENTENCE"] = number
        counts["PREDICATION_AUX"] = aux_number
    years = {pmid: 1985 + digest(seed, "year", pmid) % 39 for pmid in pmids}
    with gzip_text(Path(f"{stem}CITATIONS.csv.gz"), "latin-1") as citations:
        for pmid in sorted(pmids):
            year = years[pmid]
            known = digest(seed, "known", pmid) % 50
            values = ["0000-0000", f"{year} Jun", f"{year}-06-01", year] if known else [NULL] * 4
            citations.write(dump_row([str(pmid), *values]))
    counts["CITATIONS"] = len(pmids)
    with gzip_text(Path(f"{stem}GENERIC_CONCEPT.csv.gz"), "utf-8") as out:
        for number, key in enumerate(GENERIC_KEYS, start=1):
            out.write(dump_row([number, concepts[key].cui, concepts[key].name]))
    counts["GENERIC_CONCEPT"] = len(GENERIC_KEYS)
    # The baseline files lack some of the articles that the dump cites.
    titles = {p: title for p, title in pmids.items() if digest(seed, "title", p) % 20}
    return counts, write_pubmed(titles, years, pubmed)


def write(catalogue: Catalogue, rows: list[Statement], seed: int, raw: Path) -> dict[str, int]:
    """Write umls/META, semmeddb, icd, drugbank, atc and pubmed; return row counts by path."""
    counts = {}
    semmeddb, pubmed = _write_semmeddb(catalogue, rows, seed, raw / "semmeddb", raw / "pubmed")
    parts = {
        "umls/META": _write_umls(catalogue, rows, raw / "umls" / "META"),
        "semmeddb": semmeddb,
        "pubmed": pubmed,
        "icd": codes.write_icd(catalogue, raw / "icd"),
        "drugbank": write_drugbank(catalogue, raw / "drugbank"),
        "atc": write_atc(catalogue, raw / "atc"),
    }
    for folder, found in parts.items():
        for name, count in found.items():
            counts[f"{folder}/{name}"] = count
    return counts
