package orders;

import java.util.Map;

public class HealthAction extends JsonAction {
    @Override
    public String execute() throws Exception {
        return send(Main.warm ? 200 : 503, Map.of("ready", Main.warm));
    }
}
