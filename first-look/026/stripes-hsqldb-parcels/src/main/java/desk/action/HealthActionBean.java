package desk.action;

import net.sourceforge.stripes.action.DefaultHandler;
import net.sourceforge.stripes.action.Resolution;
import net.sourceforge.stripes.action.StreamingResolution;
import net.sourceforge.stripes.action.UrlBinding;

@UrlBinding("/health")
public class HealthActionBean extends DeskActionBean {
    @DefaultHandler
    public Resolution view() {
        return new StreamingResolution("text/plain", "ok");
    }
}
