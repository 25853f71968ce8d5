//! Exact decimals packed as integers: one scale per column, four or eight bytes per value.
//!
//! A bar of a US stock takes 24 bytes, so the daily bars of 500 stocks over 25 years take about 75 MB. Rows
//! are keyed by their opening instant, so the same columns serve every interval.

use super::keys::{Keys, KeysSlice, refill};
use rust_decimal::Decimal;

/// Integers of the narrowest width that holds them all.
#[derive(Clone)]
enum Cells {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// A column of non-negative decimals: cell / 10^scale.
///
/// The scale is the smallest that fits all values, so equal columns are equal in memory.
#[derive(Clone)]
pub(super) struct Column {
    scale: u32,
    cells: Cells,
}

impl Column {
    pub(super) fn from_cells(mut scale: u32, mut cells: Vec<u64>) -> Self {
        if cells.is_empty() {
            scale = 0;
        }
        while scale > 0 && cells.iter().all(|cell| cell.is_multiple_of(10)) {
            scale -= 1;
            cells.iter_mut().for_each(|cell| *cell /= 10);
        }
        let narrow: Result<Vec<u32>, _> = cells.iter().map(|&cell| u32::try_from(cell)).collect();
        let cells = match narrow {
            Ok(mut narrow) => {
                narrow.shrink_to_fit();
                Cells::Narrow(narrow)
            }
            Err(_) => {
                cells.shrink_to_fit();
                Cells::Wide(cells)
            }
        };
        Self { scale, cells }
    }

    /// The first `count` values, without access to the others.
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

    /// An empty column of the same scale and width, for [`Self::refill`].
    pub(super) fn empty_like(&self) -> Self {
        let cells = match &self.cells {
            Cells::Narrow(_) => Cells::Narrow(Vec::new()),
            Cells::Wide(_) => Cells::Wide(Vec::new()),
        };
        Self { scale: self.scale, cells }
    }

    /// Keeps the first `valid` values and copies the following ones from `source`, a column of the same scale and
    /// width, up to `count` values.
    pub(super) fn refill(&mut self, source: &Self, valid: usize, count: usize) {
        match (&mut self.cells, &source.cells) {
            (Cells::Narrow(cells), Cells::Narrow(source)) => refill(cells, source, valid, count),
            (Cells::Wide(cells), Cells::Wide(source)) => refill(cells, source, valid, count),
            _ => *self = source.clone(),
        }
    }

    /// Adds a cell, at most [`Self::max_cell`].
    pub(super) fn push_cell(&mut self, cell: u64) {
        match &mut self.cells {
            Cells::Narrow(cells) => cells.push(u32::try_from(cell).unwrap_or(u32::MAX)),
            Cells::Wide(cells) => cells.push(cell),
        }
    }

    pub(super) fn cell(&self, at: usize) -> u64 {
        self.first(at + 1).cell(at)
    }

    /// The largest cell that fits.
    pub(super) fn max_cell(&self) -> u64 {
        match &self.cells {
            Cells::Narrow(_) => u64::from(u32::MAX),
            Cells::Wide(_) => u64::MAX,
        }
    }
}

/// A column that grows by one exact value at a time.
#[derive(Clone, Debug)]
pub(super) struct ColumnBuilder {
    scale: u32,
    cells: Growing,
    /// Whether a value is negative, or there are more digits from the first to the last decimal than fit. The
    /// order of the values makes no difference.
    overflowed: bool,
}

#[derive(Clone, Debug)]
enum Growing {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Default for ColumnBuilder {
    fn default() -> Self {
        Self { scale: 0, cells: Growing::Narrow(Vec::new()), overflowed: false }
    }
}

impl ColumnBuilder {
    pub(super) fn push(&mut self, value: Decimal) {
        let value = value.normalize();
        if value.scale() > self.scale {
            self.rescale(value.scale());
        }
        let power = 10_i128.pow(self.scale - value.scale());
        let cell = value.mantissa().checked_mul(power).and_then(|cell| u64::try_from(cell).ok());
        self.overflowed |= cell.is_none();
        self.push_cell(cell.unwrap_or_default());
    }

    fn push_cell(&mut self, cell: u64) {
        match (&mut self.cells, u32::try_from(cell)) {
            (Growing::Narrow(cells), Ok(cell)) => cells.push(cell),
            (Growing::Wide(cells), _) => cells.push(cell),
            (Growing::Narrow(cells), Err(_)) => {
                let mut wide: Vec<u64> = cells.iter().map(|cell| u64::from(*cell)).collect();
                wide.push(cell);
                self.cells = Growing::Wide(wide);
            }
        }
    }

    fn rescale(&mut self, scale: u32) {
        let power = 10_u64.checked_pow(scale - self.scale);
        let old = std::mem::take(self);
        self.scale = scale;
        self.overflowed = old.overflowed;
        for row in 0..old.len() {
            let cell = old.cell(row);
            let scaled = power.and_then(|power| cell.checked_mul(power)).filter(|_| cell > 0);
            self.overflowed |= cell > 0 && scaled.is_none();
            self.push_cell(scaled.unwrap_or_default());
        }
    }

    pub(super) fn len(&self) -> usize {
        match &self.cells {
            Growing::Narrow(cells) => cells.len(),
            Growing::Wide(cells) => cells.len(),
        }
    }

    fn cell(&self, row: usize) -> u64 {
        match &self.cells {
            Growing::Narrow(cells) => u64::from(cells[row]),
            Growing::Wide(cells) => cells[row],
        }
    }

    /// Whether a value was negative, or had too many digits together with the others.
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// The value of a row, exactly.
    pub(super) fn get(&self, row: usize) -> Decimal {
        Decimal::from_i128_with_scale(i128::from(self.cell(row)), self.scale)
    }

    /// The first `count` of its rows in this order; `None` if a value was negative or had too many digits
    /// together with the others.
    pub(super) fn pack(&self, order: &[u32], count: usize) -> Option<Column> {
        let cells = order[..count].iter().map(|row| self.cell(*row as usize)).collect();
        (!self.overflowed).then(|| Column::from_cells(self.scale, cells))
    }
}

#[derive(Clone, Copy)]
enum CellSlice<'a> {
    Narrow(&'a [u32]),
    Wide(&'a [u64]),
}

/// A borrowed prefix of a column.
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

    /// The value of a row without trailing zeros; the same as normalizing it, on a smaller number.
    pub(super) fn get_normalized(&self, at: usize) -> Decimal {
        let (mut cell, mut scale) = (self.cell(at), self.scale);
        if cell == 0 {
            scale = 0;
        }
        while scale > 0 && cell.is_multiple_of(10) {
            (cell, scale) = (cell / 10, scale - 1);
        }
        Decimal::from_i128_with_scale(i128::from(cell), scale)
    }

    /// The divisor of [`Self::get_f64`], the same for every row.
    pub(super) fn unit(&self) -> f64 {
        10_f64.powi(self.scale.cast_signed())
    }

    /// The nearest float to the value of a row, for indicators.
    #[expect(clippy::cast_precision_loss, reason = "indicators are floats")]
    pub(super) fn get_f64(&self, at: usize, unit: f64) -> f64 {
        self.cell(at) as f64 / unit
    }

    fn to_column(self) -> Column {
        Column::from_cells(self.scale, (0..self.len()).map(|at| self.cell(at)).collect())
    }
}

/// The bars of one symbol, oldest first. All columns have the length of the keys, unless only the open of the
/// last bar is known: then `high`, `low`, `close` and `volume` are one shorter.
#[derive(Clone)]
pub(super) struct Bars {
    /// When each bar opens, microseconds since the Unix epoch.
    pub(super) opens_at: Keys,
    pub(super) open: Column,
    pub(super) high: Column,
    pub(super) low: Column,
    pub(super) close: Column,
    pub(super) volume: Column,
}

impl Bars {
    /// The first `opened` rows, of which `closed` are complete.
    pub(super) fn first(&self, opened: usize, closed: usize) -> BarsSlice<'_> {
        BarsSlice {
            opens_at: self.opens_at.first(opened),
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

    /// No bars, with columns of the same form.
    pub(super) fn empty_like(&self) -> Self {
        Self {
            opens_at: self.opens_at.empty_like(),
            open: self.open.empty_like(),
            high: self.high.empty_like(),
            low: self.low.empty_like(),
            close: self.close.empty_like(),
            volume: self.volume.empty_like(),
        }
    }
}

/// A borrowed prefix of a symbol's bars.
#[derive(Clone, Copy)]
pub(super) struct BarsSlice<'a> {
    pub(super) opens_at: KeysSlice<'a>,
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
            opens_at: Keys::pack(self.opens_at.iter().collect()),
            open: self.open.to_column(),
            high: self.high.to_column(),
            low: self.low.to_column(),
            close: self.close.to_column(),
            volume: self.volume.to_column(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Goal: a value without trailing zeros is the normalized value, digits and scale.
    #[test]
    fn a_value_is_normalized() {
        let cells =
            vec![0, 1, 10, 100, 1_000, 12_300, 1_230_001, 99_990, u64::MAX, 10_000_000_000_000_000_000];
        for scale in 0..=19 {
            let column = Column { scale, cells: Cells::Wide(cells.clone()) };
            let slice = column.first(cells.len());
            for at in 0..cells.len() {
                let (one, two) = (slice.get_normalized(at), slice.get(at).normalize());
                assert_eq!((one.mantissa(), one.scale()), (two.mantissa(), two.scale()));
            }
        }
    }
}
