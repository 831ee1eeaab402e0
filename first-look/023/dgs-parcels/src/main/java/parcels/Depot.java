package parcels;

public record Depot(int id, String town, int parcels, double grams) {
    public int getId() { return id; }
    public String getTown() { return town; }
    public int getParcels() { return parcels; }
    public double getGrams() { return grams; }
}
