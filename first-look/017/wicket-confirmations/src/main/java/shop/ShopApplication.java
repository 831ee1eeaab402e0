package shop;

import org.apache.wicket.Page;
import org.apache.wicket.protocol.http.WebApplication;
import org.apache.wicket.request.resource.IResource;
import org.apache.wicket.request.resource.ResourceReference;

/** Order pages and the mails about orders. */
public class ShopApplication extends WebApplication {
    private Mailer mailer;

    @Override
    public Class<? extends Page> getHomePage() {
        return OrderPage.class;
    }

    @Override
    protected void init() {
        super.init();
        getCspSettings().blocking().disabled();
        mailer = new Mailer();
        mountPage("/orders/${id}", OrderPage.class);
        mount("/confirmations/${id}", "confirmation", new MailResource(id -> mailer.confirm(Order.find(id))));
        mount("/reminders/${id}", "reminder", new MailResource(id -> mailer.remind(Order.find(id))));
    }

    private void mount(String path, String name, IResource resource) {
        mountResource(path, new ResourceReference(ShopApplication.class, name) {
            @Override
            public IResource getResource() {
                return resource;
            }
        });
    }
}
