// The parcels of the depot, as the morning's import has them.
export interface Parcel {
  id: number
  carrier: string
  weight: number
  street: string
  town: string
}

const towns = ['Lund', 'Borg', 'Varde', 'Holm', 'Nyby', 'Aker', 'Tuna']
const carriers = ['north', 'coast', 'post']

export const parcels = new Map<number, Parcel>()
for (let id = 1; id <= 500; id++) {
  parcels.set(id, {
    id,
    carrier: carriers[id % 3],
    weight: 200 + (id * 7919) % 9000,
    street: `Harbour Road ${id % 97 + 1}`,
    town: towns[id % 7]
  })
}
