package main

import (
	"log"
	"os"
	"time"

	"github.com/gofiber/fiber/v2"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

type Order struct {
	ID         uint
	CustomerID uint   `gorm:"index"`
	Sku        string `gorm:"index"`
	Qty        int
	Sold       int `gorm:"-"` // pieces sold of this article by all customers
}

func main() {
	dsn := "host=127.0.0.1 user=app dbname=postgres sslmode=disable port=" + os.Getenv("DB_PORT")
	var db *gorm.DB
	var err error
	for i := 0; i < 50; i++ {
		db, err = gorm.Open(postgres.Open(dsn), &gorm.Config{Logger: logger.Default.LogMode(logger.Error)})
		if err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		log.Fatal(err)
	}
	pool, _ := db.DB()
	pool.SetMaxOpenConns(24)
	pool.SetMaxIdleConns(24)
	seed(db)

	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/health", func(c *fiber.Ctx) error { return c.SendString("ok") })
	app.Get("/customers/:id/orders", func(c *fiber.Ctx) error {
		id, err := c.ParamsInt("id")
		if err != nil {
			return fiber.ErrBadRequest
		}
		var orders []Order
		if err := db.Where("customer_id = ?", id).Order("id").Find(&orders).Error; err != nil {
			return err
		}
		for i := range orders {
			sold := db.Model(&Order{}).Select("coalesce(sum(qty), 0)").Where("sku = ?", orders[i].Sku)
			if err := sold.Scan(&orders[i].Sold).Error; err != nil {
				return err
			}
		}
		return c.JSON(orders)
	})
	log.Fatal(app.Listen("127.0.0.1:" + os.Getenv("PORT")))
}

func seed(db *gorm.DB) {
	if err := db.AutoMigrate(&Order{}); err != nil {
		log.Fatal(err)
	}
	// two orders for each of 20000 customers, 110 for customer 7
	db.Exec("INSERT INTO orders (customer_id, sku, qty) SELECT 1 + n % 20000, 'A' || n % 21, 1 + n % 3 FROM generate_series(0, 39999) n")
	db.Exec("INSERT INTO orders (customer_id, sku, qty) SELECT 7, 'A' || n % 21, 1 FROM generate_series(1, 108) n")
	db.Exec("VACUUM ANALYZE orders")
}
