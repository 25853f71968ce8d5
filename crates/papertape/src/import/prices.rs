//! The dataset of an import: an existing one, or one created from the tool's files.

use anyhow::Result;
use papertape_cli::data::{Exchange, market_error, parse_hours};
use papertape_cli::failure::usage;
use papertape_core::market::Dataset;
use papertape_integrations::imports::{DatasetReport, RowPlace, RunReport};
use papertape_market::Catalogue;
use papertape_market::import::{Basis, ImportError, ImportOptions, Source, import as read_prices};
use std::sync::Arc;

/// Which dataset is wanted.
pub(super) struct DatasetRequest<'a> {
    /// The name of an existing one; `None`: one created from the files.
    pub(super) existing: Option<&'a str>,
    /// The name of the created one.
    pub(super) name: &'a str,
    /// Its exchange.
    pub(super) exchange: Exchange,
    /// The share units of its prices; `None`: what the formats assume.
    pub(super) basis: Option<Basis>,
}

/// The dataset. `None`: some rows of the files were rejected.
pub(super) fn dataset(
    catalogue: &Catalogue,
    request: &DatasetRequest<'_>,
    sources: &[Source],
    report: &mut RunReport,
) -> Result<Option<Arc<Dataset>>> {
    let (dataset, files) = match request.existing {
        Some(name) => (catalogue.open(name).map_err(market_error)?, 0),
        None => match create(request, sources, report)? {
            Some(dataset) => (Arc::new(dataset), sources.len()),
            None => return Ok(None),
        },
    };
    report.dataset = DatasetReport {
        name: dataset.name().to_owned(),
        hash: dataset.hash().to_hex(),
        symbols: dataset.all_symbols().count(),
        days: dataset.days().len(),
        bars: dataset.bar_count(),
        is_there: catalogue.find(&dataset.hash().to_hex()).is_ok(),
        files,
    };
    Ok(Some(dataset))
}

fn create(
    request: &DatasetRequest<'_>,
    sources: &[Source],
    report: &mut RunReport,
) -> Result<Option<Dataset>> {
    papertape_market::check_name(request.name).map_err(market_error)?;
    let (zone, hours, currency, _) = request.exchange.defaults();
    let options = ImportOptions {
        name: request.name.to_owned(),
        zone: zone.to_owned(),
        hours: parse_hours(zone, hours).map_err(usage)?,
        currency: currency.to_owned(),
        format: None,
        symbol: None,
        interval: None,
        basis: request.basis,
    };
    match read_prices(sources, &options, None, &mut |_| {}) {
        Ok(imported) => {
            imported.report.notes.iter().for_each(|one| report.note(format!("prices: {one}")));
            Ok(Some(imported.dataset))
        }
        Err(ImportError::Refused(refused)) => {
            for refusal in &refused.refusals {
                let at = RowPlace { file: refusal.file.clone(), line: refusal.line };
                let path = refusal.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
                report.problem(at, format!("{path}{}", refusal.reason));
            }
            report.problems.count = refused.refused.max(report.problems.count);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
