//! Exact decimals packed as whole numbers: one scale for a column, four or eight bytes a value.
//!
//! A daily bar of a US stock takes 28 bytes, so five hundred of them over twenty-five years take
//! under 100 MB. Rows are keyed by the instant at which they open, which serves bars of any length.

use rust_decimal::Decimal;

/// Whole numbers, as narrow as they all fit.
#[derive(Clone)]
enum Cells {
    Narrow(Box<[u32]>),
    Wide(Box<[u64]>),
}

/// A column of non-negative decimals: each is its cell divided by ten to the power of the scale.
///
/// The scale is the smallest that holds them all, so equal columns have equal parts.
#[derive(Clone)]
pub(super) struct Column {
    scale: u32,
    cells: Cells,
}

impl Column {
    /// Packs the values; `None` where one is negative or has too many digits beside the others.
    pub(super) fn pack(values: &[Decimal]) -> Option<Self> {
        let scale = values.iter().map(|value| value.normalize().scale()).max().unwrap_or(0);
        let cells: Option<Vec<u64>> = values
            .iter()
            .map(|value| {
                let value = value.normalize();
                let power = 10_i128.checked_pow(scale - value.scale())?;
                u64::try_from(value.mantissa().checked_mul(power)?).ok()
            })
            .collect();
        Some(Self::of_cells(scale, cells?))
    }

    fn of_cells(mut scale: u32, mut cells: Vec<u64>) -> Self {
        if cells.is_empty() {
            scale = 0;
        }
        while scale > 0 && cells.iter().all(|cell| cell.is_multiple_of(10)) {
            scale -= 1;
            cells.iter_mut().for_each(|cell| *cell /= 10);
        }
        let narrow: Result<Box<[u32]>, _> = cells.iter().map(|&cell| u32::try_from(cell)).collect();
        Self { scale, cells: narrow.map_or_else(|_| Cells::Wide(cells.into()), Cells::Narrow) }
    }

    /// The first `count` values, and no way to the others.
    pub(super) fn first(&self, count: usize) -> ColumnSlice<'_> {
        let cells = match &self.cells {
            Cells::Narrow(cells) => CellSlice::Narrow(&cells[..count]),
            Cells::Wide(cells) => CellSlice::Wide(&cells[..count]),
        };
        ColumnSlice { scale: self.scale, cells }
    }

    pub(super) fn len(&self) -> usize {
        match &self.cells {
            Cells::Narrow(cells) => cells.len(),
            Cells::Wide(cells) => cells.len(),
        }
    }
}

#[derive(Clone, Copy)]
enum CellSlice<'a> {
    Narrow(&'a [u32]),
    Wide(&'a [u64]),
}

/// A borrowed beginning of a column.
#[derive(Clone, Copy)]
pub(super) struct ColumnSlice<'a> {
    scale: u32,
    cells: CellSlice<'a>,
}

impl ColumnSlice<'_> {
    pub(super) fn scale(&self) -> u32 {
        self.scale
    }

    pub(super) fn cell(&self, at: usize) -> u64 {
        match self.cells {
            CellSlice::Narrow(cells) => u64::from(cells[at]),
            CellSlice::Wide(cells) => cells[at],
        }
    }

    pub(super) fn len(&self) -> usize {
        match self.cells {
            CellSlice::Narrow(cells) => cells.len(),
            CellSlice::Wide(cells) => cells.len(),
        }
    }

    /// The value of a row, exactly.
    pub(super) fn get(&self, at: usize) -> Decimal {
        Decimal::from_i128_with_scale(i128::from(self.cell(at)), self.scale)
    }

    /// The nearest float to the value of a row, for indicators.
    #[expect(clippy::cast_precision_loss, reason = "indicators are floats")]
    pub(super) fn get_f64(&self, at: usize) -> f64 {
        self.cell(at) as f64 / 10_f64.powi(self.scale.cast_signed())
    }

    fn to_column(self) -> Column {
        Column::of_cells(self.scale, (0..self.len()).map(|at| self.cell(at)).collect())
    }
}

/// The bars of one symbol, oldest first. All columns are as long as the keys, but that the last row
/// may be a bar of which only the open is known: then `high`, `low`, `close` and `volume` are one
/// shorter.
#[derive(Clone)]
pub(super) struct Bars {
    /// When each bar opens, microseconds since the Unix epoch.
    pub(super) opens_at: Box<[i64]>,
    pub(super) open: Column,
    pub(super) high: Column,
    pub(super) low: Column,
    pub(super) close: Column,
    pub(super) volume: Column,
}

impl Bars {
    /// The rows of which the open is known, cut from `opened`, and of these the complete ones.
    pub(super) fn first(&self, opened: usize, closed: usize) -> BarsSlice<'_> {
        BarsSlice {
            opens_at: &self.opens_at[..opened],
            open: self.open.first(opened),
            high: self.high.first(closed),
            low: self.low.first(closed),
            close: self.close.first(closed),
            volume: self.volume.first(closed),
        }
    }

    pub(super) fn opened(&self) -> usize {
        self.opens_at.len()
    }

    pub(super) fn closed(&self) -> usize {
        self.close.len()
    }
}

/// A borrowed beginning of a symbol's bars.
#[derive(Clone, Copy)]
pub(super) struct BarsSlice<'a> {
    pub(super) opens_at: &'a [i64],
    pub(super) open: ColumnSlice<'a>,
    pub(super) high: ColumnSlice<'a>,
    pub(super) low: ColumnSlice<'a>,
    pub(super) close: ColumnSlice<'a>,
    pub(super) volume: ColumnSlice<'a>,
}

impl BarsSlice<'_> {
    pub(super) fn closed(&self) -> usize {
        self.close.len()
    }

    pub(super) fn to_bars(self) -> Bars {
        Bars {
            opens_at: self.opens_at.into(),
            open: self.open.to_column(),
            high: self.high.to_column(),
            low: self.low.to_column(),
            close: self.close.to_column(),
            volume: self.volume.to_column(),
        }
    }
}
