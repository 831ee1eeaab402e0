package shop;

import jakarta.ws.rs.*;
import jakarta.ws.rs.core.MediaType;
import java.math.BigDecimal;
import java.math.RoundingMode;

@Path("/quotation")
@Produces(MediaType.APPLICATION_JSON)
public class QuotationResource {
    private static final BigDecimal VAT = new BigDecimal("1.19");

    @GET @Path("{lines}")
    public String quotation(@PathParam("lines") int lines) {
        var json = new StringBuilder("{\"lines\":[");
        var total = BigDecimal.ZERO;
        for (int i = 1; i <= lines; i++) {
            var price = BigDecimal.valueOf(995 + 37L * i, 2);
            var discount = BigDecimal.ONE.subtract(BigDecimal.valueOf(i % 13).divide(BigDecimal.valueOf(97), 12, RoundingMode.HALF_EVEN));
            var gross = price.multiply(discount).multiply(VAT).multiply(BigDecimal.valueOf(i % 9 + 1)).setScale(2, RoundingMode.HALF_UP);
            total = total.add(gross);
            if (i > 1) json.append(',');
            json.append(String.format("{\"line\":%d,\"price\":%s,\"gross\":%s}", i, price, gross));
        }
        return json.append("],\"total\":").append(total).append('}').toString();
    }
}
