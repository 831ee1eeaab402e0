import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.LinkedHashMap;
import java.util.Map;

final class Seed {
    static final String[] STATIONS = {"Aarau", "Bern", "Chur", "Davos", "Engelberg", "Fribourg", "Genf", "Horgen"};

    static void fares(RedisAsyncCommands<String, String> redis) throws Exception {
        for (int i = 0; i < STATIONS.length; i++) {
            redis.set("season:" + STATIONS[i], i % 3 == 0 ? "summer timetable" : "all year").get();
        }
        for (int i = 0; i < 400; i++) {
            Map<String, String> fare = new LinkedHashMap<>();
            fare.put("id", String.valueOf(i));
            fare.put("fromStation", STATIONS[i % 8]);
            fare.put("toStation", STATIONS[(i / 8 + 1 + i) % 8]);
            fare.put("price", (9 + i % 80) + ".40");
            fare.put("currency", "CHF");
            fare.put("validity", "one day");
            redis.hset("fare:" + i, fare).get();
        }
    }

    private Seed() {
    }
}
