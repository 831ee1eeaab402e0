import java.util.Map;

/** The documents that clients may run (trusted documents). */
final class Documents {
    static final Map<String, String> BY_ID = Map.of(
            "FareCard", "query FareCard($id: ID!) {"
                    + " fare(id: $id) { id fromStation toStation price currency validity } }",
            "FareWithPartner", "query FareWithPartner($id: ID!) {"
                    + " fare(id: $id) { id price currency partnerQuote { carrier amount quotedAt } } }",
            "RouteCard", "query RouteCard($id: ID!) { route(id: $id) { id name stops } }");

    private Documents() {
    }
}
