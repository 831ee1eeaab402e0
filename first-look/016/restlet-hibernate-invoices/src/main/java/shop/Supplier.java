package shop;

import jakarta.persistence.*;

@Entity
@Table(name = "supplier")
public class Supplier {
    @Id
    private Long id;
    private String name;
    private String country;

    public Long getId() { return id; }
    public String getName() { return name; }
    public String getCountry() { return country; }
}
