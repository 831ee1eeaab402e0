package shop;

import org.restlet.data.Status;
import org.restlet.resource.Get;
import org.restlet.resource.ServerResource;

public class HealthResource extends ServerResource {
    @Get("txt")
    public String health() {
        if (!Main.warm) {
            setStatus(Status.SERVER_ERROR_SERVICE_UNAVAILABLE);
            return "starting";
        }
        return "ok";
    }
}
