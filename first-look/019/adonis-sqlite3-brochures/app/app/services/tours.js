const places = ['Lofoten', 'Tatra', 'Azores', 'Peloponnese', 'Connemara', 'Madeira', 'Vosges', 'Istria']

export const tours = Array.from({ length: 48 }, (_, id) => ({
  id,
  title: `${places[id % places.length]} on foot ${1 + Math.floor(id / places.length)}`,
  days: 5 + (id % 9),
  seats: 12 + (id % 8),
}))

export function freeSeats(tour) {
  return Array.from({ length: 20 }, (_, week) => ({
    week: 14 + week,
    free: (tour.seats * 7 + tour.id * 5 + week * 11) % (tour.seats + 1),
    price: 640 + tour.days * 85 + (week % 5) * 40,
  }))
}
