package orders;

import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import org.apache.struts2.ActionSupport;
import org.apache.struts2.ServletActionContext;

abstract class JsonAction extends ActionSupport {
    private static final ObjectMapper JSON = new ObjectMapper();

    String send(int status, Object o) throws Exception {
        byte[] body = JSON.writeValueAsString(o).getBytes(StandardCharsets.UTF_8);
        HttpServletResponse r = ServletActionContext.getResponse();
        r.setStatus(status);
        r.setContentType("application/json");
        r.setContentLength(body.length);
        r.getOutputStream().write(body);
        return NONE;
    }
}
