//! Exported tables: the same rows as the API, typed, in files that appear together or not at all.

use crate::api_support::{DAYS, MODELS, World, week};
use crate::cli_tool::{SHORT, Tool};
use papertape_core::id::JobId;
use papertape_core::review::ReviewChanges;
use papertape_service::reviews::change_review;
use papertape_service::tables::{ColumnType, TABLES, TableSelection, TablesReport, export_tables};
use parquet::basic::{Compression, LogicalType, Repetition};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::path::Path;

type Row = Map<String, Value>;

fn reader(dir: &Path, table: &str) -> SerializedFileReader<File> {
    let file = File::open(dir.join(format!("{table}.parquet"))).expect("the table is there");
    SerializedFileReader::new(file).expect("it is Parquet")
}

/// The rows of a table. Decimals are their shortest exact text, dates and instants as in the API.
fn rows(dir: &Path, table: &str) -> Vec<Row> {
    let reader = reader(dir, table);
    let rows = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row"));
    rows.map(|row| row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect())
        .collect()
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => json!(value),
        Field::Long(number) => json!(number),
        Field::Double(number) => json!(number),
        Field::Str(text) => json!(text),
        Field::Decimal(number) => {
            let whole = number
                .data()
                .iter()
                .skip(1)
                .fold(i128::from(number.data()[0].cast_signed()), |whole, byte| {
                    whole * 256 + i128::from(*byte)
                });
            json!(
                Decimal::from_i128_with_scale(whole, number.scale().cast_unsigned()).normalize().to_string()
            )
        }
        Field::Date(days) => {
            let day = jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(*days));
            json!(day.expect("a day").to_string())
        }
        Field::TimestampMicros(micros) => {
            json!(jiff::Timestamp::from_microsecond(*micros).expect("an instant").to_string())
        }
        other => panic!("{other:?} has no place in a table"),
    }
}

/// A number of the API, as its shortest exact text.
fn exact(number: &Value) -> Value {
    match number {
        Value::Null => Value::Null,
        number => {
            let text = number.to_string();
            let decimal: Decimal = text
                .parse()
                .or_else(|_| Decimal::from_scientific(&text))
                .unwrap_or_else(|_| panic!("{text}"));
            json!(decimal.normalize().to_string())
        }
    }
}

/// Compares columns of a row with fields of an API response; decimals by value.
#[track_caller]
fn same(row: &Row, response: &Value, fields: &[(&str, &str)]) {
    for (column, field) in fields {
        let (found, expected) = (&row[*column], &response[*field]);
        let is_decimal = TABLES.iter().any(|table| {
            table.columns.iter().any(|known| known.name == *column && known.kind == ColumnType::Decimal)
        });
        match is_decimal {
            true => assert_eq!(*found, exact(expected), "{column}: {row:?}"),
            false => assert_eq!(found, expected, "{column}: {row:?}"),
        }
    }
}

fn of_session<'a>(rows: &'a [Row], session: &Value) -> Vec<&'a Row> {
    rows.iter().filter(|row| row["session_id"] == *session).collect()
}

async fn export(world: &World, selection: TableSelection) -> (tempfile::TempDir, TablesReport) {
    let dir = tempfile::tempdir().expect("a directory");
    let report = export_tables(&world.app, &selection, dir.path(), false).await.expect("it is exported");
    (dir, report)
}

// Goal: every table has the rows of the API, every number exactly, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn rows_are_those_of_the_api() {
    let world = World::new().await;
    let reviewed = world.session().await;
    let changes = ReviewChanges { score: Some(Some(4)), note: Some("calm".to_owned()) };
    change_review(&world.app, reviewed, changes, Some("desk".to_owned())).await.expect("it is written");
    let (dir, report) = export(&world, TableSelection::Job(JobId::new(&world.job))).await;
    let dir = dir.path();
    for table in &report.tables {
        assert_eq!(rows(dir, table.name).len() as u64, table.rows, "{}", table.name);
    }
    let [sessions, messages, steps, orders, fills, positions, snapshots, reads, usage] =
        ["sessions", "messages", "steps", "orders", "fills", "positions", "snapshots", "data_read", "usage"]
            .map(|table| rows(dir, table));
    assert_eq!(sessions.len(), DAYS.len() * MODELS.len());
    let keys: Vec<(String, String)> =
        sessions.iter().map(|row| (row["date"].to_string(), row["agent"].to_string())).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    let mut counts = [0; 8];
    for row in &sessions {
        let id = &row["session_id"];
        let query = format!(
            "/results?job_id={}&date={}&model={}",
            world.job,
            row["date"].as_str().expect("a day"),
            row["agent"].as_str().expect("an agent")
        );
        let response = world.good(&query).await;
        let day = &response["results"][0];
        assert_eq!(*id, day["metadata"]["session_id"]);
        same(row, &day["final_position"], &[("cash", "cash"), ("portfolio_value", "portfolio_value")]);
        same(row, &day["daily_metrics"], &[("daily_profit", "profit"), ("daily_return_pct", "return_pct")]);
        same(row, &day["quality"], &[("quality", "state"), ("quality_reason", "reason")]);
        same(row, &day["provenance"], &[("point_in_time", "point_in_time")]);
        same(row, &day["metadata"], &[("status", "status"), ("model", "model"), ("is_llm", "is_llm")]);
        let starting = [("starting_cash", "cash"), ("starting_portfolio_value", "portfolio_value")];
        same(row, &day["starting_position"], &starting);

        let review = world.good(&format!("/sessions/{id}")).await["review"].clone();
        same(row, &review, &[("score", "score"), ("note", "note"), ("reviewed_by", "updated_by")]);
        same(row, &review, &[("reviewed_at", "updated_at")]);
        assert_eq!(row["score"].is_null(), *id != reviewed, "{row:?}");

        let of = |rows: &[Row]| of_session(rows, id).into_iter().cloned().collect::<Vec<Row>>();
        let found = world.good(&format!("/sessions/{id}/messages?limit=1000")).await;
        let list = found["messages"].as_array().expect("messages").clone();
        counts[0] += list.len();
        assert_eq!(of(&messages).len(), list.len());
        for (row, message) in of(&messages).iter().zip(&list) {
            let same_names =
                ["message_index", "role", "node", "content", "tool_name", "summary", "timestamp"];
            same(row, message, &same_names.map(|name| (name, name)));
            let input =
                row["tool_input"].as_str().map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
            assert_eq!(input.unwrap_or_default(), message["tool_input"]);
        }
        let found = world.good(&format!("/sessions/{id}/steps?limit=1000")).await;
        let list = found["steps"].as_array().expect("steps").clone();
        counts[1] += list.len();
        assert_eq!(of(&steps).len(), list.len());
        for (row, step) in of(&steps).iter().zip(&list) {
            let names = [
                "path",
                "kind",
                "class",
                "state",
                "outcome",
                "model",
                "finish_reason",
                "seq",
                "digest",
                "outcome_ref",
                "attempts",
                "input_tokens",
                "cost_usd",
                "hash",
                "started_at",
                "ended_at",
            ];
            same(row, step, &names.map(|name| (name, name)));
            same(row, step, &[("is_detached", "detached")]);
        }
        let found = world.good(&format!("/sessions/{id}/exposures?limit=1000")).await;
        let list = found["exposures"].as_array().expect("reads").clone();
        counts[2] += list.len();
        assert_eq!(of(&reads).len(), list.len());
        for (row, read) in of(&reads).iter().zip(&list) {
            let names = ["path", "series", "first_date", "last_date", "rows", "latest_known_at"];
            same(row, read, &names.map(|name| (name, name)));
            same(row, read, &[("dataset_hash", "dataset")]);
        }
        let trades = day["trades"].as_array().expect("trades").clone();
        counts[3] += trades.len();
        assert_eq!(of(&fills).len(), trades.len());
        for (row, trade) in of(&fills).iter().zip(&trades) {
            let names = [
                "action_id",
                "action_type",
                "symbol",
                "quantity",
                "price",
                "fee",
                "slippage",
                "realized_pnl",
                "leverage",
                "stop",
                "target",
                "order_id",
                "path",
                "cash_after",
            ];
            same(row, trade, &names.map(|name| (name, name)));
            same(row, trade, &[("portfolio_value_after", "portfolio_value")]);
            same(
                row,
                &trade["order"],
                &[("placed_session_id", "session_id"), ("placed_on", "date"), ("placed_path", "path")],
            );
        }
        let open = day["position_snapshots"].as_array().expect("snapshots").clone();
        counts[4] += open.len();
        assert_eq!(of(&snapshots).len(), open.len());
        for (row, snapshot) in of(&snapshots).iter().zip(&open) {
            let names = ["symbol", "position_id", "quantity", "avg_price", "close", "stop", "leverage"];
            same(row, snapshot, &names.map(|name| (name, name)));
            same(row, snapshot, &[("unrealized_pnl", "unrealised_pnl")]);
        }
        let rejected: Vec<Row> =
            of(&orders).into_iter().filter(|order| order["status"] == "rejected").collect();
        let list = day["rejections"].as_array().expect("rejections").clone();
        counts[5] += list.len();
        assert_eq!(rejected.len(), list.len());
        for (row, order) in rejected.iter().zip(&list) {
            same(
                row,
                order,
                &["order_id", "symbol", "side", "quantity", "code", "message"].map(|name| (name, name)),
            );
        }
        counts[6] += of(&positions).len();
        assert!(!of(&positions).is_empty(), "every session has an action, if only `no_trade`");
        let scopes: Vec<Value> = of(&usage).iter().map(|row| row["scope"].clone()).collect();
        counts[7] += scopes.len();
        assert_eq!(scopes, ["session", "summaries"]);
    }
    let lengths = [&messages, &steps, &reads, &fills, &snapshots, &positions, &usage].map(Vec::len);
    assert_eq!(lengths, [counts[0], counts[1], counts[2], counts[3], counts[4], counts[6], counts[7]]);
    assert!(lengths.iter().all(|length| *length > 0), "{lengths:?}");

    let range = world.good(&format!("/results?job_id={}", world.job)).await;
    let metrics = rows(dir, "metrics");
    for result in range["results"].as_array().expect("results") {
        let of = |series: &str, metric: &str| {
            let found = metrics.iter().find(|row| {
                row["agent"] == result["model"] && row["series"] == series && row["metric"] == metric
            });
            found.unwrap_or_else(|| panic!("{series} {metric}"))
        };
        for metric in ["total_return", "daily_deviation", "max_drawdown", "turnover", "costs", "exposure"] {
            assert_eq!(
                of("agent", metric)["value"].as_f64(),
                result["period_metrics"][metric].as_f64(),
                "{metric}"
            );
        }
        let held = &result["baselines"]["buy_and_hold"]["period_metrics"]["total_return"];
        assert_eq!(of("buy_and_hold", "total_return")["value"], *held);
        assert_eq!(
            (&of("agent", "sharpe")["value"], &of("agent", "sharpe")["unavailable"]),
            (&Value::Null, &json!("too_few_days"))
        );
    }
}

// Goal: a file has the types, the nullability and the compression that its schema states.
#[tokio::test(flavor = "multi_thread")]
async fn files_have_the_documented_types() {
    let world = World::new().await;
    let (dir, _) = export(&world, TableSelection::All).await;
    let schema = std::fs::read_to_string(dir.path().join("schema.json")).expect("the schema");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    assert_eq!(schema["tables"].as_array().map(Vec::len), Some(TABLES.len()));
    assert!(dir.path().join("README.md").exists());
    for table in &TABLES {
        let reader = reader(dir.path(), table.name);
        let metadata = reader.metadata();
        let columns = metadata.file_metadata().schema_descr().columns().to_vec();
        assert_eq!(columns.len(), table.columns.len());
        for (column, found) in table.columns.iter().zip(&columns) {
            assert_eq!(column.name, found.name());
            let nullable = found.self_type().get_basic_info().repetition() == Repetition::OPTIONAL;
            assert_eq!(nullable, column.nullable, "{}.{}", table.name, column.name);
            let expected = match column.kind {
                ColumnType::Text => Some(LogicalType::String),
                ColumnType::Json => Some(LogicalType::Json),
                ColumnType::Decimal => Some(LogicalType::decimal(18, 38)),
                ColumnType::Date => Some(LogicalType::Date),
                ColumnType::Instant => Some(LogicalType::timestamp(true, parquet::basic::TimeUnit::MICROS)),
                ColumnType::Integer | ColumnType::Float | ColumnType::Boolean => None,
            };
            assert_eq!(found.logical_type_ref().cloned(), expected, "{}.{}", table.name, column.name);
        }
        for group in metadata.row_groups() {
            assert!(
                group.columns().iter().all(|column| matches!(column.compression(), Compression::ZSTD(_)))
            );
        }
    }
}

// Goal: `all` has every job; a skipped day names the job that completed it, and its rows are not there twice.
#[tokio::test(flavor = "multi_thread")]
async fn all_jobs_are_exported_and_skipped_days_are_marked() {
    let world = World::new().await;
    let again = world.run(week()).await;
    let (dir, report) = export(&world, TableSelection::All).await;
    assert_eq!(report.jobs, 2);
    let sessions = rows(dir.path(), "sessions");
    let of = |job: &str| sessions.iter().filter(|row| row["job_id"] == *job).cloned().collect::<Vec<Row>>();
    let (first, second) = (of(&world.job), of(&again));
    assert_eq!((first.len(), second.len()), (10, 10));
    assert!(first.iter().all(|row| row["status"] == "completed" && row["session_id"].is_i64()));
    for (skipped, done) in second.iter().zip(&first) {
        assert_eq!((&skipped["status"], &skipped["session_id"]), (&json!("skipped"), &Value::Null));
        assert_eq!(skipped["skipped_job_id"], world.job);
        assert_eq!(skipped["skipped_session_id"], done["session_id"]);
        assert_eq!(skipped["model"], done["model"]);
    }
    assert!(rows(dir.path(), "fills").iter().all(|row| row["job_id"] == world.job));
    let jobs: Vec<String> = sessions.iter().map(|row| row["job_id"].to_string()).collect();
    assert!(jobs.is_sorted());
}

// Goal: an export does not touch a directory with other files unless it is told to, and two exports of the same record
// are the same bytes.
#[test]
fn directories_are_replaced_only_on_request() {
    let tool = Tool::new();
    let job = tool.job(&SHORT);
    let done = tool.ok(&["export", "tables", "latest", "--output", "out"]);
    assert!(done.out.contains("sessions") && done.err.contains("1 job exported"), "{done:?}");
    let read = |name: &str| std::fs::read(tool.path("out").join(name)).expect("it is there");
    let before: Vec<Vec<u8>> = TABLES.iter().map(|table| read(&format!("{}.parquet", table.name))).collect();
    std::fs::write(tool.path("out/notes.txt"), "mine").expect("writes");
    let refused = tool.ends(&["export", "tables", &job, "--output", "out"], 2);
    assert!(
        refused.err.contains("--output: out is not empty; use another directory, or --force"),
        "{refused:?}"
    );
    let report = tool.json(&["export", "tables", "all", "--output", "out", "--force"]);
    assert_eq!(report["tables"][0]["rows"], 3);
    assert_eq!(read("notes.txt"), b"mine");
    for (table, before) in TABLES.iter().zip(before) {
        assert!(read(&format!("{}.parquet", table.name)) == before, "{}", table.name);
    }
    let names = std::fs::read_dir(tool.path("out")).expect("a directory");
    let names: Vec<String> =
        names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| !name.ends_with(".part")), "{names:?}");
    tool.ends(&["export", "tables", "01999999", "--output", "other"], 4);
}
