import { json } from '@sveltejs/kit'

const categories = ['clocks', 'prints', 'furniture', 'silver', 'ceramics', 'books', 'toys', 'instruments']

export function GET() {
  return json(categories.map((name, i) => ({ name, lots: 250 + i })))
}
