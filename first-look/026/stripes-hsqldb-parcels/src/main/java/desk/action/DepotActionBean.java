package desk.action;

import desk.Store;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import net.sourceforge.stripes.action.DefaultHandler;
import net.sourceforge.stripes.action.Resolution;
import net.sourceforge.stripes.action.StreamingResolution;
import net.sourceforge.stripes.action.UrlBinding;

@UrlBinding("/depots/{id}")
public class DepotActionBean extends DeskActionBean {
    private int id;

    public int getId() {
        return id;
    }

    public void setId(int id) {
        this.id = id;
    }

    @DefaultHandler
    public Resolution view() throws Exception {
        StringBuilder out = new StringBuilder("{\"depot\":" + id + ",\"towns\":[");
        try (PreparedStatement s = Store.session().prepareStatement(
                "select town, count(*), sum(grams) from parcel where depot = ? group by town order by town")) {
            s.setInt(1, id);
            String comma = "";
            try (ResultSet r = s.executeQuery()) {
                while (r.next()) {
                    out.append(comma).append("{\"town\":\"").append(r.getString(1)).append("\",\"parcels\":").append(r.getInt(2))
                        .append(",\"grams\":").append(r.getLong(3)).append("}");
                    comma = ",";
                }
            }
        }
        return new StreamingResolution("application/json", out.append("]}").toString());
    }
}
