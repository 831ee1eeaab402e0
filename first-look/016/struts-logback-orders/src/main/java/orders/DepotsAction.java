package orders;

import java.util.List;
import java.util.Map;

public class DepotsAction extends JsonAction {
    @Override
    public String execute() throws Exception {
        return send(200, Map.of("depots", List.of("Brno", "Graz", "Linz", "Passau", "Wels"), "open", "06:00-20:00"));
    }
}
