export interface House { id: number, district: string, area: number, rooms: number, built: number }

const names = ['harbour', 'old-town', 'hillside', 'station', 'meadows', 'university']

export const houses = new Map<number, House>()
for (let i = 0; i < 400; i++) {
  const id = 3000 + i
  houses.set(id, { id, district: names[i % names.length], area: 62 + (i * 37) % 140, rooms: 2 + (i * 7) % 6, built: 1905 + (i * 13) % 118 })
}

export const districts = new Map(names.map((name, i) => [name, {
  name, houses: [...houses.values()].filter(h => h.district === name).length, pricePerSquareMetre: 2900 + i * 310,
}]))
