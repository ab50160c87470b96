select
    model,
    mode,
    arm,
    confidence_kind,
    task,
    bin,
    n,
    n_clusters,
    mean_confidence,
    mean_confidence_low,
    mean_confidence_high,
    accuracy,
    accuracy_low,
    accuracy_high
from rpt_calibration_bins
where n > 0
order by
    mode,
    arm,
    confidence_kind,
    task,
    model,
    bin
