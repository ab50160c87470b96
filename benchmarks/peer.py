"""The same checks by this project's SQL in DuckDB and by hand-written polars, in one run.

Both read the predications from one Parquet file and count, for the same claims, what supports and
contradicts them (int_claim_counts). The results must be equal, else there is no figure. Polars
holds everything in memory: give it a size that fits. Needs the extra `bench`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import claims
import common

EDGES = ("int_predications_parsed", "int_predications_cleaned", "int_edges", "int_edge_roles")
CLAIMS = (
    "int_triple_claims",
    "int_claims",
    "int_claim_evidence_hits",
    "int_claim_predications",
    "int_claim_articles",
    "int_claim_counts",
)
# What both start from, besides the predications.
INPUTS = (
    "fct_triples",
    "brg_event_concepts",
    "stg_semmeddb__generic_concepts",
    "int_retired_cuis",
    "int_semmeddb__duplicate_rows",
    "int_kb_scope",
    "int_curated_edges",
    "int_concept_expansions",
    "predicate_map",
    "match_levels",
)
ROLES = {
    "n_supporting_pmids": ("support", None),
    "n_supporting_pmids_exact": ("support", 0),
    "n_contradicting_pmids": ("contradict", None),
    "n_hazard_pmids": ("hazard", None),
    "n_reverse_pmids": ("reverse_support", None),
}
CURATED = {
    "n_supporting_curated": ("support", "strong", None),
    "n_supporting_curated_exact": ("support", "strong", False),
    "n_undirected_curated": ("support", "undirected", None),
    "n_undirected_curated_exact": ("support", "undirected", False),
    "n_contradicting_curated": ("contradict", "strong", None),
}


def in_polars(folder: Path, predications: str):
    """int_claim_counts as a polars frame, from the Parquet files of INPUTS."""
    import polars as pl

    read = {name: pl.scan_parquet(folder / f"{name}.parquet") for name in INPUTS}

    def cui(text: pl.Expr) -> pl.Expr:
        return pl.when(text.str.contains("^C[0-9]{7}$")).then(
            text.str.slice(1).cast(pl.Int32, strict=False)
        )

    retired = read["int_retired_cuis"].select("cui_id", "replacement_cui_id")
    generic = read["stg_semmeddb__generic_concepts"].select(cui(pl.col("cui")).alias("cui_id"))
    generic = generic.drop_nulls().unique()
    doubled = read["int_semmeddb__duplicate_rows"].filter(
        pl.col("source_table") == "semmeddb.predication"
    )
    scope = read["int_kb_scope"].select("cui_id")

    kept = pl.scan_parquet(predications).filter(
        pl.all_horizontal(
            pl.col("predication_id", "sentence_id", "pmid", "predicate_name").is_not_null()
        )
        & (pl.col("subject_novelty").is_null() | (pl.col("subject_novelty") != 0))
        & (pl.col("object_novelty").is_null() | (pl.col("object_novelty") != 0))
    )
    kept = kept.select(
        "pmid",
        "source_row",
        pl.col("predicate_name").alias("named"),
        pl.col("subject_cui_id").alias("s"),
        pl.col("object_cui_id").alias("o"),
    )
    for end in ("s", "o"):
        kept = kept.join(retired, left_on=end, right_on="cui_id", how="left")
        kept = kept.with_columns(pl.coalesce("replacement_cui_id", end).alias(end))
        kept = kept.drop("replacement_cui_id")
        kept = kept.join(generic, left_on=end, right_on="cui_id", how="anti")
        kept = kept.join(scope, left_on=end, right_on="cui_id", how="semi")
    kept = kept.join(doubled, on="source_row", how="anti").filter(pl.col("s") != pl.col("o"))
    kept = kept.select("pmid", "named", "s", "o").collect().lazy()

    edges = kept.select("named", "s", "o").unique().with_columns(
        pl.lit("semmeddb").alias("kb"), pl.lit(0, pl.Int64).alias("n")
    )
    curated = read["int_curated_edges"].group_by("rela", "subject_cui_id", "object_cui_id").agg(
        pl.len().cast(pl.Int64).alias("n")
    )
    curated = curated.select(
        pl.col("rela").alias("named"),
        pl.col("subject_cui_id").alias("s"),
        pl.col("object_cui_id").alias("o"),
        pl.lit("umls").alias("kb"),
        "n",
    )
    mapped = pl.concat([edges, curated], how="vertical_relaxed").join(
        read["predicate_map"].select(
            "kb", pl.col("predicate_or_rela").alias("named"), "relation", "role", "strength",
            "direction",
        ),
        on=["kb", "named"],
    )
    same = mapped.filter(pl.col("direction").is_in(["same", "either"])).with_columns(
        pl.col("s").alias("from"), pl.col("o").alias("to")
    )
    other = mapped.filter(pl.col("direction").is_in(["reversed", "either"])).with_columns(
        pl.col("o").alias("from"), pl.col("s").alias("to")
    )
    roles = pl.concat([same, other])

    own = read["brg_event_concepts"].filter(
        pl.col("cui_id").is_not_null() & ~pl.col("mapping_level").is_in(["part", "none"])
    )
    own = own.select("event_key", "cui_id").unique()
    asked = (
        read["fct_triples"]
        .join(own, left_on="subject_event_key", right_on="event_key")
        .rename({"cui_id": "subject"})
        .join(own, left_on="object_event_key", right_on="event_key")
        .rename({"cui_id": "object"})
        .select("subject", "relation", "object")
        .unique()
    )
    wide = read["int_concept_expansions"]
    wide = wide.select("cui_id", "matched_cui_id", "level_rank", "n_steps")
    terms = (
        asked.join(wide, left_on="subject", right_on="cui_id")
        .rename({"matched_cui_id": "from", "level_rank": "level_s", "n_steps": "steps_s"})
        .join(wide, left_on="object", right_on="cui_id")
        .rename({"matched_cui_id": "to", "level_rank": "level_o", "n_steps": "steps_o"})
        .filter(
            (pl.col("steps_s") + pl.col("steps_o") <= 1) & (pl.col("from") != pl.col("to"))
        )
        .with_columns(pl.max_horizontal("level_s", "level_o").alias("level_rank"))
    )
    claim = ["subject", "relation", "object"]
    found = (
        terms.join(roles, on=["relation", "from", "to"])
        .group_by(*claim, "role", "strength", "kb", "named", "s", "o", "n")
        .agg(pl.col("level_rank").min())
        .join(read["match_levels"].select("level_rank", "is_inherited"), on="level_rank")
        .filter((pl.col("role") == "support") | ~pl.col("is_inherited"))
        .collect()
        .lazy()
    )
    articles = (
        found.filter((pl.col("kb") == "semmeddb") & (pl.col("strength") == "strong"))
        .join(kept, on=["named", "s", "o"])
        .group_by(*claim, "role", "pmid")
        .agg(pl.col("is_inherited").min().cast(pl.Int32).alias("inherited"))
    )

    def n_articles(role: str, inherited: int | None) -> pl.Expr:
        counted = pl.col("role") == role
        if inherited is not None:
            counted = counted & (pl.col("inherited") == inherited)
        return counted.sum().cast(pl.Int32)

    def n_curated(role: str, strength: str, inherited: bool | None) -> pl.Expr:
        counted = (pl.col("role") == role) & (pl.col("strength") == strength)
        if inherited is not None:
            counted = counted & (pl.col("is_inherited") == inherited)
        return pl.when(counted).then(pl.col("n")).otherwise(0).sum().cast(pl.Int32)

    article_counts = articles.group_by(claim).agg(
        **{name: n_articles(*what) for name, what in ROLES.items()}
    )
    curated_counts = found.filter(pl.col("kb") == "umls").group_by(claim).agg(
        **{name: n_curated(*what) for name, what in CURATED.items()}
    )
    counts = asked.join(article_counts, on=claim, how="left")
    counts = counts.join(curated_counts, on=claim, how="left")
    return counts.with_columns(pl.col(*ROLES, *CURATED).fill_null(0)).collect()


def equal(connection, found) -> bool:
    """Whether polars counted what the models counted, row by row."""
    connection.register("peer", found.to_arrow())
    columns = ", ".join((*ROLES, *CURATED))
    ours = f"""
        select claims.subject_cui_id, claims.relation, claims.object_cui_id, {columns}
        from int_claim_counts as counts
        inner join int_claims as claims on counts.claim_key = claims.claim_key
    """
    theirs = f"select subject, relation, object, {columns} from peer"
    differing = connection.execute(
        f"""
        select count(*) from (
            (({ours}) except all ({theirs})) union all (({theirs}) except all ({ours}))
        )
        """
    ).fetchall()
    connection.unregister("peer")
    return differing == [(0,)]


def main(arguments: list[str] | None = None) -> None:
    parser = common.parser(__doc__, share=0.01)
    parser.add_argument("--claims", type=int, default=100_000, help="distinct claims (%(default)s)")
    asked = parser.parse_args(arguments)
    # Both have the same cores; polars reads this when it is imported.
    os.environ["POLARS_MAX_THREADS"] = str(asked.threads)
    try:
        import polars
    except ImportError:
        sys.exit("error: polars is not here: pip install -e '.[bench]' (make bench does)")
    report = common.Report("peer", asked)
    report.notes["polars"] = polars.__version__
    with common.work_folder(asked) as folder:
        project = common.Project.of(asked, folder / "b.duckdb", common.raw_files(asked, folder))
        common.say("building once, up to the checks")
        nodes = [n for n in claims.build(project) if n.name in (*EDGES, *CLAIMS)]
        ours: list[common.Spent] = []
        theirs: list[common.Spent] = []
        with project.connect() as connection:
            common.say(f"{claims.make_triples(connection, asked.claims)} claims")
            file = claims.as_parquet(connection, folder)
            for name in INPUTS:
                target = folder / f"{name}.parquet"
                connection.execute(f"copy {name} to '{target}' (format parquet)")
            for number in range(asked.repeats):
                common.say(f"run {number + 1} of {asked.repeats}")
                ours.append(common.total(common.make(connection, nodes)))
                found = []
                theirs.append(common.spent(lambda: found.append(in_polars(folder, file))))
                if not equal(connection, found[0]):
                    sys.exit("error: polars and the models count differently")
            report.notes["claims"] = common.rows(connection, "int_claims")
            report.notes["predications"] = common.rows(connection, "stg_semmeddb__predications")
            report.notes["supported"] = connection.execute(
                "select count(*) from int_claim_counts where n_supporting_pmids > 0"
            ).fetchone()[0]
    pairs = list(zip(ours, theirs, strict=True))
    report.add("wall: models / polars", (a.wall / b.wall for a, b in pairs))
    report.add("CPU: models / polars", (a.cpu / b.cpu for a, b in pairs))
    report.add("models", (one.wall for one in ours), "s")
    report.add("polars", (one.wall for one in theirs), "s")
    common.say("equal results")
    report.close()


if __name__ == "__main__":
    main()
