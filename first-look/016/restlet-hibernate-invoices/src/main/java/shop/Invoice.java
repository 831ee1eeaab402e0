package shop;

import jakarta.persistence.*;
import java.util.ArrayList;
import java.util.List;

@Entity
@Table(name = "invoice")
public class Invoice {
    @Id
    private Long id;
    private String customer;
    @OneToMany(mappedBy = "invoice", fetch = FetchType.LAZY)
    @OrderBy("id")
    private List<Line> lines = new ArrayList<>();

    public Long getId() { return id; }
    public String getCustomer() { return customer; }
    public List<Line> getLines() { return lines; }
}
