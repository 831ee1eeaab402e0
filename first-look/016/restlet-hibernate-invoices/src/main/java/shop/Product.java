package shop;

import jakarta.persistence.*;

@Entity
@Table(name = "product")
public class Product {
    @Id
    private Long id;
    private String name;
    private String unit;
    @Column(name = "price_cents")
    private int priceCents;
    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "supplier_id")
    private Supplier supplier;

    public Long getId() { return id; }
    public String getName() { return name; }
    public String getUnit() { return unit; }
    public Supplier getSupplier() { return supplier; }
    public int getPriceCents() { return priceCents; }
}
