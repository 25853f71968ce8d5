// Goal: the result of a round trip is what the ledger's cash says, fees, dividends and splits included.
import { expect, it } from 'vitest'
import { ledgerRows } from './ledgerRows'
import { roundTrips } from './roundTrips'

type Row = [date: string, action: string, symbol: string, amount: number, price: number | null, cashAfter: number]

const trips = (rows: Row[], cash: number | null = 1000) =>
  roundTrips(
    ledgerRows(
      rows.map(([date, action_type, symbol, amount, price, cash_after], index) => ({
        date,
        session_id: index,
        model: 'a',
        positions: [{ action_id: index, action_type, symbol, amount, price, cash_after }],
      })) as never,
    ),
    cash,
  ).map(({ symbol, side, opened, closed, quantity, entry, exit, pnl, fills }) => ({ symbol, side, opened: opened.session.date, closed: closed?.session.date ?? null, quantity, entry, exit, pnl: pnl === null ? null : Number(pnl.toFixed(6)), fills }))

it('adds up several fills, with their fees', () => {
  expect(
    trips([
      ['2012-10-01', 'buy', 'IBM', 2, 100, 799],
      ['2012-10-02', 'buy', 'IBM', 2, 110, 578],
      ['2012-10-03', 'sell', 'IBM', 1, 120, 697],
      ['2012-10-04', 'stop', 'IBM', 3, 90, 966],
    ]),
  ).toEqual([{ symbol: 'IBM', side: 'long', opened: '2012-10-01', closed: '2012-10-04', quantity: 4, entry: 105, exit: 97.5, pnl: -34, fills: 4 }])
})

it('separates symbols and trips, and leaves the open one without a result', () => {
  expect(
    trips([
      ['2012-10-01', 'buy', 'IBM', 1, 100, 900],
      ['2012-10-01', 'short', 'AAPL', 1, 600, 1500],
      ['2012-10-02', 'sell', 'IBM', 1, 101, 1601],
      ['2012-10-03', 'cover', 'AAPL', 1, 580, 1021],
      ['2012-10-04', 'buy', 'IBM', 1, 102, 919],
    ]).map((trip) => [trip.symbol, trip.side, trip.pnl]),
  ).toEqual([
    ['IBM', 'long', 1],
    ['AAPL', 'short', 20],
    ['IBM', 'long', null],
  ])
})

it('counts a dividend, and converts prices to the units after a split', () => {
  expect(
    trips([
      ['2012-10-01', 'buy', 'IBM', 1, 100, 900],
      ['2012-10-02', 'dividend', 'IBM', 1, 5, 905],
      ['2012-10-03', 'split', 'IBM', 2, 2, 905],
      ['2012-10-04', 'sell', 'IBM', 2, 60, 1025],
    ]),
  ).toEqual([{ symbol: 'IBM', side: 'long', opened: '2012-10-01', closed: '2012-10-04', quantity: 2, entry: 50, exit: 60, pnl: 25, fills: 2 }])
})

it('omits a position from before the first row', () => {
  expect(trips([['2012-10-01', 'sell', 'IBM', 2, 100, 1200]], null)).toEqual([])
})
