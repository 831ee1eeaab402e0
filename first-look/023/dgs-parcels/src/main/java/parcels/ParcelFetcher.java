package parcels;

import com.netflix.graphql.dgs.DgsComponent;
import com.netflix.graphql.dgs.DgsQuery;
import com.netflix.graphql.dgs.InputArgument;
import java.util.List;
import java.util.stream.IntStream;

@DgsComponent
public class ParcelFetcher {
    private final Parcels parcels;

    public ParcelFetcher(Parcels parcels) {
        this.parcels = parcels;
    }

    @DgsQuery
    public List<Parcel> parcels(@InputArgument List<Integer> ids) {
        return ids.stream().map(parcels::byId).toList();
    }

    @DgsQuery
    public Depot depot(@InputArgument Integer id) {
        return parcels.depot(id);
    }

    @DgsQuery
    public List<Depot> depots() {
        return IntStream.range(0, parcels.depots()).mapToObj(parcels::depot).toList();
    }
}
