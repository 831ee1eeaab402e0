"""Reads samples.parquet and timeline.parquet with DuckDB and with pandas, and prints what each
of them sees as one JSON object. Exits with 77 where they are not installed."""

import json
import sys

try:
    import duckdb
    import pandas
    import pyarrow  # noqa: F401  (what pandas reads Parquet with)
except ImportError as error:
    print(f"needs Python with duckdb, pandas and pyarrow: {error}")
    sys.exit(77)


def with_duckdb(samples, timeline):
    requests, resets, without_status, latency_sum, recomputed, p99 = duckdb.execute(
        """select count(*), count(*) filter (outcome = 'reset'),
                  count(*) filter (status is null), sum(latency_ns),
                  sum(done_ns - scheduled_ns), quantile_disc(latency_ns, 0.99)
           from read_parquet(?)""",
        [samples],
    ).fetchone()
    key, trace_id = duckdb.execute(
        "select key, trace_id from read_parquet(?) where serial = 17", [samples]
    ).fetchone()
    readings, value_sum = duckdb.execute(
        "select count(*), sum(value) from read_parquet(?)", [timeline]
    ).fetchone()
    return {
        "requests": requests,
        "resets": resets,
        "without_status": without_status,
        "latency_sum_ns": int(latency_sum),
        "recomputed_sum_ns": int(recomputed),
        "latency_p99_ns": p99,
        "key_17": key,
        "trace_id_17": trace_id,
        "readings": readings,
        "value_sum": value_sum,
    }


def with_pandas(samples, timeline):
    requests = pandas.read_parquet(samples)
    readings = pandas.read_parquet(timeline)
    p99 = requests["latency_ns"].quantile(0.99, interpolation="lower")
    row = requests[requests["serial"] == 17].iloc[0]
    return {
        "requests": len(requests),
        "resets": int((requests["outcome"] == "reset").sum()),
        "without_status": int(requests["status"].isna().sum()),
        "latency_sum_ns": int(requests["latency_ns"].sum()),
        "recomputed_sum_ns": int((requests["done_ns"] - requests["scheduled_ns"]).sum()),
        "latency_p99_ns": int(p99),
        "key_17": row["key"],
        "trace_id_17": row["trace_id"],
        "readings": len(readings),
        "value_sum": float(readings["value"].sum()),
    }


paths = sys.argv[1:]
print(json.dumps({"duckdb": with_duckdb(*paths), "pandas": with_pandas(*paths)}))
