package parcels;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.springframework.stereotype.Repository;

/** All parcels of the day, read once at the start. */
@Repository
public class Parcels {
    private static final int PARCELS = 40000;
    private static final int DEPOTS = 40;
    private static final String[] TOWNS = {"Aachen", "Bremen", "Celle", "Dessau", "Essen", "Fulda", "Gera", "Hagen", "Ilmenau", "Jena"};
    private final List<Parcel> parcels = new ArrayList<>(PARCELS);
    private final List<List<Parcel>> byDepot = new ArrayList<>(DEPOTS);

    public Parcels() {
        Random random = new Random(7);
        LocalDate day = LocalDate.of(2024, 3, 4);
        for (int d = 0; d < DEPOTS; d++) {
            byDepot.add(new ArrayList<>());
        }
        for (int id = 0; id < PARCELS; id++) {
            int grams = 100 + random.nextInt(19900);
            int zone = 1 + random.nextInt(6);
            int depot = random.nextInt(DEPOTS);
            int price = 390 + zone * 45 + grams / 1000 * 60;
            Parcel parcel = new Parcel(id, depot, "Z" + zone, grams, price, grams > 15000 ? 250 : 0, day.plusDays(zone / 2).toString());
            parcels.add(parcel);
            byDepot.get(depot).add(parcel);
        }
    }

    public Parcel byId(int id) {
        return parcels.get(Math.floorMod(id, PARCELS));
    }

    public Depot depot(int id) {
        if (id < 0 || id >= DEPOTS) {
            return null;
        }
        double grams = 0;
        for (Parcel parcel : byDepot.get(id)) {
            grams += parcel.grams();
        }
        return new Depot(id, TOWNS[id % TOWNS.length] + " " + (1 + id / TOWNS.length), byDepot.get(id).size(), grams);
    }

    public int depots() {
        return DEPOTS;
    }
}
