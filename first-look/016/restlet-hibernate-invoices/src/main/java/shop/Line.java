package shop;

import jakarta.persistence.*;

@Entity
@Table(name = "invoice_line")
public class Line {
    @Id
    private Long id;
    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "invoice_id")
    private Invoice invoice;
    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "product_id")
    private Product product;
    private int quantity;

    public Product getProduct() { return product; }
    public int getQuantity() { return quantity; }
}
