package desk.action;

import desk.Store;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import net.sourceforge.stripes.action.DefaultHandler;
import net.sourceforge.stripes.action.Resolution;
import net.sourceforge.stripes.action.StreamingResolution;
import net.sourceforge.stripes.action.UrlBinding;

@UrlBinding("/parcels/{id}")
public class ParcelActionBean extends DeskActionBean {
    private int id;

    public int getId() {
        return id;
    }

    public void setId(int id) {
        this.id = id;
    }

    @DefaultHandler
    public Resolution view() throws Exception {
        StringBuilder out = new StringBuilder("{\"parcel\":" + id + ",\"scans\":[");
        try (PreparedStatement s = Store.session().prepareStatement(
                "select s.seq, s.depot, s.note, p.town, p.grams from scan s join parcel p on p.id = s.parcel where p.id = ? order by s.seq")) {
            s.setInt(1, id);
            try (ResultSet r = s.executeQuery()) {
                while (r.next()) {
                    out.append(r.getInt(1) > 0 ? "," : "").append("{\"depot\":").append(r.getInt(2)).append(",\"note\":\"")
                        .append(r.getString(3)).append("\",\"to\":\"").append(r.getString(4)).append("\"}");
                }
            }
        }
        return new StreamingResolution("application/json", out.append("]}").toString());
    }
}
