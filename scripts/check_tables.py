"""Reads exported tables with pandas, polars and DuckDB, and compares what the three find with the schema and each other.

    python scripts/check_tables.py DIR
"""

import json
import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

EXACT = Decimal("1E-18")

# The types of a column, by the name in schema.json.
ARROW = {
    "VARCHAR": pyarrow.string(),
    "BIGINT": pyarrow.int64(),
    "DOUBLE": pyarrow.float64(),
    "BOOLEAN": pyarrow.bool_(),
    "DECIMAL(38,18)": pyarrow.decimal128(38, 18),
    "DATE": pyarrow.date32(),
    "TIMESTAMP(UTC)": pyarrow.timestamp("us", tz="UTC"),
}
POLARS = {
    "VARCHAR": polars.String,
    # polars does not know the logical type and reads bytes; they cast to text.
    "JSON": polars.Binary,
    "BIGINT": polars.Int64,
    "DOUBLE": polars.Float64,
    "BOOLEAN": polars.Boolean,
    "DECIMAL(38,18)": polars.Decimal(38, 18),
    "DATE": polars.Date,
    "TIMESTAMP(UTC)": polars.Datetime("us", "UTC"),
}
DUCKDB = {
    "VARCHAR": "VARCHAR",
    "JSON": "JSON",
    "BIGINT": "BIGINT",
    "DOUBLE": "DOUBLE",
    "BOOLEAN": "BOOLEAN",
    "DECIMAL(38,18)": "DECIMAL(38,18)",
    "DATE": "DATE",
    "TIMESTAMP(UTC)": "TIMESTAMP WITH TIME ZONE",
}


class Failed(Exception):
    pass


def same(what, **found):
    values = list(found.values())
    if any(value != values[0] for value in values[1:]):
        raise Failed(f"{what}: {found}")
    return values[0]


def exact(value):
    return None if value is None else Decimal(value).quantize(EXACT)


def check(directory, table):
    """Compares one table, and returns its number of rows."""
    name, path = table["name"], str(directory / table["file"])
    arrow = pyarrow.parquet.read_table(path)
    frame = pandas.read_parquet(path)
    lazy = polars.read_parquet(path)
    duck = duckdb.connect()
    duck.execute("SET TimeZone = 'UTC'")
    duck.execute(f"CREATE VIEW source AS SELECT * FROM read_parquet('{path}')")
    described = duck.execute("DESCRIBE source").fetchall()

    def source(expression):
        return duck.execute(f"SELECT {expression} FROM source").fetchone()

    columns = [column["name"] for column in table["columns"]]
    same(f"{name}: columns", schema=columns, pandas=list(frame.columns), polars=lazy.columns, duckdb=[row[0] for row in described])
    rows = same(
        f"{name}: rows",
        pandas=len(frame),
        polars=lazy.height,
        duckdb=source("count(*)")[0],
    )
    for column, duck_type in zip(table["columns"], [row[1] for row in described], strict=True):
        check_column(f"{name}.{column['name']}", column, arrow, frame, lazy, source, str(duck_type))
    return rows


def check_column(what, column, arrow, frame, lazy, source, duck_type):
    name, kind = column["name"], column["type"]
    if kind in ARROW:
        same(f"{what}: type in pyarrow", schema=ARROW[kind], found=arrow.schema.field(name).type)
    same(f"{what}: nullable", schema=column["nullable"], found=arrow.schema.field(name).nullable)
    same(f"{what}: type in polars", schema=POLARS[kind], found=lazy.schema[name])
    same(f"{what}: type in DuckDB", schema=DUCKDB[kind], found=duck_type)
    quoted = f'"{name}"'
    nulls = same(
        f"{what}: nulls",
        pandas=int(frame[name].isna().sum()),
        polars=lazy[name].null_count(),
        duckdb=source(f"count(*) - count({quoted})")[0],
    )
    if not column["nullable"] and nulls:
        raise Failed(f"{what}: {nulls} nulls in a column that has none")
    values = frame[name].dropna()
    if kind == "DECIMAL(38,18)" and len(values):
        same(
            f"{what}: sum",
            pandas=exact(sum(values, Decimal(0))),
            polars=exact(lazy[name].sum()),
            duckdb=exact(source(f"sum({quoted})")[0]),
        )
    elif kind == "BIGINT" and len(values):
        same(
            f"{what}: sum",
            pandas=int(sum(int(value) for value in values)),
            polars=lazy[name].sum(),
            duckdb=int(source(f"sum({quoted})")[0]),
        )
    elif kind in ("DATE", "TIMESTAMP(UTC)") and len(values):
        for of in ("min", "max"):
            found = source(f"{of}({quoted})::VARCHAR")[0]
            # DuckDB writes an offset and no trailing zeros: compare as instants.
            same(
                f"{what}: {of}",
                pandas=pandas.Timestamp(getattr(values, of)()).tz_localize(None) if kind == "DATE" else pandas.Timestamp(getattr(values, of)()),
                polars=pandas.Timestamp(getattr(lazy[name], of)()),
                duckdb=pandas.Timestamp(found),
            )
    elif kind in ("VARCHAR", "JSON") and len(values):
        same(
            f"{what}: characters",
            pandas=int(values.astype(str).str.len().sum()),
            polars=int(lazy[name].cast(polars.String).str.len_chars().sum()),
            duckdb=int(source(f"sum(length({quoted}::VARCHAR))")[0]),
        )
        if kind == "JSON":
            values.map(json.loads)
    elif kind == "BOOLEAN" and len(values):
        same(
            f"{what}: true",
            pandas=int(values.astype(bool).sum()),
            polars=int(lazy[name].sum()),
            duckdb=int(source(f"count(*) FILTER ({quoted})")[0]),
        )
    elif kind == "DOUBLE" and len(values):
        same(
            f"{what}: extremes",
            pandas=(values.min(), values.max()),
            polars=(lazy[name].min(), lazy[name].max()),
            duckdb=source(f"min({quoted}), max({quoted})"),
        )


def main():
    directory = Path(sys.argv[1])
    schema = json.loads((directory / "schema.json").read_text())
    print(f"pandas {pandas.__version__}, polars {polars.__version__}, DuckDB {duckdb.__version__}")
    for table in schema["tables"]:
        print(f"{table['name']:<10} {check(directory, table):>8} rows")
    # What the tables are for: one query over two of them.
    query = f"""
        SELECT count(*) FROM '{directory}/fills.parquet' f JOIN '{directory}/sessions.parquet' s
        USING (job_id, date, agent, session_id) WHERE s.is_full_research IS NOT NULL
    """
    joined = duckdb.connect().execute(query).fetchone()[0]
    fills = pandas.read_parquet(directory / "fills.parquet")
    same("fills with their session", duckdb=joined, pandas=len(fills))
    if not len(fills):
        raise Failed("there are no fills, so little was compared")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(f"the tables differ: {failed}")
