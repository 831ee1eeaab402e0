object Receipt {
    fun html(booking: Booking, lang: String): String {
        val title = if (lang == "de") "Rechnung" else "Receipt"
        val out = StringBuilder("<!doctype html>\r\n<html lang=\"$lang\"><head><title>$title</title></head><body>\r\n")
        out.append("<h1>$title ${booking.id}</h1>\r\n<p>${booking.hotel}, ${booking.nights} nights</p>\r\n")
        out.append("<table style=\"border-collapse: collapse; font-family: sans-serif\">\r\n")
        for (item in booking.items) {
            out.append("<tr><td style=\"padding: 2px 8px; border-bottom: 1px solid #ccc\">day ${item.day}</td>\r\n")
            out.append("<td style=\"padding: 2px 8px; border-bottom: 1px solid #ccc\">${item.what}</td>\r\n")
            out.append("<td style=\"padding: 2px 8px; border-bottom: 1px solid #ccc; text-align: right\">${item.amount}</td></tr>\r\n")
        }
        out.append("</table>\r\n<p>Thank you for your stay.</p>\r\n</body></html>\r\n")
        return out.toString()
    }
}
