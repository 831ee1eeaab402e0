// Web API of a portal that lets charter boats. Boats come from our own list, offers from the
// agency's booking system. Both are kept for a minute by fiber's cache middleware.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cache"
	"github.com/gofiber/fiber/v2/middleware/recover"
)

type Boat struct {
	ID     int      `json:"id"`
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Port   string   `json:"port"`
	Berths int      `json:"berths"`
	Length float64  `json:"length"`
	Extras []string `json:"extras"`
	Text   string   `json:"text"`
}

type Price struct {
	Boat  int    `json:"boat"`
	Week  int    `json:"week"`
	Cents int    `json:"cents"`
	Free  bool   `json:"free"`
	Until string `json:"until"`
}

type Offer struct {
	Boat    *Boat  `json:"boat"`
	Week    int    `json:"week"`
	Free    bool   `json:"free"`
	Price   string `json:"price"`
	Deposit string `json:"deposit"`
	Until   string `json:"until"`
}

func loadBoats(path string) (map[int]*Boat, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []*Boat
	if err := json.NewDecoder(f).Decode(&list); err != nil {
		return nil, err
	}
	boats := make(map[int]*Boat, len(list))
	for _, b := range list {
		boats[b.ID] = b
	}
	return boats, nil
}

func main() {
	boats, err := loadBoats(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	agency := &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxIdleConns: 64},
	}

	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(recover.New())
	app.Use(cache.New(cache.Config{
		Expiration: time.Minute,
		Next:       func(c *fiber.Ctx) bool { return c.Path() == "/health" },
	}))

	app.Get("/health", func(c *fiber.Ctx) error {
		return c.JSON(fiber.Map{"boats": len(boats)})
	})

	app.Get("/boats/:id", func(c *fiber.Ctx) error {
		id, _ := strconv.Atoi(c.Params("id"))
		boat, ok := boats[id]
		if !ok {
			return fiber.NewError(fiber.StatusNotFound, "no such boat")
		}
		return c.JSON(boat)
	})

	app.Get("/offers/:id/:week", func(c *fiber.Ctx) error {
		id, _ := strconv.Atoi(c.Params("id"))
		week, _ := strconv.Atoi(c.Params("week"))
		boat, ok := boats[id]
		if !ok || week < 1 || week > 52 {
			return fiber.NewError(fiber.StatusNotFound, "no such offer")
		}
		res, err := agency.Get(fmt.Sprintf("%s/price?boat=%d&week=%d", os.Getenv("AGENCY_URL"), id, week))
		if err != nil {
			return fiber.NewError(fiber.StatusBadGateway, err.Error())
		}
		defer res.Body.Close()
		var price Price
		if err := json.NewDecoder(res.Body).Decode(&price); err != nil {
			return fiber.NewError(fiber.StatusBadGateway, err.Error())
		}
		io.Copy(io.Discard, res.Body)
		return c.JSON(Offer{
			Boat: boat, Week: week, Free: price.Free, Until: price.Until,
			Price:   fmt.Sprintf("%d.%02d EUR", price.Cents/100, price.Cents%100),
			Deposit: fmt.Sprintf("%d.00 EUR", price.Cents/500),
		})
	})

	log.Fatal(app.Listen(os.Args[1]))
}
