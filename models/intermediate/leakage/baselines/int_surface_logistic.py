"""One row per released template × option with the score of baseline B11, in millionths.

A logistic regression, one per task, on how an option looks and how common it is, less the mean of
its template. Each template is scored by a fit on the other half (split_half of
int_surface_templates); not on smaller folds, since answers and distractors are balanced within each
half, so what wins in a part of one loses in its rest, by arithmetic. For the same reason popularity
stays with B4. Scores are rounded: equal rows give equal ones at any thread count.
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression


def features(options):
    """Table of n × 9: logarithms, counts, and the squares of what may be best in the middle."""
    logs = np.log1p(options[["n_characters", "n_visits", "n_statements"]].astype(float))
    counts = options[["n_words", "n_marks", "n_digits"]].astype(float)
    return pd.concat([logs, counts, (logs**2).add_suffix("_squared")], axis=1)


def cross_fitted(options):
    """Scores of one task's options (n); zero where the other half has no template."""
    values = features(options)
    values = values - values.groupby(options["template_key"]).transform("mean")
    values = (values / values.std(ddof=0).where(lambda spread: spread > 1e-9, 1.0)).to_numpy()
    is_gold = options["is_gold"].to_numpy(bool)
    halves = options["split_half"].to_numpy()
    scores = np.zeros(len(options))
    for half in np.unique(halves):
        train, held_out = halves != half, halves == half
        if train.any():
            fit = LogisticRegression(solver="newton-cholesky").fit(values[train], is_gold[train])
            scores[held_out] = fit.decision_function(values[held_out])
    return scores


def model(dbt, session):
    """Score every option of int_surface_options."""
    dbt.config(materialized="table")
    options = dbt.ref("int_surface_options").order("task, template_key, rank").df()
    scores = np.zeros(len(options))
    for task in options["task"].unique():
        rows = (options["task"] == task).to_numpy()
        scores[rows] = cross_fitted(options[rows])
    return pd.DataFrame(
        {
            "template_key": options["template_key"].astype(str),
            "rank": options["rank"].astype("int32"),
            "score": np.round(scores * 1_000_000).astype("int64"),
        }
    )
