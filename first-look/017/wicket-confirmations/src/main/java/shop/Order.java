package shop;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Orders are made from their number, so that the example needs no database. */
public class Order implements Serializable {
    static final String[] THINGS = {"Kettle", "Desk lamp", "Bread knife", "Coat rack", "Wall clock", "Tea towel",
        "Door mat", "Watering can", "Cutting board", "Candle holder"};

    public record Line(String name, int count, int cents) implements Serializable {
    }

    public final int id;
    public final boolean business;
    public final String mail;
    public final List<Line> lines = new ArrayList<>();

    private Order(int id) {
        this.id = id;
        this.business = id >= 9900 || id < 9000 && id % 8 == 3;
        this.mail = "customer" + id + "@example.org";
        Random random = new Random(id);
        for (int i = 0; i < 3 + id % 5; i++) {
            lines.add(new Line(THINGS[random.nextInt(THINGS.length)], 1 + random.nextInt(3), 495 + random.nextInt(6000)));
        }
    }

    public static Order find(int id) {
        return new Order(id);
    }

    public int total() {
        return lines.stream().mapToInt(l -> l.count() * l.cents()).sum();
    }

    /** The invoice of a business customer, as the billing system has laid it down. */
    public byte[] invoice() {
        byte[] pdf = new byte[14000 + id % 7 * 500];
        new Random(id).nextBytes(pdf);
        System.arraycopy("%PDF-1.4\n".getBytes(), 0, pdf, 0, 9);
        return pdf;
    }
}
