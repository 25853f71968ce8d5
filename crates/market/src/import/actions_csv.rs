//! Corporate actions as a table: `symbol,ex_date,kind,value`.

use super::fields;
use super::format::{Format, Halt, Hints, Sink};
use super::row::Row;
use super::source::Source;
use super::table::{Record, Table, header};
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::money::Price;
use rust_decimal::Decimal;

/// Splits and dividends of any number of symbols. A row of the kind `splits_complete` says that those given
/// of the symbol are all that there were.
pub(super) struct ActionsCsv;

impl Format for ActionsCsv {
    fn name(&self) -> &'static str {
        "actions-csv"
    }

    fn about(&self) -> &'static str {
        "splits and dividends: symbol, ex_date, kind (split, dividend, splits_complete), value"
    }

    fn recognises(&self, _file_name: &str, head: &[u8]) -> bool {
        let columns = header(head);
        ["symbol", "exdate", "kind", "value"].iter().all(|name| columns.iter().any(|column| column == name))
    }

    fn read(&self, source: &Source, _hints: &Hints, sink: &mut dyn Sink) -> Result<(), Halt> {
        let mut table = Table::open(source)?;
        let columns = Columns {
            symbol: table.needed(&["symbol"])?,
            ex_date: table.needed(&["exdate"])?,
            kind: table.needed(&["kind"])?,
            value: table.needed(&["value"])?,
        };
        while let Some(record) = table.next()? {
            sink.row(record.at(), columns.row(&record), &record)?;
        }
        Ok(())
    }
}

struct Columns {
    symbol: usize,
    ex_date: usize,
    kind: usize,
    value: usize,
}

impl Columns {
    fn row(&self, record: &Record<'_>) -> Result<Row, String> {
        record.check()?;
        let symbol = fields::symbol(record.get(self.symbol))?;
        let value = record.get(self.value);
        let kind = match record.get(self.kind) {
            "split" => CorporateActionKind::Split { ratio: ratio(value)? },
            "dividend" => CorporateActionKind::Dividend { amount: Price(fields::decimal(value)?) },
            "splits_complete" => return Ok(Row::SplitsComplete { symbol }),
            other => return Err(format!("{} is no kind of action", fields::shown(other))),
        };
        let ex_date = fields::date(record.get(self.ex_date))?;
        Ok(Row::Action(CorporateAction { symbol, ex_date, kind }))
    }
}

/// New shares for one old: `2`, `0.1`, `3:2` or `1/10`.
pub(super) fn ratio(text: &str) -> Result<Decimal, String> {
    let Some((new, old)) = text.split_once([':', '/']) else { return fields::decimal(text) };
    let (new, old) = (fields::decimal(new)?, fields::decimal(old)?);
    new.checked_div(old).ok_or_else(|| format!("{} is no ratio", fields::shown(text)))
}
