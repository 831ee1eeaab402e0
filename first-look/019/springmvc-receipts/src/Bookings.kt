data class Item(val day: Int, val what: String, val amount: String)

data class Booking(val id: Int, val hotel: String, val nights: Int, val items: List<Item>) {
    fun summary() = mapOf("id" to id, "hotel" to hotel, "nights" to nights, "items" to items.size)
}

/** A few hundred stays: most of a few nights, each seventh of a group with some fifty items on the bill. */
class Bookings {
    private val hotels = listOf("Alpenblick", "Seehof", "Linde", "Post", "Krone")
    private val kinds = listOf("room and breakfast", "half board", "garage", "minibar", "laundry", "spa")
    private val all = (0 until 350).map { id ->
        val nights = 1 + id % 4
        val count = if (id % 7 == 3) 52 + id % 9 else 3 + id % 8
        Booking(
            id, hotels[id % hotels.size], nights,
            (0 until count).map { Item(it % nights + 1, kinds[(it + id) % kinds.size], "${12 + (id + it * 7) % 140}.${10 + it % 80}") },
        )
    }

    operator fun get(id: Int): Booking? = all.getOrNull(id)
}
