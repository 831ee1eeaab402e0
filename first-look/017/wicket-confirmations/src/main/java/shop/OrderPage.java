package shop;

import org.apache.wicket.markup.html.WebPage;
import org.apache.wicket.markup.html.basic.Label;
import org.apache.wicket.markup.html.list.ListItem;
import org.apache.wicket.markup.html.list.ListView;
import org.apache.wicket.request.mapper.parameter.PageParameters;

public class OrderPage extends WebPage {
    public OrderPage(PageParameters parameters) {
        super(parameters);
        Order order = Order.find(parameters.get("id").toInt(1));
        add(new Label("id", order.id));
        add(new ListView<>("lines", order.lines) {
            @Override
            protected void populateItem(ListItem<Order.Line> item) {
                Order.Line line = item.getModelObject();
                item.add(new Label("name", line.name()));
                item.add(new Label("count", line.count()));
                item.add(new Label("price", String.format("%.2f", line.cents() / 100.0)));
            }
        });
        add(new Label("total", String.format("%.2f", order.total() / 100.0)));
    }
}
