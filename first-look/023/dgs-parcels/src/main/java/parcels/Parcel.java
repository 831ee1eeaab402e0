package parcels;

/** A parcel on its way, with what it costs: prices in cents. */
public record Parcel(int id, int depot, String zone, int grams, int price, int surcharge, String due) {
    public int getId() { return id; }
    public int getDepot() { return depot; }
    public String getZone() { return zone; }
    public int getGrams() { return grams; }
    public int getPrice() { return price; }
    public int getSurcharge() { return surcharge; }
    public String getDue() { return due; }
}
