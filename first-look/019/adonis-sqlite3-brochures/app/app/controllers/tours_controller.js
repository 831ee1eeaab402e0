import { tours, freeSeats } from '#services/tours'

export default class ToursController {
  index({ response }) {
    return response.json(tours.map(({ id, title, days }) => ({ id, title, days })))
  }

  availability({ params, response }) {
    const tour = tours[Number(params.id)]
    if (!tour) return response.notFound({ error: 'no such tour' })
    return response.json({ id: tour.id, title: tour.title, departures: freeSeats(tour) })
  }
}
