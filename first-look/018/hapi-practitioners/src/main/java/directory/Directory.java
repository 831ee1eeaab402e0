package directory;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** People of the practices. Each site numbers its own people in steps of SITES, so that ids never clash. */
final class Directory {
    static final int SITES = 4096;

    record Person(long id, String family, String given) {}

    private final Map<Long, Person> people = new HashMap<>();

    Directory() {
        for (int site = 1; site <= 40; site++) {
            for (int n = 0; n < 12; n++) {
                long id = (long) n * SITES + site;
                people.put(id, new Person(id, "Family" + site, "Given" + n));
            }
        }
    }

    Person person(long id) {
        return people.get(id);
    }

    List<Long> ids() {
        return new ArrayList<>(people.keySet());
    }
}
