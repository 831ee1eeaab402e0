import { bigserial, index, integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

export const lots = pgTable('lots', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  category: text('category').notNull(),
  estimate: integer('estimate').notNull(),
})

export const bids = pgTable(
  'bids',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    lotId: integer('lot_id').notNull(),
    bidder: text('bidder').notNull(),
    amount: integer('amount').notNull(),
    at: timestamp('at', { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [index('bids_lot').on(t.lotId, t.amount)]
)
