package shop;

import java.nio.charset.StandardCharsets;
import org.apache.wicket.request.resource.AbstractResource;

/** POST .../ID sends a mail about the order ID. */
public class MailResource extends AbstractResource {
    interface Action {
        String run(int id) throws Exception;
    }

    private final transient Action action;

    MailResource(Action action) {
        this.action = action;
    }

    @Override
    protected ResourceResponse newResourceResponse(Attributes attributes) {
        ResourceResponse response = new ResourceResponse();
        response.setContentType("application/json");
        response.disableCaching();
        String answer;
        try {
            answer = "{\"message\": \"" + action.run(attributes.getParameters().get("id").toInt()) + "\"}";
        } catch (Exception e) {
            e.printStackTrace();
            response.setError(502, "mail relay");
            return response;
        }
        byte[] body = answer.getBytes(StandardCharsets.UTF_8);
        response.setContentLength(body.length);
        response.setWriteCallback(new WriteCallback() {
            @Override
            public void writeData(Attributes a) {
                a.getResponse().write(body);
            }
        });
        return response;
    }
}
